// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues, the device's end.
 *
 * Invariant: slot i of pass p is written only when the consumer index of the
 * host shows that it is free, and its phase bit is written last. The indices
 * of the host (consumer, arm) are not trusted: wrong ones harm only that
 * host.
 */
#include "cq.h"

/* Byte offset of the word that holds the phase bit. */
#define CQE_LAST_WORD offsetof(struct ornic_cqe, opcode)

/* ---- Rings ------------------------------------------------------------------ */

int ornic_ring_init(struct ornic_ring *ring, const struct ornic_pages *pages,
		    u64 off, u32 log_depth, u32 log_stride)
{
	u64 bytes = 1ull << (log_depth + log_stride);
	u64 have = ornic_pages_bytes(pages);
	u64 run;
	u32 i, n;

	memset(ring, 0, sizeof(*ring));
	if (off > have || bytes > have - off)
		return -EINVAL;
	n = (u32)DIV_ROUND_UP(bytes, 1u << ORNIC_PAGE_SHIFT);
	ring->page = ornic_vzalloc(n * sizeof(*ring->page));
	if (!ring->page)
		return -ENOMEM;
	ring->mask = (1u << log_depth) - 1;
	ring->log_stride = (u8)log_stride;
	for (i = 0; i < n; i++) {
		ring->page[i] = ornic_pages_at(pages, off, &run);
		off += 1u << ORNIC_PAGE_SHIFT;
		if ((unsigned long)ring->page[i] & 0xfff) {
			ornic_ring_fini(ring);
			return -EINVAL;
		}
	}
	return 0;
}

void ornic_ring_fini(struct ornic_ring *ring)
{
	ornic_vfree(ring->page);
	ring->page = NULL;
}

/* ---- Producing ------------------------------------------------------------- */

/* An index beyond what was produced (a hostile host's) counts as full, too. */
static bool cq_is_full(const struct ornic_cq *cq)
{
	u32 consumer = le32_to_cpu(READ_ONCE(cq->mem.record->consumer));

	return cq->producer - consumer > cq->mem.ring.mask;
}

/* Opcode, status, vendor_err and flags go last, as one 32-bit word. */
static void write_cqe(struct ornic_cq *cq, const struct ornic_cqe *cqe, u64 now)
{
	struct ornic_cqe *slot = ornic_ring_slot(&cq->mem.ring, cq->producer);
	bool odd_pass = cq->producer & (cq->mem.ring.mask + 1);
	struct ornic_cqe own = *cqe;
	__le32 last;

	own.timestamp = cpu_to_le64(now);
	own.flags &= (u8)~ORNIC_CQE_PHASE;
	if (!odd_pass)
		own.flags |= ORNIC_CQE_PHASE;
	memcpy(&last, (u8 *)&own + CQE_LAST_WORD, sizeof(last));
	memcpy(slot, &own, CQE_LAST_WORD);
	/* Pairs with the read barrier after the host's look at the phase. */
	smp_store_release((__le32 *)((u8 *)slot + CQE_LAST_WORD), last);
	cq->producer++;
}

/*
 * Return the pending arm value and its mode, ORNIC_ARM_NONE if none is
 * pending.
 */
static u32 read_arming(const struct ornic_cq *cq, u32 *mode)
{
	u32 arm = le32_to_cpu(READ_ONCE(cq->mem.record->arm));

	*mode = arm == cq->fired ? ORNIC_ARM_NONE : arm & ORNIC_ARM_MODE_MASK;
	return arm;
}

static void raise_event(struct ornic_ctx *ctx, struct ornic_cq *cq, u32 arm)
{
	cq->pending = 0;
	cq->due = 0;
	cq->fired = arm;
	WRITE_ONCE(cq->mem.record->fired, cpu_to_le32(arm));
	ornic_stat_inc(ctx->dev, ORNIC_STAT_COMP_EVENTS);
	ornic_ctx_event(ctx, ORNIC_EVENT_COMP, cq->cqn, cq->vector);
}

/* True if moderation delays the event. The first CQE starts the period. */
static bool waits_for_more(struct ornic_ctx *ctx, struct ornic_cq *cq)
{
	if (likely(cq->count <= 1 && (cq->count || !cq->period)))
		return false;
	cq->pending++;
	if (cq->count && cq->pending >= cq->count)
		return false;
	if (cq->period && !cq->due) {
		cq->due = ctx->now + cq->period * 1000ull;
		ctx->dev->ops->cq_deadline(ctx->dev->host, cq->host_cq,
					   cq->due);
	}
	return true;
}

