// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tag matching: the tag list of an SRQ, and messages with tags. */
#include <kunit/test.h>

#include "tm_fixture.h"

static int tm_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct ornic_tm_test));
}

/* ---- Eager messages ------------------------------------------------------------ */

static const struct kind_row {
	const char *name;
	enum ornic_fix_kind kind;
	u32 len;
} eager_rows[] = {
	{ "wire, no data", ORNIC_FIX_WIRE, 0 },
	{ "wire, one packet", ORNIC_FIX_WIRE, ORNIC_TM_MTU - TMH },
	{ "wire, two packets", ORNIC_FIX_WIRE, ORNIC_TM_MTU - TMH + 1 },
	{ "wire, many packets", ORNIC_FIX_WIRE, 20000 },
	{ "loopback, a few bytes", ORNIC_FIX_LOOP, 8 },
	{ "loopback, many packets", ORNIC_FIX_LOOP, 20000 },
	{ "peer engine", ORNIC_FIX_PEER, 3000 },
};

KUNIT_ARRAY_PARAM_DESC(eager, eager_rows, name);

/* The header does not get into the tagged receive. */
static void tm_eager_goes_to_its_receive(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, row->kind);
	bool split = row->kind == ORNIC_FIX_WIRE &&
		     row->len + TMH > ORNIC_TM_MTU;
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, 7, 0xabc,
					     0 };
	const struct ornic_tm_want data = { ORNIC_CQE_TM_RECV, VALID, 7, 0,
					    row->len };
	struct ornic_cqe cqe;

	ornic_fix_fill(&tt->fix.bm, row->len, 100, 99);
	ornic_tm_add(tt, 6, 0xabd, 0, 100);
	ornic_tm_add(tt, 7, 0xabc, 0, 25000);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 2);
	ornic_tm_send_eager(tt, 0xabc, row->len);
	if (split) {
		ornic_tm_expect(test, tt, &match);
		ornic_tm_expect(test, tt, &data);
	} else {
		ornic_tm_expect_match(test, tt, 7, 0xabc, row->len);
	}
	KUNIT_EXPECT_EQ(test, ornic_tm_status(tt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_fix_compare(&tt->fix.bm, 0, row->len, 0xabc), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&tt->fix.bm, row->len, 100, 99),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 1);
	KUNIT_EXPECT_EQ(test, ornic_tm_gone(tt), 1);
}

static const struct order_row {
	const char *name;
	u32 n; /* entries of the list */
	u64 tag[3];
	u64 mask[3];
	u64 sent;
	int match; /* index in the list, -1: none */
} order_rows[] = {
	{ "the only one", 1, { 5 }, { ANY }, 5, 0 },
	{ "the oldest of equal ones", 3, { 5, 5, 5 }, { ANY, ANY, ANY }, 5, 0 },
	{ "a wildcard that is older", 2, { 0, 5 }, { 0, ANY }, 5, 0 },
	{ "a wildcard that is newer", 2, { 5, 0 }, { ANY, 0 }, 5, 0 },
	{ "a wildcard after others", 3, { 4, 6, 0 }, { ANY, ANY, 0 }, 5, 2 },
	{ "bits that do not count", 1, { 0x100 }, { 0xff00 }, 0x1ff, 0 },
	{ "a tag with bits that do not count", 2, { 5, 4 }, { 4, 4 }, 5, 1 },
	{ "bit 63", 2, { 0, 1ull << 63 }, { ANY, ANY }, 1ull << 63, 1 },
	{ "not one of them", 3, { 4, 6, 7 }, { ANY, ANY, ANY }, 5, -1 },
};

KUNIT_ARRAY_PARAM_DESC(order, order_rows, name);

static void tm_oldest_match_wins(struct kunit *test)
{
	const struct order_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_cqe cqe;
	u32 i;

	ornic_tm_post_ring(tt, 100);
	for (i = 0; i < row->n; i++)
		ornic_tm_add_masked(tt, i, row->tag[i], row->mask[i], 0, 64);
	ornic_tm_send_eager(tt, row->sent, 8);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->tcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id),
			row->match < 0 ? 100 : row->match);
}

