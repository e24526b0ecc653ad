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

#define MIN_LOG_STRIDE 5
#define MAX_LOG_STRIDE 10

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
	producer = ornic_wq_producer(srq->record);
	waiting = producer - srq->taken;
	if (likely(waiting <= srq->depth))
		return waiting;
	ornic_pr_debug("SRQ %u: producer %u, taken %u, depth %u\n", srq->srqn,
		       producer, srq->taken, srq->depth);
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

bool ornic_srq_take(struct ornic_ctx *ctx, struct ornic_srq *srq,
		    struct ornic_rwqe *rw)
{
	const u8 *slot;
	u32 waiting;

	ornic_lock(&srq->lock);
	waiting = count_waiting(ctx, srq);
	if (waiting) {
		slot = (const u8 *)ornic_ring_slot(&srq->ring, srq->taken);
		ornic_rwqe_decode(rw, slot, srq->max_sge);
		rw->index = srq->taken++;
		rw->pdn = srq->pdn;
		/* Pairs with the host's load before it writes to the slot. */
		smp_store_release(&srq->record->taken, cpu_to_le32(srq->taken));
		check_limit(ctx, srq, waiting - 1);
	}
	ornic_unlock(&srq->lock);
	return waiting;
}

/* ---- Commands ------------------------------------------------------------------ */

static int srq_init(struct ornic_dev *dev, struct ornic_srq *srq,
		    const struct ornic_req_create_srq *req)
{
	u64 run;
	int err;

	if (req->log_depth > ORNIC_LOG_MAX_WQE ||
	    req->log_stride < MIN_LOG_STRIDE ||
	    req->log_stride > MAX_LOG_STRIDE || req->max_sge > ORNIC_MAX_SGE ||
	    sizeof(struct ornic_rq_hdr) +
			    req->max_sge * sizeof(struct ornic_sge) >
		    1u << req->log_stride)
		return -EINVAL;
	err = ornic_pages_get(dev, &req->mem, &srq->pages);
	if (err)
		return err;
	err = ornic_ring_init(&srq->ring, &srq->pages, ORNIC_RING_OFFSET,
			      req->log_depth, req->log_stride);
	if (err) {
		ornic_pages_put(&srq->pages);
		return err;
	}
	srq->record =
		(struct ornic_wq_record *)ornic_pages_at(&srq->pages, 0, &run);
	srq->depth = 1u << req->log_depth;
	srq->max_sge = req->max_sge;
	srq->pdn = le32_to_cpu(req->pdn);
	ornic_lock_init(&srq->lock);
	return 0;
}

static void srq_free(struct ornic_srq *srq)
{
	ornic_ring_fini(&srq->ring);
	ornic_pages_put(&srq->pages);
	ornic_free(srq);
}

/**
 * ornic_srq_create - CREATE_SRQ
 * @dev: the device
 * @req: the command
 * @srqn: out: its number
 *
 * Context: may sleep.
 * Return: enum ornic_status.
 */
int ornic_srq_create(struct ornic_dev *dev,
		     const struct ornic_req_create_srq *req, u32 *srqn)
{
	struct ornic_srq *srq = (struct ornic_srq *)ornic_zalloc(sizeof(*srq));
	int index, err;

	if (!srq)
		return ORNIC_NO_RESOURCE;
	err = srq_init(dev, srq, req);
	if (err)
		goto err_free;
	index = ornic_table_reserve(&dev->srqs, 0);
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

/**
 * ornic_srq_destroy - DESTROY_SRQ
 * @dev: the device
 * @srqn: its number
 *
 * CREATE_QP takes its reference inside an RCU section, so one that found the
 * SRQ before it was unlinked shows in @users after the wait.
 *
 * Context: sleeps (RCU).
 * Return: enum ornic_status; ORNIC_BUSY while a QP takes from it.
 */
int ornic_srq_destroy(struct ornic_dev *dev, u32 srqn)
{
	struct ornic_srq *srq =
		(struct ornic_srq *)ornic_table_unlink(&dev->srqs, srqn);

	if (!srq)
		return ORNIC_NOT_FOUND;
	if (!ornic_atomic_read(&srq->users))
		ornic_rcu_wait();
	if (ornic_atomic_read(&srq->users)) {
		ornic_table_publish(&dev->srqs, srqn, srq);
		return ORNIC_BUSY;
	}
	ornic_table_release(&dev->srqs, srqn);
	srq_free(srq);
	return ORNIC_OK;
}

static struct ornic_srq *srq_lookup(struct ornic_dev *dev, u32 srqn)
{
	return (struct ornic_srq *)ornic_table_lookup(&dev->srqs, srqn);
}

/**
 * ornic_srq_modify - MODIFY_SRQ
 * @dev: the device
 * @req: the command
 *
 * A limit that is not reached already raises its event at once: nothing that
 * comes later would.
 *
 * Context: may sleep.
 * Return: ORNIC_OK; ORNIC_NOT_FOUND; ORNIC_BAD_PARAM for a limit above the
 * depth; ORNIC_BAD_STATE if the SRQ is broken.
 */
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
	if (limit > srq->depth) {
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

/**
 * ornic_srq_query - QUERY_SRQ
 * @dev: the device
 * @srqn: its number
 * @rsp: filled
 *
 * Context: may sleep.
 * Return: ORNIC_OK or ORNIC_NOT_FOUND.
 */
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
		ornic_unlock(&srq->lock);
		status = ORNIC_OK;
	}
	ornic_ctx_end(&ctx);
	return status;
}
