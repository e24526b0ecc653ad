// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Page faults that the host ends late, without a page, when nobody needs it any more, or
 * not at all.
 */
#include "fault_fixture.h"

/* ---- Answers that are late, or bad ------------------------------------------------ */

/* IBTA 9.7.5.2.8 for what takes long at the responder; the requester has no timer. */
static void check_late(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 i;

	fault_open(test, ft->kind, row->type);
	fault_set_others(test, row->sides);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	/* Three ACK timeouts */
	for (i = 0; i < 3000; i++)
		ornic_th_advance(&fix->pair, ORNIC_TH_MS / 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	do {
		fault_settle(fix);
	} while (ornic_th_advance(&fix->pair, ORNIC_TH_MS) &&
		 ft->events++ < POINTS);
	fault_expect_done(test, row);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_TIMEOUTS), 0);
}

static void answer_is_late(struct kunit *test)
{
	const struct fault_row *row = test->param_value;

	if (row->type != ORNIC_QPT_RC)
		kunit_skip(test, "nobody waits for a response");
	fault_on_each(test, check_late);
}

static void fail_faults(const struct ornic_th_qp *qp)
{
	struct ornic_th_fault fault;

	while (ornic_th_fault_take(qp, &fault))
		ornic_th_fault_end(qp, &fault, true);
}

/* IBTA 10.2.6.2: its own memory is a protection error, the peer's a remote one. */
static void check_no(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	int status;

	fault_open(test, ft->kind, row->type);
	fault_set_others(test, row->sides);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	fail_faults(&fix->a);
	fail_faults(&fix->b);
	ornic_th_settle(&fix->pair);
	status = ornic_fix_status(&fix->ascq, &cqe);
	if (row->sides == LOCAL) {
		KUNIT_EXPECT_EQ(test, status, ORNIC_CQE_LOC_PROT_ERR);
		KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_PAGE);
	} else if (row->opcode == ORNIC_WQE_SEND) {
		KUNIT_EXPECT_EQ(test, status, ORNIC_CQE_REM_OP_ERR);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
				ORNIC_CQE_LOC_PROT_ERR);
	} else {
		KUNIT_EXPECT_EQ(test, status, ORNIC_CQE_REM_ACCESS_ERR);
	}
}

static void answer_is_no(struct kunit *test)
{
	const struct fault_row *row = test->param_value;

	if (row->type != ORNIC_QPT_RC || row->sides == BOTH)
		kunit_skip(test, "no single error");
	fault_on_each(test, check_no);
}

/* The key is destroyed while a QP waits for its pages. */
static void check_destroyed(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	int status;

	fault_open(test, ft->kind, row->type);
	fault_set_others(test, row->sides);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(
		test,
		ornic_th_mr_fini(row->sides == LOCAL ? &fix->am : &fix->bm), 0);
	fail_faults(&fix->a);
	fail_faults(&fix->b);
	ornic_th_settle(&fix->pair);
	status = ornic_fix_status(&fix->ascq, &cqe);
	KUNIT_EXPECT_TRUE_MSG(test,
			      status == ORNIC_CQE_LOC_PROT_ERR ||
				      status == ORNIC_CQE_REM_OP_ERR ||
				      status == ORNIC_CQE_REM_ACCESS_ERR,
			      "status %u", status);
}

static void key_is_destroyed(struct kunit *test)
{
	const struct fault_row *row = test->param_value;

	if (row->type != ORNIC_QPT_RC || row->sides == BOTH)
		kunit_skip(test, "no single error");
	fault_on_each(test, check_destroyed);
}

/* A QP that waits is reset: the answer comes too late, and the QP works anew. */
static void check_reset(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_th_fault fault;
	struct ornic_th_qp *qp;

	fault_open(test, ft->kind, row->type);
	qp = row->sides & LOCAL ? &fix->a : &fix->b;
	fault_set_others(test, row->sides);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(qp, &fault));
	KUNIT_EXPECT_EQ(
		test, ornic_th_modify(qp, ORNIC_QPS_RESET, ORNIC_QPM_STATE), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(qp, &fault, false),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(qp, &fault));
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fault_post(fix, row);
	KUNIT_EXPECT_GT(test, fault_settle(fix), 0);
	fault_expect_done(test, row);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(qp), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(qp, &fault, false),
			ORNIC_NOT_FOUND);
}

