// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rendezvous of QPs whose SRQ matches tags, and errors of tagged receives. */
#include <kunit/test.h>

#include "tm_fixture.h"

static int rndv_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct ornic_tm_test));
}

/* ---- Rendezvous ---------------------------------------------------------------- */

static const struct kind_row {
	const char *name;
	enum ornic_fix_kind kind;
	u32 len;
} rndv_rows[] = {
	{ "wire, no data", ORNIC_FIX_WIRE, 0 },
	{ "wire, one packet", ORNIC_FIX_WIRE, ORNIC_TM_MTU },
	{ "wire, many packets", ORNIC_FIX_WIRE, 40000 },
	{ "loopback, a few bytes", ORNIC_FIX_LOOP, 8 },
	{ "loopback, many packets", ORNIC_FIX_LOOP, 40000 },
	{ "peer engine", ORNIC_FIX_PEER, 3000 },
};

KUNIT_ARRAY_PARAM_DESC(rndv, rndv_rows, name);

/* The sender's headers come back as a FIN when its data was read. */
static void expect_fin(struct kunit *test, struct ornic_tm_test *tt, u64 wr_id,
		       u32 off, u32 at)
{
	u8 sent[HDRS], fin[HDRS];
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->fix.arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), wr_id);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_RECV);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), HDRS);
	ornic_th_mr_read(&tt->fix.am, off, sent, HDRS);
	ornic_th_mr_read(&tt->fix.am, at, fin, HDRS);
	KUNIT_EXPECT_EQ(test, fin[0], FIN);
	KUNIT_EXPECT_MEMEQ(test, fin + 1, sent + 1, HDRS - 1);
}

static void rndv_reads_and_says_so(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, row->kind);
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, 7, 5,
					     row->len };
	const struct ornic_tm_want data = { ORNIC_CQE_TM_RECV, VALID, 7, 0,
					    row->len };
	struct ornic_cqe cqe;

	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_fix_fill(&tt->fix.am, 100, row->len, 3);
	ornic_tm_add(tt, 7, 5, 0, 50000);
	ornic_tm_send_rndv(tt, 5, 100, row->len, 50000);
	ornic_tm_expect(test, tt, &match);
	ornic_tm_expect(test, tt, &data);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&tt->fix.bm, 0, row->len, 3),
			-1);
	expect_fin(test, tt, 8, 50000, 60000);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.ascq, &cqe), 0);
	/* The QP of the device's requests reports nothing else. */
	KUNIT_EXPECT_EQ(test, ornic_tm_status(tt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.bscq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.brcq, &cqe), 0xff);
}

/* More than can be under way: the peer waits, and none is lost or out of order. */
static void rndv_one_after_the_other(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	u32 i, done = 0, lost = 10;
	struct ornic_cqe cqe;

	tt->fix.pair.filter = ornic_fix_drop_from_b;
	tt->fix.pair.ctx = &lost;
	for (i = 0; i < 40; i++)
		ornic_fix_recv(&tt->fix.a, &tt->fix.am, i, 60000, HDRS);
	for (i = 0; i < 40; i++) {
		ornic_fix_fill(&tt->fix.am, i * 1024, 1000, i);
		ornic_tm_add(tt, i, i + 1, i * 1024, 1024);
		KUNIT_ASSERT_EQ(test, ornic_tm_op_status(tt), 0xff);
		ornic_tm_send_rndv(tt, i + 1, i * 1024, 1000, 50000 + i * 64);
		if (i % 8 == 7)
			ornic_th_advance(&tt->fix.pair, 20 * ORNIC_TH_MS);
	}
	ornic_th_advance(&tt->fix.pair, 500 * ORNIC_TH_MS);
	while (!ornic_fix_status(&tt->tcq, &cqe)) {
		if (cqe.tm_flags != VALID)
			continue;
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), done);
		KUNIT_EXPECT_EQ(test,
				ornic_fix_compare(&tt->fix.bm, done * 1024,
						  1000, done),
				-1);
		done++;
	}
	KUNIT_EXPECT_EQ(test, done, 40);
	for (i = 0; i < 40; i++)
		KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->fix.arcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, lost, 0);
}

