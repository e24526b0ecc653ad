// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* MRs with gaps as the memory of tagged receives. */
#include "segments_fixture.h"
#include "tm_fixture.h"

#define TAG 5
#define RECV_ID 7
#define RNDV_AT 50000u

/**
 * struct tags_test - QP b of @tm takes tagged receives, whose memory is @segs
 * @tm: the fixture
 * @segs: the MR; it has no fixture of its own
 * @reg: a QP of b's host that registers it
 * @paged: an ODP MR without pages
 */
struct tags_test {
	struct ornic_tm_test tm;
	struct segs_test segs;
	struct ornic_th_qp reg;
	struct ornic_th_mr paged;
};

static_assert(offsetof(struct tags_test, tm.fix) == 0);

static int tags_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct tags_test));
}

static struct tags_test *open_tags(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC,
					.flags = ORNIC_QP_FAST_REG };
	struct tags_test *tt = test->priv;
	struct ornic_fixture *fix = &tt->tm.fix;
	struct ornic_th_wr wr;
	struct ornic_cqe cqe;

	ornic_tm_open(test, kind);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.b, &tt->reg, &init,
					 &fix->bscq, &fix->bscq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&tt->reg, NULL, ORNIC_TH_IPV4),
			0);
	segs_make(test, &tt->segs, fix->pair.b, SEGS_TINY);
	wr = segs_next_reg_wr(&tt->segs);
	ornic_th_post_send(&tt->reg, &wr);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->bscq, &cqe), 0);
	return tt;
}

static void add_recv(struct tags_test *tt)
{
	struct ornic_lsge sge = { SEGS_IOVA, tt->segs.bytes, tt->segs.key };

	ornic_tm_add_sges(&tt->tm, RECV_ID, TAG, &sge, 1);
}

/* The first @len bytes have pattern @seed, and nothing else has changed. */
static void expect_segs(struct kunit *test, const struct tags_test *tt, u32 len,
			u32 seed)
{
	KUNIT_EXPECT_EQ(test, segs_differ(&tt->segs, 0, len, seed), -1);
	KUNIT_EXPECT_EQ(
		test, segs_differ(&tt->segs, len, tt->segs.bytes - len, 1), -1);
	KUNIT_EXPECT_EQ(test, segs_touched(&tt->segs), -1);
}

static const struct kind_row {
	const char *name;
	enum ornic_fix_kind kind;
} kind_rows[] = {
	{ "wire", ORNIC_FIX_WIRE },
	{ "loopback", ORNIC_FIX_LOOP },
	{ "peer engine", ORNIC_FIX_PEER },
};

KUNIT_ARRAY_PARAM_DESC(kind, kind_rows, name);

static void gaps_take_eager_messages(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct tags_test *tt = open_tags(test, row->kind);
	u32 len = ORNIC_TM_MTU - TMH;
	struct ornic_cqe cqe;

	segs_fill(&tt->segs, 1);
	add_recv(tt);
	ornic_tm_send_eager(&tt->tm, TAG, len);
	ornic_tm_expect_match(test, &tt->tm, RECV_ID, TAG, len);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tt->tm.fix.ascq, &cqe), 0);
	expect_segs(test, tt, len, TAG);
}

/* The device READs into the MR, on the wire in several packets. */
static void gaps_take_rendezvous(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct tags_test *tt = open_tags(test, row->kind);
	struct ornic_tm_test *tm = &tt->tm;
	const u32 len = tt->segs.bytes - 3;
	const struct ornic_tm_want match = { ORNIC_CQE_TM_RECV, MATCH, RECV_ID,
					     TAG, len };
	const struct ornic_tm_want data = { ORNIC_CQE_TM_RECV, VALID, RECV_ID,
					    0, len };
	struct ornic_cqe cqe;

	segs_fill(&tt->segs, 1);
	ornic_fix_recv(&tm->fix.a, &tm->fix.am, 8, 60000, HDRS);
	ornic_fix_fill(&tm->fix.am, 100, len, 3);
	add_recv(tt);
	ornic_tm_send_rndv(tm, TAG, 100, len, RNDV_AT);
	ornic_tm_expect(test, tm, &match);
	ornic_tm_expect(test, tm, &data);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&tm->fix.arcq, &cqe), 0);
	expect_segs(test, tt, len, 3);
}

/* The MR is in the free state when the message comes. */
static void gaps_that_have_gone_take_none(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct tags_test *tt = open_tags(test, row->kind);
	struct ornic_th_wr inv = {
		.opcode = ORNIC_WQE_LOCAL_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(tt->segs.key),
	};
	struct ornic_fixture *fix = &tt->tm.fix;
	struct ornic_cqe cqe;

	segs_fill(&tt->segs, 1);
	add_recv(tt);
	ornic_th_post_send(&tt->reg, &inv);
	ornic_th_settle(&fix->pair);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->bscq, &cqe), 0);
	ornic_tm_send_eager(&tt->tm, TAG, 100);
	KUNIT_EXPECT_EQ(test, ornic_tm_status(&tt->tm), ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_OP_ERR);
	expect_segs(test, tt, 0, TAG);
}

/* Pages on demand are not for tagged receives, with gaps before them neither. */
static void gaps_wait_for_no_pages(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct tags_test *tt = open_tags(test, row->kind);
	struct ornic_fixture *fix = &tt->tm.fix;
	struct ornic_lsge sge[2] = { { SEGS_IOVA, 600, tt->segs.key } };
	struct ornic_th_fault fault;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.b, &tt->paged, 4096, 0,
					  ORNIC_ACCESS_MR_MASK),
			0);
	sge[1] = ornic_fix_sge(&tt->paged, 0, 4096);
	segs_fill(&tt->segs, 1);
	ornic_tm_add_sges(&tt->tm, RECV_ID, TAG, sge, ARRAY_SIZE(sge));
	ornic_tm_send_eager(&tt->tm, TAG, 601);
	KUNIT_EXPECT_EQ(test, ornic_tm_status(&tt->tm), ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_OP_ERR);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(&fix->b, &fault));
	KUNIT_EXPECT_EQ(
		test, segs_differ(&tt->segs, 600, tt->segs.bytes - 600, 1), -1);
	KUNIT_EXPECT_EQ(test, segs_touched(&tt->segs), -1);
}

static struct kunit_case tags_cases[] = {
	KUNIT_CASE_PARAM(gaps_take_eager_messages, kind_gen_params),
	KUNIT_CASE_PARAM(gaps_take_rendezvous, kind_gen_params),
	KUNIT_CASE_PARAM(gaps_that_have_gone_take_none, kind_gen_params),
	KUNIT_CASE_PARAM(gaps_wait_for_no_pages, kind_gen_params),
	{}
};

static struct kunit_suite tags_suite = {
	.name = "ornic_sg_gaps_tags",
	.init = tags_init,
	.exit = ornic_suite_exit,
	.test_cases = tags_cases,
};

kunit_test_suite(tags_suite);

MODULE_DESCRIPTION("ornic: MRs with gaps and tag matching");
MODULE_LICENSE("Dual BSD/GPL");
