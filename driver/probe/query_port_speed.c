// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: query_port_speed */
#include <rdma/ib_verbs.h>

static int query(struct ib_device *ibdev, u32 port, u64 *speed);

static const struct ib_device_ops ops = { .query_port_speed = query };
