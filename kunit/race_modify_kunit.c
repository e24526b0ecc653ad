// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MODIFY_QP takes memory for responder resources before it has the QP: another one may be
 * first, or the QP goes. On the host only, see race_kunit.c.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/proto.h"

#define POINTS 100 /* more than MODIFY_QP has */
#define RING (sizeof(struct ornic_rd_ring) + ORNIC_BLOCK_COST)

/**
 * struct modify_race - a fixture with a second CPU
 * @account: of all that both take
 * @act: what the second CPU does, once; false if it has to wait
 * @at: at the so many-th point from now; 0 = has been, or never
 * @acting: is at it
 * @ring: that the QP had afterwards
 * @status: of what @act did
 */
struct modify_race {
	struct ornic_fixture fix;
	struct ornic_account account;
	bool (*act)(void);
	u32 at;
	bool acting;
	struct ornic_rd_ring *ring;
	int status;
};

static_assert(offsetof(struct modify_race, fix) == 0);

static struct modify_race *race;

static int modify_race_init(struct kunit *test)
{
	int ret = ornic_suite_alloc(test, sizeof(*race));

	race = test->priv;
	return ret;
}

static void modify_race_exit(struct kunit *test)
{
	ornic_other_cpu = NULL;
	ornic_account = NULL;
	ornic_suite_exit(test);
}

/* Of one point, or one where it does not have to wait. */
static void meet(void)
{
	if (race->acting || !race->at)
		return;
	race->acting = true;
	if (race->at > 1)
		race->at--;
	else if (race->act())
		race->at = 0;
	race->acting = false;
}

static int accept_reads(u8 most)
{
	struct ornic_th_qp *qp = &race->fix.a;

	qp->conn.max_dest_rd_atomic = most;
	return ornic_th_modify(qp, ORNIC_QPS_SQD,
			       ORNIC_QPM_STATE | ORNIC_QPM_MAX_DEST_RD_ATOMIC);
}

/* A QP that has accepted none accepts some, while @act happens at point @n. */
static int race_to_accept(struct kunit *test, u32 n, bool (*act)(void))
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = &race->fix;
	int status;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.max_dest_rd_atomic = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	race->account = (struct ornic_account){ .limit = U64_MAX };
	race->status = -1;
	race->act = act;
	race->at = n;
	ornic_account = &race->account;
	ornic_other_cpu = meet;
	status = accept_reads(4);
	ornic_other_cpu = NULL;
	ornic_account = NULL;
	return status;
}

static bool accept_one(void)
{
	struct ornic_qp *qp = ornic_fix_qp(&race->fix.a);

	if (qp->sq.lock.held || qp->rq.lock.held)
		return false;
	race->status = accept_reads(1);
	race->ring = qp->rq.rd;
	return true;
}

/* The QP keeps the memory of the first one; that of the other is freed. */
static void race_of_two_that_accept(struct kunit *test)
{
	struct ornic_qp *qp;
	u32 n;

	for (n = 1; n < POINTS; n++) {
		KUNIT_EXPECT_EQ(test, race_to_accept(test, n, accept_one), 0);
		if (race->at)
			break;
		qp = ornic_fix_qp(&race->fix.a);
		KUNIT_EXPECT_EQ(test, race->status, 0);
		KUNIT_EXPECT_NOT_NULL(test, race->ring);
		KUNIT_EXPECT_PTR_EQ(test, qp->rq.rd, race->ring);
		KUNIT_EXPECT_EQ(test, race->account.used, RING);
	}
	KUNIT_EXPECT_GT(test, n, 3);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static bool destroy_qp(void)
{
	if (ornic_rcu_depth)
		return false;
	race->status = ornic_th_qp_fini(&race->fix.a);
	return true;
}

/* The memory is given back, whether it was taken before or after. */
static void race_of_an_accept_and_the_end(struct kunit *test)
{
	u32 n;
	int status;

	for (n = 1; n < POINTS; n++) {
		status = race_to_accept(test, n, destroy_qp);
		if (race->at)
			break;
		KUNIT_EXPECT_EQ(test, status, ORNIC_NOT_FOUND);
		KUNIT_EXPECT_EQ(test, race->status, 0);
		KUNIT_EXPECT_EQ(test, race->account.used, 0);
	}
	/* Before the memory is taken, and after it. */
	KUNIT_EXPECT_EQ(test, n, 3);
	KUNIT_EXPECT_EQ(test, status, 0);
	KUNIT_EXPECT_EQ(test, race->account.used, RING);
}

static struct kunit_case modify_race_cases[] = {
	KUNIT_CASE(race_of_two_that_accept),
	KUNIT_CASE(race_of_an_accept_and_the_end),
	{}
};

static struct kunit_suite modify_race_suite = {
	.name = "ornic_race_modify",
	.init = modify_race_init,
	.exit = modify_race_exit,
	.test_cases = modify_race_cases,
};

kunit_test_suite(modify_race_suite);

MODULE_DESCRIPTION("ornic: suite of QPs that are changed twice at a time");
MODULE_LICENSE("Dual BSD/GPL");