static const struct other_row {
	const char *name;
	u8 opcode;
	u32 len; /* of the message */
	u8 cqe;
	u32 unexpected;
} other_rows[] = {
	{ "no match", EAGER, 100, ORNIC_CQE_TM_RECV, 1 },
	{ "no match, many packets", EAGER, 5000, ORNIC_CQE_TM_RECV, 1 },
	{ "no match, rendezvous", RNDV, HDRS, ORNIC_CQE_TM_RECV, 1 },
	{ "rendezvous with more data", RNDV, 64, ORNIC_CQE_TM_RECV, 1 },
	{ "NO_TAG", NO_TAG, 100, ORNIC_CQE_TM_NO_TAG, 0 },
	{ "NO_TAG without a header", NO_TAG, 1, ORNIC_CQE_TM_NO_TAG, 0 },
	{ "NO_TAG, many packets", NO_TAG, 5000, ORNIC_CQE_TM_NO_TAG, 0 },
	{ "FIN", FIN, HDRS, ORNIC_CQE_TM_NO_TAG, 0 },
	{ "header cut off", EAGER, TMH - 1, ORNIC_CQE_RECV, 0 },
	{ "rendezvous header cut off", RNDV, HDRS - 1, ORNIC_CQE_RECV, 0 },
	{ "rendezvous too long", RNDV, 65, ORNIC_CQE_RECV, 0 },
	{ "rendezvous of many packets", RNDV, 5000, ORNIC_CQE_RECV, 0 },
	{ "opcode 4", 4, 100, ORNIC_CQE_RECV, 0 },
	{ "opcode 255", 255, 100, ORNIC_CQE_RECV, 0 },
	{ "nothing at all", 4, 0, ORNIC_CQE_RECV, 0 },
};

KUNIT_ARRAY_PARAM_DESC(other, other_rows, name);

/* All of it, with its header, goes to a receive of the ring. */
static void tm_others_go_to_the_ring(struct kunit *test)
{
	const struct other_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	const struct ornic_tm_want want = { row->cqe, 0, 3, 0, row->len };
	u32 unexpected, body = row->len > TMH ? row->len - TMH : 0;
	u8 first = 0xee, tag = 0xee;

	ornic_tm_add(tt, 1, 0x78, 0, 8192);
	ornic_tm_post_ring(tt, 3);
	ornic_tm_fill(tt, row->opcode, 0x77, 0, 6000);
	ornic_tm_post_message(tt, 0, row->len);
	ornic_tm_expect(test, tt, &want);
	if (row->len) {
		ornic_th_mr_read(&tt->fix.bm, 0, &first, 1);
		KUNIT_EXPECT_EQ(test, first, row->opcode);
	}
	if (row->len >= TMH) {
		ornic_th_mr_read(&tt->fix.bm, TMH - 1, &tag, 1);
		KUNIT_EXPECT_EQ(test, tag, 0x77);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&tt->fix.bm, TMH, body, 0x77),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, &unexpected), 1);
	KUNIT_EXPECT_EQ(test, unexpected, row->unexpected);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_RTS);
}

/* What waits for a receive has not been looked at: a later receive may match it. */
static void tm_waiting_message_is_not_unexpected(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	u32 unexpected;

	ornic_tm_send_eager(tt, 5, 100);
	KUNIT_EXPECT_EQ(test, ornic_tm_status(tt), 0xff);
	ornic_tm_list_length(tt, &unexpected);
	KUNIT_EXPECT_EQ(test, unexpected, 0);
	ornic_tm_add(tt, 1, 5, 0, 100);
	ornic_th_advance(&tt->fix.pair, 5 * ORNIC_TH_MS);
	ornic_tm_expect_match(test, tt, 1, 5, 100);
}

/* WRITE with immediate data takes from the ring, whatever was received before. */
static void tm_write_imm_takes_from_the_ring(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	const struct ornic_tm_want want = { ORNIC_CQE_RECV_WRITE_IMM, 0, 4, 0,
					    200 };

	ornic_tm_add(tt, 1, 5, 0, 100);
	ornic_tm_post_ring(tt, 4);
	ornic_tm_send_eager(tt, 5, 10);
	ornic_tm_expect_match(test, tt, 1, 5, 10);
	ornic_fix_post(&tt->fix.a, &tt->fix.am, &tt->fix.bm,
		       ORNIC_WQE_WRITE_IMM, 0, 0, 200);
	ornic_th_settle(&tt->fix.pair);
	ornic_tm_expect(test, tt, &want);
}

