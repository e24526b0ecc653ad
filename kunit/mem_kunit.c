// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Page lists, memory keys, and the pieces that keyed ranges map to. */
#include <kunit/test.h>

#include "harness.h"
#include "engine/dev.h"
#include "engine/mkey.h"

#define PAGE 4096u

static struct ornic_th *th_of(struct kunit *test)
{
	return test->priv;
}

static struct ornic_dev *dev_of(struct kunit *test)
{
	return &th_of(test)->eng->dev;
}

/* Nobody destroys it meanwhile. */
static struct ornic_mkey *find_key(struct kunit *test, u32 key)
{
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_table_lookup(&dev_of(test)->mkeys, key >> 8);
	ornic_rcu_read_unlock();
	return m;
}

static int mem_suite_init(struct kunit *test)
{
	test->priv = ornic_th_create(1, 1);
	return test->priv ? 0 : -ENOMEM;
}

static void mem_suite_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_th_destroy(th_of(test)), 0);
}

static __le64 addr_of(const void *p)
{
	return cpu_to_le64((u64)(uintptr_t)p);
}

/* ---- Page lists ------------------------------------------------------------- */

enum lie {
	HONEST,
	LIST_MISALIGNED,
	LIST_UNMAPPED,
	ENTRY_MISALIGNED,
	ENTRY_UNMAPPED,
	LEAF_UNMAPPED,
};

static const struct list_row {
	const char *name;
	u8 levels;
	u8 page_shift;
	u32 npages;
	enum lie lie;
	int err;
} list_rows[] = {
	{ "one page", 1, 12, 1, HONEST, 0 },
	{ "three pages", 1, 12, 3, HONEST, 0 },
	{ "two levels", 2, 12, 3, HONEST, 0 },
	{ "three levels", 3, 12, 3, HONEST, 0 },
	{ "a run", 0, 12, 3, HONEST, 0 },
	{ "no pages", 1, 12, 0, HONEST, -EINVAL },
	{ "a run of no pages", 0, 12, 0, HONEST, -EINVAL },
	{ "four levels", 4, 12, 3, HONEST, -EINVAL },
	{ "pages too small", 1, 11, 3, HONEST, -EINVAL },
	{ "pages too large", 1, 41, 1, HONEST, -EINVAL },
	{ "shift that would wrap", 1, 64, 1, HONEST, -EINVAL },
	{ "more than one list page holds", 1, 12, 513, HONEST, -EINVAL },
	{ "more than 2^40 bytes", 3, 21, 524289, HONEST, -EINVAL },
	{ "array beyond what is allocated", 3, 12, 0x8000001, HONEST, -EINVAL },
	{ "a run beyond its memory", 0, 12, 1000, HONEST, -EFAULT },
	{ "a run that would wrap", 0, 40, 0xffffffff, HONEST, -EINVAL },
	{ "pages beyond their memory", 1, 30, 3, HONEST, -EFAULT },
	{ "list misaligned", 1, 12, 3, LIST_MISALIGNED, -EINVAL },
	{ "list not DMA memory", 1, 12, 3, LIST_UNMAPPED, -EFAULT },
	{ "page misaligned", 1, 12, 3, ENTRY_MISALIGNED, -EINVAL },
	{ "page not DMA memory", 1, 12, 3, ENTRY_UNMAPPED, -EFAULT },
	{ "inner list misaligned", 2, 12, 3, ENTRY_MISALIGNED, -EINVAL },
	{ "inner list not DMA memory", 2, 12, 3, ENTRY_UNMAPPED, -EFAULT },
	{ "page at the end not DMA memory", 2, 12, 3, LEAF_UNMAPPED, -EFAULT },
};

KUNIT_ARRAY_PARAM_DESC(list, list_rows, name);

/* Three pages named from last to first through up to three levels. */
struct tree {
	u8 *pages;
	__le64 *list[3];
	struct ornic_mem mem;
};

