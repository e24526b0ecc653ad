/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An MR with gaps, of segments in memory that is checked for what is beside them. */
#ifndef ORNIC_SEGMENTS_FIXTURE_H
#define ORNIC_SEGMENTS_FIXTURE_H

#include "suite_fixture.h"

#define SEGS_IOVA 0x7f1200000100ull
#define SEGS_ROOM ORNIC_LIST_ENTRIES
#define SEGS_FILL 0xee
#define SEGS_MEM_BYTES (8 * 4096u)
#define SEGS_MAX_GAP 5u

/**
 * struct segs_test - b has an MR with gaps, which a uses
 * @fix: the two
 * @mem: memory of the segments, from the last to the first, SEGS_FILL elsewhere
 * @list: pages of segments; @root: a list page that names them
 * @at, @len: where in @mem each segment is
 * @room: segments that the MR can have
 * @n: those that it has
 * @bytes: their sum
 * @key: of the MR
 */
struct segs_test {
	struct ornic_fixture fix;
	u8 *mem;
	struct ornic_list_segment *list;
	__le64 *root;
	u32 at[SEGS_ROOM];
	u32 len[SEGS_ROOM];
	u32 room;
	u32 n;
	u32 bytes;
	u32 key;
};

static_assert(offsetof(struct segs_test, fix) == 0);

static inline int segs_suite_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct segs_test));
}

static inline u64 segs_dma(const void *p)
{
	return (uintptr_t)p;
}

/* Segments of MRs. SEGS_TINY: far more than any packet has room for. */
enum segs_shape {
	SEGS_ONE,
	SEGS_FEW,
	SEGS_WORDS,
	SEGS_TINY,
};

struct segs_shape_row {
	const char *name;
	enum segs_shape shape;
};

/* Each of them, for KUNIT_ARRAY_PARAM_DESC(). */
static const struct segs_shape_row segs_shape_rows[] __maybe_unused = {
	{ "one segment", SEGS_ONE },
	{ "a few", SEGS_FEW },
	{ "words", SEGS_WORDS },
	{ "many", SEGS_TINY },
};

static inline u32 segs_count(enum segs_shape shape)
{
	static const u32 n[] = { 1, 6, 8, SEGS_ROOM };

	return n[shape];
}

static inline u32 segs_length(enum segs_shape shape, u32 i)
{
	static const u32 few[] = { 5000, 1, 3000, 4096, 2, 777 };

	switch (shape) {
	case SEGS_ONE:
		return 9000;
	case SEGS_FEW:
		return few[i];
	case SEGS_WORDS:
		return 8 + 4 * (i & 1);
	default:
		return 1 + i * 7 % 13;
	}
}

/* After segment @i, in memory: SEGS_FILL. SEGS_WORDS begin at multiples of 8. */
static inline u32 segs_gap(enum segs_shape shape, u32 i)
{
	return shape == SEGS_WORDS ? 8 - 4 * (i & 1) : 1 + i % SEGS_MAX_GAP;
}

static inline void segs_write_list(struct segs_test *gt)
{
	u32 i;

	gt->root[0] = cpu_to_le64(segs_dma(gt->list));
	gt->root[1] = cpu_to_le64(segs_dma(gt->list + ORNIC_LIST_SEGMENTS));
	/* What is only misaligned has a reason to be refused. */
	gt->root[2] = gt->root[0];
	gt->root[3] = gt->root[1];
	for (i = 0; i < gt->n; i++) {
		gt->list[i].addr = cpu_to_le64(segs_dma(gt->mem + gt->at[i]));
		gt->list[i].length = cpu_to_le64(gt->len[i]);
	}
}

static inline void segs_lay_out(struct segs_test *gt, enum segs_shape shape)
{
	u32 end = SEGS_MEM_BYTES, i;

	gt->n = segs_count(shape);
	gt->bytes = 0;
	for (i = 0; i < gt->n; i++) {
		gt->len[i] = segs_length(shape, i);
		end -= segs_gap(shape, i) + gt->len[i];
		gt->at[i] = end;
		gt->bytes += gt->len[i];
	}
	memset(gt->mem, SEGS_FILL, SEGS_MEM_BYTES);
	segs_write_list(gt);
}

