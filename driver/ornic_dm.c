// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Device memory (DM), of which MRs name parts: memory of the device itself, in a BAR;
 * or, of a device that is part of the kernel, pages of the kernel, allocated as queue
 * memory is.
 *
 * What a DM has belongs to a file that nobody can open, to which the mmap entry of the
 * DM has a reference. Each mapping has one as well: of pages, by its vm_file; of a BAR,
 * by its reference to the entry, which ib_core keeps. So has each dma-buf, and each MR on
 * a dma-buf that is in the BAR of its device. So fork, mremap and munmap of a
 * part keep the count. When the last one is gone, memory and budget are given back: a
 * program that frees a DM and keeps it mapped has not got more than the budget, and
 * what it can reach is in no other DM.
 *
 *   mmap entry, mappings, dma-bufs --file reference--> backing --reference--> pool
 *
 * MRs on the DM itself need no reference: ib_core refuses to free a DM that has some.
 * Whoever gets a part of a BAR finds zeroes there, whatever its last owner, and peers of
 * that one, wrote.
 */
#include "ornic_dm.h"

#include <linux/anon_inodes.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pfn.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME ornic
#include <rdma/uverbs_named_ioctl.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_dm_export.h"
#include "ornic_queue.h"
#include "ornic_verbs.h"

/* Of a device, which programs that have mapped DMs outlive. */
struct ornic_dm_pool {
	refcount_t users; /* the device and backings */
	struct mutex lock; /* of budget */
	struct ornic_dm_budget budget;
	struct ornic_dm_exports exports; /* of memory in a BAR */
};

/* The private data of a DM's file. */
struct dm_backing {
	struct ornic_dm_pool *pool;
	struct ornic_dm_part part; /* of the pool's budget */
	struct ornic_queue_mem *mem; /* NULL: no pages, or not yet */
};

/* ---- The pool ------------------------------------------------------------ */

/* Is device memory that of the device itself? */
static bool in_bar(const struct ornic_ib_dev *dev)
{
	return dev->bus->dm.base;
}

static bool has_dm(const struct ornic_ib_dev *dev)
{
	u64 needed = ORNIC_CAP_MKEY_OFFSET;

	if (in_bar(dev))
		needed |= ORNIC_CAP_DM;
	return dev->bus->max_dm && (dev->caps.caps & needed) == needed;
}

/* For a device that has no memory this does nothing. */
int ornic_dm_pool_init(struct ornic_ib_dev *dev)
{
	struct ornic_dm_budget *budget;
	struct ornic_dm_pool *pool;

	if (!has_dm(dev))
		return 0;
	pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return -ENOMEM;
	refcount_set(&pool->users, 1);
	mutex_init(&pool->lock);
	budget = &pool->budget;
	budget->limit = dev->bus->max_dm;
	budget->page_shift = PAGE_SHIFT;
	if (in_bar(dev)) {
		budget->taken = kvcalloc(ornic_dm_words(budget),
					 sizeof(*budget->taken), GFP_KERNEL);
		if (!budget->taken)
			goto err_free_pool;
	}
	ornic_dm_exports_init(&pool->exports,
			      in_bar(dev) ? dev->bus->parent : NULL);
	dev->dm_pool = pool;
	return 0;

err_free_pool:
	kfree(pool);
	return -ENOMEM;
}

static void pool_put(struct ornic_dm_pool *pool)
{
	if (!refcount_dec_and_test(&pool->users))
		return;
	kvfree(pool->budget.taken);
	kfree(pool);
}

void ornic_dm_pool_close(struct ornic_ib_dev *dev)
{
	struct ornic_bus *bus = dev->bus;

	if (!dev->dm_pool)
		return;
	if (!ornic_dm_revoke_exports(&dev->dm_pool->exports)) {
		dev_warn(
			bus->parent,
			"other devices keep its memory mapped: it has none any more\n");
		bus->max_dm = 0;
	}
	pool_put(dev->dm_pool);
}

u64 ornic_dm_size(const struct ornic_ib_dev *dev)
{
	return dev->dm_pool ? dev->dm_pool->budget.limit : 0;
}

static int pool_take(struct ornic_dm_pool *pool,
		     const struct ib_dm_alloc_attr *attr,
		     struct ornic_dm_part *part)
{
	int ret;

	mutex_lock(&pool->lock);
	ret = ornic_dm_reserve(&pool->budget, attr->length, attr->alignment,
			       part);
	mutex_unlock(&pool->lock);
	if (!ret)
		refcount_inc(&pool->users);
	return ret;
}

