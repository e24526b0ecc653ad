// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Polling and arming of kernel users, in any context: the driver reads rings
 * and writes records as the provider does.
 *
 * A CQE names its QP by number, which is looked up in the table of the device.
 * A QP that is destroyed or reset first removes its CQEs from the ring under
 * the lock of the CQ, so a QP that is found there exists.
 */
#include "ornic_poll.h"

#include <linux/etherdevice.h>
#include <linux/export.h>
#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "ornic_bus.h"
#include "ornic_cq.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_qp.h"
#include "ornic_queue.h"
#include "ornic_verbs.h"
#include "ornic_wqe.h"

#define NO_QP 0 /* a number that no QP has */

/* @mem is zeroed. The caller frees the ring with kfree(). Return: NULL without memory. */
struct ornic_cq_ring *ornic_cq_ring_open(struct ornic_queue_mem *mem,
					 u8 log_depth)
{
	struct ornic_cq_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL);

	if (!ring)
		return NULL;
	spin_lock_init(&ring->lock);
	ring->mem = mem;
	ring->record = ornic_queue_mem_at(mem, 0);
	ring->log_depth = log_depth;
	return ring;
}

static struct ornic_cqe *cqe_at(const struct ornic_cq_ring *ring, u32 index)
{
	u32 slot = index & ((1u << ring->log_depth) - 1);
	u32 off = ORNIC_RING_OFFSET + slot * sizeof(struct ornic_cqe);

	return ornic_queue_mem_at(ring->mem, off);
}

static struct ornic_cqe *new_cqe(const struct ornic_cq_ring *ring, u32 index)
{
	struct ornic_cqe *cqe = cqe_at(ring, index);

	if (!ornic_cqe_is_new(READ_ONCE(cqe->flags), index, ring->log_depth))
		return NULL;
	/* Pairs with the device's store of the phase: the rest is there. */
	dma_rmb();
	return cqe;
}

/*
 * Take the CQEs of a QP out of the ring; their slots stay and are skipped. The
 * device writes no more of them.
 */
void ornic_cq_ring_forget_qp(struct ornic_cq_ring *ring, u32 qpn)
{
	u32 depth = 1u << ring->log_depth;
	struct ornic_cqe *cqe;
	u32 i;

	lockdep_assert_held(&ring->lock);
	for (i = 0; i < depth; i++) {
		cqe = new_cqe(ring, ring->consumer + i);
		if (!cqe)
			break;
		if (le32_to_cpu(cqe->qpn) == qpn)
			cqe->qpn = cpu_to_le32(NO_QP);
	}
}

/*
 * The QP of a CQE, if it completes to this CQ. Its destruction takes the lock
 * of the CQ, which is held here; other QPs may go away at any time.
 */
static struct ornic_ib_qp *find_qp(struct ornic_ib_dev *dev,
				   const struct ib_cq *ibcq,
				   const struct ornic_completion *comp)
{
	struct ornic_ib_qp *qp = NULL;
	struct ornic_event_target *target;

	rcu_read_lock();
	target = xa_load(&dev->qps, comp->qpn);
	if (target && (comp->is_recv ? READ_ONCE(target->recv_cq) :
				       READ_ONCE(target->send_cq)) == ibcq)
		qp = to_oqp(target->obj);
	rcu_read_unlock();
	return qp;
}

/* Frames of a VLAN device arrive untagged, but the address is on its VLAN. */
static u16 vlan_of(const struct ornic_ib_dev *dev,
		   const struct ornic_completion *comp)
{
	const struct net_device *netdev = dev->bus->netdev;

	if (comp->vlan == ORNIC_VLAN_NONE && is_vlan_dev(netdev))
		return vlan_dev_vlan_id(netdev);
	return comp->vlan;
}

