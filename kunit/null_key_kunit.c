// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The null key: what it reads and writes, and what it is not good for. */
#include <kunit/test.h>

#include "engine/dev.h"
#include "engine/mem.h"
#include "suite_fixture.h"

#define BYTES 20000u /* of a message: packets, and pieces of the null key */
#define PATTERN 3

struct null_test {
	struct ornic_fixture fix;
	struct ornic_lsge sge[3];
	struct ornic_th_srq srq;
	u32 frames;
};

static_assert(offsetof(struct null_test, fix) == 0);

static int null_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct null_test));
}

/* ---- Pieces ------------------------------------------------------------------ */

static const struct piece_row {
	const char *name;
	u64 addr;
	u32 length;
	u64 off;
	u64 len;
	u8 access;
	enum ornic_vendor_err verr;
	u64 bytes;
	u32 n;
} piece_rows[] = {
	{ "read", 0x5000, 100, 0, 100, 0, ORNIC_VERR_NONE, 100, 1 },
	{ "write", 0x5000, 100, 20, 80, ORNIC_ACCESS_LOCAL_WRITE,
	  ORNIC_VERR_NONE, 80, 1 },
	{ "address 0", 0, 1, 0, 1, 0, ORNIC_VERR_NONE, 1, 1 },
	{ "the last byte of all", U64_MAX, 1, 0, 1, 0, ORNIC_VERR_NONE, 1, 1 },
	{ "a piece and a byte", 0, 4097, 0, 4097, 0, ORNIC_VERR_NONE, 4097, 2 },
	{ "more pieces than there is room for", 0, ~0u, 0, ~0u,
	  ORNIC_ACCESS_LOCAL_WRITE, ORNIC_VERR_NONE, 4 * 4096, 4 },
	{ "the last bytes of all", U64_MAX - 99, 100, 10, 90, 0,
	  ORNIC_VERR_NONE, 90, 1 },
	{ "of an SGE that wraps, the first byte", U64_MAX, 2, 0, 1, 0,
	  ORNIC_VERR_LKEY_RANGE, 0, 0 },
	{ "of an SGE that wraps, what does not", U64_MAX - 4096, 8192, 0, 4096,
	  ORNIC_ACCESS_LOCAL_WRITE, ORNIC_VERR_LKEY_RANGE, 0, 0 },
	{ "of an SGE that wraps, what is behind", U64_MAX - 4096, 8192, 4097,
	  100, 0, ORNIC_VERR_LKEY_RANGE, 0, 0 },
	{ "for a peer to read", 0, 8, 0, 8, ORNIC_ACCESS_REMOTE_READ,
	  ORNIC_VERR_LKEY_ACCESS, 0, 0 },
	{ "for a peer to write", 0, 8, 0, 8,
	  ORNIC_ACCESS_LOCAL_WRITE | ORNIC_ACCESS_REMOTE_WRITE,
	  ORNIC_VERR_LKEY_ACCESS, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(piece, piece_rows, name);

static void null_maps_any_range(struct kunit *test)
{
	const struct piece_row *row = test->param_value;
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_LONE, ORNIC_QPT_RC);
	const struct ornic_lsge sge = { row->addr, row->length,
					ORNIC_NULL_LKEY };
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = ARRAY_SIZE(frag) };

	ornic_rcu_read_lock();
	KUNIT_EXPECT_EQ(test,
			ornic_iov_add_sgl(&iov, dev, 0xabcdef, &sge, 1,
					  row->off, row->len, row->access),
			row->verr);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, iov.bytes, row->bytes);
	KUNIT_EXPECT_EQ(test, iov.n, row->n);
}

