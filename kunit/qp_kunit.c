// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The state machine of a QP: transitions, attributes, draining, flushing. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define ACK 0x1f
#define NONE 0xff
#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD

static struct ornic_fixture *open_reset(struct kunit *test, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	fix->a.conn.dest_qpn = 0x123;
	return fix;
}

static struct ornic_fixture *open_rts(struct kunit *test, u8 type)
{
	struct ornic_fixture *fix = open_reset(test, type);

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

static void post_send(struct ornic_fixture *fix, u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, len);
}

static int status(struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&fix->ascq, &cqe);
}

static int recv_status(struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&fix->arcq, &cqe);
}

static int back_to_rts(struct ornic_fixture *fix)
{
	return ornic_th_modify(&fix->a, ORNIC_QPS_RTS, ORNIC_QPM_STATE);
}

/* ---- transitions ----------------------------------------------------------- */

/* Bring the QP to @state by the shortest legal way. */
static void bring_to(struct kunit *test, struct ornic_fixture *fix, u8 state)
{
	static const u8 way[] = { ORNIC_QPS_INIT, ORNIC_QPS_RTR,
				  ORNIC_QPS_RTS };
	struct ornic_th_wr bad = { .opcode = 0x7f };
	u32 i;

	ornic_th_to(&fix->a, ORNIC_QPS_RESET);
	if (state == ORNIC_QPS_ERR) {
		ornic_th_to(&fix->a, ORNIC_QPS_INIT);
		ornic_th_to(&fix->a, ORNIC_QPS_ERR);
	} else {
		for (i = 0; i < 3 && i < state; i++)
			ornic_th_to(&fix->a, way[i]);
	}
	if (state == ORNIC_QPS_SQD)
		ornic_th_to(&fix->a, ORNIC_QPS_SQD);
	if (state == ORNIC_QPS_SQE) {
		ornic_th_post_send(&fix->a, &bad);
		status(fix);
	}
	KUNIT_ASSERT_EQ(test, ornic_th_state(&fix->a), state);
}

/* IBTA 10.3.1, figure 124: row from, column to, bit of the types. */
#define A 7 /* all types */
#define NRC 6 /* not RC: SQE is for UC and UD */
/* clang-format off */
static const u8 legal[7][7] = {
	/*		RESET INIT RTR RTS SQD SQE ERR */
	/* RESET */	{ A,  A,   0,  0,  0,  0,  A },
	/* INIT */	{ A,  A,   A,  0,  0,  0,  A },
	/* RTR */	{ A,  0,   0,  A,  0,  0,  A },
	/* RTS */	{ A,  0,   0,  A,  A,  0,  A },
	/* SQD */	{ A,  0,   0,  A,  A,  0,  A },
	/* SQE */	{ NRC, 0,  0,  NRC, 0, 0,  NRC },
	/* ERR */	{ A,  0,   0,  0,  0,  0,  A },
};

/* clang-format on */

static const struct type_row {
	const char *desc;
	u8 type;
} type_rows[] = {
	{ "IBTA 10.3.1: RC", RC },
	{ "IBTA 10.3.1: UC", UC },
	{ "IBTA 10.3.1: UD", UD },
};

KUNIT_ARRAY_PARAM_DESC(type, type_rows, desc);

/* What INIT to RTR needs has no place in RTR to RTS, so each its own. */
static int try_transition(struct ornic_fixture *fix, u8 from, u8 to)
{
	u32 mask = ORNIC_QPM_STATE;

	if ((from == ORNIC_QPS_RTR && to == ORNIC_QPS_RTS) ||
	    (from == ORNIC_QPS_INIT && to == ORNIC_QPS_RTR) ||
	    (from == ORNIC_QPS_RESET && to == ORNIC_QPS_INIT))
		return ornic_th_to(&fix->a, to);
	return ornic_th_modify(&fix->a, to, mask);
}

