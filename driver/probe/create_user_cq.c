// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: create_user_cq */
#include <rdma/ib_verbs.h>

static int create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs);

static const struct ib_device_ops ops = { .create_user_cq = create_cq };
