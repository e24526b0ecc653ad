// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The P_Key table changes while a QP comes to be, gets its index, or works; at the end
 * the QP has what the table has. On the host only, see race_kunit.c.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/proto.h"

#define POINTS 500 /* more than any of these has */
#define INDEX 1
#define BEFORE 0x8001
#define AFTER 0x8002

/**
 * struct pkey_race - a fixture with a second CPU
 * @fix: its QP a is lone
 * @qp: another one, which is made anew for each point
 * @act: what the second CPU does at the point
 * @at: at the so many-th point from now; 0 = has been, or never
 * @acting: is at it, or at the question whether it can be
 */
struct pkey_race {
	struct ornic_fixture fix;
	struct ornic_th_qp qp;
	void (*act)(void);
	u32 at;
	bool acting;
};

static_assert(offsetof(struct pkey_race, fix) == 0);

static struct pkey_race *race;

static int pkey_race_init(struct kunit *test)
{
	int ret = ornic_suite_alloc(test, sizeof(*race));

	race = test->priv;
	return ret;
}

static void pkey_race_exit(struct kunit *test)
{
	ornic_other_cpu = NULL;
	ornic_suite_exit(test);
}

/* A lock that is held is waited for: the second CPU comes a point later. */
static bool is_locked(const struct ornic_th_qp *q)
{
	const struct ornic_dev *dev = &race->fix.pair.a->eng->dev;
	const struct ornic_qp *qp = q->th ? ornic_fix_qp(q) : NULL;

	return dev->pkey_lock.held || dev->gid_lock.held ||
	       (qp && (qp->sq.lock.held || qp->rq.lock.held));
}

static void meet(void)
{
	if (race->acting || !race->at)
		return;
	race->acting = true;
	if (race->at > 1) {
		race->at--;
	} else if (!is_locked(&race->qp)) {
		race->at = 0;
		race->act();
	}
	race->acting = false;
}

static void start(u32 n, void (*act)(void))
{
	race->act = act;
	race->at = n;
	ornic_other_cpu = meet;
}

/* Returns false if there was no such point: the race is over. */
static bool end(void)
{
	ornic_other_cpu = NULL;
	return !race->at;
}

static void change(void)
{
	ornic_engine_pkey_set(race->fix.pair.a->eng, INDEX, AFTER);
}

static void take_index(void)
{
	race->qp.conn.pkey_index = INDEX;
	ornic_th_to(&race->qp, ORNIC_QPS_INIT);
}

static int make_qp(void)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_UD };
	struct ornic_fixture *fix = &race->fix;

	memset(&race->qp, 0, sizeof(race->qp));
	return ornic_th_qp_init(fix->pair.a, &race->qp, &init, &fix->ascq,
				&fix->arcq);
}

static void make_and_take_index(void)
{
	if (!make_qp())
		take_index();
}

static const struct race_row {
	const char *desc;
	bool made; /* there is a QP before */
	void (*first)(void);
	void (*second)(void);
} race_rows[] = {
	{ "MODIFY_QP, and a change meanwhile", true, take_index, change },
	{ "CREATE_QP and MODIFY_QP, likewise", false, make_and_take_index,
	  change },
	{ "a change, and MODIFY_QP meanwhile", true, change, take_index },
	{ "a change, and CREATE_QP and MODIFY_QP meanwhile", false, change,
	  make_and_take_index },
};

KUNIT_ARRAY_PARAM_DESC(race, race_rows, desc);

/* At each point once. */
static void qp_has_the_entry(struct kunit *test)
{
	const struct race_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_engine *eng = fix->pair.a->eng;
	bool met = true;
	u32 n;

	for (n = 1; n < POINTS && met; n++) {
		KUNIT_ASSERT_EQ(test, ornic_engine_pkey_set(eng, INDEX, BEFORE),
				0);
		if (row->made)
			KUNIT_ASSERT_EQ(test, make_qp(), 0);
		start(n, row->second);
		row->first();
		met = end();
		if (!met)
			row->second();
		KUNIT_EXPECT_EQ(test, ornic_fix_qp(&race->qp)->pkey, AFTER);
		KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&race->qp), 0);
	}
	KUNIT_EXPECT_GT(test, n, 2);
	KUNIT_EXPECT_FALSE(test, met);
}

static void empty(void)
{
	ornic_engine_pkey_set(race->fix.pair.a->eng, 0, 0);
}

/* Whenever it loses its key, what it sends has it, and what it has not sent fails. */
static void sends_lose_their_key(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_cqe cqe;
	bool met = true;
	u32 n;

	for (n = 1; n < POINTS && met; n++) {
		ornic_engine_pkey_set(fix->pair.a->eng, 0, 0xffff);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
		KUNIT_ASSERT_EQ(test,
				ornic_th_connect(&fix->a, NULL, ORNIC_TH_IPV4),
				0);
		race->qp = fix->a;
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 3000);
		start(n, empty);
		ornic_th_kick(&fix->a);
		met = end();
		ornic_th_run(fix->pair.a);
		while (ornic_fix_sent(fix))
			KUNIT_EXPECT_EQ(test, fix->pkt.pkey, 0xffff);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				met ? ORNIC_CQE_LOC_QP_OP_ERR : 0xff);
	}
	KUNIT_EXPECT_GT(test, n, 2);
	KUNIT_EXPECT_FALSE(test, met);
}

static struct kunit_case pkey_race_cases[] = {
	KUNIT_CASE_PARAM(qp_has_the_entry, race_gen_params),
	KUNIT_CASE(sends_lose_their_key),
	{}
};

static struct kunit_suite pkey_race_suite = {
	.name = "ornic_race_pkey",
	.init = pkey_race_init,
	.exit = pkey_race_exit,
	.test_cases = pkey_race_cases,
};

kunit_test_suite(pkey_race_suite);

MODULE_DESCRIPTION("ornic: suite of P_Keys that change");
MODULE_LICENSE("Dual BSD/GPL");