static u8 network_of(const struct ornic_completion *comp)
{
	if (comp->roce_v1)
		return RDMA_NETWORK_ROCE_V1;
	return comp->ipv4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

static void fill_datagram(const struct ornic_ib_dev *dev, struct ib_wc *wc,
			  const struct ornic_completion *comp)
{
	u16 vlan = vlan_of(dev, comp);

	wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = network_of(comp);
	if (!is_zero_ether_addr(comp->smac)) {
		ether_addr_copy(wc->smac, comp->smac);
		wc->wc_flags |= IB_WC_WITH_SMAC;
	}
	if (vlan != ORNIC_VLAN_NONE) {
		wc->vlan_id = vlan;
		wc->wc_flags |= IB_WC_WITH_VLAN;
	}
}

static void fill_wc(struct ornic_ib_qp *qp, struct ib_wc *wc,
		    const struct ornic_completion *comp)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = comp->wr_id;
	wc->status = comp->status;
	wc->opcode = comp->opcode == ORNIC_WC_REG_MR ? IB_WC_REG_MR :
						       comp->opcode;
	wc->vendor_err = comp->vendor_err;
	wc->byte_len = comp->byte_len;
	wc->qp = &qp->ibqp;
	wc->src_qp = comp->src_qpn;
	wc->sl = comp->sl;
	wc->pkey_index = comp->pkey_index;
	wc->port_num = ORNIC_PORT;
	if (comp->has_imm) {
		wc->ex.imm_data = comp->imm;
		wc->wc_flags |= IB_WC_WITH_IMM;
	}
	if (comp->has_inv) {
		wc->ex.invalidate_rkey = be32_to_cpu(comp->imm);
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
	}
	if (comp->has_grh)
		fill_datagram(to_odev(qp->ibqp.device), wc, comp);
}

/*
 * Kernel users trust wr_id (a pointer) and byte_len, so both come from what was
 * posted and not from the device. The slots of an SRQ are free as soon as the
 * device has taken the WQEs, so nothing is known of those here.
 */
static bool match_posted(struct ornic_ib_qp *qp, struct ornic_completion *comp)
{
	struct ornic_posted posted;

	if (comp->is_recv && qp->ibqp.srq)
		return true;
	if (!ornic_wq_complete(comp->is_recv ? qp->rq : qp->sq, comp->wqe_index,
			       &posted))
		return false;
	comp->wr_id = posted.wr_id;
	if (comp->opcode == IB_WC_RECV && comp->byte_len > posted.length) {
		comp->byte_len = 0;
		comp->status = comp->status ?: IB_WC_LOC_LEN_ERR;
	}
	return true;
}

/*
 * False if the QP of the CQE is gone, or no such WQE was posted. A device that
 * writes to the CQE meanwhile must not change what was checked, so it is copied
 * once.
 */
static bool poll_one(struct ornic_ib_dev *dev, const struct ib_cq *ibcq,
		     const struct ornic_cqe *cqe, struct ib_wc *wc)
{
	struct ornic_completion comp;
	struct ornic_ib_qp *qp;
	struct ornic_cqe copy;

	memcpy(&copy, cqe, sizeof(copy));
	barrier();
	ornic_unpack_cqe(&copy, &comp);
	qp = find_qp(dev, ibcq, &comp);
	if (!qp || !match_posted(qp, &comp))
		return false;
	if (comp.is_recv)
		ornic_handoff_answer(&qp->sq->handoff);
	fill_wc(qp, wc, &comp);
	return true;
}

static void cq_free_slots(struct ornic_cq_ring *ring)
{
	__le32 consumer = cpu_to_le32(ring->consumer);

	/* The device may write the slots again once it sees this. */
	virt_store_release(&ring->record->consumer, consumer);
}

int ornic_ib_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc)
{
	struct ornic_ib_dev *dev = to_odev(ibcq->device);
	struct ornic_cq_ring *ring = to_ocq(ibcq)->ring;
	const struct ornic_cqe *cqe;
	/* CQEs that match nothing are skipped; at most one ring full. */
	u32 left = 1u << ring->log_depth;
	unsigned long flags;
	int done = 0;
	u32 before;

	spin_lock_irqsave(&ring->lock, flags);
	before = ring->consumer;
	while (done < count && left--) {
		cqe = new_cqe(ring, ring->consumer);
		if (!cqe)
			break;
		if (poll_one(dev, ibcq, cqe, &wc[done]))
			done++;
		ring->consumer++;
	}
	if (ring->consumer != before)
		cq_free_slots(ring);
	if (unlikely(ornic_is_dead(dev)))
		done += ornic_flush_cq(dev, ibcq, count - done, wc + done);
	spin_unlock_irqrestore(&ring->lock, flags);
	return done;
}

