// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: fill_res_srq_entry */
#include <rdma/ib_verbs.h>

static int fill(struct sk_buff *msg, struct ib_srq *srq);

static const struct ib_device_ops ops = { .fill_res_srq_entry = fill };
