// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* MRs with gaps: use of every kind, by a peer and by the host itself. */
#include "segments_fixture.h"

#include "engine/frmr.h"
#include "engine/proto.h"

/* ---- Use by a peer ------------------------------------------------------------------ */

static const struct use_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
	enum segs_shape shape;
	u32 off, len; /* 0: to the end */
	int status;
} use_rows[] = {
	{ "WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_FEW, 0, 0, 0 },
	{ "WRITE, many", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_TINY, 0, 0, 0 },
	{ "WRITE, a part", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_TINY, 777,
	  1999, 0 },
	{ "WRITE, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, SEGS_FEW, 0, 0,
	  0 },
	{ "WRITE, many, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, SEGS_TINY,
	  0, 0, 0 },
	{ "WRITE, many, peer engine", ORNIC_FIX_PEER, ORNIC_WQE_WRITE,
	  SEGS_TINY, 0, 0, 0 },
	{ "READ", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_FEW, 0, 0, 0 },
	{ "READ, one segment", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_ONE, 1, 0,
	  0 },
	{ "READ, many", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_TINY, 0, 0, 0 },
	{ "READ, a part", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_TINY, 777, 1999,
	  0 },
	{ "READ, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, SEGS_FEW, 0, 0, 0 },
	{ "READ, many, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, SEGS_TINY, 0,
	  0, 0 },
	{ "READ, a part, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, SEGS_TINY,
	  777, 1999, 0 },
	{ "READ, many, peer engine", ORNIC_FIX_PEER, ORNIC_WQE_READ, SEGS_TINY,
	  0, 0, 0 },
	{ "WRITE before it", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_TINY, -1u, 2,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "WRITE beyond it", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_ONE, 8999, 2,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "READ beyond it", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_ONE, 8999, 2,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "READ beyond it, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, SEGS_ONE,
	  0, 9001, ORNIC_CQE_REM_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(use, use_rows, name);

static void gaps_serve_a_peer(struct kunit *test)
{
	const struct use_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, row->kind, row->shape);
	u32 len = row->len ? row->len : gt->bytes - row->off;
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_cqe cqe;
	bool read = row->opcode == ORNIC_WQE_READ;

	segs_fill(gt, 2);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	if (row->off == -1u)
		remote.iova -= 1;
	ornic_fix_post(&fix->a, &fix->am, &remote, row->opcode, 0,
		       row->off == -1u ? 0 : row->off, len);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, segs_touched(gt), -1);
	if (row->status) {
		KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, gt->bytes, 2), -1);
		return;
	}
	KUNIT_EXPECT_EQ(test, segs_differ(gt, row->off, len, read ? 2 : 1), -1);
	KUNIT_EXPECT_EQ(test, segs_unlike(gt, row->off, len), -1);
	KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, row->off, 2), -1);
	KUNIT_EXPECT_EQ(test,
			segs_differ(gt, row->off + len,
				    gt->bytes - row->off - len, 2),
			-1);
}

/* The segments of SEGS_WORDS: 8, 12, 8, 12, ... bytes, at multiples of 4. */
static const struct word_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
	u32 off;
	int status;
} word_rows[] = {
	{ "FAA in a segment", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, 0, 0 },
	{ "FAA at a border", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, 8, 0 },
	{ "FAA over a border", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, 16,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "CAS over a border", ORNIC_FIX_WIRE, ORNIC_WQE_CAS, 16,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "ATOMIC WRITE in a segment", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE,
	  0, 0 },
	{ "ATOMIC WRITE over a border", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE,
	  16, ORNIC_CQE_REM_ACCESS_ERR },
	{ "FAA in a segment, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, 0, 0 },
	{ "FAA over a border, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, 16,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "ATOMIC WRITE over a border, loopback", ORNIC_FIX_LOOP,
	  ORNIC_WQE_ATOMIC_WRITE, 16, ORNIC_CQE_REM_ACCESS_ERR },
	{ "FAA at half a word", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, 32,
	  ORNIC_CQE_REM_INV_REQ_ERR },
	{ "FAA at half a word, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, 32,
	  ORNIC_CQE_REM_INV_REQ_ERR },
};

KUNIT_ARRAY_PARAM_DESC(word, word_rows, name);

/* A word is in one segment, or there is no way to change it at once. */
static void gaps_split_no_word(struct kunit *test)
{
	const struct word_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, row->kind, SEGS_WORDS);
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_cqe cqe;

	segs_fill(gt, 2);
	KUNIT_ASSERT_EQ(test, segs_dma(segs_at(gt, 32)) & 7, 4);
	ornic_fix_post(&fix->a, &fix->am, &remote, row->opcode, 0, row->off, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, segs_touched(gt), -1);
	KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, gt->bytes, 2),
			row->status ? -1 : (s32)row->off);
}

