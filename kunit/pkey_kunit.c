// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Partitions, IBTA 10.9: the table, which keys match, what is sent with which key, what
 * is dropped, and what becomes of QPs when the table changes.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD
#define XRC ORNIC_QPT_XRC_INI

#define FULL 0x8001
#define LIMITED 0x0001
#define OTHER 0x8002
#define NONE ORNIC_PKEY_NONE

/* Entries that the QPs a and b use. */
#define A_INDEX 1
#define B_INDEX 2

static u64 stat_of(const struct ornic_th *th, enum ornic_stat stat)
{
	return ornic_engine_stat(th->eng, stat);
}

static int set(const struct ornic_th *th, u32 index, u16 pkey)
{
	return ornic_engine_pkey_set(th->eng, index, pkey);
}

/* ---- which keys match ---------------------------------------------------------- */

static const struct match_row {
	const char *desc;
	u32 own, other;
	bool match;
} match_rows[] = {
	{ "the default key", 0xffff, 0xffff, true },
	{ "full and full", FULL, FULL, true },
	{ "full and limited", FULL, LIMITED, true },
	{ "limited and full", LIMITED, FULL, true },
	{ "limited and limited", LIMITED, LIMITED, false },
	{ "the default key, limited twice", 0x7fff, 0x7fff, false },
	{ "another partition", FULL, OTHER, false },
	{ "another, limited and full", LIMITED, OTHER, false },
	{ "full and no partition", FULL, 0x8000, false },
	{ "limited and no partition", LIMITED, 0x8000, false },
	{ "full and zero", FULL, 0, false },
	{ "nothing and zero", NONE, 0, false },
	{ "nothing and no partition", NONE, 0x8000, false },
	{ "nothing and a key", NONE, FULL, false },
	{ "nothing and nothing", NONE, NONE, false },
	{ "full and nothing", FULL, NONE, false },
	{ "limited and nothing", LIMITED, NONE, false },
};

KUNIT_ARRAY_PARAM_DESC(match, match_rows, desc);

/* IBTA 10.9.3 */
static void membership_decides(struct kunit *test)
{
	const struct match_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, ornic_pkeys_match(row->own, row->other),
			row->match);
}

