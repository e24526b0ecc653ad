// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Page faults: messages between ODP MRs whose pages are absent, go on the way, come
 * late or never. Neither retries nor timeouts are used up, and every byte is right.
 */
#include "fault_fixture.h"

/* ---- Pages that are absent ------------------------------------------------------- */

static void check_absent(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 n;

	fault_open(test, ft->kind, row->type);
	fault_set_others(test, row->sides);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	if (row->type == ORNIC_QPT_RC)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_PAGE_FAULTS), 1);
	n = fault_settle(fix);
	/* All of the message is asked for at once. */
	KUNIT_EXPECT_GE(test, n, row->sides == BOTH ? 2 : 1);
	KUNIT_EXPECT_LE(test, n, row->sides == BOTH ? 2 : 1);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_PAGE_FAULTS), n);
	fault_expect_done(test, row);
	fault_expect_no_retries(test);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RETRIES), 0);
}

static void absent_at_first(struct kunit *test)
{
	fault_on_each(test, check_absent);
}

/* ---- Pages that go --------------------------------------------------------------- */

static void check_gone(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	u32 n;

	fault_open(test, ft->kind, row->type);
	fix->pair.filter = fault_pass_frame;
	fix->pair.ctx = ft;
	fix->pair.a->budget = PAGE;
	fix->pair.b->budget = PAGE;
	for (n = 1; n < POINTS; n++) {
		fault_set_others(test, 0);
		ornic_fix_fill(fault_sink(fix, row), 0, row->len, 3 + n);
		ft->sides = row->sides;
		ft->at = n;
		ft->events = 0;
		fault_post(fix, row);
		fault_settle_going(ft);
		KUNIT_ASSERT_TRUE(test, ft->events < POINTS);
		fault_expect_done(test, row);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_TIMEOUTS), 0);
		if (ft->at)
			break;
	}
	KUNIT_EXPECT_GT(test, n, 1);
	KUNIT_EXPECT_LT(test, n, POINTS);
}

/* A page that goes is no loss: it ends no QP that may not send again. */
static void gone_on_the_way(struct kunit *test)
{
	struct fault_test *ft = test->priv;

	ft->no_retries = true;
	fault_on_each(test, check_gone);
}

/* The sink of several responses goes at event @n. False if all come before that. */
static bool fetch_until(struct kunit *test, u32 n)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 i;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	fault_set_others(test, 0);
	ornic_fix_fill(&fix->bm, 0, 30000, 3);
	ft->sides = LOCAL;
	ft->at = n;
	fix->pair.filter = fault_pass_frame;
	fix->pair.ctx = ft;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 9000);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 30000, 8);
	/* The same sink again: its responses wait for those of the first. */
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       30000);
	fault_settle_going(ft);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ_MSG(test, ornic_fix_status(&fix->ascq, &cqe),
				    ORNIC_CQE_SUCCESS, "event %u, WQE %u", n,
				    i);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 30000, 3), -1);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RETRIES), 0);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_IMPLIED_NAK_SEQ_ERR),
			0);
	fault_expect_no_retries(test);
	return !ft->at;
}

/* The page comes again after all responses, or between them. */
static void responses_find_no_page(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	u32 soon, n;

	ft->no_retries = true;
	for (soon = 0; soon < 2; soon++) {
		ft->serve_soon = soon;
		for (n = 1; n < POINTS && fetch_until(test, n); n++)
			;
		KUNIT_EXPECT_GT(test, n, 5);
		KUNIT_EXPECT_LT(test, n, POINTS);
	}
}

/* ---- Others ----------------------------------------------------------------------- */

/* 8 bytes, of which the second page has 4 */
static const struct fault_row short_rows[] = {
	{ .desc = "WRITE", .opcode = ORNIC_WQE_WRITE, .sides = LOCAL },
	{ .desc = "READ", .opcode = ORNIC_WQE_READ, .sides = LOCAL },
	{ .desc = "WRITE, remote", .opcode = ORNIC_WQE_WRITE, .sides = REMOTE },
	{ .desc = "READ, remote", .opcode = ORNIC_WQE_READ, .sides = REMOTE },
};

KUNIT_ARRAY_PARAM_DESC(short, short_rows, desc);

static void check_short(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	const struct ornic_th_mr *mr;
	struct ornic_cqe cqe;
	u32 off;

	fault_open(test, ft->kind, ORNIC_QPT_RC);
	fault_set_others(test, row->sides);
	mr = row->sides == LOCAL ? &fix->am : &fix->bm;
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(mr, 0, 1, true), 0);
	off = PAGE - mr->off0 - 4;
	ornic_fix_fill(row->opcode == ORNIC_WQE_READ ? &fix->bm : &fix->am, off,
		       8, 3);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, off, 8);
	ornic_th_settle(&fix->pair);
	/* Whatever waits for its page is not executed, READs least of all. */
	KUNIT_EXPECT_EQ(test, ornic_th_rq_psn(&fix->b), ORNIC_FIX_PSN);
	KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, off, 8, 3), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, off, 8, 3), -1);
}

