// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: pages are brought in, and which of those that were found a device may
 * have.
 *
 * HMM only looks at pages here, and the memory manager brings in those that it misses:
 * - mmap_lock is not held while a page is read for the first time, nor is what user space
 *   brings in (userfaultfd) refused, as HMM does before Linux 7.3;
 * - from then on HMM tries a page that cannot be read again and again, without end, since
 *   it forgets that it has waited (FAULT_FLAG_TRIED).
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/hmm.h>
#include <linux/jiffies.h>
#include <linux/magic.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/pci-p2pdma.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ornic-hw.h>

#include "compat/compat_mm.h"
#include "ornic_dev.h"
#include "ornic_odp_mr.h"

/* So long pages that go again are brought in. */
#define MOST_CHANGING HZ

/*
 * The kernel may not touch what has no direct map: memory of memfd_secret(), of which
 * TLBs may still have one. umem_mutex held, so the page is mapped, and stays what it is.
 */
static bool has_direct_map(struct folio *folio, u64 addr)
{
	const struct address_space *mapping = NULL;
	u8 byte;

	if (!folio_test_anon(folio))
		mapping = READ_ONCE(folio->mapping);
	if (mapping && mapping->host &&
	    mapping->host->i_sb->s_magic == SECRETMEM_MAGIC)
		return false;
	return !copy_from_kernel_nofault(&byte, (void *)(uintptr_t)addr,
					 sizeof(byte));
}

/*
 * Nobody tells when the device writes to a page, so one that it may write to is dirty from
 * now on. Whatever makes it clean invalidates it first. What is asked for to be read only
 * stays clean. umem_mutex held; the process may write to the page.
 */
static bool may_write(struct folio *folio, const struct ornic_bring *bring)
{
	if (bring->write && !folio_test_dirty(folio))
		folio_mark_dirty(folio);
	return bring->write || folio_test_dirty(folio);
}

/*
 * Where the device has a page that was found: @at is its virtual address. Its DMA is not
 * translated (pci_main.c); another address would be that of a page that was there before.
 */
static int device_addr(struct ib_umem_odp *umem, size_t i, u64 at, u64 *addr)
{
	struct ib_device *ibdev = umem->umem.ibdev;

	*addr = at;
	if (ib_uses_virt_dma(ibdev))
		return 0;
	*addr = ORNIC_ODP_DMA(umem, i, ibdev->dma_device);
	return *addr == virt_to_phys((void *)(uintptr_t)at) ? 0 : -EFAULT;
}

void ornic_odp_keep(struct ib_umem_odp *umem, const unsigned long *given,
		    unsigned long first, unsigned long end)
{
	unsigned long i = first;
	u64 dma;

	if (ib_uses_virt_dma(umem->umem.ibdev))
		return;
	for_each_set_bit_from(i, given, end) {
		dma = ORNIC_ODP_MAPPED(umem, i);
		if (dma)
			get_page(pfn_to_page(PHYS_PFN(dma)));
	}
}

int ornic_odp_entry(struct ib_umem_odp *umem, size_t i,
		    const struct ornic_bring *bring, u64 *entry)
{
	unsigned long pfn = ORNIC_ODP_PFNS(umem)[i];
	struct folio *folio;
	u64 at, addr;

	*entry = 0;
	if (!(pfn & HMM_PFN_VALID))
		return 0;
	at = (uintptr_t)page_address(hmm_pfn_to_page(pfn));
	folio = virt_to_folio((void *)(uintptr_t)at);
	if (!has_direct_map(folio, at) || device_addr(umem, i, at, &addr))
		return -EFAULT;
	*entry = addr;
	if (pfn & HMM_PFN_WRITE && may_write(folio, bring))
		*entry |= ORNIC_PAGE_WRITE;
	return 0;
}

/* Any access, which ib_core looks at only if it brings pages in. */
#define LOOK_ACCESS 1

/* umem_mutex held: the pages of the range that are there. Returns how many it has, or -errno. */
static int look(struct ib_umem_odp *umem, u64 va, u64 len)
{
	return min_t(int,
		     ib_umem_odp_map_dma_and_lock(umem, va, len, LOOK_ACCESS,
						  false),
		     ORNIC_LIST_ENTRIES);
}

void ornic_odp_unlock(struct ib_umem_odp *umem, u64 va, u32 npages)
{
	size_t first = (va - ib_umem_start(umem)) >> PAGE_SHIFT;
	u32 i;

	for (i = 0; i < npages; i++)
		ORNIC_ODP_LEAVE_CLEAN(umem, first + i);
	mutex_unlock(&umem->umem_mutex);
}

