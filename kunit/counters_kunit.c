// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Counter sets of QPs, and optional counters: exact, and each event once. */
#include <kunit/test.h>

#include "suite_fixture.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD

struct counters_fixture {
	struct ornic_fixture fix;
	__le64 *values;
};

static_assert(offsetof(struct counters_fixture, fix) == 0);

static int counters_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct counters_fixture));
}

static struct counters_fixture *open_fix(struct kunit *test,
					 enum ornic_fix_kind kind, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct counters_fixture *st = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&st->fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&st->fix), 0);
	st->values =
		(__le64 *)ornic_th_alloc(st->fix.pair.a, 8 * ORNIC_STAT_COUNT);
	KUNIT_ASSERT_NOT_NULL(test, st->values);
	return st;
}

static u32 make_set(struct kunit *test, struct ornic_th *th)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_COUNTERS;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_OK);
	return le32_to_cpu(rsp.hdr.obj);
}

static int bind(struct ornic_th *th, u32 qpn, u32 set)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.bind_counters.hdr.opcode = ORNIC_CMD_BIND_COUNTERS;
	req.bind_counters.hdr.obj = cpu_to_le32(qpn);
	req.bind_counters.counters = cpu_to_le32(set);
	return ornic_th_cmd(th, &req, &rsp);
}

static int destroy_set(struct ornic_th *th, u32 set)
{
	return ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_COUNTERS, set);
}

static int optional(struct ornic_th *th, u64 mask)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.modify_stats.hdr.opcode = ORNIC_CMD_MODIFY_STATS;
	req.modify_stats.optional = cpu_to_le64(mask);
	return ornic_th_cmd(th, &req, &rsp);
}

/* Counter @stat of @set of the harness, by command, as the driver reads it. */
static u64 value(struct counters_fixture *st, struct ornic_th *th, u32 set,
		 enum ornic_stat stat)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.query_stats.hdr.opcode = ORNIC_CMD_QUERY_STATS;
	req.query_stats.hdr.obj = cpu_to_le32(set);
	req.query_stats.addr = cpu_to_le64((u64)(uintptr_t)st->values);
	req.query_stats.count = cpu_to_le32(ORNIC_STAT_COUNT);
	if (ornic_th_cmd(th, &req, &rsp))
		return U64_MAX;
	return le64_to_cpu(st->values[stat]);
}

/* @n messages of @opcode with @len bytes each, from a to b. */
static void traffic(struct ornic_fixture *fix, u8 opcode, u32 n, u32 len)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (opcode == ORNIC_WQE_SEND)
			ornic_fix_recv(&fix->b, &fix->bm, i, 0, len);
		ornic_fix_post(&fix->a, &fix->am,
			       opcode == ORNIC_WQE_SEND ? NULL : &fix->bm,
			       opcode, 0, 0, len);
		ornic_th_kick(&fix->a);
		ornic_th_settle(&fix->pair);
	}
}

static const struct value_row {
	const char *desc;
	enum ornic_fix_kind kind;
	bool at_b;
	enum ornic_stat stat;
	u64 value; /* of 5 SENDs of 3000 bytes at a path MTU of 1024 */
} value_rows[] = {
	{ "WQEs sent", ORNIC_FIX_WIRE, false, ORNIC_STAT_SEND_WQES, 5 },
	{ "packets sent", ORNIC_FIX_WIRE, false, ORNIC_STAT_TX_PACKETS, 15 },
	{ "bytes sent", ORNIC_FIX_WIRE, false, ORNIC_STAT_TX_BYTES, 15000 },
	{ "ACKs received", ORNIC_FIX_WIRE, false, ORNIC_STAT_ACKS_RCVD, 5 },
	{ "packets with ACKs", ORNIC_FIX_WIRE, false, ORNIC_STAT_RX_PACKETS,
	  5 },
	{ "completions of sends", ORNIC_FIX_WIRE, false, ORNIC_STAT_CQES, 5 },
	{ "WQEs received", ORNIC_FIX_WIRE, true, ORNIC_STAT_RECV_WQES, 5 },
	{ "packets received", ORNIC_FIX_WIRE, true, ORNIC_STAT_RX_PACKETS, 15 },
	{ "bytes received", ORNIC_FIX_WIRE, true, ORNIC_STAT_RX_BYTES, 15000 },
	{ "ACKs sent", ORNIC_FIX_WIRE, true, ORNIC_STAT_ACKS_SENT, 5 },
	{ "completions of receives", ORNIC_FIX_WIRE, true, ORNIC_STAT_CQES, 5 },
	{ "loopback messages", ORNIC_FIX_LOOP, false, ORNIC_STAT_LOOP_MSGS, 5 },
	{ "loopback bytes", ORNIC_FIX_LOOP, false, ORNIC_STAT_LOOP_BYTES,
	  15000 },
	{ "loopback receives", ORNIC_FIX_LOOP, true, ORNIC_STAT_RECV_WQES, 5 },
};