static void grow(struct kunit *test, struct tree *tree, u32 levels)
{
	struct ornic_th *th = th_of(test);
	u32 i;

	memset(tree, 0, sizeof(*tree));
	tree->pages = ornic_th_alloc(th, 3 * PAGE);
	KUNIT_ASSERT_NOT_NULL(test, tree->pages);
	for (i = 0; i < 3; i++) {
		tree->list[i] = (__le64 *)ornic_th_alloc(th, PAGE);
		KUNIT_ASSERT_NOT_NULL(test, tree->list[i]);
		/* Entries that are not in use must not be read. */
		memset(tree->list[i], 0xff, PAGE);
	}
	for (i = 0; i < 3; i++)
		tree->list[0][i] = addr_of(tree->pages + (2 - i) * PAGE);
	for (i = 1; i < 3; i++)
		tree->list[i][0] = addr_of(tree->list[i - 1]);
	if (levels)
		tree->mem.addr = addr_of(tree->list[min_t(u32, levels, 3) - 1]);
	else
		tree->mem.addr = addr_of(tree->pages);
}

static void tell(struct tree *tree, enum lie lie, u32 levels)
{
	__le64 *top = tree->list[(levels ? levels : 1) - 1];

	switch (lie) {
	case LIST_MISALIGNED:
		tree->mem.addr = addr_of((u8 *)top + 8);
		break;
	case LIST_UNMAPPED:
		tree->mem.addr = cpu_to_le64(PAGE);
		break;
	case ENTRY_MISALIGNED:
		top[0] = addr_of(tree->pages + 8);
		break;
	case ENTRY_UNMAPPED:
		top[0] = cpu_to_le64(PAGE);
		break;
	case LEAF_UNMAPPED:
		tree->list[0][2] = cpu_to_le64(PAGE);
		break;
	default:
		break;
	}
}

static void pages_get_checks(struct kunit *test)
{
	const struct list_row *row = test->param_value;
	struct ornic_pages pages;
	struct tree tree;
	u8 *want;
	u64 run;
	u32 i;

	grow(test, &tree, row->levels);
	tree.mem.npages = cpu_to_le32(row->npages);
	tree.mem.page_shift = row->page_shift;
	tree.mem.levels = row->levels;
	if (row->lie)
		tell(&tree, row->lie, row->levels);
	KUNIT_ASSERT_EQ(test,
			ornic_engine_pages_get(th_of(test)->eng, &tree.mem,
					       &pages),
			row->err);
	if (row->err)
		return;
	KUNIT_EXPECT_EQ(test, ornic_pages_bytes(&pages), row->npages * PAGE);
	for (i = 0; i < row->npages; i++) {
		want = tree.pages + (row->levels ? 2 - i : i) * PAGE + 100;
		KUNIT_EXPECT_PTR_EQ(test,
				    (u8 *)ornic_pages_at(&pages, i * PAGE + 100,
							 &run),
				    want);
		KUNIT_EXPECT_EQ(test, run,
				row->levels ? PAGE - 100 :
					      (row->npages - i) * PAGE - 100);
	}
	ornic_pages_put(&pages);
}

static u32 relaxed;

static void count_relax(void *host)
{
	relaxed++;
}

/*
 * A list that names its own pages describes as much memory as its levels can. The
 * host's bound counts pages as often as they are named, and others get their turn
 * while a long list is walked.
 */
static void list_that_names_itself(struct kunit *test)
{
	struct ornic_dev *dev = dev_of(test);
	const struct ornic_engine_ops *th_ops = dev->ops;
	struct ornic_engine_ops ops = *th_ops;
	struct ornic_pages pages;
	struct tree tree;
	u32 i, k;

	grow(test, &tree, 3);
	for (i = 0; i < 3; i++) {
		for (k = 0; k < ORNIC_LIST_ENTRIES; k++)
			tree.list[i][k] = addr_of(i ? (u8 *)tree.list[i - 1] :
						      tree.pages);
	}
	tree.mem.page_shift = 12;
	tree.mem.levels = 3;
	ops.max_mem = 4096 * PAGE;
	ops.relax = count_relax;
	dev->ops = &ops;
	relaxed = 0;
	tree.mem.npages = cpu_to_le32(1u << 27);
	KUNIT_EXPECT_EQ(test, ornic_pages_get(dev, &tree.mem, &pages), -EINVAL);
	tree.mem.npages = cpu_to_le32(4097);
	KUNIT_EXPECT_EQ(test, ornic_pages_get(dev, &tree.mem, &pages), -EINVAL);
	KUNIT_EXPECT_EQ(test, relaxed, 0);
	tree.mem.npages = cpu_to_le32(4096);
	KUNIT_EXPECT_EQ(test, ornic_pages_get(dev, &tree.mem, &pages), 0);
	KUNIT_EXPECT_GE(test, relaxed, 4096 / ORNIC_LIST_ENTRIES);
	ornic_pages_put(&pages);
	dev->ops = th_ops;
}

