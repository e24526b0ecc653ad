// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* MRs with gaps: registering segments, finding bytes in them, invalidation. */
#include "segments_fixture.h"

#include "engine/frmr.h"
#include "engine/proto.h"

#define PAGE 4096u

/* ---- Commands --------------------------------------------------------------------- */

static const struct create_row {
	const char *name;
	u8 flags;
	u32 room;
	int status;
} create_rows[] = {
	{ "a segment", ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, 1, ORNIC_OK },
	{ "all there can be", ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, SEGS_ROOM,
	  ORNIC_OK },
	{ "none", ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, 0, ORNIC_BAD_PARAM },
	{ "one more", ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS, SEGS_ROOM + 1,
	  ORNIC_BAD_PARAM },
	{ "no FRMR", ORNIC_MKEY_SG_GAPS, 8, ORNIC_BAD_PARAM },
	{ "of all memory", ORNIC_MKEY_DMA | ORNIC_MKEY_SG_GAPS, 0,
	  ORNIC_BAD_PARAM },
	{ "of all memory, FRMR",
	  ORNIC_MKEY_FAST | ORNIC_MKEY_DMA | ORNIC_MKEY_SG_GAPS, 8,
	  ORNIC_BAD_PARAM },
	{ "at an offset", ORNIC_MKEY_OFFSET | ORNIC_MKEY_SG_GAPS, 8,
	  ORNIC_BAD_PARAM },
	{ "pages on demand, FRMR",
	  ORNIC_MKEY_FAST | ORNIC_MKEY_ODP | ORNIC_MKEY_SG_GAPS, 8,
	  ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(create, create_rows, name);

static void gaps_create_checks(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct segs_test *gt = segs_open(test, ORNIC_FIX_WIRE, SEGS_ONE);
	struct ornic_th *th = gt->fix.pair.b;
	u32 key;

	KUNIT_ASSERT_EQ(test, ornic_th_mkey(th, row->flags, row->room, 0, &key),
			row->status);
	if (!row->status)
		KUNIT_EXPECT_EQ(test, 0,
				ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY,
						     key));
}

static void gaps_have_a_capability(struct kunit *test)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_DEVICE };
	struct segs_test *gt = segs_open(test, ORNIC_FIX_WIRE, SEGS_ONE);
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test, ornic_th_cmd(gt->fix.pair.b, &req, &rsp), 0);
	KUNIT_EXPECT_TRUE(test, le64_to_cpu(rsp.query_device.caps) &
					ORNIC_CAP_SG_GAPS);
}

/* ---- Registering ------------------------------------------------------------------ */

/* What is wrong with the list. */
enum flaw {
	NO_FLAW,
	EMPTY_SEGMENT,
	NO_MEMORY, /* at the address of a segment */
	BEYOND_MEMORY, /* a segment is longer than that */
	HUGE_SEGMENT,
	WRAPS, /* the sum of all lengths does */
	ODD_LIST,
	NO_LIST,
	ODD_PAGE, /* the second one, of the segments */
	NO_PAGE,
};

static const struct reg_row {
	const char *name;
	enum segs_shape shape;
	enum flaw flaw;
	s32 more; /* bytes than the segments have */
	u32 n; /* segments; 0: as many as there are */
	u8 shift;
	enum ornic_vendor_err verr;
} reg_rows[] = {
	{ "fine", SEGS_FEW, NO_FLAW, 0, 0, 0, 0 },
	{ "two pages of segments", SEGS_TINY, NO_FLAW, 0, 0, 0, 0 },
	{ "not all bytes", SEGS_FEW, NO_FLAW, -800, 0, 0, 0 },
	{ "a byte more", SEGS_FEW, NO_FLAW, 1, 0, 0, ORNIC_VERR_BAD_LENGTH },
	{ "no bytes", SEGS_ONE, NO_FLAW, -9000, 0, 0, ORNIC_VERR_BAD_LENGTH },
	{ "more than its room", SEGS_TINY, NO_FLAW, 0, SEGS_ROOM + 1, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "many more", SEGS_TINY, NO_FLAW, 0, -1u, 0, ORNIC_VERR_BAD_LENGTH },
	{ "pages", SEGS_FEW, NO_FLAW, 0, 0, 12, ORNIC_VERR_BAD_LENGTH },
	{ "an empty segment", SEGS_FEW, EMPTY_SEGMENT, -8000, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "no memory at a segment", SEGS_FEW, NO_MEMORY, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "a segment beyond its memory", SEGS_FEW, BEYOND_MEMORY, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "a segment larger than any MR", SEGS_FEW, HUGE_SEGMENT, 0, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "lengths that wrap", SEGS_FEW, WRAPS, 0, 0, 0,
	  ORNIC_VERR_BAD_LENGTH },
	{ "a list within a page", SEGS_FEW, ODD_LIST, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "no memory for the list", SEGS_FEW, NO_LIST, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "a list of lists within a page", SEGS_TINY, ODD_LIST, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "no memory for the list of lists", SEGS_TINY, NO_LIST, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "a second page within a page", SEGS_TINY, ODD_PAGE, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "no memory for the second page", SEGS_TINY, NO_PAGE, 0, 0, 0,
	  ORNIC_VERR_LKEY_RANGE },
};

