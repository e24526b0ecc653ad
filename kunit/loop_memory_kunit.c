// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that goes while loopback is in the middle of a message, on either side:
 * the message ends with the error that the wire has for it, at that piece.
 */
#include <kunit/test.h>

#include "suite_fixture.h"

#define RC ORNIC_QPT_RC
#define DOMAIN 7
#define BYTES (512u << 10) /* some pieces of a loopback message */
#define PATTERN 5

/* MRs @am and @bm of both sides are in use when @srq or one of them goes. */
struct memory_test {
	struct ornic_fixture fix;
	struct ornic_th_mr am;
	struct ornic_th_mr bm;
	struct ornic_th_srq srq;
	struct ornic_lsge sge[ORNIC_MAX_SGE];
};

static_assert(offsetof(struct memory_test, fix) == 0);

static int memory_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct memory_test));
}

static void make_mrs(struct kunit *test, struct memory_test *mt)
{
	struct ornic_fixture *fix = &mt->fix;

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &mt->am, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.b, &mt->bm, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	ornic_fix_fill(&mt->am, 0, BYTES, PATTERN);
	ornic_fix_fill(&mt->bm, 0, BYTES, PATTERN + 1);
}

static struct memory_test *open_pair(struct kunit *test,
				     enum ornic_fix_kind kind, u8 max_sge)
{
	struct ornic_th_qpinit init = { .type = RC, .max_sge = max_sge };
	struct memory_test *mt = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&mt->fix, kind, &init), 0);
	make_mrs(test, mt);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&mt->fix), 0);
	return mt;
}

/* a does the first piece of a message and no more. */
static void begin(struct kunit *test, struct memory_test *mt, u8 opcode)
{
	struct ornic_fixture *fix = &mt->fix;
	struct ornic_cqe cqe;

	fix->pair.a->budget = 1000;
	if (opcode == ORNIC_WQE_SEND)
		ornic_fix_recv(&fix->b, &mt->bm, 7, 0, BYTES);
	ornic_fix_post(&fix->a, &mt->am, &mt->bm, opcode, 0, 0, BYTES);
	KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->ascq, &cqe));
	KUNIT_ASSERT_NE(test, ornic_th_sq_psn(&fix->a), ORNIC_FIX_PSN);
}

/* ---- An MR goes ------------------------------------------------------------------ */

static const struct gone_row {
	const char *name;
	u8 opcode;
	bool at_b;
	u8 status;
	u8 recv_status; /* of b's receive, 0xff = there is none */
	u8 event; /* of b, 0 = none */
} gone_rows[] = {
	{ "IBTA 9.9.2: SEND, ours", ORNIC_WQE_SEND, false,
	  ORNIC_CQE_LOC_PROT_ERR, 0xff, 0 },
	{ "IBTA 9.9.2: WRITE, ours", ORNIC_WQE_WRITE, false,
	  ORNIC_CQE_LOC_PROT_ERR, 0xff, 0 },
	{ "IBTA 9.9.2: READ, ours", ORNIC_WQE_READ, false,
	  ORNIC_CQE_LOC_PROT_ERR, 0xff, 0 },
	{ "IBTA 9.9.3: SEND, the peer's", ORNIC_WQE_SEND, true,
	  ORNIC_CQE_REM_OP_ERR, ORNIC_CQE_LOC_PROT_ERR, 0 },
	{ "IBTA 9.9.3: WRITE, the peer's", ORNIC_WQE_WRITE, true,
	  ORNIC_CQE_REM_ACCESS_ERR, 0xff, ORNIC_EVENT_QP_ACCESS_ERR },
	{ "IBTA 9.9.3: READ, the peer's", ORNIC_WQE_READ, true,
	  ORNIC_CQE_REM_ACCESS_ERR, 0xff, ORNIC_EVENT_QP_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(gone, gone_rows, name);

static void expect_end(struct kunit *test, struct memory_test *mt,
		       const struct gone_row *row)
{
	struct ornic_fixture *fix = &mt->fix;
	u32 events = fix->pair.b->nevents;
	struct ornic_cqe cqe;

	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
			row->recv_status);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b),
			row->at_b ? ORNIC_QPS_ERR : ORNIC_QPS_RTS);
	if (row->event)
		KUNIT_EXPECT_EQ(test, fix->pair.b->event_count[row->event], 1);
	else
		KUNIT_EXPECT_EQ(test, fix->pair.b->nevents, events);
}

static void try_gone(struct kunit *test, enum ornic_fix_kind kind)
{
	const struct gone_row *row = test->param_value;
	struct memory_test *mt = open_pair(test, kind, 0);

	begin(test, mt, row->opcode);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(row->at_b ? &mt->bm : &mt->am),
			0);
	expect_end(test, mt, row);
}

static void memory_goes_here(struct kunit *test)
{
	try_gone(test, ORNIC_FIX_LOOP);
}

static void memory_goes_in_process(struct kunit *test)
{
	try_gone(test, ORNIC_FIX_PEER);
}