/* ---- Keys --------------------------------------------------------------------- */

#define LW ORNIC_ACCESS_LOCAL_WRITE
#define RW ORNIC_ACCESS_REMOTE_WRITE
#define RR ORNIC_ACCESS_REMOTE_READ
#define RA ORNIC_ACCESS_REMOTE_ATOMIC

static const struct create_row {
	const char *name;
	u64 iova;
	u64 length;
	u32 npages;
	u8 levels;
	u8 access;
	int status;
} create_rows[] = {
	{ "whole pages", 0x10000, 3 * PAGE, 3, 1, LW, ORNIC_OK },
	{ "a run", 0x10010, 3 * PAGE, 3, 0, LW, ORNIC_OK },
	{ "from the middle of a page", 0x10010, 3 * PAGE - 0x10, 3, 1, LW,
	  ORNIC_OK },
	{ "past the last page", 0x10010, 3 * PAGE - 0xf, 3, 1, LW,
	  ORNIC_BAD_PARAM },
	{ "past the run", 0x10010, 3 * PAGE + 1, 3, 0, LW, ORNIC_BAD_PARAM },
	{ "nothing", 0x10000, 0, 3, 1, LW, ORNIC_BAD_PARAM },
	{ "up to the last address", -(u64)PAGE, PAGE - 1, 3, 0, LW, ORNIC_OK },
	{ "wraps", -(u64)PAGE, PAGE + 1, 3, 0, LW, ORNIC_BAD_PARAM },
	{ "wraps at once", U64_MAX, 2, 3, 0, LW, ORNIC_BAD_PARAM },
	{ "endless", 0, U64_MAX, 3, 0, LW, ORNIC_BAD_PARAM },
	{ "more than 2^40", 0, (1ull << 40) + 1, 3, 0, LW, ORNIC_BAD_PARAM },
	{ "pages that are not there", 0, PAGE, 0, 1, LW, ORNIC_BAD_PARAM },
	{ "unknown right", 0, PAGE, 1, 0, 0x20, ORNIC_BAD_PARAM },
	/* IBTA 11.2.8.2 */
	{ "remote write without local", 0, PAGE, 1, 0, RW, ORNIC_BAD_PARAM },
	{ "atomic without local write", 0, PAGE, 1, 0, RA, ORNIC_BAD_PARAM },
	{ "remote read alone", 0, PAGE, 1, 0, RR, ORNIC_OK },
	{ "no right but to read", 0, PAGE, 1, 0, 0, ORNIC_OK },
	{ "all rights", 0, PAGE, 1, 0, LW | RW | RR | RA, ORNIC_OK },
};

KUNIT_ARRAY_PARAM_DESC(create, create_rows, name);

static int create_key(struct kunit *test, const struct create_row *row,
		      struct tree *tree, u32 *key)
{
	struct ornic_req_create_mkey req;

	grow(test, tree, row->levels);
	memset(&req, 0, sizeof(req));
	req.mem = tree->mem;
	req.mem.npages = cpu_to_le32(row->npages);
	req.mem.page_shift = 12;
	req.mem.levels = row->levels;
	req.iova = cpu_to_le64(row->iova);
	req.length = cpu_to_le64(row->length);
	req.pdn = cpu_to_le32(7);
	req.access = row->access;
	return ornic_mkey_create(dev_of(test), &req, key);
}

static void key_create_checks(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct tree tree;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, create_key(test, row, &tree, &key), row->status);
	if (row->status)
		return;
	KUNIT_EXPECT_NE(test, key, 0);
	KUNIT_EXPECT_EQ(test, ornic_mkey_destroy(dev_of(test), key), ORNIC_OK);
}

