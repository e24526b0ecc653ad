/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMP_CNTR_H
#define ORNIC_COMP_CNTR_H

#include <linux/types.h>

#include "ornic_queue.h"

struct ib_qp;
struct ib_ucontext;
struct ornic_create_comp_cntr_resp;
struct ornic_ib_dev;

/* A completion counter, without what ib_core has of it: not every one has it. */
struct ornic_ib_cntr {
	u32 number;
	struct ornic_queue queue; /* a page with the record */
};

/*
 * What ib_device_ops calls by way of compat_comp_cntr.c. All but the read may
 * sleep.
 *
 * create	fills @resp; -EOPNOTSUPP if the device has no such counters
 * modify	@entry and @change: enum ornic_cntr_entry, ornic_cntr_change;
 *		-EINVAL for others
 * read		-EINVAL for another @entry
 * attach	@ops as in ornic_cmd_attach_comp_cntr(), -EOPNOTSUPP for
 *		unknown ones
 */
int ornic_ib_cntr_create(struct ornic_ib_cntr *cntr,
			 struct ib_ucontext *context,
			 struct ornic_create_comp_cntr_resp *resp);
int ornic_ib_cntr_destroy(struct ornic_ib_cntr *cntr, struct ornic_ib_dev *dev);
int ornic_ib_cntr_modify(struct ornic_ib_cntr *cntr, struct ornic_ib_dev *dev,
			 u32 entry, u32 change, u64 value);
int ornic_ib_cntr_read(const struct ornic_ib_cntr *cntr, u32 entry, u64 *value);
int ornic_ib_cntr_attach(const struct ornic_ib_cntr *cntr, struct ib_qp *ibqp,
			 u32 ops);

#endif /* ORNIC_COMP_CNTR_H */