static void qp_is_reset(struct kunit *test)
{
	fault_on_each(test, check_reset);
}

/* Only the answer to the fault that the queue has counts, once. */
static void answers_are_checked(struct kunit *test)
{
	static const struct fault_row row = { .opcode = ORNIC_WQE_SEND,
					      .len = 100 };
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_th_fault fault, wrong;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	fault_set_others(test, LOCAL);
	fault_post(fix, &row);
	ornic_th_settle(&fix->pair);
	memset(&fault, 0, sizeof(fault));
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false),
			ORNIC_NOT_FOUND);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->a, &fault));
	KUNIT_EXPECT_EQ(test, fault.key, fix->am.key);
	KUNIT_EXPECT_EQ(test, fault.addr, fix->am.iova);
	KUNIT_EXPECT_EQ(test, fault.length, 100);
	KUNIT_EXPECT_EQ(test, fault.queue, ORNIC_FAULT_SQ);
	KUNIT_EXPECT_EQ(test, fault.write, 0);
	wrong = fault;
	wrong.seq++;
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &wrong, false),
			ORNIC_NOT_FOUND);
	wrong = fault;
	wrong.queue = ORNIC_FAULT_RQ;
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &wrong, false),
			ORNIC_NOT_FOUND);
	wrong.queue = ORNIC_FAULT_RQ + 1;
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &wrong, false),
			ORNIC_BAD_PARAM);
	/* One that brings nothing: it is asked again. */
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false),
			ORNIC_NOT_FOUND);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
	fault_expect_done(test, &row);
}

/* The page came otherwise than by the answer, which says that there is none. */
static void check_came(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	bool local = row->sides == LOCAL;
	const struct ornic_th_mr *mr = local ? &fix->am : &fix->bm;
	const struct ornic_th_qp *qp = local ? &fix->a : &fix->b;
	struct ornic_th_fault fault;

	fault_open(test, ft->kind, row->type);
	fault_set_others(test, row->sides);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(qp, &fault));
	fault_set_side(test, mr);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(qp, &fault, true), 0);
	KUNIT_EXPECT_EQ(test, fault_settle(fix), 0);
	fault_expect_done(test, row);
	/* The next message asks, and does not take that for its answer. */
	KUNIT_ASSERT_EQ(test, ornic_th_odp_clear(mr, 0, mr->npages), 0);
	fault_post(fix, row);
	KUNIT_EXPECT_GT(test, fault_settle(fix), 0);
	fault_expect_done(test, row);
}

static void page_came_otherwise(struct kunit *test)
{
	const struct fault_row *row = test->param_value;

	if (row->type != ORNIC_QPT_RC || row->sides == BOTH)
		kunit_skip(test, "no single fault");
	fault_on_each(test, check_came);
}

static const struct fault_row read_row = { .type = ORNIC_QPT_RC,
					   .opcode = ORNIC_WQE_READ,
					   .len = 30000 };

/* A READ, whose pages go at event @n. False if it is over before that. */
static bool read_to_event(struct kunit *test, u32 n)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	fault_set_others(test, REMOTE);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_set(&fix->bm, 0, 8, true), 0);
	ft->sides = REMOTE;
	ft->at = n;
	fix->pair.filter = fault_pass_frame;
	fix->pair.ctx = ft;
	/* Responses leave one by one. */
	fix->pair.b->tx_window = 1;
	fault_post(fix, &read_row);
	ornic_th_settle(&fix->pair);
	return !ft->at;
}

