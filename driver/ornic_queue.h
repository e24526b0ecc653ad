/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_QUEUE_H
#define ORNIC_QUEUE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "ornic_page_list.h"

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

void *ornic_queue_mem_at(const struct ornic_queue_mem *mem, u32 off);
void ornic_queue_mem_describe(const struct ornic_queue_mem *mem,
			      struct ornic_dma_mem *out);

/**
 * struct ornic_mmap_entry - something that a user may map
 * @rdma: its place in the offsets of the context
 * @mem: queue memory, owned by the entry; NULL: the doorbell page
 * @pfn: page frame of the doorbell page
 */
struct ornic_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	struct ornic_queue_mem *mem;
	unsigned long pfn;
};

struct ornic_mmap_entry *ornic_mmap_add_doorbell(struct ib_ucontext *context,
						 unsigned long pfn);
void ornic_mmap_remove(struct ornic_mmap_entry *entry);
u64 ornic_mmap_offset(const struct ornic_mmap_entry *entry);
u64 ornic_mmap_size(const struct ornic_mmap_entry *entry);

/**
 * struct ornic_queue - the memory of a QP or CQ and who may map it
 * @mem: record page and rings
 * @mmap: lets the user map @mem, and owns it; NULL for a kernel user
 */
struct ornic_queue {
	struct ornic_queue_mem *mem;
	struct ornic_mmap_entry *mmap;
};

int ornic_queue_init(struct ornic_queue *queue, struct ib_ucontext *context,
		     u64 size);
int ornic_queue_init_kernel(struct ornic_queue *queue, struct ib_device *ibdev,
			    u64 size);
void ornic_queue_release(struct ornic_queue *queue, struct ib_device *ibdev);

#endif /* ORNIC_QUEUE_H */
