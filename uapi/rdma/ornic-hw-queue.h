/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The part of the device interface that host and device share in memory:
 * doorbell records, rings, WQEs, CQEs, EQEs. Included by ornic-hw.h, which has
 * the conventions.
 */
#ifndef ORNIC_HW_QUEUE_H
#define ORNIC_HW_QUEUE_H

#include <linux/types.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

/* ---- Doorbell records --------------------------------------------------- */

/**
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
 *            message. May lag behind. The SQ of a QP of type TAGS has it as
 *            well; zero for another SQ and an RQ.
 * @tags_gone: SRQ with ORNIC_SRQ_TM: device writes: tagged receives that have
 *            left the list, or were not taken into it because it was full (free
 *            running). Else zero.
 * @reserved: zero
 */
struct ornic_wq_record {
	__le32 producer;
	__le32 kick_wanted;
	__le32 taken;
	__le32 tags_gone;
	__u8 reserved[48];
};

/**
 * struct ornic_cq_record - doorbell record of a CQ
 * @consumer: host writes: CQEs consumed so far (free running)
 * @arm: host writes: sequence << 2 | enum ornic_arm. Each arming uses a new
 *       sequence. The host issues a full barrier after it and polls once
 *       more; the device issues a full barrier between its CQE and its read
 *       of @arm.
 * @fired: device writes: the value of @arm that the last completion event
 *       answered. arm == fired means "not armed".
 * @reserved: zero
 */
struct ornic_cq_record {
	__le32 consumer;
	__le32 arm;
	__le32 fired;
	__u8 reserved[52];
};

/**
 * struct ornic_comp_cntr_record - values of a completion counter
 * @completions: device writes: operations that succeeded. Each store has release
 *            semantics: what was counted is in memory before.
 * @errors: device writes: operations that failed or were flushed
 *
 * The host never writes them: MODIFY_COMP_CNTR does. They wrap to 0.
 */
struct ornic_comp_cntr_record {
	__le64 completions;
	__le64 errors;
};

enum ornic_arm {
	ORNIC_ARM_NONE		= 0,	/* no event */
	ORNIC_ARM_SOLICITED	= 1,	/* with the next solicited CQE */
	ORNIC_ARM_NEXT		= 2,	/* with the next CQE */
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
 *   SEND                   RAW: hdr | data (an Ethernet frame without FCS)
 *   WRITE*, READ           hdr | remote | data
 *   CAS, FAA               hdr | remote | atomic | data (SGEs of 8 bytes sum)
 *   BIND_MW                hdr | remote | bind       LOCAL_INV: hdr
 *   REG_MR                 hdr | remote | reg        READ_INV: as READ
 *   ATOMIC_WRITE           hdr | remote | data (8 bytes)
 *   FLUSH                  hdr | remote | flush
 *   TAG_ADD                hdr | tag | data
 *   TAG_DEL, TAG_SYNC      hdr | tag
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
	ORNIC_WQE_CAS			= 0x05,	/* compare and swap */
	ORNIC_WQE_FAA			= 0x06,	/* fetch and add */
	ORNIC_WQE_BIND_MW		= 0x07,	/* bind a window */
	ORNIC_WQE_LOCAL_INV		= 0x08,	/* invalidate a key */
	ORNIC_WQE_SEND_INV		= 0x09,	/* SEND that invalidates a key of the peer */
	ORNIC_WQE_REG_MR		= 0x0a,	/* give an MR memory */
	ORNIC_WQE_READ_INV		= 0x0b,	/* READ that invalidates a local key */
	ORNIC_WQE_ATOMIC_WRITE		= 0x0c,
	ORNIC_WQE_FLUSH			= 0x0d,
	ORNIC_WQE_TAG_ADD		= 0x0e,	/* a tagged receive, to the end of the list */
	ORNIC_WQE_TAG_DEL		= 0x0f,	/* off the list */
	ORNIC_WQE_TAG_SYNC		= 0x10,	/* nothing but the flags */
};

enum ornic_wqe_flags {
	ORNIC_WQE_SIGNALED		= 1 << 0,	/* completes with a CQE */
	ORNIC_WQE_SOLICITED		= 1 << 1,	/* so does the receive of it */
	ORNIC_WQE_FENCE			= 1 << 2,	/* after all earlier READs and atomics */
	ORNIC_WQE_INLINE		= 1 << 3,	/* bytes, not SGEs */
	ORNIC_WQE_AV			= 1 << 4,	/* UD: the address itself */
	ORNIC_WQE_UNEXPECTED		= 1 << 5,	/* TAG_*: tag.unexpected counts */
};

