// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues. A WQE is copied when a message needs it, so its slot
 * is free from then on and the slots are used in the order of the ring,
 * although the messages of several QPs end in any order.
 *
 * Lock order: rq, srq. No other lock is taken under srq.lock.
 */
#include "srq.h"
#include "proto.h"

/* ---- Taking -------------------------------------------------------------------- */

/*
 * WQEs that wait. A producer that claims more than the ring has slots for is
 * nonsense, and so is one that goes back: it claims nearly 2^32.
 */
static u32 count_waiting(struct ornic_ctx *ctx, struct ornic_srq *srq)
{
	u32 producer, waiting;

	if (srq->broken)
		return 0;
	producer = ornic_wq_producer(srq->mem.record);
	waiting = producer - srq->taken;
	if (likely(waiting <= srq->mem.depth))
		return waiting;
	ornic_pr_debug("SRQ %u: producer %u, taken %u, depth %u\n", srq->srqn,
		       producer, srq->taken, srq->mem.depth);
	WRITE_ONCE(srq->broken, true);
	ornic_ctx_event(ctx, ORNIC_EVENT_SRQ_ERR, srq->srqn, 0);
	return 0;
}

static void check_limit(struct ornic_ctx *ctx, struct ornic_srq *srq,
			u32 waiting)
{
	if (likely(waiting >= srq->limit))
		return;
	srq->limit = 0;
	ornic_ctx_event(ctx, ORNIC_EVENT_SRQ_LIMIT, srq->srqn, 0);
}

static bool take_locked(struct ornic_ctx *ctx, struct ornic_srq *srq,
			struct ornic_rwqe *rw)
{
	u32 waiting = count_waiting(ctx, srq);
	const u8 *slot;

	if (!waiting)
		return false;
	slot = ornic_ring_slot(&srq->mem.ring, srq->taken);
	ornic_rwqe_decode(rw, slot, srq->max_sge);
	rw->index = srq->taken++;
	rw->pdn = srq->pdn;
	/* Pairs with the host's load before it writes to the slot. */
	smp_store_release(&srq->mem.record->taken, cpu_to_le32(srq->taken));
	check_limit(ctx, srq, waiting - 1);
	return true;
}

bool ornic_srq_take(struct ornic_ctx *ctx, struct ornic_srq *srq,
		    struct ornic_rwqe *rw)
{
	bool taken;

	ornic_lock(&srq->lock);
	taken = take_locked(ctx, srq, rw);
	ornic_unlock(&srq->lock);
	return taken;
}

bool ornic_srq_take_tagged(struct ornic_ctx *ctx, struct ornic_srq *srq,
			   u64 tag, struct ornic_rwqe *rw, bool *matched)
{
	bool taken;

	ornic_lock(&srq->lock);
	*matched = ornic_tags_match(ctx, srq, tag, rw);
	taken = *matched || take_locked(ctx, srq, rw);
	if (taken && !*matched) {
		rw->unexpected = true;
		srq->tags->unexpected++;
	}
	ornic_unlock(&srq->lock);
	return taken;
}

void ornic_srq_uncount(struct ornic_srq *srq, struct ornic_rwqe *rw)
{
	if (likely(!rw->valid || !rw->unexpected))
		return;
	rw->unexpected = false;
	ornic_lock(&srq->lock);
	ornic_tags_uncount(srq->tags);
	ornic_unlock(&srq->lock);
}

/* ---- Commands ------------------------------------------------------------------ */

static int map_mem(struct ornic_dev *dev, const struct ornic_mem *from,
		   u8 log_depth, u32 log_stride, struct ornic_srq_mem *to)
{
	u64 run;
	int err;

	if (log_depth > ORNIC_LOG_MAX_WQE)
		return -EINVAL;
	err = ornic_pages_get(dev, from, &to->pages);
	if (err)
		return err;
	err = ornic_ring_init(&to->ring, &to->pages, ORNIC_RING_OFFSET,
			      log_depth, log_stride);
	if (err) {
		ornic_pages_put(&to->pages);
		return err;
	}
	to->record = ornic_pages_at(&to->pages, 0, &run);
	to->depth = 1u << log_depth;
	return 0;
}

static void unmap_mem(struct ornic_srq_mem *mem)
{
	ornic_ring_fini(&mem->ring);
	ornic_pages_put(&mem->pages);
}