/* Without FINs places stay taken: the requests beyond them wait, and go on. */
static void rndv_has_a_bound(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	u32 i, matches = 0, n;
	struct ornic_cqe cqe;

	for (n = 0; n < 3; n++) {
		for (i = 0; i < ORNIC_TM_MAX_TAGS; i++)
			ornic_tm_add(tt, i, i + 1, 0, 64);
		for (i = 0; i < ORNIC_TM_MAX_TAGS; i++)
			ornic_tm_send_rndv(tt, i + 1, 0, 8, 50000 + i * 64);
	}
	while (!ornic_fix_status(&tt->tcq, &cqe))
		matches += cqe.tm_flags == MATCH;
	KUNIT_EXPECT_EQ(test, matches, 16);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL),
			ORNIC_TM_MAX_TAGS);
	for (i = 0; i < 3 * ORNIC_TM_MAX_TAGS; i++)
		ornic_fix_recv(&tt->fix.a, &tt->fix.am, i, 60000, HDRS);
	ornic_th_advance(&tt->fix.pair, 500 * ORNIC_TH_MS);
	while (!ornic_fix_status(&tt->tcq, &cqe))
		matches += cqe.tm_flags == MATCH;
	KUNIT_EXPECT_EQ(test, matches, 3 * ORNIC_TM_MAX_TAGS);
	for (i = 0; i < 3 * ORNIC_TM_MAX_TAGS; i++)
		KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->fix.arcq, &cqe), 0);
}

static const struct rest_row {
	const char *name;
	u32 len; /* of the data */
	u32 room; /* of the tagged receive */
	u8 max_rd_atomic;
	u32 bytes; /* of the headers that fit */
} rest_rows[] = {
	{ "a byte too much", 101, 100, 4, HDRS },
	{ "4 GiB", U32_MAX, 100, 4, HDRS },
	{ "more than fits the headers", 101, 20, 4, 20 },
	{ "no room at all", 1, 0, 4, 0 },
	{ "a QP that does not READ", 8, 100, 0, HDRS },
};

KUNIT_ARRAY_PARAM_DESC(rest, rest_rows, name);

/* The host takes over: it gets the headers, and the peer no FIN from the device. */
static void rndv_that_does_not_fit(struct kunit *test)
{
	const struct rest_row *row = test->param_value;
	struct ornic_tm_test *tt = test->priv;
	struct ornic_cqe cqe = { .status = 0 };
	u8 sent[HDRS], got[HDRS];

	KUNIT_ASSERT_EQ(test, ornic_tm_open_kind(tt, ORNIC_FIX_WIRE), 0);
	tt->fix.b.conn.max_rd_atomic = row->max_rd_atomic;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&tt->fix), 0);
	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_tm_add(tt, 7, 5, 0, row->room);
	ornic_tm_send_rndv(tt, 5, 100, row->len, 50000);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe),
			ORNIC_CQE_TM_RNDV_INCOMPLETE);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_TM_RECV);
	KUNIT_EXPECT_EQ(test, cqe.tm_flags, MATCH);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 7);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), row->bytes);
	ornic_th_mr_read(&tt->fix.am, 50000, sent, HDRS);
	ornic_th_mr_read(&tt->fix.bm, 0, got, HDRS);
	KUNIT_EXPECT_MEMEQ(test, got, sent, row->bytes);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.arcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 0);
}

static const struct early_row {
	const char *name;
	u8 max_rd_atomic; /* of the life before */
} early_rows[] = {
	{ "a QP that could READ", 4 },
	{ "a QP that could not", 0 },
};

KUNIT_ARRAY_PARAM_DESC(early, early_rows, name);

