// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Keys of ODP MRs and their pages: CREATE_MKEY, SET_PAGES, CLEAR_PAGES, and what the
 * engine finds of them.
 */
#include <kunit/test.h>

#include "harness.h"
#include "engine/dev.h"
#include "engine/odp.h"

#define PAGE 4096ull
#define ACCESS ORNIC_ACCESS_MR_MASK

/**
 * struct odp_test - a device and some pages
 * @th: the device
 * @page: DMA memory of 512 pages
 * @list: a list page
 * @step: bytes between pages that set() gives to the key
 * @key: the key of the case
 */
struct odp_test {
	struct ornic_th *th;
	u8 *page;
	__le64 *list;
	u64 step;
	u32 key;
};

static int odp_init(struct kunit *test)
{
	struct odp_test *pt = kunit_kzalloc(test, sizeof(*pt), GFP_KERNEL);

	if (!pt)
		return -ENOMEM;
	test->priv = pt;
	pt->step = PAGE;
	pt->th = ornic_th_create(1, 1);
	if (!pt->th)
		return -ENOMEM;
	pt->page = ornic_th_alloc(pt->th, 512 * PAGE);
	pt->list = (__le64 *)ornic_th_alloc(pt->th, PAGE);
	return pt->page && pt->list ? 0 : -ENOMEM;
}

static void odp_exit(struct kunit *test)
{
	struct odp_test *pt = test->priv;

	KUNIT_EXPECT_EQ(test, ornic_th_destroy(pt->th), 0);
}

static int create(struct odp_test *pt, u64 iova, u64 length, u8 shift)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.page_shift = shift;
	req.create_mkey.iova = cpu_to_le64(iova);
	req.create_mkey.length = cpu_to_le64(length);
	req.create_mkey.pdn = cpu_to_le32(ORNIC_TH_PD);
	req.create_mkey.access = ACCESS;
	req.create_mkey.flags = ORNIC_MKEY_ODP;
	status = ornic_th_cmd(pt->th, &req, &rsp);
	pt->key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

/*
 * Pages from @addr on; they are those of @page in order. Bits @flags of each entry are
 * inverted: those of a page are 0.
 */
static int set(struct odp_test *pt, u64 addr, u32 n, u64 flags)
{
	union ornic_req req;
	union ornic_rsp rsp;
	u32 i;

	for (i = 0; i < n && i < ORNIC_LIST_ENTRIES; i++)
		pt->list[i] = cpu_to_le64(((uintptr_t)pt->page + i * pt->step) ^
					  flags);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_PAGES;
	req.hdr.obj = cpu_to_le32(pt->key);
	req.set_pages.addr = cpu_to_le64(addr);
	req.set_pages.list = cpu_to_le64((uintptr_t)pt->list);
	req.set_pages.npages = cpu_to_le32(n);
	return ornic_th_cmd(pt->th, &req, &rsp);
}

static int clear(struct odp_test *pt, u64 addr, u64 length)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CLEAR_PAGES;
	req.hdr.obj = cpu_to_le32(pt->key);
	req.clear_pages.addr = cpu_to_le64(addr);
	req.clear_pages.length = cpu_to_le64(length);
	return ornic_th_cmd(pt->th, &req, &rsp);
}

/* Bytes from @addr on that are there. */
static u64 present(struct odp_test *pt, u64 addr, u64 len, bool write)
{
	struct ornic_mkey *m;
	u64 n = 0;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(&pt->th->eng->dev, pt->key);
	if (m && m->odp)
		n = ornic_odp_present(m->odp, addr, len, write);
	ornic_rcu_read_unlock();
	return n;
}

/* ---- CREATE_MKEY ----------------------------------------------------------------- */

