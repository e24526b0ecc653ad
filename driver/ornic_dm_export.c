// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Device memory as dma-bufs, for MRs of others and for other devices. A dma-buf has a
 * reference to the file that owns the memory: it outlives its DM, as mappings do, and
 * counts against the budget.
 *
 * Pages of the kernel never move, and outlive the device: any importer may have them.
 *
 * Memory in a BAR is for devices that reach it without the CPU (P2PDMA), and that are told
 * when the device goes: they unmap it when what they do with it is done. The exporter waits
 * for that, and not for fences, which whoever has the dma-buf may add for ever. The memory
 * cannot be pinned, nor mapped for the CPU: for that the DM itself is mapped. MRs of the
 * device that has it name it as memory of its own, without DMA.
 *
 * Locks, outermost first: lock of the exports; reservation lock of a dma-buf.
 */
#include "ornic_dm_export.h"

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/compat_dmabuf.h"
#include "compat/compat_mm.h"
#include "ornic_dmabuf.h"
#include "ornic_queue.h"

static struct dma_buf *export_memory(const struct dma_buf_ops *ops,
				     size_t bytes, void *priv)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	info.ops = ops;
	info.size = bytes;
	info.flags = O_RDWR;
	info.priv = priv;
	return dma_buf_export(&info);
}

/* ---- Pages ------------------------------------------------------------------------ */

struct exported_pages {
	const struct ornic_queue_mem *mem;
	struct file *owner;
};

/* Bytes, whole pages. */
static unsigned int max_segment(struct device *dev)
{
	unsigned int most =
		min_t(unsigned int, dma_get_max_seg_size(dev), SZ_1G);

	return max_t(unsigned int, ALIGN_DOWN(most, PAGE_SIZE), PAGE_SIZE);
}

/* Bounced memory, or such that caches keep from the device, would need copies. */
static bool needs_sync(struct device *dev, const struct sg_table *table)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(table, sg, i)
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	return false;
}

static int map_table(struct device *dev, struct sg_table *table,
		     const struct ornic_queue_mem *mem,
		     enum dma_data_direction dir)
{
	int ret;