/* ---- Counts of unexpected messages --------------------------------------------- */

static void tm_new_tags_wait_for_the_count(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_seg_tag seg = { .tag = cpu_to_le64(6) };
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 4; i++)
		ornic_tm_post_ring(tt, 100 + i);
	ornic_tm_add(tt, 1, 9, 0, 64);
	ornic_tm_send_eager(tt, 5, 8);
	ornic_tm_expect_unexpected(test, tt, 100, TMH + 8);
	/* It says so, and matches nothing; the older one does. */
	seg.mask = cpu_to_le64(ANY);
	seg.recv_wr_id = cpu_to_le64(2);
	ornic_tm_change_list(tt, ORNIC_WQE_TAG_ADD, ORNIC_WQE_SIGNALED, &seg,
			     NULL);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&tt->ocq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_TAG_ADD);
	KUNIT_EXPECT_EQ(test, cqe.tm_flags, ORNIC_CQE_TM_SYNC_REQ);
	ornic_tm_send_eager(tt, 6, 8);
	ornic_tm_expect_unexpected(test, tt, 101, TMH + 8);
	ornic_tm_send_eager(tt, 9, 8);
	ornic_tm_expect_match(test, tt, 1, 9, 8);
	KUNIT_EXPECT_EQ(test, ornic_tm_sync(tt, 1), ORNIC_CQE_TM_SYNC_REQ);
	ornic_tm_send_eager(tt, 6, 0);
	ornic_tm_expect_unexpected(test, tt, 102, TMH);
	KUNIT_EXPECT_EQ(test, ornic_tm_sync(tt, 3), 0);
	ornic_tm_send_eager(tt, 6, 0);
	ornic_tm_expect_match(test, tt, 2, 6, 0);
}

/* The count may come with what it allows, in one. */
static void tm_count_comes_with_an_add(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_seg_tag seg = {
		.recv_wr_id = cpu_to_le64(2),
		.tag = cpu_to_le64(6),
		.mask = cpu_to_le64(ANY),
		.unexpected = cpu_to_le32(1),
	};

	ornic_tm_post_ring(tt, 100);
	ornic_tm_send_eager(tt, 5, 8);
	ornic_tm_expect_unexpected(test, tt, 100, TMH + 8);
	ornic_tm_change_list(tt, ORNIC_WQE_TAG_ADD, ORNIC_WQE_UNEXPECTED, &seg,
			     NULL);
	ornic_tm_send_eager(tt, 6, 0);
	ornic_tm_expect_match(test, tt, 2, 6, 0);
}

/* Without the flag it is a completion, and says nothing. */
static void tm_sync_needs_its_flag(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_seg_tag seg = { .unexpected = cpu_to_le32(5) };
	struct ornic_cqe cqe = { .tm_flags = 0xff };

	ornic_tm_change_list(tt, ORNIC_WQE_TAG_SYNC, ORNIC_WQE_SIGNALED, &seg,
			     NULL);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->ocq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, cqe.tm_flags, 0);
	ornic_tm_add(tt, 1, 6, 0, 64);
	ornic_tm_send_eager(tt, 6, 0);
	ornic_tm_expect_match(test, tt, 1, 6, 0);
}

static void end_too_long(struct ornic_tm_test *tt)
{
	ornic_tm_post_ring(tt, 100);
	ornic_tm_send_eager(tt, 5, 8192);
}

static void end_bad_key(struct ornic_tm_test *tt)
{
	struct ornic_lsge sge = ornic_fix_sge(&tt->fix.bm, 0, 8192);

	sge.lkey ^= 1;
	ornic_th_post_srq(&tt->srq, 100, &sge, 1);
	ornic_tm_send_eager(tt, 5, 10);
}

