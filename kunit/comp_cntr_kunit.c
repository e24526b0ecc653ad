// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion counters: what they count, and to whom they belong. */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define UD ORNIC_QPT_UD
#define ALL_OPS ((1u << ORNIC_CNTR_OPS) - 1)

struct cntr {
	struct ornic_th *th;
	u32 number;
	struct ornic_comp_cntr_record *record;
};

static int create(struct ornic_th *th, u64 addr, u32 npages, u32 *number)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.create_comp_cntr.hdr.opcode = ORNIC_CMD_CREATE_COMP_CNTR;
	req.create_comp_cntr.mem.addr = cpu_to_le64(addr);
	req.create_comp_cntr.mem.npages = cpu_to_le32(npages);
	req.create_comp_cntr.mem.page_shift = ORNIC_PAGE_SHIFT;
	ornic_th_cmd(th, &req, &rsp);
	*number = le32_to_cpu(rsp.hdr.obj);
	return rsp.hdr.status;
}

/* A counter, in memory that has something else in it. */
static struct cntr make_cntr(struct kunit *test, struct ornic_th *th)
{
	u8 *mem = ornic_th_alloc(th, 4096);
	struct cntr cntr = { th };

	KUNIT_ASSERT_NOT_NULL(test, mem);
	memset(mem, 0x5a, 4096);
	KUNIT_ASSERT_EQ(test, create(th, (u64)(uintptr_t)mem, 1, &cntr.number),
			ORNIC_OK);
	cntr.record = (struct ornic_comp_cntr_record *)mem;
	KUNIT_EXPECT_EQ(test, mem[sizeof(*cntr.record)], 0x5a);
	return cntr;
}

static int destroy(const struct cntr *cntr)
{
	return ornic_th_destroy_obj(cntr->th, ORNIC_CMD_DESTROY_COMP_CNTR,
				    cntr->number);
}

static int modify(const struct cntr *cntr, u8 entry, u8 change, u64 value)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.modify_comp_cntr.hdr.opcode = ORNIC_CMD_MODIFY_COMP_CNTR;
	req.modify_comp_cntr.hdr.obj = cpu_to_le32(cntr->number);
	req.modify_comp_cntr.value = cpu_to_le64(value);
	req.modify_comp_cntr.entry = entry;
	req.modify_comp_cntr.change = change;
	return ornic_th_cmd(cntr->th, &req, &rsp);
}

static int attach(const struct cntr *cntr, u32 qpn, u8 ops)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.attach_comp_cntr.hdr.opcode = ORNIC_CMD_ATTACH_COMP_CNTR;
	req.attach_comp_cntr.hdr.obj = cpu_to_le32(qpn);
	req.attach_comp_cntr.cntr = cpu_to_le32(cntr->number);
	req.attach_comp_cntr.ops = ops;
	return ornic_th_cmd(cntr->th, &req, &rsp);
}

static void expect_values(struct kunit *test, const struct cntr *cntr,
			  u64 completions, u64 errors)
{
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cntr->record->completions),
			completions);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cntr->record->errors), errors);
}

/* The suite's fixture with QPs in RESET. */
static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	return fix;
}

/* From a to b, which has a receive for it; then all is quiet. */
static void send_one(struct ornic_fixture *fix, u8 opcode, u8 flags, u32 len)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, len);
	struct ornic_th_wr wr = {
		.opcode = opcode,
		.flags = flags,
		.nsge = 1,
		.sge = &sge,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
	};

	if (opcode == ORNIC_WQE_SEND || opcode == ORNIC_WQE_WRITE_IMM)
		ornic_fix_recv(&fix->b, &fix->bm, 1, 0, 4096);
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
}

/* ---- What counts ---------------------------------------------------------------- */