static const struct create_row {
	const char *desc;
	u64 iova;
	u64 length;
	u8 shift;
	int status;
} create_rows[] = {
	{ "a byte", 5, 1, 12, ORNIC_OK },
	{ "all addresses", 0, U64_MAX, 12, ORNIC_OK },
	{ "all of huge pages", 0, U64_MAX, 21, ORNIC_OK },
	{ "end of all addresses", U64_MAX - 4096, 4096, 12, ORNIC_OK },
	{ "last page", U64_MAX - 4095, 4095, 12, ORNIC_OK },
	{ "nothing", 4096, 0, 12, ORNIC_BAD_PARAM },
	{ "beyond the end", U64_MAX - 4095, 4097, 12, ORNIC_BAD_PARAM },
	{ "small pages", 0, 4096, 11, ORNIC_BAD_PARAM },
	{ "giant pages", 0, 4096, 31, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(create, create_rows, desc);

static void create_checks(struct kunit *test)
{
	const struct create_row *row = test->param_value;
	struct odp_test *pt = test->priv;

	KUNIT_EXPECT_EQ(test, create(pt, row->iova, row->length, row->shift),
			row->status);
	if (row->status == ORNIC_OK)
		KUNIT_EXPECT_EQ(test,
				ornic_th_destroy_obj(pt->th,
						     ORNIC_CMD_DESTROY_MKEY,
						     pt->key),
				0);
}

/* A host that does not answer faults has no such keys, and no such capability. */
static void host_without_faults(struct kunit *test)
{
	struct odp_test *pt = test->priv;
	struct ornic_engine_ops ops = *pt->th->eng->dev.ops;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_DEVICE };
	union ornic_rsp rsp;

	ornic_th_cmd(pt->th, &req, &rsp);
	KUNIT_EXPECT_TRUE(test,
			  le64_to_cpu(rsp.query_device.caps) & ORNIC_CAP_ODP);
	ops.paging = false;
	pt->th->eng->dev.ops = &ops;
	ornic_th_cmd(pt->th, &req, &rsp);
	KUNIT_EXPECT_FALSE(test,
			   le64_to_cpu(rsp.query_device.caps) & ORNIC_CAP_ODP);
	KUNIT_EXPECT_EQ(test, create(pt, 0, PAGE, 12), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_destroy(pt->th), 0);
	pt->th = NULL;
}

/* ---- SET_PAGES ------------------------------------------------------------------- */

static const struct set_row {
	const char *desc;
	u64 addr;
	u32 n;
	u64 flags;
	int status;
} set_rows[] = {
	{ "first", 3 * PAGE, 1, 0, ORNIC_OK },
	{ "all", 3 * PAGE, 600, 0, ORNIC_BAD_PARAM },
	{ "as many as a list has", 3 * PAGE, 512, 0, ORNIC_OK },
	{ "last", 602 * PAGE, 1, ORNIC_PAGE_WRITE, ORNIC_OK },
	{ "none", 3 * PAGE, 0, 0, ORNIC_BAD_PARAM },
	{ "one before", 2 * PAGE, 1, 0, ORNIC_BAD_PARAM },
	{ "one after", 603 * PAGE, 1, 0, ORNIC_BAD_PARAM },
	{ "one too many", 602 * PAGE, 2, 0, ORNIC_BAD_PARAM },
	{ "not at a page", 3 * PAGE + 8, 1, 0, ORNIC_BAD_PARAM },
	{ "unknown flag", 3 * PAGE, 1, 2, ORNIC_BAD_PARAM },
	{ "no DMA memory", 3 * PAGE, 1, 1ull << 62, ORNIC_BAD_ADDR },
};

KUNIT_ARRAY_PARAM_DESC(set, set_rows, desc);

static void set_checks(struct kunit *test)
{
	const struct set_row *row = test->param_value;
	struct odp_test *pt = test->priv;
	u64 there = row->status == ORNIC_OK ? row->n * PAGE : 0;
	bool write = row->flags & ORNIC_PAGE_WRITE;

	/* 600 pages, from the middle of the first to that of the last */
	KUNIT_ASSERT_EQ(test, create(pt, 3 * PAGE + 100, 599 * PAGE + 2000, 12),
			0);
	KUNIT_EXPECT_EQ(test, set(pt, row->addr, row->n, row->flags),
			row->status);
	if (row->addr < 3 * PAGE || row->addr > 602 * PAGE)
		return;
	KUNIT_EXPECT_EQ(test, present(pt, row->addr, 600 * PAGE, false), there);
	KUNIT_EXPECT_EQ(test, present(pt, row->addr, 600 * PAGE, true),
			write ? there : 0);
}

/* An entry of 0 leaves what is there, another one replaces it. */
static void set_some_again(struct kunit *test)
{
	struct odp_test *pt = test->priv;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_SET_PAGES };
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test, create(pt, 0, 4 * PAGE, 12), 0);
	KUNIT_ASSERT_EQ(test, set(pt, 0, 3, ORNIC_PAGE_WRITE), 0);
	pt->list[0] = cpu_to_le64((uintptr_t)pt->page);
	pt->list[1] = 0;
	req.hdr.obj = cpu_to_le32(pt->key);
	req.set_pages.list = cpu_to_le64((uintptr_t)pt->list);
	req.set_pages.npages = cpu_to_le32(2);
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(pt->th, &req, &rsp), 0);
	KUNIT_EXPECT_EQ(test, present(pt, 0, 4 * PAGE, false), 3 * PAGE);
	KUNIT_EXPECT_EQ(test, present(pt, 0, PAGE, true), 0);
	KUNIT_EXPECT_EQ(test, present(pt, PAGE, 3 * PAGE, true), 2 * PAGE);
}

