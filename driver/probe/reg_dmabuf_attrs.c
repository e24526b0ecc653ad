// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: incompatible */
/* reg_user_mr_dmabuf() gets the attributes, and no DMA handle */
#include <rdma/ib_verbs.h>

static struct ib_mr *reg(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
			 int fd, int access, struct uverbs_attr_bundle *attrs);

static const struct ib_device_ops ops = { .reg_user_mr_dmabuf = reg };
