// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How much of its memory a device has given away. Pure. */
#include "ornic_dm_budget.h"

/*
 * Reserve @bytes, whole pages, for a DM of @length bytes that begins at a multiple
 * of 2^@log_align. Returns -EINVAL for what no DM can have, -ENOMEM if too much
 * is in use.
 */
int ornic_dm_reserve(struct ornic_dm_budget *budget, u64 length, u32 log_align,
		     u64 *bytes)
{
	const u64 page = 1ull << budget->page_shift;
	u64 need;

	if (!length || length > budget->limit || log_align > budget->page_shift)
		return -EINVAL;
	need = (length + page - 1) & ~(page - 1);
	if (need > budget->limit - budget->used)
		return -ENOMEM;
	budget->used += need;
	*bytes = need;
	return 0;
}

ORNIC_FOR_KUNIT(ornic_dm_reserve);

/* @bytes are those of a DM that is gone. */
void ornic_dm_unreserve(struct ornic_dm_budget *budget, u64 bytes)
{
	budget->used -= bytes;
}

ORNIC_FOR_KUNIT(ornic_dm_unreserve);