static bool has_completions(struct ornic_ib_dev *dev, struct ib_cq *ibcq)
{
	struct ornic_cq_ring *ring = to_ocq(ibcq)->ring;

	return new_cqe(ring, ring->consumer) ||
	       (unlikely(ornic_is_dead(dev)) && ornic_flush_pending(dev, ibcq));
}

/* Would ornic_ib_poll_cq() find something? */
bool ornic_ib_cq_has_completions(struct ib_cq *ibcq)
{
	struct ornic_cq_ring *ring = to_ocq(ibcq)->ring;
	unsigned long flags;
	bool has;

	spin_lock_irqsave(&ring->lock, flags);
	has = has_completions(to_odev(ibcq->device), ibcq);
	spin_unlock_irqrestore(&ring->lock, flags);
	return has;
}

/*
 * A CQ armed for any completion stays so when it is armed for solicited ones.
 * Each arming has a new sequence number, see the device interface.
 */
static void cq_arm(struct ornic_cq_ring *ring, bool solicited_only)
{
	bool pending = ring->armed !=
		       le32_to_cpu(READ_ONCE(ring->record->fired));
	bool any = !solicited_only ||
		   (pending &&
		    (ring->armed & ORNIC_ARM_MODE_MASK) == ORNIC_ARM_NEXT);
	u32 sequence = (ring->armed >> ORNIC_ARM_SEQ_SHIFT) + 1;

	ring->armed = sequence << ORNIC_ARM_SEQ_SHIFT |
		      (any ? ORNIC_ARM_NEXT : ORNIC_ARM_SOLICITED);
	WRITE_ONCE(ring->record->arm, cpu_to_le32(ring->armed));
	/*
	 * Pairs with the device's barrier between its store of a CQE and its
	 * load of arm: it sees that we wait, or the next poll sees its CQE.
	 */
	dma_mb();
}

int ornic_ib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct ornic_ib_dev *dev = to_odev(ibcq->device);
	struct ornic_cq_ring *ring = to_ocq(ibcq)->ring;
	unsigned long irq;
	bool missed;

	spin_lock_irqsave(&ring->lock, irq);
	cq_arm(ring, (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED);
	missed = flags & IB_CQ_REPORT_MISSED_EVENTS &&
		 has_completions(dev, ibcq);
	spin_unlock_irqrestore(&ring->lock, irq);
	return missed;
}

/* ---- A device that has failed -------------------------------------------- */

/*
 * A device that has failed completes nothing, but kernel users wait for their
 * work before they release its memory. So the driver completes it: poll_cq
 * first returns what the device has written and then, for all that is posted
 * before or after, the completions of a QP in error (IBTA 10.3.1.7), but for
 * what QP 1 sends. A work item calls the completion handlers, as there are no
 * interrupts any more.
 *
 * Processes are disassociated instead, and need none of this.
 */

/*
 * What QP 1 sends is lost. ib_cm takes a flush for the end of its agent and tells nobody, but
 * users wait for the end of a connection before they release the device.
 */
static enum ib_wc_status flush_status(const struct ornic_ib_qp *qp,
				      bool is_recv)
{
	return qp->ibqp.qp_type == IB_QPT_GSI && !is_recv ? IB_WC_FATAL_ERR :
							    IB_WC_WR_FLUSH_ERR;
}