/* ---- CLEAR_PAGES ----------------------------------------------------------------- */

static void clear_some(struct kunit *test)
{
	struct odp_test *pt = test->priv;

	KUNIT_ASSERT_EQ(test, create(pt, 0, 2000 * PAGE, 12), 0);
	KUNIT_ASSERT_EQ(test, set(pt, 500 * PAGE, 512, 0), 0);
	/* The bytes of a range, whose pages go as a whole. */
	KUNIT_EXPECT_EQ(test, clear(pt, 510 * PAGE + 5, 2 * PAGE), 0);
	KUNIT_EXPECT_EQ(test, present(pt, 500 * PAGE, 512 * PAGE, false),
			10 * PAGE);
	KUNIT_EXPECT_EQ(test, present(pt, 513 * PAGE, 512 * PAGE, false),
			499 * PAGE);
	KUNIT_EXPECT_EQ(test, clear(pt, 0, U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, present(pt, 513 * PAGE, PAGE, false), 0);
	KUNIT_EXPECT_EQ(test, clear(pt, 0, 0), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, clear(pt, 2, U64_MAX), ORNIC_BAD_PARAM);
	/* Beside the key nothing has to go. */
	KUNIT_EXPECT_EQ(test, clear(pt, 5000 * PAGE, PAGE), 0);
	pt->key ^= 1;
	KUNIT_EXPECT_EQ(test, clear(pt, 0, PAGE), ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, set(pt, 0, 1, 0), ORNIC_NOT_FOUND);
}

/* A key for all addresses costs what its pages do, and gives that back. */
static void all_addresses(struct kunit *test)
{
	static const u64 place[] = { 0,		 1ull << 21,
				     1ull << 30, 1ull << 47,
				     1ull << 63, U64_MAX - 2 * PAGE + 1 };
	struct odp_test *pt = test->priv;
	u32 i, k;

	KUNIT_ASSERT_EQ(test, create(pt, 0, U64_MAX, 12), 0);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < ARRAY_SIZE(place); i++) {
			KUNIT_EXPECT_EQ(test, present(pt, place[i], 1, false),
					0);
			KUNIT_EXPECT_EQ(test, set(pt, place[i], 1, 0), 0);
			KUNIT_EXPECT_EQ(test,
					present(pt, place[i], 2 * PAGE, false),
					PAGE);
		}
		KUNIT_EXPECT_EQ(test, clear(pt, 0, U64_MAX), 0);
	}
}