static void qp_transitions(struct kunit *test)
{
	const struct type_row *row = test->param_value;
	struct ornic_fixture *fix = open_reset(test, row->type);
	u8 from, to, want;
	int got;

	for (from = 0; from < 7; from++) {
		for (to = 0; to < 7; to++) {
			if (from == ORNIC_QPS_SQE && row->type == RC)
				continue;
			bring_to(test, fix, from);
			want = legal[from][to] & 1 << (row->type - RC);
			got = try_transition(fix, from, to);
			KUNIT_EXPECT_EQ_MSG(test, !got, !!want,
					    "state %u to %u: status %d", from,
					    to, got);
			KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a),
					want ? to : from);
		}
	}
}

/* Each required attribute missing, and each foreign one added, is refused. */
static const struct mask_row {
	const char *desc;
	u8 type;
	u8 to;
	u32 required;
	u32 optional;
} mask_rows[] = {
	{ "IBTA table 91: RC to INIT", RC, ORNIC_QPS_INIT, ORNIC_QPM_ACCESS,
	  ORNIC_QPM_ECE | ORNIC_QPM_PKEY },
	{ "IBTA table 91: UC to INIT", UC, ORNIC_QPS_INIT, ORNIC_QPM_ACCESS,
	  ORNIC_QPM_PKEY },
	{ "IBTA table 91: UD to INIT", UD, ORNIC_QPS_INIT, ORNIC_QPM_QKEY,
	  ORNIC_QPM_PKEY },
	{ "IBTA table 91: RC to RTR", RC, ORNIC_QPS_RTR,
	  ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU | ORNIC_QPM_DEST_QPN |
		  ORNIC_QPM_RQ_PSN | ORNIC_QPM_MAX_DEST_RD_ATOMIC |
		  ORNIC_QPM_MIN_RNR_TIMER,
	  ORNIC_QPM_ACCESS | ORNIC_QPM_ECE | ORNIC_QPM_PKEY },
	{ "IBTA table 91: UC to RTR", UC, ORNIC_QPS_RTR,
	  ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU | ORNIC_QPM_DEST_QPN |
		  ORNIC_QPM_RQ_PSN,
	  ORNIC_QPM_ACCESS | ORNIC_QPM_PKEY },
	{ "IBTA table 91: UD to RTR", UD, ORNIC_QPS_RTR, 0,
	  ORNIC_QPM_QKEY | ORNIC_QPM_PKEY },
	{ "IBTA table 91: RC to RTS", RC, ORNIC_QPS_RTS,
	  ORNIC_QPM_SQ_PSN | ORNIC_QPM_TIMEOUT | ORNIC_QPM_RETRY_CNT |
		  ORNIC_QPM_RNR_RETRY | ORNIC_QPM_MAX_RD_ATOMIC,
	  ORNIC_QPM_ACCESS | ORNIC_QPM_MIN_RNR_TIMER | ORNIC_QPM_ECE },
	{ "IBTA table 91: UC to RTS", UC, ORNIC_QPS_RTS, ORNIC_QPM_SQ_PSN,
	  ORNIC_QPM_ACCESS },
	{ "IBTA table 91: UD to RTS", UD, ORNIC_QPS_RTS, ORNIC_QPM_SQ_PSN,
	  ORNIC_QPM_QKEY },
};

KUNIT_ARRAY_PARAM_DESC(mask, mask_rows, desc);

static void qp_masks(struct kunit *test)
{
	const struct mask_row *row = test->param_value;
	struct ornic_fixture *fix = open_reset(test, row->type);
	u32 bit, full = ORNIC_QPM_STATE | row->required;

	bring_to(test, fix, row->to - 1);
	for (bit = ORNIC_QPM_ACCESS; bit <= ORNIC_QPM_RATE_LIMIT; bit <<= 1) {
		if (bit == ORNIC_QPM_CUR_STATE)
			continue;
		if (!(bit & (row->required | row->optional)))
			KUNIT_EXPECT_NE_MSG(test,
					    ornic_th_modify(&fix->a, row->to,
							    full | bit),
					    0, "foreign bit 0x%x", bit);
		if (bit & row->required)
			KUNIT_EXPECT_NE_MSG(test,
					    ornic_th_modify(&fix->a, row->to,
							    full & ~bit),
					    0, "missing bit 0x%x", bit);
	}
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, row->to,
					(ORNIC_QPM_ALL + 1) | full),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), row->to - 1);
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, row->to, full), 0);
}