	ret = sg_alloc_table_from_pages_segment(
		table, mem->pages, mem->npages, 0,
		(size_t)mem->npages << PAGE_SHIFT, max_segment(dev),
		GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret)
		goto err_free;
	if (needs_sync(dev, table)) {
		ret = -EOPNOTSUPP;
		goto err_unmap;
	}
	return 0;

err_unmap:
	dma_unmap_sgtable(dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
err_free:
	sg_free_table(table);
	return ret;
}

static struct sg_table *map_pages(struct dma_buf_attachment *attach,
				  enum dma_data_direction dir)
{
	const struct exported_pages *e = attach->dmabuf->priv;
	struct sg_table *table;
	int ret;

	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	ret = map_table(attach->dev, table, e->mem, dir);
	if (ret) {
		kfree(table);
		return ERR_PTR(ret);
	}
	return table;
}

static void unmap_pages(struct dma_buf_attachment *attach,
			struct sg_table *table, enum dma_data_direction dir)
{
	dma_unmap_sgtable(attach->dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(table);
	kfree(table);
}

static int mmap_pages(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	const struct exported_pages *e = dmabuf->priv;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return vm_map_pages(vma, e->mem->pages, e->mem->npages);
}

static int vmap_pages(struct dma_buf *dmabuf, struct iosys_map *map)
{
	const struct exported_pages *e = dmabuf->priv;
	void *at = vmap(e->mem->pages, e->mem->npages, VM_MAP, PAGE_KERNEL);

	if (!at)
		return -ENOMEM;
	iosys_map_set_vaddr(map, at);
	return 0;
}

static void vunmap_pages(struct dma_buf *dmabuf, struct iosys_map *map)
{
	vunmap(map->vaddr);
}

static void end_pages(struct dma_buf *dmabuf)
{
	struct exported_pages *e = dmabuf->priv;

	fput(e->owner);
	kfree(e);
}

static const struct dma_buf_ops pages_ops = {
	.map_dma_buf = map_pages,
	.unmap_dma_buf = unmap_pages,
	.mmap = mmap_pages,
	.vmap = vmap_pages,
	.vunmap = vunmap_pages,
	.release = end_pages,
};

struct file *ornic_dm_export_pages(const struct ornic_queue_mem *mem,
				   struct file *owner)
{
	struct exported_pages *e;
	struct dma_buf *dmabuf;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return ERR_PTR(-ENOMEM);
	e->mem = mem;
	e->owner = get_file(owner);
	dmabuf =
		export_memory(&pages_ops, (size_t)mem->npages << PAGE_SHIFT, e);
	if (IS_ERR(dmabuf)) {
		fput(owner);
		kfree(e);
		return ERR_CAST(dmabuf);
	}
	return dmabuf->file;
}

/* ---- Memory in a BAR ---------------------------------------------------------------- */

struct exported_bar {
	struct ornic_dm_exports *exports;
	struct list_head entry; /* lock of exports */
	struct dma_buf *dmabuf;
	struct file *owner;
	phys_addr_t start;
	size_t bytes;
	bool revoked; /* reservation lock */
};

/* A host bridge may give the BAR another address on the bus, which a peer would need. */
static bool is_translated(struct pci_dev *provider, phys_addr_t at)
{
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++)
		if (at >= pci_resource_start(provider, i) &&
		    at - pci_resource_start(provider, i) <
			    pci_resource_len(provider, i))
			return pci_bus_address(provider, i) !=
			       pci_resource_start(provider, i);
	return true;
}

static int reaches(struct device *client, struct pci_dev *provider,
		   phys_addr_t at)
{
	if (is_translated(provider, at) ||
	    pci_p2pdma_distance(provider, client, false) < 0)
		return -EOPNOTSUPP;
	return 0;
}

static bool takes_notice(const struct dma_buf_attachment *attach)
{
	return attach->importer_ops && attach->importer_ops->move_notify;
}

/* Who takes no notice of moves could not be told when the device goes. */
static int attach_bar(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	const struct exported_bar *e = dmabuf->priv;
	struct ornic_dm_exports *exports = e->exports;
	int ret = -ENODEV;

	if (!attach->peer2peer || !takes_notice(attach))
		return -EOPNOTSUPP;
	mutex_lock(&exports->lock);
	if (exports->dev)
		ret = reaches(attach->dev, to_pci_dev(exports->dev), e->start);
	mutex_unlock(&exports->lock);
	return ret;
}

static int pin_bar(struct dma_buf_attachment *attach)
{
	return -EOPNOTSUPP;
}

static void unpin_bar(struct dma_buf_attachment *attach)
{
}

static void unmap_segments(struct device *dev, struct sg_table *table,
			   unsigned int count, enum dma_data_direction dir)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sg(table->sgl, sg, count, i)
		dma_unmap_resource(dev, sg_dma_address(sg), sg_dma_len(sg), dir,
				   DMA_ATTR_SKIP_CPU_SYNC);
}

static int map_segments(struct device *dev, struct sg_table *table,
			const struct exported_bar *e,
			enum dma_data_direction dir)
{
	unsigned int most = max_segment(dev);
	phys_addr_t at = e->start;
	struct scatterlist *sg;
	unsigned int len;
	dma_addr_t dma;
	int i;

	for_each_sgtable_dma_sg(table, sg, i) {
		len = min_t(u64, e->start + e->bytes - at, most);
		dma = dma_map_resource(dev, at, len, dir,
				       DMA_ATTR_SKIP_CPU_SYNC);
		if (dma_mapping_error(dev, dma)) {
			unmap_segments(dev, table, i, dir);
			return -EIO;
		}
		/* It has no struct pages. */
		sg_set_page(sg, NULL, len, 0);
		sg_dma_address(sg) = dma;
		sg_dma_len(sg) = len;
		at += len;
	}
	return 0;
}

static bool is_beyond_mask(struct device *dev, const struct exported_bar *e)
{
	return !device_iommu_mapped(dev) &&
	       e->start + e->bytes - 1 > dma_get_mask(dev);
}

static struct sg_table *map_bar(struct dma_buf_attachment *attach,
				enum dma_data_direction dir)
{
	const struct exported_bar *e = attach->dmabuf->priv;
	struct sg_table *table;
	int ret;

