// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* INSPECT: the state of objects under traffic of known size. */
#include <kunit/test.h>

#include "pair_fixture.h"

static int inspect_init(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix =
		kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);

	if (!fix)
		return -ENOMEM;
	test->priv = fix;
	if (ornic_fix_open(fix, ORNIC_FIX_LONE, &init))
		return -EINVAL;
	ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	return ornic_fix_connect(fix) ? -EINVAL : 0;
}

static void inspect_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_fix_close(test->priv), 0);
}

static int inspect(struct ornic_fixture *fix, u8 kind, u32 obj,
		   union ornic_rsp *rsp)
{
	union ornic_req req;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_INSPECT;
	req.hdr.param = kind;
	req.hdr.obj = cpu_to_le32(obj);
	return ornic_th_cmd(fix->pair.a, &req, rsp);
}

static u32 psn(u32 n)
{
	return (ORNIC_FIX_PSN + n) & ORNIC_PSN_MASK;
}

/* Two WQEs of two packets each; the first packet is acknowledged. */
static void inspect_shows_the_requester(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_rsp_inspect_qp *r;
	union ornic_rsp rsp;
	u32 i;

	for (i = 0; i < 2; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 2048);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 4);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN,
			  ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE, NULL, 0);
	KUNIT_ASSERT_EQ(test, inspect(fix, ORNIC_INSPECT_QP, fix->a.qpn, &rsp),
			ORNIC_OK);
	r = &rsp.inspect_qp;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_psn), psn(4));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_acked), psn(1));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_producer), 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_sent), 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_done), 0);
	KUNIT_EXPECT_EQ(test, r->retry_left, fix->a.conn.retry_cnt);
	KUNIT_EXPECT_EQ(test, r->state, ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, r->flags, ORNIC_IQP_TIMER);
	/* The peer is not ready. */
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN + 1,
			  ORNIC_AETH_RNR | 20, NULL, 0);
	KUNIT_ASSERT_EQ(test, inspect(fix, ORNIC_INSPECT_QP, fix->a.qpn, &rsp),
			ORNIC_OK);
	KUNIT_EXPECT_TRUE(test, r->flags & ORNIC_IQP_RNR_WAIT);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_psn), psn(1));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->sq_sent), 0);
}

static void inspect_shows_the_responder(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_rsp_inspect_qp *r;
	union ornic_rsp rsp;
	u32 i;

	for (i = 0; i < 3; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, 0, 64);
	for (i = 0; i < 2; i++)
		ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, i, 0, 0, 10);
	/* One is missing. */
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 3, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	KUNIT_ASSERT_EQ(test, inspect(fix, ORNIC_INSPECT_QP, fix->a.qpn, &rsp),
			ORNIC_OK);
	r = &rsp.inspect_qp;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->rq_psn), psn(2));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->rq_msn), 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->rq_producer), 3);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->rq_taken), 2);
	KUNIT_EXPECT_EQ(test, r->flags, ORNIC_IQP_NAK_SENT);
}

static void inspect_shows_the_cq(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_rsp_inspect_cq *r;
	union ornic_rsp rsp;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 2; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, 0, 64);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 1, 0, 0, 10);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
	ornic_th_arm(&fix->arcq, ORNIC_ARM_SOLICITED);
	KUNIT_ASSERT_EQ(test,
			inspect(fix, ORNIC_INSPECT_CQ, fix->arcq.cqn, &rsp),
			ORNIC_OK);
	r = &rsp.inspect_cq;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->producer), 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->consumer), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->users), 1);
	KUNIT_EXPECT_EQ(test, r->armed, ORNIC_ARM_SOLICITED);
	KUNIT_EXPECT_EQ(test, r->overflow, 0);
	KUNIT_EXPECT_EQ(test, r->vector, 1);
	/* The event has been raised: armed no more. */
	ornic_th_arm(&fix->arcq, ORNIC_ARM_NEXT);
	ornic_fix_recv(&fix->a, &fix->am, 2, 0, 64);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 2, 0, 0, 10);
	KUNIT_ASSERT_EQ(test,
			inspect(fix, ORNIC_INSPECT_CQ, fix->arcq.cqn, &rsp),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, r->armed, ORNIC_ARM_NONE);
}

static void inspect_shows_the_key(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_rsp_inspect_mkey *r;
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test,
			inspect(fix, ORNIC_INSPECT_MKEY, fix->am.key, &rsp),
			ORNIC_OK);
	r = &rsp.inspect_mkey;
	KUNIT_EXPECT_EQ(test, le64_to_cpu(r->iova), fix->am.iova);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(r->length), ORNIC_FIX_MR_BYTES);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->pdn), ORNIC_TH_PD);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(r->windows), 0);
	KUNIT_EXPECT_EQ(test, r->access, ORNIC_ACCESS_MASK);
	/* A guess tells nothing. */
	KUNIT_EXPECT_EQ(test,
			inspect(fix, ORNIC_INSPECT_MKEY, fix->am.key ^ 1, &rsp),
			ORNIC_NOT_FOUND);
}

static struct ornic_wq_record *record(struct ornic_fixture *fix, u32 off)
{
	return (struct ornic_wq_record *)(fix->a.mem + off);
}

static u8 flags_of(struct kunit *test, struct ornic_fixture *fix)
{
	union ornic_rsp rsp;

	KUNIT_EXPECT_EQ(test, inspect(fix, ORNIC_INSPECT_QP, fix->a.qpn, &rsp),
			ORNIC_OK);
	return rsp.inspect_qp.flags;
}

