/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_QUEUE_H
#define ORNIC_QUEUE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "ornic_page_list.h"

struct file;
struct ornic_dma_mem;
struct page;

/* Memory of a queue, or of a DM in memory of the kernel, shared by user and device. */
struct ornic_queue_mem {
	/* Each with a reference of ours; user mappings hold their own */
	struct page **pages;
	u32 npages;
	u64 run; /* DMA address, if the pages are contiguous */
	/* Page list, if they are not (list.pages != NULL) */
	struct ornic_page_list list;
};

struct ornic_queue_mem *ornic_queue_mem_alloc(struct ib_device *ibdev,
					      u64 size);
void ornic_queue_mem_unmap(struct ib_device *ibdev,
			   struct ornic_queue_mem *mem);
void ornic_queue_mem_free(struct ornic_queue_mem *mem);
void *ornic_queue_mem_at(const struct ornic_queue_mem *mem, u32 off);
void ornic_queue_mem_describe(const struct ornic_queue_mem *mem,
			      struct ornic_dma_mem *out);

/* How processes map I/O memory. */
enum ornic_io_type {
	ORNIC_IO_UNCACHED,
	ORNIC_IO_WRITE_COMBINED,
	ORNIC_IO_CACHED,
};

/* I/O memory: the doorbell page, or memory of the device. */
struct ornic_io_mem {
	unsigned long pfn; /* first page frame */
	u64 bytes; /* whole pages */
	enum ornic_io_type type;
};

/* Queue memory, device memory or the doorbell page, for mmap(). */
struct ornic_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	/* Owned by the entry, or by file; NULL: io */
	struct ornic_queue_mem *mem;
	struct ornic_io_mem io;
	/* Owner of mem, and vm_file of its mappings, or of io; may be NULL */
	struct file *file;
	bool read_only; /* users cannot write to it */
};

struct ornic_mmap_entry *ornic_mmap_add_file(struct ib_ucontext *context,
					     struct ornic_queue_mem *mem,
					     struct file *file);
struct ornic_mmap_entry *ornic_mmap_add_io(struct ib_ucontext *context,
					   const struct ornic_io_mem *io,
					   struct file *file);
void ornic_mmap_remove(struct ornic_mmap_entry *entry);
u64 ornic_mmap_offset(const struct ornic_mmap_entry *entry);
u64 ornic_mmap_size(const struct ornic_mmap_entry *entry);

/* The memory of a QP, CQ or SRQ and its mapping. */
struct ornic_queue {
	struct ornic_queue_mem *mem; /* record page and rings */
	/* Lets the user map mem, and owns it; NULL for a kernel user */
	struct ornic_mmap_entry *mmap;
};

int ornic_queue_init(struct ornic_queue *queue, struct ib_ucontext *context,
		     u64 size);
int ornic_queue_init_read_only(struct ornic_queue *queue,
			       struct ib_ucontext *context, u64 size);
int ornic_queue_init_kernel(struct ornic_queue *queue, struct ib_device *ibdev,
			    u64 size);
void ornic_queue_release(struct ornic_queue *queue, struct ib_device *ibdev);

#endif /* ORNIC_QUEUE_H */
