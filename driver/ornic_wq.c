// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting of kernel users, in any context: the driver writes rings and records
 * as the provider does.
 *
 * A kick may execute messages in the caller, and completion handlers with
 * them. A caller that holds a spinlock, or has interrupts or softirqs disabled,
 * may hold a lock that a handler takes: then the kick only wakes the device.
 */
#include "ornic_wq.h"

#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat/compat_rdma.h"
#include "ornic_ah.h"
#include "ornic_bus.h"
#include "ornic_dev.h"
#include "ornic_mr.h"
#include "ornic_pack.h"
#include "ornic_poll.h"
#include "ornic_qp.h"
#include "ornic_queue.h"
#include "ornic_ring.h"
#include "ornic_srq.h"
#include "ornic_verbs.h"
#include "ornic_wqe.h"

static_assert(ORNIC_WR_REG_MR == IB_WR_REG_MR);

#define SEND_FLAGS \
	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

static_assert(ORNIC_VERBS_WR_FLUSH == IB_WR_FLUSH);
static_assert(ORNIC_VERBS_WR_ATOMIC_WRITE == IB_WR_ATOMIC_WRITE);
static_assert(ORNIC_VERBS_WC_FLUSH == IB_WC_FLUSH);
static_assert(ORNIC_VERBS_WC_ATOMIC_WRITE == IB_WC_ATOMIC_WRITE);
static_assert(ORNIC_VERBS_FLUSH_GLOBAL == IB_ACCESS_FLUSH_GLOBAL);

/*
 * @mem is zeroed; @ring stays valid and may be that of a queue that does not
 * exist.
 */
void ornic_wq_init(struct ornic_wq *wq, struct ornic_queue_mem *mem,
		   const struct ornic_ring_geom *ring, u32 record_offset)
{
	spin_lock_init(&wq->lock);
	wq->mem = mem;
	wq->ring = ring;
	wq->record = ornic_queue_mem_at(mem, record_offset);
	wq->head = 0;
	wq->tail = 0;
}

/*
 * The QP is in RESET and its completions are out of the CQ, whose lock is held.
 */
void ornic_wq_reset(struct ornic_wq *wq)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	wq->head = 0;
	WRITE_ONCE(wq->tail, 0);
	WRITE_ONCE(wq->record->producer, 0);
	spin_unlock_irqrestore(&wq->lock, flags);
}

/* Remember what is posted. @wq may not exist. */
int ornic_wq_track(struct ornic_wq *wq)
{
	if (!wq->ring->exists)
		return 0;
	wq->posted = kvcalloc(1u << wq->ring->log_depth, sizeof(*wq->posted),
			      GFP_KERNEL);
	return wq->posted ? 0 : -ENOMEM;
}

/* Undo ornic_wq_track(), if it was called. */
void ornic_wq_untrack(struct ornic_wq *wq)
{
	kvfree(wq->posted);
	wq->posted = NULL;
}

static struct ornic_posted *posted_at(const struct ornic_wq *wq, u32 index)
{
	return &wq->posted[index & ((1u << wq->ring->log_depth) - 1)];
}

/* The slot is free. The completion may come once head is stored. */
static void wq_remember(struct ornic_wq *wq, u64 wr_id, u32 length)
{
	*posted_at(wq, wq->head) = (struct ornic_posted){
		.wr_id = wr_id,
		.length = length,
	};
}

static void wq_advance(struct ornic_wq *wq)
{
	/* Pairs with ornic_wq_complete(): what was posted before. */
	smp_store_release(&wq->head, wq->head + 1);
}

/*
 * The WQE at @index, and all before it, are complete; @posted is what was
 * posted there. Returns false if there is no such WQE. Lock of the CQ held.
 */
bool ornic_wq_complete(struct ornic_wq *wq, u32 index,
		       struct ornic_posted *posted)
{
	/* Pairs with wq_advance(). */
	u32 head = smp_load_acquire(&wq->head);

	if (index - wq->tail >= head - wq->tail)
		return false;
	*posted = *posted_at(wq, index);
	/* Pairs with the acquire in wq_is_full(): the CQE was read before. */
	smp_store_release(&wq->tail, index + 1);
	return true;
}

/*
 * Complete the next WQE without the device. Returns false if there is none.
 * Lock of the CQ held.
 */