static int flush_wq(struct ornic_ib_qp *qp, struct ornic_wq *wq, bool is_recv,
		    int room, struct ib_wc *wc)
{
	int done = 0;

	while (done < room && ornic_wq_next(wq, &wc[done].wr_id)) {
		wc[done] = (struct ib_wc){
			.wr_id = wc[done].wr_id,
			.status = flush_status(qp, is_recv),
			.opcode = is_recv ? IB_WC_RECV : IB_WC_SEND,
			.qp = &qp->ibqp,
			.port_num = ORNIC_PORT,
		};
		done++;
	}
	return done;
}

/*
 * Complete what the device has not, after @ibcq is empty. The lock of the CQ is
 * held and keeps the QPs that complete to it.
 */
int ornic_flush_cq(struct ornic_ib_dev *dev, const struct ib_cq *ibcq, int room,
		   struct ib_wc *wc)
{
	struct ornic_event_target *target;
	struct ornic_ib_qp *qp;
	unsigned long num;
	int done = 0;

	rcu_read_lock();
	xa_for_each(&dev->qps, num, target) {
		qp = to_oqp(target->obj);
		if (READ_ONCE(target->send_cq) == ibcq)
			done += flush_wq(qp, qp->sq, false, room - done,
					 wc + done);
		if (READ_ONCE(target->recv_cq) == ibcq && !qp->ibqp.srq)
			done += flush_wq(qp, qp->rq, true, room - done,
					 wc + done);
	}
	rcu_read_unlock();
	return done;
}

/* Would ornic_flush_cq() complete something? Lock of the CQ held. */
bool ornic_flush_pending(struct ornic_ib_dev *dev, const struct ib_cq *ibcq)
{
	struct ornic_event_target *target;
	bool pending = false;
	struct ornic_ib_qp *qp;
	unsigned long num;

	rcu_read_lock();
	xa_for_each(&dev->qps, num, target) {
		qp = to_oqp(target->obj);
		if (READ_ONCE(target->send_cq) == ibcq)
			pending |= ornic_wq_has_work(qp->sq);
		if (READ_ONCE(target->recv_cq) == ibcq && !qp->ibqp.srq)
			pending |= ornic_wq_has_work(qp->rq);
	}
	rcu_read_unlock();
	return pending;
}

/*
 * Does a QP complete to the CQ? A QP that is being destroyed does not count
 * from ornic_event_target_close() on; flush_work() then waits for callers that
 * still saw it.
 */
bool ornic_flush_has_users(struct ornic_ib_dev *dev, const struct ib_cq *ibcq)
{
	struct ornic_event_target *target;
	bool has = false;
	unsigned long num;

	rcu_read_lock();
	xa_for_each(&dev->qps, num, target)
		has |= READ_ONCE(target->send_cq) == ibcq ||
		       READ_ONCE(target->recv_cq) == ibcq;
	rcu_read_unlock();
	return has;
}

static struct workqueue_struct *flush_queue;

/* WQ_MEM_RECLAIM: workers of storage that destroy a QP wait for its work. */
int ornic_flush_init(void)
{
	flush_queue =
		alloc_workqueue("ornic_flush", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return flush_queue ? 0 : -ENOMEM;
}

void ornic_flush_exit(void)
{
	destroy_workqueue(flush_queue);
}

/* Notify all kernel users: there are completions to poll. */
void ornic_flush_work(struct work_struct *work)
{
	struct ornic_ib_dev *dev =
		container_of(work, struct ornic_ib_dev, flush_work);
	unsigned long num;
	void *target;

	xa_for_each(&dev->cqs, num, target)
		ornic_event_comp_kernel(dev, num);
}

void ornic_flush_later(struct ornic_ib_dev *dev)
{
	queue_work(flush_queue, &dev->flush_work);
}

void ornic_fail(struct ornic_bus *bus)
{
	struct ornic_ib_dev *dev;

	WRITE_ONCE(bus->dead, true);
	/* Pairs with the reference that dealloc_driver() waits for. */
	rcu_read_lock();
	dev = READ_ONCE(bus->dev);
	if (dev) {
		ornic_event_fatal(dev);
		ornic_flush_later(dev);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(ornic_fail);