/* Memory and a key on @th, in the free state. */
static inline void segs_make(struct kunit *test, struct segs_test *gt,
			     struct ornic_th *th, enum segs_shape shape)
{
	gt->mem = ornic_th_alloc(th, SEGS_MEM_BYTES);
	gt->list = (struct ornic_list_segment *)ornic_th_alloc(th, 2 * 4096u);
	gt->root = (__le64 *)ornic_th_alloc(th, 4096u);
	KUNIT_ASSERT_TRUE(test, gt->mem && gt->list && gt->root);
	gt->room = segs_count(shape) > ORNIC_LIST_SEGMENTS ?
			   SEGS_ROOM :
			   ORNIC_LIST_SEGMENTS;
	KUNIT_ASSERT_EQ(test,
			ornic_th_mkey(th, ORNIC_MKEY_FAST | ORNIC_MKEY_SG_GAPS,
				      gt->room, 0, &gt->key),
			0);
	segs_lay_out(gt, shape);
}

static inline struct segs_test *
segs_open(struct kunit *test, enum ornic_fix_kind kind, enum segs_shape shape)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC,
					.flags = ORNIC_QP_FAST_REG };
	struct segs_test *gt = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&gt->fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(&gt->fix), 0);
	segs_make(test, gt, gt->fix.pair.b, shape);
	return gt;
}

static inline struct ornic_th_wr segs_reg_wr(const struct segs_test *gt)
{
	return (struct ornic_th_wr){
		.opcode = ORNIC_WQE_REG_MR,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = SEGS_IOVA,
		.rkey = gt->key,
		.bind_length = gt->bytes,
		.bind_access = ORNIC_ACCESS_MASK,
		.reg_list = gt->room > ORNIC_LIST_SEGMENTS ?
				    segs_dma(gt->root) :
				    segs_dma(gt->list),
		.reg_npages = gt->n,
	};
}

/* With the next variant of the key. */
static inline struct ornic_th_wr segs_next_reg_wr(struct segs_test *gt)
{
	gt->key = (gt->key & ~0xffu) | ((gt->key + 1) & 0xff);
	return segs_reg_wr(gt);
}

static inline int segs_reg(struct segs_test *gt)
{
	struct ornic_th_wr wr = segs_next_reg_wr(gt);

	return ornic_fix_run_on_b(&gt->fix, &wr);
}

static inline struct segs_test *segs_registered(struct kunit *test,
						enum ornic_fix_kind kind,
						enum segs_shape shape)
{
	struct segs_test *gt = segs_open(test, kind, shape);

	KUNIT_ASSERT_EQ(test, segs_reg(gt), 0);
	return gt;
}

/* The byte of the memory that byte @off of the MR is. */
static inline u8 *segs_at(const struct segs_test *gt, u32 off)
{
	u32 i;

	for (i = 0; off >= gt->len[i]; i++)
		off -= gt->len[i];
	return gt->mem + gt->at[i] + off;
}

static inline void segs_fill(const struct segs_test *gt, u32 seed)
{
	u32 off = 0, i, k;

	for (i = 0; i < gt->n; i++)
		for (k = 0; k < gt->len[i]; k++)
			gt->mem[gt->at[i] + k] = ornic_fix_byte(seed, off++);
}

/* First byte of the MR that is not of the pattern; -1 if none. */
static inline s32 segs_differ(const struct segs_test *gt, u32 off, u32 len,
			      u32 seed)
{
	u32 at = 0, i, k;

	for (i = 0; i < gt->n; i++)
		for (k = 0; k < gt->len[i]; k++, at++)
			if (at >= off && at - off < len &&
			    gt->mem[gt->at[i] + k] != ornic_fix_byte(seed, at))
				return at;
	return -1;
}

/* First byte of the MR that a's does not have at the same offset; -1 if none. */
static inline s32 segs_unlike(const struct segs_test *gt, u32 off, u32 len)
{
	u32 i, run;

	for (i = off; i < off + len; i++)
		if (*segs_at(gt, i) != *ornic_th_mr_at(&gt->fix.am, i, &run))
			return i;
	return -1;
}

/* First byte of the memory beside the segments that has changed; -1 if none. */
static inline s32 segs_touched(const struct segs_test *gt)
{
	u32 end = SEGS_MEM_BYTES, i, p;

	for (i = 0; i < gt->n; i++) {
		for (p = gt->at[i] + gt->len[i]; p < end; p++)
			if (gt->mem[p] != SEGS_FILL)
				return p;
		end = gt->at[i];
	}
	for (p = 0; p < end; p++)
		if (gt->mem[p] != SEGS_FILL)
			return p;
	return -1;
}

#endif /* ORNIC_SEGMENTS_FIXTURE_H */
