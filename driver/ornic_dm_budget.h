/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DM_BUDGET_H
#define ORNIC_DM_BUDGET_H

#include "ornic_pure.h"

/* Device memory of one device, in bytes. The caller has a lock for it. */
struct ornic_dm_budget {
	u64 limit; /* all of it, a multiple of the page size */
	u64 used; /* by DMs, in whole pages */
	u8 page_shift; /* log2 of the page size */
};

int ornic_dm_reserve(struct ornic_dm_budget *budget, u64 length, u32 log_align,
		     u64 *bytes);
void ornic_dm_unreserve(struct ornic_dm_budget *budget, u64 bytes);

#endif /* ORNIC_DM_BUDGET_H */
