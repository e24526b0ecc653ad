// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* MRs with gaps beside memory of other kinds: pages on demand, and the null key. */
#include "segments_fixture.h"

#include "engine/proto.h"

#define PAGED_BYTES 5000u
#define NULL_BYTES 300u
#define MOST_EVENTS 200u

/**
 * struct beside_test - b has an MR with gaps, an ODP MR and the null key
 * @segs: the first, and the fixture
 * @paged: the second, without pages
 * @sge: all three, one after the other
 * @paged_at: bytes before the second one
 * @gaps_at: bytes before the first one
 * @bytes: of all
 * @left: events until the pages of @paged go; 0: they have, or do not
 */
struct beside_test {
	struct segs_test segs;
	struct ornic_th_mr paged;
	struct ornic_lsge sge[3];
	u32 paged_at;
	u32 gaps_at;
	u32 bytes;
	u32 left;
};

static_assert(offsetof(struct beside_test, segs.fix) == 0);

static int beside_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct beside_test));
}

static const enum ornic_fix_kind kinds[] = { ORNIC_FIX_WIRE, ORNIC_FIX_LOOP,
					     ORNIC_FIX_PEER };

static const struct beside_row {
	const char *name;
	u8 opcode;
	bool a_posts; /* else b */
	bool paged_first;
} beside_rows[] = {
	{ "SEND", ORNIC_WQE_SEND, false, false },
	{ "SEND, pages first", ORNIC_WQE_SEND, false, true },
	{ "WRITE", ORNIC_WQE_WRITE, false, false },
	{ "WRITE, pages first", ORNIC_WQE_WRITE, false, true },
	{ "READ", ORNIC_WQE_READ, false, false },
	{ "READ, pages first", ORNIC_WQE_READ, false, true },
	{ "receive", ORNIC_WQE_SEND, true, false },
	{ "receive, pages first", ORNIC_WQE_SEND, true, true },
};

KUNIT_ARRAY_PARAM_DESC(beside, beside_rows, name);

/* ---- What the cases are made of ----------------------------------------------------- */

static bool is_in(const struct beside_row *row)
{
	return row->a_posts || row->opcode == ORNIC_WQE_READ;
}

static void lay_out(struct beside_test *bt, bool paged_first)
{
	struct segs_test *gt = &bt->segs;
	const struct ornic_lsge gaps = { SEGS_IOVA, gt->bytes, gt->key };
	const struct ornic_lsge null = { 0, NULL_BYTES, ORNIC_NULL_LKEY };

	bt->sge[!paged_first] = ornic_fix_sge(&bt->paged, 0, PAGED_BYTES);
	bt->sge[paged_first] = gaps;
	bt->sge[2] = null;
	bt->paged_at = paged_first ? 0 : gt->bytes;
	bt->gaps_at = paged_first ? PAGED_BYTES : 0;
	bt->bytes = gt->bytes + PAGED_BYTES + NULL_BYTES;
}

static struct beside_test *
open_beside(struct kunit *test, enum ornic_fix_kind kind, bool paged_first)
{
	struct beside_test *bt = test->priv;
	struct segs_test *gt;

	KUNIT_EXPECT_EQ(test, ornic_fix_close(&bt->segs.fix), 0);
	gt = segs_registered(test, kind, SEGS_TINY);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(gt->fix.pair.b, &bt->paged,
					  PAGED_BYTES, 104,
					  ORNIC_ACCESS_MR_MASK),
			0);
	lay_out(bt, paged_first);
	bt->left = 0;
	return bt;
}

/* Patterns 2 and 4 at the end that has the data, others at the other one. */
static void fill_ends(struct beside_test *bt, bool in)
{
	const struct ornic_th_mr *am = &bt->segs.fix.am;

	segs_fill(&bt->segs, in ? 1 : 2);
	ornic_fix_fill(&bt->paged, 0, PAGED_BYTES, in ? 3 : 4);
	ornic_fix_fill(am, 0, bt->bytes, 5);
	if (!in)
		return;
	ornic_fix_fill(am, bt->gaps_at, bt->segs.bytes, 2);
	ornic_fix_fill(am, bt->paged_at, PAGED_BYTES, 4);
}

