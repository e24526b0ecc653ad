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

#endif /* ORNIC_SUITE_FIXTURE_H */
