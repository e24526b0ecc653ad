/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The device interface of ornic: everything that a host (driver and provider)
 * and a device (soft device, PCI NIC) say to each other.
 *
 * Documentation/device-interface.rst explains it; this header is its only
 * other copy. Every size and offset is asserted in ornic-layout.h.
 *
 * Conventions
 *  - All fields are little endian unless typed __be.
 *  - Reserved fields are written as zero and ignored when read.
 *  - "host writes" and "device writes" name the only writer of a field.
 *  - Ring indices are free-running 32-bit counters; slot = index mod depth,
 *    depth is a power of two.
 *  - The device trusts nothing that it reads from host memory: it reads each
 *    descriptor once, checks it, and uses its own copy.
 */
#ifndef ORNIC_HW_H
#define ORNIC_HW_H

#include <linux/types.h>
#include <rdma/ornic-hw-stats.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

#define ORNIC_HW_VERSION	1

/* Largest values that any device may report in ornic_rsp_query_device. */
#define ORNIC_MAX_SGE		32
#define ORNIC_MAX_INLINE	992
#define ORNIC_GID_TABLE_LEN	128
#define ORNIC_PAGE_SHIFT	12	/* records, page lists, ring alignment */

/* ---- Memory handed to the device --------------------------------------- */

/*
 * struct ornic_mem - memory as the device sees it
 * @addr: levels == 0: DMA address of the first byte of one contiguous run.
 *        levels == 1: DMA address of a 4 KiB list page of up to 512 __le64
 *        DMA page addresses. levels == 2, 3: list pages that point to list
 *        pages. Unused tail entries are not read.
 * @npages: pages of 2^page_shift bytes that the lists name (levels > 0), or
 *        that the run is long, rounded up (levels == 0)
 * @page_shift: log2 of the page size in bytes, 12 to 40
 * @levels: depth of the page list, 0 to 3
 */
struct ornic_mem {
	__le64 addr;
	__le32 npages;
	__u8 page_shift;
	__u8 levels;
	__u8 reserved[2];
};

#define ORNIC_LIST_ENTRIES	512	/* __le64 per list page */

/* ---- Doorbell records --------------------------------------------------- */

/*
 * struct ornic_wq_record - doorbell record of an SQ, RQ or SRQ
 * @producer: host writes: WQEs posted so far (free running). Written with
 *            release semantics after the WQEs.
 * @kick_wanted: device writes: non-zero while the device does not look at
 *            the queue. The host reads it after a full barrier that follows
 *            its store of @producer, and kicks if it is set. The device sets
 *            it, issues a full barrier and reads @producer once more before
 *            it turns away. The device looks at an RQ when a message arrives,
 *            so there it is set only in the error state, where WQEs posted
 *            late are to be flushed. A kick names the QP and serves both.
 *            Always zero for an SRQ.
 * @taken: SRQ: device writes: WQEs taken so far (free running), in the order
 *            of the ring. Written with release semantics after the device has
 *            copied the WQE: its slot is free then, whatever becomes of the
 *            message. May lag behind. Zero for an SQ and an RQ.
 */
struct ornic_wq_record {
	__le32 producer;
	__le32 kick_wanted;
	__le32 taken;
	__u8 reserved[52];
};

/*
 * struct ornic_cq_record - doorbell record of a CQ
 * @consumer: host writes: CQEs consumed so far (free running)
 * @arm: host writes: sequence << 2 | enum ornic_arm. Each arming uses a new
 *       sequence. The host issues a full barrier after it and polls once
 *       more; the device issues a full barrier between its CQE and its read
 *       of @arm.
 * @fired: device writes: the value of @arm that the last completion event
 *       answered. arm == fired means "not armed".
 */
struct ornic_cq_record {
	__le32 consumer;
	__le32 arm;
	__le32 fired;
	__u8 reserved[52];
};

enum ornic_arm {
	ORNIC_ARM_NONE		= 0,
	ORNIC_ARM_SOLICITED	= 1,
	ORNIC_ARM_NEXT		= 2,
};

#define ORNIC_ARM_MODE_MASK	3u
#define ORNIC_ARM_SEQ_SHIFT	2

/*
 * Queue memory. One ornic_mem describes one object:
 *  - QP: page 0 holds the SQ record at ORNIC_SQ_RECORD and the RQ record at
 *    ORNIC_RQ_RECORD; the SQ ring starts at byte 4096, the RQ ring at the
 *    next 4 KiB boundary after it. A ring of depth 0 takes no space.
 *  - CQ: page 0 holds the CQ record at 0; the ring starts at byte 4096.
 *  - SRQ: page 0 holds the SRQ record at 0; the ring starts at byte 4096.
 */
#define ORNIC_SQ_RECORD		0
#define ORNIC_RQ_RECORD		64
#define ORNIC_RING_OFFSET	4096

/* ---- Send WQE ------------------------------------------------------------ */

/*
 * A send WQE is a 16-byte header, the segments that its opcode needs, then
 * either SGEs or inline bytes:
 *
 *   SEND*                  RC, UC: hdr | data        UD: hdr | ud | data
 *   SEND* with _AV                                   UD: hdr | ud | av | data
 *   WRITE*, READ           hdr | remote | data
 *   CAS, FAA               hdr | remote | atomic | data (SGEs of 8 bytes sum)
 *   BIND_MW                hdr | remote | bind       LOCAL_INV: hdr
 *   REG_MR                 hdr | remote | reg        READ_INV: as READ
 *   ATOMIC_WRITE           hdr | remote | data (8 bytes)
 *   FLUSH                  hdr | remote | flush
 *
 * On an XRC initiator a segment xrc follows the header of what is sent; the
 * bind, which is not, has none.
 */