/* Index and variant both come from the host's randomness. */
static void key_is_hard_to_guess(struct kunit *test)
{
	const struct create_row *row = &create_rows[0];
	u32 key[8], i, same_variant = 0, near = 0;
	struct tree tree;

	for (i = 0; i < ARRAY_SIZE(key); i++) {
		KUNIT_ASSERT_EQ(test, create_key(test, row, &tree, &key[i]),
				ORNIC_OK);
		/* Few keys are in few chunks of the table. */
		KUNIT_EXPECT_LT(test, key[i] >> 8, 1u << 20);
		if (!i)
			continue;
		same_variant += (key[i] & 0xff) == (key[i - 1] & 0xff);
		near += (key[i] >> 8) - (key[i - 1] >> 8) < 64;
	}
	KUNIT_EXPECT_LT(test, same_variant, 3);
	KUNIT_EXPECT_LT(test, near, 3);
}

static void key_destroy_needs_the_variant(struct kunit *test)
{
	struct tree tree;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, create_key(test, &create_rows[0], &tree, &key),
			ORNIC_OK);
	KUNIT_EXPECT_EQ(test, ornic_mkey_destroy(dev_of(test), key ^ 1),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_mkey_destroy(dev_of(test), 0),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_mkey_destroy(dev_of(test), U32_MAX),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_mkey_destroy(dev_of(test), key), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, ornic_mkey_destroy(dev_of(test), key),
			ORNIC_NOT_FOUND);
}

/* A key of bytes [0x10010, 0x10010 + 8000) with local write, remote read */
#define IOVA 0x10010ull
#define LENGTH 8000ull

static const struct create_row shared_key = { "", IOVA,	   LENGTH,  3,
					      1,  LW | RR, ORNIC_OK };

static const struct check_row {
	const char *name;
	u32 key_xor;
	u32 pdn;
	u64 addr;
	u64 len;
	u8 access;
	enum ornic_vendor_err verr;
} check_rows[] = {
	{ "all of it", 0, 7, IOVA, LENGTH, LW, ORNIC_VERR_NONE },
	{ "first byte", 0, 7, IOVA, 1, RR, ORNIC_VERR_NONE },
	{ "last byte", 0, 7, IOVA + LENGTH - 1, 1, 0, ORNIC_VERR_NONE },
	{ "other variant", 1, 7, IOVA, 1, 0, ORNIC_VERR_LKEY_UNKNOWN },
	{ "other index", 0x100, 7, IOVA, 1, 0, ORNIC_VERR_LKEY_UNKNOWN },
	{ "index beyond the table", 0xf0000000, 7, IOVA, 1, 0,
	  ORNIC_VERR_LKEY_UNKNOWN },
	{ "other PD, IBTA 10.2.3", 0, 8, IOVA, 1, 0, ORNIC_VERR_LKEY_PD },
	{ "right that it lacks", 0, 7, IOVA, 1, RW, ORNIC_VERR_LKEY_ACCESS },
	{ "one right of two", 0, 7, IOVA, 1, LW | RA, ORNIC_VERR_LKEY_ACCESS },
	{ "one byte before", 0, 7, IOVA - 1, 2, 0, ORNIC_VERR_LKEY_RANGE },
	{ "one byte behind", 0, 7, IOVA, LENGTH + 1, 0, ORNIC_VERR_LKEY_RANGE },
	{ "starts behind", 0, 7, IOVA + LENGTH, 1, 0, ORNIC_VERR_LKEY_RANGE },
	{ "wraps to the start", 0, 7, IOVA + 1, U64_MAX, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "wraps into it", 0, 7, U64_MAX, IOVA + 2, 0, ORNIC_VERR_LKEY_RANGE },
	{ "ends beyond the last address", 0, 7, U64_MAX - 3, 8, 0,
	  ORNIC_VERR_LKEY_RANGE },
	{ "nothing, anywhere", 0, 7, U64_MAX, 0, 0, ORNIC_VERR_NONE },
	{ "nothing, with another PD", 0, 8, IOVA, 0, 0, ORNIC_VERR_LKEY_PD },
	{ "nothing, without the right", 0, 7, IOVA, 0, RW,
	  ORNIC_VERR_LKEY_ACCESS },
};