static void post(struct beside_test *bt, const struct beside_row *row)
{
	struct ornic_fixture *fix = &bt->segs.fix;
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->am.iova,
		.rkey = fix->am.key,
		.nsge = ARRAY_SIZE(bt->sge),
		.sge = bt->sge,
	};

	fill_ends(bt, is_in(row));
	if (row->a_posts) {
		ornic_th_post_recv(&fix->b, 5, bt->sge, ARRAY_SIZE(bt->sge));
		ornic_fix_post(&fix->a, &fix->am, NULL, row->opcode, 0, 0,
			       bt->bytes);
		return;
	}
	ornic_fix_recv(&fix->a, &fix->am, 5, 0, bt->bytes);
	ornic_th_post_send(&fix->b, &wr);
}

static int status_of(struct beside_test *bt, const struct beside_row *row)
{
	struct ornic_fixture *fix = &bt->segs.fix;
	struct ornic_cqe cqe;

	return ornic_fix_status(row->a_posts ? &fix->ascq : &fix->bscq, &cqe);
}

static u32 serve(struct beside_test *bt)
{
	return ornic_th_fault_serve(&bt->segs.fix.b, &bt->paged);
}

static bool is_zero(const struct ornic_th_mr *mr, u32 off, u32 len)
{
	u32 i, run;

	for (i = off; i < off + len; i++)
		if (*ornic_th_mr_at(mr, i, &run))
			return false;
	return true;
}

static void expect_data(struct kunit *test, struct beside_test *bt, bool in)
{
	const struct ornic_th_mr *am = &bt->segs.fix.am;
	u32 nulls = bt->bytes - NULL_BYTES;

	KUNIT_EXPECT_EQ(test, segs_differ(&bt->segs, 0, bt->segs.bytes, 2), -1);
	KUNIT_EXPECT_EQ(test, segs_touched(&bt->segs), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&bt->paged, 0, PAGED_BYTES, 4),
			-1);
	KUNIT_EXPECT_EQ(test,
			ornic_fix_compare(am, bt->gaps_at, bt->segs.bytes, 2),
			-1);
	KUNIT_EXPECT_EQ(
		test, ornic_fix_compare(am, bt->paged_at, PAGED_BYTES, 4), -1);
	KUNIT_EXPECT_EQ(test, is_zero(am, nulls, NULL_BYTES), !in);
}

/* ---- Pages that are absent ---------------------------------------------------------- */

static void check_absent(struct kunit *test, enum ornic_fix_kind kind)
{
	const struct beside_row *row = test->param_value;
	struct beside_test *bt = open_beside(test, kind, row->paged_first);
	struct ornic_fixture *fix = &bt->segs.fix;

	post(bt, row);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, status_of(bt, row), 0xff);
	KUNIT_EXPECT_EQ(test, serve(bt), 1);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, serve(bt), 0);
	KUNIT_EXPECT_EQ(test, status_of(bt, row), 0);
	expect_data(test, bt, is_in(row));
}

static void gaps_wait_for_pages_beside(struct kunit *test)
{
	u32 k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		check_absent(test, kinds[k]);
}

static void lose_pages(struct beside_test *bt)
{
	if (bt->left && !--bt->left)
		ornic_th_odp_clear(&bt->paged, 0, bt->paged.npages);
}

static enum ornic_th_verdict lose_at_frame(struct ornic_th_pair *pair,
					   struct ornic_th *from,
					   struct ornic_th_frame *frame,
					   const struct ornic_pkt *pkt)
{
	lose_pages(pair->ctx);
	return ORNIC_TH_PASS;
}

/* On loopback no frames pass: pages go between the runs of a QP. Returns the faults. */
static u32 settle_losing(struct beside_test *bt)
{
	struct ornic_th_pair *pair = &bt->segs.fix.pair;
	u32 idle = 0, faults = 0, n;
	bool more;

	while (idle < 10) {
		lose_pages(bt);
		more = ornic_th_run(pair->a);
		more |= ornic_th_run(pair->b);
		if (pair->a->tx_head || pair->b->tx_head) {
			ornic_th_settle(pair);
			more = true;
		}
		n = serve(bt);
		faults += n;
		idle = more || n ? 0 : idle + 1;
		if (idle)
			ornic_th_advance(pair, ORNIC_TH_MS / 2);
	}
	return faults;
}