enum ornic_wqe_opcode {
	ORNIC_WQE_SEND			= 0x00,
	ORNIC_WQE_SEND_IMM		= 0x01,
	ORNIC_WQE_WRITE			= 0x02,
	ORNIC_WQE_WRITE_IMM		= 0x03,
	ORNIC_WQE_READ			= 0x04,
	ORNIC_WQE_CAS			= 0x05,
	ORNIC_WQE_FAA			= 0x06,
	ORNIC_WQE_BIND_MW		= 0x07,
	ORNIC_WQE_LOCAL_INV		= 0x08,
	ORNIC_WQE_SEND_INV		= 0x09,
	ORNIC_WQE_REG_MR		= 0x0a,
	ORNIC_WQE_READ_INV		= 0x0b,
	ORNIC_WQE_ATOMIC_WRITE		= 0x0c,
	ORNIC_WQE_FLUSH			= 0x0d,
};

enum ornic_wqe_flags {
	ORNIC_WQE_SIGNALED		= 1 << 0,
	ORNIC_WQE_SOLICITED		= 1 << 1,
	ORNIC_WQE_FENCE			= 1 << 2,
	ORNIC_WQE_INLINE		= 1 << 3,
	ORNIC_WQE_AV			= 1 << 4, /* UD: the address itself */
};

#define ORNIC_WQE_FLAGS_MASK	0x1f

/*
 * struct ornic_sq_hdr - head of a send WQE
 * @opcode: enum ornic_wqe_opcode
 * @flags: enum ornic_wqe_flags
 * @payload: number of SGEs; with ORNIC_WQE_INLINE the number of inline bytes
 * @imm: immediate data in wire order (opcodes with _IMM), or the key that is
 *       to be invalidated, big endian (opcodes with _INV)
 * @wr_id: returned in the CQE, opaque to the device
 */
struct ornic_sq_hdr {
	__u8 opcode;
	__u8 flags;
	__le16 payload;
	__be32 imm;
	__le64 wr_id;
};

struct ornic_seg_remote {
	__le64 raddr;		/* remote virtual address */
	__le32 rkey;
	__le32 reserved;
};

struct ornic_seg_atomic {
	__le64 swap_add;	/* CAS: new value; FAA: addend */
	__le64 compare;		/* CAS only */
};

/*
 * XRC initiators: the SRQ of the peer that the message is for (IBTA A14). READ
 * and atomics take nothing from it, but belong to its PD.
 */
struct ornic_seg_xrc {
	__le32 srqn;		/* 24 bits */
	__u8 reserved[12];
};

/*
 * BIND_MW: the window is that of the index of remote.rkey, which becomes its
 * key; it begins at remote.raddr. Type 1 is unbound by a length of 0.
 */
struct ornic_seg_bind {
	__le64 length;
	__le32 lkey;		/* of the MR, which has ORNIC_ACCESS_MW_BIND */
	__u8 access;		/* enum ornic_access: remote rights */
	__u8 reserved[3];
};

/*
 * REG_MR: the MR is that of the index of remote.rkey, which becomes its key;
 * its first byte is remote.raddr. The device reads the list when it executes
 * the WQE, never later.
 */
struct ornic_seg_reg {
	__le64 length;		/* bytes */
	__le64 list;		/* DMA address of a list page, see ornic_mem */
	__le32 npages;		/* that it names, at most those of the MR */
	__u8 page_shift;
	__u8 access;		/* enum ornic_access, without MW_BIND */
	__u8 reserved[10];
};

enum ornic_flush_type {			/* values of FETH, IBTA A19.4.1 */
	ORNIC_FLUSH_GLOBAL		= 1 << 0,	/* visible to all */
	ORNIC_FLUSH_PERSISTENT		= 1 << 1,
};

enum ornic_flush_level {
	ORNIC_FLUSH_RANGE		= 0,
	ORNIC_FLUSH_MR			= 1,	/* all that the key covers */
};

/* FLUSH: of remote.raddr, at the level of the MR of remote.rkey alone. */
struct ornic_seg_flush {
	__le32 length;		/* bytes; ORNIC_FLUSH_MR: 0 */
	__u8 type;		/* enum ornic_flush_type */
	__u8 level;		/* enum ornic_flush_level */
	__u8 reserved[10];
};

struct ornic_seg_ud {
	__le32 ah;		/* from CREATE_AH, same PD as the QP; _AV: 0 */
	__le32 dest_qpn;
	__le32 dest_qkey;	/* bit 31 set: the QP's own Q_Key, IBTA C10-15 */
	__le32 reserved;
};

struct ornic_sge {
	__le64 addr;
	__le32 length;		/* bytes, at most 2^31 */
	__le32 lkey;
};

/* ---- Receive WQE --------------------------------------------------------- */

/* struct ornic_rq_hdr - head of a receive WQE; @num_sge SGEs follow it. */
struct ornic_rq_hdr {
	__le64 wr_id;
	__le16 num_sge;
	__u8 reserved[6];
};

/* ---- CQE ------------------------------------------------------------------ */

