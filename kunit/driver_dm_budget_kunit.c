// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a device gives away of its memory: driver/ornic_dm_budget.c */
#include <kunit/test.h>

#include "ornic_dm_budget.h"

#define PAGE 4096ull
#define LIMIT (16 * PAGE)
#define UNTOUCHED 0x5a5aull

static const struct reserve_row {
	const char *name;
	u64 used;
	u64 length;
	u32 log_align;
	int ret;
	u64 bytes;
} reserve_rows[] = {
	{ "a byte", 0, 1, 0, 0, PAGE },
	{ "a page", 0, PAGE, 0, 0, PAGE },
	{ "a page and a byte", 0, PAGE + 1, 6, 0, 2 * PAGE },
	{ "all", 0, LIMIT, 12, 0, LIMIT },
	{ "a byte less than all", 0, LIMIT - 1, 0, 0, LIMIT },
	{ "the rest", LIMIT - PAGE, PAGE, 0, 0, PAGE },
	{ "more than the rest", LIMIT - PAGE, PAGE + 1, 0, -ENOMEM, 0 },
	{ "all of what is used", PAGE, LIMIT, 0, -ENOMEM, 0 },
	{ "a byte of nothing", LIMIT, 1, 0, -ENOMEM, 0 },
	{ "nothing", 0, 0, 0, -EINVAL, 0 },
	{ "more than all", 0, LIMIT + 1, 0, -EINVAL, 0 },
	{ "rounding that wraps", 0, ~0ull, 0, -EINVAL, 0 },
	{ "rounding to 2^64", 0, ~0ull - PAGE + 2, 0, -EINVAL, 0 },
	{ "2^32 and a page", 0, (1ull << 32) + PAGE, 0, -EINVAL, 0 },
	{ "beyond a page", 0, PAGE, 13, -EINVAL, 0 },
	{ "shift of 64", 0, PAGE, 64, -EINVAL, 0 },
	{ "shift of 2^32", 0, PAGE, ~0u, -EINVAL, 0 },
};

KUNIT_ARRAY_PARAM_DESC(reserve, reserve_rows, name);

static void reserve_checks_and_rounds(struct kunit *test)
{
	const struct reserve_row *row = test->param_value;
	struct ornic_dm_budget budget = { LIMIT, row->used, 12 };
	struct ornic_dm_part part = { UNTOUCHED, UNTOUCHED };

	KUNIT_ASSERT_EQ(test,
			ornic_dm_reserve(&budget, row->length, row->log_align,
					 &part),
			row->ret);
	KUNIT_EXPECT_EQ(test, part.bytes, row->ret ? UNTOUCHED : row->bytes);
	KUNIT_EXPECT_EQ(test, part.offset, row->ret ? UNTOUCHED : 0);
	KUNIT_EXPECT_EQ(test, budget.used, row->used + row->bytes);
}

static void reserve_of_larger_pages(struct kunit *test)
{
	struct ornic_dm_budget budget = { 4 * 65536, 0, 16 };
	struct ornic_dm_part part;

	KUNIT_ASSERT_EQ(test, ornic_dm_reserve(&budget, 4, 16, &part), 0);
	KUNIT_EXPECT_EQ(test, part.bytes, 65536);
}

/* Many small ones take no more than all, and leave nothing behind. */
static void unreserve_gives_back(struct kunit *test)
{
	struct ornic_dm_budget budget = { LIMIT, 0, 12 };
	struct ornic_dm_part part, sum = {};
	u32 i;

	for (i = 0; !ornic_dm_reserve(&budget, 1 + i * 1000, 0, &part); i++)
		sum.bytes += part.bytes;
	KUNIT_EXPECT_GT(test, i, 1);
	KUNIT_EXPECT_EQ(test, budget.used, sum.bytes);
	KUNIT_EXPECT_LE(test, sum.bytes, LIMIT);
	ornic_dm_unreserve(&budget, &sum);
	KUNIT_EXPECT_EQ(test, ornic_dm_reserve(&budget, LIMIT, 0, &part), 0);
	KUNIT_EXPECT_EQ(test, ornic_dm_reserve(&budget, 1, 0, &part), -ENOMEM);
}

/* ---- With places ------------------------------------------------------------- */

#define PAGES 150u /* two words, and a part of one */