/* The last page of all addresses comes and goes as others do. */
static void last_page(struct kunit *test)
{
	const u64 last = U64_MAX - PAGE + 1;
	struct odp_test *pt = test->priv;

	KUNIT_ASSERT_EQ(test, create(pt, last, PAGE - 1, 12), 0);
	KUNIT_EXPECT_EQ(test, set(pt, last, 1, ORNIC_PAGE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, present(pt, last, PAGE - 1, true), PAGE - 1);
	KUNIT_EXPECT_EQ(test, clear(pt, last, PAGE + 1), ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, clear(pt, last, PAGE), 0);
	KUNIT_EXPECT_EQ(test, present(pt, last, PAGE - 1, false), 0);
}

static bool has_nodes(struct odp_test *pt)
{
	struct ornic_mkey *m;
	bool has = false;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(&pt->th->eng->dev, pt->key);
	if (m && m->odp)
		has = READ_ONCE(m->odp->root);
	ornic_rcu_read_unlock();
	return has;
}

/* A key has nodes for pages only: not for those that a list leaves out, or that went. */
static void nodes_go(struct kunit *test)
{
	struct odp_test *pt = test->priv;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_SET_PAGES };
	union ornic_rsp rsp;
	u64 i;

	KUNIT_ASSERT_EQ(test, create(pt, 0, U64_MAX, 12), 0);
	memset(pt->list, 0, PAGE);
	req.hdr.obj = cpu_to_le32(pt->key);
	req.set_pages.list = cpu_to_le64((uintptr_t)pt->list);
	req.set_pages.npages = cpu_to_le32(512);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(pt->th, &req, &rsp), 0);
	KUNIT_EXPECT_FALSE(test, has_nodes(pt));
	for (i = 0; i < 40; i++)
		KUNIT_ASSERT_EQ(test, set(pt, i << 40, 1, 0), 0);
	KUNIT_EXPECT_TRUE(test, has_nodes(pt));
	for (i = 1; i < 40; i++)
		KUNIT_EXPECT_EQ(test, clear(pt, i << 40, PAGE), 0);
	KUNIT_EXPECT_EQ(test, present(pt, 0, PAGE, false), PAGE);
	KUNIT_EXPECT_EQ(test, clear(pt, 0, U64_MAX), 0);
	KUNIT_EXPECT_FALSE(test, has_nodes(pt));
	KUNIT_EXPECT_EQ(test, set(pt, 1ull << 62, 3, 0), 0);
	KUNIT_EXPECT_EQ(test, present(pt, 1ull << 62, U64_MAX / 2, false),
			3 * PAGE);
}

/* ---- Use ------------------------------------------------------------------------- */

#define LARGE 16384ull /* bytes of a page */
#define LARGE_AT (1000 * LARGE)

/* The key of the case */
static const struct ornic_odp *odp_of(struct kunit *test)
{
	struct odp_test *pt = test->priv;
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(&pt->th->eng->dev, pt->key);
	ornic_rcu_read_unlock();
	KUNIT_ASSERT_NOT_NULL(test, m);
	return m->odp;
}

/* Of 3 large pages 2 are there, which do not touch; the second may only be read. */
static const struct ornic_odp *open_large(struct kunit *test)
{
	struct odp_test *pt = test->priv;

	memset(pt->page, 0, 512 * PAGE);
	pt->step = 3 * LARGE;
	KUNIT_ASSERT_EQ(test, create(pt, LARGE_AT + 100, 3 * LARGE - 200, 14),
			0);
	KUNIT_ASSERT_EQ(test, set(pt, LARGE_AT, 2, 0), 0);
	KUNIT_ASSERT_EQ(test, set(pt, LARGE_AT, 1, ORNIC_PAGE_WRITE), 0);
	return odp_of(test);
}

static const struct bytes_row {
	const char *desc;
	u64 off; /* in the pages */
	u32 len;
	bool write;
	s64 at; /* -1: nowhere */
} bytes_rows[] = {
	{ "first", 100, 8, true, 100 },
	{ "beyond 4 KiB", 5000, 8000, true, 5000 },
	{ "end of a page", LARGE - 8, 8, true, LARGE - 8 },
	{ "across it", LARGE - 7, 8, false, -1 },
	{ "start of the next", LARGE, 8, false, 3 * LARGE },
	{ "all of it", LARGE, LARGE, false, 3 * LARGE },
	{ "it is read-only", LARGE, 8, true, -1 },
	{ "absent", 2 * LARGE, 8, false, -1 },
};

