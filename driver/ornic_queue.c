// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue memory together with its mapping into a user. */
#include "ornic_queue.h"

#include "ornic_mmap.h"
#include "ornic_queue_mem.h"

/**
 * ornic_queue_init - allocate queue memory and let a user map it
 * @queue: filled in
 * @context: of the user
 * @size: bytes
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int ornic_queue_init(struct ornic_queue *queue, struct ib_ucontext *context,
		     u64 size)
{
	queue->mem = ornic_queue_mem_alloc(context->device, size);
	if (IS_ERR(queue->mem))
		return PTR_ERR(queue->mem);
	queue->mmap = ornic_mmap_add_queue(context, queue->mem);
	if (IS_ERR(queue->mmap))
		goto err_free_mem;
	return 0;

err_free_mem:
	ornic_queue_mem_unmap(context->device, queue->mem);
	ornic_queue_mem_free(queue->mem);
	return PTR_ERR(queue->mmap);
}

/**
 * ornic_queue_init_kernel - allocate queue memory that nobody maps
 * @queue: filled in
 * @ibdev: device
 * @size: bytes
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int ornic_queue_init_kernel(struct ornic_queue *queue, struct ib_device *ibdev,
			    u64 size)
{
	queue->mmap = NULL;
	queue->mem = ornic_queue_mem_alloc(ibdev, size);
	return PTR_ERR_OR_ZERO(queue->mem);
}

/**
 * ornic_queue_release - give queue memory up
 * @queue: that the device does not use any more
 * @ibdev: device
 *
 * Its pages are freed here, or by whoever maps them last.
 *
 * Context: process.
 */
void ornic_queue_release(struct ornic_queue *queue, struct ib_device *ibdev)
{
	ornic_queue_mem_unmap(ibdev, queue->mem);
	if (queue->mmap)
		ornic_mmap_remove(queue->mmap);
	else
		ornic_queue_mem_free(queue->mem);
}