static void fire_if_armed(struct ornic_ctx *ctx, struct ornic_cq *cq,
			  bool solicited)
{
	u32 arm, mode;

	/*
	 * Pairs with the one between the host's store of arm and its last
	 * poll: either the host sees this CQE, or we see that it is armed.
	 */
	smp_mb();
	arm = read_arming(cq, &mode);
	if (mode == ORNIC_ARM_NONE || (mode != ORNIC_ARM_NEXT && !solicited))
		return;
	if (!waits_for_more(ctx, cq))
		raise_event(ctx, cq, arm);
}

/* The event that waits for more CQEs waits no longer. */
static void fire_pending(struct ornic_ctx *ctx, struct ornic_cq *cq)
{
	u32 arm, mode;

	arm = read_arming(cq, &mode);
	if (cq->pending && mode != ORNIC_ARM_NONE)
		raise_event(ctx, cq, arm);
	cq->pending = 0;
	cq->due = 0;
}

void ornic_engine_cq_expire(struct ornic_engine *eng, u32 cqn)
{
	struct ornic_ctx ctx;
	struct ornic_cq *cq;

	ornic_ctx_begin(&ctx, &eng->dev, 0);
	cq = ornic_table_lookup(&eng->dev.cqs, cqn);
	if (cq) {
		ornic_lock(&cq->lock);
		if (cq->due && cq->due <= ctx.now)
			fire_pending(&ctx, cq);
		else if (cq->due)
			eng->dev.ops->cq_deadline(eng->dev.host, cq->host_cq,
						  cq->due);
		ornic_unlock(&cq->lock);
	}
	ornic_ctx_end(&ctx);
}

bool ornic_cq_push(struct ornic_ctx *ctx, struct ornic_cq *cq,
		   const struct ornic_cqe *cqe, bool solicited)
{
	bool written = false;

	ornic_lock_inner(&cq->lock);
	if (unlikely(cq->overflow))
		goto unlock;
	if (unlikely(cq_is_full(cq))) {
		ornic_pr_debug("CQ %u: producer %u, consumer %u, depth %u\n",
			       cq->cqn, cq->producer,
			       le32_to_cpu(READ_ONCE(cq->mem.record->consumer)),
			       cq->mem.ring.mask + 1);
		WRITE_ONCE(cq->overflow, true);
		ornic_ctx_event(ctx, ORNIC_EVENT_CQ_ERR, cq->cqn, 0);
		goto unlock;
	}
	write_cqe(cq, cqe, ctx->now);
	written = true;
	fire_if_armed(ctx, cq, solicited);
unlock:
	ornic_unlock_inner(&cq->lock);
	return written;
}

/* ---- Commands --------------------------------------------------------------- */

static int map_mem(struct ornic_dev *dev, const struct ornic_mem *from,
		   u8 log_depth, struct ornic_cq_mem *to)
{
	u64 run;
	int err;

	if (log_depth > ORNIC_LOG_MAX_CQE)
		return -EINVAL;
	err = ornic_pages_get(dev, from, &to->pages);
	if (err)
		return err;
	err = ornic_ring_init(&to->ring, &to->pages, ORNIC_RING_OFFSET,
			      log_depth, 6);
	if (err) {
		ornic_pages_put(&to->pages);
		return err;
	}
	to->record = ornic_pages_at(&to->pages, 0, &run);
	return 0;
}

static void unmap_mem(struct ornic_cq_mem *mem)
{
	ornic_ring_fini(&mem->ring);
	ornic_pages_put(&mem->pages);
}

static int cq_init(struct ornic_dev *dev, struct ornic_cq *cq,
		   const struct ornic_req_create_cq *req)
{
	if (req->vector >= dev->ops->num_vectors)
		return -EINVAL;
	cq->vector = req->vector;
	ornic_lock_init(&cq->lock);
	return map_mem(dev, &req->mem, req->log_depth, &cq->mem);
}

static void cq_free(struct ornic_cq *cq)
{
	unmap_mem(&cq->mem);
	ornic_free(cq);
}

