/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The clock of the timestamps in CQEs. */
#ifndef ORNIC_CLOCK_H
#define ORNIC_CLOCK_H

#include <rdma/uverbs_ioctl.h>

struct ornic_ib_dev;
struct ornic_phc;

/* ORNIC_METHOD_QUERY_CLOCK */
extern const struct uapi_definition ornic_clock_defs[];

/*
 * A PTP clock (PHC) below the parent of the device, for programs that compare timestamps with
 * it. It tells the time that the wall clock timestamps of CQEs are in, CLOCK_REALTIME, and
 * cannot be set. NULL: there is none, as the kernel or the device lacks what it takes.
 */
struct ornic_phc *ornic_phc_add(struct ornic_ib_dev *dev);

/* Nobody reads it any more when this returns. @phc may be NULL. May sleep. */
void ornic_phc_remove(struct ornic_phc *phc);

#endif /* ORNIC_CLOCK_H */