/* Segments that touch are two all the same: which memory touches, a peer cannot know. */
static void gaps_split_where_memory_touches(struct kunit *test)
{
	struct segs_test *gt = segs_open(test, ORNIC_FIX_WIRE, SEGS_WORDS);
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_cqe cqe;

	gt->list[7].addr = cpu_to_le64(le64_to_cpu(gt->list[6].addr) + 8);
	KUNIT_ASSERT_EQ(test, segs_reg(gt), 0);
	remote.key = gt->key;
	ornic_fix_post(&fix->a, &fix->am, &remote, ORNIC_WQE_FAA, 0, 64, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
}

static const struct flush_row {
	const char *name;
	u8 level;
	u32 off, len;
	int status;
} flush_rows[] = {
	{ "all", ORNIC_FLUSH_MR, 0, 0, 0 },
	{ "over borders", ORNIC_FLUSH_RANGE, 4990, 4000, 0 },
	{ "beyond", ORNIC_FLUSH_RANGE, 12800, 100, ORNIC_CQE_REM_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(flush, flush_rows, name);

static void gaps_flush(struct kunit *test)
{
	const struct flush_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, ORNIC_FIX_WIRE, SEGS_FEW);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_FLUSH,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = SEGS_IOVA + row->off,
		.rkey = gt->key,
		.bind_length = row->len,
		.flush_type = ORNIC_FLUSH_GLOBAL,
		.flush_level = row->level,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&gt->fix.a, &wr);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&gt->fix.pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&gt->fix.ascq, &cqe),
			row->status);
}

/* ---- Use by the host itself --------------------------------------------------------- */

static const struct local_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
	enum segs_shape shape;
} local_rows[] = {
	{ "WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_FEW },
	{ "WRITE, many", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, SEGS_TINY },
	{ "WRITE, many, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, SEGS_TINY },
	{ "WRITE, many, peer engine", ORNIC_FIX_PEER, ORNIC_WQE_WRITE,
	  SEGS_TINY },
	{ "SEND, many", ORNIC_FIX_WIRE, ORNIC_WQE_SEND, SEGS_TINY },
	{ "SEND, many, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_SEND, SEGS_TINY },
	{ "ATOMIC WRITE", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE, SEGS_TINY },
	{ "READ", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_FEW },
	{ "READ, many", ORNIC_FIX_WIRE, ORNIC_WQE_READ, SEGS_TINY },
	{ "READ, many, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, SEGS_TINY },
	{ "FAA", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, SEGS_TINY },
	{ "FAA, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, SEGS_TINY },
};

KUNIT_ARRAY_PARAM_DESC(local, local_rows, name);

/* b's memory has gaps. a's MR, at the other end, is one with pages. */
static void gaps_are_an_lkey(struct kunit *test)
{
	const struct local_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, row->kind, row->shape);
	bool word = row->opcode == ORNIC_WQE_ATOMIC_WRITE ||
		    row->opcode == ORNIC_WQE_FAA;
	bool in = row->opcode == ORNIC_WQE_READ || row->opcode == ORNIC_WQE_FAA;
	u32 len = word ? 8 : gt->bytes;
	struct ornic_lsge sge = { SEGS_IOVA, len, gt->key };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.rkey = fix->am.key,
	};
	struct ornic_cqe cqe;
	/* To the next word of a's MR. */
	u32 skip = -fix->am.off0 & 7;

	wr.raddr = fix->am.iova + skip;
	segs_fill(gt, 2);
	ornic_fix_fill(&fix->am, skip, len, 3);
	ornic_fix_recv(&fix->a, &fix->am, 5, skip, len);
	ornic_th_post_send(&fix->b, &wr);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->bscq, &cqe), 0);
	if (in)
		KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, len, 3), -1);
	else
		KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, skip, len, 2),
				-1);
	KUNIT_EXPECT_EQ(test, segs_touched(gt), -1);
}

KUNIT_ARRAY_PARAM_DESC(shape, segs_shape_rows, name);

static void gaps_take_receives(struct kunit *test)
{
	const struct segs_shape_row *row = test->param_value;
	struct segs_test *gt =
		segs_registered(test, ORNIC_FIX_WIRE, row->shape);
	struct ornic_lsge sge = { SEGS_IOVA, gt->bytes, gt->key };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_cqe cqe;

	ornic_th_post_recv(&fix->b, 5, &sge, 1);
	ornic_fix_fill(&fix->am, 0, gt->bytes, 1);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
		       gt->bytes);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, segs_differ(gt, 0, gt->bytes, 1), -1);
	KUNIT_EXPECT_EQ(test, segs_touched(gt), -1);
}

/* ---- Room for pieces ------------------------------------------------------------------ */

static const struct room_row {
	const char *name;
	enum ornic_fix_kind kind;
	bool is_lkey;
	u8 opcode;
	enum segs_shape shape;
	int status;
} room_rows[] = {
	{ "READ", ORNIC_FIX_WIRE, false, ORNIC_WQE_READ, SEGS_TINY,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "READ, loopback", ORNIC_FIX_LOOP, false, ORNIC_WQE_READ, SEGS_TINY,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "READ of one segment", ORNIC_FIX_WIRE, false, ORNIC_WQE_READ,
	  SEGS_ONE, 0 },
	{ "WRITE, which needs none", ORNIC_FIX_WIRE, false, ORNIC_WQE_WRITE,
	  SEGS_TINY, 0 },
	{ "WRITE from there", ORNIC_FIX_WIRE, true, ORNIC_WQE_WRITE, SEGS_TINY,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "WRITE from there, loopback", ORNIC_FIX_LOOP, true, ORNIC_WQE_WRITE,
	  SEGS_TINY, ORNIC_CQE_LOC_PROT_ERR },
	{ "WRITE from a few", ORNIC_FIX_LOOP, true, ORNIC_WQE_WRITE, SEGS_FEW,
	  0 },
};

