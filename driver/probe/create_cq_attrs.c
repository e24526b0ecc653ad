// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: incompatible */
/* create_cq() gets all attributes, not their driver part only */
#include <rdma/ib_verbs.h>

static int create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs);

static const struct ib_device_ops ops = { .create_cq = create_cq };