	if (e->revoked)
		return ERR_PTR(-ENODEV);
	if (is_beyond_mask(attach->dev, e))
		return ERR_PTR(-EIO);
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(
		table, DIV_ROUND_UP_ULL(e->bytes, max_segment(attach->dev)),
		GFP_KERNEL);
	if (ret)
		goto err_free;
	ret = map_segments(attach->dev, table, e, dir);
	if (ret)
		goto err_free_table;
	atomic_inc(&e->exports->mapped);
	return table;

err_free_table:
	sg_free_table(table);
err_free:
	kfree(table);
	return ERR_PTR(ret);
}

static void unmap_bar(struct dma_buf_attachment *attach, struct sg_table *table,
		      enum dma_data_direction dir)
{
	const struct exported_bar *e = attach->dmabuf->priv;

	unmap_segments(attach->dev, table, table->nents, dir);
	sg_free_table(table);
	kfree(table);
	if (atomic_dec_and_test(&e->exports->mapped))
		wake_up(&e->exports->unmapped);
}

static void end_bar(struct dma_buf *dmabuf)
{
	struct exported_bar *e = dmabuf->priv;

	mutex_lock(&e->exports->lock);
	list_del(&e->entry);
	mutex_unlock(&e->exports->lock);
	fput(e->owner);
	kfree(e);
}

static const struct dma_buf_ops bar_ops = {
	.attach = attach_bar,
	.pin = pin_bar,
	.unpin = unpin_bar,
	.map_dma_buf = map_bar,
	.unmap_dma_buf = unmap_bar,
	.release = end_bar,
};

struct file *ornic_dm_export_bar(struct ornic_dm_exports *exports,
				 phys_addr_t start, size_t bytes,
				 struct file *owner)
{
	struct exported_bar *e;
	struct dma_buf *dmabuf;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return ERR_PTR(-ENOMEM);
	e->exports = exports;
	e->owner = get_file(owner);
	e->start = start;
	e->bytes = bytes;
	dmabuf = export_memory(&bar_ops, bytes, e);
	if (IS_ERR(dmabuf)) {
		fput(owner);
		kfree(e);
		return ERR_CAST(dmabuf);
	}
	e->dmabuf = dmabuf;
	mutex_lock(&exports->lock);
	list_add(&e->entry, &exports->list);
	mutex_unlock(&exports->lock);
	return dmabuf->file;
}

static struct file *owner_of_part(const struct dma_buf *dmabuf, u64 offset,
				  u64 length)
{
	const struct exported_bar *e = dmabuf->priv;

	if (!ornic_dmabuf_has(dmabuf, offset, length))
		return ERR_PTR(-EINVAL);
	return get_file(e->owner);
}

struct file *ornic_dm_exported_by(const struct ornic_dm_exports *exports,
				  int fd, u64 offset, u64 length)
{
	const struct exported_bar *e;
	struct file *owner = NULL;
	struct dma_buf *dmabuf;

	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return NULL;
	e = dmabuf->priv;
	if (dmabuf->ops == &bar_ops && e->exports == exports)
		owner = owner_of_part(dmabuf, offset, length);
	dma_buf_put(dmabuf);
	return owner;
}

void ornic_dm_exports_init(struct ornic_dm_exports *exports, struct device *dev)
{
	mutex_init(&exports->lock);
	INIT_LIST_HEAD(&exports->list);
	exports->dev = dev;
	atomic_set(&exports->mapped, 0);
	init_waitqueue_head(&exports->unmapped);
}

static void revoke(struct exported_bar *e)
{
	dma_resv_lock(e->dmabuf->resv, NULL);
	e->revoked = true;
	dma_buf_move_notify(e->dmabuf);
	dma_resv_unlock(e->dmabuf->resv);
}

/* Longer than devices that are alive take for what they do. */
#define UNMAP_TIMEOUT (10 * HZ)

/* A dma-buf without users is in the list, and stays, until end_bar() has the lock. */
bool ornic_dm_revoke_exports(struct ornic_dm_exports *exports)
{
	struct exported_bar *e;

	mutex_lock(&exports->lock);
	exports->dev = NULL;
	list_for_each_entry(e, &exports->list, entry)
		revoke(e);
	mutex_unlock(&exports->lock);
	return wait_event_timeout(exports->unmapped,
				  !atomic_read(&exports->mapped),
				  UNMAP_TIMEOUT);
}