static void short_ends_on_absent_page(struct kunit *test)
{
	fault_on_each(test, check_short);
}

static const struct fault_row read_only_rows[] = {
	{ .desc = "short", .opcode = ORNIC_WQE_WRITE, .len = 8 },
	{ .desc = "long", .opcode = ORNIC_WQE_WRITE, .len = 5000 },
};

KUNIT_ARRAY_PARAM_DESC(read_only, read_only_rows, desc);

/* A page that may be read is asked for again to be written to. */
static void check_read_only(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_th_fault fault;

	fault_open(test, ft->kind, ORNIC_QPT_RC);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&fix->am, 0, 2, false), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&fix->bm, 0, 2, false), 0);
	fault_post(fix, row);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(&fix->a, &fault));
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->b, &fault));
	KUNIT_EXPECT_EQ(test, fault.queue, ORNIC_FAULT_RQ);
	KUNIT_EXPECT_EQ(test, fault.write, 1);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_set(&fix->bm, 0, 2, true), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->b, &fault, false), 0);
	fault_settle(fix);
	fault_expect_done(test, row);
}

static void page_is_read_only(struct kunit *test)
{
	fault_on_each(test, check_read_only);
}

/* While one QP waits, another one of the device does not. */
static void others_go_on(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_th_qp c, d;
	struct ornic_cqe cqe;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.a, &c, &init, &fix->arcq,
					 &fix->arcq),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.b, &d, &init, &fix->bscq,
					 &fix->bscq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&c, &d, ORNIC_TH_IPV4), 0);
	/* Of the same MRs one half is there. */
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&fix->am, 0, 8, true), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&fix->bm, 0, 8, true), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 40000,
		       20000);
	ornic_fix_post(&c, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 20000);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe),
			ORNIC_CQE_SUCCESS);
	fault_settle(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&c), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&d), 0);
}

/* Messages that follow the one that waits arrive after it, in order. */
static void check_order(struct kunit *test, const struct fault_row *row)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 i;

	fault_open(test, ft->kind, row->type);
	fault_set_others(test, row->sides);
	for (i = 0; i < 5; i++)
		ornic_fix_recv(&fix->b, &fix->bm, i, i * 9000, 9000);
	for (i = 0; i < 5; i++) {
		ornic_fix_fill(&fix->am, i * 9000, row->len, i);
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0,
			       i * 9000, row->len);
	}
	fault_settle(fix);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
				ORNIC_CQE_SUCCESS);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
		KUNIT_EXPECT_EQ(
			test,
			ornic_fix_compare(&fix->bm, i * 9000, row->len, i), -1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				ORNIC_CQE_SUCCESS);
	}
	fault_expect_no_retries(test);
}

static void messages_keep_order(struct kunit *test)
{
	const struct fault_row *row = test->param_value;

	if (row->opcode != ORNIC_WQE_SEND || row->len > 9000)
		kunit_skip(test, "another message");
	fault_on_each(test, check_order);
}

static int use_window(struct ornic_fixture *fix, u8 opcode, u32 rkey)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 9000);
	struct ornic_th_wr wr = {
		.opcode = opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova,
		.rkey = rkey,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&fix->a, &wr);
	fault_settle(fix);
	return ornic_fix_status(&fix->ascq, &cqe);
}

/* A window is bound without pages; they come when it is used. */
static void check_window(struct kunit *test, const struct fault_row *row)
{
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.bind_length = 9000,
		.bind_access = ORNIC_ACCESS_REMOTE_WRITE |
			       ORNIC_ACCESS_REMOTE_READ,
	};
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;

	fault_open(test, ft->kind, ORNIC_QPT_RC);
	fault_set_others(test, REMOTE);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mw(fix->pair.b, ORNIC_MW_TYPE_2, &wr.rkey), 0);
	wr.rkey = (wr.rkey & ~0xffu) | 0x77;
	wr.bind_lkey = fix->bm.key;
	wr.raddr = fix->bm.iova;
	KUNIT_ASSERT_EQ(test, ornic_fix_run_on_b(fix, &wr), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_PAGE_FAULTS), 0);
	ornic_fix_fill(&fix->am, 0, 9000, 1);
	KUNIT_EXPECT_EQ(test, use_window(fix, ORNIC_WQE_WRITE, wr.rkey),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_PAGE_FAULTS), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, 9000, 1), -1);
	ornic_fix_fill(&fix->am, 0, 9000, 2);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_clear(&fix->bm, 0, fix->bm.npages),
			0);
	KUNIT_EXPECT_EQ(test, use_window(fix, ORNIC_WQE_READ, wr.rkey),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 9000, 1), -1);
	fault_expect_no_retries(test);
	/* It is bound: the MR may not go. */
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&fix->bm), ORNIC_BUSY);
}

