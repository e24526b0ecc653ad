// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options that the hosts have agreed on (ECE): what connections do that have some, none
 * of them, or have not been told.
 */
#include "engine/proto.h"
#include "suite_fixture.h"

#define RC ORNIC_QPT_RC
#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define ACK 0x1f
#define SEQ_NAK (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)

static const u32 agreed = ORNIC_ECE_OFFER;
static const u32 refused;

static u64 stat(struct ornic_fixture *fix, enum ornic_stat what)
{
	return ornic_engine_stat(fix->pair.a->eng, what);
}

static struct ornic_fixture *open_init(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	fix->a.conn.dest_qpn = 0x123;
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	return fix;
}

/* A connection whose host has set @ece; the peer is on the wire only. */
static struct ornic_fixture *open_with(struct kunit *test, u32 ece)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.has_ece = true;
	fix->a.conn.ece = ece;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	return fix;
}

static struct ornic_rsp_inspect_qp look(struct ornic_fixture *fix)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_INSPECT;
	req.hdr.param = ORNIC_INSPECT_QP;
	req.hdr.obj = cpu_to_le32(fix->a.qpn);
	ornic_th_cmd(fix->pair.a, &req, &rsp);
	return rsp.inspect_qp;
}

static bool is_selective(struct ornic_fixture *fix)
{
	return look(fix).flags & ORNIC_IQP_SELECTIVE;
}

/* A request of the peer, number @n, that has the bit of selective repeat. */
static void bit_request(struct ornic_fixture *fix, s32 n)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = true,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 8,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, 8);
	ornic_th_run(fix->pair.a);
}

/* A NAK of the peer for request @n, which says that it keeps the one after. */
static void sack(struct ornic_fixture *fix, u32 n, u32 payload)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = SEQ_NAK,
		.selective = true,
	};
	__le32 bitmap = cpu_to_le32(1);

	ornic_th_inject(&fix->a, &info, &bitmap, payload);
	ornic_th_run(fix->pair.a);
}

/* ---- MODIFY_QP ------------------------------------------------------------- */

#define VERSION(n) ((u32)(n) << ORNIC_ECE_VERSION_SHIFT)

static const struct value_row {
	const char *desc;
	u32 ece;
	int status;
} value_rows[] = {
	{ "none", 0, ORNIC_OK },
	{ "the offer", ORNIC_ECE_OFFER, ORNIC_OK },
	{ "a bit without a version", ORNIC_ECE_SELECTIVE, ORNIC_BAD_PARAM },
	{ "a version without a bit", VERSION(1), ORNIC_BAD_PARAM },
	{ "a bit that is not offered", ORNIC_ECE_OFFER | 2, ORNIC_BAD_PARAM },
	{ "the highest bit", ORNIC_ECE_OFFER | 1u << 27, ORNIC_BAD_PARAM },
	{ "a later version", VERSION(2) | ORNIC_ECE_SELECTIVE,
	  ORNIC_BAD_PARAM },
	{ "all bits", ~0u, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(value, value_rows, desc);

static void ece_values(struct kunit *test)
{
	const struct value_row *row = test->param_value;
	struct ornic_fixture *fix = open_init(test);
	struct ornic_rsp_query_qp q;
	bool set = row->status == ORNIC_OK;

	fix->a.conn.ece = row->ece;
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, 0, ORNIC_QPM_ECE),
			row->status);
	KUNIT_EXPECT_EQ(test, !!(look(fix).flags & ORNIC_IQP_ECE), set);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(look(fix).ece), set ? row->ece : 0);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.qkey_ece), set ? row->ece : 0);
}

/* The first request has left in RTS: too late. The last word counts before. */
static void ece_until_rts(struct kunit *test)
{
	struct ornic_fixture *fix = open_init(test);
	static const u8 later[] = { ORNIC_QPS_RTS, ORNIC_QPS_SQD };
	u32 i;

	fix->a.conn.ece = agreed;
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, 0, ORNIC_QPM_ECE), 0);
	fix->a.conn.ece = refused;
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, 0, ORNIC_QPM_ECE), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	KUNIT_EXPECT_NE(test, ornic_th_modify(&fix->a, 0, ORNIC_QPM_ECE), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTS), 0);
	KUNIT_EXPECT_FALSE(test, is_selective(fix));
	for (i = 0; i < ARRAY_SIZE(later); i++) {
		ornic_th_modify(&fix->a, later[i], ORNIC_QPM_STATE);
		KUNIT_EXPECT_NE(test,
				ornic_th_modify(&fix->a, 0, ORNIC_QPM_ECE), 0);
	}
	KUNIT_EXPECT_NE(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_ERR,
					ORNIC_QPM_STATE | ORNIC_QPM_ECE),
			0);
}

static const u32 rts = ORNIC_QPM_STATE | ORNIC_QPM_SQ_PSN | ORNIC_QPM_TIMEOUT |
		       ORNIC_QPM_RETRY_CNT | ORNIC_QPM_RNR_RETRY |
		       ORNIC_QPM_MAX_RD_ATOMIC;

