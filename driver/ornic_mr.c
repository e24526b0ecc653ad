// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions and windows. The device gets the largest pages that it
 * supports and that fit; contiguous memory gets no page list at all.
 */
#include "ornic_mr.h"

#include <linux/file.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "compat/compat_rdma.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_dm.h"
#include "ornic_dmabuf.h"
#include "ornic_odp.h"
#include "ornic_pack.h"
#include "ornic_pd.h"
#include "ornic_queue.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

static bool is_one_run(struct ib_umem *umem)
{
	struct scatterlist *sg;
	u64 end = 0;
	int i;

	for_each_sgtable_dma_sg(&umem->sgt_append.sgt, sg, i) {
		if (i && sg_dma_address(sg) != end)
			return false;
		end = sg_dma_address(sg) + sg_dma_len(sg);
	}
	return true;
}

static void describe_run(struct ib_umem *umem, struct ornic_dma_mem *mem)
{
	struct scatterlist *first = umem->sgt_append.sgt.sgl;

	mem->addr = sg_dma_address(first) + ib_umem_offset(umem);
	mem->npages = DIV_ROUND_UP_ULL(umem->length, PAGE_SIZE);
	mem->page_shift = PAGE_SHIFT;
	mem->levels = 0;
}

static int build_list(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
		      u64 iova, struct ornic_dma_mem *mem)
{
	struct ib_block_iter block;
	unsigned long page_size;
	u64 npages;
	u64 i = 0;
	int ret;

	page_size =
		ib_umem_find_best_pgsz(mr->umem, dev->caps.page_sizes, iova);
	if (!page_size) {
		ibdev_dbg(&dev->ibdev,
			  "MR: no supported page size in %#llx fits\n",
			  dev->caps.page_sizes);
		return -EINVAL;
	}

	npages = ib_umem_num_dma_blocks(mr->umem, page_size);
	ret = ornic_page_list_alloc(&dev->ibdev, &mr->list, npages);
	if (ret)
		return ret;
	rdma_umem_for_each_dma_block(mr->umem, &block, page_size)
		ornic_tree_set(mr->list.pages, i++,
			       rdma_block_iter_dma_address(&block));
	ornic_page_list_finish(&dev->ibdev, &mr->list);

	mr->page_shift = ilog2(page_size);
	mem->addr = ornic_page_list_root(&mr->list);
	mem->npages = npages;
	mem->page_shift = mr->page_shift;
	mem->levels = mr->list.shape.levels;
	return 0;
}

static int check_args(struct ornic_ib_dev *dev, u64 length, u64 iova, int flags,
		      u8 *access)
{
	u64 end;
	int ret;

	if (length > dev->caps.max_mr_size ||
	    check_add_overflow(iova, length, &end)) {
		ibdev_dbg(&dev->ibdev, "MR: %llu bytes at %#llx, limit %llu\n",
			  length, iova, dev->caps.max_mr_size);
		return -EINVAL;
	}
	ret = ornic_mr_access(flags, access);
	if (!ret && *access & ORNIC_ACCESS_MW_BIND &&
	    !(dev->caps.caps & ORNIC_CAP_MW))
		ret = -EOPNOTSUPP;
	if (ret)
		ibdev_dbg(&dev->ibdev, "MR: access flags %#x, supported %#x\n",
			  flags, ORNIC_ACCESS_MR_MASK);
	return ret;
}

/* Describes the memory of @mr in @params; on failure the memory is released. */
static int describe_umem(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
			 struct ornic_create_mkey_params *params)
{
	int ret = 0;

	if (is_one_run(mr->umem))
		describe_run(mr->umem, &params->mem);
	else
		ret = build_list(dev, mr, params->iova, &params->mem);
	if (ret)
		ib_umem_release(mr->umem);
	return ret;
}