/* Status of a completion; the values are those of enum ibv_wc_status. */
enum ornic_cqe_status {
	ORNIC_CQE_SUCCESS		= 0,
	ORNIC_CQE_LOC_LEN_ERR		= 1,
	ORNIC_CQE_LOC_QP_OP_ERR		= 2,
	ORNIC_CQE_LOC_EEC_OP_ERR	= 3,
	ORNIC_CQE_LOC_PROT_ERR		= 4,
	ORNIC_CQE_WR_FLUSH_ERR		= 5,
	ORNIC_CQE_MW_BIND_ERR		= 6,
	ORNIC_CQE_BAD_RESP_ERR		= 7,
	ORNIC_CQE_LOC_ACCESS_ERR	= 8,
	ORNIC_CQE_REM_INV_REQ_ERR	= 9,
	ORNIC_CQE_REM_ACCESS_ERR	= 10,
	ORNIC_CQE_REM_OP_ERR		= 11,
	ORNIC_CQE_RETRY_EXC_ERR		= 12,
	ORNIC_CQE_RNR_RETRY_EXC_ERR	= 13,
	ORNIC_CQE_REM_ABORT_ERR		= 16,
	ORNIC_CQE_FATAL_ERR		= 19,
	ORNIC_CQE_RESP_TIMEOUT_ERR	= 20,
	ORNIC_CQE_GENERAL_ERR		= 21,
};

/* Receive completions set bit 7. */
enum ornic_cqe_opcode {
	ORNIC_CQE_SEND			= 0x00,	/* SEND, _IMM, _INV */
	ORNIC_CQE_WRITE			= 0x01,	/* WRITE, WRITE_IMM */
	ORNIC_CQE_READ			= 0x02,	/* READ, _INV */
	ORNIC_CQE_CAS			= 0x03,
	ORNIC_CQE_FAA			= 0x04,
	ORNIC_CQE_BIND_MW		= 0x05,
	ORNIC_CQE_LOCAL_INV		= 0x06,
	ORNIC_CQE_REG_MR		= 0x07,
	ORNIC_CQE_ATOMIC_WRITE		= 0x08,
	ORNIC_CQE_FLUSH			= 0x09,
	ORNIC_CQE_RECV			= 0x80,
	ORNIC_CQE_RECV_WRITE_IMM	= 0x81,
};

#define ORNIC_CQE_IS_RECV	0x80

enum ornic_cqe_flags {
	ORNIC_CQE_PHASE			= 1 << 0,
	ORNIC_CQE_GRH			= 1 << 1,	/* 40 bytes precede data */
	ORNIC_CQE_WITH_IMM		= 1 << 2,
	ORNIC_CQE_SOLICITED_EVENT	= 1 << 3,
	ORNIC_CQE_WITH_INV		= 1 << 5,	/* imm: the key, big endian */
	ORNIC_CQE_IPV4			= 1 << 4,	/* of the 40 bytes: 20 + IPv4 */
};

/*
 * struct ornic_cqe - completion queue entry, 64 bytes, written by the device
 * @wr_id: of the WQE
 * @timestamp: device time in ns at which the CQE was made
 * @wqe_index: free-running index of the WQE; for an SQ, all WQEs up to it
 *             are done and their slots free
 * @qpn: the QP it belongs to
 * @byte_len: bytes received, with the GRH's 40 for UD; READ and atomics:
 *            bytes read
 * @imm: immediate data in wire order
 * @src_qpn: UD: QP of the sender
 * @smac: UD: source MAC, or zero where it is not known
 * @vlan: UD: VLAN id, 0xffff if untagged
 * @sgid_index: UD: GID index that the packet was sent to
 * @sl: service level, 3 bits
 * @opcode: enum ornic_cqe_opcode, valid also on errors
 * @status: enum ornic_cqe_status
 * @vendor_err: finer cause, enum ornic_vendor_err
 * @flags: enum ornic_cqe_flags. The phase bit is 1 in the first pass over
 *         the ring and toggles with each pass; stored last, with release
 *         semantics, together with the rest of its 32-bit word.
 */
struct ornic_cqe {
	__le64 wr_id;
	__le64 timestamp;
	__le32 wqe_index;
	__le32 qpn;
	__le32 byte_len;
	__be32 imm;
	__le32 src_qpn;
	__u8 smac[6];
	__le16 vlan;
	__u8 sgid_index;
	__u8 sl;
	__u8 reserved[14];
	__u8 opcode;
	__u8 status;
	__u8 vendor_err;
	__u8 flags;
};

enum ornic_vendor_err {
	ORNIC_VERR_NONE			= 0,
	ORNIC_VERR_BAD_OPCODE		= 1,
	ORNIC_VERR_BAD_FLAGS		= 2,
	ORNIC_VERR_BAD_SGE_COUNT	= 3,
	ORNIC_VERR_BAD_INLINE		= 4,
	ORNIC_VERR_BAD_LENGTH		= 5,
	ORNIC_VERR_LKEY_UNKNOWN		= 6,
	ORNIC_VERR_LKEY_PD		= 7,
	ORNIC_VERR_LKEY_ACCESS		= 8,
	ORNIC_VERR_LKEY_RANGE		= 9,
	ORNIC_VERR_AH			= 10,
	ORNIC_VERR_NAK			= 11,
	ORNIC_VERR_TIMEOUT		= 12,
	ORNIC_VERR_RNR			= 13,
	ORNIC_VERR_BAD_RESPONSE		= 14,
	ORNIC_VERR_FLUSH		= 15,
	ORNIC_VERR_RD_ATOMIC		= 16,	/* max_rd_atomic is 0 */
};

/* ---- Events ---------------------------------------------------------------- */

enum ornic_eqe_type {
	ORNIC_EVENT_COMP		= 0,	/* obj = CQN */
	ORNIC_EVENT_CQ_ERR		= 1,	/* obj = CQN: overflow */
	ORNIC_EVENT_QP_FATAL		= 2,	/* obj = QPN, here and below */
	ORNIC_EVENT_QP_REQ_ERR		= 3,
	ORNIC_EVENT_QP_ACCESS_ERR	= 4,
	ORNIC_EVENT_COMM_EST		= 5,
	ORNIC_EVENT_SQ_DRAINED		= 6,
	ORNIC_EVENT_LAST_WQE		= 7,
	ORNIC_EVENT_DEVICE_FATAL	= 8,
	ORNIC_EVENT_SRQ_LIMIT		= 9,	/* obj = SRQN, here and below */
	ORNIC_EVENT_SRQ_ERR		= 10,
};