KUNIT_ARRAY_PARAM_DESC(bytes, bytes_rows, desc);

static void bytes_of_a_page(struct kunit *test)
{
	const struct bytes_row *row = test->param_value;
	const struct ornic_odp *odp = open_large(test);
	struct odp_test *pt = test->priv;
	u8 *at;

	at = ornic_odp_bytes(odp, LARGE_AT + row->off, row->len, row->write);
	KUNIT_EXPECT_PTR_EQ(test, at, row->at < 0 ? NULL : pt->page + row->at);
}

static void pieces_of_pages(struct kunit *test)
{
	const struct ornic_odp *odp = open_large(test);
	struct odp_test *pt = test->priv;
	struct ornic_frag frag[3];
	struct ornic_iov iov = { .frag = frag, .max = ARRAY_SIZE(frag) };

	KUNIT_EXPECT_EQ(
		test, ornic_odp_map(&iov, odp, LARGE_AT + 10000, 20000, false),
		ORNIC_VERR_NONE);
	KUNIT_ASSERT_EQ(test, iov.n, 2);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[0].ptr, pt->page + 10000);
	KUNIT_EXPECT_EQ(test, frag[0].len, LARGE - 10000);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[1].ptr, pt->page + 3 * LARGE);
	KUNIT_EXPECT_EQ(test, frag[1].len, 10000 + 20000 - LARGE);
	iov.n = 0;
	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, LARGE_AT + LARGE, LARGE + 1,
				      false),
			ORNIC_VERR_PAGE);
	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, LARGE_AT + LARGE, 1, true),
			ORNIC_VERR_PAGE);
}

/* A WRITE whose pages go after they were looked for does not count as executed. */
static void write_loses_pages(struct kunit *test)
{
	const struct ornic_odp *odp = open_large(test);
	struct odp_test *pt = test->priv;
	u8 *from = kunit_kzalloc(test, 20000, GFP_KERNEL);
	struct ornic_frag piece[] = { { from, 1 }, { from + 1, 19999 } };
	struct ornic_iov src = { piece, 2, 2, 20000 };
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, from);
	memset(from, 7, 20000);
	/* The second page may only be read. */
	KUNIT_EXPECT_EQ(test, ornic_odp_write(odp, LARGE_AT + 10000, &src),
			ORNIC_VERR_PAGE);
	for (i = 0; i < LARGE; i++)
		KUNIT_ASSERT_EQ(test, pt->page[3 * LARGE + i], 0);
	KUNIT_ASSERT_EQ(test, set(pt, LARGE_AT, 2, ORNIC_PAGE_WRITE), 0);
	KUNIT_EXPECT_EQ(test, ornic_odp_write(odp, LARGE_AT + 10000, &src),
			ORNIC_VERR_NONE);
	for (i = 0; i < LARGE; i++) {
		KUNIT_ASSERT_EQ(test, pt->page[i], i < 10000 ? 0 : 7);
		KUNIT_ASSERT_EQ(test, pt->page[3 * LARGE + i],
				i < 10000 + 20000 - LARGE ? 7 : 0);
	}
	/* The third is absent. */
	KUNIT_EXPECT_EQ(test,
			ornic_odp_write(odp, LARGE_AT + LARGE + 10000, &src),
			ORNIC_VERR_PAGE);
}

static const struct pieces_row {
	const char *desc;
	u32 gap; /* bytes between the pieces */
	u64 step; /* bytes from one page to the next */
} pieces_rows[] = {
	{ "both touch", 0, PAGE },
	{ "pieces touch", 0, 2 * PAGE },
	{ "pages touch", 16, PAGE },
	{ "none touches", 16, 2 * PAGE },
};

KUNIT_ARRAY_PARAM_DESC(pieces, pieces_rows, desc);

/* Pages 509 to 513 of a key; a node of its tree has 512. */
#define FIVE_AT (509 * PAGE)

