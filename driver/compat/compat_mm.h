/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_MM_H
#define ORNIC_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/mmzone.h>

#include "compat_features.h"

/* The largest order that can be allocated. */
#ifndef MAX_PAGE_ORDER
#define MAX_PAGE_ORDER (MAX_ORDER - 1)
#endif

#if !ORNIC_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#if !ORNIC_HAVE_ZAP_SPECIAL_VMA
#define zap_special_vma_range zap_vma_ptes
#endif

/* On-demand paging: pages that a umem has found; it does not make one of them dirty. */
#if ORNIC_HAVE_ODP_PFN_LIST
#define ORNIC_ODP_PFNS(umem) ((umem)->map.pfn_list)
#define ORNIC_ODP_LEAVE_CLEAN(umem, i) ((void)(umem), (void)(i))
#else
#define ORNIC_ODP_PFNS(umem) ((umem)->pfn_list)
#define ORNIC_ODP_LEAVE_CLEAN(umem, i) \
	((umem)->dma_list[i] &= ~(dma_addr_t)ODP_WRITE_ALLOWED_BIT)
#endif

#endif /* ORNIC_COMPAT_MM_H */