#define ORNIC_WQE_FLAGS_MASK	0x3f

/**
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
	__le64 raddr;			/* address at the peer; BIND_MW, REG_MR: the first byte */
	__le32 rkey;			/* key of the peer; BIND_MW, REG_MR: the new key */
	__le32 reserved;
};

struct ornic_seg_atomic {
	__le64 swap_add;		/* CAS: new value; FAA: addend */
	__le64 compare;			/* CAS: what must be there */
};

/*
 * XRC initiators: the SRQ of the peer that the message is for (IBTA A14). READ
 * and atomics take nothing from it, but belong to its PD.
 */
struct ornic_seg_xrc {
	__le32 srqn;			/* SRQ of the peer, 24 bits */
	__u8 reserved[12];
};

/*
 * BIND_MW: the window is that of the index of remote.rkey, which becomes its
 * key; it begins at remote.raddr. Type 1 is unbound by a length of 0.
 */
struct ornic_seg_bind {
	__le64 length;			/* bytes; 0 unbinds a window of type 1 */
	__le32 lkey;			/* of the MR, which has ORNIC_ACCESS_MW_BIND */
	__u8 access;			/* enum ornic_access: remote rights */
	__u8 reserved[3];
};

/*
 * REG_MR: the MR is that of the index of remote.rkey, which becomes its key;
 * its first byte is remote.raddr. The device reads the list when it executes
 * the WQE, never later.
 */
struct ornic_seg_reg {
	__le64 length;			/* bytes */
	__le64 list;			/* DMA address of a list page, see ornic_mem */
	__le32 npages;			/* that it names, at most those of the MR */
	__u8 page_shift;		/* log2 of the bytes of a page */
	__u8 access;			/* enum ornic_access, without MW_BIND */
	__u8 reserved[10];
};

/*
 * REG_MR of an MR with gaps, ORNIC_MKEY_SG_GAPS: the MR is the bytes of @npages
 * segments, one after another. @list is a page of them; if the MR has room for more
 * than ORNIC_LIST_SEGMENTS, it is a list page that names such pages, full but for
 * the last one. @page_shift is 0.
 */
struct ornic_list_segment {
	__le64 addr;			/* DMA address of its first byte, at any alignment */
	__le64 length;			/* bytes, at least 1 */
};

#define ORNIC_LIST_SEGMENTS	256	/* per page */

enum ornic_flush_type {			/* values of FETH, IBTA A19.4.1 */
	ORNIC_FLUSH_GLOBAL		= 1 << 0,	/* visible to all */
	ORNIC_FLUSH_PERSISTENT		= 1 << 1,	/* outlives a loss of power */
};

enum ornic_flush_level {
	ORNIC_FLUSH_RANGE		= 0,	/* raddr and length */
	ORNIC_FLUSH_MR			= 1,	/* all that the key covers */
};

/* FLUSH: of remote.raddr, at the level of the MR of remote.rkey alone. */
struct ornic_seg_flush {
	__le32 length;			/* bytes; ORNIC_FLUSH_MR: 0 */
	__u8 type;			/* enum ornic_flush_type */
	__u8 level;			/* enum ornic_flush_level */
	__u8 reserved[10];
};

/*
 * TAG_*, of a QP of type TAGS. A message matches if its tag & @mask is @tag. The
 * SGEs of TAG_ADD belong to the PD of the SRQ.
 */
#define ORNIC_MAX_RNDV_HDR	64	/* bytes of a message that is a rendezvous request */

struct ornic_seg_tag {
	__le64 recv_wr_id;		/* TAG_ADD: for the CQEs of the receive */
	__le64 tag;			/* TAG_ADD */
	__le64 mask;			/* TAG_ADD: bits of the message's tag that count */
	__le32 handle;			/* TAG_ADD: chosen by the host; TAG_DEL: that one */
	__le32 unexpected;		/* unexpected messages that the host has handled */
};

struct ornic_seg_ud {
	__le32 ah;			/* from CREATE_AH, same PD as the QP; _AV: 0 */
	__le32 dest_qpn;		/* QPN of the peer */
	__le32 dest_qkey;		/* bit 31 set: the QP's own Q_Key, IBTA C10-15 */
	__le16 pkey_index;		/* QP 1: of the P_Key table; else the QP's counts */
	__u8 reserved[2];
};