/* What is written is not what is read. */
static void null_forgets(struct kunit *test)
{
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_LONE, ORNIC_QPT_RC);
	const struct ornic_lsge sge = { 0, 64, ORNIC_NULL_LKEY };
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	struct ornic_frag in, out, bytes = { fix->buf, 64 };
	struct ornic_iov from = { &in, 1, 0, 0 }, to = { &out, 1, 0, 0 };
	struct ornic_iov mine = { &bytes, 1, 1, 64 };
	u32 i;

	memset(fix->buf, 0x55, 64);
	ornic_rcu_read_lock();
	KUNIT_ASSERT_EQ(test,
			ornic_iov_add_sgl(&to, dev, 1, &sge, 1, 0, 64,
					  ORNIC_ACCESS_LOCAL_WRITE),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, ornic_iov_copy(&to, &mine), 64);
	KUNIT_ASSERT_EQ(test,
			ornic_iov_add_sgl(&from, dev, 1, &sge, 1, 0, 64, 0),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, ornic_iov_copy(&mine, &from), 64);
	ornic_rcu_read_unlock();
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, fix->buf[i], 0);
}

/* ---- Messages ------------------------------------------------------------------ */

static const struct message_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
	bool lossy;
} message_rows[] = {
	{ "SEND, wire", ORNIC_FIX_WIRE, ORNIC_WQE_SEND },
	{ "WRITE, wire", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE },
	{ "READ, wire", ORNIC_FIX_WIRE, ORNIC_WQE_READ },
	{ "SEND, loop", ORNIC_FIX_LOOP, ORNIC_WQE_SEND },
	{ "WRITE, loop", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE },
	{ "READ, loop", ORNIC_FIX_LOOP, ORNIC_WQE_READ },
	{ "SEND, in process", ORNIC_FIX_PEER, ORNIC_WQE_SEND },
	{ "WRITE, in process", ORNIC_FIX_PEER, ORNIC_WQE_WRITE },
	{ "READ, in process", ORNIC_FIX_PEER, ORNIC_WQE_READ },
	{ "SEND, with losses", ORNIC_FIX_WIRE, ORNIC_WQE_SEND, true },
	{ "WRITE, with losses", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, true },
	{ "READ, with losses", ORNIC_FIX_WIRE, ORNIC_WQE_READ, true },
};

KUNIT_ARRAY_PARAM_DESC(message, message_rows, name);

/* Patterns begin anew in the parts that mix() makes. */
static void fill_parts(const struct ornic_th_mr *mr, u32 seed)
{
	ornic_fix_fill(mr, 0, 100, seed);
	ornic_fix_fill(mr, 100, BYTES - 200, seed);
	ornic_fix_fill(mr, BYTES - 100, 100, seed);
}

static struct null_test *open_pair(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC, .max_sge = 3 };
	struct null_test *nt = test->priv;
	struct ornic_fixture *fix = &nt->fix;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fill_parts(&fix->am, PATTERN);
	fill_parts(&fix->bm, PATTERN + 1);
	return nt;
}

/* Bytes of @mr, BYTES - 200 of the null key in between. */
static void mix(struct null_test *nt, const struct ornic_th_mr *mr)
{
	nt->sge[0] = ornic_fix_sge(mr, 0, 100);
	nt->sge[1] = (struct ornic_lsge){ U64_MAX - BYTES, BYTES - 200,
					  ORNIC_NULL_LKEY };
	nt->sge[2] = ornic_fix_sge(mr, BYTES - 100, 100);
}

/* The parts of @mr that are in the list, by the pattern of @seed. */
static void expect_ends(struct kunit *test, const struct ornic_th_mr *mr,
			u32 seed)
{
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(mr, 0, 100, seed), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(mr, BYTES - 100, 100, seed),
			-1);
}

/* The part between them. */
static void expect_middle(struct kunit *test, const struct ornic_th_mr *mr,
			  u32 seed)
{
	s32 wrong = ornic_fix_compare(mr, 100, BYTES - 200, seed);

	KUNIT_EXPECT_EQ(test, wrong, -1);
}

static bool is_zero(const struct ornic_th_mr *mr, u32 off, u32 len)
{
	u8 byte;

	while (len--) {
		ornic_th_mr_read(mr, off++, &byte, 1);
		if (byte)
			return false;
	}
	return true;
}