static void window_has_absent_pages(struct kunit *test)
{
	fault_on_each(test, check_window);
}

static void send_datagrams(struct kunit *test, u32 n)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 500);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.dest_qpn = fix->b.qpn,
		.dest_qkey = fix->b.conn.qkey,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_av av;
	u32 i;

	ornic_th_av(&av, fix->pair.b->index, ORNIC_TH_IPV4);
	KUNIT_ASSERT_EQ(test, ornic_th_ah(fix->pair.a, &av, &wr.ah), 0);
	for (i = 0; i < n; i++) {
		ornic_fix_recv(&fix->b, &fix->bm, i, i * 600, 600);
		ornic_fix_fill(&fix->am, i * 500, 500, i);
		sge.addr = fix->am.iova + i * 500;
		wr.wr_id = i;
		ornic_th_post_send(&fix->a, &wr);
		ornic_th_settle(&fix->pair);
	}
}

/* Datagrams wait for the memory of their receive, as many as there is room for. */
static void datagrams_are_held(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 k, i;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		fault_open(test, kinds[k], ORNIC_QPT_UD);
		fault_set_others(test, REMOTE);
		send_datagrams(test, 70);
		/* The sender does not wait. */
		for (i = 0; i < 70; i++)
			KUNIT_EXPECT_EQ(test,
					ornic_fix_status(&fix->ascq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
		fault_settle(fix);
		for (i = 0; i < 64; i++) {
			KUNIT_EXPECT_EQ(test,
					ornic_fix_status(&fix->brcq, &cqe), 0);
			KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), 540);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.src_qpn),
					fix->a.qpn);
			KUNIT_EXPECT_EQ(test,
					cqe.flags & (ORNIC_CQE_GRH |
						     ORNIC_CQE_IPV4),
					ORNIC_CQE_GRH | ORNIC_CQE_IPV4);
			KUNIT_EXPECT_EQ(
				test, memcmp(cqe.smac, fix->pair.a->mac, 6), 0);
			KUNIT_EXPECT_EQ(test,
					ornic_fix_compare(&fix->bm,
							  i * 600 + 40, 500, i),
					-1);
		}
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RX_NO_WQE), 6);
	}
}

/* What is held was in the partition when it came, and is not asked again. */
static void held_datagram_is_checked_once(struct kunit *test)
{
	static const enum ornic_fix_kind apart[] = { ORNIC_FIX_WIRE,
						     ORNIC_FIX_PEER };
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_engine *eng;
	struct ornic_cqe cqe;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(apart); k++) {
		fault_open(test, apart[k], ORNIC_QPT_UD);
		fault_set_others(test, REMOTE);
		eng = fix->pair.b->eng;
		send_datagrams(test, 1);
		KUNIT_ASSERT_EQ(test, ornic_engine_pkey_set(eng, 0, 0x8001), 0);
		KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RX_BAD_PKEY),
				0);
		send_datagrams(test, 1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RX_BAD_PKEY),
				1);
	}
}

/* Nor is a request; the ACK has the P_Key that the QP has by then. */
static void held_request_is_checked_once(struct kunit *test)
{
	static const struct fault_row row = { .opcode = ORNIC_WQE_SEND,
					      .len = 3000 };
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	fault_set_others(test, REMOTE);
	fault_post(fix, &row);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test,
			ornic_engine_pkey_set(fix->pair.b->eng, 0, 0x8001), 0);
	KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, row.len, 3), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(
		test,
		ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_RX_BAD_PKEY), 1);
	KUNIT_ASSERT_EQ(test,
			ornic_engine_pkey_set(fix->pair.a->eng, 0, 0x0001), 0);
	ornic_th_advance(&fix->pair, 100 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
}

/* What nobody asks for again is not held for ever; then no more is for that fault. */
static void holding_ends(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_cqe cqe;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		fault_open(test, kinds[k], ORNIC_QPT_UD);
		fault_set_others(test, REMOTE);
		send_datagrams(test, 10);
		ornic_th_advance(&fix->pair, 500 * ORNIC_TH_MS);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RX_NO_WQE), 0);
		ornic_th_advance(&fix->pair, 600 * ORNIC_TH_MS);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RX_NO_WQE),
				10);
		send_datagrams(test, 1);
		KUNIT_EXPECT_EQ(test, fault_stat(fix, ORNIC_STAT_RX_NO_WQE),
				11);
		KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
		send_datagrams(test, 1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 0);
	}
}