/* struct ornic_eqe - event queue entry, 16 bytes; phase as in a CQE */
struct ornic_eqe {
	__le32 obj;
	__u8 type;		/* enum ornic_eqe_type */
	__u8 vector;		/* completion vector of the CQ, else 0 */
	__u8 reserved[9];
	__u8 flags;		/* bit 0: phase */
};

/* ---- Commands ---------------------------------------------------------------- */

enum ornic_opcode {
	ORNIC_CMD_QUERY_DEVICE		= 0x01,
	ORNIC_CMD_QUERY_STATS		= 0x02,
	ORNIC_CMD_SET_GID		= 0x03,
	ORNIC_CMD_SET_PORT		= 0x04,
	ORNIC_CMD_CREATE_CQ		= 0x10,
	ORNIC_CMD_DESTROY_CQ		= 0x11,
	ORNIC_CMD_RESIZE_CQ		= 0x12,
	ORNIC_CMD_CREATE_QP		= 0x20,
	ORNIC_CMD_DESTROY_QP		= 0x21,
	ORNIC_CMD_MODIFY_QP		= 0x22,
	ORNIC_CMD_QUERY_QP		= 0x23,
	ORNIC_CMD_CREATE_MKEY		= 0x30,
	ORNIC_CMD_DESTROY_MKEY		= 0x31,
	ORNIC_CMD_MODIFY_MKEY		= 0x32,
	ORNIC_CMD_CREATE_MW		= 0x38,
	ORNIC_CMD_DESTROY_MW		= 0x39,
	ORNIC_CMD_CREATE_AH		= 0x40,
	ORNIC_CMD_DESTROY_AH		= 0x41,
	ORNIC_CMD_CREATE_SRQ		= 0x50,
	ORNIC_CMD_DESTROY_SRQ		= 0x51,
	ORNIC_CMD_MODIFY_SRQ		= 0x52,
	ORNIC_CMD_QUERY_SRQ		= 0x53,
	ORNIC_CMD_RESIZE_SRQ		= 0x54,
	ORNIC_CMD_CREATE_COUNTERS	= 0x60,
	ORNIC_CMD_DESTROY_COUNTERS	= 0x61,
	ORNIC_CMD_BIND_COUNTERS		= 0x62,
	ORNIC_CMD_MODIFY_STATS		= 0x63,
	ORNIC_CMD_MODIFY_CQ		= 0x64,
	ORNIC_CMD_INSPECT		= 0x65,
	ORNIC_CMD_QUERY_CLOCK		= 0x66,
	ORNIC_CMD_ATTACH_MCAST		= 0x70,
	ORNIC_CMD_DETACH_MCAST		= 0x71,
};

enum ornic_status {
	ORNIC_OK			= 0,
	ORNIC_BAD_OPCODE		= 1,	/* -EOPNOTSUPP */
	ORNIC_BAD_PARAM			= 2,	/* -EINVAL */
	ORNIC_NO_RESOURCE		= 3,	/* -ENOMEM */
	ORNIC_LIMIT			= 4,	/* -ENOSPC: a device limit */
	ORNIC_BAD_STATE			= 5,	/* -EINVAL */
	ORNIC_NOT_FOUND			= 6,	/* -ENOENT */
	ORNIC_BUSY			= 7,	/* -EBUSY */
	ORNIC_BAD_ADDR			= 8,	/* -EFAULT: not DMA memory */
	ORNIC_FAILED			= 9,	/* -EIO */
};

/*
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

/*
 * struct ornic_rsp_hdr - head of every response
 * @opcode, @id: as in the request
 * @status: enum ornic_status
 * @obj: CREATE_*: number of the new object; else as in the request
 */
struct ornic_rsp_hdr {
	__u8 opcode;
	__u8 status;
	__le16 id;
	__le32 obj;
};

/* QUERY_DEVICE: no further arguments. */
enum ornic_device_caps {
	ORNIC_CAP_RC			= 1 << 0,
	ORNIC_CAP_UC			= 1 << 1,
	ORNIC_CAP_UD			= 1 << 2,
	ORNIC_CAP_ATOMICS		= 1 << 3,
	ORNIC_CAP_SRQ			= 1 << 4,
	ORNIC_CAP_RESIZE_CQ		= 1 << 5,
	ORNIC_CAP_MODIFY_MKEY		= 1 << 6,
	ORNIC_CAP_MW			= 1 << 7,	/* type 1 and 2B */
	/* What kernel users need: QP 1, AVs in WQEs, keys of all memory. */
	ORNIC_CAP_KERNEL		= 1 << 8,
	/* ORNIC_QP_FAST_REG, ORNIC_MKEY_FAST; READ_INV. */
	ORNIC_CAP_FAST_REG		= 1 << 9,
	ORNIC_CAP_XRC			= 1 << 10,
	ORNIC_CAP_ATOMIC_WRITE		= 1 << 11,
	ORNIC_CAP_FLUSH			= 1 << 12,	/* ORNIC_FLUSH_GLOBAL */
	ORNIC_CAP_MCAST			= 1 << 13,	/* groups of UD QPs */
	/* Counter sets, optional counters, INSPECT. */
	ORNIC_CAP_COUNTERS		= 1 << 14,
	/* Moderated CQs; the clock of the timestamps can be read. */
	ORNIC_CAP_MODERATION		= 1 << 15,
	ORNIC_CAP_RESIZE_SRQ		= 1 << 16,
};

