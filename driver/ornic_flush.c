// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When a device has failed, nobody completes the work of kernel users, and they
 * wait for it before they let go. So the driver does: poll_cq first finds what
 * the device has written, and then, for all that is posted or still gets
 * posted, the completions of a QP in error (IBTA 10.3.1.7). Who posts, or wants
 * to be notified, is told by a work item, as there is no interrupt any more.
 *
 * Processes are disassociated instead, and need none of this.
 */
#include "ornic_flush.h"

#include <linux/export.h>
#include <linux/xarray.h>

#include "ornic_bus.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_qp.h"

static int flush_wq(struct ornic_ib_qp *qp, struct ornic_wq *wq, bool is_recv,
		    int room, struct ib_wc *wc)
{
	int done = 0;

	while (done < room && ornic_wq_next(wq, &wc[done].wr_id)) {
		wc[done] = (struct ib_wc){
			.wr_id = wc[done].wr_id,
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = is_recv ? IB_WC_RECV : IB_WC_SEND,
			.qp = &qp->ibqp,
			.port_num = ORNIC_PORT,
		};
		done++;
	}
	return done;
}

/**
 * ornic_flush_cq - complete what the device has not
 * @dev: device that has failed
 * @ibcq: CQ of a kernel user, empty
 * @room: in @wc
 * @wc: filled in
 *
 * Context: any, lock of the CQ held: it keeps the QPs that complete to it.
 * Return: completions.
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

/**
 * ornic_flush_pending - would ornic_flush_cq() complete something?
 * @dev: device that has failed
 * @ibcq: CQ of a kernel user
 *
 * Context: any, lock of the CQ held.
 * Return: whether it would.
 */
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

/**
 * ornic_flush_has_users - does a QP complete to the CQ?
 * @dev: device that has failed
 * @ibcq: CQ of a kernel user
 *
 * Context: any. For a QP that is being destroyed from ornic_event_target_close() on no
 * more, and flush_work() then waits for those that saw it.
 * Return: whether one does.
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

/**
 * ornic_flush_work - tell all kernel users that there are completions
 * @work: ornic_ib_dev.flush_work
 *
 * Context: process.
 */
void ornic_flush_work(struct work_struct *work)
{
	struct ornic_ib_dev *dev =
		container_of(work, struct ornic_ib_dev, flush_work);
	unsigned long num;
	void *target;

	xa_for_each(&dev->cqs, num, target)
		ornic_event_comp_kernel(dev, num);
}

/**
 * ornic_flush_later - see to it that flushed work is polled
 * @dev: device that has failed
 *
 * Context: any.
 */
void ornic_flush_later(struct ornic_ib_dev *dev)
{
	queue_work(system_unbound_wq, &dev->flush_work);
}

/**
 * ornic_fail - the device has lost all its state
 * @bus: of the device; commands return -EIO from now on
 *
 * Context: any; no lock of the device may be held that commands or kicks take.
 */
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