KUNIT_ARRAY_PARAM_DESC(value, value_rows, desc);

/* In the set, and not in the device's counters; back there after unbinding. */
static void set_counts_its_qp(struct kunit *test)
{
	const struct value_row *row = test->param_value;
	struct counters_fixture *st = open_fix(test, row->kind, RC);
	struct ornic_th_qp *qp = row->at_b ? &st->fix.b : &st->fix.a;
	struct ornic_th *th = qp->th;
	u32 set = make_set(test, th);
	u64 before;

	if (th != st->fix.pair.a) {
		st->values = (__le64 *)ornic_th_alloc(th, 8 * ORNIC_STAT_COUNT);
		KUNIT_ASSERT_NOT_NULL(test, st->values);
	}
	KUNIT_ASSERT_EQ(test, bind(th, qp->qpn, set), ORNIC_OK);
	before = value(st, th, 0, row->stat);
	traffic(&st->fix, ORNIC_WQE_SEND, 5, 3000);
	KUNIT_EXPECT_EQ(test, value(st, th, set, row->stat), row->value);
	if (row->kind == ORNIC_FIX_WIRE)
		KUNIT_EXPECT_EQ(test, value(st, th, 0, row->stat), before);
	KUNIT_EXPECT_EQ(test, destroy_set(th, set), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, bind(th, qp->qpn, 0), ORNIC_OK);
	before = value(st, th, 0, row->stat);
	traffic(&st->fix, ORNIC_WQE_SEND, 5, 3000);
	KUNIT_EXPECT_EQ(test, value(st, th, set, row->stat), row->value);
	KUNIT_EXPECT_GE(test, value(st, th, 0, row->stat) - before, row->value);
	KUNIT_EXPECT_EQ(test, destroy_set(th, set), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, value(st, th, set, row->stat), U64_MAX);
}

/* Two QPs may share a set, and a QP that goes lets go of it. */
static void set_is_shared(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct ornic_th *th = st->fix.pair.a;
	u32 set = make_set(test, th), other = make_set(test, th);

	KUNIT_EXPECT_NE(test, set, other);
	KUNIT_ASSERT_EQ(test, bind(th, st->fix.a.qpn, other), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, bind(th, st->fix.a.qpn, set), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, bind(th, st->fix.b.qpn, set), ORNIC_OK);
	traffic(&st->fix, ORNIC_WQE_SEND, 3, 100);
	KUNIT_EXPECT_EQ(test, value(st, th, set, ORNIC_STAT_CQES), 6);
	KUNIT_EXPECT_EQ(test, value(st, th, other, ORNIC_STAT_CQES), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_COUNTERS,
					     other),
			ORNIC_OK);
	ornic_th_qp_fini(&st->fix.a);
	KUNIT_EXPECT_EQ(test, destroy_set(th, set), ORNIC_BUSY);
	ornic_th_qp_fini(&st->fix.b);
	KUNIT_EXPECT_EQ(test, destroy_set(th, set), ORNIC_OK);
}

static void bind_checks(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct ornic_th *th = st->fix.pair.a;
	u32 set = make_set(test, th);
	int status;

	KUNIT_EXPECT_EQ(test, bind(th, st->fix.a.qpn, set + 1),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, bind(th, st->fix.a.qpn, U32_MAX),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, bind(th, U32_MAX, set), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, bind(th, U32_MAX, 0), ORNIC_NOT_FOUND);
	status = ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_COUNTERS, 0);
	KUNIT_EXPECT_EQ(test, status, ORNIC_NOT_FOUND);
}