/*
 * log_max_*: the numbers that objects may have. Number 0 is given to none, and
 * of the QPNs the first 16 are for the fabric (IBTA 3.5.10).
 */
#define ORNIC_RESERVED_QPNS	16

struct ornic_rsp_query_device {
	struct ornic_rsp_hdr hdr;
	__le64 caps;			/* enum ornic_device_caps */
	__le64 page_sizes;		/* bit n: MRs may use pages of 2^n */
	__le64 max_mr_size;		/* bytes */
	__u8 hw_version;		/* ORNIC_HW_VERSION */
	__u8 log_max_qp;
	__u8 log_max_cq;
	__u8 log_max_mkey;
	__u8 log_max_ah;
	__u8 log_max_srq;		/* 0: none */
	__u8 log_max_wqe;		/* WQEs per SQ, RQ or SRQ */
	__u8 log_max_cqe;
	__u8 max_sge;
	__u8 max_rd_atomic;		/* initiator depth per QP */
	__u8 max_dest_rd_atomic;	/* responder resources per QP */
	__u8 num_vectors;		/* completion vectors */
	__le16 max_inline;		/* bytes */
	__le16 gid_table_len;
	__u8 mac[6];
	__u8 log_max_counters;		/* counter sets */
	__u8 reserved[7];
	__u8 log_max_mcast;		/* multicast groups */
	__u8 log_max_mcast_qps;		/* QPs per group */
};

/*
 * QUERY_STATS: the device writes min(@count, all it has) counters, __le64
 * each, in the order of enum ornic_stat, to the memory at @addr. hdr.obj = 0:
 * those of the device, else those of a counter set. An event is counted in one
 * place only: in the set of its QP, else in the device's own counters.
 */
struct ornic_req_query_stats {
	struct ornic_req_hdr hdr;
	__le64 addr;
	__le32 count;
	__u8 reserved[44];
};

/*
 * MODIFY_STATS: @optional: bit n: optional counter n counts from now on; the
 * others keep the value that they have. Bits of counters that are not optional
 * are 0.
 */
struct ornic_req_modify_stats {
	struct ornic_req_hdr hdr;
	__le64 optional;
	__u8 reserved[48];
};

/*
 * CREATE_COUNTERS, DESTROY_COUNTERS: a counter set, all zero at first; the
 * header alone. Busy while QPs are bound to it.
 *
 * BIND_COUNTERS: hdr.obj = QPN, in any state. What the QP counts goes to set
 * @counters from now on; 0: to the device's own counters.
 */
struct ornic_req_bind_counters {
	struct ornic_req_hdr hdr;
	__le32 counters;
	__u8 reserved[52];
};

/*
 * SET_GID: hdr.obj = index. @valid 0 empties the slot. An IPv4 GID is the
 * mapped form ::ffff:a.b.c.d. The entry also says how frames with this
 * source are built.
 */
struct ornic_req_set_gid {
	struct ornic_req_hdr hdr;
	__u8 gid[16];
	__u8 smac[6];
	__le16 vlan;			/* VLAN id, 0xffff: untagged */
	__u8 valid;
	__u8 reserved[31];
};

#define ORNIC_VLAN_NONE		0xffff

/* SET_PORT: what the Ethernet side is like now. */
struct ornic_req_set_port {
	struct ornic_req_hdr hdr;
	__le32 mtu;			/* RoCE MTU in bytes, 256 to 4096 */
	__u8 up;
	__u8 reserved[51];
};

/* CREATE_CQ: memory layout above. */
struct ornic_req_create_cq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__u8 log_depth;
	__u8 vector;
	__u8 reserved[38];
};

/*
 * RESIZE_CQ: hdr.obj = CQN. The CQ goes on in @mem, whose layout is that of
 * CREATE_CQ. The host consumes and arms nothing while the command executes.
 * CQEs that it has not consumed are the first of the new ring, where both
 * sides count from zero; what is armed stays armed. The old memory is the
 * host's again with the response. ORNIC_BAD_PARAM if they do not fit.
 */
struct ornic_req_resize_cq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__u8 log_depth;
	__u8 reserved[39];
};

/*
 * MODIFY_CQ: hdr.obj = CQN. The completion event of an armed CQ comes with the
 * @count-th CQE that would cause it, or @period us after the first of them. 0:
 * that condition does not count; both 0, or @count 1: with the first CQE, as
 * after CREATE_CQ. CQEs are visible at once in any case.
 */
struct ornic_req_modify_cq {
	struct ornic_req_hdr hdr;
	__le16 count;
	__le16 period;
	__u8 reserved[52];
};

/* QUERY_CLOCK: the header alone. */
struct ornic_rsp_query_clock {
	struct ornic_rsp_hdr hdr;
	__le64 now;			/* ns, as in the timestamp of a CQE */
	__u8 reserved[48];
};

enum ornic_qp_type {
	ORNIC_QPT_RC			= 2,	/* values of enum ib_qp_type */
	ORNIC_QPT_UC			= 3,
	ORNIC_QPT_UD			= 4,
	ORNIC_QPT_XRC_INI		= 9,
	ORNIC_QPT_XRC_TGT		= 10,
};

/* create_qp.flags */
#define ORNIC_QP_SIG_ALL	(1 << 0)
#define ORNIC_QP_AV		(1 << 1)	/* UD: WQEs may say _AV */
#define ORNIC_QP_GSI		(1 << 2)	/* UD: becomes QP 1, IBTA 3.9.5 */
/* RC: WQEs may name memory by DMA address (REG_MR). Never of a process. */
#define ORNIC_QP_FAST_REG	(1 << 3)
#define ORNIC_QP_SRQ		(1 << 4)	/* receives come from @srqn */
#define ORNIC_QP_NO_SELF_MCAST	(1 << 6)	/* UD: not what it sent itself */