/* IBTA 10.9.3, from its words: for each key those that it matches. */
static void no_other_keys_match(struct kunit *test)
{
	static const u16 own[] = { 1, 0x8001, 0x7fff, 0xffff, 0x5555, 0xd555 };
	u32 i, other, wrong = 0;
	bool want;

	for (i = 0; i < ARRAY_SIZE(own); i++) {
		for (other = 0; other <= 0xffff; other++) {
			want = (other & 0x7fff) == (own[i] & 0x7fff) &&
			       (other & 0x8000 || own[i] & 0x8000);
			if (ornic_pkeys_match(own[i], other) != want)
				wrong++;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* ---- the table ------------------------------------------------------------------- */

/* By command, as the driver reads it; -1: refused. */
static int query(struct ornic_th *th, u32 index)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_PKEY;
	req.hdr.obj = cpu_to_le32(index);
	if (ornic_th_cmd(th, &req, &rsp))
		return -1;
	return le16_to_cpu(rsp.query_pkey.pkey);
}

/* IBTA 10.9.1 */
static void table_has_the_default_key(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	union ornic_rsp rsp;
	union ornic_req req;
	u32 i, len;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(th, &req, &rsp), ORNIC_OK);
	KUNIT_EXPECT_TRUE(test,
			  le64_to_cpu(rsp.query_device.caps) & ORNIC_CAP_PKEY);
	len = rsp.query_device.pkey_table_len;
	KUNIT_EXPECT_EQ(test, len, ORNIC_PKEY_TABLE_LEN);
	KUNIT_EXPECT_LE(test, len, ORNIC_MAX_PKEYS);
	KUNIT_EXPECT_EQ(test, query(th, 0), 0xffff);
	for (i = 1; i < len; i++)
		KUNIT_EXPECT_EQ(test, query(th, i), 0);
	KUNIT_EXPECT_EQ(test, query(th, len), -1);
	KUNIT_EXPECT_EQ(test, query(th, U32_MAX), -1);
}

static void table_is_set(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	const u32 *events = &th->event_count[ORNIC_EVENT_PKEY_CHANGE];
	u32 last = ORNIC_PKEY_TABLE_LEN - 1;

	KUNIT_EXPECT_EQ(test, set(th, last, LIMITED), 0);
	KUNIT_EXPECT_EQ(test, query(th, last), LIMITED);
	KUNIT_EXPECT_EQ(test, ornic_engine_pkey_get(th->eng, last), LIMITED);
	KUNIT_EXPECT_EQ(test, *events, 1);
	/* Nothing has changed. */
	KUNIT_EXPECT_EQ(test, set(th, last, LIMITED), 0);
	KUNIT_EXPECT_EQ(test, *events, 1);
	KUNIT_EXPECT_EQ(test, set(th, last, 0), 0);
	KUNIT_EXPECT_EQ(test, query(th, last), 0);
	KUNIT_EXPECT_EQ(test, *events, 2);
	/* Full members of no partition. */
	KUNIT_EXPECT_EQ(test, set(th, 0, 0x8000), -EINVAL);
	KUNIT_EXPECT_EQ(test, set(th, last + 1, FULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, set(th, U32_MAX, FULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ornic_engine_pkey_get(th->eng, last + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, query(th, 0), 0xffff);
	KUNIT_EXPECT_EQ(test, *events, 2);
}

/* ---- the index of a QP ------------------------------------------------------------ */

static u32 index_of(struct ornic_th_qp *qp)
{
	struct ornic_rsp_query_qp rsp;

	if (ornic_th_query(qp, &rsp))
		return U32_MAX;
	return le32_to_cpu(rsp.dest_qpn_mtu) >> ORNIC_MODIFY_PKEY_SHIFT;
}

static const struct type_row {
	const char *desc;
	u8 type;
} type_rows[] = { { "RC", RC }, { "UC", UC }, { "UD", UD }, { "XRC", XRC } };

KUNIT_ARRAY_PARAM_DESC(type, type_rows, desc);

static void index_is_checked(struct kunit *test)
{
	const struct type_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = row->type };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qp *qp = &fix->a;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	qp->conn.pkey_index = ORNIC_PKEY_TABLE_LEN;
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_INIT), ORNIC_BAD_PARAM);
	qp->conn.pkey_index = ORNIC_MAX_PKEYS - 1;
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_INIT), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_state(qp), ORNIC_QPS_RESET);
	qp->conn.pkey_index = ORNIC_PKEY_TABLE_LEN - 1;
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_INIT), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, index_of(qp), ORNIC_PKEY_TABLE_LEN - 1);
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_RESET), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, index_of(qp), 0);
}

/* IBTA tables 91 to 95: until RTR, and in SQD when it is drained. */
static void index_changes_when_idle(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th_qp *qp = &fix->a;

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, FULL), 0);
	qp->conn.pkey_index = A_INDEX;
	KUNIT_EXPECT_EQ(test, ornic_th_modify(qp, 0, ORNIC_QPM_PKEY),
			ORNIC_BAD_PARAM);
	ornic_fix_post(qp, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(qp);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(qp, ORNIC_QPS_SQD, ORNIC_QPM_STATE), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_modify(qp, 0, ORNIC_QPM_PKEY),
			ORNIC_BAD_STATE);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN, 0x1f, NULL, 0);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_modify(qp, 0, ORNIC_QPM_PKEY), ORNIC_OK);
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(qp, ORNIC_QPS_RTS, ORNIC_QPM_STATE), 0);
	ornic_fix_post(qp, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(qp);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.pkey, FULL);
}

/* ---- what is checked --------------------------------------------------------------- */

/* P_Keys seen on the wire. */
struct seen {
	u32 frames, wrong;
	u16 of_a, of_b;
};

static enum ornic_th_verdict watch(struct ornic_th_pair *pair,
				   struct ornic_th *from,
				   struct ornic_th_frame *frame,
				   const struct ornic_pkt *pkt)
{
	struct seen *seen = pair->ctx;

	seen->frames++;
	if (pkt->pkey != (from == pair->a ? seen->of_a : seen->of_b))
		seen->wrong++;
	return ORNIC_TH_PASS;
}

/* QP a with entry A_INDEX of its device, b with B_INDEX. */
static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind,
				      const struct ornic_th_qpinit *init)
{
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, init), 0);
	fix->a.conn.pkey_index = A_INDEX;
	fix->b.conn.pkey_index = B_INDEX;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, 4096, 1);
	ornic_fix_recv(&fix->b, &fix->bm, 9, 0, 4096);
	return fix;
}