static const struct op_row {
	const char *desc;
	enum ornic_fix_kind kind;
	bool at_b;
	u8 op;
	u32 value; /* of what all_kinds() sends */
} op_rows[] = {
	{ "sends", ORNIC_FIX_WIRE, false, ORNIC_CNTR_SEND, 3 },
	{ "receives", ORNIC_FIX_WIRE, true, ORNIC_CNTR_RECV, 4 },
	{ "READs", ORNIC_FIX_WIRE, false, ORNIC_CNTR_READ, 2 },
	{ "READs of the peer", ORNIC_FIX_WIRE, true, ORNIC_CNTR_REMOTE_READ,
	  2 },
	{ "WRITEs", ORNIC_FIX_WIRE, false, ORNIC_CNTR_WRITE, 5 },
	{ "WRITEs of the peer", ORNIC_FIX_WIRE, true, ORNIC_CNTR_REMOTE_WRITE,
	  5 },
	{ "nothing of a sender", ORNIC_FIX_WIRE, false, ORNIC_CNTR_RECV, 0 },
	{ "nothing of a receiver", ORNIC_FIX_WIRE, true, ORNIC_CNTR_SEND, 0 },
	{ "sends, loopback", ORNIC_FIX_LOOP, false, ORNIC_CNTR_SEND, 3 },
	{ "receives, loopback", ORNIC_FIX_LOOP, true, ORNIC_CNTR_RECV, 4 },
	{ "READs, loopback", ORNIC_FIX_LOOP, false, ORNIC_CNTR_READ, 2 },
	{ "READs of the peer, loopback", ORNIC_FIX_LOOP, true,
	  ORNIC_CNTR_REMOTE_READ, 2 },
	{ "WRITEs, loopback", ORNIC_FIX_LOOP, false, ORNIC_CNTR_WRITE, 5 },
	{ "WRITEs of the peer, loopback", ORNIC_FIX_LOOP, true,
	  ORNIC_CNTR_REMOTE_WRITE, 5 },
	{ "READs of a peer engine", ORNIC_FIX_PEER, true,
	  ORNIC_CNTR_REMOTE_READ, 2 },
	{ "WRITEs of a peer engine", ORNIC_FIX_PEER, true,
	  ORNIC_CNTR_REMOTE_WRITE, 5 },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, desc);

/* One packet and several, with and without a CQE; atomics, too. */
static void all_kinds(struct ornic_fixture *fix)
{
	send_one(fix, ORNIC_WQE_SEND, 0, 8);
	send_one(fix, ORNIC_WQE_SEND, ORNIC_WQE_SIGNALED, 3000);
	send_one(fix, ORNIC_WQE_SEND, 0, 0);
	send_one(fix, ORNIC_WQE_WRITE, 0, 8);
	send_one(fix, ORNIC_WQE_WRITE, ORNIC_WQE_SIGNALED, 8);
	send_one(fix, ORNIC_WQE_WRITE, 0, 3000);
	send_one(fix, ORNIC_WQE_WRITE, 0, 0);
	send_one(fix, ORNIC_WQE_WRITE_IMM, 0, 3000);
	send_one(fix, ORNIC_WQE_READ, 0, 8);
	send_one(fix, ORNIC_WQE_FAA, 0, 8);
	send_one(fix, ORNIC_WQE_ATOMIC_WRITE, 0, 8);
	send_one(fix, ORNIC_WQE_READ, ORNIC_WQE_SIGNALED, 3000);
}

static void op_is_counted(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind, RC);
	const struct ornic_th_qp *qp = row->at_b ? &fix->b : &fix->a;
	struct cntr cntr = make_cntr(test, qp->th);
	struct cntr others = make_cntr(test, qp->th);

	KUNIT_EXPECT_EQ(test, attach(&cntr, qp->qpn, 1u << row->op), ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			attach(&others, qp->qpn, ALL_OPS & ~(1u << row->op)),
			ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	all_kinds(fix);
	expect_values(test, &cntr, row->value, 0);
	expect_values(test, &others, (row->at_b ? 11 : 10) - row->value, 0);
}

