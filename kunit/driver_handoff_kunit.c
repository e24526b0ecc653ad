// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which posts another CPU executes: driver/ornic_handoff.h */
#include <kunit/test.h>

#include "ornic_handoff.h"

/* Posts of @depth requests at a time, and their answers; returns how many were handed off. */
static u32 requests(struct ornic_handoff *h, u32 rounds, u32 depth)
{
	u32 handed = 0, i;

	while (rounds--) {
		for (i = 0; i < depth; i++)
			handed += ornic_handoff_post(h);
		for (i = 0; i < depth; i++)
			ornic_handoff_answer(h);
	}
	return handed;
}

/* Few are handed off: enough to see whether there are more. */
static void one_at_a_time_stays_here(struct kunit *test)
{
	struct ornic_handoff h = {};
	u32 period = ORNIC_HANDOFF_ALONE + ORNIC_HANDOFF_HERE;

	KUNIT_EXPECT_EQ(test, requests(&h, 4 * period, 1),
			4 * ORNIC_HANDOFF_ALONE);
}

static void several_are_handed_off(struct kunit *test)
{
	struct ornic_handoff h = {};

	KUNIT_EXPECT_EQ(test, requests(&h, 1000, 2), 2000);
}

/* Whose answers come while the poster executes */
static void several_are_found(struct kunit *test)
{
	struct ornic_handoff h = {};

	requests(&h, ORNIC_HANDOFF_ALONE, 1);
	KUNIT_ASSERT_EQ(test, h.here, ORNIC_HANDOFF_HERE);
	KUNIT_EXPECT_EQ(test, requests(&h, ORNIC_HANDOFF_HERE, 1), 0);
	KUNIT_EXPECT_EQ(test, requests(&h, 100, 16), 1600);
}

static void fewer_return(struct kunit *test)
{
	struct ornic_handoff h = {};

	requests(&h, 100, 16);
	requests(&h, ORNIC_HANDOFF_ALONE, 1);
	KUNIT_EXPECT_EQ(test, requests(&h, ORNIC_HANDOFF_HERE, 1), 0);
}

/* One that is interrupted starts again. */
static void alone_is_in_succession(struct kunit *test)
{
	struct ornic_handoff h = {};
	u32 i;

	for (i = 0; i < 10; i++) {
		requests(&h, ORNIC_HANDOFF_ALONE - 2, 1);
		requests(&h, 1, 2);
	}
	KUNIT_EXPECT_EQ(test, h.here, 0);
}

/* A stream has no answers, and counts no further than it must. */
static void streams_are_handed_off(struct kunit *test)
{
	struct ornic_handoff h = {};
	u32 handed = 0, i;

	for (i = 0; i < 1000; i++)
		handed += ornic_handoff_post(&h);
	KUNIT_EXPECT_EQ(test, handed, 1000);
	KUNIT_EXPECT_EQ(test, h.unanswered, 2);
}

static struct kunit_case handoff_cases[] = {
	KUNIT_CASE(one_at_a_time_stays_here),
	KUNIT_CASE(several_are_handed_off),
	KUNIT_CASE(several_are_found),
	KUNIT_CASE(fewer_return),
	KUNIT_CASE(alone_is_in_succession),
	KUNIT_CASE(streams_are_handed_off),
	{},
};

static struct kunit_suite handoff_suite = {
	.name = "ornic_driver_handoff",
	.test_cases = handoff_cases,
};

kunit_test_suite(handoff_suite);