/* The CQ of an XRC SRQ, or the like: DESTROY_CQ finds it in use from now on. */
static int get_cq(struct ornic_dev *dev, struct ornic_srq *srq,
		  const struct ornic_req_create_srq *req)
{
	switch (req->flags) {
	case 0:
		return 0;
	case ORNIC_SRQ_XRC:
		srq->xrcdn = le32_to_cpu(req->xrcdn);
		break;
	case ORNIC_SRQ_TM:
		break;
	default:
		return -EINVAL;
	}
	srq->cq = ornic_cq_get(dev, le32_to_cpu(req->cqn));
	return srq->cq ? 0 : -EINVAL;
}

static int make_tags(struct ornic_srq *srq,
		     const struct ornic_req_create_srq *req)
{
	u32 max = le32_to_cpu(req->max_tags);

	if (!(req->flags & ORNIC_SRQ_TM))
		return 0;
	if (!max || max > 1u << ORNIC_LOG_MAX_TAGS)
		return -EINVAL;
	srq->tags = ornic_tags_alloc(max);
	return srq->tags ? 0 : -ENOMEM;
}

static int srq_init(struct ornic_dev *dev, struct ornic_srq *srq,
		    const struct ornic_req_create_srq *req)
{
	int err;

	if (!ornic_rwqe_fits(req->log_stride, req->max_sge))
		return -EINVAL;
	srq->log_stride = req->log_stride;
	srq->max_sge = req->max_sge;
	srq->pdn = le32_to_cpu(req->pdn);
	ornic_lock_init(&srq->lock);
	err = get_cq(dev, srq, req);
	if (err)
		return err;
	err = make_tags(srq, req);
	if (err)
		goto err_put_cq;
	err = map_mem(dev, &req->mem, req->log_depth, srq->log_stride,
		      &srq->mem);
	if (err)
		goto err_free_tags;
	return 0;

err_free_tags:
	ornic_tags_free(srq->tags);
err_put_cq:
	ornic_cq_put(srq->cq);
	return err;
}

static void srq_free(struct ornic_srq *srq)
{
	ornic_tags_free(srq->tags);
	ornic_cq_put(srq->cq);
	unmap_mem(&srq->mem);
	ornic_free(srq);
}

int ornic_srq_create(struct ornic_dev *dev,
		     const struct ornic_req_create_srq *req, u32 *srqn)
{
	struct ornic_srq *srq = ornic_zalloc(sizeof(*srq));
	int index, err;

	if (!srq)
		return ORNIC_NO_RESOURCE;
	err = srq_init(dev, srq, req);
	if (err)
		goto err_free;
	index = ornic_table_reserve_random(&dev->srqs,
					   dev->ops->random(dev->host));
	if (index < 0) {
		err = index;
		goto err_free_srq;
	}
	srq->srqn = (u32)index;
	*srqn = srq->srqn;
	ornic_table_publish(&dev->srqs, srq->srqn, srq);
	return ORNIC_OK;

err_free_srq:
	srq_free(srq);
	return ornic_errno_status(err);
err_free:
	ornic_free(srq);
	return ornic_errno_status(err);
}

/*
 * XRC targets that are in the middle of a message lose their WQE, without a
 * completion; their next packet finds that the SRQ is gone. One that is being
 * destroyed is in no table, and is waited for.
 */
static void forget_targets(struct ornic_dev *dev, const struct ornic_srq *srq)
{
	struct ornic_qp *qp;
	u32 index = 0;

	do {
		ornic_rcu_read_lock();
		qp = ornic_table_next(&dev->qps, &index);
		if (qp && qp->type == ORNIC_QPT_XRC_TGT) {
			ornic_lock(&qp->rq.lock);
			if (qp->rq.srq == srq) {
				qp->rq.srq = NULL;
				qp->rq.rwqe.valid = false;
			}
			ornic_unlock(&qp->rq.lock);
		}
		ornic_rcu_read_unlock();
		index++;
	} while (qp);
	ornic_rcu_wait();
}

int ornic_srq_destroy(struct ornic_dev *dev, u32 srqn)
{
	struct ornic_srq *srq = ornic_table_unlink(&dev->srqs, srqn);

	if (!srq)
		return ORNIC_NOT_FOUND;
	if (!ornic_table_retire(&dev->srqs, srqn, srq, &srq->users))
		return ORNIC_BUSY;
	if (srq->cq && !srq->tags)
		forget_targets(dev, srq);
	ornic_table_release(&dev->srqs, srqn);
	srq_free(srq);
	return ORNIC_OK;
}

static struct ornic_srq *srq_lookup(struct ornic_dev *dev, u32 srqn)
{
	return ornic_table_lookup(&dev->srqs, srqn);
}

struct ornic_srq *ornic_srq_xrc(struct ornic_dev *dev, u32 srqn, u32 xrcdn)
{
	struct ornic_srq *srq = srq_lookup(dev, srqn);