/* A message of which nothing more comes, and a receive that waits for the count. */
static void begin_unexpected(struct ornic_tm_test *tt)
{
	struct ornic_txinfo first = {
		.opcode = ORNIC_OP_SEND_FIRST,
		.psn = ORNIC_FIX_PSN,
	};

	ornic_tm_post_ring(tt, 100);
	memset(tt->fix.buf, 0, ORNIC_TM_MTU);
	tt->fix.buf[0] = EAGER;
	ornic_th_inject(&tt->fix.b, &first, tt->fix.buf, ORNIC_TM_MTU);
	ornic_tm_add(tt, 1, 6, 0, 64);
}

static void end_error(struct ornic_tm_test *tt)
{
	begin_unexpected(tt);
	ornic_th_to(&tt->fix.b, ORNIC_QPS_ERR);
}

static void end_reset(struct ornic_tm_test *tt)
{
	begin_unexpected(tt);
	ornic_th_to(&tt->fix.b, ORNIC_QPS_RESET);
}

static void end_destroy(struct ornic_tm_test *tt)
{
	begin_unexpected(tt);
	ornic_th_qp_fini(&tt->fix.b);
}

static const struct end_row {
	const char *name;
	void (*end)(struct ornic_tm_test *tt);
	bool added; /* a receive meanwhile */
} end_rows[] = {
	{ "too long", end_too_long, false },
	{ "no such key", end_bad_key, false },
	{ "QP in error", end_error, true },
	{ "QP reset", end_reset, true },
	{ "QP destroyed", end_destroy, true },
};

KUNIT_ARRAY_PARAM_DESC(end, end_rows, name);

/* The host cannot count a message that it is not told of, so nobody does. */
static void tm_failed_message_is_not_unexpected(struct kunit *test)
{
	const struct end_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_th_qpinit init = {
		.type = ORNIC_QPT_RC,
		.no_sq = true,
		.srq = &tt->srq,
	};
	u32 unexpected;
	struct ornic_cqe cqe;

	row->end(tt);
	while (ornic_fix_status(&tt->tcq, &cqe) != 0xff)
		KUNIT_EXPECT_NE(test, cqe.status, 0);
	ornic_tm_list_length(tt, &unexpected);
	KUNIT_EXPECT_EQ(test, unexpected, 0);
	if (row->end != end_destroy)
		KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&tt->fix.b), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(tt->fix.pair.b, &tt->fix.b, &init,
					 &tt->fix.bscq, &tt->fix.brcq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&tt->fix.a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&tt->fix), 0);
	if (!row->added)
		ornic_tm_add(tt, 1, 6, 0, 64);
	/* All that is counted is an unexpected one that the host is told of. */
	ornic_tm_post_ring(tt, 101);
	ornic_tm_send_eager(tt, 6, 8);
	ornic_tm_expect_match(test, tt, 1, 6, 8);
	KUNIT_EXPECT_EQ(test, ornic_tm_sync(tt, 0), 0);
}

/* ---- The list ------------------------------------------------------------------ */

static const struct del_row {
	const char *name;
	u32 del;
	bool out_of_sync;
	int status;
} del_rows[] = {
	{ "the oldest", 0, false, ORNIC_CQE_SUCCESS },
	{ "one between", 1, false, ORNIC_CQE_SUCCESS },
	{ "the newest", 2, false, ORNIC_CQE_SUCCESS },
	{ "none", 3, false, ORNIC_CQE_TM_ERR },
	{ "the oldest, all wait", 0, true, ORNIC_CQE_SUCCESS },
	{ "the newest, all wait", 2, true, ORNIC_CQE_SUCCESS },
};

KUNIT_ARRAY_PARAM_DESC(del, del_rows, name);

