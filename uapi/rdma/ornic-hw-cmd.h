/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * What all commands of the device interface share: memory, statuses, headers.
 * ornic-hw.h includes this.
 */
#ifndef ORNIC_HW_CMD_H
#define ORNIC_HW_CMD_H

#include <linux/types.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

#define ORNIC_PAGE_SHIFT	12	/* records, page lists, ring alignment */

/* ---- Memory handed to the device --------------------------------------- */

/**
 * struct ornic_mem - memory as the device sees it
 * @addr: levels == 0: DMA address of the first byte of one contiguous run.
 *        levels == 1: DMA address of a 4 KiB list page of up to 512 __le64
 *        DMA page addresses. levels == 2, 3: list pages that point to list
 *        pages. Unused tail entries are not read.
 * @npages: pages of 2^page_shift bytes that the lists name (levels > 0), or
 *        that the run is long, rounded up (levels == 0)
 * @page_shift: log2 of the page size in bytes, 12 to 40
 * @levels: depth of the page list, 0 to 3
 * @reserved: zero
 */
struct ornic_mem {
	__le64 addr;
	__le32 npages;
	__u8 page_shift;
	__u8 levels;
	__u8 reserved[2];
};

#define ORNIC_LIST_ENTRIES	512	/* __le64 per list page */

/* ---- Commands: what they share ----------------------------------------- */

enum ornic_status {
	ORNIC_OK			= 0,
	ORNIC_BAD_OPCODE		= 1,	/* -EOPNOTSUPP: no such command */
	ORNIC_BAD_PARAM			= 2,	/* -EINVAL: a value out of range */
	ORNIC_NO_RESOURCE		= 3,	/* -ENOMEM: out of memory */
	ORNIC_LIMIT			= 4,	/* -ENOSPC: a limit of the device */
	ORNIC_BAD_STATE			= 5,	/* -EINVAL: not in this state of the QP or SRQ */
	ORNIC_NOT_FOUND			= 6,	/* -ENOENT: obj does not exist */
	ORNIC_BUSY			= 7,	/* -EBUSY: obj is in use */
	ORNIC_BAD_ADDR			= 8,	/* -EFAULT: an address that is not DMA memory */
	ORNIC_FAILED			= 9,	/* -EIO: the device broke */
	ORNIC_EXISTS			= 10,	/* -EEXIST: there is one already */
};

/**
 * struct ornic_req_hdr - head of every request
 * @opcode: enum ornic_opcode
 * @param: meaning depends on the opcode, else 0
 * @id: chosen by the host, returned in the response
 * @obj: object number (QPN, CQN, key, AH, GID index), 0 for CREATE_*
 */
struct ornic_req_hdr {
	__u8 opcode;
	__u8 param;
	__le16 id;
	__le32 obj;
};

/**
 * struct ornic_rsp_hdr - head of every response
 * @opcode: as in the request
 * @status: enum ornic_status
 * @id: as in the request
 * @obj: CREATE_*: number of the new object; else as in the request
 */
struct ornic_rsp_hdr {
	__u8 opcode;
	__u8 status;
	__le16 id;
	__le32 obj;
};

/* clang-format on */

#endif /* ORNIC_HW_CMD_H */
