/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DM_BUDGET_H
#define ORNIC_DM_BUDGET_H

#include "ornic_pure.h"

/* Device memory of one device, in bytes. The caller has a lock for it. */
struct ornic_dm_budget {
	u64 limit; /* all of it, a multiple of the page size */
	u64 used; /* by DMs, in whole pages */
	u8 page_shift; /* log2 of the page size */
	/*
	 * A bit for each page, in ornic_dm_words() words, set if a DM has it;
	 * NULL: DMs have no place, as they take pages of the kernel
	 */
	u64 *taken;
};

/* What a DM has of it: whole pages. */
struct ornic_dm_part {
	u64 offset; /* 0 if DMs have no place */
	u64 bytes;
};

u64 ornic_dm_words(const struct ornic_dm_budget *budget);
int ornic_dm_reserve(struct ornic_dm_budget *budget, u64 length, u32 log_align,
		     struct ornic_dm_part *part);
void ornic_dm_unreserve(struct ornic_dm_budget *budget,
			const struct ornic_dm_part *part);

#endif /* ORNIC_DM_BUDGET_H */