/* The first message may come before the QP is in RTS. */
static void rndv_waits_for_rts(struct kunit *test)
{
	const struct early_row *row = test->param_value;
	struct ornic_tm_test *tt = test->priv;
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, 7, 5,
					     64 };
	const struct ornic_tm_want data = { ORNIC_CQE_TM_RECV, VALID, 7, 0,
					    64 };
	struct ornic_th_qp *b = &tt->fix.b;
	u8 max_rd_atomic;

	KUNIT_ASSERT_EQ(test, ornic_tm_open_kind(tt, ORNIC_FIX_WIRE), 0);
	max_rd_atomic = b->conn.max_rd_atomic;
	b->conn.max_rd_atomic = row->max_rd_atomic;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&tt->fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(b, ORNIC_QPS_RESET), 0);
	b->conn.max_rd_atomic = max_rd_atomic;
	KUNIT_ASSERT_EQ(test, ornic_th_to(b, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(b, ORNIC_QPS_RTR), 0);
	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_tm_add(tt, 7, 5, 0, 64);
	ornic_tm_send_rndv(tt, 5, 100, 64, 50000);
	KUNIT_EXPECT_EQ(test, ornic_tm_status(tt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 1);
	KUNIT_ASSERT_EQ(test, ornic_th_to(b, ORNIC_QPS_RTS), 0);
	ornic_th_advance(&tt->fix.pair, 20 * ORNIC_TH_MS);
	ornic_tm_expect(test, tt, &match);
	ornic_tm_expect(test, tt, &data);
	expect_fin(test, tt, 8, 50000, 60000);
}

static const struct reach_row {
	const char *name;
	u32 len;
	int status;
} reach_rows[] = {
	{ "no data", 0, ORNIC_CQE_SUCCESS },
	{ "within the first", 59, ORNIC_CQE_SUCCESS },
	{ "all of the first", 60, ORNIC_CQE_SUCCESS },
	{ "all that is valid", 100, ORNIC_CQE_SUCCESS },
	{ "a byte of the third", 101, ORNIC_CQE_LOC_PROT_ERR },
};

KUNIT_ARRAY_PARAM_DESC(reach, reach_rows, name);

/* SGEs to which nothing is written may name anything. */
static void rndv_uses_what_it_reaches(struct kunit *test)
{
	const struct reach_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_lsge sge[3] = {
		ornic_fix_sge(&tt->fix.bm, 0, 60),
		ornic_fix_sge(&tt->fix.bm, 60, 40),
		ornic_fix_sge(&tt->fix.bm, 100, 50),
	};
	struct ornic_cqe cqe;

	sge[2].lkey ^= 1;
	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_fix_fill(&tt->fix.am, 100, row->len, 3);
	ornic_tm_add_sges(tt, 7, 5, sge, 3);
	ornic_tm_send_rndv(tt, 5, 100, row->len, 50000);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.tm_flags, MATCH);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), row->status);
	if (!row->status)
		KUNIT_EXPECT_EQ(test,
				ornic_fix_compare(&tt->fix.bm, 0, row->len, 3),
				-1);
}

static const struct solicited_row {
	const char *name;
	u8 flags;
	u32 events;
} solicited_rows[] = {
	{ "solicited", ORNIC_WQE_SOLICITED, 1 },
	{ "not solicited", 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(solicited, solicited_rows, name);

/* The host that waits for solicited messages is told when this one is complete. */
static void rndv_may_be_solicited(struct kunit *test)
{
	const struct solicited_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	const u32 *events = tt->fix.pair.b->event_count;
	struct ornic_cqe cqe;

	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_tm_add(tt, 7, 5, 0, 64);
	ornic_tm_fill_rndv(tt, 5, 100, 64, 50000);
	ornic_th_arm(&tt->tcq, ORNIC_ARM_SOLICITED);
	ornic_fix_post(&tt->fix.a, &tt->fix.am, NULL, ORNIC_WQE_SEND,
		       row->flags, 50000, HDRS);
	ornic_th_settle(&tt->fix.pair);
	KUNIT_EXPECT_EQ(test, events[ORNIC_EVENT_COMP], row->events);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.flags & ORNIC_CQE_SOLICITED_EVENT, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, !!(cqe.flags & ORNIC_CQE_SOLICITED_EVENT),
			row->events);
}

/* ---- Errors -------------------------------------------------------------------- */

/* Each tagged receive that was matched comes back, before the last event. */
static void rndv_with_a_bad_key(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_cqe cqe;
	u32 i;

	/* Nothing gets to b's requester before the third is accepted. */
	for (i = 0; i < 3; i++)
		ornic_tm_add(tt, i, i + 1, 0, 64);
	tt->fix.am.key ^= 1;
	for (i = 0; i < 3; i++) {
		u8 rvh[16] = { 0 };

		ornic_tm_put_be(rvh + 8, tt->fix.am.key, 4);
		ornic_tm_put_be(rvh + 12, 8, 4);
		ornic_tm_fill(tt, RNDV, i + 1, i * 64, 0);
		ornic_th_mr_write(&tt->fix.am, i * 64 + TMH, rvh, sizeof(rvh));
	}
	tt->fix.am.key ^= 1;
	for (i = 0; i < 3; i++)
		ornic_fix_post(&tt->fix.a, &tt->fix.am, NULL, ORNIC_WQE_SEND, 0,
			       i * 64, HDRS);
	ornic_th_settle(&tt->fix.pair);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, cqe.tm_flags, MATCH);
	}
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe),
				i ? ORNIC_CQE_WR_FLUSH_ERR :
				    ORNIC_CQE_REM_ACCESS_ERR);
		KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_TM_RECV);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, tt->fix.pair.b->event_count[ORNIC_EVENT_LAST_WQE],
			1);
}