/* Values that are refused on the way INIT to RTR to RTS. */
static const struct value_row {
	const char *desc;
	u8 to;
	u32 field; /* offset of a byte in struct ornic_th_conn */
	u8 value;
} value_rows[] = {
	{ "access that is none", ORNIC_QPS_INIT,
	  offsetof(struct ornic_th_conn, access), 0x10 },
	{ "path MTU code 0", ORNIC_QPS_RTR, offsetof(struct ornic_th_conn, mtu),
	  0 },
	{ "path MTU code 6", ORNIC_QPS_RTR, offsetof(struct ornic_th_conn, mtu),
	  6 },
	{ "max_dest_rd_atomic 17", ORNIC_QPS_RTR,
	  offsetof(struct ornic_th_conn, max_dest_rd_atomic), 17 },
	{ "source GID that is not set", ORNIC_QPS_RTR,
	  offsetof(struct ornic_th_conn, av) +
		  offsetof(struct ornic_av, sgid_index),
	  100 },
	{ "source GID beyond the table", ORNIC_QPS_RTR,
	  offsetof(struct ornic_th_conn, av) +
		  offsetof(struct ornic_av, sgid_index),
	  128 },
	{ "source GID of the other family", ORNIC_QPS_RTR,
	  offsetof(struct ornic_th_conn, av) +
		  offsetof(struct ornic_av, sgid_index),
	  ORNIC_TH_IPV6 },
	{ "max_rd_atomic 129", ORNIC_QPS_RTS,
	  offsetof(struct ornic_th_conn, max_rd_atomic), 129 },
};

KUNIT_ARRAY_PARAM_DESC(value, value_rows, desc);

static void qp_values(struct kunit *test)
{
	const struct value_row *row = test->param_value;
	struct ornic_fixture *fix = open_reset(test, RC);
	u8 *field = (u8 *)&fix->a.conn + row->field;
	u8 good = *field;

	bring_to(test, fix, row->to - 1);
	*field = row->value;
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, row->to), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), row->to - 1);
	*field = good;
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, row->to), 0);
}

/* QUERY_QP gives back what MODIFY_QP took. */
static void qp_query(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);
	struct ornic_rsp_query_qp q;

	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, q.retry_cnt, 7);
	KUNIT_EXPECT_EQ(test, q.rnr_retry, 7);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.rq_psn_rnr), 0x1fffffe);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.sq_psn_timeout), 0xafffffe);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.dest_qpn_mtu), 0x3000123);
	KUNIT_EXPECT_EQ(test, q.access, ORNIC_ACCESS_MASK);
	KUNIT_EXPECT_EQ(test, q.max_rd_atomic, 4);
	KUNIT_EXPECT_EQ(test, q.max_dest_rd_atomic, 4);
	KUNIT_EXPECT_MEMEQ(test, &q.av, &fix->a.conn.av, sizeof(q.av));
}

/* QUERY_QP tells what @conn has. */
static void expect_attrs(struct kunit *test, struct ornic_fixture *fix,
			 const struct ornic_th_conn *conn)
{
	struct ornic_rsp_query_qp q;

	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_EQ(test, q.retry_cnt, conn->retry_cnt);
	KUNIT_EXPECT_EQ(test, q.rnr_retry, conn->rnr_retry);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.rq_psn_rnr),
			conn->rq_psn | (u32)conn->min_rnr_timer << 24);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.sq_psn_timeout),
			conn->sq_psn | (u32)conn->timeout << 24);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.dest_qpn_mtu),
			conn->dest_qpn | (u32)conn->mtu << 24);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.qkey_ece), 0);
	KUNIT_EXPECT_EQ(test, q.access, conn->access);
	KUNIT_EXPECT_EQ(test, q.max_rd_atomic, conn->max_rd_atomic);
	KUNIT_EXPECT_EQ(test, q.max_dest_rd_atomic, conn->max_dest_rd_atomic);
	KUNIT_EXPECT_MEMEQ(test, &q.av, &conn->av, sizeof(q.av));
}

#define ATTR(name, field)                                         \
	{                                                         \
#name, ORNIC_QPM_##name,                          \
			offsetof(struct ornic_th_conn, field),    \
			sizeof_field(struct ornic_th_conn, field) \
	}