int ornic_cq_create(struct ornic_dev *dev,
		    const struct ornic_req_create_cq *req, u32 *cqn)
{
	size_t size = sizeof(struct ornic_cq) + dev->ops->host_cq_size;
	struct ornic_cq *cq = ornic_zalloc(size);
	int index, err;

	if (!cq)
		return ORNIC_NO_RESOURCE;
	err = cq_init(dev, cq, req);
	if (err)
		goto err_free;
	index = ornic_table_reserve(&dev->cqs, 0);
	if (index < 0) {
		err = index;
		goto err_free_cq;
	}
	cq->cqn = (u32)index;
	*cqn = cq->cqn;
	dev->ops->cq_init(dev->host, cq->host_cq, cq->cqn);
	ornic_table_publish(&dev->cqs, cq->cqn, cq);
	return ORNIC_OK;

err_free_cq:
	cq_free(cq);
	return ornic_errno_status(err);
err_free:
	ornic_free(cq);
	return ornic_errno_status(err);
}

int ornic_cq_destroy(struct ornic_dev *dev, u32 cqn)
{
	struct ornic_cq *cq = ornic_table_unlink(&dev->cqs, cqn);

	if (!cq)
		return ORNIC_NOT_FOUND;
	if (!ornic_table_retire(&dev->cqs, cqn, cq, &cq->users))
		return ORNIC_BUSY;
	dev->ops->cq_fini(dev->host, cq->host_cq);
	ornic_table_release(&dev->cqs, cqn);
	cq_free(cq);
	return ORNIC_OK;
}

struct ornic_cq *ornic_cq_get(struct ornic_dev *dev, u32 cqn)
{
	struct ornic_cq *cq;

	ornic_rcu_read_lock();
	cq = ornic_table_lookup(&dev->cqs, cqn);
	if (cq)
		ornic_atomic_inc(&cq->users);
	ornic_rcu_read_unlock();
	return cq;
}

/* The newest @n CQEs become the first of @to. What they say is the host's. */
static void move_cqes(const struct ornic_cq *cq, u32 n,
		      const struct ornic_ring *to)
{
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < n; i++) {
		memcpy(&cqe,
		       ornic_ring_slot(&cq->mem.ring, cq->producer - n + i),
		       sizeof(cqe));
		cqe.flags |= ORNIC_CQE_PHASE;
		memcpy(ornic_ring_slot(to, i), &cqe, sizeof(cqe));
	}
}

/* Go on in @next, and leave in it what is to be unmapped. */
static int replace_mem(struct ornic_cq *cq, struct ornic_cq_mem *next)
{
	u32 consumer = le32_to_cpu(READ_ONCE(cq->mem.record->consumer));
	u32 waiting = cq->producer - consumer;
	struct ornic_cq_mem old = cq->mem;

	ornic_lock_held(&cq->lock);
	if (cq->overflow)
		return ORNIC_BAD_STATE;
	/* The first is an invalid consumer index of the host. */
	if (waiting > old.ring.mask + 1 || waiting > next->ring.mask + 1)
		return ORNIC_BAD_PARAM;
	if (waiting > ORNIC_MAX_MOVED_CQES)
		return ORNIC_BUSY;
	move_cqes(cq, waiting, &next->ring);
	next->record->consumer = 0;
	next->record->arm = READ_ONCE(old.record->arm);
	next->record->fired = cpu_to_le32(cq->fired);
	cq->mem = *next;
	cq->producer = waiting;
	*next = old;
	return ORNIC_OK;
}

int ornic_cq_resize(struct ornic_dev *dev,
		    const struct ornic_req_resize_cq *req)
{
	struct ornic_cq *cq = ornic_cq_get(dev, le32_to_cpu(req->hdr.obj));
	struct ornic_cq_mem mem;
	int status, err;

	if (!cq)
		return ORNIC_NOT_FOUND;
	err = map_mem(dev, &req->mem, req->log_depth, &mem);
	if (err) {
		status = ornic_errno_status(err);
		goto out_put;
	}
	ornic_lock(&cq->lock);
	status = replace_mem(cq, &mem);
	ornic_unlock(&cq->lock);
	unmap_mem(&mem);
out_put:
	ornic_cq_put(cq);
	return status;
}

int ornic_cq_modify(struct ornic_dev *dev,
		    const struct ornic_req_modify_cq *req)
{
	struct ornic_ctx ctx;
	struct ornic_cq *cq;

	ornic_ctx_begin(&ctx, dev, 0);
	cq = ornic_table_lookup(&dev->cqs, le32_to_cpu(req->hdr.obj));
	if (cq) {
		ornic_lock(&cq->lock);
		fire_pending(&ctx, cq);
		cq->count = le16_to_cpu(req->count);
		cq->period = le16_to_cpu(req->period);
		ornic_unlock(&cq->lock);
	}
	ornic_ctx_end(&ctx);
	return cq ? ORNIC_OK : ORNIC_NOT_FOUND;
}
