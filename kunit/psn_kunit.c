// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Arithmetic of 24-bit packet sequence numbers, IBTA 9.7.2. */
#include <kunit/test.h>

#include "harness.h"

static const struct psn_row {
	const char *name;
	u32 psn;
	u32 n;
	u32 sum;
} psn_rows[] = {
	{ "nothing", 5, 0, 5 },
	{ "one", 5, 1, 6 },
	{ "to the last", 0xfffffe, 1, 0xffffff },
	{ "over the end", 0xffffff, 1, 0 },
	{ "far over the end", 0xfffff0, 0x20, 0x10 },
	{ "half of the space", 0x800000, 0x7fffff, 0xffffff },
	{ "half, over the end", 0x900000, 0x7fffff, 0x0fffff },
};

KUNIT_ARRAY_PARAM_DESC(psn, psn_rows, name);

static void psn_add_wraps(struct kunit *test)
{
	const struct psn_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, ornic_psn_add(row->psn, row->n), row->sum);
}

/* The inverse, for all distances below half of the space. */
static void psn_diff_undoes_add(struct kunit *test)
{
	const struct psn_row *row = test->param_value;
	s32 n = (s32)row->n;

	KUNIT_EXPECT_EQ(test, ornic_psn_diff(row->sum, row->psn), n);
	KUNIT_EXPECT_EQ(test, ornic_psn_diff(row->psn, row->sum), -n);
}

/* Exactly half counts as behind, so that ahead and behind never both hold. */
static void psn_diff_of_half_is_behind(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_psn_diff(0x800000, 0), -0x800000);
	KUNIT_EXPECT_EQ(test, ornic_psn_diff(0, 0x800000), -0x800000);
	KUNIT_EXPECT_EQ(test, ornic_psn_diff(0x7fffff, 0), 0x7fffff);
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE_PARAM(psn_add_wraps, psn_gen_params),
	KUNIT_CASE_PARAM(psn_diff_undoes_add, psn_gen_params),
	KUNIT_CASE(psn_diff_of_half_is_behind),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "ornic_psn",
	.test_cases = psn_cases,
};

kunit_test_suite(psn_suite);

MODULE_DESCRIPTION("ornic: PSN suite");
MODULE_LICENSE("Dual BSD/GPL");
