/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_CLOCK_H
#define ORNIC_CLOCK_H

#include <rdma/uverbs_ioctl.h>

extern const struct uapi_definition ornic_clock_defs[];

#endif /* ORNIC_CLOCK_H */