/* Pins the memory of @params and describes it there. */
static int mr_pin(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr, u64 start,
		  struct ornic_create_mkey_params *params, int flags)
{
	mr->umem = ib_umem_get_va(&dev->ibdev, start, params->length, flags);
	if (IS_ERR(mr->umem))
		return PTR_ERR(mr->umem);
	mr->access = flags;
	return describe_umem(dev, mr, params);
}

/* For a device with DMA: pinned, and mapped for it. */
static int mr_pin_dmabuf(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
			 u64 offset, int fd,
			 struct ornic_create_mkey_params *params)
{
	struct ib_umem_dmabuf *umem;

	umem = ib_umem_dmabuf_get_pinned(&dev->ibdev, offset, params->length,
					 fd, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = &umem->umem;
	return describe_umem(dev, mr, params);
}

/* For a device that is part of the kernel: one run, wherever the pages are. */
static int mr_map_dmabuf(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
			 u64 offset, int fd,
			 struct ornic_create_mkey_params *params)
{
	struct ornic_dmabuf *buf;
	void *addr;

	buf = ornic_dmabuf_map(dev->ibdev.dev.parent, fd, offset,
			       params->length, &addr);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	mr->dmabuf = buf;
	mr->page_shift = PAGE_SHIFT;
	params->mem.addr = (uintptr_t)addr;
	params->mem.npages = DIV_ROUND_UP_ULL(params->length, PAGE_SIZE);
	params->mem.page_shift = PAGE_SHIFT;
	return 0;
}

/* References that are never dropped. */
static void mr_leak_pages(struct ib_umem *umem)
{
	struct sg_page_iter iter;

	for_each_sgtable_page(&umem->sgt_append.sgt, &iter, 0)
		get_page(sg_page_iter_page(&iter));
}

static void mr_unpin(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr)
{
	ornic_page_list_free(&dev->ibdev, &mr->list);
	ornic_dmabuf_unmap(mr->dmabuf);
	if (mr->dm_file)
		fput(mr->dm_file);
	if (mr->umem && ornic_dma_lives(&dev->ibdev, NULL, mr->umem->length)) {
		/*
		 * Its pages are the exporter's: it stays attached, without ibdev. The
		 * callbacks are in ib_uverbs, which stays as long as this module.
		 */
		if (mr->is_dmabuf) {
			mr->umem->ibdev = NULL;
			get_device(dev->ibdev.dma_device);
			__module_get(THIS_MODULE);
			return;
		}
		mr_leak_pages(mr->umem);
	}
	ib_umem_release(mr->umem);
}

static int create_mkey(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
		       struct ornic_create_mkey_params *params)
{
	u32 key;
	int ret;

	ret = ornic_cmd_create_mkey(dev, params, &key);
	if (ret)
		return ret;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	mr->ibmr.length = params->length;
	return 0;
}

/* Memory of the device itself, by a dma-buf of any of its contexts. */
static int mr_reg_dm(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
		     struct file *dm_file,
		     struct ornic_create_mkey_params *params)
{
	int ret;

	mr->dm_file = dm_file;
	mr->page_shift = PAGE_SHIFT;
	ret = create_mkey(dev, mr, params);
	if (ret)
		mr_unpin(dev, mr);
	return ret;
}

/* Pinned, told of moves, or memory of the device itself. */
static int mr_reg_dmabuf(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr,
			 u64 offset, int fd,
			 struct ornic_create_mkey_params *params)
{
	bool by_cpu = ib_uses_virt_dma(&dev->ibdev);
	struct dma_buf *moving = NULL;
	struct file *dm_file;
	int ret;