static void post_to_b(struct kunit *test, u8 opcode, u16 pkey_index)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 100);
	struct ornic_th_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
		.dest_qpn = fix->b.qpn,
		.dest_qkey = fix->b.conn.qkey,
		.pkey_index = pkey_index,
	};

	if (fix->a.type == UD)
		KUNIT_ASSERT_EQ(
			test, ornic_th_ah(fix->pair.a, &fix->a.conn.av, &wr.ah),
			0);
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_kick(&fix->a);
	ornic_th_settle(&fix->pair);
}

static const struct check_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 type;
	u16 a, b;
	bool arrives;
} check_rows[] = {
	{ "RC, full", ORNIC_FIX_WIRE, RC, FULL, FULL, true },
	{ "RC, limited to full", ORNIC_FIX_WIRE, RC, LIMITED, FULL, true },
	{ "RC, full to limited", ORNIC_FIX_WIRE, RC, FULL, LIMITED, true },
	{ "RC, limited", ORNIC_FIX_WIRE, RC, LIMITED, LIMITED, false },
	{ "RC, partitions", ORNIC_FIX_WIRE, RC, FULL, OTHER, false },
	{ "RC, none", ORNIC_FIX_WIRE, RC, FULL, 0, false },
	{ "UC, limited to full", ORNIC_FIX_WIRE, UC, LIMITED, FULL, true },
	{ "UC, limited", ORNIC_FIX_WIRE, UC, LIMITED, LIMITED, false },
	{ "UC, partitions", ORNIC_FIX_WIRE, UC, FULL, OTHER, false },
	{ "UD, limited to full", ORNIC_FIX_WIRE, UD, LIMITED, FULL, true },
	{ "UD, limited", ORNIC_FIX_WIRE, UD, LIMITED, LIMITED, false },
	{ "UD, partitions", ORNIC_FIX_WIRE, UD, FULL, OTHER, false },
	{ "UD, none", ORNIC_FIX_WIRE, UD, FULL, 0, false },
	{ "RC on a device, limited to full", ORNIC_FIX_LOOP, RC, LIMITED, FULL,
	  true },
	{ "RC on a device, limited", ORNIC_FIX_LOOP, RC, LIMITED, LIMITED,
	  false },
	{ "RC on a device, partitions", ORNIC_FIX_LOOP, RC, FULL, OTHER,
	  false },
	{ "RC on a device, none", ORNIC_FIX_LOOP, RC, FULL, 0, false },
	{ "UC on a device, partitions", ORNIC_FIX_LOOP, UC, FULL, OTHER,
	  false },
	{ "UD on a device, full to limited", ORNIC_FIX_LOOP, UD, FULL, LIMITED,
	  true },
	{ "UD on a device, limited", ORNIC_FIX_LOOP, UD, LIMITED, LIMITED,
	  false },
	{ "UD on a device, partitions", ORNIC_FIX_LOOP, UD, FULL, OTHER,
	  false },
	{ "RC to a peer engine, limited to full", ORNIC_FIX_PEER, RC, LIMITED,
	  FULL, true },
	{ "RC to a peer engine, partitions", ORNIC_FIX_PEER, RC, FULL, OTHER,
	  false },
	{ "UD to a peer engine, full", ORNIC_FIX_PEER, UD, FULL, FULL, true },
	{ "UD to a peer engine, limited", ORNIC_FIX_PEER, UD, LIMITED, LIMITED,
	  false },
};

KUNIT_ARRAY_PARAM_DESC(check, check_rows, desc);

/* IBTA 9.6.1.1.1: dropped without a response, and counted. */
static void requests_are_checked(struct kunit *test)
{
	const struct check_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = row->type };
	struct ornic_fixture *fix = open_fix(test, row->kind, &init);
	struct seen seen = { .of_a = row->a, .of_b = row->b };
	bool completes = row->arrives || row->type != RC;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, row->a), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.b, B_INDEX, row->b), 0);
	fix->pair.filter = watch;
	fix->pair.ctx = &seen;
	post_to_b(test, ORNIC_WQE_SEND, 0);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_PKEY),
			row->arrives ? 0 : 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			completes ? ORNIC_CQE_SUCCESS : 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
			row->arrives ? ORNIC_CQE_SUCCESS : 0xff);
	if (row->arrives && row->type == UD)
		KUNIT_EXPECT_EQ(test, cqe.pkey_index, B_INDEX);
	KUNIT_EXPECT_EQ(test, seen.wrong, 0);
	KUNIT_EXPECT_EQ(test, !!seen.frames, row->kind == ORNIC_FIX_WIRE);
	/* Silently: what b may send is its response. */
	if (!row->arrives)
		KUNIT_EXPECT_LE(test, seen.frames, 1);
}