/* Datagrams, unicast on loopback. */
static void datagrams_are_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, UD);
	struct cntr sends = make_cntr(test, fix->pair.a);
	struct cntr receives = make_cntr(test, fix->pair.a);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 100);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = fix->b.qpn,
	};
	u32 i;

	KUNIT_EXPECT_EQ(test, attach(&sends, fix->a.qpn, 1 << ORNIC_CNTR_SEND),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			attach(&receives, fix->b.qpn, 1 << ORNIC_CNTR_RECV),
			ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	wr.dest_qkey = fix->b.conn.qkey;
	ornic_th_ah(fix->pair.a, &fix->a.conn.av, &wr.ah);
	for (i = 0; i < 2; i++)
		ornic_fix_recv(&fix->b, &fix->bm, i, 0, 200);
	for (i = 0; i < 3; i++) {
		ornic_th_post_send(&fix->a, &wr);
		ornic_th_settle(&fix->pair);
	}
	/* The third finds no receive WQE. */
	expect_values(test, &sends, 3, 0);
	expect_values(test, &receives, 2, 0);
}

/* One counter of two QPs has what both do. */
static void counter_is_shared(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->b.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	all_kinds(fix);
	expect_values(test, &cntr, 21, 0);
}

/* A duplicate is not executed again, so it does not count again, IBTA C9-105. */
static void duplicates_are_not_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);
	u32 i;

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	for (i = 0; i < 3; i++) {
		ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 8, 8);
		ornic_fix_drain(fix);
	}
	expect_values(test, &cntr, 1, 0);
	for (i = 0; i < 3; i++) {
		ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 1, 0, 3000, 0);
		ornic_fix_drain(fix);
	}
	expect_values(test, &cntr, 2, 0);
}

/* The READ counts with its last packet, also when it is asked for twice before. */
static void read_counts_at_its_end(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test,
			attach(&cntr, fix->a.qpn, 1 << ORNIC_CNTR_REMOTE_READ),
			ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fix->pair.a->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
	expect_values(test, &cntr, 0, 0);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	ornic_fix_drain(fix);
	expect_values(test, &cntr, 1, 0);
}

static const struct piece_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u32 len;
} piece_rows[] = {
	{ "loopback serves it in pieces", ORNIC_FIX_LOOP,
	  3 * ORNIC_LOOP_PIECE },
	{ "a request for each piece", ORNIC_FIX_WIRE,
	  (2 * ORNIC_READ_PIECE + 1) * 1024 },
	{ "the pieces are all full", ORNIC_FIX_WIRE,
	  3 * ORNIC_READ_PIECE * 1024 },
	{ "of a peer engine", ORNIC_FIX_PEER,
	  (2 * ORNIC_READ_PIECE + 1) * 1024 },
	{ "begun in memory, ended by packets", ORNIC_FIX_DIRECT,
	  2 * ORNIC_LOOP_PIECE },
};

KUNIT_ARRAY_PARAM_DESC(piece, piece_rows, desc);

/* A READ in pieces is one, at its end. */
static void pieces_are_one_read(struct kunit *test)
{
	const struct piece_row *row = test->param_value;
	const u32 len = row->len;
	struct ornic_fixture *fix = open_fix(test, row->kind, RC);
	struct cntr cntr = make_cntr(test, fix->b.th);
	struct ornic_th_mr from, to;
	struct ornic_lsge sge;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_READ,
		.nsge = 1,
		.sge = &sge,
	};

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->b.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->a.th, &to, len, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->b.th, &from, len, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	sge = ornic_fix_sge(&to, 0, len);
	wr.raddr = from.iova;
	wr.rkey = from.key;
	if (row->kind == ORNIC_FIX_DIRECT)
		fix->pair.a->budget = 1000;
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_go_by_packets(&fix->pair);
	ornic_th_settle(&fix->pair);
	expect_values(test, &cntr, 1, 0);
}

/* ---- Errors ------------------------------------------------------------------- */

