// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: incompatible */
/* reg_user_mr() gets a DMA handle */
#include <rdma/ib_verbs.h>

static struct ib_mr *reg(struct ib_pd *pd, u64 start, u64 length, u64 iova,
			 int access, struct ib_dmah *dmah,
			 struct ib_udata *udata);

static const struct ib_device_ops ops = { .reg_user_mr = reg };
