// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: MRs on dma-bufs whose exporters move or revoke the memory. Such an MR
 * is attached with notice of moves. All of its memory is mapped, and given to the key, when
 * it is registered. After a move the first fault maps all of it again, and each gives some
 * pages. The exporter tells before it moves: the key loses the pages, and the device uses
 * them no more when that returns. An exporter that has revoked the memory does not map it
 * again, so faults fail.
 *
 * A device that is part of the kernel copies by the CPU, so the exporter maps the memory for
 * the CPU, too (dma_buf_vmap()). The mapping for DMA is of no use to it, but it is by this
 * one that the exporter knows of somebody to tell, and that the memory is where a CPU
 * reaches it.
 *
 * Locks, outermost first: the reservation lock of the dma-buf, held by who maps and gives
 * pages, and by the exporter when it tells of a move; key_lock of the MR.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat/compat_dmabuf.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_dmabuf.h"
#include "ornic_mr.h"
#include "ornic_odp.h"
#include "ornic_odp_key.h"
#include "ornic_odp_mr.h"

#define NOWHERE U64_MAX

/**
 * struct dmabuf_mr - an MR
 * @odp: what all kinds have
 * @dmabuf: it holds it
 * @attach: tells it of moves
 * @offset: where the MR begins in it, bytes; in a page, where it does in the key
 * @by_cpu: the device copies by the CPU
 * @sgt: where the memory is, for DMA; NULL: it is not mapped. Reservation lock
 * @map: for @by_cpu: the same for the CPU
 * @iter: for others: stands at page @next - 1 of the dma-buf in @sgt
 * @next: NOWHERE: it stands at none
 * @has_pages: the key may have some. Reservation lock
 */
struct dmabuf_mr {
	struct ornic_ib_odp odp;
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	u64 offset;
	bool by_cpu;
	struct sg_table *sgt;
	struct iosys_map map;
	struct sg_dma_page_iter iter;
	u64 next;
	bool has_pages;
};

static_assert(!offsetof(struct dmabuf_mr, odp));

static struct dmabuf_mr *to_dmabuf_mr(struct ornic_ib_odp *odp)
{
	return container_of(odp, struct dmabuf_mr, odp);
}

/* Where its first page is, in the key. */
static u64 key_begin(const struct dmabuf_mr *mr)
{
	return ALIGN_DOWN(mr->odp.iova, PAGE_SIZE);
}

static u64 count_pages(const struct dmabuf_mr *mr)
{
	return DIV_ROUND_UP_ULL(offset_in_page(mr->odp.iova) + mr->odp.length,
				PAGE_SIZE);
}

/* ---- Mappings: the reservation lock is held --------------------------------------- */

/*
 * The device writes to its pages for ever, so the kernel gives them to nobody else, but for
 * those of larger blocks that have no reference of their own (TTM).
 */
static void keep_pages(const struct dmabuf_mr *mr)
{
	struct sg_dma_page_iter iter;
	unsigned long pfn;

	/* DMA is not translated then (pci_main.c). */
	for_each_sgtable_dma_page(mr->sgt, &iter, 0) {
		pfn = PHYS_PFN(sg_page_iter_dma_address(&iter));
		if (pfn_valid(pfn))
			get_page_unless_zero(pfn_to_page(pfn));
	}
}

/* The memory may have moved while map() was at work, which is undone nevertheless. */
static void unmap(struct dmabuf_mr *mr)
{
	if (mr->has_pages && ornic_odp_clear(&mr->odp, key_begin(mr),
					     count_pages(mr) * PAGE_SIZE))
		keep_pages(mr);
	mr->has_pages = false;
	if (!iosys_map_is_null(&mr->map))
		dma_buf_vunmap(mr->dmabuf, &mr->map);
	iosys_map_clear(&mr->map);
	if (mr->sgt)
		dma_buf_unmap_attachment(mr->attach, mr->sgt,
					 DMA_BIDIRECTIONAL);
	mr->sgt = NULL;
}

