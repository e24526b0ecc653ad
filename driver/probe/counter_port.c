// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: incompatible */
#include <rdma/ib_verbs.h>

static int bind(struct rdma_counter *counter, struct ib_qp *qp, u32 port);
static int unbind(struct ib_qp *qp, u32 port);

static const struct ib_device_ops ops = {
	.counter_bind_qp = bind,
	.counter_unbind_qp = unbind,
};
