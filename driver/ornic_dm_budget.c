// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How much of its memory a device has given away, and which part of it. Pure. */
#include "ornic_dm_budget.h"

#define WORD_BITS 64

/* Of the bits in @budget->taken. */
u64 ornic_dm_words(const struct ornic_dm_budget *budget)
{
	u64 pages = budget->limit >> budget->page_shift;

	return (pages + WORD_BITS - 1) / WORD_BITS;
}

ORNIC_FOR_KUNIT(ornic_dm_words);

static bool is_taken(const struct ornic_dm_budget *budget, u64 page)
{
	return budget->taken[page / WORD_BITS] >> (page % WORD_BITS) & 1;
}

static void mark(struct ornic_dm_budget *budget,
		 const struct ornic_dm_part *part, bool taken)
{
	u64 page = part->offset >> budget->page_shift;
	u64 end = page + (part->bytes >> budget->page_shift);
	u64 bit;

	for (; page < end; page++) {
		bit = 1ull << (page % WORD_BITS);
		if (taken)
			budget->taken[page / WORD_BITS] |= bit;
		else
			budget->taken[page / WORD_BITS] &= ~bit;
	}
}

/* The first place for @part->bytes. */
static int find_place(const struct ornic_dm_budget *budget,
		      struct ornic_dm_part *part)
{
	u64 pages = budget->limit >> budget->page_shift;
	u64 want = part->bytes >> budget->page_shift;
	u64 page, free = 0;

	for (page = 0; page < pages; page++) {
		if (!(page % WORD_BITS) &&
		    budget->taken[page / WORD_BITS] == ~0ull) {
			free = 0;
			page += WORD_BITS - 1;
			continue;
		}
		free = is_taken(budget, page) ? 0 : free + 1;
		if (free == want) {
			part->offset = (page + 1 - want) << budget->page_shift;
			return 0;
		}
	}
	return -ENOMEM;
}

/*
 * Reserve @part, whole pages, for a DM of @length bytes that begins at a multiple
 * of 2^@log_align. Returns -EINVAL for what no DM can have, -ENOMEM if too much
 * is in use.
 */
int ornic_dm_reserve(struct ornic_dm_budget *budget, u64 length, u32 log_align,
		     struct ornic_dm_part *part)
{
	const u64 page = 1ull << budget->page_shift;
	struct ornic_dm_part next = {};
	int ret;

	if (!length || length > budget->limit || log_align > budget->page_shift)
		return -EINVAL;
	next.bytes = (length + page - 1) & ~(page - 1);
	if (next.bytes > budget->limit - budget->used)
		return -ENOMEM;
	if (budget->taken) {
		ret = find_place(budget, &next);
		if (ret)
			return ret;
		mark(budget, &next, true);
	}
	budget->used += next.bytes;
	*part = next;
	return 0;
}

ORNIC_FOR_KUNIT(ornic_dm_reserve);

/* @part is that of a DM that is gone. */
void ornic_dm_unreserve(struct ornic_dm_budget *budget,
			const struct ornic_dm_part *part)
{
	if (budget->taken)
		mark(budget, part, false);
	budget->used -= part->bytes;
}

ORNIC_FOR_KUNIT(ornic_dm_unreserve);
