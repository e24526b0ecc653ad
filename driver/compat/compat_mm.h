/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_MM_H
#define ORNIC_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/mmzone.h>

#include "compat_features.h"

#ifndef MAX_PAGE_ORDER
#define MAX_PAGE_ORDER (MAX_ORDER - 1)
#endif

#if !ORNIC_HAVE_VM_FLAGS_SET
#define vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(vm_flags_t)(flags))
#endif

#if !ORNIC_HAVE_ZAP_SPECIAL_VMA
#define zap_special_vma_range zap_vma_ptes
#endif

/*
 * On-demand paging: pages that a umem has found; where @dev gets one; what it has; the umem
 * does not make it dirty when it goes.
 */
#if ORNIC_HAVE_ODP_PFN_LIST
#define ORNIC_ODP_PFNS(umem) ((umem)->map.pfn_list)
#define ORNIC_ODP_DMA(umem, i, dev) \
	hmm_dma_map_pfn(dev, &(umem)->map, i, &(struct pci_p2pdma_map_state){})
#define ORNIC_ODP_MAPPED(umem, i)                           \
	((umem)->map.pfn_list[i] & HMM_PFN_DMA_MAPPED ?     \
		 hmm_pfn_to_phys((umem)->map.pfn_list[i]) : \
		 0)
#define ORNIC_ODP_LEAVE_CLEAN(umem, i) \
	((umem)->map.pfn_list[i] &= ~HMM_PFN_WRITE)
#else
#define ORNIC_ODP_PFNS(umem) ((umem)->pfn_list)
#define ORNIC_ODP_DMA(umem, i, dev) ((void)(dev), ORNIC_ODP_MAPPED(umem, i))
#define ORNIC_ODP_MAPPED(umem, i) ((umem)->dma_list[i] & ODP_DMA_ADDR_MASK)
#define ORNIC_ODP_LEAVE_CLEAN(umem, i) \
	((umem)->dma_list[i] &= ~(dma_addr_t)ODP_WRITE_ALLOWED_BIT)
#endif

#endif /* ORNIC_COMPAT_MM_H */
