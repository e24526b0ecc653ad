/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DM_EXPORT_H
#define ORNIC_DM_EXPORT_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

struct device;
struct file;
struct ornic_queue_mem;

/* dma-bufs of memory in a BAR of a device. */
struct ornic_dm_exports {
	struct mutex lock; /* of list and dev; outside of reservation locks */
	struct list_head list;
	struct device *dev; /* whose BAR it is; NULL: it has none, or is gone */
	atomic_t mapped; /* by other devices: mappings of all of them */
	wait_queue_head_t unmapped;
};

void ornic_dm_exports_init(struct ornic_dm_exports *exports,
			   struct device *dev);

#ifdef CONFIG_DMA_SHARED_BUFFER
/**
 * ornic_dm_export_pages - export pages of the kernel as a dma-buf
 * @mem: the pages, all of the dma-buf
 * @owner: file that frees them; the dma-buf has a reference to it
 *
 * Return: the file of the dma-buf. -ENOMEM and others of dma_buf_export().
 */
struct file *ornic_dm_export_pages(const struct ornic_queue_mem *mem,
				   struct file *owner);

/**
 * ornic_dm_export_bar - export memory in a BAR as a dma-buf
 * @exports: which it joins; it lives as long as @owner
 * @start: physical address, of whole pages
 * @bytes: their size
 * @owner: file that has them in use; the dma-buf has a reference to it
 *
 * Return: as of ornic_dm_export_pages().
 */
struct file *ornic_dm_export_bar(struct ornic_dm_exports *exports,
				 phys_addr_t start, size_t bytes,
				 struct file *owner);

/*
 * The owner of memory that is exported by @exports, with a reference for the caller.
 * -EINVAL if that part of the dma-buf is empty, or not inside. NULL: file descriptor @fd
 * of the current process is no such dma-buf.
 */
struct file *ornic_dm_exported_by(const struct ornic_dm_exports *exports,
				  int fd, u64 offset, u64 length);

/*
 * Tell importers that the BAR goes. On return no other device can begin to access it. True if
 * those that did have unmapped it; they have 10 s to do so. May sleep.
 */
bool ornic_dm_revoke_exports(struct ornic_dm_exports *exports);
#else
static inline void ornic_dm_exports_init(struct ornic_dm_exports *exports,
					 struct device *dev)
{
}

static inline struct file *
ornic_dm_export_pages(const struct ornic_queue_mem *mem, struct file *owner)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct file *ornic_dm_export_bar(struct ornic_dm_exports *exports,
					       phys_addr_t start, size_t bytes,
					       struct file *owner)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct file *
ornic_dm_exported_by(const struct ornic_dm_exports *exports, int fd, u64 offset,
		     u64 length)
{
	return NULL;
}

static inline bool ornic_dm_revoke_exports(struct ornic_dm_exports *exports)
{
	return true;
}
#endif

#endif /* ORNIC_DM_EXPORT_H */
