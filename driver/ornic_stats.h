/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_STATS_H
#define ORNIC_STATS_H

#include <rdma/ib_verbs.h>

struct rdma_hw_stats *ornic_alloc_port_stats(struct ib_device *ibdev, u32 port);
int ornic_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		    u32 port, int index);

#endif /* ORNIC_STATS_H */
