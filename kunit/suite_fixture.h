/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For suites whose cases each open one fixture, in test->priv. */
#ifndef ORNIC_SUITE_FIXTURE_H
#define ORNIC_SUITE_FIXTURE_H

#include <kunit/test.h>

#include "pair_fixture.h"

/* A suite's own struct has its struct ornic_fixture first. */
static inline int ornic_suite_alloc(struct kunit *test, size_t bytes)
{
	test->priv = kunit_kzalloc(test, bytes, GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static inline int ornic_suite_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct ornic_fixture));
}

/* Nothing was written beside what the fixture has. */
static inline void ornic_suite_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_fix_close(test->priv), 0);
}

/* The suite's fixture, connected. */
static inline struct ornic_fixture *
ornic_suite_open(struct kunit *test, enum ornic_fix_kind kind, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

/* A QP whose peer exists on the wire only, and bytes to send. */
static inline struct ornic_fixture *ornic_suite_open_lone(struct kunit *test,
							  u8 type)
{
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_LONE, type);

	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	return fix;
}

#endif /* ORNIC_SUITE_FIXTURE_H */