static void sets_are_limited(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LOOP, RC);
	union ornic_req req;
	union ornic_rsp rsp;
	u32 n;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_COUNTERS;
	for (n = 0; !ornic_th_cmd(st->fix.pair.a, &req, &rsp); n++)
		;
	KUNIT_EXPECT_EQ(test, rsp.hdr.status, ORNIC_LIMIT);
	KUNIT_EXPECT_EQ(test, n, 1023);
}

/* ---- Optional counters --------------------------------------------------------- */

static const struct optional_row {
	const char *desc;
	u8 type;
	u8 opcode;
	u32 len;
	enum ornic_stat stat;
} optional_rows[] = {
	{ "SEND", RC, ORNIC_WQE_SEND, 3000, ORNIC_STAT_RX_SEND_REQUESTS },
	{ "WRITE", RC, ORNIC_WQE_WRITE, 3000, ORNIC_STAT_RX_WRITE_REQUESTS },
	{ "READ", RC, ORNIC_WQE_READ, 3000, ORNIC_STAT_RX_READ_REQUESTS },
	{ "CAS", RC, ORNIC_WQE_CAS, 8, ORNIC_STAT_RX_ATOMIC_REQUESTS },
	{ "FAA", RC, ORNIC_WQE_FAA, 8, ORNIC_STAT_RX_ATOMIC_REQUESTS },
};

KUNIT_ARRAY_PARAM_DESC(optional, optional_rows, desc);

static u64 all_requests(struct ornic_engine *eng)
{
	u64 sum = 0;
	u32 i;

	for (i = ORNIC_STAT_RX_SEND_REQUESTS; i <= ORNIC_STAT_CC_RX_CE_PKTS;
	     i++)
		sum += ornic_engine_stat(eng, i);
	return sum;
}

static void optional_counts_while_on(struct kunit *test)
{
	const struct optional_row *row = test->param_value;
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_WIRE, row->type);
	struct ornic_th *th = st->fix.pair.b;
	struct ornic_engine *eng = th->eng;
	u64 others;

	traffic(&st->fix, row->opcode, 2, row->len);
	KUNIT_EXPECT_EQ(test, all_requests(eng), 0);
	KUNIT_ASSERT_EQ(test, optional(th, 1ull << row->stat), ORNIC_OK);
	traffic(&st->fix, row->opcode, 3, row->len);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, row->stat), 3);
	KUNIT_EXPECT_EQ(test, all_requests(eng), 3);
	others = ORNIC_STATS_OPTIONAL & ~(1ull << row->stat);
	KUNIT_ASSERT_EQ(test, optional(th, others), ORNIC_OK);
	traffic(&st->fix, row->opcode, 4, row->len);
	KUNIT_EXPECT_EQ(test, all_requests(eng), 3);
}

static enum ornic_th_verdict mark_ce(struct ornic_th_pair *pair,
				     struct ornic_th *from,
				     struct ornic_th_frame *frame,
				     const struct ornic_pkt *pkt)
{
	/* TOS of IPv4; the ICRC takes it for ones. */
	if (from == pair->a) {
		frame->data[15] |= 3;
		frame->data[24] = 0;
		frame->data[25] = 0;
	}
	return ORNIC_TH_PASS;
}

/* RFC 3168: packets that a switch has marked. */
static void optional_counts_ce(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_WIRE, RC);
	struct ornic_engine *eng = st->fix.pair.b->eng;

	KUNIT_ASSERT_EQ(test,
			optional(st->fix.pair.b,
				 1ull << ORNIC_STAT_CC_RX_CE_PKTS),
			ORNIC_OK);
	traffic(&st->fix, ORNIC_WQE_WRITE, 1, 3000);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_CC_RX_CE_PKTS),
			0);
	st->fix.pair.filter = mark_ce;
	traffic(&st->fix, ORNIC_WQE_WRITE, 1, 3000);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_CC_RX_CE_PKTS),
			3);
}

static void optional_refuses_the_others(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LOOP, RC);
	u32 i;

	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, optional(st->fix.pair.a, 1ull << i),
				ORNIC_STATS_OPTIONAL & 1ull << i ?
					ORNIC_OK :
					ORNIC_BAD_PARAM);
}

/* ---- What goes wrong ------------------------------------------------------------ */

