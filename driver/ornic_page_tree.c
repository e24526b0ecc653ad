// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The page tree by which the driver describes scattered memory: list pages of
 * DMA addresses, one to three levels deep (struct ornic_mem in ornic-hw.h).
 *
 * The list pages of one tree are an array, level after level, leaves first,
 * so that leaf entry n is entry n mod 512 of page n / 512 and the root is the
 * last page. Pure: the caller allocates the pages.
 */
#include "ornic_page_tree.h"

#include <rdma/ornic-hw.h>

/* Returns -EINVAL if @npages is 0 or exceeds three levels. */
int ornic_tree_shape(u64 npages, struct ornic_tree_shape *shape)
{
	u64 count = npages;

	memset(shape, 0, sizeof(*shape));
	if (!npages)
		return -EINVAL;

	do {
		if (shape->levels == ORNIC_TREE_MAX_LEVELS)
			return -EINVAL;
		count = (count - 1) / ORNIC_LIST_ENTRIES + 1;
		if (count > 0x7fffffff)
			return -EINVAL;
		shape->count[shape->levels++] = count;
		shape->total += count;
	} while (count > 1);
	return 0;
}

ORNIC_FOR_KUNIT(ornic_tree_shape);

/* Data page @index is at @dma. */
void ornic_tree_set(struct ornic_tree_page *pages, u64 index, u64 dma)
{
	struct ornic_tree_page *leaf = &pages[index / ORNIC_LIST_ENTRIES];

	leaf->entries[index % ORNIC_LIST_ENTRIES] = cpu_to_le64(dma);
}

ORNIC_FOR_KUNIT(ornic_tree_set);

/*
 * Segment @index is at @dma and has @length bytes: a tree can have pairs of entries
 * (struct ornic_list_segment) as well.
 */
void ornic_tree_set_segment(struct ornic_tree_page *pages, u64 index, u64 dma,
			    u64 length)
{
	ornic_tree_set(pages, 2 * index, dma);
	ornic_tree_set(pages, 2 * index + 1, length);
}

ORNIC_FOR_KUNIT(ornic_tree_set_segment);

u64 ornic_tree_get(const struct ornic_tree_page *pages, u64 index)
{
	const struct ornic_tree_page *leaf = &pages[index / ORNIC_LIST_ENTRIES];

	return le64_to_cpu(leaf->entries[index % ORNIC_LIST_ENTRIES]);
}

ORNIC_FOR_KUNIT(ornic_tree_get);

/* Make the upper levels point to the lower ones. */
void ornic_tree_link(struct ornic_tree_page *pages,
		     const struct ornic_tree_shape *shape)
{
	struct ornic_tree_page *lower = pages;
	unsigned int level;
	u32 i;

	for (level = 1; level < shape->levels; level++) {
		u32 count = shape->count[level - 1];

		for (i = 0; i < count; i++)
			ornic_tree_set(lower + count, i, lower[i].dma);
		lower += count;
	}
}

ORNIC_FOR_KUNIT(ornic_tree_link);