/* All that was accepted completes before the event that says that nothing will. */
static void rndv_flush_is_complete(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	u32 i, n, matches = 0, flushed = 0, lost = 1000;
	struct ornic_cqe cqe;

	tt->fix.pair.filter = ornic_fix_drop_from_b;
	tt->fix.pair.ctx = &lost;
	for (n = 0; n < 2; n++) {
		for (i = 0; i < ORNIC_TM_MAX_TAGS; i++)
			ornic_tm_add(tt, i, i + 1, 0, 64);
		for (i = 0; i < ORNIC_TM_MAX_TAGS; i++)
			ornic_tm_send_rndv(tt, i + 1, 0, 8, 50000 + i * 64);
	}
	while (!ornic_fix_status(&tt->tcq, &cqe))
		matches += cqe.tm_flags == MATCH;
	KUNIT_EXPECT_EQ(test, matches, 16);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&tt->fix.b, ORNIC_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, tt->fix.pair.b->event_count[ORNIC_EVENT_LAST_WQE],
			1);
	while (ornic_fix_status(&tt->tcq, &cqe) == ORNIC_CQE_WR_FLUSH_ERR)
		flushed++;
	KUNIT_EXPECT_EQ(test, flushed, 16);
}

static void rndv_eager_too_long(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_cqe cqe;

	ornic_tm_add(tt, 7, 5, 0, 100);
	ornic_tm_send_eager(tt, 5, 101);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe),
			ORNIC_CQE_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_TM_RECV);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 7);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.ascq, &cqe),
			ORNIC_CQE_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_ERR);
}

/* The tagged receive of a message that does not end is flushed. */
static void rndv_error_within_a_message(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_txinfo first = {
		.opcode = ORNIC_OP_SEND_FIRST,
		.psn = ORNIC_FIX_PSN,
	};
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, 7, 0,
					     0 };
	struct ornic_cqe cqe;

	ornic_tm_add(tt, 7, 0, 0, 5000);
	memset(tt->fix.buf, 0, ORNIC_TM_MTU);
	tt->fix.buf[0] = EAGER;
	ornic_th_inject(&tt->fix.b, &first, tt->fix.buf, ORNIC_TM_MTU);
	ornic_tm_expect(test, tt, &match);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&tt->fix.b, ORNIC_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tcq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_TM_RECV);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 7);
}

/* The producer of a queue that the host does not have means nothing. */
static void rndv_rings_of_the_device_are_not_read(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)tt->fix.b.mem;
	struct ornic_cqe cqe;

	rec->producer = cpu_to_le32(5);
	ornic_th_kick(&tt->fix.b);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.bscq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_RTS);
	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_tm_add(tt, 7, 5, 0, 64);
	ornic_tm_send_rndv(tt, 5, 0, 8, 50000);
	expect_fin(test, tt, 8, 50000, 60000);
}

/* A QP that begins anew has no rendezvous of before. */
static void rndv_reset_forgets_rendezvous(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_cqe cqe;
	u32 i;

	/* More than have a place at a time. */
	for (i = 0; i < 20; i++) {
		ornic_tm_add(tt, 1, 5, 0, 64);
		ornic_tm_send_rndv(tt, 5, 0, 8,
				   50000); /* no receive of a FIN */
		while (!ornic_fix_status(&tt->tcq, &cqe))
			;
		KUNIT_ASSERT_EQ(test, ornic_th_to(&tt->fix.b, ORNIC_QPS_RESET),
				0);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&tt->fix.a, ORNIC_QPS_RESET),
				0);
		KUNIT_ASSERT_EQ(test, ornic_fix_connect(&tt->fix), 0);
	}
	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_th_settle(&tt->fix.pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.arcq, &cqe), 0xff);
	ornic_tm_add(tt, 2, 6, 0, 64);
	ornic_tm_send_rndv(tt, 6, 0, 8, 50064);
	expect_fin(test, tt, 8, 50064, 60000);
}

/* A counter of everything that b does, in the first page of @mem. */
static int count_all(struct ornic_tm_test *tt, u8 *mem)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_COMP_CNTR };
	union ornic_rsp rsp;
	int status;

	req.create_comp_cntr.mem.addr = cpu_to_le64((u64)(uintptr_t)mem);
	req.create_comp_cntr.mem.npages = cpu_to_le32(1);
	req.create_comp_cntr.mem.page_shift = ORNIC_PAGE_SHIFT;
	status = ornic_th_cmd(tt->fix.pair.b, &req, &rsp);
	if (status)
		return status;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_ATTACH_COMP_CNTR;
	req.hdr.obj = cpu_to_le32(tt->fix.b.qpn);
	req.attach_comp_cntr.cntr = rsp.hdr.obj;
	req.attach_comp_cntr.ops = (1 << ORNIC_CNTR_OPS) - 1;
	return ornic_th_cmd(tt->fix.pair.b, &req, &rsp);
}

