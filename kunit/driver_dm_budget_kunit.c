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
	u64 bytes = UNTOUCHED;

	KUNIT_ASSERT_EQ(test,
			ornic_dm_reserve(&budget, row->length, row->log_align,
					 &bytes),
			row->ret);
	KUNIT_EXPECT_EQ(test, bytes, row->ret ? UNTOUCHED : row->bytes);
	KUNIT_EXPECT_EQ(test, budget.used, row->used + row->bytes);
}

static void reserve_of_larger_pages(struct kunit *test)
{
	struct ornic_dm_budget budget = { 4 * 65536, 0, 16 };
	u64 bytes;

	KUNIT_ASSERT_EQ(test, ornic_dm_reserve(&budget, 4, 16, &bytes), 0);
	KUNIT_EXPECT_EQ(test, bytes, 65536);
}

/* Many small ones take no more than all, and leave nothing behind. */
static void unreserve_gives_back(struct kunit *test)
{
	struct ornic_dm_budget budget = { LIMIT, 0, 12 };
	u64 bytes, sum = 0;
	u32 i;

	for (i = 0; !ornic_dm_reserve(&budget, 1 + i * 1000, 0, &bytes); i++)
		sum += bytes;
	KUNIT_EXPECT_GT(test, i, 1);
	KUNIT_EXPECT_EQ(test, budget.used, sum);
	KUNIT_EXPECT_LE(test, sum, LIMIT);
	ornic_dm_unreserve(&budget, sum);
	KUNIT_EXPECT_EQ(test, ornic_dm_reserve(&budget, LIMIT, 0, &bytes), 0);
	KUNIT_EXPECT_EQ(test, ornic_dm_reserve(&budget, 1, 0, &bytes), -ENOMEM);
}

static struct kunit_case dm_budget_cases[] = {
	KUNIT_CASE_PARAM(reserve_checks_and_rounds, reserve_gen_params),
	KUNIT_CASE(reserve_of_larger_pages),
	KUNIT_CASE(unreserve_gives_back),
	{}
};

static struct kunit_suite dm_budget_suite = {
	.name = "ornic_driver_dm_budget",
	.test_cases = dm_budget_cases,
};

kunit_test_suite(dm_budget_suite);
