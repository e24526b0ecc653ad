// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Events of the device, in any context: to the completion handler of a CQ, or
 * as an asynchronous event of a CQ, a QP, a WQ, an SRQ or the device.
 *
 * The number in an event is looked up under RCU. It names a target, whose
 * reference holds the object while its handler runs. No lock is held then,
 * neither here nor in the device, so a handler may post, poll and arm.
 * Destroying an object first closes its target: no handler starts afterwards,
 * and running ones have finished. ib_core frees CQs, QPs and SRQs without a
 * grace period, so a target is allocated separately. So do we with WQs.
 */
#include "ornic_event.h"

#include <linux/bottom_half.h>
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat/compat_wq.h"
#include "ornic_bus.h"
#include "ornic_dev.h"
#include "ornic_odp.h"
#include "ornic_poll.h"
#include "ornic_qp.h"
#include "ornic_rwq.h"

/*
 * Let events of @obj, a struct ib_cq, ib_qp, ib_wq or ib_srq, come, and kicks of the
 * doorbell files of @kicker, 0: none. @table is the one of its kind in struct
 * ornic_ib_dev.
 */
struct ornic_event_target *
ornic_event_target_open(struct xarray *table, u32 num, void *obj, u64 kicker)
{
	struct ornic_event_target *target;
	int ret;

	target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);
	if (!target)
		return ERR_PTR(-ENOMEM);
	target->num = num;
	target->obj = obj;
	target->kicker = kicker;
	ret = ornic_event_target_reopen(table, target);
	if (ret) {
		kfree(target);
		return ERR_PTR(ret);
	}
	return target;
}

/*
 * Let events and kicks of a closed target come again. Returns -EIO if another object has
 * its number.
 */
int ornic_event_target_reopen(struct xarray *table,
			      struct ornic_event_target *target)
{
	int ret;

	init_completion(&target->idle);
	refcount_set(&target->ref, 1);
	ret = xa_insert(table, target->num, target, GFP_KERNEL_ACCOUNT);
	/* A device that gives a number twice is broken. */
	return ret == -EBUSY ? -EIO : ret;
}

void ornic_event_target_put(struct ornic_event_target *target)
{
	if (refcount_dec_and_test(&target->ref))
		complete(&target->idle);
}

/*
 * No handler starts after this, and running ones have finished. A kick that has begun may
 * still come. The object must still exist on the device, so that its number is not
 * reused.
 */
void ornic_event_target_close(struct xarray *table,
			      struct ornic_event_target *target)
{
	/* It is not there, or another is, if it could not be opened again. */
	xa_cmpxchg(table, target->num, target, NULL, 0);
	ornic_event_target_put(target);
	wait_for_completion(&target->idle);
}

void ornic_event_target_free(struct ornic_event_target *target)
{
	kfree_rcu(target, rcu);
}

static struct ornic_event_target *target_get(struct xarray *table, u32 num)
{
	struct ornic_event_target *target = xa_load(table, num);

	if (target && refcount_inc_not_zero(&target->ref))
		return target;
	return NULL;
}

/*
 * The object of that number is not destroyed until ornic_event_target_put().
 * Returns NULL if there is none.
 */
struct ornic_event_target *ornic_event_target_hold(struct xarray *table,
						   u32 num)
{
	struct ornic_event_target *target;

	rcu_read_lock();
	target = target_get(table, num);
	rcu_read_unlock();
	return target;
}

/*
 * May the doorbell files of @kicker, which is not 0, kick the QP or WQ of that number?
 * Under RCU.
 */
bool ornic_event_target_is_of(struct xarray *table, u32 num, u64 kicker)
{
	const struct ornic_event_target *target = xa_load(table, num);

	return target && target->kicker == kicker;
}

/*
 * Handlers of kernel users expect to run in an interrupt, after which softirqs
 * that they raised run at once. A process that executes its own messages on the
 * device disables softirqs for that.
 */