static const struct error_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 opcode;
	u8 op; /* at a */
	u8 remote_op; /* at b */
} error_rows[] = {
	{ "WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, ORNIC_CNTR_WRITE,
	  ORNIC_CNTR_REMOTE_WRITE },
	{ "READ", ORNIC_FIX_WIRE, ORNIC_WQE_READ, ORNIC_CNTR_READ,
	  ORNIC_CNTR_REMOTE_READ },
	{ "WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, ORNIC_CNTR_WRITE,
	  ORNIC_CNTR_REMOTE_WRITE },
	{ "READ, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, ORNIC_CNTR_READ,
	  ORNIC_CNTR_REMOTE_READ },
};

KUNIT_ARRAY_PARAM_DESC(error, error_rows, desc);

/* The key is refused: an error at both ends, and what is posted then is flushed. */
static void refused_is_an_error(struct kunit *test)
{
	const struct error_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind, RC);
	struct cntr here = make_cntr(test, fix->pair.a);
	struct cntr there = make_cntr(test, fix->pair.b);

	KUNIT_EXPECT_EQ(test, attach(&here, fix->a.qpn, 1u << row->op),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, attach(&there, fix->b.qpn, 1u << row->remote_op),
			ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	send_one(fix, row->opcode, 0, 8);
	expect_values(test, &here, 1, 0);
	expect_values(test, &there, 1, 0);
	fix->bm.key ^= 1;
	send_one(fix, row->opcode, 0, 8);
	fix->bm.key ^= 1;
	expect_values(test, &here, 1, 1);
	expect_values(test, &there, 1, 1);
	send_one(fix, row->opcode, 0, 8);
	expect_values(test, &here, 1, 2);
	expect_values(test, &there, 1, 1);
}

/* A READ whose memory goes between its packets. */
static void lost_read_is_an_error(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fix->pair.a->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(fix->pair.a,
					     ORNIC_CMD_DESTROY_MKEY,
					     fix->am.key),
			ORNIC_OK);
	ornic_fix_drain(fix);
	expect_values(test, &cntr, 0, 1);
}

/* A READ on one device, whose memory goes between its pieces, and does not come back. */
static void absent_read_is_an_error(struct kunit *test)
{
	const u32 len = 3 * ORNIC_LOOP_PIECE;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->b.th);
	struct ornic_th_fault fault;
	struct ornic_th_mr from, to;
	struct ornic_lsge sge;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_READ,
		.nsge = 1,
		.sge = &sge,
	};

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->b.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->a.th, &to, len, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->b.th, &from, len, 0,
					  ORNIC_ACCESS_MR_MASK),
			0);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_set(&from, 0, from.npages, false),
			0);
	sge = ornic_fix_sge(&to, 0, len);
	wr.raddr = from.iova;
	wr.rkey = from.key;
	fix->pair.a->budget = 1;
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_clear(&from, 0, from.npages), 0);
	ornic_th_settle(&fix->pair);
	expect_values(test, &cntr, 0, 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_fault_take(&fix->b, &fault));
	KUNIT_EXPECT_GT(test, fault.addr, from.iova);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->b, &fault, true), 0);
	ornic_th_settle(&fix->pair);
	expect_values(test, &cntr, 0, 1);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&from), 0);
}

/* One that has counted, whose memory goes while it is sent again: once is all. */
static void lost_replay_is_not_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	ornic_fix_drain(fix);
	expect_values(test, &cntr, 1, 0);
	fix->pair.a->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3000, 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(fix->pair.a,
					     ORNIC_CMD_DESTROY_MKEY,
					     fix->am.key),
			ORNIC_OK);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	expect_values(test, &cntr, 1, 0);
}

static void flushed_is_an_error(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, RC);
	struct cntr sends = make_cntr(test, fix->pair.a);
	struct cntr receives = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&sends, fix->a.qpn, 1 << ORNIC_CNTR_SEND),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test,
			attach(&receives, fix->a.qpn, 1 << ORNIC_CNTR_RECV),
			ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_recv(&fix->a, &fix->am, 1, 0, 8);
	ornic_fix_recv(&fix->a, &fix->am, 2, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(fix);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	ornic_th_settle(&fix->pair);
	expect_values(test, &sends, 0, 1);
	expect_values(test, &receives, 0, 2);
}