	dm_file = ornic_dm_of_dmabuf(dev, fd, offset, params);
	if (IS_ERR(dm_file))
		return PTR_ERR(dm_file);
	if (dm_file)
		return mr_reg_dm(dev, mr, dm_file, params);
	if (by_cpu && !ornic_dmabuf_may_have(mr->access))
		return -EOPNOTSUPP;
	if (ornic_odp_supported(dev))
		moving = ornic_dmabuf_get_moving(fd);
	if (moving)
		return ornic_odp_reg_dmabuf(dev, mr, offset, moving, params,
					    mr->access);
	if (by_cpu)
		ret = mr_map_dmabuf(dev, mr, offset, fd, params);
	else
		ret = mr_pin_dmabuf(dev, mr, offset, fd, params);
	if (ret)
		return ret;
	ret = create_mkey(dev, mr, params);
	if (ret)
		mr_unpin(dev, mr);
	return ret;
}

/* User memory whose pages come on demand. */
static struct ib_mr *reg_on_demand(struct ornic_ib_dev *dev, u64 start,
				   struct ornic_create_mkey_params *params,
				   int flags)
{
	const int own = IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB;
	bool all = !start && params->length == U64_MAX;
	struct ornic_ib_mr *mr;
	int ret;

	if (!ornic_odp_supported(dev))
		return ERR_PTR(-EOPNOTSUPP);
	ret = check_args(dev, all ? 1 : params->length, params->iova,
			 flags & ~own, &params->access);
	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = ornic_odp_reg(dev, mr, start, params, flags);
	if (ret)
		goto err_free_mr;
	return &mr->ibmr;

err_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

struct ib_mr *ornic_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				   u64 iova, int flags, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_create_mkey_params params = {
		.iova = iova,
		.length = length,
		.pdn = to_opd(ibpd)->pdn,
	};
	struct ornic_ib_mr *mr;
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ERR_PTR(ret);
	if (flags & IB_ACCESS_ON_DEMAND)
		return reg_on_demand(dev, start, &params, flags);
	ret = check_args(dev, length, iova, flags, &params.access);
	if (ret)
		return ERR_PTR(ret);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = mr_pin(dev, mr, start, &params, flags);
	if (ret)
		goto err_free_mr;
	ret = create_mkey(dev, mr, &params);
	if (ret)
		goto err_unpin;
	return &mr->ibmr;

err_unpin:
	mr_unpin(dev, mr);
err_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

struct ib_mr *ornic_ib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
					  u64 length, u64 iova, int fd,
					  int flags, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_create_mkey_params params = {
		.iova = iova,
		.length = length,
		.pdn = to_opd(ibpd)->pdn,
	};
	struct ornic_ib_mr *mr;
	int ret;

	ret = check_args(dev, length, iova, flags, &params.access);
	if (!ret)
		ret = ornic_udata_none(udata);
	if (ret)
		return ERR_PTR(ret);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->is_dmabuf = true;
	mr->access = flags;
	mr->ibmr.iova = iova;
	ret = mr_reg_dmabuf(dev, mr, offset, fd, &params);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	return &mr->ibmr;
}

/* @mr takes over the memory that @from has pinned and described. */
static void take_memory(struct ornic_ib_mr *mr, const struct ornic_ib_mr *from)
{
	mr->umem = from->umem;
	mr->dmabuf = from->dmabuf;
	mr->is_dmabuf = from->is_dmabuf;
	mr->list = from->list;
	mr->page_shift = from->page_shift;
	mr->access = from->access;
}

/* Moves the MR to other memory, and changes the rest of @mask with it. */
static int mr_move(struct ornic_ib_dev *dev, struct ornic_ib_mr *mr, u64 start,
		   struct ornic_create_mkey_params *params, int access, u8 mask)
{
	struct ornic_ib_mr old = *mr, next = {};
	int ret;