KUNIT_ARRAY_PARAM_DESC(reg, reg_rows, name);

static void break_list(struct segs_test *gt, enum flaw flaw,
		       struct ornic_th_wr *wr)
{
	struct ornic_list_segment *last = &gt->list[gt->n - 1];

	switch (flaw) {
	case EMPTY_SEGMENT:
		last->length = 0;
		break;
	case NO_MEMORY:
		last->addr = cpu_to_le64(PAGE);
		break;
	case BEYOND_MEMORY:
		last->length = cpu_to_le64(SEGS_MEM_BYTES);
		break;
	case HUGE_SEGMENT:
		last->length = cpu_to_le64(ORNIC_MAX_MR_BYTES);
		break;
	case WRAPS:
		last->length = cpu_to_le64(U64_MAX);
		break;
	case ODD_LIST:
		wr->reg_list += sizeof(*last);
		break;
	case NO_LIST:
		wr->reg_list = PAGE;
		break;
	case ODD_PAGE:
		gt->root[1] =
			cpu_to_le64(le64_to_cpu(gt->root[1]) + sizeof(*last));
		break;
	case NO_PAGE:
		gt->root[1] = cpu_to_le64(PAGE);
		break;
	default:
		break;
	}
}

static void gaps_reg_checks(struct kunit *test)
{
	const struct reg_row *row = test->param_value;
	struct segs_test *gt = segs_open(test, ORNIC_FIX_WIRE, row->shape);
	struct ornic_th_wr wr = segs_reg_wr(gt);
	struct ornic_cqe cqe;

	wr.bind_length += row->more;
	if (row->n)
		wr.reg_npages = row->n;
	wr.reg_shift = row->shift;
	break_list(gt, row->flaw, &wr);
	ornic_th_post_send(&gt->fix.b, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&gt->fix.bscq, &cqe),
			row->verr ? ORNIC_CQE_MW_BIND_ERR : 0);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
}

/* The memory of the list is the host's again: what it becomes does not matter. */
static void gaps_list_is_read_once(struct kunit *test)
{
	struct segs_test *gt = segs_registered(test, ORNIC_FIX_LOOP, SEGS_TINY);
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_cqe cqe;

	memset(gt->list, 0xff, 2 * PAGE);
	memset(gt->root, 0xff, PAGE);
	ornic_fix_fill(&fix->am, 0, gt->bytes, 1);
	ornic_fix_post(&fix->a, &fix->am, &remote, ORNIC_WQE_WRITE, 0, 0,
		       gt->bytes);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, gt->bytes, 1), -1);
}

/* A window would need what a segment cannot give. */
static void gaps_bind_no_window(struct kunit *test)
{
	struct segs_test *gt = segs_registered(test, ORNIC_FIX_WIRE, SEGS_FEW);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_BIND_MW,
		.raddr = SEGS_IOVA,
		.bind_length = 8,
		.bind_lkey = gt->key,
		.bind_access = ORNIC_ACCESS_REMOTE_READ,
	};

	KUNIT_ASSERT_EQ(test,
			ornic_th_mw(gt->fix.pair.b, ORNIC_MW_TYPE_2, &wr.rkey),
			0);
	wr.flags = ORNIC_WQE_SIGNALED;
	KUNIT_EXPECT_EQ(test, ornic_fix_run_on_b(&gt->fix, &wr),
			ORNIC_CQE_MW_BIND_ERR);
}

/* ---- Finding ---------------------------------------------------------------------- */

KUNIT_ARRAY_PARAM_DESC(shape, segs_shape_rows, name);

static void gaps_find_each_byte(struct kunit *test)
{
	const struct segs_shape_row *row = test->param_value;
	struct segs_test *gt =
		segs_registered(test, ORNIC_FIX_LOOP, row->shape);
	struct ornic_dev *dev = &gt->fix.pair.b->eng->dev;
	struct ornic_frag frag[2] = {};
	u32 off, wrong = 0;

	for (off = 0; off < gt->bytes; off++) {
		struct ornic_iov iov = { .frag = frag, .max = 2 };

		ornic_rcu_read_lock();
		if (ornic_iov_map(&iov, dev, gt->key, ORNIC_TH_PD,
				  SEGS_IOVA + off, 1, 0) ||
		    iov.n != 1 || frag[0].len != 1 ||
		    frag[0].ptr != segs_at(gt, off))
			wrong++;
		ornic_rcu_read_unlock();
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* A piece per segment, which is never merged with the next one. */
static void gaps_are_pieces(struct kunit *test)
{
	const struct segs_shape_row *row = test->param_value;
	struct segs_test *gt =
		segs_registered(test, ORNIC_FIX_LOOP, row->shape);
	struct ornic_dev *dev = &gt->fix.pair.b->eng->dev;
	struct ornic_frag *frag =
		kunit_kzalloc(test, SEGS_ROOM * sizeof(*frag), GFP_KERNEL);
	struct ornic_iov iov = { .frag = frag, .max = SEGS_ROOM };
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, frag);
	ornic_rcu_read_lock();
	KUNIT_EXPECT_EQ(test,
			ornic_iov_map(&iov, dev, gt->key, ORNIC_TH_PD,
				      SEGS_IOVA, gt->bytes, 0),
			ORNIC_VERR_NONE);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, iov.bytes, gt->bytes);
	KUNIT_ASSERT_EQ(test, iov.n, gt->n);
	for (i = 0; i < gt->n; i++) {
		KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[i].ptr,
				    gt->mem + gt->at[i]);
		KUNIT_EXPECT_EQ(test, frag[i].len, gt->len[i]);
	}
}