/* It ends the QP, but it is no SEND. */
static void unknown_opcode_is_not_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_WIRE, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	send_one(fix, 0xff, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	expect_values(test, &cntr, 0, 0);
	send_one(fix, ORNIC_WQE_WRITE, 0, 8);
	expect_values(test, &cntr, 0, 1);
}

/* ---- Commands ----------------------------------------------------------------- */

static void values_are_modified(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);
	const u8 n = ORNIC_CNTR_COMPLETIONS, e = ORNIC_CNTR_ERRORS;

	expect_values(test, &cntr, 0, 0);
	KUNIT_EXPECT_EQ(test, modify(&cntr, n, ORNIC_CNTR_SET, 7), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, modify(&cntr, e, ORNIC_CNTR_SET, 9), ORNIC_OK);
	expect_values(test, &cntr, 7, 9);
	KUNIT_EXPECT_EQ(test, modify(&cntr, n, ORNIC_CNTR_ADD, 1ull << 40),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, modify(&cntr, e, ORNIC_CNTR_ADD, 3), ORNIC_OK);
	expect_values(test, &cntr, (1ull << 40) + 7, 12);
	KUNIT_EXPECT_EQ(test, modify(&cntr, e, ORNIC_CNTR_ADD, U64_MAX - 10),
			ORNIC_OK);
	expect_values(test, &cntr, (1ull << 40) + 7, 1);
	KUNIT_EXPECT_EQ(test, modify(&cntr, 2, ORNIC_CNTR_SET, 1),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, modify(&cntr, n, 2, 1), ORNIC_BAD_PARAM);
	expect_values(test, &cntr, (1ull << 40) + 7, 1);
	KUNIT_EXPECT_EQ(test, destroy(&cntr), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, modify(&cntr, n, ORNIC_CNTR_SET, 1),
			ORNIC_NOT_FOUND);
	expect_values(test, &cntr, (1ull << 40) + 7, 1);
}

/* It goes on from the value that was set, and wraps. */
static void counting_follows_modify(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test,
			modify(&cntr, ORNIC_CNTR_COMPLETIONS, ORNIC_CNTR_SET,
			       U64_MAX - 1),
			ORNIC_OK);
	send_one(fix, ORNIC_WQE_SEND, 0, 8);
	expect_values(test, &cntr, U64_MAX, 0);
	send_one(fix, ORNIC_WQE_SEND, 0, 8);
	expect_values(test, &cntr, 0, 0);
}

/* What a program writes to the record is not believed. */
static void record_is_not_read(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, ALL_OPS), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	send_one(fix, ORNIC_WQE_SEND, 0, 8);
	memset(cntr.record, 0xff, sizeof(*cntr.record));
	send_one(fix, ORNIC_WQE_SEND, 0, 8);
	expect_values(test, &cntr, 2, U64_MAX);
	KUNIT_EXPECT_EQ(test,
			modify(&cntr, ORNIC_CNTR_ERRORS, ORNIC_CNTR_ADD, 1),
			ORNIC_OK);
	expect_values(test, &cntr, 2, 1);
}

static const struct state_row {
	const char *desc;
	u8 state;
	int status;
} state_rows[] = {
	{ "RESET", ORNIC_QPS_RESET, ORNIC_OK },
	{ "INIT", ORNIC_QPS_INIT, ORNIC_OK },
	{ "RTR", ORNIC_QPS_RTR, ORNIC_BAD_STATE },
	{ "RTS", ORNIC_QPS_RTS, ORNIC_BAD_STATE },
	{ "ERR", ORNIC_QPS_ERR, ORNIC_BAD_STATE },
};

KUNIT_ARRAY_PARAM_DESC(state, state_rows, desc);

static void attach_needs_state(struct kunit *test)
{
	const struct state_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);
	u32 qpn = fix->a.qpn;

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	if (row->state < ORNIC_QPS_RTS)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	if (row->state == ORNIC_QPS_RTR)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	if (row->state != ORNIC_QPS_RESET && row->state != ORNIC_QPS_RTS)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, row->state), 0);
	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn, ALL_OPS), row->status);
	KUNIT_EXPECT_EQ(test, destroy(&cntr),
			row->status ? ORNIC_OK : ORNIC_BUSY);
}

