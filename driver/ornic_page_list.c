// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of page trees: allocated in pages that the device can read, charged
 * to the memcg of the caller. Order: alloc, ornic_tree_set() for each data
 * page, finish, pass the root to the device; free when the object is destroyed.
 */
#include "ornic_page_list.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-hw.h>

#include "ornic_dev.h"

#define LIST_BYTES (ORNIC_LIST_ENTRIES * sizeof(__le64))

static_assert(LIST_BYTES <= PAGE_SIZE);

static void free_pages_upto(struct ib_device *ibdev,
			    struct ornic_page_list *list, u32 count)
{
	while (count--) {
		struct ornic_tree_page *page = &list->pages[count];

		ib_dma_unmap_single(ibdev, page->dma, LIST_BYTES,
				    DMA_TO_DEVICE);
		free_page((unsigned long)page->entries);
	}
	kvfree(list->pages);
	list->pages = NULL;
}

static int alloc_page_of_list(struct ib_device *ibdev,
			      struct ornic_tree_page *page)
{
	page->entries = (__le64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page->entries)
		return -ENOMEM;
	page->dma = ib_dma_map_single(ibdev, page->entries, LIST_BYTES,
				      DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, page->dma)) {
		free_page((unsigned long)page->entries);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Allocate the list pages for @npages data pages. Returns -EINVAL if no tree
 * can hold them.
 */
int ornic_page_list_alloc(struct ib_device *ibdev, struct ornic_page_list *list,
			  u64 npages)
{
	u32 i;
	int ret;

	ret = ornic_tree_shape(npages, &list->shape);
	if (ret)
		return ret;
	list->pages = kvcalloc(list->shape.total, sizeof(*list->pages),
			       GFP_KERNEL_ACCOUNT);
	if (!list->pages)
		return -ENOMEM;

	for (i = 0; i < list->shape.total; i++) {
		ret = alloc_page_of_list(ibdev, &list->pages[i]);
		if (ret)
			goto err_free_pages;
	}
	return 0;

err_free_pages:
	free_pages_upto(ibdev, list, i);
	return ret;
}

/* All data pages are set: link the levels and pass the list to the device. */
void ornic_page_list_finish(struct ib_device *ibdev,
			    struct ornic_page_list *list)
{
	u32 i;

	ornic_tree_link(list->pages, &list->shape);
	for (i = 0; i < list->shape.total; i++)
		ib_dma_sync_single_for_device(ibdev, list->pages[i].dma,
					      LIST_BYTES, DMA_TO_DEVICE);
}

/*
 * Take the list back, to set its data pages again. The device does not read it
 * meanwhile.
 */
void ornic_page_list_take(struct ib_device *ibdev, struct ornic_page_list *list)
{
	u32 i;

	for (i = 0; i < list->shape.total; i++)
		ib_dma_sync_single_for_cpu(ibdev, list->pages[i].dma,
					   LIST_BYTES, DMA_TO_DEVICE);
}

/* The device reads the list no more, or it has no pages. */
void ornic_page_list_free(struct ib_device *ibdev, struct ornic_page_list *list)
{
	u32 total = list->shape.total;
	u32 i;

	if (!list->pages)
		return;
	if (ornic_dma_lives(ibdev, NULL, (u64)total * LIST_BYTES))
		for (i = 0; i < total; i++)
			get_page(virt_to_page(list->pages[i].entries));
	free_pages_upto(ibdev, list, total);
}