/* At each moment of the message once. */
static void check_gone(struct kunit *test, enum ornic_fix_kind kind)
{
	const struct beside_row *row = test->param_value;
	/* On loopback what has no need of copies is one piece. */
	bool once = kind != ORNIC_FIX_WIRE && (is_in(row) || row->paged_first);
	struct beside_test *bt;
	u32 n, faults = 0;

	for (n = 1; n < MOST_EVENTS; n++) {
		bt = open_beside(test, kind, row->paged_first);
		KUNIT_ASSERT_EQ(test, 0,
				ornic_th_odp_set(&bt->paged, 0,
						 bt->paged.npages, true));
		bt->left = n;
		bt->segs.fix.pair.filter = lose_at_frame;
		bt->segs.fix.pair.ctx = bt;
		bt->segs.fix.pair.a->budget = 1024;
		bt->segs.fix.pair.b->budget = 1024;
		/* The first run is that of the doorbell. */
		lose_pages(bt);
		post(bt, row);
		faults += settle_losing(bt);
		KUNIT_ASSERT_EQ(test, status_of(bt, row), 0);
		expect_data(test, bt, is_in(row));
		if (bt->left)
			break;
	}
	KUNIT_EXPECT_LT(test, n, MOST_EVENTS);
	KUNIT_EXPECT_GE(test, faults, once ? 1 : 2);
}

static void gaps_stay_when_pages_beside_go(struct kunit *test)
{
	u32 k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		check_gone(test, kinds[k]);
}

/* While b waits for pages, a takes the MR with gaps away. */
static void gaps_go_while_pages_are_awaited(struct kunit *test)
{
	static const struct beside_row row = { .opcode = ORNIC_WQE_WRITE };
	struct beside_test *bt = open_beside(test, ORNIC_FIX_WIRE, false);
	struct ornic_fixture *fix = &bt->segs.fix;
	struct ornic_th_wr inv = {
		.opcode = ORNIC_WQE_SEND_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(bt->segs.key),
	};
	struct ornic_cqe cqe;

	post(bt, &row);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test, status_of(bt, &row), 0xff);
	ornic_fix_recv(&fix->b, &fix->bm, 6, 0, 8);
	ornic_th_post_send(&fix->a, &inv);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, serve(bt), 1);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->bscq, &cqe),
			ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_LKEY_UNKNOWN);
}

/* SET_PAGES and CLEAR_PAGES are for ODP MRs. */
static void gaps_take_no_pages(struct kunit *test)
{
	struct beside_test *bt = open_beside(test, ORNIC_FIX_WIRE, false);
	struct ornic_th_mr gaps = bt->paged;

	gaps.key = bt->segs.key;
	KUNIT_EXPECT_EQ(test, ornic_th_odp_set(&gaps, 0, 1, true),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_clear(&gaps, 0, 1), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_set(&bt->paged, 0, 1, true), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_odp_clear(&bt->paged, 0, 1), 0);
}

static struct kunit_case beside_cases[] = {
	KUNIT_CASE_PARAM(gaps_wait_for_pages_beside, beside_gen_params),
	KUNIT_CASE_PARAM(gaps_stay_when_pages_beside_go, beside_gen_params),
	KUNIT_CASE(gaps_go_while_pages_are_awaited),
	KUNIT_CASE(gaps_take_no_pages),
	{}
};

static struct kunit_suite beside_suite = {
	.name = "ornic_sg_gaps_beside",
	.init = beside_init,
	.exit = ornic_suite_exit,
	.test_cases = beside_cases,
};

kunit_test_suite(beside_suite);

MODULE_DESCRIPTION("ornic: MRs with gaps beside memory of other kinds");
MODULE_LICENSE("Dual BSD/GPL");