static const struct error_row {
	const char *desc;
	u8 type;
	u8 opcode;
	s32 n; /* PSN, from the expected one on */
	u32 off; /* in the MR */
	u32 times;
	enum ornic_stat stat;
	u64 value;
} error_rows[] = {
	{ "RNR NAKs", RC, ORNIC_OP_SEND_ONLY, 0, 0, 3, ORNIC_STAT_RNR_NAK_SENT,
	  3 },
	{ "sequence NAKs, one for a gap", RC, ORNIC_OP_WRITE_ONLY, 1, 0, 3,
	  ORNIC_STAT_SEQ_NAK_SENT, 1 },
	{ "packets after a gap", RC, ORNIC_OP_WRITE_ONLY, 1, 0, 3,
	  ORNIC_STAT_OUT_OF_SEQ, 3 },
	{ "packets after a gap, UC", UC, ORNIC_UC | ORNIC_OP_WRITE_ONLY, 1, 0,
	  1, ORNIC_STAT_OUT_OF_SEQ, 1 },
	{ "duplicates", RC, ORNIC_OP_WRITE_ONLY, -1, 0, 3,
	  ORNIC_STAT_DUPLICATES, 3 },
	{ "NAKs of errors, one for a QP", RC, ORNIC_OP_WRITE_ONLY, 0,
	  ORNIC_FIX_MR_BYTES, 3, ORNIC_STAT_ERR_NAK_SENT, 1 },
};

KUNIT_ARRAY_PARAM_DESC(error, error_rows, desc);

static void errors_of_requests_count(struct kunit *test)
{
	const struct error_row *row = test->param_value;
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, row->type);
	struct ornic_th *th = st->fix.pair.a;
	u32 set = make_set(test, th), i;

	KUNIT_ASSERT_EQ(test, bind(th, st->fix.a.qpn, set), ORNIC_OK);
	for (i = 0; i < row->times; i++) {
		ornic_fix_request(&st->fix, row->opcode, row->n, row->off, 8,
				  8);
		ornic_fix_drain(&st->fix);
	}
	KUNIT_EXPECT_EQ(test, value(st, th, set, row->stat), row->value);
}

static void errors_of_responses_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, RC);
	struct ornic_engine *eng = st->fix.pair.a->eng;

	ornic_fix_post(&st->fix.a, &st->fix.am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(&st->fix);
	ornic_fix_respond(&st->fix, ORNIC_OP_ACK, ORNIC_FIX_PSN,
			  ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_OP, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_ERR_NAK_RCVD),
			1);
}

#define SEQ_NAK (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)

/*
 * What requesters count under mlx5's names: sequence NAKs, whatever waits for a
 * response, and a READ response that a later response shows to be missing: once for
 * each time that it is asked for.
 */
static void losses_of_a_requester_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, RC);
	struct ornic_engine *eng = st->fix.pair.a->eng;
	struct ornic_fixture *fix = &st->fix;
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_fix_drain(fix);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN, SEQ_NAK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_SEQ_NAK_RCVD),
			1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN, 0x1f, NULL, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	for (i = 0; i < 4; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 8);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(eng, ORNIC_STAT_IMPLIED_NAK_SEQ_ERR),
			0);
	for (i = 2; i < 4; i++)
		ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN + i, 0x1f,
				  NULL, 0);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(eng, ORNIC_STAT_IMPLIED_NAK_SEQ_ERR),
			1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN + 4, SEQ_NAK, NULL,
			  0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_SEQ_NAK_RCVD),
			2);
}

/* The probe is a resend, and what follows it in vain is one after a timeout. */
static void early_resends_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, RC);
	struct ornic_th *th = st->fix.pair.a;
	u64 resends, late;
	u32 i;

	/* An ACK timeout far beyond. */
	ornic_th_to(&st->fix.a, ORNIC_QPS_RESET);
	st->fix.a.conn.timeout = 14;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&st->fix), 0);
	ornic_fix_post(&st->fix.a, &st->fix.am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(&st->fix);
	for (i = 1; i <= 3; i++) {
		do {
			th->now += ORNIC_TH_MS / 10;
			ornic_th_expire(th);
			ornic_th_run(th);
			resends = ornic_engine_stat(
				th->eng, ORNIC_STAT_ROCE_ADP_RETRANS);
		} while (resends < i);
		late = ornic_engine_stat(th->eng,
					 ORNIC_STAT_ROCE_ADP_RETRANS_TO);
		KUNIT_EXPECT_EQ(test, late, i - 1);
	}
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(th->eng, ORNIC_STAT_TIMEOUTS),
			0);
}