struct ornic_sge {
	__le64 addr;
	__le32 length;			/* bytes, at most 2^31 */
	__le32 lkey;
};

/* ---- Receive WQE --------------------------------------------------------- */

/* Head of a receive WQE; @num_sge SGEs follow it. */
struct ornic_rq_hdr {
	__le64 wr_id;			/* for the CQE */
	__le16 num_sge;
	__u8 reserved[6];
};

/* ---- CQE ------------------------------------------------------------------ */

/* Status of a completion; the values are those of enum ibv_wc_status. */
enum ornic_cqe_status {
	ORNIC_CQE_SUCCESS		= 0,
	ORNIC_CQE_LOC_LEN_ERR		= 1,	/* the message is too long for its WQE or QP */
	ORNIC_CQE_LOC_QP_OP_ERR		= 2,	/* the WQE is malformed */
	ORNIC_CQE_LOC_EEC_OP_ERR	= 3,	/* not raised */
	ORNIC_CQE_LOC_PROT_ERR		= 4,	/* an lkey */
	ORNIC_CQE_WR_FLUSH_ERR		= 5,	/* the QP is or was in ERR */
	ORNIC_CQE_MW_BIND_ERR		= 6,	/* BIND_MW, REG_MR, LOCAL_INV */
	ORNIC_CQE_BAD_RESP_ERR		= 7,	/* the response is not one of the request */
	ORNIC_CQE_LOC_ACCESS_ERR	= 8,	/* not raised */
	ORNIC_CQE_REM_INV_REQ_ERR	= 9,	/* the peer calls the request invalid */
	ORNIC_CQE_REM_ACCESS_ERR	= 10,	/* the peer refuses access */
	ORNIC_CQE_REM_OP_ERR		= 11,	/* the peer failed */
	ORNIC_CQE_RETRY_EXC_ERR		= 12,	/* the peer does not answer */
	ORNIC_CQE_RNR_RETRY_EXC_ERR	= 13,	/* the peer has no receive WQE */
	ORNIC_CQE_REM_ABORT_ERR		= 16,	/* not raised */
	ORNIC_CQE_FATAL_ERR		= 19,	/* not raised */
	ORNIC_CQE_RESP_TIMEOUT_ERR	= 20,	/* not raised */
	ORNIC_CQE_GENERAL_ERR		= 21,	/* not raised */
	ORNIC_CQE_TM_ERR		= 22,	/* TAG_ADD, TAG_DEL: the list is as it was */
	ORNIC_CQE_TM_RNDV_INCOMPLETE	= 23,	/* matched, but the data is for the host to read */
};

/* Receive completions set bit 7, ORNIC_CQE_IS_RECV. */
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
	ORNIC_CQE_TAG_ADD		= 0x0a,
	ORNIC_CQE_TAG_DEL		= 0x0b,
	ORNIC_CQE_TAG_SYNC		= 0x0c,
	ORNIC_CQE_RECV			= 0x80,	/* a receive, by SEND; all receives have bit 7 */
	ORNIC_CQE_RECV_WRITE_IMM	= 0x81,	/* a receive, by WRITE with immediate data */
	ORNIC_CQE_TM_RECV		= 0x82,	/* of a message with a tag */
	ORNIC_CQE_TM_NO_TAG		= 0x83,	/* of one without, or of a FIN */
};

#define ORNIC_CQE_IS_RECV	0x80

enum ornic_cqe_flags {
	ORNIC_CQE_PHASE			= 1 << 0,	/* toggles with each pass */
	ORNIC_CQE_GRH			= 1 << 1,	/* 40 bytes precede data */
	ORNIC_CQE_WITH_IMM		= 1 << 2,	/* imm is immediate data */
	ORNIC_CQE_SOLICITED_EVENT	= 1 << 3,	/* the sender asked for an event */
	/* these are 20 unused bytes and an IPv4 header */
	ORNIC_CQE_IPV4			= 1 << 4,
	ORNIC_CQE_WITH_INV		= 1 << 5,	/* imm is a key, big endian */
	ORNIC_CQE_ROCE_V1		= 1 << 6,	/* the 40 bytes are a GRH of RoCE v1 */
};

/* A TM_RECV with neither of the first two is an unexpected message. */
enum ornic_cqe_tm_flags {
	ORNIC_CQE_TM_MATCH		= 1 << 0,	/* a tagged receive was matched */
	ORNIC_CQE_TM_DATA_VALID		= 1 << 1,	/* all data of it is in memory */
	ORNIC_CQE_TM_SYNC_REQ		= 1 << 2,	/* TAG_*: the counts differ */
};

