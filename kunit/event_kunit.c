// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Asynchronous events: what raises each of them, how often, and what happens
 * to the QP. Those of SRQs are in srq_kunit.c, SQ_DRAINED is in qp_kunit.c.
 */
#include "suite_fixture.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD
#define LOG_CQ 2

static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	if (kind == ORNIC_FIX_LONE)
		ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

/* How often @type was raised for @obj. */
static u32 raised(const struct ornic_th *th, enum ornic_eqe_type type, u32 obj)
{
	u32 i, n = 0;

	for (i = 0; i < th->nevents && i < ORNIC_TH_EVENTS; i++)
		n += th->events[i].type == type &&
		     le32_to_cpu(th->events[i].obj) == obj;
	return n;
}

/* ---- Overflow of a CQ ------------------------------------------------------- */

static const struct overflow_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 type;
	bool of_receiver;
} overflow_rows[] = {
	{ "RC, send CQ, wire", ORNIC_FIX_WIRE, RC, false },
	{ "RC, send CQ, loopback", ORNIC_FIX_LOOP, RC, false },
	{ "RC, receive CQ, wire", ORNIC_FIX_WIRE, RC, true },
	{ "RC, receive CQ, loopback", ORNIC_FIX_LOOP, RC, true },
	{ "UC, send CQ", ORNIC_FIX_WIRE, UC, false },
	{ "UC, receive CQ", ORNIC_FIX_LOOP, UC, true },
};

KUNIT_ARRAY_PARAM_DESC(overflow, overflow_rows, desc);

static void send_many(struct ornic_fixture *fix, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		ornic_fix_recv(&fix->b, &fix->bm, i, 0, 64);
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND,
			       ORNIC_WQE_SIGNALED, 0, 10);
		ornic_th_kick(&fix->a);
		ornic_th_settle(&fix->pair);
	}
}

/* The QP of the CQ ends, and its CQ keeps what it had. */
static void overflow_ends_the_qp(struct kunit *test)
{
	const struct overflow_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind, row->type);
	struct ornic_th_cq *cq = row->of_receiver ? &fix->brcq : &fix->ascq;
	struct ornic_th_qp *qp = row->of_receiver ? &fix->b : &fix->a;
	struct ornic_th *th = qp->th;
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(cq, LOG_CQ), 0);
	send_many(fix, 1 << LOG_CQ);
	KUNIT_EXPECT_EQ(test, ornic_th_state(qp), ORNIC_QPS_RTS);
	send_many(fix, 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(qp), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, raised(th, ORNIC_EVENT_CQ_ERR, cq->cqn), 1);
	KUNIT_EXPECT_EQ(test, raised(th, ORNIC_EVENT_QP_FATAL, qp->qpn), 1);
	for (i = 0; i < 1 << LOG_CQ; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(cq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(cq, &cqe), 0xff);
	/* Room comes too late. */
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(cq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, raised(th, ORNIC_EVENT_QP_FATAL, qp->qpn), 1);
}

/* Those that complete elsewhere go on. */
static void overflow_spares_the_others(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_qp idle, other;
	int ret;

	ret = ornic_th_qp_init(th, &idle, &init, &fix->ascq, &fix->arcq);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = ornic_th_qp_init(th, &other, &init, &fix->bscq, &fix->arcq);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&idle, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&other, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&fix->ascq, LOG_CQ), 0);
	send_many(fix, 1 + (1 << LOG_CQ));
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&idle), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, raised(th, ORNIC_EVENT_QP_FATAL, idle.qpn), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&other), ORNIC_QPS_INIT);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_QP_FATAL], 2);
	ornic_th_qp_fini(&idle);
	ornic_th_qp_fini(&other);
}

/* ---- Nonsense in the record of an RQ ------------------------------------------ */

static const struct broken_row {
	const char *desc;
	u8 type;
	u8 opcode;
	u32 producer;
	u8 syndrome;
} broken_rows[] = {
	{ "RC, more than the ring has", RC, ORNIC_OP_SEND_ONLY, 1000,
	  ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_OP },
	{ "RC, goes back", RC, ORNIC_OP_SEND_ONLY, 0xffffffff,
	  ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_OP },
	{ "UD, more than the ring has", UD, ORNIC_UD | ORNIC_OP_SEND_ONLY, 1000,
	  0xff },
};

KUNIT_ARRAY_PARAM_DESC(broken, broken_rows, desc);

static void broken_rq_ends_the_qp(struct kunit *test)
{
	const struct broken_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, row->type);
	struct ornic_wq_record *record =
		(struct ornic_wq_record *)(fix->a.mem + ORNIC_RQ_RECORD);
	struct ornic_th *th = fix->pair.a;

	record->producer = cpu_to_le32(row->producer);
	ornic_fix_request(fix, row->opcode, 0, 0, 0, 10);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), row->syndrome);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, raised(th, ORNIC_EVENT_QP_FATAL, fix->a.qpn), 1);
	/* RESET forgets it. */
	record->producer = 0;
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE_PARAM(overflow_ends_the_qp, overflow_gen_params),
	KUNIT_CASE(overflow_spares_the_others),
	KUNIT_CASE_PARAM(broken_rq_ends_the_qp, broken_gen_params),
	{}
};

static struct kunit_suite event_suite = {
	.name = "ornic_event",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);

MODULE_DESCRIPTION("ornic: events suite");
MODULE_LICENSE("Dual BSD/GPL");
