// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters of QPs (`rdma statistic qp`): each is a counter set of the device,
 * made when the first QP is bound to it. ib_core decides which QP belongs to
 * which counter, serialises what happens to one, and adds what the sets
 * counted to the counters of the port.
 */
#include "ornic_verbs.h"

#include <rdma/rdma_counter.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_stats.h"

/**
 * ornic_ib_counter_alloc_stats - ib_device_ops.counter_alloc_stats
 * @counter: new counter, without a number yet
 *
 * Context: process, may sleep.
 * Return: the statistics, or NULL without memory or if the device has no sets.
 */
struct rdma_hw_stats *ornic_ib_counter_alloc_stats(struct rdma_counter *counter)
{
	struct ornic_ib_dev *dev = to_odev(counter->device);

	if (!(dev->caps.caps & ORNIC_CAP_COUNTERS))
		return NULL;
	return ornic_stats_alloc(dev);
}

/**
 * ornic_ib_counter_bind_qp - ib_device_ops.counter_bind_qp
 * @counter: counter; gets its number with its first QP
 * @ibqp: QP without a counter
 *
 * Context: process, may sleep.
 * Return: 0; -ENOSPC if the device has no counter sets left; -ENOMEM; -errno
 * of the device.
 */
int ornic_ib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	u32 set = counter->id;
	int ret;

	if (!set) {
		ret = ornic_cmd_create_counters(dev, &set);
		if (ret)
			return ret;
	}
	ret = ornic_cmd_bind_counters(dev, ibqp->qp_num, set);
	if (ret) {
		ibdev_dbg(ibqp->device, "QP %#x: counter set %u: %d\n",
			  ibqp->qp_num, set, ret);
		goto err_destroy;
	}
	counter->id = set;
	ibqp->counter = counter;
	return 0;

err_destroy:
	if (!counter->id)
		ornic_cmd_destroy_counters(dev, set);
	return ret;
}

/**
 * ornic_ib_counter_unbind_qp - ib_device_ops.counter_unbind_qp
 * @ibqp: QP with a counter
 *
 * Context: process, may sleep.
 * Return: 0. ib_core drops the counter whatever the device says of it.
 */
int ornic_ib_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	int ret;

	ret = ornic_cmd_bind_counters(dev, ibqp->qp_num, 0);
	if (ret)
		ibdev_dbg(ibqp->device, "QP %#x: keeps counting: %d\n",
			  ibqp->qp_num, ret);
	ibqp->counter = NULL;
	return 0;
}

/**
 * ornic_ib_counter_update_stats - ib_device_ops.counter_update_stats
 * @counter: counter
 *
 * Context: process, may sleep.
 * Return: 0; -ENOMEM; -errno of the device.
 */
int ornic_ib_counter_update_stats(struct rdma_counter *counter)
{
	return ornic_stats_read(to_odev(counter->device), counter->id,
				counter->stats);
}

/**
 * ornic_ib_counter_dealloc - ib_device_ops.counter_dealloc
 * @counter: counter without QPs
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device.
 */
int ornic_ib_counter_dealloc(struct rdma_counter *counter)
{
	if (!counter->id)
		return 0;
	return ornic_cmd_destroy_counters(to_odev(counter->device),
					  counter->id);
}