/* IBTA 9.6.1: a response from another address than the peer's is not its. */
static void responses_of_others_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, RC);
	struct ornic_engine *eng = st->fix.pair.a->eng;
	struct ornic_cqe cqe;

	ornic_fix_post(&st->fix.a, &st->fix.am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(&st->fix);
	ornic_th_av(&st->fix.a.conn.av, 8, ORNIC_TH_IPV4);
	ornic_fix_respond(&st->fix, ORNIC_OP_ACK, ORNIC_FIX_PSN, 0x1f, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BAD_ADDR),
			1);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_ACKS_RCVD), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0xff);
}

/* Who guesses PSNs of responses shows. */
static void responses_to_nothing_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, RC);
	struct ornic_engine *eng = st->fix.pair.a->eng;
	struct ornic_cqe cqe;

	ornic_fix_post(&st->fix.a, &st->fix.am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(&st->fix);
	ornic_fix_respond(&st->fix, ORNIC_OP_ACK, ORNIC_FIX_PSN - 1, 0x1f, NULL,
			  0);
	ornic_fix_respond(&st->fix, ORNIC_OP_ACK, ORNIC_FIX_PSN + 1, 0x1f, NULL,
			  0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BAD_PSN), 2);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0xff);
	ornic_fix_respond(&st->fix, ORNIC_OP_ACK, ORNIC_FIX_PSN, 0x1f, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BAD_PSN), 2);
}

/* A READ whose memory goes between its responses ends in one NAK. */
static void reads_that_lose_access_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LONE, RC);
	struct ornic_th *th = st->fix.pair.a;

	th->tx_window = 1;
	ornic_fix_request(&st->fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(&st->fix));
	KUNIT_EXPECT_EQ(test, st->fix.pkt.opcode, ORNIC_OP_READ_RESP_FIRST);
	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY,
					     st->fix.am.key),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(&st->fix),
			ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_ACCESS);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(&st->fix));
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th->eng, ORNIC_STAT_ERR_NAK_SENT), 1);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_QP_ACCESS_ERR], 1);
}

/* Another P_Key in the frames of a, which are IPv4, and the ICRC for it. */
static enum ornic_th_verdict change_pkey(struct ornic_th_pair *pair,
					 struct ornic_th *from,
					 struct ornic_th_frame *frame,
					 const struct ornic_pkt *pkt)
{
	u8 *ip = frame->data + 14, *bth = ip + 28, *end = bth + ORNIC_BTH_LEN;
	u8 *icrc = frame->data + frame->len - ORNIC_ICRC_LEN;
	const u8 *pkey = pair->ctx;
	__le32 sum;
	u32 crc;

	if (from != pair->a)
		return ORNIC_TH_PASS;
	memcpy(bth + 2, pkey, 2);
	crc = ornic_icrc_start(ip, false, bth, ORNIC_BTH_LEN);
	sum = ornic_icrc_finish(ornic_crc32(crc, end, icrc - end));
	memcpy(icrc, &sum, sizeof(sum));
	return ORNIC_TH_PASS;
}

/* IBTA 10.9.3: bit 15 is no part of what is compared. */
static void bad_pkeys_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_WIRE, RC);
	struct ornic_engine *eng = st->fix.pair.b->eng;
	u8 pkey[2] = { 0x7f, 0xff };
	struct ornic_cqe cqe;

	st->fix.pair.filter = change_pkey;
	st->fix.pair.ctx = pkey;
	traffic(&st->fix, ORNIC_WQE_WRITE, 1, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BAD_PKEY),
			0);
	pkey[1] = 0xfe;
	traffic(&st->fix, ORNIC_WQE_WRITE, 1, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&st->fix.ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BAD_PKEY),
			1);
}

/* What is for no QP has arrived all the same. */
static void strays_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_WIRE, RC);
	struct ornic_engine *eng = st->fix.pair.b->eng;

	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&st->fix.b), 0);
	traffic(&st->fix, ORNIC_WQE_WRITE, 1, 3000);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_PACKETS), 3);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_NO_QP), 3);
}