/* Each message once, when it is complete, and not what the device does for it. */
static void rndv_counts_as_a_receive(struct kunit *test)
{
	struct ornic_tm_test *tt = test->priv;
	const struct ornic_comp_cntr_record *rec;
	u8 *mem;

	KUNIT_ASSERT_EQ(test, ornic_tm_open_kind(tt, ORNIC_FIX_WIRE), 0);
	mem = ornic_th_alloc(tt->fix.pair.b, 4096);
	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, count_all(tt, mem), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&tt->fix), 0);
	rec = (const struct ornic_comp_cntr_record *)mem;
	ornic_fix_recv(&tt->fix.a, &tt->fix.am, 8, 60000, HDRS);
	ornic_tm_add(tt, 1, 5, 0, 5000);
	ornic_tm_send_rndv(tt, 5, 0, 5000, 50000);
	expect_fin(test, tt, 8, 50000, 60000);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(rec->completions), 1);
	ornic_tm_add(tt, 2, 6, 0, 5000);
	ornic_tm_send_eager(tt, 6, 5000);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(rec->completions), 2);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(rec->errors), 0);
}

/* The READ of the data is the QP's own; it ends as one that a program has posted. */
static void rndv_without_a_pkey(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_engine *eng = tt->fix.pair.b->eng;
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, 7, 5,
					     5000 };
	struct ornic_cqe cqe;
	u32 lost = 100;

	tt->fix.pair.filter = ornic_fix_drop_from_b;
	tt->fix.pair.ctx = &lost;
	ornic_tm_add(tt, 7, 5, 0, 5000);
	ornic_tm_send_rndv(tt, 5, 0, 5000, 50000);
	ornic_tm_expect(test, tt, &match);
	KUNIT_EXPECT_EQ(test, ornic_tm_status(tt), 0xff);
	KUNIT_ASSERT_EQ(test, ornic_engine_pkey_set(eng, 0, 0), 0);
	ornic_th_run(tt->fix.pair.b);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->tcq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_PKEY);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 7);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_ERR);
}

/* What changes the list sends nothing. */
static void rndv_list_needs_no_pkey(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_engine *eng = tt->fix.pair.b->eng;

	KUNIT_ASSERT_EQ(test, ornic_engine_pkey_set(eng, 0, 0), 0);
	ornic_tm_add(tt, 1, 5, 0, 100);
	ornic_tm_add(tt, 2, 6, 0, 100);
	ornic_tm_del(tt, 1, 0);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 1);
	KUNIT_EXPECT_EQ(test, ornic_tm_sync(tt, 0), 0);
}

static struct kunit_case rndv_cases[] = {
	KUNIT_CASE_PARAM(rndv_reads_and_says_so, rndv_gen_params),
	KUNIT_CASE(rndv_one_after_the_other),
	KUNIT_CASE(rndv_has_a_bound),
	KUNIT_CASE_PARAM(rndv_that_does_not_fit, rest_gen_params),
	KUNIT_CASE_PARAM(rndv_waits_for_rts, early_gen_params),
	KUNIT_CASE_PARAM(rndv_uses_what_it_reaches, reach_gen_params),
	KUNIT_CASE_PARAM(rndv_may_be_solicited, solicited_gen_params),
	KUNIT_CASE(rndv_with_a_bad_key),
	KUNIT_CASE(rndv_flush_is_complete),
	KUNIT_CASE(rndv_eager_too_long),
	KUNIT_CASE(rndv_error_within_a_message),
	KUNIT_CASE(rndv_rings_of_the_device_are_not_read),
	KUNIT_CASE(rndv_reset_forgets_rendezvous),
	KUNIT_CASE(rndv_counts_as_a_receive),
	KUNIT_CASE(rndv_without_a_pkey),
	KUNIT_CASE(rndv_list_needs_no_pkey),
	{}
};

static struct kunit_suite rndv_suite = {
	.name = "ornic_rndv",
	.init = rndv_init,
	.exit = ornic_suite_exit,
	.test_cases = rndv_cases,
};

kunit_test_suite(rndv_suite);

MODULE_DESCRIPTION("ornic: rendezvous suite");
MODULE_LICENSE("Dual BSD/GPL");
