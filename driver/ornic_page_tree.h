/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PAGE_TREE_H
#define ORNIC_PAGE_TREE_H

#include "ornic_pure.h"

#define ORNIC_TREE_MAX_LEVELS 3

/* One 4 KiB list page of a page tree. */
struct ornic_tree_page {
	__le64 *entries; /* its ORNIC_LIST_ENTRIES entries, zeroed before use */
	u64 dma;
};

/* How many list pages a page tree has. */
struct ornic_tree_shape {
	u8 levels; /* depth, 1 to ORNIC_TREE_MAX_LEVELS */
	/*
	 * List pages per level; level 0 names data pages, the last level has
	 * one page, the root
	 */
	u32 count[ORNIC_TREE_MAX_LEVELS];
	u32 total; /* of all levels */
};

int ornic_tree_shape(u64 npages, struct ornic_tree_shape *shape);
void ornic_tree_set(struct ornic_tree_page *pages, u64 index, u64 dma);
void ornic_tree_set_segment(struct ornic_tree_page *pages, u64 index, u64 dma,
			    u64 length);
u64 ornic_tree_get(const struct ornic_tree_page *pages, u64 index);
void ornic_tree_link(struct ornic_tree_page *pages,
		     const struct ornic_tree_shape *shape);

#endif /* ORNIC_PAGE_TREE_H */