static void tm_del_leaves_the_others(struct kunit *test)
{
	const struct del_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	u32 i;

	for (i = 0; i < 3; i++)
		ornic_tm_post_ring(tt, 100 + i);
	if (row->out_of_sync) {
		ornic_tm_send_eager(tt, 50, 0);
		ornic_tm_expect_unexpected(test, tt, 100, TMH);
	}
	for (i = 0; i < 3; i++)
		ornic_tm_add(tt, i, 10 + i, 0, 64);
	ornic_tm_del(tt, row->del, ORNIC_WQE_SIGNALED);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), row->status);
	if (row->out_of_sync) {
		ornic_tm_send_eager(tt, 11, 0);
		ornic_tm_expect_unexpected(test, tt, 101, TMH);
	}
	/* One more, so that the end of the list is in order as well. */
	ornic_tm_add(tt, 3, 13, 0, 64);
	KUNIT_EXPECT_EQ(test, ornic_tm_sync(tt, 2 * row->out_of_sync), 0);
	for (i = 0; i < 4; i++) {
		if (i == row->del && !row->status)
			continue;
		ornic_tm_send_eager(tt, 10 + i, 0);
		ornic_tm_expect_match(test, tt, i, 10 + i, 0);
	}
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 0);
	KUNIT_EXPECT_EQ(test, ornic_tm_gone(tt), 4);
}

/* A failure is told, whether it was asked for or not, and is not the end. */
static void tm_del_of_what_was_matched_fails(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_cqe cqe;

	ornic_tm_add(tt, 1, 5, 0, 64);
	ornic_tm_send_eager(tt, 5, 0);
	ornic_tm_expect_match(test, tt, 1, 5, 0);
	ornic_tm_del(tt, 1, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->ocq, &cqe),
			ORNIC_CQE_TM_ERR);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_TAG_DEL);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_TAG_UNKNOWN);
	ornic_tm_add(tt, 2, 6, 0, 64);
	ornic_tm_del(tt, 2, 0);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 0);
}

static void tm_list_has_an_end(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	u32 i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ORNIC_TM_MAX_TAGS; i++)
			ornic_tm_add(tt, i, i + 1, 0, 64);
		KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), 0xff);
		ornic_tm_add(tt, i, i + 1, 0, 64);
		KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), ORNIC_CQE_TM_ERR);
		/* From the end: the free ones are in another order then. */
		for (i = ORNIC_TM_MAX_TAGS; i--;) {
			ornic_tm_send_eager(tt, i + 1, 0);
			ornic_tm_expect_match(test, tt, i, i + 1, 0);
		}
		KUNIT_EXPECT_EQ(test, ornic_tm_gone(tt),
				(round + 1) * (ORNIC_TM_MAX_TAGS + 1));
	}
}

/* Their slots are free without a completion. */
static void tm_changes_need_no_signal(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)tt->ops.mem;
	u32 i;

	for (i = 0; i < 200; i++) {
		ornic_tm_add(tt, i, 5, 0, 64);
		KUNIT_ASSERT_EQ(test, ornic_tm_list_length(tt, NULL), 1);
		ornic_tm_del(tt, i, 0);
		KUNIT_ASSERT_EQ(test, ornic_tm_list_length(tt, NULL), 0);
	}
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->taken), 400);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), 0xff);
}

static void tm_resize_keeps_the_list(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);

	ornic_tm_add(tt, 1, 5, 0, 64);
	ornic_tm_add(tt, 2, 6, 0, 64);
	ornic_tm_del(tt, 1, 0);
	KUNIT_ASSERT_EQ(
		test, ornic_th_srq_resize(&tt->srq, ORNIC_TM_LOG_DEPTH + 1), 0);
	KUNIT_EXPECT_EQ(test, ornic_tm_gone(tt), 1);
	ornic_tm_send_eager(tt, 6, 0);
	ornic_tm_expect_match(test, tt, 2, 6, 0);
	KUNIT_EXPECT_EQ(test, ornic_tm_gone(tt), 2);
}

static const struct op_row {
	const char *name;
	u8 opcode;
	u8 flags;
	u32 nsge;
	u8 verr;
} op_rows[] = {
	{ "SEND", ORNIC_WQE_SEND, 0, 0, ORNIC_VERR_BAD_OPCODE },
	{ "LOCAL_INV", ORNIC_WQE_LOCAL_INV, 0, 0, ORNIC_VERR_BAD_OPCODE },
	{ "no such opcode", ORNIC_WQE_TAG_SYNC + 1, 0, 0,
	  ORNIC_VERR_BAD_OPCODE },
	{ "too many SGEs", ORNIC_WQE_TAG_ADD, 0, 5, ORNIC_VERR_BAD_SGE_COUNT },
	{ "SGEs of a DEL", ORNIC_WQE_TAG_DEL, 0, 1, ORNIC_VERR_BAD_SGE_COUNT },
	{ "inline", ORNIC_WQE_TAG_ADD, ORNIC_WQE_INLINE, 0,
	  ORNIC_VERR_BAD_SGE_COUNT },
	{ "no such flag", ORNIC_WQE_TAG_ADD, 0x40, 0, ORNIC_VERR_BAD_FLAGS },
};