/* Whole pages, which the CPU finds at @map as they are; their iterator adds the offset. */
static int check_segments(const struct dmabuf_mr *mr)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(mr->sgt, sg, i) {
		if (!PAGE_ALIGNED(sg_dma_address(sg) | sg_dma_len(sg)) ||
		    (!mr->by_cpu && sg->offset))
			return -EOPNOTSUPP;
		/* It is not coherent, or bounced. */
		if (dma_need_sync(mr->attach->dev, sg_dma_address(sg)))
			return -EOPNOTSUPP;
	}
	return 0;
}

/* What an exporter says, in the terms of ornic_bring_in(). */
static int exporter_error(int ret)
{
	switch (ret) {
	case -EAGAIN:
		return -EBUSY;
	case -EINPROGRESS:
		return -EIO;
	default:
		return ret;
	}
}

static int map_for_cpu(struct dmabuf_mr *mr)
{
	int ret = dma_buf_vmap(mr->dmabuf, &mr->map);

	if (ret) {
		iosys_map_clear(&mr->map);
		return exporter_error(ret);
	}
	if (mr->map.is_iomem || !PAGE_ALIGNED((uintptr_t)mr->map.vaddr))
		return -EOPNOTSUPP;
	return 0;
}

/* The memory may be there only when what has moved it is over. */
static int wait_for_move(const struct dmabuf_mr *mr)
{
	unsigned long end = jiffies + ORNIC_FENCES_TIMEOUT;
	long left;

	do {
		/* Its end waits for this. */
		if (READ_ONCE(mr->odp.key_gone))
			return -ENOENT;
		left = dma_resv_wait_timeout(
			mr->dmabuf->resv, DMA_RESV_USAGE_KERNEL, true, HZ / 10);
	} while (!left && time_before(jiffies, end));
	if (left > 0)
		return 0;
	return left ?: -EBUSY;
}