/**
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
 * @tm_flags: enum ornic_cqe_tm_flags
 * @pkey_index: UD: entry of the P_Key table that the packet matched
 * @tag: with TM_MATCH: of the TMH; else zero, the TMH is in memory
 * @app_ctx: likewise
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
	__u8 tm_flags;
	__u8 pkey_index;
	__le64 tag;
	__le32 app_ctx;
	__u8 opcode;
	__u8 status;
	__u8 vendor_err;
	__u8 flags;
};

enum ornic_vendor_err {
	ORNIC_VERR_NONE			= 0,
	ORNIC_VERR_BAD_OPCODE		= 1,	/* unknown, or not of this QP */
	ORNIC_VERR_BAD_FLAGS		= 2,	/* unknown flag */
	ORNIC_VERR_BAD_SGE_COUNT	= 3,	/* more than the QP or the stride has */
	ORNIC_VERR_BAD_INLINE		= 4,	/* not allowed, or too long */
	ORNIC_VERR_BAD_LENGTH		= 5,	/* of the message */
	ORNIC_VERR_LKEY_UNKNOWN		= 6,	/* no such key */
	ORNIC_VERR_LKEY_PD		= 7,	/* of another PD */
	ORNIC_VERR_LKEY_ACCESS		= 8,	/* a right is missing */
	ORNIC_VERR_LKEY_RANGE		= 9,	/* outside of the MR */
	ORNIC_VERR_AH			= 10,	/* no such AH, or of another PD */
	ORNIC_VERR_NAK			= 11,	/* the peer said so */
	ORNIC_VERR_TIMEOUT		= 12,	/* retries are used up */
	ORNIC_VERR_RNR			= 13,	/* RNR retries are used up */
	ORNIC_VERR_BAD_RESPONSE		= 14,
	ORNIC_VERR_FLUSH		= 15,
	ORNIC_VERR_RD_ATOMIC		= 16,	/* READ or atomic, and max_rd_atomic is 0 */
	ORNIC_VERR_TAGS_FULL		= 17,	/* no room in the list */
	ORNIC_VERR_TAG_UNKNOWN		= 18,	/* not in the list, perhaps not any more */
	ORNIC_VERR_PAGE			= 19,	/* on demand: the host has no page there */
	ORNIC_VERR_PKEY			= 20,	/* the entry of the P_Key table is empty */
};

/* ---- Events ---------------------------------------------------------------- */

enum ornic_eqe_type {
	ORNIC_EVENT_COMP		= 0,	/* obj = CQN: an armed CQ fired */
	ORNIC_EVENT_CQ_ERR		= 1,	/* obj = CQN: overflow */
	/* obj = QPN: bad record, broken SRQ or CQ overflow */
	ORNIC_EVENT_QP_FATAL		= 2,
	/* obj = QPN: responder refused an invalid request */
	ORNIC_EVENT_QP_REQ_ERR		= 3,
	ORNIC_EVENT_QP_ACCESS_ERR	= 4,	/* obj = QPN: responder refused an access */
	ORNIC_EVENT_COMM_EST		= 5,	/* obj = QPN: first packet in state RTR */
	ORNIC_EVENT_SQ_DRAINED		= 6,	/* obj = QPN: SQD reached, if asked for */
	ORNIC_EVENT_LAST_WQE		= 7,	/* obj = QPN: takes no more WQEs from an SRQ */
	ORNIC_EVENT_DEVICE_FATAL	= 8,	/* obj = 0: the device broke */
	ORNIC_EVENT_SRQ_LIMIT		= 9,	/* obj = SRQN: fewer WQEs than the limit */
	ORNIC_EVENT_SRQ_ERR		= 10,	/* obj = SRQN: bad producer in its record */
	ORNIC_EVENT_PAGE_FAULT		= 11,	/* obj = QPN: TAKE_FAULT tells more */
	ORNIC_EVENT_PKEY_CHANGE		= 12,	/* obj = 0: the P_Key table */
};

/* Event queue entry, 16 bytes; phase as in a CQE. */
struct ornic_eqe {
	__le32 obj;			/* CQN, QPN or SRQN */
	__u8 type;			/* enum ornic_eqe_type */
	__u8 vector;			/* of the CQ; or enum ornic_fault_queue; else 0 */
	__u8 reserved[9];
	__u8 flags;			/* bit 0: phase */
};

/* clang-format on */

#endif /* ORNIC_HW_QUEUE_H */
