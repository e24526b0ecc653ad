/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_QUEUE_H
#define ORNIC_QUEUE_H

#include <linux/types.h>

struct ib_device;
struct ib_ucontext;
struct ornic_mmap_entry;
struct ornic_queue_mem;

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
