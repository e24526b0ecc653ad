// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Page trees: driver/ornic_page_tree.c, read back as a device reads them. */
#include <kunit/test.h>

#include <rdma/ornic-hw.h>

#include "ornic_page_tree.h"

#define ENTRIES 512ull
#define TWO_LEVELS 0x40000ull
#define THREE_LEVELS 0x8000000ull

struct shape_case {
	const char *name;
	u64 npages;
	int ret;
	u8 levels;
	u32 count[ORNIC_TREE_MAX_LEVELS];
	u32 total;
};

static const struct shape_case shape_cases[] = {
	{ "none", 0, -EINVAL, 0, { 0 }, 0 },
	{ "one", 1, 0, 1, { 1 }, 1 },
	{ "full list", ENTRIES, 0, 1, { 1 }, 1 },
	{ "one more", ENTRIES + 1, 0, 2, { 2, 1 }, 3 },
	{ "full two levels", TWO_LEVELS, 0, 2, { 512, 1 }, 513 },
	{ "three levels", TWO_LEVELS + 1, 0, 3, { 513, 2, 1 }, 516 },
	{ "full", THREE_LEVELS, 0, 3, { 262144, 512, 1 }, 262657 },
};

KUNIT_ARRAY_PARAM_DESC(shape, shape_cases, name);

static void shape_is_minimal(struct kunit *test)
{
	const struct shape_case *c = test->param_value;
	struct ornic_tree_shape shape;
	int i;

	KUNIT_ASSERT_EQ(test, ornic_tree_shape(c->npages, &shape), c->ret);
	if (c->ret)
		return;
	KUNIT_EXPECT_EQ(test, shape.levels, c->levels);
	KUNIT_EXPECT_EQ(test, shape.total, c->total);
	for (i = 0; i < ORNIC_TREE_MAX_LEVELS; i++)
		KUNIT_EXPECT_EQ(test, shape.count[i], c->count[i]);
}

static void shape_refuses_a_fourth_level(struct kunit *test)
{
	struct ornic_tree_shape shape;

	KUNIT_EXPECT_EQ(test, ornic_tree_shape(THREE_LEVELS + 1, &shape),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ornic_tree_shape(~0ull, &shape), -EINVAL);
}

/* The fake DMA address of list page n, and of data page n. */
static u64 list_dma(u32 n)
{
	return 0x100000000ull + ((u64)n << 12);
}

static u64 data_dma(u64 n)
{
	return 0xabc000000000ull + (n * 7 << 12);
}

static const __le64 *find(struct ornic_tree_page *pages, u32 total, u64 dma)
{
	u32 n = (dma - list_dma(0)) >> 12;

	return n < total && pages[n].dma == dma ? pages[n].entries : NULL;
}

/* Walks from the root, as the device does. */
static u64 walk(struct kunit *test, struct ornic_tree_page *pages,
		const struct ornic_tree_shape *shape, u64 index)
{
	u64 dma = pages[shape->total - 1].dma;
	int level;

	for (level = shape->levels - 1; level >= 0; level--) {
		const __le64 *entries = find(pages, shape->total, dma);
		u64 slot = index >> (9 * level) & (ENTRIES - 1);

		KUNIT_ASSERT_NOT_NULL(test, entries);
		dma = le64_to_cpu(entries[slot]);
	}
	return dma;
}

static struct ornic_tree_page *make_pages(struct kunit *test, u32 total)
{
	struct ornic_tree_page *pages;
	u32 i;

	pages = kunit_kzalloc(test, total * sizeof(*pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < total; i++) {
		pages[i].entries = kunit_kzalloc(test, 4096, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, pages[i].entries);
		pages[i].dma = list_dma(i);
	}
	return pages;
}

static const struct walk_case {
	const char *name;
	u64 npages;
	u64 step;
} walk_cases[] = {
	{ "one page", 1, 1 },
	{ "one list", 512, 1 },
	{ "two lists", 513, 1 },
	{ "some lists", 5000, 1 },
	{ "three levels", 512 * 512 + 700, 511 },
};

KUNIT_ARRAY_PARAM_DESC(walk, walk_cases, name);

static void device_finds_every_page(struct kunit *test)
{
	const struct walk_case *c = test->param_value;
	struct ornic_tree_page *pages;
	struct ornic_tree_shape shape;
	u64 i;

	KUNIT_ASSERT_EQ(test, ornic_tree_shape(c->npages, &shape), 0);
	pages = make_pages(test, shape.total);
	for (i = 0; i < c->npages; i++)
		ornic_tree_set(pages, i, data_dma(i));
	ornic_tree_link(pages, &shape);

	for (i = 0; i < c->npages; i += c->step) {
		KUNIT_ASSERT_EQ(test, walk(test, pages, &shape, i),
				data_dma(i));
		KUNIT_ASSERT_EQ(test, ornic_tree_get(pages, i), data_dma(i));
	}
	KUNIT_EXPECT_EQ(test, walk(test, pages, &shape, c->npages - 1),
			data_dma(c->npages - 1));
}

static const struct segment_case {
	const char *name;
	u32 n;
	u8 levels;
} segment_cases[] = {
	{ "one", 1, 1 },
	{ "a page of them", 256, 1 },
	{ "one more", 257, 2 },
	{ "all that an MR may have", 512, 2 },
};

KUNIT_ARRAY_PARAM_DESC(segment, segment_cases, name);

/* In a page of them, or in those that a list page names: as ornic-hw.h has it. */
static void device_finds_every_segment(struct kunit *test)
{
	const struct segment_case *c = test->param_value;
	const struct ornic_list_segment *segment;
	struct ornic_tree_page *pages;
	struct ornic_tree_shape shape;
	const __le64 *root;
	u32 i, page;

	KUNIT_ASSERT_EQ(test, ornic_tree_shape(2 * c->n, &shape), 0);
	KUNIT_ASSERT_EQ(test, shape.levels, c->levels);
	pages = make_pages(test, shape.total);
	for (i = 0; i < c->n; i++)
		ornic_tree_set_segment(pages, i, data_dma(i) + i,
				       1ull << 32 | i);
	ornic_tree_link(pages, &shape);

	root = pages[shape.total - 1].entries;
	for (i = 0; i < c->n; i++) {
		page = i / ORNIC_LIST_SEGMENTS;
		segment = (const struct ornic_list_segment *)find(
			pages, shape.total,
			c->levels == 1 ? list_dma(0) : le64_to_cpu(root[page]));
		KUNIT_ASSERT_NOT_NULL(test, segment);
		segment += i % ORNIC_LIST_SEGMENTS;
		KUNIT_ASSERT_EQ(test, le64_to_cpu(segment->addr),
				data_dma(i) + i);
		KUNIT_ASSERT_EQ(test, le64_to_cpu(segment->length),
				1ull << 32 | i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(shape_is_minimal, shape_gen_params),
	KUNIT_CASE(shape_refuses_a_fourth_level),
	KUNIT_CASE_PARAM(device_finds_every_page, walk_gen_params),
	KUNIT_CASE_PARAM(device_finds_every_segment, segment_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "ornic_driver_page_tree",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's page trees");
MODULE_LICENSE("Dual BSD/GPL");
