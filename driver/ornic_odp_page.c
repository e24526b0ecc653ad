// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* On-demand paging: lists of pages, and which of those that were found a device may have. */
#include <linux/fs.h>
#include <linux/hmm.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ornic-hw.h>

#include "compat/compat_mm.h"
#include "ornic_dev.h"
#include "ornic_odp_mr.h"

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

int ornic_odp_entry(const struct ib_umem_odp *umem, size_t i,
		    const struct ornic_bring *bring, u64 *entry)
{
	unsigned long pfn = ORNIC_ODP_PFNS(umem)[i];
	struct folio *folio;

	*entry = 0;
	if (!(pfn & HMM_PFN_VALID))
		return 0;
	/* The device works with virtual addresses. */
	*entry = (uintptr_t)page_address(hmm_pfn_to_page(pfn));
	folio = virt_to_folio((void *)(uintptr_t)*entry);
	if (!has_direct_map(folio, *entry))
		return -EFAULT;
	if (pfn & HMM_PFN_WRITE && may_write(folio, bring))
		*entry |= ORNIC_PAGE_WRITE;
	return 0;
}

int ornic_bring_init(struct ornic_ib_dev *dev, struct ornic_bring *bring)
{
	bring->list = kmalloc_array(ORNIC_LIST_ENTRIES, sizeof(*bring->list),
				    GFP_KERNEL);
	if (!bring->list)
		return -ENOMEM;
	bring->dma = ib_dma_map_single(
		&dev->ibdev, bring->list,
		ORNIC_LIST_ENTRIES * sizeof(*bring->list), DMA_TO_DEVICE);
	if (!ib_dma_mapping_error(&dev->ibdev, bring->dma))
		return 0;
	kfree(bring->list);
	return -ENOMEM;
}

void ornic_bring_fini(struct ornic_ib_dev *dev, struct ornic_bring *bring)
{
	ib_dma_unmap_single(&dev->ibdev, bring->dma,
			    ORNIC_LIST_ENTRIES * sizeof(*bring->list),
			    DMA_TO_DEVICE);
	kfree(bring->list);
}