/* What it has mapped when it fails is unmapped by the caller. */
static int map(struct dmabuf_mr *mr)
{
	struct sg_table *sgt;
	int ret;

	sgt = dma_buf_map_attachment(mr->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return exporter_error(PTR_ERR(sgt));
	mr->sgt = sgt;
	mr->next = NOWHERE;
	ret = check_segments(mr);
	if (!ret && mr->by_cpu)
		ret = map_for_cpu(mr);
	if (!ret)
		ret = wait_for_move(mr);
	/* Exporters may move it when they map it for the CPU. */
	return ret ?: mr->sgt ? 0 : -EBUSY;
}

/* ---- Pages: the same --------------------------------------------------------------- */

/* From page @first of the dma-buf on. */
static void list_cpu_pages(const struct dmabuf_mr *mr, u64 first, u32 n,
			   __le64 *list)
{
	u64 at = (uintptr_t)mr->map.vaddr + first * PAGE_SIZE;
	u32 i;

	for (i = 0; i < n; i++, at += PAGE_SIZE)
		list[i] = cpu_to_le64(at | ORNIC_PAGE_WRITE);
}

static int list_dma_pages(struct dmabuf_mr *mr, u64 first, u32 n, __le64 *list)
{
	u64 at;
	u32 i;

	if (mr->next != first)
		__sg_page_iter_start(&mr->iter.base, mr->sgt->sgl,
				     mr->sgt->nents, first);
	mr->next = NOWHERE;
	for (i = 0; i < n; i++) {
		/* Less is mapped than there is. */
		if (!__sg_page_iter_dma_next(&mr->iter))
			return -EFAULT;
		at = sg_page_iter_dma_address(&mr->iter);
		list[i] = cpu_to_le64(at | ORNIC_PAGE_WRITE);
	}
	mr->next = first + n;
	return 0;
}

/* @n pages from the one with number @first of the key on. */
static int give_pages(struct dmabuf_mr *mr, u64 first, u32 n,
		      struct ornic_bring *bring)
{
	u64 in_dmabuf = (mr->offset >> PAGE_SHIFT) + first;
	int ret = 0;

	if (mr->by_cpu)
		list_cpu_pages(mr, in_dmabuf, n, bring->list);
	else
		ret = list_dma_pages(mr, in_dmabuf, n, bring->list);
	if (ret)
		return ret;
	mr->has_pages = true;
	return ornic_odp_set(&mr->odp, key_begin(mr) + first * PAGE_SIZE, n,
			     bring);
}

/* What is mapped stays so if the pages cannot be given: it may be tried again. */
static int map_and_give(struct dmabuf_mr *mr, u64 first, u32 n,
			struct ornic_bring *bring)
{
	int ret;

	/* It is not attached any more. */
	if (READ_ONCE(mr->odp.key_gone))
		return -ENOENT;
	if (!mr->sgt && !bring->fault)
		return 0;
	if (!mr->sgt) {
		ret = map(mr);
		if (ret) {
			unmap(mr);
			return ret;
		}
	}
	return give_pages(mr, first, n, bring);
}

static int lock_memory(const struct dmabuf_mr *mr)
{
	if (!dma_resv_lock_interruptible(mr->dmabuf->resv, NULL))
		return 0;
	return fatal_signal_pending(current) ? -EINTR : -ERESTARTSYS;
}

/* Those of a list page, at a multiple of these in the key. */
static s64 bring_dmabuf(struct ornic_ib_odp *odp, u64 addr, u64 len,
			struct ornic_bring *bring)
{
	struct dmabuf_mr *mr = to_dmabuf_mr(odp);
	struct ornic_walk walk = { .odp = odp };
	u64 first = ALIGN_DOWN((addr - key_begin(mr)) >> PAGE_SHIFT,
			       ORNIC_LIST_ENTRIES);
	u32 n = min_t(u64, ORNIC_LIST_ENTRIES, count_pages(mr) - first);
	u64 end = key_begin(mr) + (first + n) * PAGE_SIZE;
	int ret;

	/* It is the device that says what it lacks. */
	if (addr < odp->iova || addr - odp->iova >= odp->length)
		return -EFAULT;
	/* One at a time: others would wait for the lock, which may take long. */
	ret = ornic_walk_begin(odp->pager, &walk, bring->job);
	if (ret)
		return ret;
	ret = lock_memory(mr);
	if (!ret) {
		ret = map_and_give(mr, first, n, bring);
		dma_resv_unlock(mr->dmabuf->resv);
	}
	ornic_walk_end(odp->pager, &walk);
	return ret ?: min_t(s64, len, end - addr);
}

static void memory_moves(struct dma_buf_attachment *attach)
{
	unmap(attach->importer_priv);
}

/* Who has memory elsewhere than in RAM moves it there first. */
static const struct dma_buf_attach_ops attach_ops = {
	.move_notify = memory_moves,
};

/* ---- Lifetime -------------------------------------------------------------------- */

static void detach(struct dmabuf_mr *mr)
{
	if (mr->by_cpu)
		dma_buf_end_cpu_access(mr->dmabuf, DMA_BIDIRECTIONAL);
	dma_buf_detach(mr->dmabuf, mr->attach);
}

static void end_dmabuf(struct ornic_ib_odp *odp)
{
	struct dmabuf_mr *mr = to_dmabuf_mr(odp);

	/*
	 * The pages are the exporter's, who keeps them for what is attached: for ever. It
	 * holds the pager, and so the module.
	 */
	if (odp->lives) {
		refcount_inc(&odp->ref);
		return;
	}
	dma_resv_lock(mr->dmabuf->resv, NULL);
	unmap(mr);
	dma_resv_unlock(mr->dmabuf->resv);
	detach(mr);
}

static void mr_release(struct ornic_ib_odp *odp)
{
	dma_buf_put(to_dmabuf_mr(odp)->dmabuf);
	ornic_odp_free(odp);
}

static const struct ornic_odp_ops dmabuf_ops = {
	.bring = bring_dmabuf,
	.end = end_dmabuf,
	.release = mr_release,
};

static int attach(struct dmabuf_mr *mr, struct device *dev)
{
	int ret;

	mr->attach = dma_buf_dynamic_attach(mr->dmabuf, dev, &attach_ops, mr);
	if (IS_ERR(mr->attach))
		return PTR_ERR(mr->attach);
	if (!mr->by_cpu)
		return 0;
	ret = ornic_dmabuf_begin_cpu_access(mr->dmabuf);
	if (ret)
		dma_buf_detach(mr->dmabuf, mr->attach);
	return ret;
}

/* It takes the reference of @dmabuf, in any case. */
static struct dmabuf_mr *mr_alloc(struct ornic_ib_dev *dev,
				  struct dma_buf *dmabuf, u64 offset)
{
	struct dmabuf_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (mr)
		ret = ornic_odp_open(&mr->odp, dev, &dmabuf_ops);
	if (ret) {
		kfree(mr);
		dma_buf_put(dmabuf);
		return ERR_PTR(ret);
	}
	mr->dmabuf = dmabuf;
	mr->offset = offset;
	mr->by_cpu = ib_uses_virt_dma(&dev->ibdev);
	return mr;
}

/* ---- Registration ---------------------------------------------------------------- */

/* What cannot be mapped is no MR. */
static int bring_all(struct dmabuf_mr *mr)
{
	struct ornic_bring bring = { .write = true, .fault = true };
	struct ornic_ib_dev *dev = mr->odp.dev;
	int ret;

	ret = ornic_bring_init(dev, &bring);
	if (ret)
		return ret;
	ret = ornic_bring_in(&mr->odp, mr->odp.iova, mr->odp.length, &bring);
	ornic_bring_fini(dev, &bring);
	return ret;
}

static int check_dmabuf(const struct dmabuf_mr *mr, u64 iova, u64 length)
{
	const struct dma_buf *dmabuf = mr->dmabuf;

	if (!ornic_dmabuf_has(dmabuf, mr->offset, length) ||
	    offset_in_page(mr->offset) != offset_in_page(iova))
		return -EINVAL;
	/* Before Linux 6.2 exporters took the lock themselves. */
	if (mr->by_cpu && (!dmabuf->ops->vmap || !ORNIC_HAVE_VMAP_UNLOCKED))
		return -EOPNOTSUPP;
	return 0;
}

/* On failure it is not attached. */
static int attach_and_publish(struct dmabuf_mr *mr,
			      struct ornic_create_mkey_params *params)
{
	struct device *dev = mr->odp.dev->ibdev.dev.parent;
	int ret;

	ret = check_dmabuf(mr, params->iova, params->length);
	if (ret)
		return ret;
	if (!ornic_odp_charge(&mr->odp, params->length))
		return -ENOMEM;
	ret = attach(mr, dev);
	if (ret)
		return ret;
	ret = ornic_odp_publish(&mr->odp, params);
	if (ret)
		detach(mr);
	return ret;
}

int ornic_odp_reg_dmabuf(struct ornic_ib_dev *dev, struct ornic_ib_mr *ibmr,
			 u64 offset, struct dma_buf *dmabuf,
			 struct ornic_create_mkey_params *params, int flags)
{
	struct dmabuf_mr *mr = mr_alloc(dev, dmabuf, offset);
	int ret;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr->odp.writable = ib_access_writable(flags);
	ret = attach_and_publish(mr, params);
	if (ret) {
		ornic_ib_odp_put(&mr->odp);
		return ret;
	}
	ret = bring_all(mr);
	if (ret) {
		/* It has no windows, so this does not fail. */
		WARN_ON_ONCE(ornic_odp_unpublish(&mr->odp, false));
		return ret;
	}
	ibmr->odp = &mr->odp;
	ornic_odp_describe(&mr->odp, ibmr, flags);
	return 0;
}
