/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_MMAP_H
#define ORNIC_MMAP_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ornic_queue_mem;

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

struct ornic_mmap_entry *ornic_mmap_add_queue(struct ib_ucontext *context,
					      struct ornic_queue_mem *mem);
struct ornic_mmap_entry *ornic_mmap_add_doorbell(struct ib_ucontext *context,
						 unsigned long pfn);
void ornic_mmap_remove(struct ornic_mmap_entry *entry);
u64 ornic_mmap_offset(const struct ornic_mmap_entry *entry);
u64 ornic_mmap_size(const struct ornic_mmap_entry *entry);

#endif /* ORNIC_MMAP_H */