	ret = mr_pin(dev, &next, start, params, access);
	if (ret)
		return ret;
	ret = ornic_cmd_modify_mkey(dev, mr->ibmr.lkey, params,
				    mask | ORNIC_MKEYM_MEM);
	if (ret) {
		mr_unpin(dev, &next);
		return ret;
	}
	take_memory(mr, &next);
	mr->ibmr.length = params->length;
	mr_unpin(dev, &old);
	return 0;
}

/*
 * Pages that were pinned for reading stay read-only; for write access they are
 * pinned again. A dma-buf can be written to, whatever the rights are.
 */
static bool needs_pinning(const struct ornic_ib_mr *mr, int flags, int access)
{
	if (flags & IB_MR_REREG_TRANS)
		return true;
	return flags & IB_MR_REREG_ACCESS && ib_access_writable(access) &&
	       !mr->is_dmabuf && !mr->umem->writable;
}

/* May an MR that stays where it is have these rights? */
static int check_new_access(const struct ornic_ib_mr *mr, int access)
{
	if (mr->is_dmabuf && access & ~ORNIC_DMABUF_ACCESS)
		return -EINVAL;
	if (mr->dmabuf && !ornic_dmabuf_may_have(access))
		return -EOPNOTSUPP;
	return 0;
}

struct ib_mr *ornic_ib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				     u64 length, u64 iova, int access,
				     struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibmr->device);
	struct ornic_ib_mr *mr = to_omr(ibmr);
	struct ornic_create_mkey_params params = {
		.pdn = to_opd(ibpd)->pdn,
	};
	u8 mask = 0;
	int ret;

	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (!(dev->caps.caps & ORNIC_CAP_MODIFY_MKEY) || mr->odp ||
	    mr->dm_file || access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	ret = ornic_udata_none(udata);
	if (ret)
		return ERR_PTR(ret);
	if (flags & IB_MR_REREG_PD)
		mask |= ORNIC_MKEYM_PD;
	if (flags & IB_MR_REREG_ACCESS)
		mask |= ORNIC_MKEYM_ACCESS;
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->umem ? mr->umem->address : 0;
		length = ibmr->length;
		iova = ibmr->iova;
		ret = check_new_access(mr, access);
		if (ret)
			return ERR_PTR(ret);
	}
	params.iova = iova;
	params.length = length;
	ret = check_args(dev, length, iova, access, &params.access);
	if (ret)
		return ERR_PTR(ret);

	if (needs_pinning(mr, flags, access)) {
		ret = mr_move(dev, mr, start, &params, access, mask);
	} else {
		ret = ornic_cmd_modify_mkey(dev, ibmr->lkey, &params, mask);
		if (!ret)
			mr->access = access;
	}
	return ERR_PTR(ret);
}

/* ib_core has found that it is in the DM, which stays until the MR is gone. */
struct ib_mr *ornic_ib_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
				 struct ib_dm_mr_attr *attr,
				 struct uverbs_attr_bundle *attrs)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_create_mkey_params params = {
		.length = attr->length,
		.pdn = to_opd(ibpd)->pdn,
		.at_offset = true,
		.offset = attr->offset,
	};
	struct ornic_ib_mr *mr;
	int ret;

	ret = check_args(dev, attr->length, 0,
			 attr->access_flags & ~IB_ZERO_BASED, &params.access);
	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->page_shift = PAGE_SHIFT;
	ornic_dm_describe(to_odm(ibdm), &params);
	ret = create_mkey(dev, mr, &params);
	if (ret)
		goto err_free_mr;
	return &mr->ibmr;

err_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

struct ib_mr *ornic_ib_get_dma_mr(struct ib_pd *ibpd, int flags)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_create_mkey_params params = {
		.pdn = to_opd(ibpd)->pdn,
		.dma = true,
	};
	struct ornic_ib_mr *mr;
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_KERNEL))
		return ERR_PTR(-EOPNOTSUPP);
	ret = ornic_mr_access(flags, &params.access);
	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = create_mkey(dev, mr, &params);
	if (ret)
		goto err_free_mr;
	return &mr->ibmr;

err_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

static bool has_mr_type(const struct ornic_ib_dev *dev, enum ib_mr_type type)
{
	switch (type) {
	case IB_MR_TYPE_MEM_REG:
		return dev->caps.caps & ORNIC_CAP_FAST_REG;
	case IB_MR_TYPE_SG_GAPS:
		return dev->caps.caps & ORNIC_CAP_SG_GAPS;
	default:
		return false;
	}
}