/*
 * CREATE_QP. Strides are log2 of bytes; depths log2 of WQEs. has_sq / has_rq
 * say whether the ring exists at all; with ORNIC_QP_SRQ there is no RQ. The
 * state is RESET afterwards. An XRC initiator has no RQ and no @recv_cqn; an
 * XRC target has no rings, CQs and PD, but an @xrcdn: it takes from the XRC
 * SRQs of that domain, completes to their CQs, and lets a peer use the keys of
 * their PDs, as each request says.
 */
struct ornic_req_create_qp {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__le32 pdn;
	__le32 send_cqn;
	__le32 recv_cqn;
	__u8 qp_type;
	__u8 flags;
	__u8 has_sq;
	__u8 has_rq;
	__u8 sq_log_depth;
	__u8 sq_log_stride;		/* 6 to 10 */
	__u8 rq_log_depth;
	__u8 rq_log_stride;		/* 5 to 10 */
	__u8 sq_max_sge;
	__u8 rq_max_sge;
	__le16 max_inline;
	__le32 srqn;			/* ORNIC_QP_SRQ */
	__le32 xrcdn;			/* XRC targets */
	__u8 reserved[8];
};

/* Values of enum ib_qp_state. */
enum ornic_qp_state {
	ORNIC_QPS_RESET			= 0,
	ORNIC_QPS_INIT			= 1,
	ORNIC_QPS_RTR			= 2,
	ORNIC_QPS_RTS			= 3,
	ORNIC_QPS_SQD			= 4,
	ORNIC_QPS_SQE			= 5,
	ORNIC_QPS_ERR			= 6,
};

/*
 * struct ornic_av - address vector
 * @dgid: destination GID; ::ffff:a.b.c.d means RoCEv2 over IPv4
 * @dmac: next hop
 * @udp_sport: UDP source port, 0xc000 to 0xffff
 * @flow_label: 20 bits
 * @sgid_index: source, an entry set by SET_GID
 * @tclass: DSCP and ECN bits
 * @hop_limit: TTL
 * @sl: service level, 0 to 7; the PCP of a tagged frame
 */
struct ornic_av {
	__u8 dgid[16];
	__u8 dmac[6];
	__le16 udp_sport;
	__le32 flow_label;
	__u8 sgid_index;
	__u8 tclass;
	__u8 hop_limit;
	__u8 sl;
};

/* Which fields of ornic_req_modify_qp count. */
enum ornic_qp_mask {
	ORNIC_QPM_STATE			= 1 << 0,
	ORNIC_QPM_CUR_STATE		= 1 << 1,
	ORNIC_QPM_ACCESS		= 1 << 2,
	ORNIC_QPM_QKEY			= 1 << 3,
	ORNIC_QPM_AV			= 1 << 4,
	ORNIC_QPM_PATH_MTU		= 1 << 5,
	ORNIC_QPM_TIMEOUT		= 1 << 6,
	ORNIC_QPM_RETRY_CNT		= 1 << 7,
	ORNIC_QPM_RNR_RETRY		= 1 << 8,
	ORNIC_QPM_RQ_PSN		= 1 << 9,
	ORNIC_QPM_SQ_PSN		= 1 << 10,
	ORNIC_QPM_MAX_RD_ATOMIC		= 1 << 11,
	ORNIC_QPM_MAX_DEST_RD_ATOMIC	= 1 << 12,
	ORNIC_QPM_MIN_RNR_TIMER		= 1 << 13,
	ORNIC_QPM_DEST_QPN		= 1 << 14,
	ORNIC_QPM_SQD_NOTIFY		= 1 << 15,
};

#define ORNIC_QPM_ALL		0xffff

/*
 * Access rights of MRs and QPs; the values of enum ib_access_flags, which has
 * the last one elsewhere.
 */
enum ornic_access {
	ORNIC_ACCESS_LOCAL_WRITE	= 1 << 0,
	ORNIC_ACCESS_REMOTE_WRITE	= 1 << 1,
	ORNIC_ACCESS_REMOTE_READ	= 1 << 2,
	ORNIC_ACCESS_REMOTE_ATOMIC	= 1 << 3,
	ORNIC_ACCESS_MW_BIND		= 1 << 4,	/* MRs only */
	ORNIC_ACCESS_FLUSH_GLOBAL	= 1 << 7,
};

#define ORNIC_ACCESS_MASK	0x8f
#define ORNIC_ACCESS_MR_MASK	0x9f

/* hdr.param of MODIFY_QP: retry_cnt | rnr_retry << 3 | sqd_notify << 6. */
#define ORNIC_MODIFY_RETRY_SHIFT	0
#define ORNIC_MODIFY_RNR_SHIFT		3
#define ORNIC_MODIFY_SQD_NOTIFY		(1 << 6)

/*
 * MODIFY_QP: hdr.obj = QPN. The device enforces the state table of IBTA
 * 10.3.1 and refuses the whole command on any bad value.
 */
struct ornic_req_modify_qp {
	struct ornic_req_hdr hdr;
	__le32 mask;			/* enum ornic_qp_mask */
	__le32 rq_psn_rnr;		/* 23:0 rq_psn, 28:24 min_rnr_timer */
	__le32 sq_psn_timeout;		/* 23:0 sq_psn, 28:24 ACK timeout */
	__le32 dest_qpn_mtu;		/* 23:0 dest_qpn, 26:24 enum ib_mtu */
	__le32 qkey;
	struct ornic_av av;
	__u8 state;			/* 3:0 new, 7:4 current */
	__u8 access;			/* enum ornic_access */
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
};