/* IBTA 10.3.1.5: SQD with a WQE that is not complete. */
static void inspect_shows_draining(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	KUNIT_EXPECT_TRUE(test, flags_of(test, fix) & ORNIC_IQP_DRAINING);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN,
			  ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE, NULL, 0);
	KUNIT_EXPECT_FALSE(test, flags_of(test, fix) & ORNIC_IQP_DRAINING);
}

/* Producers that cannot be. */
static void inspect_shows_broken_queues(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	u8 broken = ORNIC_IQP_SQ_BROKEN | ORNIC_IQP_RQ_BROKEN;

	KUNIT_EXPECT_EQ(test, flags_of(test, fix) & broken, 0);
	record(fix, ORNIC_RQ_RECORD)->producer = cpu_to_le32(1000);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 0, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, flags_of(test, fix) & broken,
			ORNIC_IQP_RQ_BROKEN);
	record(fix, ORNIC_SQ_RECORD)->producer = cpu_to_le32(1000);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, flags_of(test, fix) & broken, broken);
}

/* IBTA A14.2: a target has neither of the queues. */
static void inspect_shows_a_target(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_XRC_TGT };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qp tgt;
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.a, &tgt, &init, NULL, NULL),
			0);
	record(fix, ORNIC_SQ_RECORD)->producer = cpu_to_le32(1);
	KUNIT_ASSERT_EQ(test, inspect(fix, ORNIC_INSPECT_QP, tgt.qpn, &rsp),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.inspect_qp.sq_producer), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.inspect_qp.rq_producer), 0);
	KUNIT_EXPECT_EQ(test, rsp.inspect_qp.state, ORNIC_QPS_RESET);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&tgt), 0);
}

static const struct kind_row {
	const char *name;
	u8 flags;
	u32 room; /* pages of an FRMR */
	u8 shown;
} kind_rows[] = {
	{ "all DMA memory", ORNIC_MKEY_DMA, 0, ORNIC_MKEY_DMA },
	{ "FRMR", ORNIC_MKEY_FAST, 4, 0 },
	{ "FRMR with gaps", ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, 4,
	  ORNIC_MKEY_SG_GAPS },
};

KUNIT_ARRAY_PARAM_DESC(kind, kind_rows, name);

static void inspect_shows_the_kind_of_key(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct ornic_fixture *fix = test->priv;
	union ornic_req req;
	union ornic_rsp rsp;
	u32 key;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.flags = row->flags;
	req.create_mkey.mem.npages = cpu_to_le32(row->room);
	req.create_mkey.pdn = cpu_to_le32(0x99);
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp), ORNIC_OK);
	key = le32_to_cpu(rsp.hdr.obj);
	KUNIT_ASSERT_EQ(test, inspect(fix, ORNIC_INSPECT_MKEY, key, &rsp),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, rsp.inspect_mkey.flags, row->shown);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.inspect_mkey.pdn), 0x99);
	KUNIT_EXPECT_EQ(test, inspect(fix, ORNIC_INSPECT_MKEY, key ^ 1, &rsp),
			ORNIC_NOT_FOUND);
}

static void inspect_checks(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	union ornic_rsp rsp;
	u32 kind, window = 0;

	for (kind = 0; kind < 256; kind++)
		KUNIT_EXPECT_EQ(test, inspect(fix, kind, U32_MAX, &rsp),
				kind >= ORNIC_INSPECT_QP &&
						kind <= ORNIC_INSPECT_MKEY ?
					ORNIC_NOT_FOUND :
					ORNIC_BAD_PARAM);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mw(fix->pair.a, ORNIC_MW_TYPE_1, &window),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, inspect(fix, ORNIC_INSPECT_MKEY, window, &rsp),
			ORNIC_NOT_FOUND);
	ornic_th_destroy_obj(fix->pair.a, ORNIC_CMD_DESTROY_MW, window);
}

/* In the kernel nobody looks, unless a tracepoint is on. */
static void trace_tells_each_thing_once(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	const u32 *n = fix->pair.a->trace_count;

	if (!ornic_trace_on())
		kunit_skip(test, "tracing is off");
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       2048);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_KICK], 1);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_TX], 2);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN,
			  ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ, NULL, 0);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_RETRY], 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN + 1,
			  ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE, NULL, 0);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_TX], 4);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_RX], 2);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_ACK], 2);
	KUNIT_EXPECT_EQ(test, n[ORNIC_TRACE_COMPLETION], 1);
}

static struct kunit_case inspect_cases[] = {
	KUNIT_CASE(inspect_shows_the_requester),
	KUNIT_CASE(inspect_shows_the_responder),
	KUNIT_CASE(inspect_shows_the_cq),
	KUNIT_CASE(inspect_shows_the_key),
	KUNIT_CASE(inspect_shows_draining),
	KUNIT_CASE(inspect_shows_broken_queues),
	KUNIT_CASE(inspect_shows_a_target),
	KUNIT_CASE_PARAM(inspect_shows_the_kind_of_key, kind_gen_params),
	KUNIT_CASE(inspect_checks),
	KUNIT_CASE(trace_tells_each_thing_once),
	{}
};

static struct kunit_suite inspect_suite = {
	.name = "ornic_inspect",
	.init = inspect_init,
	.exit = inspect_exit,
	.test_cases = inspect_cases,
};

kunit_test_suite(inspect_suite);

MODULE_DESCRIPTION("ornic: inspection suite");
MODULE_LICENSE("Dual BSD/GPL");