static void expect_done(struct kunit *test, struct ornic_fixture *fix,
			int status)
{
	struct ornic_cqe cqe;

	/* What is lost is sent again in this time. */
	KUNIT_EXPECT_TRUE(test, ornic_th_advance(&fix->pair, 10000000000ull));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), status);
}

/* Of the first frames, those of both sides, each fourth. */
static enum ornic_th_verdict drop_some(struct ornic_th_pair *pair,
				       struct ornic_th *from,
				       struct ornic_th_frame *frame,
				       const struct ornic_pkt *pkt)
{
	u32 *frames = pair->ctx;

	return ++*frames < 32 && *frames % 4 == 2 ? ORNIC_TH_DROP :
						    ORNIC_TH_PASS;
}

static void lose_some(struct null_test *nt)
{
	nt->fix.pair.ctx = &nt->frames;
	nt->fix.pair.filter = drop_some;
}

/* Zeroes arrive; of a READ the middle is lost, and nothing else is written. */
static void null_in_a_list(struct kunit *test)
{
	const struct message_row *row = test->param_value;
	struct null_test *nt = open_pair(test, row->kind);
	struct ornic_fixture *fix = &nt->fix;
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 3,
		.sge = nt->sge,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
	};

	mix(nt, &fix->am);
	if (row->lossy)
		lose_some(nt);
	if (row->opcode == ORNIC_WQE_SEND)
		ornic_fix_recv(&fix->b, &fix->bm, 7, 0, BYTES);
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	expect_done(test, fix, 0);
	KUNIT_EXPECT_EQ(test, row->lossy, nt->frames > 4);
	if (row->opcode == ORNIC_WQE_READ) {
		expect_ends(test, &fix->am, PATTERN + 1);
		expect_middle(test, &fix->am, PATTERN);
		return;
	}
	expect_ends(test, &fix->bm, PATTERN);
	KUNIT_EXPECT_TRUE(test, is_zero(&fix->bm, 100, BYTES - 200));
}

static const struct kind_row {
	const char *name;
	enum ornic_fix_kind kind;
	bool lossy;
} kind_rows[] = {
	{ "wire", ORNIC_FIX_WIRE },
	{ "loop", ORNIC_FIX_LOOP },
	{ "in process", ORNIC_FIX_PEER },
	{ "with losses", ORNIC_FIX_WIRE, true },
};

KUNIT_ARRAY_PARAM_DESC(kind, kind_rows, name);

static void null_receives(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct null_test *nt = open_pair(test, row->kind);
	struct ornic_fixture *fix = &nt->fix;
	struct ornic_cqe cqe;

	mix(nt, &fix->bm);
	if (row->lossy)
		lose_some(nt);
	KUNIT_ASSERT_EQ(test, ornic_th_post_recv(&fix->b, 7, nt->sge, 3), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, BYTES);
	expect_done(test, fix, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), BYTES);
	expect_ends(test, &fix->bm, PATTERN);
	expect_middle(test, &fix->bm, PATTERN + 1);
}

/* An SRQ and a QP may be of different PDs: the key is of any. */
static void null_in_an_srq(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC, .max_sge = 3 };
	struct null_test *nt = test->priv;
	struct ornic_fixture *fix = &nt->fix;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_WIRE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->b), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_srq_init(fix->pair.b, &nt->srq, 3, 3),
			0);
	init.srq = &nt->srq;
	fix->pair.b->pdn++;
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.b, &fix->b, &init,
					 &fix->bscq, &fix->brcq),
			0);
	fix->pair.b->pdn--;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fill_parts(&fix->am, PATTERN);
	fill_parts(&fix->bm, PATTERN + 1);
	mix(nt, &fix->bm);
	KUNIT_ASSERT_EQ(test, ornic_th_post_srq(&nt->srq, 7, nt->sge, 3), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, BYTES);
	expect_done(test, fix, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	expect_ends(test, &fix->bm, PATTERN);
	expect_middle(test, &fix->bm, PATTERN + 1);
}