bool ornic_wq_next(struct ornic_wq *wq, u64 *wr_id)
{
	struct ornic_posted posted;

	if (!ornic_wq_complete(wq, wq->tail, &posted))
		return false;
	*wr_id = posted.wr_id;
	return true;
}

/* Is a WQE not yet complete? Lock of the CQ held. */
bool ornic_wq_has_work(const struct ornic_wq *wq)
{
	return READ_ONCE(wq->head) != wq->tail;
}

static bool wq_is_full(const struct ornic_wq *wq)
{
	/* Pairs with ornic_wq_complete(). */
	return wq->head - smp_load_acquire(&wq->tail) >=
	       1u << wq->ring->log_depth;
}

static void *wq_slot(const struct ornic_wq *wq)
{
	const struct ornic_ring_geom *ring = wq->ring;
	u32 index = wq->head & ((1u << ring->log_depth) - 1);

	return ornic_queue_mem_at(wq->mem,
				  ring->offset + (index << ring->log_stride));
}

/* Let the device see the WQEs when it looks. */
static void wq_set_producer(struct ornic_wq *wq)
{
	/* WQEs before producer. */
	dma_wmb();
	WRITE_ONCE(wq->record->producer, cpu_to_le32(wq->head));
}

/* Publish the WQEs to the device. Returns true if it needs a kick. */
static bool wq_publish(struct ornic_wq *wq)
{
	wq_set_producer(wq);
	/*
	 * Pairs with the device's barrier between its store of kick_wanted and
	 * its last load of producer: it sees the WQEs, or we see that it
	 * sleeps.
	 */
	dma_mb();
	return READ_ONCE(wq->record->kick_wanted);
}

/* With PREEMPT_RT a caller that holds a spinlock is preemptible. */
static bool may_execute(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && preemptible();
}

/*
 * Targets of storage answer in workers, which run beside the poster of the
 * requests as soon as those are handed off.
 */
static bool is_worker(void)
{
	return current->flags & PF_WQ_WORKER;
}

static enum ornic_kick_where where_to_execute(bool handoff)
{
	if (!may_execute())
		return ORNIC_KICK_LATER;
	return handoff && !is_worker() ? ORNIC_KICK_ELSEWHERE : ORNIC_KICK_HERE;
}

/* Without the lock: a kick may execute messages. */
static void sq_kick(struct ib_qp *ibqp, bool wanted, bool handoff)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);

	if (unlikely(ornic_is_dead(dev)))
		ornic_flush_later(dev);
	else if (wanted)
		dev->bus->ops->kick(dev->bus, ibqp->qp_num,
				    where_to_execute(handoff));
}

/*
 * An RQ wants kicks in state ERR alone, to be flushed. Not by the poster: softirqs would
 * give it back each buffer before the post returns, and one that posts as long as it has
 * buffers, as smbd_post_send_credits() of cifs, would do so for ever.
 */
static void rq_kick(struct ib_qp *ibqp, bool wanted)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);

	if (unlikely(ornic_is_dead(dev)))
		ornic_flush_later(dev);
	else if (unlikely(wanted))
		dev->bus->ops->kick(dev->bus, ibqp->qp_num, ORNIC_KICK_LATER);
}

/* ---- Send ---------------------------------------------------------------- */

static u8 wqe_flags(int flags)
{
	return (flags & IB_SEND_SIGNALED ? ORNIC_WQE_SIGNALED : 0) |
	       (flags & IB_SEND_SOLICITED ? ORNIC_WQE_SOLICITED : 0) |
	       (flags & IB_SEND_FENCE ? ORNIC_WQE_FENCE : 0) |
	       (flags & IB_SEND_INLINE ? ORNIC_WQE_INLINE : 0);
}

static void read_address(struct ornic_send_work *work,
			 const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	work->qp_type = ORNIC_QPT_UD;
	work->dest_qpn = ud->remote_qpn;
	work->dest_qkey = ud->remote_qkey;
	work->pkey_index = ud->pkey_index;
	work->av = ud->ah ? &to_oah(ud->ah)->av : NULL;
}

