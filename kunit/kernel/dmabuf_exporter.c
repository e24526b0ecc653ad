// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An exporter of dma-bufs that move and are revoked when a test asks for it, by ioctls
 * of /dev/ornic_dmabuf_exporter.
 *
 * A dma-buf has two sets of pages, one of which is its memory. The other one is filled
 * with POISON, as both are after revocation: a byte of it that is not POISON was
 * written through a mapping that is stale ("stray"), and a read through one returns
 * POISON.
 *
 * pin() succeeds, and the memory moves all the same. A kernel without
 * CONFIG_DMABUF_MOVE_NOTIFY pins whatever is mapped, also for importers that are told
 * of moves, so that a pin does not tell them from others. Importers that keep their
 * mapping make a move fail.
 */
#include <linux/atomic.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat/compat_dmabuf.h"
#include "compat/compat_mm.h"
#include "dmabuf_exporter.h"

ORNIC_IMPORT_NS_DMA_BUF;

#define POISON 0x6b
#define SIZE_LIMIT SZ_64M

/* The lock of the dma-buf's reservation object protects what changes. */
struct exported {
	struct page **sets[2];
	unsigned long count; /* pages of a set */
	unsigned int used; /* the set that is the memory */
	bool revoked;
	bool restless;
	u64 stray; /* bytes, in sets that have been in use again since */
	/* Before 6.2 vmap() is called without the lock. */
	atomic_t mappings;
};

/* ---- Two sets of pages --------------------------------------------------- */

static struct page **used_pages(const struct exported *e)
{
	return e->sets[e->used];
}

static void free_set(struct page **pages, unsigned long count)
{
	unsigned long i;

	if (!pages)
		return;
	for (i = 0; i < count && pages[i]; i++)
		__free_page(pages[i]);
	kvfree(pages);
}

static struct page **alloc_set(unsigned long count)
{
	struct page **pages;
	unsigned long i;

	pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!pages[i]) {
			free_set(pages, count);
			return NULL;
		}
		cond_resched();
	}
	return pages;
}

static void poison_set(const struct exported *e, unsigned int set)
{
	unsigned long i;

	for (i = 0; i < e->count; i++) {
		memset(page_address(e->sets[set][i]), POISON, PAGE_SIZE);
		cond_resched();
	}
}

/* Bytes of a poisoned page that something has written to. */
static unsigned int stray_of_page(struct page *page)
{
	const u8 *at = page_address(page);
	unsigned int i, bytes = 0;

	if (!memchr_inv(at, POISON, PAGE_SIZE))
		return 0;
	for (i = 0; i < PAGE_SIZE; i++)
		bytes += at[i] != POISON;
	return bytes;
}

static u64 stray_of_set(const struct exported *e, unsigned int set)
{
	unsigned long i;
	u64 bytes = 0;

	for (i = 0; i < e->count; i++) {
		bytes += stray_of_page(e->sets[set][i]);
		cond_resched();
	}
	return bytes;
}

static void free_exported(struct exported *e)
{
	free_set(e->sets[0], e->count);
	free_set(e->sets[1], e->count);
	kfree(e);
}

static struct exported *alloc_exported(u64 size)
{
	struct exported *e;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return NULL;
	e->count = size >> PAGE_SHIFT;
	e->sets[0] = alloc_set(e->count);
	e->sets[1] = alloc_set(e->count);
	if (!e->sets[0] || !e->sets[1]) {
		free_exported(e);
		return NULL;
	}
	poison_set(e, 1);
	return e;
}

/* ---- Mappings of users ----------------------------------------------------- */

/*
 * The page is mapped under the lock: if it were returned in vmf->page, it could move
 * before it is mapped.
 */
static vm_fault_t exporter_fault(struct vm_fault *vmf)
{
	struct dma_buf *dmabuf = vmf->vma->vm_private_data;
	struct exported *e = dmabuf->priv;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	/* After a signal the fault is repeated. */
	if (dma_resv_lock_interruptible(dmabuf->resv, NULL))
		return VM_FAULT_NOPAGE;
	if (!e->revoked && vmf->pgoff < e->count)
		ret = vmf_insert_pfn(vmf->vma, vmf->address,
				     page_to_pfn(used_pages(e)[vmf->pgoff]));
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

static const struct vm_operations_struct exporter_vm_ops = {
	.fault = exporter_fault,
};

static int exporter_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &exporter_vm_ops;
	vma->vm_private_data = dmabuf;
	return 0;
}

/* ---- Mappings of importers ----------------------------------------------- */

static int exporter_pin(struct dma_buf_attachment *attach)
{
	return 0;
}

static void exporter_unpin(struct dma_buf_attachment *attach)
{
}

static int fill_table(const struct exported *e, struct sg_table *table,
		      struct device *dev, enum dma_data_direction dir)
{
	int ret;

	ret = sg_alloc_table_from_pages(table, used_pages(e), e->count, 0,
					e->count << PAGE_SHIFT, GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret)
		sg_free_table(table);
	return ret;
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct exported *e = attach->dmabuf->priv;
	struct sg_table *table;
	int ret;

	if (e->revoked)
		return ERR_PTR(-ENODEV);
	if (e->restless)
		dma_buf_move_notify(attach->dmabuf);
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	ret = fill_table(e, table, attach->dev, dir);
	if (ret) {
		kfree(table);
		return ERR_PTR(ret);
	}
	atomic_inc(&e->mappings);
	return table;
}

static void exporter_unmap(struct dma_buf_attachment *attach,
			   struct sg_table *table, enum dma_data_direction dir)
{
	struct exported *e = attach->dmabuf->priv;

	dma_unmap_sgtable(attach->dev, table, dir, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(table);
	kfree(table);
	atomic_dec(&e->mappings);
}

static int exporter_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct exported *e = dmabuf->priv;
	void *at;