static void pool_give_back(struct ornic_dm_pool *pool,
			   const struct ornic_dm_part *part)
{
	mutex_lock(&pool->lock);
	ornic_dm_unreserve(&pool->budget, part);
	mutex_unlock(&pool->lock);
	pool_put(pool);
}

/* ---- Files --------------------------------------------------------------- */

static int dm_file_release(struct inode *inode, struct file *file)
{
	struct dm_backing *backing = file->private_data;

	if (backing->mem)
		ornic_queue_mem_free(backing->mem);
	pool_give_back(backing->pool, &backing->part);
	kfree(backing);
	return 0;
}

static const struct file_operations dm_file_ops = {
	.owner = THIS_MODULE,
	.release = dm_file_release,
};

/* A file with a part of the budget of @pool, and no memory yet. */
static struct file *dm_file_create(struct ornic_dm_pool *pool,
				   const struct ib_dm_alloc_attr *attr)
{
	struct dm_backing *backing;
	struct file *file;
	int ret;

	backing = kzalloc(sizeof(*backing), GFP_KERNEL_ACCOUNT);
	if (!backing)
		return ERR_PTR(-ENOMEM);
	backing->pool = pool;
	ret = pool_take(pool, attr, &backing->part);
	if (ret)
		goto err_free_backing;
	file = anon_inode_getfile("[ornic_dm]", &dm_file_ops, backing,
				  O_RDWR | O_CLOEXEC);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto err_give_back;
	}
	return file;

err_give_back:
	pool_give_back(pool, &backing->part);
err_free_backing:
	kfree(backing);
	return ERR_PTR(ret);
}

/* ---- Verbs --------------------------------------------------------------- */

#define CLEAR_BYTES SZ_256K

/* Nothing of it is mapped, and no key of it exists. */
static void clear_part(const struct ornic_bus_dm *bar,
		       const struct ornic_dm_part *part)
{
	u64 done, len;

	for (done = 0; done < part->bytes; done += len) {
		len = min_t(u64, part->bytes - done, CLEAR_BYTES);
		memset_io(bar->base + part->offset + done, 0, len);
		cond_resched();
	}
	/* Write-combined: before anything that users and peers store. */
	wmb();
}

/* The place that @file has; on success the mmap entry owns @file. */
static int dm_place(struct ornic_ib_dm *dm, struct ib_ucontext *context,
		    struct file *file)
{
	const struct ornic_ib_dev *dev = to_odev(context->device);
	const struct dm_backing *backing = file->private_data;
	const struct ornic_bus_dm *bar = &dev->bus->dm;
	const struct ornic_io_mem io = {
		.pfn = bar->pfn + (backing->part.offset >> PAGE_SHIFT),
		.bytes = backing->part.bytes,
		.type = bar->is_cached ? ORNIC_IO_CACHED :
					 ORNIC_IO_WRITE_COMBINED,
	};

	/* A device that has failed may not have destroyed the keys of former owners. */
	if (ornic_is_dead(dev))
		return -EIO;
	dm->part = backing->part;
	clear_part(bar, &dm->part);
	dm->mmap = ornic_mmap_add_io(context, &io, file);
	return PTR_ERR_OR_ZERO(dm->mmap);
}

/* Memory for @file, which goes with it; on success the mmap entry owns @file. */
static int dm_fill(struct ornic_ib_dm *dm, struct ib_ucontext *context,
		   struct file *file)
{
	struct dm_backing *backing = file->private_data;
	struct ib_device *ibdev = context->device;

	dm->mem = ornic_queue_mem_alloc(ibdev, backing->part.bytes);
	if (IS_ERR(dm->mem))
		return PTR_ERR(dm->mem);
	backing->mem = dm->mem;
	dm->mmap = ornic_mmap_add_file(context, dm->mem, file);
	if (IS_ERR(dm->mmap)) {
		ornic_queue_mem_unmap(ibdev, dm->mem);
		return PTR_ERR(dm->mmap);
	}
	return 0;
}

struct ib_dm *ornic_ib_alloc_dm(struct ib_device *ibdev,
				struct ib_ucontext *context,
				struct ib_dm_alloc_attr *attr,
				struct uverbs_attr_bundle *attrs)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);
	struct ornic_ib_dm *dm;
	struct file *file;
	int ret;

	if (!dev->dm_pool)
		return ERR_PTR(-EOPNOTSUPP);
	dm = kzalloc(sizeof(*dm), GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	file = dm_file_create(dev->dm_pool, attr);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		ibdev_dbg(ibdev,
			  "DM: %llu bytes at a multiple of 2^%u, limit %llu\n",
			  attr->length, attr->alignment, ornic_dm_size(dev));
		goto err_free_dm;
	}
	ret = in_bar(dev) ? dm_place(dm, context, file) :
			    dm_fill(dm, context, file);
	if (ret)
		goto err_put_file;
	return &dm->ibdm;