KUNIT_ARRAY_PARAM_DESC(op, op_rows, name);

static void tm_malformed_op_ends_the_queue(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_seg_tag seg = { .tag = 0 };
	struct ornic_lsge sge[5] = { { 0 } };
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = row->flags,
		.tag = &seg,
		.sge = sge,
		.nsge = row->nsge,
	};
	struct ornic_wq_record *rec = (struct ornic_wq_record *)tt->ops.mem;
	struct ornic_cqe cqe;

	ornic_th_post_send(&tt->ops, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->ocq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
	ornic_tm_add(tt, 1, 5, 0, 64);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rec->taken), 2);
	KUNIT_EXPECT_EQ(test, ornic_tm_list_length(tt, NULL), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->ops), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&tt->ops, ORNIC_QPS_RESET),
			ORNIC_BAD_STATE);
}

/* More room than a message can need is as good as enough, as in any receive. */
static void tm_room_may_be_larger_than_a_message(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_lsge sge[2] = {
		ornic_fix_sge(&tt->fix.bm, 0, U32_MAX),
		ornic_fix_sge(&tt->fix.bm, 0, U32_MAX),
	};

	ornic_tm_add_sges(tt, 1, 5, sge, 2);
	KUNIT_EXPECT_EQ(test, ornic_tm_op_status(tt), 0xff);
	ornic_tm_send_eager(tt, 5, 100);
	ornic_tm_expect_match(test, tt, 1, 5, 100);
}

static const struct kind_row cost_rows[] = {
	{ "loopback", ORNIC_FIX_LOOP },
	{ "peer engine", ORNIC_FIX_PEER },
};

KUNIT_ARRAY_PARAM_DESC(cost, cost_rows, name);

/* Of messages that are compared with many receives a run sends fewer. */
static void tm_search_is_work(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, row->kind);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)tt->fix.a.mem;
	struct ornic_th *th = tt->fix.pair.a;
	u32 budget = th->budget, sent[2], round, i;
	struct ornic_cqe cqe;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 1 << ORNIC_TM_LOG_DEPTH; i++) {
			ornic_tm_post_ring(tt, i);
			ornic_tm_fill(tt, EAGER, 5, 0, 0);
			rec->kick_wanted = 0;
			ornic_fix_post(&tt->fix.a, &tt->fix.am, NULL,
				       ORNIC_WQE_SEND, 0, 0, TMH);
		}
		th->budget = 3264;
		ornic_th_kick(&tt->fix.a);
		th->budget = budget;
		for (sent[round] = 0; !ornic_fix_status(&tt->fix.ascq, &cqe);)
			sent[round]++;
		ornic_th_settle(&tt->fix.pair);
		while (!ornic_fix_status(&tt->fix.ascq, &cqe))
			;
		while (!ornic_fix_status(&tt->tcq, &cqe))
			;
		ornic_tm_sync(tt, 1 << ORNIC_TM_LOG_DEPTH);
		for (i = 0; i < ORNIC_TM_MAX_TAGS; i++)
			ornic_tm_add(tt, i, 6, 0, 64);
	}
	KUNIT_EXPECT_GT(test, sent[1], 0);
	KUNIT_EXPECT_LT(test, sent[1], sent[0]);
}

/* The list is for QPs of that type alone. */
static void tm_ops_are_for_their_queue(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_seg_tag seg = { .tag = 0 };
	struct ornic_th_wr wr = { .opcode = ORNIC_WQE_TAG_SYNC, .tag = &seg };
	struct ornic_cqe cqe;

	ornic_th_post_send(&tt->fix.a, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->fix.ascq, &cqe),
			ORNIC_CQE_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_BAD_OPCODE);
}