/* The MR after map_mr_sg(); it may change once this is posted. */
static int read_registration(struct ornic_send_work *work,
			     const struct ib_reg_wr *wr)
{
	const struct ornic_ib_mr *mr = to_omr(wr->mr);
	int ret;

	if ((mr->ibmr.type != IB_MR_TYPE_MEM_REG &&
	     mr->ibmr.type != IB_MR_TYPE_SG_GAPS) ||
	    !mr->npages)
		return -EINVAL;
	ret = ornic_mr_access(wr->access, &work->access);
	if (ret)
		return ret;
	work->raddr = mr->ibmr.iova;
	work->rkey = wr->key;
	work->length = mr->ibmr.length;
	work->list = ornic_page_list_root(&mr->list);
	work->npages = mr->npages;
	work->page_shift = mr->page_shift;
	return work->access & ~ORNIC_ACCESS_MASK ? -EINVAL : 0;
}

static __be32 read_imm(const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_LOCAL_INV:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_READ_WITH_INV:
		return cpu_to_be32(wr->ex.invalidate_rkey);
	default:
		return wr->ex.imm_data;
	}
}

/*
 * Verbs have no work request for FLUSH. The lengths of its SGEs give the range
 * at remote_addr, their addresses are ignored; without SGEs it is the MR.
 */
static void read_flush(struct ornic_send_work *work,
		       const struct ib_send_wr *wr)
{
	int i;

	work->raddr = rdma_wr(wr)->remote_addr;
	work->rkey = rdma_wr(wr)->rkey;
	work->flush_level = wr->num_sge ? ORNIC_FLUSH_RANGE : ORNIC_FLUSH_MR;
	for (i = 0; i < wr->num_sge; i++)
		work->flush_length += wr->sg_list[i].length;
}

static int read_operands(struct ornic_send_work *work,
			 const struct ib_send_wr *wr)
{
	switch (work->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
	case IB_WR_ATOMIC_WRITE:
		work->raddr = rdma_wr(wr)->remote_addr;
		work->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_FLUSH:
		read_flush(work, wr);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		work->raddr = atomic_wr(wr)->remote_addr;
		work->rkey = atomic_wr(wr)->rkey;
		work->swap_add = atomic_wr(wr)->swap;
		work->compare = atomic_wr(wr)->compare_add;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		work->raddr = atomic_wr(wr)->remote_addr;
		work->rkey = atomic_wr(wr)->rkey;
		work->swap_add = atomic_wr(wr)->compare_add;
		break;
	case IB_WR_REG_MR:
		return read_registration(work, reg_wr(wr));
	default:
		break;
	}
	return 0;
}

static int put_sges(const struct ornic_wq *sq, void *slot, u32 used,
		    const struct ib_send_wr *wr)
{
	struct ornic_sge *at = slot + used;
	int i;

	if (wr->num_sge > sq->ring->max_sge)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++)
		ornic_pack_sge(at++, wr->sg_list[i].addr, wr->sg_list[i].length,
			       wr->sg_list[i].lkey);
	ornic_pack_payload(slot, wr->num_sge);
	return 0;
}

/* SGEs of inline data name kernel memory by its virtual address. */
static int put_inline(const struct ornic_wq *sq, void *slot, u32 used,
		      const struct ib_send_wr *wr)
{
	u32 bytes = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > sq->ring->max_inline - bytes)
			return -EINVAL;
		memcpy(slot + used + bytes, (void *)(uintptr_t)sge->addr,
		       sge->length);
		bytes += sge->length;
	}
	ornic_pack_payload(slot, bytes);
	return 0;
}

static int write_send(struct ornic_ib_qp *qp, const struct ib_send_wr *wr)
{
	struct ornic_send_work work = {
		.opcode = wr->opcode,
		.qp_type = qp->ibqp.qp_type,
		.flags = wqe_flags(wr->send_flags),
		.wr_id = wr->wr_id,
		.imm = read_imm(wr),
	};
	void *slot = wq_slot(qp->sq);
	int used = 0;

	if (wr->send_flags & ~SEND_FLAGS || wr->num_sge < 0)
		return -EINVAL;
	if (wq_is_full(qp->sq))
		return -ENOMEM;
	if (ornic_ib_qp_is_datagram(qp))
		read_address(&work, wr);
	else
		used = read_operands(&work, wr);
	if (!used)
		used = ornic_pack_send(slot, &work);
	if (used < 0)
		return used;
	if (work.opcode == IB_WR_FLUSH)
		return 0;
	return wr->send_flags & IB_SEND_INLINE ?
		       put_inline(qp->sq, slot, used, wr) :
		       put_sges(qp->sq, slot, used, wr);
}

