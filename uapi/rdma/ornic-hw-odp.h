/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * On-demand paging: MRs whose pages come and go. ornic-hw.h includes this;
 * Documentation/device-odp.rst explains it.
 *
 * CREATE_MKEY with ORNIC_MKEY_ODP makes a key without pages. Of its mem only
 * page_shift counts, all else is 0. Its pages are at the multiples of their size,
 * and iova and length may be any, 0 and 2^64 - 1 too. MODIFY_MKEY refuses it.
 *
 * A queue that needs a page which is absent, or may not be written to, stops, and
 * the device raises ORNIC_EVENT_PAGE_FAULT, once. The host takes the fault, sets
 * pages, and ends the fault: the queue goes on, and stops again if the page is
 * absent still. Each queue has one fault at a time.
 */
#ifndef ORNIC_HW_ODP_H
#define ORNIC_HW_ODP_H

#include <linux/types.h>
#include <rdma/ornic-hw-cmd.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

/* Bits of a page address in a list of SET_PAGES. */
#define ORNIC_PAGE_WRITE	(1 << 0)	/* it may be written to */

/*
 * SET_PAGES: hdr.obj = key. Gives the key @npages pages from @addr on, in the
 * place of those that it has. An entry of 0 leaves that page as it is.
 */
struct ornic_req_set_pages {
	struct ornic_req_hdr hdr;	/* obj = key */
	__le64 addr;			/* of the first page, a multiple of its size */
	__le64 list;			/* DMA address of a list page: addresses, ORNIC_PAGE_* */
	__le32 npages;			/* 1 to ORNIC_LIST_ENTRIES */
	__u8 reserved[36];
};

/*
 * CLEAR_PAGES: hdr.obj = key. Takes away the pages that overlap the range. With
 * the response they are the host's again: nothing reads or writes them any more.
 * The device waits for no packet before that, and for no fault.
 */
struct ornic_req_clear_pages {
	struct ornic_req_hdr hdr;	/* obj = key */
	__le64 addr;			/* first byte */
	__le64 length;			/* bytes; addr + length - 1 must not wrap */
	__u8 reserved[40];
};

/* hdr.param of TAKE_FAULT and END_FAULT, @vector of the event. */
enum ornic_fault_queue {
	ORNIC_FAULT_SQ			= 0,	/* requester: own memory of its WQEs */
	ORNIC_FAULT_RQ			= 1,	/* responder: receives, memory that a peer uses */
};

/*
 * TAKE_FAULT: hdr.obj = QPN, hdr.param = enum ornic_fault_queue. The fault of that
 * queue, if it was not taken yet; else ORNIC_NOT_FOUND. The first page of the range is
 * absent, the others may be. The queue can be reset or destroyed while the host has
 * the fault.
 */
struct ornic_rsp_take_fault {
	struct ornic_rsp_hdr hdr;
	__le32 key;			/* of the MR */
	__le32 seq;			/* for END_FAULT */
	__le64 addr;			/* first byte */
	__le64 length;			/* bytes, at most ORNIC_FAULT_BYTES */
	__u8 write;			/* pages are going to be written to */
	__u8 reserved[31];
};

#define ORNIC_FAULT_BYTES	(1 << 20)	/* that a fault is for, at most */

/*
 * END_FAULT: hdr.obj = QPN, hdr.param = enum ornic_fault_queue. @failed: the host has
 * no first page. Then what needs it fails: a send or receive WQE with a protection
 * error, a request of the peer with a remote access error.
 */
struct ornic_req_end_fault {
	struct ornic_req_hdr hdr;	/* obj = QPN; param: enum ornic_fault_queue */
	__le32 seq;			/* of TAKE_FAULT */
	__u8 failed;			/* 0: pages were set */
	__u8 reserved[51];
};

/* clang-format on */

#endif /* ORNIC_HW_ODP_H */