static void send_datagram(struct counters_fixture *st, u32 qpn, u32 qkey)
{
	struct ornic_lsge sge = ornic_fix_sge(&st->fix.am, 0, 100);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = qpn,
		.dest_qkey = qkey,
	};

	ornic_th_ah(st->fix.pair.a, &st->fix.a.conn.av, &wr.ah);
	ornic_th_post_send(&st->fix.a, &wr);
	ornic_th_settle(&st->fix.pair);
}

/* What is dropped is so at the receiver, as on the wire. */
static void datagrams_on_loopback_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LOOP, UD);
	struct ornic_th *th = st->fix.pair.a;
	u32 qkey = st->fix.b.conn.qkey, qpn = st->fix.b.qpn;
	u32 set = make_set(test, th);

	KUNIT_ASSERT_EQ(test, bind(th, qpn, set), ORNIC_OK);
	ornic_fix_recv(&st->fix.b, &st->fix.bm, 1, 0, 200);
	send_datagram(st, qpn, qkey ^ 1);
	KUNIT_EXPECT_EQ(test, value(st, th, set, ORNIC_STAT_RX_BAD_QKEY), 1);
	KUNIT_EXPECT_EQ(test, value(st, th, 0, ORNIC_STAT_LOOP_MSGS), 0);
	send_datagram(st, qpn, qkey);
	KUNIT_EXPECT_EQ(test, value(st, th, 0, ORNIC_STAT_LOOP_MSGS), 1);
	KUNIT_EXPECT_EQ(test, value(st, th, 0, ORNIC_STAT_LOOP_BYTES), 100);
	send_datagram(st, 0x123, qkey);
	KUNIT_EXPECT_EQ(test, value(st, th, 0, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&st->fix.b, ORNIC_QPS_RESET), 0);
	send_datagram(st, qpn, qkey);
	KUNIT_EXPECT_EQ(test, value(st, th, set, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_EQ(test, value(st, th, 0, ORNIC_STAT_LOOP_MSGS), 1);
}

static void bytes_of_reads_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_WIRE, RC);
	struct ornic_engine *eng = st->fix.pair.a->eng;

	traffic(&st->fix, ORNIC_WQE_READ, 2, 3000);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_BYTES),
			6000);
}

/* Also those of a QP that is not there, and those that name none. */
static void kicks_count(struct kunit *test)
{
	struct counters_fixture *st = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct ornic_engine *eng = st->fix.pair.a->eng;
	u64 before = ornic_engine_stat(eng, ORNIC_STAT_KICKS);

	ornic_engine_kick(eng, st->fix.a.qpn, 1000);
	ornic_engine_kick(eng, 0x123, 1000);
	ornic_engine_count_kick(eng);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_KICKS),
			before + 3);
	/* A run is none. */
	ornic_engine_run(eng, st->fix.a.qpn, 1000);
	ornic_engine_run(eng, 0x123, 1000);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_KICKS),
			before + 3);
}

static struct kunit_case counters_cases[] = {
	KUNIT_CASE_PARAM(set_counts_its_qp, value_gen_params),
	KUNIT_CASE(set_is_shared),
	KUNIT_CASE(bind_checks),
	KUNIT_CASE(sets_are_limited),
	KUNIT_CASE_PARAM(optional_counts_while_on, optional_gen_params),
	KUNIT_CASE(optional_counts_ce),
	KUNIT_CASE(optional_refuses_the_others),
	KUNIT_CASE_PARAM(errors_of_requests_count, error_gen_params),
	KUNIT_CASE(errors_of_responses_count),
	KUNIT_CASE(losses_of_a_requester_count),
	KUNIT_CASE(early_resends_count),
	KUNIT_CASE(responses_of_others_count),
	KUNIT_CASE(responses_to_nothing_count),
	KUNIT_CASE(reads_that_lose_access_count),
	KUNIT_CASE(bad_pkeys_count),
	KUNIT_CASE(strays_count),
	KUNIT_CASE(datagrams_on_loopback_count),
	KUNIT_CASE(bytes_of_reads_count),
	KUNIT_CASE(kicks_count),
	{}
};

static struct kunit_suite counters_suite = {
	.name = "ornic_counters",
	.init = counters_init,
	.exit = ornic_suite_exit,
	.test_cases = counters_cases,
};

kunit_test_suite(counters_suite);

MODULE_DESCRIPTION("ornic: counters suite");
MODULE_LICENSE("Dual BSD/GPL");