/* The fast path on one device, WRITE and READ, too. */
static void short_messages_are_checked(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, &init);
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, LIMITED), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, B_INDEX, FULL), 0);
	post_to_b(test, ORNIC_WQE_WRITE, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, 100, 1), -1);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, B_INDEX, LIMITED), 0);
	ornic_fix_fill(&fix->am, 0, 100, 2);
	post_to_b(test, ORNIC_WQE_WRITE, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, 100, 1), -1);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_RX_BAD_PKEY), 1);
}

static const struct op_row {
	const char *desc;
	u8 opcode;
	u32 len;
} op_rows[] = {
	{ "SEND", ORNIC_WQE_SEND, 3000 },
	{ "WRITE", ORNIC_WQE_WRITE, 3000 },
	{ "READ", ORNIC_WQE_READ, 3000 },
	{ "FAA", ORNIC_WQE_FAA, 8 },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, desc);

/* A limited member and a full one, each with its own key in all packets. */
static void packets_have_the_key(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, &init);
	struct seen seen = { .of_a = LIMITED, .of_b = FULL };
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, LIMITED), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.b, B_INDEX, FULL), 0);
	fix->pair.filter = watch;
	fix->pair.ctx = &seen;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 8,
		       row->len);
	ornic_th_kick(&fix->a);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_GE(test, seen.frames, 2);
	KUNIT_EXPECT_EQ(test, seen.wrong, 0);
}

static const struct inject_row {
	const char *desc;
	u8 opcode;
} inject_rows[] = {
	{ "ACK", ORNIC_OP_ACK },
	{ "NAK", ORNIC_OP_ACK },
	{ "CNP", ORNIC_CNP },
};

KUNIT_ARRAY_PARAM_DESC(inject, inject_rows, desc);

/* Those of another partition change nothing. */
static void responses_are_checked(struct kunit *test)
{
	const struct inject_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_txinfo info = {
		.opcode = row->opcode,
		.becn = row->opcode == ORNIC_CNP,
		.psn = ORNIC_FIX_PSN,
		.pkey = OTHER,
		.syndrome = row == &inject_rows[1] ?
				    ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_OP :
				    0x1f,
	};
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(&fix->a);
	KUNIT_ASSERT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_RX_BAD_PKEY), 1);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_RP_CNP_HANDLED), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	ornic_fix_respond(fix, ORNIC_OP_ACK, ORNIC_FIX_PSN, 0x1f, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_RX_BAD_PKEY), 1);
}

/* ---- QP 1 -------------------------------------------------------------------------- */

static const struct gsi_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u16 key; /* that a sends with */
	u16 entry; /* of b's table */
	bool arrives;
} gsi_rows[] = {
	{ "full", ORNIC_FIX_WIRE, FULL, FULL, true },
	{ "limited to full", ORNIC_FIX_WIRE, LIMITED, FULL, true },
	{ "full to limited", ORNIC_FIX_WIRE, FULL, LIMITED, true },
	{ "limited", ORNIC_FIX_WIRE, LIMITED, LIMITED, false },
	{ "a key that is not there", ORNIC_FIX_WIRE, FULL, OTHER, false },
	{ "full, a peer engine", ORNIC_FIX_PEER, FULL, FULL, true },
	{ "limited, a peer engine", ORNIC_FIX_PEER, LIMITED, LIMITED, false },
};

KUNIT_ARRAY_PARAM_DESC(gsi, gsi_rows, desc);

/* IBTA 10.9.3: any of the table; the completion has the entry. */
static void gsi_takes_any_key(struct kunit *test)
{
	const struct gsi_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = UD, .flags = ORNIC_QP_GSI };
	struct ornic_fixture *fix = open_fix(test, row->kind, &init);
	struct seen seen = { .of_a = row->key };
	struct ornic_cqe cqe;

	/* Its own entry, A_INDEX or B_INDEX, is empty. */
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, 7, row->key), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.b, 5, row->entry), 0);
	fix->pair.filter = watch;
	fix->pair.ctx = &seen;
	post_to_b(test, ORNIC_WQE_SEND, 7);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
			row->arrives ? ORNIC_CQE_SUCCESS : 0xff);
	if (row->arrives)
		KUNIT_EXPECT_EQ(test, cqe.pkey_index, 5);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_PKEY),
			row->arrives ? 0 : 1);
	KUNIT_EXPECT_EQ(test, seen.wrong, 0);
}