/* IBTA A14: the PD of a READ is that of its SRQ, also of its second half. */
static void memory_of_a_srq_that_goes(struct kunit *test)
{
	static const struct gone_row end = {
		.at_b = true,
		.status = ORNIC_CQE_REM_ACCESS_ERR,
		.recv_status = 0xff,
		.event = ORNIC_EVENT_QP_ACCESS_ERR,
	};
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_XRC_INI };
	struct memory_test *mt = test->priv;
	struct ornic_fixture *fix = &mt->fix;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->b), 0);
	init.type = ORNIC_QPT_XRC_TGT;
	init.xrcdn = DOMAIN;
	KUNIT_ASSERT_EQ(
		test, ornic_th_qp_init(fix->pair.b, &fix->b, &init, NULL, NULL),
		0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_xsrq_init(fix->pair.b, &mt->srq, 3, DOMAIN,
					   &fix->brcq),
			0);
	fix->a.srqn = mt->srq.srqn;
	make_mrs(test, mt);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	begin(test, mt, ORNIC_WQE_READ);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_fini(&mt->srq), 0);
	expect_end(test, mt, &end);
}

/* ---- Before the message is executed ------------------------------------------------ */

/* The peer is not ready to receive yet: as if the packet was lost. */
static void post_early(struct kunit *test, struct memory_test *mt, u8 opcode)
{
	struct ornic_fixture *fix = &mt->fix;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RESET), 0);
	ornic_fix_post(&fix->a, &mt->am, &mt->bm, opcode, 0, 0, 8);
	KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->ascq, &cqe));
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RTR), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RTS), 0);
}

/* IBTA 9.9.2: executed, but there is no memory for the result any more. */
static void memory_of_a_result_goes(struct kunit *test)
{
	struct memory_test *mt = open_pair(test, ORNIC_FIX_LOOP, 0);
	struct ornic_fixture *fix = &mt->fix;
	struct ornic_cqe cqe;
	u64 before, after;

	ornic_th_mr_read(&mt->bm, 0, &before, sizeof(before));
	post_early(test, mt, ORNIC_WQE_FAA);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&mt->am), 0);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 100 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_LKEY_UNKNOWN);
	ornic_th_mr_read(&mt->bm, 0, &after, sizeof(after));
	KUNIT_EXPECT_EQ(test, after, before + 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_RTS);
}

static const struct lost_row {
	const char *desc;
	u8 opcode;
} lost_rows[] = {
	{ "IBTA 9.9.2: ATOMIC WRITE takes its word when it is executed",
	  ORNIC_WQE_ATOMIC_WRITE },
	{ "IBTA 9.9.2: READ looks at its sink before it is executed",
	  ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(lost, lost_rows, desc);

/* Not executed: the peer is as before. */
static void memory_of_a_word_goes(struct kunit *test)
{
	const struct lost_row *row = test->param_value;
	struct memory_test *mt = open_pair(test, ORNIC_FIX_LOOP, 0);
	struct ornic_fixture *fix = &mt->fix;
	struct ornic_cqe cqe;

	post_early(test, mt, row->opcode);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&mt->am), 0);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 100 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_LKEY_UNKNOWN);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&mt->bm, 0, 8, PATTERN + 1),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_th_rq_psn(&fix->b), ORNIC_FIX_PSN);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_RTS);
}

/* ---- Many pieces --------------------------------------------------------------------- */

/* SGEs that end in three pages each are more pieces than one step takes. */
#define SGE_BYTES 4098u

static void memory_of_many_pieces(struct kunit *test)
{
	struct memory_test *mt = open_pair(test, ORNIC_FIX_LOOP, ORNIC_MAX_SGE);
	struct ornic_fixture *fix = &mt->fix;
	struct ornic_lsge *sge = mt->sge;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_WRITE,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = ORNIC_MAX_SGE,
		.sge = sge,
		.raddr = mt->bm.iova,
		.rkey = mt->bm.key,
	};
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < ORNIC_MAX_SGE; i++) {
		sge[i] = ornic_fix_sge(&mt->am, 8192 * i + 4095, SGE_BYTES);
		ornic_fix_fill(&mt->am, 8192 * i + 4095, SGE_BYTES, i);
	}
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	for (i = 0; i < ORNIC_MAX_SGE; i++)
		KUNIT_EXPECT_EQ(test,
				ornic_fix_compare(&mt->bm, SGE_BYTES * i,
						  SGE_BYTES, i),
				-1);
	KUNIT_EXPECT_EQ(test,
			ornic_psn_diff(ornic_th_sq_psn(&fix->a), ORNIC_FIX_PSN),
			DIV_ROUND_UP(SGE_BYTES * ORNIC_MAX_SGE, 1024u));
	KUNIT_EXPECT_EQ(test, ornic_th_rq_psn(&fix->b),
			ornic_th_sq_psn(&fix->a));
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE_PARAM(memory_goes_here, gone_gen_params),
	KUNIT_CASE_PARAM(memory_goes_in_process, gone_gen_params),
	KUNIT_CASE(memory_of_a_srq_that_goes),
	KUNIT_CASE(memory_of_a_result_goes),
	KUNIT_CASE_PARAM(memory_of_a_word_goes, lost_gen_params),
	KUNIT_CASE(memory_of_many_pieces),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "ornic_loop_memory",
	.init = memory_init,
	.exit = ornic_suite_exit,
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);

MODULE_DESCRIPTION("ornic: memory that goes during loopback");
MODULE_LICENSE("Dual BSD/GPL");
