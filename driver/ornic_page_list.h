/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PAGE_LIST_H
#define ORNIC_PAGE_LIST_H

#include "ornic_page_tree.h"

struct ib_device;

/*
 * A page tree in DMA-mapped memory. The device reads it for as long as its
 * object exists.
 */
struct ornic_page_list {
	/* Its list pages, leaves first; NULL: no tree */
	struct ornic_tree_page *pages;
	struct ornic_tree_shape shape; /* their number per level */
};

int ornic_page_list_alloc(struct ib_device *ibdev, struct ornic_page_list *list,
			  u64 npages);
void ornic_page_list_finish(struct ib_device *ibdev,
			    struct ornic_page_list *list);
void ornic_page_list_take(struct ib_device *ibdev,
			  struct ornic_page_list *list);
void ornic_page_list_free(struct ib_device *ibdev,
			  struct ornic_page_list *list);

static inline u64 ornic_page_list_root(const struct ornic_page_list *list)
{
	return list->pages[list->shape.total - 1].dma;
}

#endif /* ORNIC_PAGE_LIST_H */