static const struct gsi_index_row {
	const char *desc;
	u16 index;
} gsi_index_rows[] = {
	{ "empty", 3 },
	{ "beyond the table", ORNIC_PKEY_TABLE_LEN },
	{ "far beyond the table", 0xffff },
};

KUNIT_ARRAY_PARAM_DESC(gsi_index, gsi_index_rows, desc);

static void gsi_needs_a_key(struct kunit *test)
{
	const struct gsi_index_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = UD, .flags = ORNIC_QP_GSI };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, &init);
	struct ornic_cqe cqe;

	post_to_b(test, ORNIC_WQE_SEND, row->index);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_PKEY);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_TX_PACKETS), 0);
}

/* The index of a WQE is that of QP 1 alone. */
static void other_qps_have_one_key(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = UD };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, &init);
	struct seen seen = { .of_a = FULL };

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, FULL), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, 7, OTHER), 0);
	/* b has OTHER in its table, and a QP that does not use it. */
	KUNIT_ASSERT_EQ(test, set(fix->pair.b, 7, FULL), 0);
	fix->pair.filter = watch;
	fix->pair.ctx = &seen;
	post_to_b(test, ORNIC_WQE_SEND, 7);
	KUNIT_EXPECT_EQ(test, seen.frames, 1);
	KUNIT_EXPECT_EQ(test, seen.wrong, 0);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_PKEY), 1);
}

/* ---- the table changes ---------------------------------------------------------------- */

/* The peer does not hear a until it has changed, too; then all goes on. */
static void change_is_for_packets_from_then_on(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, &init);
	struct seen seen = { .of_a = FULL, .of_b = FULL };
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, FULL), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.b, B_INDEX, FULL), 0);
	fix->pair.filter = watch;
	fix->pair.ctx = &seen;
	post_to_b(test, ORNIC_WQE_WRITE, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, OTHER), 0);
	seen.of_a = OTHER;
	post_to_b(test, ORNIC_WQE_WRITE, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_GE(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_PKEY), 1);

	KUNIT_ASSERT_EQ(test, set(fix->pair.b, B_INDEX, OTHER), 0);
	seen.of_b = OTHER;
	for (i = 0; i < 20; i++)
		ornic_th_advance(&fix->pair, ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, seen.wrong, 0);
}

/* Another entry is none of its business. */
static void change_of_others_changes_nothing(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);

	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, FULL), 0);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, A_INDEX, 0), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(&fix->a);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.pkey, ORNIC_DEFAULT_PKEY);
}

/* All of them, however many: the walk stops for others now and then. */
static void change_is_for_all_qps(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th_qpinit init = { .type = UD };
	struct ornic_th *th = fix->pair.a;
	const u32 n = 300;
	struct ornic_th_qp *qp;
	u32 i, changed = 0;

	qp = kunit_kzalloc(test, n * sizeof(*qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test,
				ornic_th_qp_init(th, &qp[i], &init, &fix->ascq,
						 &fix->arcq),
				0);
		ornic_th_to(&qp[i], ORNIC_QPS_INIT);
	}
	th->relaxed = 0;
	KUNIT_ASSERT_EQ(test, set(th, 0, FULL), 0);
	KUNIT_EXPECT_GT(test, th->relaxed, 0);
	for (i = 0; i < n; i++) {
		if (ornic_fix_qp(&qp[i])->pkey == FULL)
			changed++;
		ornic_th_qp_fini(&qp[i]);
	}
	KUNIT_EXPECT_EQ(test, changed, n);
}

/* ---- an entry becomes empty --------------------------------------------------------- */

static const struct lost_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 type, state;
} lost_rows[] = {
	{ "RC", ORNIC_FIX_WIRE, RC, ORNIC_QPS_ERR },
	{ "UC", ORNIC_FIX_WIRE, UC, ORNIC_QPS_SQE },
	{ "UD", ORNIC_FIX_WIRE, UD, ORNIC_QPS_SQE },
	{ "RC on a device", ORNIC_FIX_LOOP, RC, ORNIC_QPS_ERR },
	{ "UD on a device", ORNIC_FIX_LOOP, UD, ORNIC_QPS_SQE },
};