static void cq_completed(struct ornic_event_target *target)
{
	bool process = in_task() && !irqs_disabled();
	struct ib_cq *cq = target->obj;

	if (!cq->comp_handler)
		return;
	if (process)
		local_bh_disable();
	cq->comp_handler(cq, cq->cq_context);
	if (process)
		local_bh_enable();
}

static void cq_failed(struct ornic_event_target *target)
{
	struct ib_cq *cq = target->obj;
	struct ib_event event = {
		.device = cq->device,
		.element.cq = cq,
		.event = IB_EVENT_CQ_ERR,
	};

	ibdev_dbg(cq->device, "CQ %#x: overflow\n", target->num);
	if (cq->event_handler)
		cq->event_handler(&event, cq->cq_context);
}

static void qp_event(struct ornic_event_target *target, enum ib_event_type type)
{
	struct ib_qp *qp = target->obj;
	struct ib_event event = {
		.device = qp->device,
		.element.qp = qp,
		.event = type,
	};

	ibdev_dbg(qp->device, "QP %#x: %s\n", target->num, ib_event_msg(type));
	if (qp->event_handler)
		qp->event_handler(&event, qp->qp_context);
}

static void wq_failed(struct ornic_event_target *target)
{
	struct ib_wq *wq = target->obj;
	struct ib_event event = {
		.device = wq->device,
		.element.wq = wq,
		.event = IB_EVENT_WQ_FATAL,
	};

	ibdev_dbg(wq->device, "WQ %#x: fatal error\n", target->num);
	if (wq->event_handler)
		wq->event_handler(&event, wq->wq_context);
}

static void srq_event(struct ornic_event_target *target,
		      enum ib_event_type type)
{
	struct ib_srq *srq = target->obj;
	struct ib_event event = {
		.device = srq->device,
		.element.srq = srq,
		.event = type,
	};

	ibdev_dbg(srq->device, "SRQ %#x: %s\n", target->num,
		  ib_event_msg(type));
	if (srq->event_handler)
		srq->event_handler(&event, srq->srq_context);
}

/*
 * A CQ that is polled directly has no handler to call. One without QPs may be
 * about to be destroyed, with the work that its handler would queue.
 */
static bool needs_flush(struct ornic_ib_dev *dev, struct ib_cq *cq)
{
	return !cq->uobject && cq->poll_ctx != IB_POLL_DIRECT &&
	       ornic_flush_has_users(dev, cq) &&
	       ornic_ib_cq_has_completions(cq);
}

/*
 * Call the completion handler of a kernel user, armed or not. Does nothing if
 * the CQ is gone, belongs to a process, is polled directly, or has no QPs or
 * completions.
 */
void ornic_event_comp_kernel(struct ornic_ib_dev *dev, u32 cqn)
{
	struct ornic_event_target *target;

	target = ornic_event_target_hold(&dev->cqs, cqn);
	if (!target)
		return;
	if (needs_flush(dev, target->obj))
		cq_completed(target);
	ornic_event_target_put(target);
}

void ornic_event_fatal(struct ornic_ib_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = IB_EVENT_DEVICE_FATAL,
	};

	if (!ib_device_try_get(&dev->ibdev))
		return;
	ibdev_err_ratelimited(&dev->ibdev,
			      "fatal error: the device has failed\n");
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

/*
 * For each event ib_core takes memory, and reads the table from the device: a device
 * that raises them without end gets one in this time.
 */
#define PKEY_DELAY (HZ / 50)

void ornic_event_pkey_work(struct work_struct *work)
{
	struct ornic_ib_dev *dev = container_of(to_delayed_work(work),
						struct ornic_ib_dev, pkey_work);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = ORNIC_PORT,
		.event = IB_EVENT_PKEY_CHANGE,
	};

	/* Not registered yet; or not any more: dealloc_driver() ends it. */
	if (!ib_device_try_get(&dev->ibdev)) {
		queue_delayed_work(system_percpu_wq, &dev->pkey_work, HZ);
		return;
	}
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