static const struct ornic_odp *open_five(struct kunit *test, u64 step)
{
	struct odp_test *pt = test->priv;

	memset(pt->page, 0, 512 * PAGE);
	pt->step = step;
	KUNIT_ASSERT_EQ(test, create(pt, 0, 600 * PAGE, 12), 0);
	KUNIT_ASSERT_EQ(test, set(pt, FIVE_AT, 5, ORNIC_PAGE_WRITE), 0);
	return odp_of(test);
}

/* Pages that touch are one piece; of those that do not, as many as there is room for. */
static void pieces_of_touching_pages(struct kunit *test)
{
	const struct ornic_odp *odp = open_five(test, PAGE);
	struct odp_test *pt = test->priv;
	struct ornic_frag frag[3];
	struct ornic_iov iov = { .frag = frag, .max = ARRAY_SIZE(frag) };

	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, FIVE_AT + 100, 20000, false),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, iov.n, 1);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[0].ptr, pt->page + 100);
	KUNIT_EXPECT_EQ(test, frag[0].len, 20000);
	KUNIT_EXPECT_EQ(test, iov.bytes, 20000);
	/* What was in @iov before is a piece of its own. */
	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, FIVE_AT + 20100, 10, false),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, iov.n, 2);

	pt->step = 2 * PAGE;
	KUNIT_ASSERT_EQ(test, set(pt, FIVE_AT, 5, 0), 0);
	iov.n = 0;
	iov.bytes = 0;
	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, FIVE_AT + 100, 20000, false),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, iov.n, 3);
	KUNIT_EXPECT_EQ(test, iov.bytes, 3 * PAGE - 100);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)frag[2].ptr, pt->page + 4 * PAGE);
	/* A page is not looked for if there is no room for it. */
	KUNIT_ASSERT_EQ(test, clear(pt, FIVE_AT + 3 * PAGE, PAGE), 0);
	iov.n = 0;
	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, FIVE_AT + 100, 20000, false),
			ORNIC_VERR_NONE);
	KUNIT_EXPECT_EQ(test, iov.n, 3);
	iov.n = 0;
	KUNIT_EXPECT_EQ(test,
			ornic_odp_map(&iov, odp, FIVE_AT + PAGE, 20000, false),
			ORNIC_VERR_PAGE);
}

/* Ends of pieces and of pages are at different places, and once at the same. */
static void write_takes_pieces(struct kunit *test)
{
	static const u32 cut[] = { 0, 1, 100, 3996, 4000, 14000, 19000, 20000 };
	const struct pieces_row *row = test->param_value;
	const struct ornic_odp *odp = open_five(test, row->step);
	struct ornic_frag piece[ARRAY_SIZE(cut) - 1];
	struct ornic_iov src = { piece, ARRAY_SIZE(piece), ARRAY_SIZE(piece),
				 20000 };
	u8 *from =
		kunit_kzalloc(test, 20000 + 16 * ARRAY_SIZE(cut), GFP_KERNEL);
	struct odp_test *pt = test->priv;
	u64 at;
	u32 i, j;

	KUNIT_ASSERT_NOT_NULL(test, from);
	for (i = 0; i < ARRAY_SIZE(piece); i++) {
		piece[i].ptr = from + cut[i] + i * row->gap;
		piece[i].len = cut[i + 1] - cut[i];
		for (j = cut[i]; j < cut[i + 1]; j++)
			from[j + i * row->gap] = j % 251 + 1;
	}
	KUNIT_EXPECT_EQ(test, ornic_odp_write(odp, FIVE_AT + 100, &src),
			ORNIC_VERR_NONE);
	for (i = 0; i < 5; i++)
		for (j = 0; j < PAGE; j++) {
			at = i * PAGE + j;
			KUNIT_ASSERT_EQ(test, pt->page[i * row->step + j],
					at < 100 || at >= 20100 ?
						0 :
						(at - 100) % 251 + 1);
		}
	for (i = 0; i < PAGE; i++)
		KUNIT_ASSERT_EQ(test, pt->page[4 * row->step + PAGE + i], 0);
}