/* The pages of an accepted READ go, and come after all ACK timeouts of its retries. */
static void read_waits_long(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	u32 n, i, waited = 0;

	for (n = 1; n < POINTS && read_to_event(test, n); n++) {
		for (i = 0; i < 400; i++)
			ornic_th_advance(&fix->pair, 5 * ORNIC_TH_MS);
		waited += fault_stat(fix, ORNIC_STAT_RNR_NAK_SENT) > 0;
		for (i = 0; i < 20; i++) {
			fault_settle(fix);
			ornic_th_advance(&fix->pair, ORNIC_TH_MS);
		}
		fault_expect_done(test, &read_row);
	}
	KUNIT_EXPECT_GT(test, waited, 5);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* An accepted READ waits for a page since the event @n, one after the @n of the caller. */
static bool read_to_wait(struct kunit *test, u32 *n)
{
	struct fault_test *ft = test->priv;

	while (++*n < POINTS && read_to_event(test, *n)) {
		if (fault_stat(&ft->fix, ORNIC_STAT_PAGE_FAULTS))
			return true;
	}
	return false;
}

/* Its copies are refused no sooner than what is held, and cost the peer next to nothing. */
static void read_waits_shortly(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	u32 n = 1, i, waited = 0;

	ft->timeout = 14;
	ft->rnr_retry = 1;
	while (read_to_wait(test, &n)) {
		for (i = 0; i < 40; i++) {
			ornic_th_advance(&fix->pair, ORNIC_TH_MS / 2);
			ornic_th_settle(&fix->pair);
		}
		waited++;
		KUNIT_EXPECT_LE(test, fault_stat(fix, ORNIC_STAT_RNR_NAK_SENT),
				1);
		for (i = 0; i < 200; i++) {
			fault_settle(fix);
			ornic_th_advance(&fix->pair, ORNIC_TH_MS);
		}
		fault_expect_done(test, &read_row);
	}
	KUNIT_EXPECT_GT(test, waited, 5);
}

/* RNR timer 0 is 655 ms: a page that comes sooner is not worth that. */
static void read_is_not_told(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	u32 n = 1, i, waited = 0;

	ft->timeout = 16;
	ft->longest_rnr = true;
	while (read_to_wait(test, &n)) {
		for (i = 0; i < 300; i++) {
			ornic_th_advance(&fix->pair, ORNIC_TH_MS);
			ornic_th_settle(&fix->pair);
		}
		waited++;
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RNR_NAK_SENT),
				0);
		for (i = 0; i < 600; i++) {
			fault_settle(fix);
			ornic_th_advance(&fix->pair, ORNIC_TH_MS);
		}
		fault_expect_done(test, &read_row);
	}
	KUNIT_EXPECT_GT(test, waited, 5);
}

/* Of b: those of the READ fail, all others get their pages. How many failed. */
static u32 fail_read(struct ornic_fixture *fix)
{
	struct ornic_th_fault fault;
	u32 failed = 0, i;
	bool read;

	for (i = 0; i < 10 && ornic_th_fault_take(&fix->b, &fault); i++) {
		read = fault.addr < fix->bm.iova + read_row.len;
		failed += read;
		if (!read)
			ornic_th_odp_set(&fix->bm, 12, 4, true);
		ornic_th_fault_end(&fix->b, &fault, read);
		ornic_th_settle(&fix->pair);
	}
	return failed;
}

/* A request that waits for pages as well does not make the READ ask again. */
static void read_fails_once(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 n, failed = 0;

	for (n = 1; n < POINTS && read_to_event(test, n); n++) {
		if (ornic_fix_status(&fix->ascq, &cqe) != 0xff)
			continue;
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       50000, 100);
		ornic_th_settle(&fix->pair);
		KUNIT_EXPECT_EQ(test, fail_read(fix), 1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				ORNIC_CQE_REM_ACCESS_ERR);
		failed++;
	}
	KUNIT_EXPECT_GT(test, failed, 5);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

static struct kunit_case fault_end_cases[] = {
	KUNIT_CASE_PARAM(answer_is_late, fault_gen_params),
	KUNIT_CASE_PARAM(answer_is_no, fault_gen_params),
	KUNIT_CASE_PARAM(key_is_destroyed, fault_gen_params),
	KUNIT_CASE_PARAM(qp_is_reset, fault_gen_params),
	KUNIT_CASE(answers_are_checked),
	KUNIT_CASE_PARAM(page_came_otherwise, fault_gen_params),
	KUNIT_CASE(read_waits_long),
	KUNIT_CASE(read_waits_shortly),
	KUNIT_CASE(read_is_not_told),
	KUNIT_CASE(read_fails_once),
	{}
};

static struct kunit_suite fault_end_suite = {
	.name = "ornic_fault_end",
	.init = fault_init,
	.exit = ornic_suite_exit,
	.test_cases = fault_end_cases,
};

kunit_test_suite(fault_end_suite);

MODULE_DESCRIPTION("ornic: suite of how page faults end");
MODULE_LICENSE("Dual BSD/GPL");