/* What SQD lets change (IBTA table 94), each alone. */
static const struct attr_row {
	const char *desc;
	u32 mask;
	u32 field, size;
} attr_rows[] = {
	{ "none", 0, 0, 0 },
	ATTR(ACCESS, access),
	ATTR(AV, av),
	ATTR(TIMEOUT, timeout),
	ATTR(RETRY_CNT, retry_cnt),
	ATTR(RNR_RETRY, rnr_retry),
	ATTR(MIN_RNR_TIMER, min_rnr_timer),
	ATTR(MAX_RD_ATOMIC, max_rd_atomic),
	ATTR(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
};

KUNIT_ARRAY_PARAM_DESC(attr, attr_rows, desc);

/* MODIFY_QP changes what the mask names; the other fields mean nothing. */
static void qp_modifies_what_is_named(struct kunit *test)
{
	const struct attr_row *row = test->param_value;
	struct ornic_fixture *fix = open_reset(test, RC);
	struct ornic_th_conn *conn = &fix->a.conn, want;

	bring_to(test, fix, ORNIC_QPS_SQD);
	want = *conn;
	expect_attrs(test, fix, &want);
	ornic_th_av(&conn->av, 8, ORNIC_TH_IPV6);
	conn->dest_qpn = 0x321;
	conn->sq_psn = 5;
	conn->rq_psn = 6;
	conn->qkey = 7;
	conn->mtu = 2;
	conn->access = ORNIC_ACCESS_LOCAL_WRITE;
	conn->timeout = 3;
	conn->retry_cnt = 2;
	conn->rnr_retry = 4;
	conn->min_rnr_timer = 9;
	conn->max_rd_atomic = 1;
	conn->max_dest_rd_atomic = 3;
	memcpy((u8 *)&want + row->field, (u8 *)conn + row->field, row->size);
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE | row->mask),
			0);
	expect_attrs(test, fix, &want);
}

/* CUR_STATE that is not the state refuses the command. */
static void qp_cur_state(struct kunit *test)
{
	struct ornic_fixture *fix = open_reset(test, RC);
	u32 mask = ORNIC_QPM_STATE | ORNIC_QPM_CUR_STATE;

	bring_to(test, fix, ORNIC_QPS_RTS);
	KUNIT_EXPECT_NE(test,
			ornic_th_modify(&fix->a,
					ORNIC_QPS_RTS | ORNIC_QPS_SQD << 4,
					mask),
			0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a,
					ORNIC_QPS_RTS | ORNIC_QPS_RTS << 4,
					mask),
			0);
}

/* ---- draining -------------------------------------------------------------- */

/* IBTA 10.3.1.5: SQD finishes what was begun, begins nothing, and tells. */
static void qp_sqd_drains(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);
	u32 *drained = &fix->pair.a->event_count[ORNIC_EVENT_SQ_DRAINED];
	struct ornic_rsp_query_qp q;

	fix->pair.a->tx_window = 1;
	post_send(fix, 2048);
	post_send(fix, 4);
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE | ORNIC_QPM_SQD_NOTIFY),
			0);
	KUNIT_EXPECT_GE(test, ornic_fix_drain(fix), 2);
	ornic_th_query(&fix->a, &q);
	KUNIT_EXPECT_EQ(test, q.sq_draining, 1);
	KUNIT_EXPECT_EQ(test, *drained, 0);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 1, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, *drained, 1);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	ornic_th_query(&fix->a, &q);
	KUNIT_EXPECT_EQ(test, q.sq_draining, 0);
	post_send(fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, back_to_rts(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
}

/* IBTA 10.3.1.5: what is being sent keeps its path and its resources. */
static void qp_sqd_keeps_attributes(struct kunit *test)
{
	static const u32 masks[] = { ORNIC_QPM_AV, ORNIC_QPM_MAX_RD_ATOMIC,
				     ORNIC_QPM_MAX_DEST_RD_ATOMIC };
	struct ornic_fixture *fix = open_rts(test, RC);
	u32 i;

	post_send(fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	for (i = 0; i < ARRAY_SIZE(masks); i++)
		KUNIT_EXPECT_EQ(test,
				ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
						ORNIC_QPM_STATE | masks[i]),
				ORNIC_BAD_STATE);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE | ORNIC_QPM_ACCESS),
			0);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	for (i = 0; i < ARRAY_SIZE(masks); i++)
		KUNIT_EXPECT_EQ(test,
				ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
						ORNIC_QPM_STATE | masks[i]),
				0);
}

