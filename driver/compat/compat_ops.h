/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_OPS_H
#define ORNIC_COMPAT_OPS_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* Those of the driver's verbs whose type or existence depends on the kernel. */
extern const struct ib_device_ops ornic_compat_ops;

/* Those of completion counters; empty without them. */
extern const struct ib_device_ops ornic_comp_cntr_ops;
extern const struct uapi_definition ornic_comp_cntr_defs[];

#endif /* ORNIC_COMPAT_OPS_H */