/*
 * QUERY_QP: hdr.obj = QPN. The response has the layout of MODIFY_QP so that
 * every attribute has one place: hdr.param becomes @status of the response
 * header, so the retry counters move to the top bytes named below.
 */
struct ornic_rsp_query_qp {
	struct ornic_rsp_hdr hdr;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 sq_draining;
	__u8 reserved;
	__le32 rq_psn_rnr;		/* rq_psn: the next PSN expected */
	__le32 sq_psn_timeout;		/* sq_psn: the next PSN to be sent */
	__le32 dest_qpn_mtu;
	__le32 qkey;
	struct ornic_av av;
	__u8 state;			/* 3:0 now, 7:4 zero */
	__u8 access;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
};

/*
 * CREATE_MKEY: an MR. The device makes up the key (lkey == rkey): an
 * unguessable index and variant. Byte @iova of the key is the byte at offset
 * (@iova mod page size) of the first page (levels > 0), or the first byte of
 * the run (levels == 0).
 */
struct ornic_req_create_mkey {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__le64 iova;
	__le64 length;			/* bytes; iova + length must not wrap */
	__le32 pdn;
	__u8 access;			/* enum ornic_access */
	__u8 flags;			/* ORNIC_MKEY_* */
	__u8 reserved[18];
};

/* Which fields of ornic_req_modify_mkey count. */
enum ornic_mkey_mask {
	ORNIC_MKEYM_MEM			= 1 << 0,	/* mem, iova, length */
	ORNIC_MKEYM_PD			= 1 << 1,
	ORNIC_MKEYM_ACCESS		= 1 << 2,
};

#define ORNIC_MKEYM_ALL		0x7

/*
 * MODIFY_MKEY: hdr.obj = key, which stays the same. Each access happens under
 * the old attributes or under the new ones; with the response, none under the
 * old ones comes any more, and memory that was replaced is the host's again.
 */
struct ornic_req_modify_mkey {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__u8 access;
	__u8 mask;			/* enum ornic_mkey_mask */
	__u8 reserved[18];
};

enum ornic_mw_type {
	ORNIC_MW_TYPE_1			= 1,	/* values of enum ib_mw_type */
	ORNIC_MW_TYPE_2			= 2,	/* 2B: of one QP */
};

/*
 * CREATE_MW: a window, unbound. The device makes up the key; BIND_MW replaces
 * its low byte. DESTROY_MW: hdr.obj = the key, whose low byte counts for
 * nothing.
 */
struct ornic_req_create_mw {
	struct ornic_req_hdr hdr;
	__le32 pdn;
	__u8 type;			/* enum ornic_mw_type */
	__u8 reserved[51];
};
/*
 * create_mkey.flags: the key covers all DMA memory, addresses are DMA
 * addresses; mem, iova and length are 0. Never given to a process.
 */
#define ORNIC_MKEY_DMA		(1 << 0)

/*
 * create_mkey.flags: the key is free until a REG_MR gives it memory, of at most
 * mem.npages pages (ORNIC_LIST_ENTRIES). All else of mem, iova, length and
 * access are 0. Never given to a process.
 */
#define ORNIC_MKEY_FAST		(1 << 1)

/* CREATE_AH; DESTROY_AH: hdr.obj = AH. */
struct ornic_req_create_ah {
	struct ornic_req_hdr hdr;
	struct ornic_av av;
	__le32 pdn;
	__u8 reserved[20];
};

/*
 * CREATE_SRQ: memory layout above; WQEs and strides are those of an RQ. Its
 * SGEs are looked up in @pdn, whatever the PD of the QP that takes them. With
 * ORNIC_SRQ_XRC it is for the XRC targets of the domain @xrcdn alone, and what
 * they take completes to @cqn. Domains are numbers of the host's.
 */
struct ornic_req_create_srq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__le32 pdn;
	__u8 log_depth;
	__u8 log_stride;		/* 5 to 10 */
	__u8 max_sge;
	__u8 flags;			/* ORNIC_SRQ_* */
	__le32 xrcdn;
	__le32 cqn;
	__u8 reserved[24];
};

#define ORNIC_SRQ_XRC		(1 << 0)

/*
 * RESIZE_SRQ: hdr.obj = SRQN. The SRQ goes on in @mem, whose layout is that of
 * CREATE_SRQ with the old stride. The host posts nothing while the command
 * executes; messages may take WQEs. Those that wait then are the first of the
 * new ring, where both sides count from zero: the device writes @producer of
 * the new record this once. The old memory is the host's again with the
 * response. ORNIC_BAD_PARAM if they, or the limit, do not fit.
 */
struct ornic_req_resize_srq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;
	__u8 log_depth;
	__u8 reserved[39];
};

/*
 * MODIFY_SRQ: hdr.obj = SRQN. Arms the limit event, or disarms it with 0: it
 * is raised once, as soon as fewer than @limit WQEs wait in the ring; at once
 * if they do already.
 */
struct ornic_req_modify_srq {
	struct ornic_req_hdr hdr;
	__le32 limit;			/* WQEs, at most the depth */
	__u8 reserved[52];
};

/* QUERY_SRQ: hdr.obj = SRQN. */
struct ornic_rsp_query_srq {
	struct ornic_rsp_hdr hdr;
	__le32 limit;			/* 0: not armed, or fired */
	__le32 waiting;			/* WQEs that are posted and not taken */
	__u8 broken;			/* SRQ_ERR was raised */
	__u8 reserved[47];
};