/* IBTA table 94: UC may change its path, UD its Q_Key, and no more. */
static void qp_sqd_of_uc_and_ud(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, UC);
	u8 sqd = ORNIC_QPS_SQD;

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, sqd), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, sqd,
					ORNIC_QPM_STATE | ORNIC_QPM_AV),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, sqd,
					ORNIC_QPM_STATE | ORNIC_QPM_TIMEOUT),
			ORNIC_BAD_PARAM);
	ornic_fix_close(fix);
	fix = open_rts(test, UD);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, sqd), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, sqd,
					ORNIC_QPM_STATE | ORNIC_QPM_QKEY),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, sqd,
					ORNIC_QPM_STATE | ORNIC_QPM_ACCESS),
			ORNIC_BAD_PARAM);
}

/* With nothing begun SQD is drained at once, and in silence unless asked. */
static void qp_sqd_idle(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);
	u32 *drained = &fix->pair.a->event_count[ORNIC_EVENT_SQ_DRAINED];

	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	KUNIT_EXPECT_EQ(test, *drained, 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTS),
			ORNIC_BAD_PARAM); /* SQ_PSN */
	KUNIT_EXPECT_EQ(test, back_to_rts(fix), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE | ORNIC_QPM_SQD_NOTIFY),
			0);
	KUNIT_EXPECT_EQ(test, *drained, 1);
}

/*
 * Packets that asked for no ACK since more was to follow: entering SQD makes
 * the peer answer them, or the drain would wait for the timer.
 */
static void qp_sqd_asks_for_acks(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);
	u32 i;

	fix->pair.a->tx_window = 0;
	post_send(fix, 1024);
	post_send(fix, 1024);
	fix->pair.a->tx_window = 1;
	ornic_th_kick(&fix->a);
	ornic_th_to(&fix->a, ORNIC_QPS_SQD);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i / 2));
		KUNIT_EXPECT_EQ(test, fix->pkt.ack_req, i > 0);
	}
}

/* ---- errors and flushes ---------------------------------------------------- */

/*
 * Only the last packet goes again to ask for an ACK, and a READ before it counts
 * until its response is there (IBTA 10.8.3.3).
 */
static void qp_sqd_asks_after_a_read(struct kunit *test)
{
	static const u32 psns[] = { 0, 1, 1, 2 };
	struct ornic_fixture *fix = open_rts(test, RC);
	u8 data[8] = { 0 };
	u32 i;

	fix->pair.a->tx_window = 0;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 8, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 8, 8);
	fix->pair.a->tx_window = 2;
	ornic_th_kick(&fix->a);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn,
				ornic_psn_add(PSN, psns[i]));
		KUNIT_EXPECT_EQ(test, fix->pkt.ack_req, i != 1);
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, ACK, data, 8);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 2, ACK, NULL, 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_ASSERT_EQ(test, back_to_rts(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, ORNIC_WQE_FENCE,
		       0, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

static const struct flush_row {
	const char *desc;
	u8 type;
	u8 from;
} flush_rows[] = {
	{ "IBTA 10.3.1.6: RC, INIT", RC, ORNIC_QPS_INIT },
	{ "IBTA 10.3.1.6: RC, RTR", RC, ORNIC_QPS_RTR },
	{ "IBTA 10.3.1.6: RC, RTS", RC, ORNIC_QPS_RTS },
	{ "IBTA 10.3.1.6: RC, SQD", RC, ORNIC_QPS_SQD },
	{ "IBTA 10.3.1.6: UC, INIT", UC, ORNIC_QPS_INIT },
	{ "IBTA 10.3.1.6: UC, SQD", UC, ORNIC_QPS_SQD },
	{ "IBTA 10.3.1.6: UD, INIT", UD, ORNIC_QPS_INIT },
	{ "IBTA 10.3.1.6: UD, RTR", UD, ORNIC_QPS_RTR },
};

KUNIT_ARRAY_PARAM_DESC(flush, flush_rows, desc);

/* ERR flushes both queues in order, also what is posted afterwards. */
static void qp_err_flushes(struct kunit *test)
{
	const struct flush_row *row = test->param_value;
	struct ornic_fixture *fix = open_reset(test, row->type);
	struct ornic_cqe cqe;
	u32 i;

	bring_to(test, fix, row->from);
	for (i = 0; i < 5; i++) {
		post_send(fix, 2000);
		ornic_fix_recv(&fix->a, &fix->am, 100 + i, 0, 64);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	for (i = 5; i < 8; i++) {
		post_send(fix, 4);
		ornic_fix_recv(&fix->a, &fix->am, 100 + i, 0, 64);
	}
	ornic_th_run(fix->pair.a);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				ORNIC_CQE_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.wqe_index), i);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe),
				ORNIC_CQE_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 100 + i);
	}
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	KUNIT_EXPECT_EQ(test, recv_status(fix), NONE);
}