/* A page that touches one which may be written to need not be for that, nor be there. */
static void write_stops_at_pages(struct kunit *test)
{
	const struct ornic_odp *odp = open_five(test, PAGE);
	struct odp_test *pt = test->priv;
	u8 *from = kunit_kzalloc(test, 5 * PAGE, GFP_KERNEL);
	struct ornic_frag piece = { from, 5 * PAGE };
	struct ornic_iov src = { &piece, 1, 1, 5 * PAGE };
	struct ornic_frag frag[4];
	struct ornic_iov iov = { .frag = frag, .max = ARRAY_SIZE(frag) };
	u32 bad, i;

	KUNIT_ASSERT_NOT_NULL(test, from);
	memset(from, 7, 5 * PAGE);
	for (bad = 1; bad < 5; bad++) {
		memset(pt->page, 0, 5 * PAGE);
		KUNIT_ASSERT_EQ(test, clear(pt, FIVE_AT, 5 * PAGE), 0);
		KUNIT_ASSERT_EQ(test, set(pt, FIVE_AT, 5, 0), 0);
		KUNIT_ASSERT_EQ(test, set(pt, FIVE_AT, bad, ORNIC_PAGE_WRITE),
				0);
		KUNIT_EXPECT_EQ(test, ornic_odp_write(odp, FIVE_AT, &src),
				ORNIC_VERR_PAGE);
		for (i = bad * PAGE; i < 5 * PAGE; i++)
			KUNIT_ASSERT_EQ(test, pt->page[i], 0);
		iov.n = 0;
		KUNIT_EXPECT_EQ(
			test, ornic_odp_map(&iov, odp, FIVE_AT, 5 * PAGE, true),
			ORNIC_VERR_PAGE);
		KUNIT_EXPECT_EQ(test,
				ornic_odp_map(&iov, odp, FIVE_AT, bad * PAGE,
					      true),
				ORNIC_VERR_NONE);
		KUNIT_ASSERT_EQ(test, clear(pt, FIVE_AT + bad * PAGE, PAGE), 0);
		KUNIT_EXPECT_EQ(test, ornic_odp_write(odp, FIVE_AT, &src),
				ORNIC_VERR_PAGE);
	}
}

/* ---- Other commands --------------------------------------------------------------- */

/* MODIFY_MKEY and windows: the first is refused, the second count as users. */
static void other_commands(struct kunit *test)
{
	struct odp_test *pt = test->priv;
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_MODIFY_MKEY };
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test, create(pt, 0, PAGE, 12), 0);
	req.hdr.obj = cpu_to_le32(pt->key);
	req.modify_mkey.mask = ORNIC_MKEYM_PD;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(pt->th, &req, &rsp),
			ORNIC_NOT_FOUND);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_INSPECT;
	req.hdr.param = ORNIC_INSPECT_MKEY;
	req.hdr.obj = cpu_to_le32(pt->key);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(pt->th, &req, &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.inspect_mkey.flags, ORNIC_MKEY_ODP);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rsp.inspect_mkey.windows), 0);
}

static struct kunit_case odp_cases[] = {
	KUNIT_CASE_PARAM(create_checks, create_gen_params),
	KUNIT_CASE(host_without_faults),
	KUNIT_CASE_PARAM(set_checks, set_gen_params),
	KUNIT_CASE(set_some_again),
	KUNIT_CASE(clear_some),
	KUNIT_CASE(all_addresses),
	KUNIT_CASE(last_page),
	KUNIT_CASE(nodes_go),
	KUNIT_CASE_PARAM(bytes_of_a_page, bytes_gen_params),
	KUNIT_CASE(pieces_of_pages),
	KUNIT_CASE(write_loses_pages),
	KUNIT_CASE(pieces_of_touching_pages),
	KUNIT_CASE_PARAM(write_takes_pieces, pieces_gen_params),
	KUNIT_CASE(write_stops_at_pages),
	KUNIT_CASE(other_commands),
	{}
};

static struct kunit_suite odp_suite = {
	.name = "ornic_odp",
	.init = odp_init,
	.exit = odp_exit,
	.test_cases = odp_cases,
};

kunit_test_suite(odp_suite);

MODULE_DESCRIPTION("ornic: suite of ODP MRs");
MODULE_LICENSE("Dual BSD/GPL");
