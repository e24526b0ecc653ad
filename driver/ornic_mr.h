/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_MR_H
#define ORNIC_MR_H

#include <rdma/ib_verbs.h>

#include "ornic_page_list.h"

struct ornic_ib_mr {
	struct ib_mr ibmr;
	/* Pinned user memory; NULL for an MR of the kernel, or on a DM */
	struct ib_umem *umem;
	/* Page list that the device reads; no pages if the MR is contiguous */
	struct ornic_page_list list;
	u8 page_shift; /* log2 of the bytes per page of list */
	int access; /* enum ib_access_flags */
	/* Fast registration: pages that map_mr_sg has put into list */
	u32 npages;
	u32 max_pages; /* fast registration: room on the device */
};

static inline struct ornic_ib_mr *to_omr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct ornic_ib_mr, ibmr);
}

#endif /* ORNIC_MR_H */
