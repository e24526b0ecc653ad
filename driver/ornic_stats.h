/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_STATS_H
#define ORNIC_STATS_H

#include <rdma/ib_verbs.h>

struct ornic_ib_dev;

struct rdma_hw_stats *ornic_stats_alloc(struct ornic_ib_dev *dev);
int ornic_stats_read(struct ornic_ib_dev *dev, u32 set,
		     struct rdma_hw_stats *stats);

#endif /* ORNIC_STATS_H */