static void taken_has_a_bit_per_page(struct kunit *test)
{
	struct ornic_dm_budget budget = { PAGES * PAGE, 0, 12 };

	KUNIT_EXPECT_EQ(test, ornic_dm_words(&budget), 3);
	budget.limit = 128 * PAGE;
	KUNIT_EXPECT_EQ(test, ornic_dm_words(&budget), 2);
	budget.limit = PAGE;
	KUNIT_EXPECT_EQ(test, ornic_dm_words(&budget), 1);
	budget.page_shift = 16;
	budget.limit = 65 * 65536;
	KUNIT_EXPECT_EQ(test, ornic_dm_words(&budget), 2);
}

static void expect_place(struct kunit *test, struct ornic_dm_budget *budget,
			 u64 pages, u64 first)
{
	struct ornic_dm_part part = {};

	KUNIT_ASSERT_EQ(
		test, ornic_dm_reserve(budget, pages * PAGE - 1, 0, &part), 0);
	KUNIT_EXPECT_EQ(test, part.offset / PAGE, first);
	KUNIT_EXPECT_EQ(test, part.bytes, pages * PAGE);
}

static void free_place(struct ornic_dm_budget *budget, u64 first, u64 pages)
{
	const struct ornic_dm_part part = { first * PAGE, pages * PAGE };

	ornic_dm_unreserve(budget, &part);
}

static void places_are_reused(struct kunit *test)
{
	u64 taken[3] = {};
	struct ornic_dm_budget budget = { PAGES * PAGE, 0, 12, taken };
	struct ornic_dm_part part = { UNTOUCHED, UNTOUCHED };

	expect_place(test, &budget, 70, 0);
	expect_place(test, &budget, 10, 70);
	expect_place(test, &budget, 70, 80);
	KUNIT_EXPECT_EQ(test, ornic_dm_reserve(&budget, 1, 0, &part), -ENOMEM);

	/* The first hole that is large enough; none of two that are apart. */
	free_place(&budget, 3, 2);
	free_place(&budget, 62, 4);
	expect_place(test, &budget, 3, 62);
	expect_place(test, &budget, 2, 3);
	free_place(&budget, 3, 2);
	KUNIT_EXPECT_EQ(test, budget.used, (PAGES - 3) * PAGE);
	KUNIT_EXPECT_EQ(test, ornic_dm_reserve(&budget, 3 * PAGE, 0, &part),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, part.offset, UNTOUCHED);
	KUNIT_EXPECT_EQ(test, budget.used, (PAGES - 3) * PAGE);
	expect_place(test, &budget, 1, 3);
	expect_place(test, &budget, 1, 4);
	expect_place(test, &budget, 1, 65);
	KUNIT_EXPECT_EQ(test, budget.used, PAGES * PAGE);
}

/* Behind the last page there is none, though its word has bits. */
static void places_end(struct kunit *test)
{
	u64 taken[3] = {};
	struct ornic_dm_budget budget = { PAGES * PAGE, 0, 12, taken };
	struct ornic_dm_part part;

	expect_place(test, &budget, PAGES - 1, 0);
	free_place(&budget, 0, PAGES - 2);
	/* Room for it, but not in one piece. */
	KUNIT_EXPECT_EQ(test,
			ornic_dm_reserve(&budget, (PAGES - 1) * PAGE, 0, &part),
			-ENOMEM);
	expect_place(test, &budget, PAGES - 2, 0);
	expect_place(test, &budget, 1, PAGES - 1);
	free_place(&budget, 0, PAGES);
	KUNIT_EXPECT_EQ(test, taken[0] | taken[1] | taken[2], 0);
	expect_place(test, &budget, PAGES, 0);
}

static struct kunit_case dm_budget_cases[] = {
	KUNIT_CASE_PARAM(reserve_checks_and_rounds, reserve_gen_params),
	KUNIT_CASE(reserve_of_larger_pages),
	KUNIT_CASE(unreserve_gives_back),
	KUNIT_CASE(taken_has_a_bit_per_page),
	KUNIT_CASE(places_are_reused),
	KUNIT_CASE(places_end),
	{}
};

static struct kunit_suite dm_budget_suite = {
	.name = "ornic_driver_dm_budget",
	.test_cases = dm_budget_cases,
};

kunit_test_suite(dm_budget_suite);