static const enum ib_event_type qp_event_types[] = {
	[ORNIC_EVENT_QP_FATAL] = IB_EVENT_QP_FATAL,
	[ORNIC_EVENT_QP_REQ_ERR] = IB_EVENT_QP_REQ_ERR,
	[ORNIC_EVENT_QP_ACCESS_ERR] = IB_EVENT_QP_ACCESS_ERR,
	[ORNIC_EVENT_COMM_EST] = IB_EVENT_COMM_EST,
	[ORNIC_EVENT_SQ_DRAINED] = IB_EVENT_SQ_DRAINED,
	[ORNIC_EVENT_LAST_WQE] = IB_EVENT_QP_LAST_WQE_REACHED,
};

/* Events of QPs for what is a WQ here. The device has none of these types. */
#define WQ_FATAL U8_MAX
#define WQ_FAULT (U8_MAX - 1)

/* To the device a WQ is a QP, in the same numbers. */
static struct ornic_event_target *get_qp_or_wq(struct ornic_ib_dev *dev,
					       u32 num, u8 *type)
{
	struct ornic_event_target *target = target_get(&dev->qps, num);

	if (target)
		return target;
	if (*type == ORNIC_EVENT_QP_FATAL)
		*type = WQ_FATAL;
	else if (*type == ORNIC_EVENT_PAGE_FAULT)
		*type = WQ_FAULT;
	else
		return NULL;
	return target_get(&dev->wqs, num);
}

/* @vector: of the event */
static void event_deliver(struct ornic_event_target *target, u8 type, u8 vector)
{
	switch (type) {
	case WQ_FATAL:
		wq_failed(target);
		break;
	case ORNIC_EVENT_COMP:
		cq_completed(target);
		break;
	case ORNIC_EVENT_CQ_ERR:
		cq_failed(target);
		break;
	case ORNIC_EVENT_SRQ_LIMIT:
		srq_event(target, IB_EVENT_SRQ_LIMIT_REACHED);
		break;
	case ORNIC_EVENT_SRQ_ERR:
		srq_event(target, IB_EVENT_SRQ_ERR);
		break;
	case ORNIC_EVENT_PAGE_FAULT:
		ornic_qp_fault(to_oqp(target->obj)->faults, vector);
		break;
	case WQ_FAULT:
		ornic_qp_fault(to_orwq(target->obj)->faults, vector);
		break;
	default:
		qp_event(target, qp_event_types[type]);
		break;
	}
}

void ornic_event(struct ornic_bus *bus, const struct ornic_eqe *eqe)
{
	u32 num = le32_to_cpu(eqe->obj);
	struct ornic_event_target *target = NULL;
	struct ornic_ib_dev *dev;
	u8 type = eqe->type;

	rcu_read_lock();
	dev = READ_ONCE(bus->dev);
	if (!dev)
		goto out_unlock;
	if (type <= ORNIC_EVENT_CQ_ERR)
		target = target_get(&dev->cqs, num);
	else if (type < ARRAY_SIZE(qp_event_types) ||
		 type == ORNIC_EVENT_PAGE_FAULT)
		target = get_qp_or_wq(dev, num, &type);
	else if (type == ORNIC_EVENT_DEVICE_FATAL)
		ornic_event_fatal(dev);
	else if (type == ORNIC_EVENT_PKEY_CHANGE)
		queue_delayed_work(system_percpu_wq, &dev->pkey_work,
				   PKEY_DELAY);
	else if (type == ORNIC_EVENT_SRQ_LIMIT || type == ORNIC_EVENT_SRQ_ERR)
		target = target_get(&dev->srqs, num);
out_unlock:
	rcu_read_unlock();

	if (target) {
		event_deliver(target, type, eqe->vector);
		ornic_event_target_put(target);
	}
}
EXPORT_SYMBOL_GPL(ornic_event);