/* umem_mutex held: those of @n pages that @bring needs, and that were not found. */
static int find_missing(const struct ib_umem_odp *umem, size_t first, u32 n,
			const struct ornic_bring *bring, unsigned long *missing)
{
	unsigned long needs = HMM_PFN_VALID;
	unsigned long pfn;
	int ret = 0;
	u32 i;

	if (bring->write)
		needs |= HMM_PFN_WRITE;
	bitmap_zero(missing, ORNIC_LIST_ENTRIES);
	for (i = 0; i < n; i++) {
		pfn = ORNIC_ODP_PFNS(umem)[first + i];
		if ((pfn & needs) != needs)
			__set_bit(i, missing);
		if (pfn & HMM_PFN_ERROR)
			ret = -EFAULT;
	}
	return ret;
}

/*
 * Pages may go again before it returns. @waited: set if one took long, and mmap_lock was let
 * go of.
 */
static int fault_in(struct ib_umem_odp *umem, u64 va,
		    const unsigned long *missing, bool write, bool *waited)
{
	unsigned int flags = FAULT_FLAG_REMOTE | (write ? FAULT_FLAG_WRITE : 0);
	struct mm_struct *mm = umem->umem.owning_mm;
	unsigned long i;
	int ret;

	if (!mmget_not_zero(mm))
		return -EINVAL;
	/* What goes now is gone before. */
	mmu_interval_read_begin(&umem->notifier);
	ret = mmap_read_lock_killable(mm);
	if (ret)
		goto out_put;
	for_each_set_bit(i, missing, ORNIC_LIST_ENTRIES) {
		ret = fixup_user_fault(mm, va + i * PAGE_SIZE, flags, waited);
		if (ret)
			break;
	}
	mmap_read_unlock(mm);
out_put:
	mmput_async(mm);
	return ret;
}

/* What was brought in since @begin has gone again. */
static bool is_late(const struct ornic_bring *bring, unsigned long begin)
{
	return bring->once || time_after(jiffies, begin + MOST_CHANGING);
}

int ornic_odp_map_and_lock(struct ib_umem_odp *umem, u64 va, u64 len,
			   const struct ornic_bring *bring)
{
	size_t first = (va - ib_umem_start(umem)) >> PAGE_SHIFT;
	DECLARE_BITMAP(missing, ORNIC_LIST_ENTRIES);
	unsigned long begin = jiffies;
	bool is_first = true, waited;
	int npages, ret;

	for (;; is_first = false) {
		npages = look(umem, va, len);
		if (npages < 0 || !bring->fault)
			return npages;
		ret = find_missing(umem, first, npages, bring, missing);
		if (!ret && bitmap_empty(missing, ORNIC_LIST_ENTRIES))
			return npages;
		ornic_odp_unlock(umem, va, npages);
		/* It may be memory of a device that comes back. */
		if (ret && !is_first)
			return ret;
		if (!is_first && is_late(bring, begin))
			return -EBUSY;
		waited = false;
		ret = fault_in(umem, ALIGN_DOWN(va, PAGE_SIZE), missing,
			       bring->write, &waited);
		if (ret)
			return ret;
		if (READ_ONCE(*bring->gone))
			return -ENOENT;
		if (waited)
			begin = jiffies;
	}
}

/* A device that is gone gets nothing. */
static int map_list(struct ornic_ib_dev *dev, struct ornic_bring *bring)
{
	int ret = -ENODEV;

	down_read(&dev->odp_life);
	if (!dev->odp_stopped) {
		bring->dma = ib_dma_map_single(&dev->ibdev, bring->list,
					       ORNIC_LIST_ENTRIES *
						       sizeof(*bring->list),
					       DMA_TO_DEVICE);
		ret = ib_dma_mapping_error(&dev->ibdev, bring->dma);
	}
	up_read(&dev->odp_life);
	return ret;
}

int ornic_bring_init(struct ornic_ib_dev *dev, struct ornic_bring *bring)
{
	int ret;

	bring->list = kmalloc_array(ORNIC_LIST_ENTRIES, sizeof(*bring->list),
				    GFP_KERNEL);
	if (!bring->list)
		return -ENOMEM;
	ret = map_list(dev, bring);
	if (ret)
		kfree(bring->list);
	return ret;
}

void ornic_bring_fini(struct ornic_ib_dev *dev, struct ornic_bring *bring)
{
	ib_dma_unmap_single(&dev->ibdev, bring->dma,
			    ORNIC_LIST_ENTRIES * sizeof(*bring->list),
			    DMA_TO_DEVICE);
	if (!bring->keep)
		kfree(bring->list);
}
