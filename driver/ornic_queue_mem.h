/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_QUEUE_MEM_H
#define ORNIC_QUEUE_MEM_H

#include <linux/types.h>

#include "ornic_page_list.h"

struct ib_device;
struct ornic_dma_mem;
struct page;

/**
 * struct ornic_queue_mem - memory of a QP or CQ, shared by user and device
 * @pages: each with a reference of ours; user mappings hold their own
 * @npages: number of @pages
 * @run: DMA address of the whole, if it is one run
 * @list: its page list, if not (list.pages != NULL)
 */
struct ornic_queue_mem {
	struct page **pages;
	u32 npages;
	u64 run;
	struct ornic_page_list list;
};

struct ornic_queue_mem *ornic_queue_mem_alloc(struct ib_device *ibdev,
					      u64 size);
void *ornic_queue_mem_at(const struct ornic_queue_mem *mem, u32 off);
void ornic_queue_mem_describe(const struct ornic_queue_mem *mem,
			      struct ornic_dma_mem *out);
void ornic_queue_mem_unmap(struct ib_device *ibdev,
			   struct ornic_queue_mem *mem);
void ornic_queue_mem_free(struct ornic_queue_mem *mem);

#endif /* ORNIC_QUEUE_MEM_H */