KUNIT_ARRAY_PARAM_DESC(check, check_rows, name);

static void key_check_checks(struct kunit *test)
{
	const struct check_row *row = test->param_value;
	struct ornic_mkey *mkey = NULL;
	enum ornic_vendor_err verr;
	struct tree tree;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, create_key(test, &shared_key, &tree, &key), 0);
	ornic_rcu_read_lock();
	verr = ornic_key_check(dev_of(test), key ^ row->key_xor, row->pdn,
			       row->addr, row->len, row->access, &mkey);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, verr, row->verr);
	KUNIT_EXPECT_EQ(test, !mkey, row->verr != ORNIC_VERR_NONE);
}

/* ---- Pieces --------------------------------------------------------------------- */

static struct ornic_mkey *key_of(struct kunit *test, u32 key)
{
	struct ornic_mkey *mkey = NULL;

	ornic_rcu_read_lock();
	ornic_key_check(dev_of(test), key, 7, 0, 0, 0, &mkey);
	ornic_rcu_read_unlock();
	return mkey;
}

/* Pages lie from last to first, so no two of them touch in order. */
static const struct modify_row {
	const char *name;
	u8 mask;
	u8 access;
	u32 pdn;
	u32 npages;
	u64 iova;
	u64 length;
	int status;
} modify_rows[] = {
	{ "nothing", 0, 99, 99, 99, 0, 0, ORNIC_OK },
	{ "PD", ORNIC_MKEYM_PD, 99, 7, 0, 0, 0, ORNIC_OK },
	{ "access", ORNIC_MKEYM_ACCESS, ORNIC_ACCESS_REMOTE_READ, 0, 0, 0, 0,
	  ORNIC_OK },
	{ "memory", ORNIC_MKEYM_MEM, 0, 0, 1, 0x5000, 100, ORNIC_OK },
	{ "all", ORNIC_MKEYM_ALL, 0, 8, 2, 0x7000, 8192, ORNIC_OK },
	{ "unknown bit", 8, 0, 0, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "IBTA 11.2.8.2: remote write alone", ORNIC_MKEYM_ACCESS,
	  ORNIC_ACCESS_REMOTE_WRITE, 0, 0, 0, 0, ORNIC_BAD_PARAM },
	{ "more bytes than pages", ORNIC_MKEYM_MEM, 0, 0, 1, 0x5000, 4097,
	  ORNIC_BAD_PARAM },
	{ "no bytes", ORNIC_MKEYM_MEM, 0, 0, 1, 0x5000, 0, ORNIC_BAD_PARAM },
	{ "range that wraps", ORNIC_MKEYM_MEM, 0, 0, 1, -8ull, 100,
	  ORNIC_BAD_PARAM },
	{ "not DMA memory", ORNIC_MKEYM_ALL, 0, 8, 9, 0x5000, 9 * 4096,
	  ORNIC_BAD_ADDR },
};

KUNIT_ARRAY_PARAM_DESC(modify, modify_rows, name);

