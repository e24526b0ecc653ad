// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Hardware counters: QUERY_STATS, as `rdma statistic` shows it. */
#include "ornic_verbs.h"
#include <linux/slab.h>
#include <rdma/ornic-hw.h>
#include <rdma/rdma_counter.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_stats.h"

/* clang-format off */
#define STAT(id, stat) \
	[ORNIC_STAT_##id] = { .name = #stat },
#define OPTIONAL_STAT(id, stat) \
	[ORNIC_STAT_##id] = { .name = #stat, .flags = IB_STAT_FLAG_OPTIONAL },

/* ib_core requires the optional ones to be last. */
static const struct rdma_stat_desc stat_descs[ORNIC_STAT_COUNT] = {
	ORNIC_STATS(STAT, OPTIONAL_STAT)
};

/* clang-format on */

/* `rdma statistic` hides counters that are disabled. */
static void hide_optional(struct rdma_hw_stats *stats, u64 counting)
{
	int i;

	for (i = 0; i < ORNIC_STAT_COUNT; i++)
		if (stat_descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			assign_bit(i, stats->is_disabled,
				   !(counting & BIT_ULL(i)));
}

static struct rdma_hw_stats *stats_alloc(struct ornic_ib_dev *dev)
{
	struct rdma_hw_stats *stats;

	stats = rdma_alloc_hw_stats_struct(stat_descs, ORNIC_STAT_COUNT,
					   RDMA_HW_STATS_DEFAULT_LIFESPAN);
	if (stats)
		hide_optional(stats, READ_ONCE(dev->optional));
	return stats;
}

/* Sets *@counters to NULL if the device may still write there. */
static int read_counters(struct ornic_ib_dev *dev, u32 set, __le64 **counters)
{
	const size_t size = ORNIC_STAT_COUNT * sizeof(**counters);
	u64 dma;
	int ret;

	dma = ib_dma_map_single(&dev->ibdev, *counters, size, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(&dev->ibdev, dma))
		return -ENOMEM;
	ret = ornic_cmd_query_stats(dev, set, dma, ORNIC_STAT_COUNT);
	ib_dma_unmap_single(&dev->ibdev, dma, size, DMA_FROM_DEVICE);
	if (ret && ornic_dma_lives(&dev->ibdev, *counters, size))
		*counters = NULL;
	return ret;
}

/* Counter set 0 is the device's own. */
static int stats_read(struct ornic_ib_dev *dev, u32 set,
		      struct rdma_hw_stats *stats)
{
	__le64 *counters;
	int ret;
	int i;

	counters = kcalloc(ORNIC_STAT_COUNT, sizeof(*counters), GFP_KERNEL);
	if (!counters)
		return -ENOMEM;
	ret = read_counters(dev, set, &counters);
	if (ret)
		goto out_free_counters;

	for (i = 0; i < ORNIC_STAT_COUNT; i++)
		stats->value[i] = le64_to_cpu(counters[i]);
	if (set)
		hide_optional(stats, READ_ONCE(dev->optional));
out_free_counters:
	kfree(counters);
	return ret;
}

/* Violation counters do not wrap. */
static u32 saturated(__le64 counter)
{
	return min_t(u64, le64_to_cpu(counter), U32_MAX);
}

void ornic_stats_violations(struct ornic_ib_dev *dev, struct ib_port_attr *attr)
{
	__le64 *counters;

	counters = kcalloc(ORNIC_STAT_COUNT, sizeof(*counters), GFP_KERNEL);
	if (!counters)
		return;
	if (!read_counters(dev, 0, &counters)) {
		attr->bad_pkey_cntr =
			saturated(counters[ORNIC_STAT_RX_BAD_PKEY]);
		attr->qkey_viol_cntr =
			saturated(counters[ORNIC_STAT_RX_BAD_QKEY]);
	}
	kfree(counters);
}

struct rdma_hw_stats *ornic_ib_alloc_hw_port_stats(struct ib_device *ibdev,
						   u32 port)
{
	return stats_alloc(to_odev(ibdev));
}

/*
 * Reads all counters, whichever is asked for. ib_core adds what QPs count in
 * counter sets.
 */
int ornic_ib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
			  u32 port, int index)
{
	int ret;

	if (port != ORNIC_PORT)
		return -EINVAL;
	ret = stats_read(to_odev(ibdev), 0, stats);
	return ret ?: ORNIC_STAT_COUNT;
}

/* ib_core serialises the calls. */
int ornic_ib_modify_hw_stat(struct ib_device *ibdev, u32 port,
			    unsigned int index, bool enable)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);
	u64 optional = dev->optional;
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_COUNTERS))
		return -EOPNOTSUPP;
	if (enable)
		optional |= BIT_ULL(index);
	else
		optional &= ~BIT_ULL(index);
	ret = ornic_cmd_modify_stats(dev, optional);
	if (!ret)
		WRITE_ONCE(dev->optional, optional);
	return ret;
}

/*
 * Counters of QPs (`rdma statistic qp`): each is a counter set of the device,
 * made when the first QP is bound to it. ib_core decides which QP belongs to
 * which counter, serialises what happens to one, and adds what the sets
 * counted to the counters of the port.
 */

struct rdma_hw_stats *ornic_ib_counter_alloc_stats(struct rdma_counter *counter)
{
	struct ornic_ib_dev *dev = to_odev(counter->device);

	if (!(dev->caps.caps & ORNIC_CAP_COUNTERS))
		return NULL;
	return stats_alloc(dev);
}

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
		ibdev_dbg(ibqp->device,
			  "QP %#x: cannot bind counter set %u: %d\n",
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

/* ib_core drops the counter even if the device refuses. */
int ornic_ib_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	int ret;

	ret = ornic_cmd_bind_counters(dev, ibqp->qp_num, 0);
	if (ret)
		ibdev_dbg(ibqp->device,
			  "QP %#x: cannot unbind counter set: %d\n",
			  ibqp->qp_num, ret);
	ibqp->counter = NULL;
	return 0;
}

int ornic_ib_counter_update_stats(struct rdma_counter *counter)
{
	return stats_read(to_odev(counter->device), counter->id,
			  counter->stats);
}

int ornic_ib_counter_dealloc(struct rdma_counter *counter)
{
	if (!counter->id)
		return 0;
	return ornic_cmd_destroy_counters(to_odev(counter->device),
					  counter->id);
}