/* ---- Objects ------------------------------------------------------------------- */

static const struct srq_row {
	const char *name;
	u8 flags;
	u32 max_tags;
	bool cq;
	int status;
} srq_rows[] = {
	{ "one tag", ORNIC_SRQ_TM, 1, true, ORNIC_OK },
	{ "as many as can be", ORNIC_SRQ_TM, 1024, true, ORNIC_OK },
	{ "one too many", ORNIC_SRQ_TM, 1025, true, ORNIC_BAD_PARAM },
	{ "2^32 - 1", ORNIC_SRQ_TM, U32_MAX, true, ORNIC_BAD_PARAM },
	{ "none", ORNIC_SRQ_TM, 0, true, ORNIC_BAD_PARAM },
	{ "without a CQ", ORNIC_SRQ_TM, 1, false, ORNIC_BAD_PARAM },
	{ "and XRC", ORNIC_SRQ_TM | ORNIC_SRQ_XRC, 1, true, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(srq, srq_rows, name);

static void tm_create_srq_checks(struct kunit *test)
{
	const struct srq_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_SRQ };
	u8 *mem = ornic_th_alloc(tt->fix.pair.b, 8192);
	union ornic_rsp rsp;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	req.create_srq.mem.addr = cpu_to_le64((u64)(uintptr_t)mem);
	req.create_srq.mem.npages = cpu_to_le32(2);
	req.create_srq.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_srq.log_stride = 5;
	req.create_srq.flags = row->flags;
	req.create_srq.max_tags = cpu_to_le32(row->max_tags);
	req.create_srq.cqn = cpu_to_le32(row->cq ? tt->tcq.cqn : 0xffff);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(tt->fix.pair.b, &req, &rsp),
			row->status);
	if (row->status)
		return;
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(tt->fix.pair.b,
					     ORNIC_CMD_DESTROY_SRQ,
					     le32_to_cpu(rsp.hdr.obj)),
			0);
}

static const struct qp_row {
	const char *name;
	u8 type;
	bool no_sq;
	bool takes; /* from the SRQ */
	bool changes; /* its list */
	u8 max_sge;
	u32 pdn; /* beside the SRQ's */
	int status;
} qp_rows[] = {
	{ "RC", ORNIC_QPT_RC, true, true, false, 1, 0, ORNIC_OK },
	{ "RC with an SQ", ORNIC_QPT_RC, false, true, false, 1, 0,
	  ORNIC_BAD_PARAM },
	{ "RC of another PD", ORNIC_QPT_RC, true, true, false, 1, 1,
	  ORNIC_BAD_PARAM },
	{ "UC", ORNIC_QPT_UC, true, true, false, 1, 0, ORNIC_BAD_PARAM },
	{ "UD", ORNIC_QPT_UD, true, true, false, 1, 0, ORNIC_BAD_PARAM },
	{ "TAGS", ORNIC_QPT_TAGS, false, false, true, 4, 0, ORNIC_OK },
	{ "TAGS of another PD", ORNIC_QPT_TAGS, false, false, true, 4, 1,
	  ORNIC_OK },
	{ "TAGS with too many SGEs", ORNIC_QPT_TAGS, false, false, true, 5, 0,
	  ORNIC_BAD_PARAM },
	{ "TAGS without an SQ", ORNIC_QPT_TAGS, true, false, true, 4, 0,
	  ORNIC_BAD_PARAM },
	{ "TAGS that receives", ORNIC_QPT_TAGS, false, true, true, 4, 0,
	  ORNIC_BAD_PARAM },
	{ "TAGS without an SRQ", ORNIC_QPT_TAGS, false, false, false, 4, 0,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(qp, qp_rows, name);

static void tm_create_qp_checks(struct kunit *test)
{
	const struct qp_row *row = test->param_value;
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_th_qpinit init = {
		.type = row->type,
		.no_sq = row->no_sq,
		.max_sge = row->max_sge,
		.srq = row->takes ? &tt->srq : NULL,
		.tag_srq = row->changes ? &tt->srq : NULL,
	};
	struct ornic_th *th = tt->fix.pair.b;
	struct ornic_th_qp qp;

	th->pdn += row->pdn;
	KUNIT_EXPECT_EQ(test,
			ornic_th_qp_init(th, &qp, &init, &tt->fix.bscq,
					 &tt->fix.brcq),
			row->status);
	th->pdn -= row->pdn;
	if (!row->status)
		KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&qp), 0);
}