/* ---- Invalidating -------------------------------------------------------------------- */

/* Other segments, fewer bytes: nothing of the old ones is left. */
static void gaps_are_registered_again(struct kunit *test)
{
	struct segs_test *gt = segs_registered(test, ORNIC_FIX_WIRE, SEGS_TINY);
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_cqe cqe;

	KUNIT_EXPECT_EQ(test, segs_reg(gt), ORNIC_CQE_MW_BIND_ERR);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->b, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_invalidate(fix, remote.key), 0);
	segs_lay_out(gt, SEGS_WORDS);
	gt->key = remote.key;
	KUNIT_ASSERT_EQ(test, segs_reg(gt), 0);
	ornic_fix_post(&fix->a, &fix->am, &remote, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, segs_touched(gt), -1);
}

static const struct inv_row {
	const char *name;
	u8 opcode; /* that invalidates */
	enum ornic_fix_kind kind;
} inv_rows[] = {
	{ "SEND_INV", ORNIC_WQE_SEND_INV, ORNIC_FIX_WIRE },
	{ "SEND_INV, loopback", ORNIC_WQE_SEND_INV, ORNIC_FIX_LOOP },
	{ "READ_INV", ORNIC_WQE_READ_INV, ORNIC_FIX_WIRE },
	{ "READ_INV, loopback", ORNIC_WQE_READ_INV, ORNIC_FIX_LOOP },
};

KUNIT_ARRAY_PARAM_DESC(inv, inv_rows, name);

/* a sends and invalidates b's key, or b reads into its MR and does. */
static void gaps_are_invalidated(struct kunit *test)
{
	const struct inv_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, row->kind, SEGS_TINY);
	bool read = row->opcode == ORNIC_WQE_READ_INV;
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_lsge sge = { SEGS_IOVA, gt->bytes, gt->key };
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(gt->key),
		.raddr = fix->am.iova,
		.rkey = fix->am.key,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	ornic_fix_fill(&fix->am, 0, gt->bytes, 1);
	ornic_fix_recv(&fix->b, &fix->bm, 5, 0, ORNIC_FIX_MR_BYTES);
	if (!read)
		sge = ornic_fix_sge(&fix->am, 0, gt->bytes);
	ornic_th_post_send(read ? &fix->b : &fix->a, &wr);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test,
			ornic_fix_status(read ? &fix->bscq : &fix->ascq, &cqe),
			0);
	if (read)
		KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, gt->bytes, 1), -1);
	ornic_fix_post(&fix->a, &fix->am, &remote, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
}

/* MODIFY_MKEY is for MRs of commands. */
static void gaps_are_not_modified(struct kunit *test)
{
	struct segs_test *gt = segs_registered(test, ORNIC_FIX_WIRE, SEGS_FEW);
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_MODIFY_MKEY,
		.hdr.obj = cpu_to_le32(gt->key),
	};
	union ornic_rsp rsp;

	req.modify_mkey.mask = ORNIC_MKEYM_ACCESS;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(gt->fix.pair.b, &req, &rsp),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(gt->fix.pair.b,
					     ORNIC_CMD_DESTROY_MKEY, gt->key),
			0);
}

static struct kunit_case gaps_cases[] = {
	KUNIT_CASE_PARAM(gaps_create_checks, create_gen_params),
	KUNIT_CASE(gaps_have_a_capability),
	KUNIT_CASE_PARAM(gaps_reg_checks, reg_gen_params),
	KUNIT_CASE(gaps_list_is_read_once),
	KUNIT_CASE(gaps_bind_no_window),
	KUNIT_CASE_PARAM(gaps_find_each_byte, shape_gen_params),
	KUNIT_CASE_PARAM(gaps_are_pieces, shape_gen_params),
	KUNIT_CASE(gaps_are_registered_again),
	KUNIT_CASE_PARAM(gaps_are_invalidated, inv_gen_params),
	KUNIT_CASE(gaps_are_not_modified),
	{}
};

static struct kunit_suite gaps_suite = {
	.name = "ornic_sg_gaps",
	.init = segs_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = gaps_cases,
};

kunit_test_suite(gaps_suite);

MODULE_DESCRIPTION("ornic: suite of MRs with gaps");
MODULE_LICENSE("Dual BSD/GPL");