/* The key stays; what is not named, or was refused, stays as well. */
static void key_modify_changes_what_it_names(struct kunit *test)
{
	const struct modify_row *row = test->param_value;
	struct ornic_mkey *m, was, want;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_MODIFY_MKEY };
	struct ornic_th_mr mr;
	union ornic_rsp rsp;
	u8 *mem = ornic_th_alloc(th_of(test), 2 * PAGE);

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(th_of(test), &mr, 5000, 10, 1,
					 ORNIC_ACCESS_MASK),
			0);
	was = *find_key(test, mr.key);
	req.hdr.obj = cpu_to_le32(mr.key);
	req.modify_mkey.mem.addr = addr_of(mem);
	req.modify_mkey.mem.npages = cpu_to_le32(row->npages);
	req.modify_mkey.mem.page_shift = 12;
	req.modify_mkey.iova = cpu_to_le64(row->iova);
	req.modify_mkey.length = cpu_to_le64(row->length);
	req.modify_mkey.pdn = cpu_to_le32(row->pdn);
	req.modify_mkey.access = row->access;
	req.modify_mkey.mask = row->mask;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp),
			row->status);
	m = find_key(test, mr.key);
	want = was;
	if (!row->status && row->mask & ORNIC_MKEYM_PD)
		want.pdn = row->pdn;
	if (!row->status && row->mask & ORNIC_MKEYM_ACCESS)
		want.access = row->access;
	if (!row->status && row->mask & ORNIC_MKEYM_MEM) {
		want.iova = row->iova;
		want.length = row->length;
		KUNIT_EXPECT_PTR_EQ(test, m->pages.base, mem);
	} else {
		KUNIT_EXPECT_PTR_EQ(test, m->pages.page, was.pages.page);
	}
	KUNIT_EXPECT_EQ(test, m->key, mr.key);
	KUNIT_EXPECT_EQ(test, m->pdn, want.pdn);
	KUNIT_EXPECT_EQ(test, m->access, want.access);
	KUNIT_EXPECT_EQ(test, m->iova, want.iova);
	KUNIT_EXPECT_EQ(test, m->length, want.length);
	req.hdr.obj = cpu_to_le32(mr.key ^ 1);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(test), &req, &rsp),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mr), 0);
}

static void iov_splits_at_pages(struct kunit *test)
{
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = 4 };
	struct tree tree;
	u32 key = 0;
	u64 bytes;

	KUNIT_ASSERT_EQ(test, create_key(test, &shared_key, &tree, &key), 0);
	bytes = ornic_iov_add_key(&iov, key_of(test, key), IOVA, LENGTH);
	KUNIT_EXPECT_EQ(test, bytes, LENGTH);
	KUNIT_ASSERT_EQ(test, iov.n, 2);
	KUNIT_EXPECT_EQ(test, iov.bytes, LENGTH);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[0].ptr,
			    tree.pages + 2 * PAGE + 0x10);
	KUNIT_EXPECT_EQ(test, frag[0].len, PAGE - 0x10);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[1].ptr, tree.pages + PAGE);
	KUNIT_EXPECT_EQ(test, frag[1].len, LENGTH - (PAGE - 0x10));
}

static void iov_stops_when_full(struct kunit *test)
{
	struct ornic_frag frag[1];
	struct ornic_iov iov = { .frag = frag, .max = 1 };
	struct tree tree;
	u32 key = 0;
	u64 bytes;

	KUNIT_ASSERT_EQ(test, create_key(test, &shared_key, &tree, &key), 0);
	bytes = ornic_iov_add_key(&iov, key_of(test, key), IOVA, LENGTH);
	KUNIT_EXPECT_EQ(test, bytes, PAGE - 0x10);
	KUNIT_EXPECT_EQ(test, iov.bytes, PAGE - 0x10);
	KUNIT_EXPECT_EQ(test, ornic_iov_add(&iov, frag, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, ornic_iov_add(&iov, frag, 0), 0);
}

/* Pieces of one page become one; pieces of two pages that touch do not. */
static void iov_merges_inside_a_page(struct kunit *test)
{
	static const struct create_row run = { "", 0, 3 * PAGE, 3, 0, 0, 0 };
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = 4 };
	struct ornic_mkey *mkey;
	struct tree tree;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, create_key(test, &create_rows[0], &tree, &key),
			0);
	mkey = key_of(test, key);
	/* Page 1 of the list ends where page 0 of it starts in memory. */
	ornic_iov_add_key(&iov, mkey, 0x11ff0, 0x10);
	ornic_iov_add_key(&iov, mkey, 0x10000, 0x10);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[0].ptr + 0x10, (u8 *)frag[1].ptr);
	KUNIT_EXPECT_EQ(test, iov.n, 2);
	ornic_iov_add_key(&iov, mkey, 0x10010, 0x20);
	KUNIT_EXPECT_EQ(test, iov.n, 2);
	KUNIT_EXPECT_EQ(test, frag[1].len, 0x30);
	KUNIT_ASSERT_EQ(test, create_key(test, &run, &tree, &key), 0);
	/* One run is one area. */
	iov.n = 0;
	ornic_iov_add_key(&iov, key_of(test, key), 0, 2 * PAGE);
	ornic_iov_add_key(&iov, key_of(test, key), 2 * PAGE, PAGE);
	KUNIT_EXPECT_EQ(test, iov.n, 1);
	KUNIT_EXPECT_EQ(test, frag[0].len, 3 * PAGE);
}

