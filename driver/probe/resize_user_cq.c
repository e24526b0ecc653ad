// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: resize_user_cq */
#include <rdma/ib_verbs.h>

static int resize(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata);

static const struct ib_device_ops ops = { .resize_user_cq = resize };
