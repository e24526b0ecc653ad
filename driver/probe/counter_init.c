// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: counter_init */
/* ib_core allocates counters of the driver's size and calls counter_init() */
#include <rdma/ib_verbs.h>

static void init(struct rdma_counter *counter);

static const struct ib_device_ops ops = {
	.counter_init = init,
	.size_rdma_counter = sizeof(struct rdma_counter),
};