KUNIT_ARRAY_PARAM_DESC(room, room_rows, name);

/* QPs of processes have no room to copy pieces: what needs it is refused. */
static void gaps_need_room(struct kunit *test)
{
	const struct room_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, row->kind, row->shape);
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_qp *a = ornic_fix_qp(&fix->a), *b = ornic_fix_qp(&fix->b);
	u8 *room[4] = { a->sq.bounce, a->rq.bounce, b->sq.bounce,
			b->rq.bounce };
	struct ornic_lsge sge = { SEGS_IOVA, gt->bytes, gt->key };
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->am.iova,
		.rkey = fix->am.key,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;

	a->sq.bounce = NULL;
	a->rq.bounce = NULL;
	b->sq.bounce = NULL;
	b->rq.bounce = NULL;
	if (!row->is_lkey) {
		sge = ornic_fix_sge(&fix->am, 0, gt->bytes);
		wr.raddr = SEGS_IOVA;
		wr.rkey = gt->key;
	}
	ornic_th_post_send(row->is_lkey ? &fix->b : &fix->a, &wr);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test,
			ornic_fix_status(row->is_lkey ? &fix->bscq : &fix->ascq,
					 &cqe),
			row->status);
	a->sq.bounce = room[0];
	a->rq.bounce = room[1];
	b->sq.bounce = room[2];
	b->rq.bounce = room[3];
}

static const struct owner_row {
	const char *name;
	enum ornic_fix_kind kind;
} owner_rows[] = {
	{ "wire", ORNIC_FIX_WIRE },
	{ "loopback", ORNIC_FIX_LOOP },
	{ "peer engine", ORNIC_FIX_PEER },
};

KUNIT_ARRAY_PARAM_DESC(owner, owner_rows, name);

/* A process READs from a user in the kernel: the room is that of the QP with the MR. */
static void gaps_use_room_of_their_owner(struct kunit *test)
{
	const struct owner_row *row = test->param_value;
	struct segs_test *gt = segs_registered(test, row->kind, SEGS_TINY);
	struct ornic_th_mr remote = { .key = gt->key, .iova = SEGS_IOVA };
	struct ornic_fixture *fix = &gt->fix;
	struct ornic_qp *a = ornic_fix_qp(&fix->a);
	u8 *room = a->sq.bounce;
	struct ornic_cqe cqe;

	a->sq.bounce = NULL;
	a->rq.bounce = NULL;
	segs_fill(gt, 2);
	ornic_fix_post(&fix->a, &fix->am, &remote, ORNIC_WQE_READ, 0, 0,
		       gt->bytes);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, gt->bytes, 2), -1);
	a->sq.bounce = room;
}

/* As QPs are made. */
static void gaps_room_is_for_kernel_users(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_WIRE, &init), 0);
	KUNIT_EXPECT_NULL(test, ornic_fix_qp(&fix->a)->sq.bounce);
	KUNIT_EXPECT_NULL(test, ornic_fix_qp(&fix->a)->rq.bounce);
	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
	init.flags = ORNIC_QP_FAST_REG;
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_WIRE, &init), 0);
	KUNIT_EXPECT_NOT_NULL(test, ornic_fix_qp(&fix->a)->sq.bounce);
	KUNIT_EXPECT_NOT_NULL(test, ornic_fix_qp(&fix->a)->rq.bounce);
}

static struct kunit_case gaps_use_cases[] = {
	KUNIT_CASE_PARAM(gaps_serve_a_peer, use_gen_params),
	KUNIT_CASE_PARAM(gaps_split_no_word, word_gen_params),
	KUNIT_CASE(gaps_split_where_memory_touches),
	KUNIT_CASE_PARAM(gaps_flush, flush_gen_params),
	KUNIT_CASE_PARAM(gaps_are_an_lkey, local_gen_params),
	KUNIT_CASE_PARAM(gaps_take_receives, shape_gen_params),
	KUNIT_CASE_PARAM(gaps_need_room, room_gen_params),
	KUNIT_CASE_PARAM(gaps_use_room_of_their_owner, owner_gen_params),
	KUNIT_CASE(gaps_room_is_for_kernel_users),
	{}
};

static struct kunit_suite gaps_use_suite = {
	.name = "ornic_sg_gaps_use",
	.init = segs_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = gaps_use_cases,
};

kunit_test_suite(gaps_use_suite);

MODULE_DESCRIPTION("ornic: use of MRs with gaps");
MODULE_LICENSE("Dual BSD/GPL");
