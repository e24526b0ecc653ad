// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Races of ODP MRs: a page goes while another CPU executes a request that it has seen
 * to be there. On the host only, see race_kunit.c.
 */
#include "engine/proto.h"
#include "tm_fixture.h"

#define POINTS 500 /* more than there are */
#define RECEIVES 4

/**
 * struct odp_race - a fixture whose peer writes to an ODP MR
 * @tm: is made anew for each point
 * @mr: of b, one page
 * @at: its page goes at the so many-th point from now; 0 = has gone, or never does
 * @acting: is at it
 */
struct odp_race {
	struct ornic_tm_test tm;
	struct ornic_th_mr mr;
	u32 at;
	bool acting;
};

static_assert(offsetof(struct odp_race, tm.fix) == 0);

static struct odp_race *race;

static int odp_race_init(struct kunit *test)
{
	int ret = ornic_suite_alloc(test, sizeof(*race));

	race = test->priv;
	return ret;
}

static void odp_race_exit(struct kunit *test)
{
	ornic_other_cpu = NULL;
	ornic_suite_exit(test);
}

/* Nobody may write to it any more. CLEAR_PAGES would then wait for the first CPU. */
static void take_page(void)
{
	if (race->acting || !race->at || --race->at)
		return;
	race->acting = true;
	ornic_th_odp_set(&race->mr, 0, 1, false);
	race->acting = false;
}

/* Connected, with some receives in the ring. */
static void open_race(struct kunit *test)
{
	struct ornic_fixture *fix = &race->tm.fix;
	u32 i;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	ornic_tm_open(test, ORNIC_FIX_WIRE);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.b, &race->mr, 4096, 0,
					  ORNIC_ACCESS_MR_MASK),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&race->mr, 0, 1, true), 0);
	for (i = 0; i < RECEIVES; i++)
		ornic_tm_post_ring(&race->tm, i);
}

/* A WRITE with immediate data; its page goes at point @n. */
static void write_until(u32 n)
{
	struct ornic_fixture *fix = &race->tm.fix;

	race->at = n;
	ornic_other_cpu = take_page;
	ornic_fix_post(&fix->a, &fix->am, &race->mr, ORNIC_WQE_WRITE_IMM, 0, 0,
		       8);
	ornic_th_settle(&fix->pair);
	ornic_other_cpu = NULL;
}

/* Against IBTA 9.7.2 a SEND has the PSN of that WRITE. */
static void send_instead(void)
{
	static const u8 no_tag[HDRS] = { NO_TAG };
	struct ornic_fixture *fix = &race->tm.fix;
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_ONLY,
		.psn = ORNIC_FIX_PSN,
		.ack_req = true,
	};

	ornic_th_inject(&fix->b, &info, no_tag, sizeof(no_tag));
	ornic_th_settle(&fix->pair);
}

/* Receives that have left the ring. */
static u32 taken(void)
{
	const struct ornic_wq_record *rec =
		(const struct ornic_wq_record *)race->tm.srq.mem;

	return le32_to_cpu(rec->taken);
}

/* Each of them completes, in order, at the end of the QP at last. */
static void expect_all(struct kunit *test, u32 n)
{
	struct ornic_tm_test *tm = &race->tm;
	struct ornic_cqe cqe;
	u32 i;

	ornic_th_to(&tm->fix.b, ORNIC_QPS_ERR);
	for (i = 0; i < taken(); i++) {
		KUNIT_EXPECT_NE_MSG(test, ornic_fix_status(&tm->tcq, &cqe),
				    0xff, "point %u", n);
		KUNIT_EXPECT_EQ_MSG(test, le64_to_cpu(cqe.wr_id), i, "point %u",
				    n);
	}
	KUNIT_EXPECT_EQ(test, ornic_tm_status(tm), 0xff);
}

static void race_of_a_write_and_its_page(struct kunit *test)
{
	u32 n, held = 0;

	for (n = 1; n < POINTS; n++) {
		open_race(test);
		write_until(n);
		if (race->at)
			break;
		/* It has its receive, and found no page then. */
		held += taken() && ornic_fix_qp(&race->tm.fix.b)->rq.held;
		send_instead();
		expect_all(test, n);
	}
	KUNIT_EXPECT_GT(test, held, 0);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static struct kunit_case odp_race_cases[] = {
	KUNIT_CASE(race_of_a_write_and_its_page),
	{}
};

static struct kunit_suite odp_race_suite = {
	.name = "ornic_race_odp",
	.init = odp_race_init,
	.exit = odp_race_exit,
	.test_cases = odp_race_cases,
};

kunit_test_suite(odp_race_suite);

MODULE_DESCRIPTION("ornic: races of ODP MRs suite");
MODULE_LICENSE("Dual BSD/GPL");
