// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions of user memory. The device gets the largest pages that it
 * supports and that fit; memory that is one run gets no page list at all.
 */
#include "ornic_mr.h"

#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "ornic_access.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_pd.h"
#include "ornic_udata.h"

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

static int build_list(struct ornic_dev *dev, struct ornic_mr *mr, u64 iova,
		      struct ornic_dma_mem *mem)
{
	struct ib_block_iter block;
	unsigned long page_size;
	u64 npages;
	u64 i = 0;
	int ret;

	page_size =
		ib_umem_find_best_pgsz(mr->umem, dev->caps.page_sizes, iova);
	if (!page_size) {
		ibdev_dbg(&dev->ibdev, "MR: no page size of %#llx fits\n",
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

static int check_args(struct ornic_dev *dev, u64 length, u64 iova, int flags,
		      u8 *access)
{
	u64 end;
	int ret;

	if (length > dev->caps.max_mr_size ||
	    check_add_overflow(iova, length, &end)) {
		ibdev_dbg(&dev->ibdev,
			  "MR: %llu bytes at %#llx, at most %llu\n", length,
			  iova, dev->caps.max_mr_size);
		return -EINVAL;
	}
	ret = ornic_mr_access(flags, access);
	if (ret)
		ibdev_dbg(&dev->ibdev, "MR: access flags %#x, supported %#x\n",
			  flags, ORNIC_ACCESS_MASK);
	return ret;
}

static int create_mkey(struct ornic_dev *dev, struct ornic_mr *mr,
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

/**
 * ornic_reg_user_mr - ib_device_ops.reg_user_mr
 * @ibpd: PD
 * @start: user address
 * @length: bytes
 * @iova: address of the first byte in WQEs and packets
 * @flags: enum ib_access_flags
 * @udata: none
 *
 * Context: process, may sleep.
 * Return: the MR; ERR_PTR(-EINVAL) for bad lengths, alignment, rights or
 * driver data; -EOPNOTSUPP for access flags that the device does not have;
 * -ENOMEM, also over RLIMIT_MEMLOCK; -EFAULT; -ENOSPC.
 */
struct ib_mr *ornic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int flags, struct ib_udata *udata)
{
	struct ornic_dev *dev = to_ornic_dev(ibpd->device);
	struct ornic_create_mkey_params params = {
		.iova = iova,
		.length = length,
		.pdn = to_ornic_pd(ibpd)->pdn,
	};
	struct ornic_mr *mr;
	int ret;

	ret = check_args(dev, length, iova, flags, &params.access);
	if (!ret)
		ret = ornic_udata_none(udata);
	if (ret)
		return ERR_PTR(ret);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(ibpd->device, start, length, flags);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		goto err_free_mr;
	}

	if (is_one_run(mr->umem))
		describe_run(mr->umem, &params.mem);
	else
		ret = build_list(dev, mr, iova, &params.mem);
	if (ret)
		goto err_release_umem;
	ret = create_mkey(dev, mr, &params);
	if (ret)
		goto err_free_list;
	return &mr->ibmr;

err_free_list:
	ornic_page_list_free(&dev->ibdev, &mr->list);
err_release_umem:
	ib_umem_release(mr->umem);
err_free_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

/**
 * ornic_dereg_mr - ib_device_ops.dereg_mr
 * @ibmr: MR
 * @udata: unused
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device; the MR lives on then.
 */
int ornic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct ornic_dev *dev = to_ornic_dev(ibmr->device);
	struct ornic_mr *mr = to_ornic_mr(ibmr);
	int ret;

	ret = ornic_cmd_destroy_mkey(dev, ibmr->lkey);
	if (ret)
		return ret;
	ornic_page_list_free(&dev->ibdev, &mr->list);
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
