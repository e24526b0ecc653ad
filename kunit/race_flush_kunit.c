// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program that posts as fast as its QP is flushed: the flush ends its turn, so
 * that others have theirs, and all that was posted completes. On the host only,
 * see race_kunit.c.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"

#define ROUNDS 3 /* turns of the ring */

/**
 * struct flush_race - a program that posts while another CPU flushes
 * @qp: has one WQE in each slot of its ring
 * @record: of the queue that is flushed
 * @cq: where it completes
 * @depth: WQEs that fit
 * @posted: WQEs
 * @flushed: completions seen
 * @limit: stops there
 */
struct flush_race {
	struct ornic_fixture fix;
	struct ornic_wq_record *record;
	struct ornic_th_cq *cq;
	u32 depth;
	u32 posted;
	u32 flushed;
	u32 limit;
};

static_assert(offsetof(struct flush_race, fix) == 0);

static struct flush_race *race;

static int flush_race_init(struct kunit *test)
{
	int ret = ornic_suite_alloc(test, sizeof(*race));

	race = test->priv;
	return ret;
}

static void flush_race_exit(struct kunit *test)
{
	ornic_other_cpu = NULL;
	ornic_suite_exit(test);
}

static void reap(void)
{
	struct ornic_cqe cqe;

	while (ornic_fix_status(race->cq, &cqe) == ORNIC_CQE_WR_FLUSH_ERR)
		race->flushed++;
}

/* As much as fits. */
static void post_more(void)
{
	reap();
	while (race->posted < race->limit &&
	       race->posted - race->flushed < race->depth)
		race->posted++;
	race->record->producer = cpu_to_le32(race->posted);
}

/* Returns how many turns the flush took. */
static u32 flush(struct kunit *test)
{
	struct ornic_fixture *fix = &race->fix;
	u32 turns = 1;

	race->limit = ROUNDS * race->depth;
	ornic_other_cpu = post_more;
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	while (ornic_th_run(fix->pair.a))
		turns++;
	ornic_other_cpu = NULL;
	reap();
	KUNIT_EXPECT_EQ(test, race->posted, race->limit);
	KUNIT_EXPECT_EQ(test, race->flushed, race->limit);
	return turns;
}

static void flush_of_sends_ends_its_turn(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i, depth = 1u << fix->a.sq_log_depth;

	fix->pair.a->tx_window = 0;
	for (i = 0; i < depth; i++)
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       8);
	race->record = (struct ornic_wq_record *)(fix->a.mem + ORNIC_SQ_RECORD);
	race->cq = &fix->ascq;
	race->depth = depth;
	race->posted = depth;
	KUNIT_EXPECT_GT(test, flush(test), 1);
}

static void flush_of_receives_ends_its_turn(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i, depth = 1u << fix->a.rq_log_depth;

	for (i = 0; i < depth; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, 0, 8);
	race->record = (struct ornic_wq_record *)(fix->a.mem + ORNIC_RQ_RECORD);
	race->cq = &fix->arcq;
	race->depth = depth;
	race->posted = depth;
	KUNIT_EXPECT_GT(test, flush(test), 1);
}

static struct kunit_case flush_race_cases[] = {
	KUNIT_CASE(flush_of_sends_ends_its_turn),
	KUNIT_CASE(flush_of_receives_ends_its_turn),
	{}
};

static struct kunit_suite flush_race_suite = {
	.name = "ornic_race_flush",
	.init = flush_race_init,
	.exit = flush_race_exit,
	.test_cases = flush_race_cases,
};

kunit_test_suite(flush_race_suite);

MODULE_DESCRIPTION("ornic: suite of flushes that are outrun");
MODULE_LICENSE("Dual BSD/GPL");