/*
 * ATTACH_MCAST, DETACH_MCAST: hdr.obj = QPN of a UD QP, in any state. It gets,
 * or no longer gets, what is sent to QPN ORNIC_MCAST_QPN at the group @mgid,
 * an address of ff00::/8 or ::ffff:224.0.0.0/100, by the wire or by a QP of
 * this device. ORNIC_BUSY if it is a member already, ORNIC_NOT_FOUND if it is
 * none. DESTROY_QP detaches the QP from all its groups. That frames for the
 * group get to the device is the host's affair.
 */
struct ornic_req_mcast {
	struct ornic_req_hdr hdr;
	__u8 mgid[16];
	__u8 reserved[40];
};

#define ORNIC_MCAST_QPN		0xffffff	/* IBTA 10.5.2 */

/*
 * INSPECT: what an object is doing, for people who look for a fault. hdr.param
 * says what hdr.obj is. Numbers are those of one moment; PSNs have 24 bits, WQEs
 * and CQEs are counted from RESET or creation (free running).
 */
enum ornic_inspect {
	ORNIC_INSPECT_QP		= 1,	/* obj = QPN */
	ORNIC_INSPECT_CQ		= 2,	/* obj = CQN */
	ORNIC_INSPECT_MKEY		= 3,	/* obj = key of an MR */
};

enum ornic_inspect_qp_flags {
	ORNIC_IQP_RNR_WAIT		= 1 << 0,	/* until the peer is ready */
	ORNIC_IQP_TIMER			= 1 << 1,	/* its timer runs */
	ORNIC_IQP_DRAINING		= 1 << 2,
	ORNIC_IQP_SQ_BROKEN		= 1 << 3,	/* nonsense in its record */
	ORNIC_IQP_RQ_BROKEN		= 1 << 4,
	ORNIC_IQP_NAK_SENT		= 1 << 5,	/* a request is missing */
};

/*
 * @sq_psn: next PSN to send; @sq_acked: oldest one without an answer
 * @sq_window: PSNs that may be out; @sq_reads: READs and atomics that are out
 * @sq_producer: WQEs posted; @sq_sent: executed, or on the wire; @sq_done:
 * complete
 * @rq_psn: next PSN expected; @rq_msn: messages received
 * @rq_producer: WQEs posted; @rq_taken: taken from the ring
 * @counters: counter set, 0: none
 */
struct ornic_rsp_inspect_qp {
	struct ornic_rsp_hdr hdr;
	__le32 sq_psn;
	__le32 sq_acked;
	__le32 sq_window;
	__le32 sq_reads;
	__le32 sq_producer;
	__le32 sq_sent;
	__le32 sq_done;
	__le32 rq_psn;
	__le32 rq_msn;
	__le32 rq_producer;
	__le32 rq_taken;
	__le32 counters;
	__u8 state;			/* enum ornic_qp_state */
	__u8 flags;			/* enum ornic_inspect_qp_flags */
	__u8 retry_left;
	__u8 rnr_left;
	__u8 reserved[4];
};

/*
 * @producer: CQEs written; @consumer: what the host says that it consumed
 * @users: ends of QPs that complete here
 */
struct ornic_rsp_inspect_cq {
	struct ornic_rsp_hdr hdr;
	__le32 producer;
	__le32 consumer;
	__le32 users;
	__u8 armed;			/* enum ornic_arm */
	__u8 overflow;
	__u8 vector;
	__u8 reserved;
	__le16 count;			/* of MODIFY_CQ, like @period */
	__le16 period;
	__le32 pending;			/* CQEs that its event waits for more of */
	__u8 reserved2[32];
};

/* @windows: memory windows that are bound to it */
struct ornic_rsp_inspect_mkey {
	struct ornic_rsp_hdr hdr;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__le32 windows;
	__u8 access;			/* enum ornic_access */
	__u8 flags;			/* ORNIC_MKEY_* */
	__u8 reserved[30];
};

/* DESTROY_*, QUERY_DEVICE, QUERY_QP, QUERY_SRQ, INSPECT: the header alone. */
union ornic_req {
	struct ornic_req_hdr hdr;
	struct ornic_req_query_stats query_stats;
	struct ornic_req_modify_stats modify_stats;
	struct ornic_req_bind_counters bind_counters;
	struct ornic_req_set_gid set_gid;
	struct ornic_req_set_port set_port;
	struct ornic_req_create_cq create_cq;
	struct ornic_req_resize_cq resize_cq;
	struct ornic_req_modify_cq modify_cq;
	struct ornic_req_create_qp create_qp;
	struct ornic_req_modify_qp modify_qp;
	struct ornic_req_create_mkey create_mkey;
	struct ornic_req_modify_mkey modify_mkey;
	struct ornic_req_create_mw create_mw;
	struct ornic_req_create_ah create_ah;
	struct ornic_req_create_srq create_srq;
	struct ornic_req_modify_srq modify_srq;
	struct ornic_req_mcast mcast;
	struct ornic_req_resize_srq resize_srq;
	__u8 bytes[64];
};

union ornic_rsp {
	struct ornic_rsp_hdr hdr;
	struct ornic_rsp_query_device query_device;
	struct ornic_rsp_query_clock query_clock;
	struct ornic_rsp_query_qp query_qp;
	struct ornic_rsp_query_srq query_srq;
	struct ornic_rsp_inspect_qp inspect_qp;
	struct ornic_rsp_inspect_cq inspect_cq;
	struct ornic_rsp_inspect_mkey inspect_mkey;
	__u8 bytes[64];
};

/* clang-format on */

#endif /* ORNIC_HW_H */