	if (e->revoked)
		return -ENODEV;
	if (e->restless)
		dma_buf_move_notify(dmabuf);
	at = vmap(used_pages(e), e->count, VM_MAP, PAGE_KERNEL);
	if (!at)
		return -ENOMEM;
	iosys_map_set_vaddr(map, at);
	atomic_inc(&e->mappings);
	return 0;
}

static void exporter_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct exported *e = dmabuf->priv;

	vunmap(map->vaddr);
	atomic_dec(&e->mappings);
}

static void exporter_release(struct dma_buf *dmabuf)
{
	free_exported(dmabuf->priv);
}

static const struct dma_buf_ops exporter_ops = {
	.pin = exporter_pin,
	.unpin = exporter_unpin,
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.mmap = exporter_mmap,
	.vmap = exporter_vmap,
	.vunmap = exporter_vunmap,
	.release = exporter_release,
};

/* ---- What tests ask for -------------------------------------------------- */

/*
 * Take the memory from all that have it mapped. Users fault again, which waits for the
 * lock that the caller holds. An importer must be without a mapping when move_notify()
 * returns; there are no fences to wait for.
 */
static int unmap_all(struct dma_buf *dmabuf)
{
	const struct exported *e = dmabuf->priv;

	dma_resv_assert_held(dmabuf->resv);
	if (e->revoked)
		return -ENODEV;
	dma_buf_move_notify(dmabuf);
	if (atomic_read(&e->mappings))
		return -EBUSY;
	unmap_mapping_range(dmabuf->file->f_mapping, 0, dmabuf->size, 1);
	return 0;
}

static void copy_to_set(const struct exported *e, unsigned int set)
{
	unsigned long i;

	for (i = 0; i < e->count; i++) {
		copy_page(page_address(e->sets[set][i]),
			  page_address(used_pages(e)[i]));
		cond_resched();
	}
}

static int move(struct dma_buf *dmabuf)
{
	struct exported *e = dmabuf->priv;
	unsigned int other = !e->used;
	int ret;

	ret = unmap_all(dmabuf);
	if (ret)
		return ret;
	e->stray += stray_of_set(e, other);
	copy_to_set(e, other);
	poison_set(e, e->used);
	e->used = other;
	return 0;
}

static int revoke(struct dma_buf *dmabuf)
{
	struct exported *e = dmabuf->priv;
	int ret;

	ret = unmap_all(dmabuf);
	if (ret)
		return ret;
	e->stray += stray_of_set(e, !e->used);
	poison_set(e, 0);
	poison_set(e, 1);
	e->revoked = true;
	return 0;
}

static u64 stray(struct dma_buf *dmabuf)
{
	const struct exported *e = dmabuf->priv;
	u64 bytes = e->stray + stray_of_set(e, !e->used);

	return e->revoked ? bytes + stray_of_set(e, e->used) : bytes;
}

static int do_locked(struct dma_buf *dmabuf, unsigned int cmd, u64 *bytes)
{
	int ret;

	ret = dma_resv_lock_interruptible(dmabuf->resv, NULL);
	if (ret)
		return ret;
	if (cmd == ORNIC_EXPORTER_MOVE)
		ret = move(dmabuf);
	else if (cmd == ORNIC_EXPORTER_REVOKE)
		ret = revoke(dmabuf);
	else if (cmd == ORNIC_EXPORTER_RESTLESS)
		((struct exported *)dmabuf->priv)->restless = true;
	else
		*bytes = stray(dmabuf);
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

/* @bytes: what STRAY has found. */
static int do_with_fd(int fd, unsigned int cmd, u64 *bytes)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int ret = -EINVAL;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	if (dmabuf->ops == &exporter_ops)
		ret = do_locked(dmabuf, cmd, bytes);
	dma_buf_put(dmabuf);
	return ret;
}

/* Returns a file descriptor, to which the dma-buf belongs. */
static int create(u64 size)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int fd;

	if (!size || size > SIZE_LIMIT || !PAGE_ALIGNED(size))
		return -EINVAL;
	info.ops = &exporter_ops;
	info.size = size;
	info.flags = O_RDWR;
	info.priv = alloc_exported(size);
	if (!info.priv)
		return -ENOMEM;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		free_exported(info.priv);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static int create_ioctl(const __u64 __user *arg)
{
	u64 size;

	if (get_user(size, arg))
		return -EFAULT;
	return create(size);
}

static int fd_ioctl(unsigned int cmd, const __s32 __user *arg)
{
	int fd;

	if (get_user(fd, arg))
		return -EFAULT;
	return do_with_fd(fd, cmd, NULL);
}

static int stray_ioctl(struct ornic_exporter_stray __user *arg)
{
	u64 bytes = 0;
	int fd, ret;

	if (get_user(fd, &arg->fd))
		return -EFAULT;
	ret = do_with_fd(fd, ORNIC_EXPORTER_STRAY, &bytes);
	if (!ret && put_user(bytes, &arg->bytes))
		ret = -EFAULT;
	return ret;
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	void __user *at = (void __user *)arg;

	switch (cmd) {
	case ORNIC_EXPORTER_CREATE:
		return create_ioctl(at);
	case ORNIC_EXPORTER_MOVE:
	case ORNIC_EXPORTER_REVOKE:
	case ORNIC_EXPORTER_RESTLESS:
		return fd_ioctl(cmd, at);
	case ORNIC_EXPORTER_STRAY:
		return stray_ioctl(at);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
};

static struct miscdevice exporter_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ornic_dmabuf_exporter",
	.fops = &exporter_fops,
};

module_misc_device(exporter_device);

MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("dma-bufs that move and are revoked, for tests");