err_put_file:
	fput(file);
err_free_dm:
	kfree(dm);
	return ERR_PTR(ret);
}

/* No MR has it any more. */
int ornic_ib_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct ornic_ib_dm *dm = to_odm(ibdm);

	if (dm->mem)
		ornic_queue_mem_unmap(ibdm->device, dm->mem);
	ornic_mmap_remove(dm->mmap);
	kfree(dm);
	return 0;
}

static void describe_part(const struct ornic_ib_dev *dev,
			  const struct ornic_dm_part *part,
			  struct ornic_create_mkey_params *params)
{
	params->dm = true;
	params->mem.addr = dev->bus->dm.start + part->offset;
	params->mem.npages = part->bytes >> PAGE_SHIFT;
	params->mem.page_shift = PAGE_SHIFT;
	params->mem.levels = 0;
}

void ornic_dm_describe(const struct ornic_ib_dm *dm,
		       struct ornic_create_mkey_params *params)
{
	if (dm->mem)
		ornic_queue_mem_describe(dm->mem, &params->mem);
	else
		describe_part(to_odev(dm->ibdm.device), &dm->part, params);
}

/* ---- dma-bufs ------------------------------------------------------------- */

static struct file *export_dm(const struct ornic_ib_dm *dm)
{
	const struct ornic_ib_dev *dev = to_odev(dm->ibdm.device);

	if (dm->mem)
		return ornic_dm_export_pages(dm->mem, dm->mmap->file);
	return ornic_dm_export_bar(&dev->dm_pool->exports,
				   PFN_PHYS(dev->bus->dm.pfn) + dm->part.offset,
				   dm->part.bytes, dm->mmap->file);
}

struct file *ornic_dm_of_dmabuf(const struct ornic_ib_dev *dev, int fd,
				u64 offset,
				struct ornic_create_mkey_params *params)
{
	const struct dm_backing *backing;
	struct file *file;

	if (!dev->dm_pool)
		return NULL;
	file = ornic_dm_exported_by(&dev->dm_pool->exports, fd, offset,
				    params->length);
	if (IS_ERR_OR_NULL(file))
		return file;
	backing = file->private_data;
	params->at_offset = true;
	params->offset = offset;
	describe_part(dev, &backing->part, params);
	return file;
}

/* ---- Methods of a process -------------------------------------------------- */

static int
UVERBS_HANDLER(ORNIC_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm =
		uverbs_attr_get_obj(attrs, ORNIC_ATTR_DM_QUERY_HANDLE);
	const struct ornic_ib_dm *dm = to_odm(ibdm);
	struct ornic_query_dm_resp resp = {
		.length = ibdm->length,
		.mmap_offset = ornic_mmap_offset(dm->mmap),
		.mmap_size = ornic_mmap_size(dm->mmap),
	};

	return uverbs_copy_to_struct_or_zero(attrs, ORNIC_ATTR_DM_QUERY_RESP,
					     &resp, sizeof(resp));
}

static int
UVERBS_HANDLER(ORNIC_METHOD_DM_EXPORT)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm =
		uverbs_attr_get_obj(attrs, ORNIC_ATTR_DM_EXPORT_HANDLE);
	struct file *dmabuf;
	int fd, ret;

	dmabuf = export_dm(to_odm(ibdm));
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		ret = fd;
		goto err_put;
	}
	ret = uverbs_copy_to(attrs, ORNIC_ATTR_DM_EXPORT_FD, &fd, sizeof(fd));
	if (ret)
		goto err_put_fd;
	fd_install(fd, dmabuf);
	return 0;

err_put_fd:
	put_unused_fd(fd);
err_put:
	fput(dmabuf);
	return ret;
}

/* clang-format off */
DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_DM_EXPORT,
			    UVERBS_ATTR_IDR(ORNIC_ATTR_DM_EXPORT_HANDLE,
					    UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_DM_EXPORT_FD,
						UVERBS_ATTR_TYPE(s32),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(ORNIC_ATTR_DM_QUERY_HANDLE,
					    UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_DM_QUERY_RESP,
						UVERBS_ATTR_STRUCT(struct ornic_query_dm_resp,
								   mmap_size),
						UA_MANDATORY));

ADD_UVERBS_METHODS(ornic_dm_methods, UVERBS_OBJECT_DM,
		   &UVERBS_METHOD(ORNIC_METHOD_DM_QUERY),
		   &UVERBS_METHOD(ORNIC_METHOD_DM_EXPORT));
/* clang-format on */

const struct uapi_definition ornic_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &ornic_dm_methods),
	{}
};