struct ib_mr *ornic_ib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
				u32 max_num_sg)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_create_mkey_params params = {
		.mem.npages = max_num_sg,
		.pdn = to_opd(ibpd)->pdn,
		.fast = true,
		.sg_gaps = type == IB_MR_TYPE_SG_GAPS,
	};
	struct ornic_ib_mr *mr;
	int ret;

	if (!has_mr_type(dev, type))
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > ORNIC_LIST_ENTRIES) {
		ibdev_dbg(&dev->ibdev, "MR: %u pages, limit %u\n", max_num_sg,
			  ORNIC_LIST_ENTRIES);
		return ERR_PTR(-EINVAL);
	}
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	mr->sg_gaps = params.sg_gaps;
	/* A segment takes two entries, a page one. */
	ret = ornic_page_list_alloc(&dev->ibdev, &mr->list,
				    mr->sg_gaps ? 2 * max_num_sg : max_num_sg);
	if (ret)
		goto err_free_mr;
	ret = create_mkey(dev, mr, &params);
	if (ret)
		goto err_free_list;
	return &mr->ibmr;

err_free_list:
	ornic_page_list_free(&dev->ibdev, &mr->list);
err_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct ornic_ib_mr *mr = to_omr(ibmr);

	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	ornic_tree_set(mr->list.pages, mr->npages++, addr);
	return 0;
}

/*
 * A segment for each entry of @sgl that has bytes, the first one from *@offset on.
 * As ib_sg_to_pages(), whose pages let nothing but both ends be unaligned: returns the
 * entries that are mapped.
 */
static int set_segments(struct ornic_ib_mr *mr, struct scatterlist *sgl,
			int nents, unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct ib_mr *ibmr = &mr->ibmr;
	struct scatterlist *sg;
	unsigned int len;
	int i;

	if (nents <= 0 || skip > sg_dma_len(sgl))
		return -EINVAL;
	ibmr->iova = sg_dma_address(sgl) + skip;
	ibmr->length = 0;
	for_each_sg(sgl, sg, nents, i) {
		len = sg_dma_len(sg) - skip;
		if (len && mr->npages == mr->max_pages)
			break;
		if (len)
			ornic_tree_set_segment(mr->list.pages, mr->npages++,
					       sg_dma_address(sg) + skip, len);
		ibmr->length += len;
		skip = 0;
	}
	if (offset)
		*offset = 0;
	return i;
}

int ornic_ib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		       unsigned int *offset)
{
	struct ornic_ib_mr *mr = to_omr(ibmr);
	int done;

	mr->npages = 0;
	ornic_page_list_take(ibmr->device, &mr->list);
	if (mr->sg_gaps) {
		done = set_segments(mr, sg, nents, offset);
	} else {
		mr->page_shift = ilog2(ibmr->page_size);
		done = ib_sg_to_pages(ibmr, sg, nents, offset, set_page);
	}
	ornic_page_list_finish(ibmr->device, &mr->list);
	return done;
}

int ornic_ib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibmr->device);
	struct ornic_ib_mr *mr = to_omr(ibmr);
	int ret;

	if (mr->odp)
		ret = ornic_odp_dereg(mr);
	else
		ret = ornic_cmd_destroy_mkey(dev, ibmr->lkey, ibmr->uobject);
	if (ret)
		return ret;
	mr_unpin(dev, mr);
	kfree(mr);
	return 0;
}

/* Binding and invalidating a window are WQEs, which the driver never sees. */

int ornic_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibmw->device);
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_MW))
		return -EOPNOTSUPP;
	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	return ornic_cmd_create_mw(dev, to_opd(ibmw->pd)->pdn, ibmw->type,
				   &ibmw->rkey);
}

int ornic_ib_dealloc_mw(struct ib_mw *ibmw)
{
	return ornic_cmd_destroy_mw(to_odev(ibmw->device), ibmw->rkey);
}