static void dbg_refused(struct ornic_ib_qp *qp, const struct ib_send_wr *wr,
			int ret)
{
	const struct ornic_ring_geom *ring = qp->sq->ring;

	ibdev_dbg(qp->ibqp.device,
		  "QP %#x: op %d flags %#x, %d SGEs of %u, depth %u: %d\n",
		  qp->ibqp.qp_num, wr->opcode, wr->send_flags, wr->num_sge,
		  ring->max_sge, 1u << ring->log_depth, ret);
}

int ornic_ib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	struct ornic_wq *sq = qp->sq;
	bool wanted, handoff;
	unsigned long flags;
	int ret = 0;

	if (!sq->ring->exists || READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&sq->lock, flags);
	for (; wr; wr = wr->next) {
		ret = write_send(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		wq_remember(sq, wr->wr_id, 0);
		wq_advance(sq);
	}
	wanted = wq_publish(sq);
	handoff = ibqp->qp_type == IB_QPT_RC &&
		  ornic_handoff_post(&sq->handoff);
	spin_unlock_irqrestore(&sq->lock, flags);

	if (unlikely(ret))
		dbg_refused(qp, wr, ret);
	sq_kick(ibqp, wanted, handoff);
	return ret;
}

/* ---- Receive ------------------------------------------------------------- */

/* The slot is free. */
static int write_recv(struct ornic_wq *rq, const struct ib_recv_wr *wr)
{
	void *slot = wq_slot(rq);
	struct ornic_sge *at = slot + sizeof(struct ornic_rq_hdr);
	int i;

	if (wr->num_sge < 0 || wr->num_sge > rq->ring->max_sge)
		return -EINVAL;
	ornic_pack_recv(slot, wr->wr_id, wr->num_sge);
	for (i = 0; i < wr->num_sge; i++)
		ornic_pack_sge(at++, wr->sg_list[i].addr, wr->sg_list[i].length,
			       wr->sg_list[i].lkey);
	return 0;
}

static u32 room_of(const struct ib_recv_wr *wr)
{
	u64 room = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		room += wr->sg_list[i].length;
	return min_t(u64, room, U32_MAX);
}

int ornic_ib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	struct ornic_wq *rq = qp->rq;
	unsigned long flags;
	bool wanted;
	int ret = 0;

	if (!rq->ring->exists || READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&rq->lock, flags);
	for (; wr; wr = wr->next) {
		ret = wq_is_full(rq) ? -ENOMEM : write_recv(rq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		wq_remember(rq, wr->wr_id, room_of(wr));
		wq_advance(rq);
	}
	wanted = wq_publish(rq);
	spin_unlock_irqrestore(&rq->lock, flags);

	if (unlikely(ret))
		ibdev_dbg(ibqp->device,
			  "QP %#x: receive of %d SGEs of %u, depth %u: %d\n",
			  ibqp->qp_num, wr->num_sge, rq->ring->max_sge,
			  1u << rq->ring->log_depth, ret);
	rq_kick(ibqp, wanted);
	return ret;
}

/* The record of an SRQ tells which WQEs the device has copied. */
static bool is_srq_full(struct ornic_wq *wq)
{
	u32 depth = 1u << wq->ring->log_depth;
	__le32 taken;

	if (wq->head - wq->tail < depth)
		return false;
	/* Pairs with the device's release: it reads the slot no more. */
	taken = virt_load_acquire(&wq->record->taken);
	wq->tail = le32_to_cpu(taken);
	return wq->head - wq->tail >= depth;
}

int ornic_ib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr)
{
	struct ornic_wq *wq = &to_osrq(ibsrq)->wq;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&wq->lock, flags);
	for (; wr; wr = wr->next) {
		ret = is_srq_full(wq) ? -ENOMEM : write_recv(wq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		wq->head++;
	}
	/* No kick: the device reads the ring when a message arrives. */
	wq_set_producer(wq);
	spin_unlock_irqrestore(&wq->lock, flags);
	return ret;
}