	return srq && srq->cq && !srq->tags && srq->xrcdn == xrcdn ? srq : NULL;
}

int ornic_srq_modify(struct ornic_dev *dev,
		     const struct ornic_req_modify_srq *req)
{
	u32 waiting, limit = le32_to_cpu(req->limit);
	int status = ORNIC_NOT_FOUND;
	struct ornic_srq *srq;
	struct ornic_ctx ctx;

	ornic_ctx_begin(&ctx, dev, 0);
	srq = srq_lookup(dev, le32_to_cpu(req->hdr.obj));
	if (!srq)
		goto out_end;
	ornic_lock(&srq->lock);
	waiting = count_waiting(&ctx, srq);
	if (limit > srq->mem.depth) {
		status = ORNIC_BAD_PARAM;
	} else if (srq->broken) {
		status = ORNIC_BAD_STATE;
	} else {
		srq->limit = limit;
		check_limit(&ctx, srq, waiting);
		status = ORNIC_OK;
	}
	ornic_unlock(&srq->lock);
out_end:
	ornic_ctx_end(&ctx);
	return status;
}

/* The WQEs that wait become the first of @to. What they say is the host's. */
static void move_wqes(const struct ornic_srq *srq, u32 n,
		      const struct ornic_ring *to)
{
	u32 i;

	for (i = 0; i < n; i++)
		memcpy(ornic_ring_slot(to, i),
		       ornic_ring_slot(&srq->mem.ring, srq->taken + i),
		       1u << srq->log_stride);
}

/* Go on in @next, and leave in it what is to be unmapped. */
static int replace_mem(struct ornic_ctx *ctx, struct ornic_srq *srq,
		       struct ornic_srq_mem *next)
{
	struct ornic_srq_mem old = srq->mem;
	u32 waiting;

	ornic_lock_held(&srq->lock);
	waiting = count_waiting(ctx, srq);
	if (srq->broken)
		return ORNIC_BAD_STATE;
	if (waiting > next->depth || srq->limit > next->depth)
		return ORNIC_BAD_PARAM;
	move_wqes(srq, waiting, &next->ring);
	next->record->producer = cpu_to_le32(waiting);
	next->record->kick_wanted = 0;
	next->record->taken = 0;
	next->record->tags_gone = cpu_to_le32(srq->tags ? srq->tags->gone : 0);
	srq->mem = *next;
	srq->taken = 0;
	*next = old;
	return ORNIC_OK;
}

/* The SRQ with @srqn, counted as a user of it; NULL if there is none. */
static struct ornic_srq *srq_get(struct ornic_dev *dev, u32 srqn)
{
	struct ornic_srq *srq;

	ornic_rcu_read_lock();
	srq = srq_lookup(dev, srqn);
	if (srq)
		ornic_atomic_inc(&srq->users);
	ornic_rcu_read_unlock();
	return srq;
}

int ornic_srq_resize(struct ornic_dev *dev,
		     const struct ornic_req_resize_srq *req)
{
	struct ornic_srq *srq = srq_get(dev, le32_to_cpu(req->hdr.obj));
	struct ornic_srq_mem mem;
	struct ornic_ctx ctx;
	int status, err;

	if (!srq)
		return ORNIC_NOT_FOUND;
	err = map_mem(dev, &req->mem, req->log_depth, srq->log_stride, &mem);
	if (err) {
		status = ornic_errno_status(err);
		goto out_put;
	}
	ornic_ctx_begin(&ctx, dev, 0);
	ornic_lock(&srq->lock);
	status = replace_mem(&ctx, srq, &mem);
	ornic_unlock(&srq->lock);
	ornic_ctx_end(&ctx);
	unmap_mem(&mem);
out_put:
	ornic_atomic_dec(&srq->users);
	return status;
}

int ornic_srq_query(struct ornic_dev *dev, u32 srqn,
		    struct ornic_rsp_query_srq *rsp)
{
	int status = ORNIC_NOT_FOUND;
	struct ornic_srq *srq;
	struct ornic_ctx ctx;

	ornic_ctx_begin(&ctx, dev, 0);
	srq = srq_lookup(dev, srqn);
	if (srq) {
		ornic_lock(&srq->lock);
		rsp->waiting = cpu_to_le32(count_waiting(&ctx, srq));
		rsp->limit = cpu_to_le32(srq->limit);
		rsp->broken = srq->broken;
		if (srq->tags) {
			rsp->tags = cpu_to_le32(srq->tags->n);
			rsp->unexpected = cpu_to_le32(srq->tags->unexpected);
		}
		ornic_unlock(&srq->lock);
		status = ORNIC_OK;
	}
	ornic_ctx_end(&ctx);
	return status;
}
