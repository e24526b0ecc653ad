/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_MR_H
#define ORNIC_MR_H

#include <rdma/ib_verbs.h>

#include "ornic_page_list.h"

struct file;
struct ornic_dmabuf;
struct ornic_ib_odp;

struct ornic_ib_mr {
	struct ib_mr ibmr;
	/*
	 * Pinned memory of the user, or of a dma-buf that the device accesses;
	 * NULL for an MR of the kernel, on a DM, with a dmabuf, or with ODP
	 */
	struct ib_umem *umem;
	/* Mapped for the CPU; NULL for all but dma-bufs */
	struct ornic_dmabuf *dmabuf;
	bool is_dmabuf; /* of any kind */
	/* Owner of device memory that the MR is on by a dma-buf, else NULL */
	struct file *dm_file;
	struct ornic_ib_odp *odp; /* user memory that is not pinned, else NULL */
	/* Page list that the device reads; no pages if the MR is contiguous */
	struct ornic_page_list list;
	u8 page_shift; /* log2 of the bytes per page of list */
	int access; /* enum ib_access_flags */
	/* Fast registration: pages, or segments, that map_mr_sg has put into list */
	u32 npages;
	u32 max_pages; /* fast registration: room on the device */
	bool sg_gaps; /* fast registration: list has segments */
};

static inline struct ornic_ib_mr *to_omr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct ornic_ib_mr, ibmr);
}

#endif /* ORNIC_MR_H */