/* A list of three SGEs: 100 bytes, none (with a key of nobody), 300 bytes */
static const struct sgl_row {
	const char *name;
	u64 off;
	u64 len;
	u64 bytes;
	u32 n;
} sgl_rows[] = {
	{ "all", 0, 400, 400, 2 },
	{ "nothing", 50, 0, 0, 0 },
	{ "inside the first", 10, 50, 50, 1 },
	{ "end of the first", 99, 1, 1, 1 },
	{ "across", 99, 2, 2, 2 },
	{ "start of the last", 100, 1, 1, 1 },
	{ "end of the last", 399, 1, 1, 1 },
	{ "more than there is", 390, 100, 10, 1 },
	{ "behind the end", 400, 10, 0, 0 },
	{ "far behind the end", U64_MAX, 10, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(sgl, sgl_rows, name);

static void sgl_maps_a_range(struct kunit *test)
{
	const struct sgl_row *row = test->param_value;
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = 4 };
	struct ornic_lsge sge[3] = {
		{ .addr = IOVA, .length = 100 },
		{ .addr = U64_MAX, .length = 0, .lkey = 0xdead },
		{ .addr = IOVA + 1000, .length = 300 },
	};
	enum ornic_vendor_err verr;
	struct tree tree;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, create_key(test, &shared_key, &tree, &key), 0);
	sge[0].lkey = key;
	sge[2].lkey = key;
	ornic_rcu_read_lock();
	verr = ornic_iov_add_sgl(&iov, dev_of(test), 7, sge, 3, row->off,
				 row->len, LW);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, verr, ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, iov.bytes, row->bytes);
	KUNIT_EXPECT_EQ(test, iov.n, row->n);
}

static const struct sge_row {
	const char *name;
	u64 addr;
	u32 length;
	u32 key_xor;
	u8 access;
	enum ornic_vendor_err verr;
} sge_rows[] = {
	{ "good", IOVA, 100, 0, LW, ORNIC_VERR_NONE },
	{ "unknown key", IOVA, 100, 1, LW, ORNIC_VERR_LKEY_UNKNOWN },
	{ "no right", IOVA, 100, 0, RW, ORNIC_VERR_LKEY_ACCESS },
	{ "past the end", IOVA + LENGTH - 50, 100, 0, LW,
	  ORNIC_VERR_LKEY_RANGE },
	{ "address wraps", U64_MAX - 10, 100, 0, LW, ORNIC_VERR_LKEY_RANGE },
	{ "offset wraps the address", U64_MAX, 0x80000000, 0, LW,
	  ORNIC_VERR_LKEY_RANGE },
};

KUNIT_ARRAY_PARAM_DESC(sge, sge_rows, name);

static void sgl_checks_what_it_touches(struct kunit *test)
{
	const struct sge_row *row = test->param_value;
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = 4 };
	struct ornic_lsge sge = { .addr = row->addr, .length = row->length };
	enum ornic_vendor_err verr;
	struct tree tree;
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, create_key(test, &shared_key, &tree, &key), 0);
	sge.lkey = key ^ row->key_xor;
	ornic_rcu_read_lock();
	verr = ornic_iov_add_sgl(&iov, dev_of(test), 7, &sge, 1, 20, 80,
				 row->access);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, verr, row->verr);
	KUNIT_EXPECT_EQ(test, iov.bytes, row->verr ? 0 : 80);
}

/* Bytes 20 and up of an SGE just below 2^64 are not bytes 10 and up of a key. */
static void sgl_does_not_wrap(struct kunit *test)
{
	static const struct create_row run = { "", 0, 3 * PAGE, 3, 0, LW, 0 };
	struct ornic_lsge sge = { .addr = U64_MAX - 9, .length = 100 };
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = 4 };
	struct tree tree;

	KUNIT_ASSERT_EQ(test, create_key(test, &run, &tree, &sge.lkey), 0);
	ornic_rcu_read_lock();
	KUNIT_EXPECT_EQ(test,
			ornic_iov_add_sgl(&iov, dev_of(test), 7, &sge, 1, 20,
					  80, LW),
			ORNIC_VERR_LKEY_RANGE);
	ornic_rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, iov.n, 0);
}