/* Flushes of a ring that is refilled all the time end, and lose nothing. */
static void qp_err_flush_goes_on(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);
	u32 i;

	ornic_th_to(&fix->a, ORNIC_QPS_ERR);
	for (i = 0; i < 100; i++) {
		post_send(fix, 4);
		ornic_fix_recv(&fix->a, &fix->am, i, 0, 4);
		ornic_th_run(fix->pair.a);
		KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, recv_status(fix), ORNIC_CQE_WR_FLUSH_ERR);
	}
}

/* IBTA 10.3.1.7: SQE flushes sends, receives live on, RTS brings it back. */
static void qp_sqe(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, UD);
	struct ornic_th_wr bad = { .opcode = 0x7f };
	struct ornic_txinfo info = {
		.opcode = ORNIC_UD | ORNIC_OP_SEND_ONLY,
		.src_qpn = 0x123,
		.qkey = 0x1234,
	};
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 4);
	struct ornic_th_wr wr = {
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = 0x123,
		.flags = ORNIC_WQE_SIGNALED,
	};

	ornic_fix_recv(&fix->a, &fix->am, 1, 0, 64);
	ornic_th_post_send(&fix->a, &bad);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_SQE);
	ornic_th_ah(fix->pair.a, &fix->a.conn.av, &wr.ah);
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, recv_status(fix), NONE);
	ornic_th_inject(&fix->a, &info, fix->buf, 10);
	KUNIT_EXPECT_EQ(test, recv_status(fix), 0);
	KUNIT_EXPECT_EQ(test, back_to_rts(fix), 0);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
}

/*
 * RESET forgets: rings begin at 0, no completion of before, no timer acts. The
 * first send needs a kick, receives need none.
 */
static void qp_reset(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);
	struct ornic_wq_record *sq, *rq;

	sq = (struct ornic_wq_record *)(fix->a.mem + ORNIC_SQ_RECORD);
	rq = (struct ornic_wq_record *)(fix->a.mem + ORNIC_RQ_RECORD);
	post_send(fix, 4);
	ornic_fix_recv(&fix->a, &fix->am, 1, 0, 64);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	sq->kick_wanted = 0;
	rq->kick_wanted = cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sq->kick_wanted), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rq->kick_wanted), 0);
	fix->pair.a->now += 10000 * ORNIC_TH_MS;
	ornic_th_expire(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	KUNIT_EXPECT_EQ(test, recv_status(fix), NONE);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post_send(fix, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_SEND_ONLY);
}

#define PART(field)                                          \
	{                                                    \
#field, offsetof(struct ornic_qp, field),    \
			sizeof_field(struct ornic_qp, field) \
	}