static void tm_tags_qp_needs_such_an_srq(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_TAGS };
	struct ornic_th *th = tt->fix.pair.b;
	struct ornic_th_srq plain;
	struct ornic_th_qp qp;

	KUNIT_ASSERT_EQ(
		test, ornic_th_srq_init(th, &plain, ORNIC_TM_LOG_DEPTH, 4), 0);
	init.tag_srq = &plain;
	KUNIT_EXPECT_EQ(test,
			ornic_th_qp_init(th, &qp, &init, &tt->ocq, &tt->ocq),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&plain), 0);
}

/* It is in use by those that take from it, and by those that change its list. */
static void tm_destroy_srq_when_unused(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_LOOP);

	ornic_tm_add(tt, 1, 5, 0, 64);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&tt->tcq), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&tt->srq), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&tt->fix.b), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&tt->srq), ORNIC_BUSY);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&tt->ops), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_srq_fini(&tt->srq), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&tt->tcq), 0);
}

/* The receives of the SRQ complete there, and nowhere else. */
static void tm_overflow_of_the_cq_ends_the_qp(struct kunit *test)
{
	struct ornic_tm_test *tt = ornic_tm_open(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = tt->fix.pair.b;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_resize(&tt->tcq, 1), 0);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b),
				ORNIC_QPS_RTS);
		ornic_tm_post_ring(tt, i);
		ornic_tm_send_eager(tt, 5, 8);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_state(&tt->fix.b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_QP_FATAL], 1);
}

static struct kunit_case tm_cases[] = {
	KUNIT_CASE_PARAM(tm_eager_goes_to_its_receive, eager_gen_params),
	KUNIT_CASE_PARAM(tm_oldest_match_wins, order_gen_params),
	KUNIT_CASE_PARAM(tm_others_go_to_the_ring, other_gen_params),
	KUNIT_CASE(tm_waiting_message_is_not_unexpected),
	KUNIT_CASE(tm_write_imm_takes_from_the_ring),
	KUNIT_CASE(tm_new_tags_wait_for_the_count),
	KUNIT_CASE(tm_count_comes_with_an_add),
	KUNIT_CASE(tm_sync_needs_its_flag),
	KUNIT_CASE_PARAM(tm_failed_message_is_not_unexpected, end_gen_params),
	KUNIT_CASE_PARAM(tm_del_leaves_the_others, del_gen_params),
	KUNIT_CASE(tm_del_of_what_was_matched_fails),
	KUNIT_CASE(tm_list_has_an_end),
	KUNIT_CASE(tm_changes_need_no_signal),
	KUNIT_CASE(tm_resize_keeps_the_list),
	KUNIT_CASE_PARAM(tm_malformed_op_ends_the_queue, op_gen_params),
	KUNIT_CASE(tm_room_may_be_larger_than_a_message),
	KUNIT_CASE_PARAM(tm_search_is_work, cost_gen_params),
	KUNIT_CASE(tm_ops_are_for_their_queue),
	KUNIT_CASE_PARAM(tm_create_srq_checks, srq_gen_params),
	KUNIT_CASE_PARAM(tm_create_qp_checks, qp_gen_params),
	KUNIT_CASE(tm_tags_qp_needs_such_an_srq),
	KUNIT_CASE(tm_destroy_srq_when_unused),
	KUNIT_CASE(tm_overflow_of_the_cq_ends_the_qp),
	{}
};

static struct kunit_suite tm_suite = {
	.name = "ornic_tm",
	.init = tm_init,
	.exit = ornic_suite_exit,
	.test_cases = tm_cases,
};

kunit_test_suite(tm_suite);

MODULE_DESCRIPTION("ornic: tag matching suite");
MODULE_LICENSE("Dual BSD/GPL");