/* Memory and the pieces that it is cut into. */
struct ragged {
	u8 bytes[64 + 1];
	struct ornic_frag frag[16];
	struct ornic_iov iov;
};

static void cut(struct ragged *r, u32 bytes, u32 piece)
{
	u32 at;

	r->iov.frag = r->frag;
	r->iov.max = ARRAY_SIZE(r->frag);
	r->iov.n = 0;
	for (at = 0; at < bytes; at += piece) {
		r->frag[r->iov.n].ptr = r->bytes + at;
		r->frag[r->iov.n++].len = min_t(u32, piece, bytes - at);
	}
}

static void copy_ragged(struct kunit *test, struct ragged *to,
			struct ragged *from)
{
	memset(to->bytes, 0, sizeof(to->bytes));
	KUNIT_ASSERT_EQ(test, ornic_iov_copy(&to->iov, &from->iov), 60);
	KUNIT_ASSERT_EQ(test, memcmp(to->bytes, from->bytes, 60), 0);
	KUNIT_ASSERT_EQ(test, to->bytes[60], 0);
	KUNIT_ASSERT_EQ(test, ornic_iov_copy(&from->iov, &to->iov), 60);
}

/* Pieces of every length against pieces of every other length. */
static void iov_copies_ragged_pieces(struct kunit *test)
{
	struct ragged *to = kunit_kzalloc(test, sizeof(*to), GFP_KERNEL);
	struct ragged *from = kunit_kzalloc(test, sizeof(*from), GFP_KERNEL);
	u32 a, b, i;

	KUNIT_ASSERT_NOT_NULL(test, to);
	KUNIT_ASSERT_NOT_NULL(test, from);
	for (i = 0; i < sizeof(from->bytes); i++)
		from->bytes[i] = (u8)(i + 1);
	for (a = 5; a < 20; a++) {
		for (b = 5; b < 20; b++) {
			cut(to, 64, a);
			cut(from, 60, b);
			copy_ragged(test, to, from);
		}
	}
}

static void iov_copies_overlapping(struct kunit *test)
{
	u8 buf[16] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const u8 want[] = { 1, 2, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ornic_frag df = { buf + 2, 8 }, sf = { buf, 8 };
	struct ornic_iov d = { .frag = &df, .max = 1, .n = 1 };
	struct ornic_iov s = { .frag = &sf, .max = 1, .n = 1 };

	KUNIT_EXPECT_EQ(test, ornic_iov_copy(&d, &s), 8);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static struct kunit_case mem_cases[] = {
	KUNIT_CASE_PARAM(pages_get_checks, list_gen_params),
	KUNIT_CASE(list_that_names_itself),
	KUNIT_CASE_PARAM(key_create_checks, create_gen_params),
	KUNIT_CASE(key_is_hard_to_guess),
	KUNIT_CASE(key_destroy_needs_the_variant),
	KUNIT_CASE_PARAM(key_check_checks, check_gen_params),
	KUNIT_CASE_PARAM(key_modify_changes_what_it_names, modify_gen_params),
	KUNIT_CASE(iov_splits_at_pages),
	KUNIT_CASE(iov_stops_when_full),
	KUNIT_CASE(iov_merges_inside_a_page),
	KUNIT_CASE_PARAM(sgl_maps_a_range, sgl_gen_params),
	KUNIT_CASE_PARAM(sgl_checks_what_it_touches, sge_gen_params),
	KUNIT_CASE(sgl_does_not_wrap),
	KUNIT_CASE(iov_copies_ragged_pieces),
	KUNIT_CASE(iov_copies_overlapping),
	{}
};

static struct kunit_suite mem_suite = {
	.name = "ornic_mem",
	.init = mem_suite_init,
	.exit = mem_suite_exit,
	.test_cases = mem_cases,
};

kunit_test_suite(mem_suite);

MODULE_DESCRIPTION("ornic: memory suite");
MODULE_LICENSE("Dual BSD/GPL");