/* The SGE is longer than its MR, the message is not: only what exists is asked for. */
static void receive_is_too_long(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_lsge sge;
	struct ornic_th_fault fault;
	struct ornic_cqe cqe;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	fault_set_others(test, REMOTE);
	sge = ornic_fix_sge(&fix->bm, 60000, 100000);
	ornic_th_post_recv(&fix->b, 1, &sge, 1);
	ornic_fix_fill(&fix->am, 0, 3000, 3);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 3000);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->b, &fault));
	KUNIT_EXPECT_EQ(test, fault.addr, fix->bm.iova + 60000);
	KUNIT_EXPECT_EQ(test, fault.length, ORNIC_FIX_MR_BYTES - 60000);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->b, &fault, false), 0);
	KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 60000, 3000, 3), -1);
}

/* The host has room for the pages of one fault: each takes away all others. */
static u32 serve_in_turn(struct ornic_fixture *fix,
			 const struct ornic_th_mr *mr)
{
	struct ornic_th_fault fault;
	u32 faults, first, n;
	u64 start;

	for (faults = 0; faults < POINTS; faults++) {
		ornic_th_settle(&fix->pair);
		if (!ornic_th_fault_take(&fix->a, &fault))
			break;
		start = fault.addr - (mr->iova - mr->off0);
		first = (u32)(start / PAGE);
		n = (u32)((start + fault.length - 1) / PAGE) - first;
		ornic_th_odp_clear(mr, 0, mr->npages);
		ornic_th_odp_set(mr, first, n + 1, true);
		ornic_th_fault_end(&fix->a, &fault, false);
	}
	return faults;
}

/* A READ needs only so much of its memory at one time, however many SGEs it has. */
static void little_memory(struct kunit *test)
{
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_th_mr sink, src;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_READ,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 2,
	};
	struct ornic_lsge sge[2];
	struct ornic_cqe cqe;
	u32 n = ORNIC_FAULT_BYTES;

	fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.a, &sink, 2 * n, 9, ACCESS),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.b, &src, 2 * n, 0, ACCESS),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&src, 0, src.npages, false), 0);
	ornic_fix_fill(&src, 0, 2 * n, 5);
	sge[0] = ornic_fix_sge(&sink, 0, n);
	sge[1] = ornic_fix_sge(&sink, n, n);
	wr.sge = sge;
	wr.raddr = src.iova;
	wr.rkey = src.key;
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_LT(test, serve_in_turn(fix, &sink), 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&sink, 0, 2 * n, 5), -1);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&sink), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&src), 0);
}

/* Bytes of the null key need no page; those behind them do. */
static void null_key_is_there(struct kunit *test)
{
	static const u8 opcodes[] = { ORNIC_WQE_WRITE, ORNIC_WQE_READ };
	struct fault_test *ft = test->priv;
	struct ornic_fixture *fix = &ft->fix;
	struct ornic_lsge sge[2];
	struct ornic_th_wr wr = {
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 2,
		.sge = sge,
	};
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		fault_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
		fault_set_others(test, LOCAL);
		sge[0].addr = 0;
		sge[0].length = 100;
		sge[0].lkey = ORNIC_NULL_LKEY;
		sge[1] = ornic_fix_sge(&fix->am, 0, 5000);
		wr.opcode = opcodes[i];
		wr.raddr = fix->bm.iova;
		wr.rkey = fix->bm.key;
		ornic_th_post_send(&fix->a, &wr);
		KUNIT_EXPECT_EQ(test, fault_settle(fix), 1);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				ORNIC_CQE_SUCCESS);
	}
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE_PARAM(absent_at_first, fault_gen_params),
	KUNIT_CASE_PARAM(gone_on_the_way, fault_gen_params),
	KUNIT_CASE(responses_find_no_page),
	KUNIT_CASE_PARAM(short_ends_on_absent_page, short_gen_params),
	KUNIT_CASE_PARAM(page_is_read_only, read_only_gen_params),
	KUNIT_CASE(others_go_on),
	KUNIT_CASE_PARAM(messages_keep_order, fault_gen_params),
	KUNIT_CASE(window_has_absent_pages),
	KUNIT_CASE(datagrams_are_held),
	KUNIT_CASE(held_datagram_is_checked_once),
	KUNIT_CASE(held_request_is_checked_once),
	KUNIT_CASE(holding_ends),
	KUNIT_CASE(receive_is_too_long),
	KUNIT_CASE(little_memory),
	KUNIT_CASE(null_key_is_there),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "ornic_fault",
	.init = fault_init,
	.exit = ornic_suite_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);

MODULE_DESCRIPTION("ornic: suite of page faults");
MODULE_LICENSE("Dual BSD/GPL");