static void attach_checks(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);
	struct cntr other = make_cntr(test, fix->pair.a);
	const struct cntr none = { cntr.th, other.number + 1 };
	u32 qpn = fix->a.qpn;

	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn, 0), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn, 0x40), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn + 7, 1), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, attach(&none, qpn, 1), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn, 5), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, attach(&other, qpn, 4), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn, 7), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, attach(&other, qpn, 2), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, attach(&cntr, qpn, 8), ORNIC_OK);
}

/* The QP lets go of its counters, also after a RESET. */
static void qp_keeps_counters(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	struct cntr cntr = make_cntr(test, fix->pair.a);
	struct cntr other = make_cntr(test, fix->pair.a);

	KUNIT_EXPECT_EQ(test, attach(&cntr, fix->a.qpn, 3), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, attach(&other, fix->a.qpn, 4), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, attach(&other, fix->b.qpn, 4), ORNIC_OK);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, destroy(&cntr), ORNIC_BUSY);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	send_one(fix, ORNIC_WQE_SEND, 0, 8);
	expect_values(test, &cntr, 1, 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	KUNIT_EXPECT_EQ(test, destroy(&cntr), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, destroy(&cntr), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, destroy(&other), ORNIC_BUSY);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->b), 0);
	KUNIT_EXPECT_EQ(test, destroy(&other), ORNIC_OK);
	expect_values(test, &cntr, 1, 0);
}

static void create_checks(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	u64 mem = (u64)(uintptr_t)ornic_th_alloc(fix->pair.a, 4096);
	u64 two = (u64)(uintptr_t)ornic_th_alloc(fix->pair.a, 8192);
	u32 n;

	KUNIT_EXPECT_EQ(test, create(fix->pair.a, mem, 0, &n), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, create(fix->pair.a, mem, 2, &n), ORNIC_BAD_ADDR);
	KUNIT_EXPECT_EQ(test, create(fix->pair.a, 64, 1, &n), ORNIC_BAD_ADDR);
	KUNIT_EXPECT_EQ(test, create(fix->pair.a, mem, 1, &n), ORNIC_OK);
	/* At any byte it might cross pages, or be stored to in two halves. */
	KUNIT_EXPECT_EQ(test, create(fix->pair.a, two + 8, 1, &n),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, create(fix->pair.a, two + 16, 1, &n), ORNIC_OK);
}

static struct kunit_case comp_cntr_cases[] = {
	KUNIT_CASE_PARAM(op_is_counted, op_gen_params),
	KUNIT_CASE(datagrams_are_counted),
	KUNIT_CASE(counter_is_shared),
	KUNIT_CASE(duplicates_are_not_counted),
	KUNIT_CASE(read_counts_at_its_end),
	KUNIT_CASE_PARAM(pieces_are_one_read, piece_gen_params),
	KUNIT_CASE_PARAM(refused_is_an_error, error_gen_params),
	KUNIT_CASE(lost_read_is_an_error),
	KUNIT_CASE(absent_read_is_an_error),
	KUNIT_CASE(lost_replay_is_not_counted),
	KUNIT_CASE(flushed_is_an_error),
	KUNIT_CASE(unknown_opcode_is_not_counted),
	KUNIT_CASE(values_are_modified),
	KUNIT_CASE(counting_follows_modify),
	KUNIT_CASE(record_is_not_read),
	KUNIT_CASE_PARAM(attach_needs_state, state_gen_params),
	KUNIT_CASE(attach_checks),
	KUNIT_CASE(qp_keeps_counters),
	KUNIT_CASE(create_checks),
	{}
};

static struct kunit_suite comp_cntr_suite = {
	.name = "ornic_comp_cntr",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = comp_cntr_cases,
};

kunit_test_suite(comp_cntr_suite);

MODULE_DESCRIPTION("ornic: completion counters suite");
MODULE_LICENSE("Dual BSD/GPL");