/* clang-format off */
/* What a connection leaves, which the next one must not find. */
static const struct part_row {
	const char *desc;
	u32 at, size;
} part_rows[] = {
	PART(sq.fetched), PART(sq.seen), PART(sq.cur), PART(sq.tail),
	PART(sq.rd_out), PART(sq.unacked_pkts), PART(sq.rtt.last),
	PART(sq.rtt.smooth), PART(sq.selective), PART(sq.gaps.open),
	PART(sq.gaps.used), PART(sq.gaps.own), PART(sq.gaps.late.ns),
	PART(sq.gaps.due_limit),
	PART(sq.retry.recover_until),
	PART(sq.retry.grace_used), PART(sq.retry.rnr_waits),
	PART(sq.retry.nak_held), PART(sq.wait), PART(sq.draining),
	PART(sq.probe), PART(sq.broken), PART(sq.deadline),
	PART(sq.backoff.until), PART(sq.backoff.tries), PART(rq.fetched),
	PART(rq.msn), PART(rq.msg), PART(rq.received), PART(rq.rd_head),
	PART(rq.rd_tail), PART(rq.rwqe.valid), PART(rq.nak_sent),
	PART(rq.selective), PART(rq.ahead.late.ns), PART(rq.ahead.nak_at),
	PART(rq.ahead.late.judged), PART(rq.ahead.refused),
	PART(rq.comm_est), PART(rq.ack_due), PART(rq.reads_out),
	PART(rq.dead), PART(rq.dead_until),
	PART(rq.last_wqe), PART(rq.broken), PART(rq.backoff.until),
	PART(rq.backoff.tries), PART(ece), PART(has_ece), PART(standard),
	PART(pkey_index),
};

/* clang-format on */

KUNIT_ARRAY_PARAM_DESC(part, part_rows, desc);

static void qp_reset_clears(struct kunit *test)
{
	const struct part_row *row = test->param_value;
	struct ornic_fixture *fix = open_rts(test, RC);
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	memset((u8 *)qp + row->at, 1, row->size);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	for (i = 0; i < row->size; i++)
		KUNIT_ASSERT_EQ(test, ((u8 *)qp)[row->at + i], 0);
}

/* WQEs posted before RTS go out when it is reached (sends) or count (recvs). */
static void qp_early_posts(struct kunit *test)
{
	struct ornic_fixture *fix = open_reset(test, RC);

	bring_to(test, fix, ORNIC_QPS_INIT);
	ornic_fix_recv(&fix->a, &fix->am, 1, 0, 64);
	bring_to(test, fix, ORNIC_QPS_RTR);
	post_send(fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTS), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* Destroying a QP in mid-message leaves nothing that could fire. */
static void qp_destroy_busy(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test, RC);

	fix->pair.a->tx_window = 1;
	post_send(fix, 8192);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&fix->ascq), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	KUNIT_EXPECT_NULL(test, fix->pair.a->hqps);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&fix->ascq), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_kick(fix->pair.a->eng, fix->a.qpn, 1000),
			ORNIC_RUN_IDLE);
	ornic_engine_expire(fix->pair.a->eng, fix->a.qpn);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE_PARAM(qp_transitions, type_gen_params),
	KUNIT_CASE_PARAM(qp_masks, mask_gen_params),
	KUNIT_CASE_PARAM(qp_values, value_gen_params),
	KUNIT_CASE(qp_query),
	KUNIT_CASE_PARAM(qp_modifies_what_is_named, attr_gen_params),
	KUNIT_CASE(qp_cur_state),
	KUNIT_CASE(qp_sqd_drains),
	KUNIT_CASE(qp_sqd_keeps_attributes),
	KUNIT_CASE(qp_sqd_of_uc_and_ud),
	KUNIT_CASE(qp_sqd_idle),
	KUNIT_CASE(qp_sqd_asks_for_acks),
	KUNIT_CASE(qp_sqd_asks_after_a_read),
	KUNIT_CASE_PARAM(qp_err_flushes, flush_gen_params),
	KUNIT_CASE(qp_err_flush_goes_on),
	KUNIT_CASE(qp_sqe),
	KUNIT_CASE(qp_reset),
	KUNIT_CASE_PARAM(qp_reset_clears, part_gen_params),
	KUNIT_CASE(qp_early_posts),
	KUNIT_CASE(qp_destroy_busy),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "ornic_qp",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);

MODULE_DESCRIPTION("ornic: QP state machine suite");
MODULE_LICENSE("Dual BSD/GPL");