KUNIT_ARRAY_PARAM_DESC(lost, lost_rows, desc);

static void sends_without_a_key_fail(struct kunit *test)
{
	const struct lost_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = row->type };
	struct ornic_fixture *fix = open_fix(test, row->kind, &init);
	struct ornic_cqe cqe;

	/* It may be connected before it has one. */
	KUNIT_ASSERT_EQ(test, set(fix->pair.b, B_INDEX, FULL), 0);
	post_to_b(test, ORNIC_WQE_SEND, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_PKEY);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), row->state);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_TX_PACKETS), 0);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.a, ORNIC_STAT_LOOP_MSGS), 0);
	KUNIT_EXPECT_EQ(test, stat_of(fix->pair.b, ORNIC_STAT_RX_BAD_PKEY), 0);
}

/* Nothing is posted, so nothing fails: the QP goes on when it has a key again. */
static void idle_qp_outlives_its_key(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;

	KUNIT_ASSERT_EQ(test, set(th, 0, 0), 0);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 8, 8);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_RX_BAD_PKEY), 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_EQ(test, set(th, 0, 0xffff), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
}

/* What is on its way fails at once: no kick and no response will come. */
static void outstanding_sends_fail(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, 0, 0), 0);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_PKEY);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* In SQD nothing is begun, so it does not fail either. */
static void drained_qp_keeps_its_wqes(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th_qp *qp = &fix->a;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(qp, ORNIC_QPS_SQD, ORNIC_QPM_STATE), 0);
	ornic_fix_post(qp, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_th_kick(qp);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, 0, 0), 0);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_ASSERT_EQ(test, set(fix->pair.a, 0, FULL), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(qp, ORNIC_QPS_RTS, ORNIC_QPM_STATE), 0);
	ornic_th_run(fix->pair.a);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.pkey, FULL);
}

/* A READ response stops, and is sent when it is asked for again. */
static void responses_stop_without_a_key(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_txinfo again = {
		.opcode = ORNIC_OP_READ_REQUEST,
		.selective = ORNIC_BTH_SELECTIVE | ORNIC_BTH_AGAIN,
		.psn = ORNIC_FIX_PSN,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 3000,
	};

	th->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_FIRST);
	KUNIT_ASSERT_EQ(test, set(th, 0, 0), 0);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_ASSERT_EQ(test, set(th, 0, 0xffff), 0);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	ornic_th_inject(&fix->a, &again, NULL, 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_FIRST);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_MIDDLE);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_LAST);
}

static struct kunit_case pkey_cases[] = {
	KUNIT_CASE_PARAM(membership_decides, match_gen_params),
	KUNIT_CASE(no_other_keys_match),
	KUNIT_CASE(table_has_the_default_key),
	KUNIT_CASE(table_is_set),
	KUNIT_CASE_PARAM(index_is_checked, type_gen_params),
	KUNIT_CASE(index_changes_when_idle),
	KUNIT_CASE_PARAM(requests_are_checked, check_gen_params),
	KUNIT_CASE(short_messages_are_checked),
	KUNIT_CASE_PARAM(packets_have_the_key, op_gen_params),
	KUNIT_CASE_PARAM(responses_are_checked, inject_gen_params),
	KUNIT_CASE_PARAM(gsi_takes_any_key, gsi_gen_params),
	KUNIT_CASE_PARAM(gsi_needs_a_key, gsi_index_gen_params),
	KUNIT_CASE(other_qps_have_one_key),
	KUNIT_CASE(change_is_for_packets_from_then_on),
	KUNIT_CASE(change_of_others_changes_nothing),
	KUNIT_CASE(change_is_for_all_qps),
	KUNIT_CASE_PARAM(sends_without_a_key_fail, lost_gen_params),
	KUNIT_CASE(idle_qp_outlives_its_key),
	KUNIT_CASE(outstanding_sends_fail),
	KUNIT_CASE(drained_qp_keeps_its_wqes),
	KUNIT_CASE(responses_stop_without_a_key),
	{}
};

static struct kunit_suite pkey_suite = {
	.name = "ornic_pkey",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = pkey_cases,
};

kunit_test_suite(pkey_suite);

MODULE_DESCRIPTION("ornic: partitions suite");
MODULE_LICENSE("Dual BSD/GPL");