/* A receiver that has no use for the 40 bytes. */
static void null_takes_the_grh(struct kunit *test)
{
	const struct kind_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_UD };
	struct null_test *nt = test->priv;
	struct ornic_fixture *fix = &nt->fix;
	struct ornic_lsge sge;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qkey = 0x1234,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, row->kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, 500, PATTERN);
	sge = ornic_fix_sge(&fix->am, 0, 500);
	nt->sge[0] = (struct ornic_lsge){ 0, ORNIC_GRH_LEN, ORNIC_NULL_LKEY };
	nt->sge[1] = ornic_fix_sge(&fix->bm, 100, 500);
	KUNIT_ASSERT_EQ(test, ornic_th_post_recv(&fix->b, 7, nt->sge, 2), 0);
	ornic_th_ah(fix->pair.a, &fix->a.conn.av, &wr.ah);
	wr.dest_qpn = fix->b.qpn;
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), ORNIC_GRH_LEN + 500);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 100, 500, PATTERN),
			-1);
}

/* ---- Words --------------------------------------------------------------------- */

static const struct word_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 opcode;
	u64 left; /* of a word that was 5 */
} word_rows[] = {
	{ "ATOMIC WRITE, wire", ORNIC_FIX_WIRE, ORNIC_WQE_ATOMIC_WRITE, 0 },
	{ "FETCH ADD, wire", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, 8 },
	{ "CMP SWAP, wire", ORNIC_FIX_WIRE, ORNIC_WQE_CAS, 3 },
	{ "ATOMIC WRITE, loop", ORNIC_FIX_LOOP, ORNIC_WQE_ATOMIC_WRITE, 0 },
	{ "FETCH ADD, loop", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, 8 },
	{ "CMP SWAP, loop", ORNIC_FIX_LOOP, ORNIC_WQE_CAS, 3 },
};

KUNIT_ARRAY_PARAM_DESC(word, word_rows, name);

/* ATOMIC WRITE writes 0; what an atomic returns is lost. */
static void null_in_atomics(struct kunit *test)
{
	const struct word_row *row = test->param_value;
	struct null_test *nt = open_pair(test, row->kind);
	struct ornic_fixture *fix = &nt->fix;
	const struct ornic_lsge sge = { 16, 8, ORNIC_NULL_LKEY };
	const u32 at = -fix->bm.iova & 7;
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.raddr = fix->bm.iova + at,
		.rkey = fix->bm.key,
		.swap_add = 3,
		.compare = 5,
	};
	u64 word = 5;

	ornic_th_mr_write(&fix->bm, at, &word, sizeof(word));
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	expect_done(test, fix, 0);
	ornic_th_mr_read(&fix->bm, at, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, word, row->left);
}

/* ---- What it is not good for ------------------------------------------------------ */

static const struct message_row rkey_rows[] = {
	{ "WRITE, wire", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE },
	{ "READ, wire", ORNIC_FIX_WIRE, ORNIC_WQE_READ },
	{ "atomic, wire", ORNIC_FIX_WIRE, ORNIC_WQE_FAA },
	{ "WRITE, loop", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE },
	{ "READ, loop", ORNIC_FIX_LOOP, ORNIC_WQE_READ },
	{ "atomic, loop", ORNIC_FIX_LOOP, ORNIC_WQE_FAA },
};

KUNIT_ARRAY_PARAM_DESC(rkey, rkey_rows, name);

static void null_is_no_rkey(struct kunit *test)
{
	const struct message_row *row = test->param_value;
	struct null_test *nt = open_pair(test, row->kind);
	struct ornic_fixture *fix = &nt->fix;
	const struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.rkey = ORNIC_NULL_LKEY,
	};

	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	expect_done(test, fix, ORNIC_CQE_REM_ACCESS_ERR);
}