/* What a host learns from the response of its peer, it can set with RTS. */
static void ece_with_rts(struct kunit *test)
{
	struct ornic_fixture *fix = open_init(test);

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	fix->a.conn.ece = agreed;
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_RTS,
					rts | ORNIC_QPM_ECE),
			0);
	KUNIT_EXPECT_TRUE(test, look(fix).flags & ORNIC_IQP_ECE);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_TRUE(test, fix->pkt.selective);
}

/* ---- A connection with selective repeat ------------------------------------ */

/*
 * The bit is sent from the first packet on. What a peer does that has not agreed, its
 * first response shows: more READs than it remembers would end the connection.
 */
static void ece_agreed(struct kunit *test)
{
	struct ornic_fixture *fix = open_with(test, agreed);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       3 * MTU);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_TRUE(test, fix->pkt.selective);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	sack(fix, 0, 4);
	KUNIT_EXPECT_TRUE(test, is_selective(fix));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 2, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

static void ece_agreed_by_one(struct kunit *test)
{
	struct ornic_fixture *fix = open_with(test, agreed);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_FALSE(test, is_selective(fix));
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_FALSE(test, fix->pkt.selective);
}

/* ---- A standard connection ------------------------------------------------- */

static void expect_standard(struct kunit *test, struct ornic_fixture *fix,
			    u8 syndrome)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.syndrome, syndrome);
	KUNIT_EXPECT_FALSE(test, fix->pkt.selective);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 0);
}

/* The bit of a peer means nothing (IBTA 9.2), and is never sent. */
static void ece_refused_as_responder(struct kunit *test)
{
	struct ornic_fixture *fix = open_with(test, refused);

	bit_request(fix, 0);
	expect_standard(test, fix, ACK);
	bit_request(fix, 2);
	expect_standard(test, fix, SEQ_NAK);
	bit_request(fix, 1);
	expect_standard(test, fix, ACK);
}

static void ece_refused_as_requester(struct kunit *test)
{
	struct ornic_fixture *fix = open_with(test, refused);
	u32 i;

	KUNIT_EXPECT_FALSE(test, is_selective(fix));
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       4 * MTU);
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_FALSE(test, fix->pkt.selective);
	}
	/* An ACK packet with payload is malformed; without, it is a NAK. */
	sack(fix, 1, 4);
	KUNIT_EXPECT_EQ(test, stat(fix, ORNIC_STAT_RX_MALFORMED), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	sack(fix, 1, 0);
	for (i = 1; i < 4; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i));
		KUNIT_EXPECT_FALSE(test, fix->pkt.selective);
	}
	KUNIT_EXPECT_FALSE(test, is_selective(fix));
}

/* A response to what came before, which the port has refused. */
static void ece_refused_meanwhile(struct kunit *test)
{
	struct ornic_fixture *fix = open_init(test);
	struct ornic_th *th = fix->pair.a;

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	th->xmit_fail = 1;
	bit_request(fix, 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	fix->a.conn.ece = refused;
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_RTS,
					rts | ORNIC_QPM_ECE),
			0);
	th->now += ORNIC_TH_MS;
	ornic_th_expire(th);
	expect_standard(test, fix, ACK);
}

/* Marks are told by CNP, as BECN in responses is for peers that know it. */
static void ece_refused_marks(struct kunit *test)
{
	struct ornic_fixture *fix = open_with(test, refused);

	fix->pair.a->marked = true;
	bit_request(fix, 0);
	KUNIT_EXPECT_EQ(test, stat(fix, ORNIC_STAT_NP_CNP_SENT), 1);
	while (ornic_fix_sent(fix))
		KUNIT_EXPECT_EQ(test, fix->pkt.becn,
				fix->pkt.opcode == ORNIC_CNP);
}

/* RESET forgets: the next connection finds out by itself. */
static void ece_reset(struct kunit *test)
{
	struct ornic_fixture *fix = open_with(test, refused);

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	fix->a.conn.has_ece = false;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_TRUE(test, fix->pkt.selective);
	KUNIT_EXPECT_FALSE(test, is_selective(fix));
}

static struct kunit_case ece_cases[] = { KUNIT_CASE_PARAM(ece_values,
							  value_gen_params),
					 KUNIT_CASE(ece_until_rts),
					 KUNIT_CASE(ece_with_rts),
					 KUNIT_CASE(ece_agreed),
					 KUNIT_CASE(ece_agreed_by_one),
					 KUNIT_CASE(ece_refused_as_responder),
					 KUNIT_CASE(ece_refused_as_requester),
					 KUNIT_CASE(ece_refused_meanwhile),
					 KUNIT_CASE(ece_refused_marks),
					 KUNIT_CASE(ece_reset),
					 {} };

static struct kunit_suite ece_suite = {
	.name = "ornic_ece",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = ece_cases,
};

kunit_test_suite(ece_suite);

MODULE_DESCRIPTION("ornic: suite of the options of a connection");
MODULE_LICENSE("Dual BSD/GPL");