static const struct message_row wrap_rows[] = {
	{ "WRITE, wire", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE },
	{ "READ, wire", ORNIC_FIX_WIRE, ORNIC_WQE_READ },
	{ "WRITE, loop", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE },
	{ "READ, loop", ORNIC_FIX_LOOP, ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(wrap, wrap_rows, name);

/* It is refused before anything is sent, whichever packet the wrap would be in. */
static void null_does_not_wrap(struct kunit *test)
{
	const struct message_row *row = test->param_value;
	struct null_test *nt = open_pair(test, row->kind);
	struct ornic_fixture *fix = &nt->fix;
	const struct ornic_lsge sge = { U64_MAX - BYTES + 2, BYTES,
					ORNIC_NULL_LKEY };
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, ORNIC_VERR_LKEY_RANGE);
	expect_middle(test, &fix->bm, PATTERN + 1);
}

static void null_takes_no_window(struct kunit *test)
{
	struct null_test *nt = open_pair(test, ORNIC_FIX_LOOP);
	struct ornic_fixture *fix = &nt->fix;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_BIND_MW,
		.flags = ORNIC_WQE_SIGNALED,
		.bind_lkey = ORNIC_NULL_LKEY,
		.bind_length = 4096,
	};

	KUNIT_ASSERT_EQ(test,
			ornic_th_mw(fix->pair.a, ORNIC_MW_TYPE_2, &wr.rkey), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&fix->a, &wr), 0);
	expect_done(test, fix, ORNIC_CQE_MW_BIND_ERR);
}

/* No command makes, changes or ends it. */
static void null_is_no_object(struct kunit *test)
{
	static const u8 opcodes[] = { ORNIC_CMD_DESTROY_MKEY,
				      ORNIC_CMD_MODIFY_MKEY,
				      ORNIC_CMD_DESTROY_MW };
	struct null_test *nt = open_pair(test, ORNIC_FIX_LOOP);
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_DEVICE };
	union ornic_rsp rsp;
	u32 i;

	ornic_engine_cmd(nt->fix.pair.a->eng, &req, &rsp);
	KUNIT_EXPECT_TRUE(test, le64_to_cpu(rsp.query_device.caps) &
					ORNIC_CAP_NULL_KEY);
	req.hdr.obj = cpu_to_le32(ORNIC_NULL_LKEY);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		req.hdr.opcode = opcodes[i];
		ornic_engine_cmd(nt->fix.pair.a->eng, &req, &rsp);
		KUNIT_EXPECT_EQ(test, rsp.hdr.status, ORNIC_NOT_FOUND);
	}
	/* Its index is nobody's. */
	KUNIT_EXPECT_LT(test, ORNIC_NULL_LKEY >> 8,
			nt->fix.pair.a->eng->dev.mkeys.first);
}

static struct kunit_case null_cases[] = {
	KUNIT_CASE_PARAM(null_maps_any_range, piece_gen_params),
	KUNIT_CASE(null_forgets),
	KUNIT_CASE_PARAM(null_in_a_list, message_gen_params),
	KUNIT_CASE_PARAM(null_receives, kind_gen_params),
	KUNIT_CASE(null_in_an_srq),
	KUNIT_CASE_PARAM(null_takes_the_grh, kind_gen_params),
	KUNIT_CASE_PARAM(null_in_atomics, word_gen_params),
	KUNIT_CASE_PARAM(null_is_no_rkey, rkey_gen_params),
	KUNIT_CASE_PARAM(null_does_not_wrap, wrap_gen_params),
	KUNIT_CASE(null_takes_no_window),
	KUNIT_CASE(null_is_no_object),
	{}
};

static struct kunit_suite null_suite = {
	.name = "ornic_null_key",
	.init = null_init,
	.exit = ornic_suite_exit,
	.test_cases = null_cases,
};

kunit_test_suite(null_suite);

MODULE_DESCRIPTION("ornic: the null key");
MODULE_LICENSE("Dual BSD/GPL");
