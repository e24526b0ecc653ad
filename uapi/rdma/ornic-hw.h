/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The device interface of ornic: everything that a host (driver and provider)
 * and a device (soft device, PCI NIC) say to each other.
 *
 * Documentation/device-interface.rst explains it, with tables of fields made from
 * this header and those that it includes. ornic-layout.h asserts every size and
 * offset.
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
#include <rdma/ornic-hw-cmd.h>
#include <rdma/ornic-hw-flow.h>
#include <rdma/ornic-hw-odp.h>
#include <rdma/ornic-hw-port.h>
#include <rdma/ornic-hw-queue.h>
#include <rdma/ornic-hw-stats.h>

/* One table: names, values and remarks in columns. */
/* clang-format off */

#define ORNIC_HW_VERSION	1

/* Largest values that any device may report in ornic_rsp_query_device. */
#define ORNIC_MAX_SGE		32
#define ORNIC_MAX_INLINE	992
#define ORNIC_GID_TABLE_LEN	128

/* ---- Commands ---------------------------------------------------------------- */

/*
 * The high digit is the kind of object that a command is about; 8 is of the bus, see
 * ornic-hw-pci.h.
 */
enum ornic_opcode {
	ORNIC_CMD_QUERY_DEVICE		= 0x01,	/* returns capabilities and limits */
	ORNIC_CMD_QUERY_CLOCK		= 0x02,	/* returns the clock of CQE timestamps */
	ORNIC_CMD_SET_GID		= 0x03,	/* obj = index of the GID table */
	ORNIC_CMD_SET_PORT		= 0x04,	/* MTU and link state */
	ORNIC_CMD_INSPECT		= 0x05,	/* state of the object obj of kind param */
	ORNIC_CMD_QUERY_PKEY		= 0x06,	/* obj = index of the P_Key table */
	ORNIC_CMD_CREATE_CQ		= 0x10,
	ORNIC_CMD_DESTROY_CQ		= 0x11,	/* obj = CQN; BUSY while a QP completes to it */
	ORNIC_CMD_MODIFY_CQ		= 0x12,	/* obj = CQN; event moderation */
	ORNIC_CMD_RESIZE_CQ		= 0x13,	/* obj = CQN */
	ORNIC_CMD_CREATE_QP		= 0x20,
	ORNIC_CMD_DESTROY_QP		= 0x21,	/* obj = QPN, in any state; BUSY with flows */
	ORNIC_CMD_MODIFY_QP		= 0x22,	/* obj = QPN */
	ORNIC_CMD_QUERY_QP		= 0x23,	/* obj = QPN; returns the layout of MODIFY_QP */
	ORNIC_CMD_ATTACH_MCAST		= 0x24,	/* obj = QPN */
	ORNIC_CMD_DETACH_MCAST		= 0x25,	/* obj = QPN */
	ORNIC_CMD_TAKE_FAULT		= 0x26,	/* obj = QPN; returns pages that it waits for */
	ORNIC_CMD_END_FAULT		= 0x27,	/* obj = QPN; it waits no more */
	ORNIC_CMD_SET_RSS		= 0x28,	/* obj = QPN */
	ORNIC_CMD_CREATE_MKEY		= 0x30,
	ORNIC_CMD_DESTROY_MKEY		= 0x31,	/* obj = the key; BUSY while a window is bound */
	ORNIC_CMD_MODIFY_MKEY		= 0x32,	/* obj = the key */
	ORNIC_CMD_CREATE_MW		= 0x33,	/* an unbound memory window */
	ORNIC_CMD_DESTROY_MW		= 0x34,	/* obj = its key */
	ORNIC_CMD_SET_PAGES		= 0x35,	/* obj = key of an ODP MR */
	ORNIC_CMD_CLEAR_PAGES		= 0x36,	/* obj = key of an ODP MR */
	ORNIC_CMD_CREATE_AH		= 0x40,
	ORNIC_CMD_DESTROY_AH		= 0x41,	/* obj = AH */
	ORNIC_CMD_CREATE_SRQ		= 0x50,
	ORNIC_CMD_DESTROY_SRQ		= 0x51,	/* obj = SRQN; BUSY while a QP takes from it */
	ORNIC_CMD_MODIFY_SRQ		= 0x52,	/* obj = SRQN; limit event */
	ORNIC_CMD_QUERY_SRQ		= 0x53,	/* obj = SRQN */
	ORNIC_CMD_RESIZE_SRQ		= 0x54,	/* obj = SRQN */
	ORNIC_CMD_QUERY_TAGS		= 0x55,	/* returns limits of SRQs that match tags */
	ORNIC_CMD_CREATE_COUNTERS	= 0x60,	/* a counter set */
	ORNIC_CMD_DESTROY_COUNTERS	= 0x61,	/* obj = its number; BUSY while a QP is bound */
	ORNIC_CMD_BIND_COUNTERS		= 0x62,	/* obj = QPN */
	ORNIC_CMD_QUERY_STATS		= 0x63,	/* copies counters to memory */
	ORNIC_CMD_MODIFY_STATS		= 0x64,	/* enables optional counters */
	ORNIC_CMD_CREATE_COMP_CNTR	= 0x70,	/* a completion counter */
	ORNIC_CMD_DESTROY_COMP_CNTR	= 0x71,	/* obj = its number; BUSY while a QP has it */
	ORNIC_CMD_MODIFY_COMP_CNTR	= 0x72,	/* obj = its number */
	ORNIC_CMD_ATTACH_COMP_CNTR	= 0x73,	/* obj = QPN */
	ORNIC_CMD_CREATE_FLOW		= 0x90,	/* a flow rule */
	ORNIC_CMD_DESTROY_FLOW		= 0x91,	/* obj = its number */
	ORNIC_CMD_END_RAW		= 0x92,	/* of all raw packet QPs and flow rules */
};

/* QUERY_DEVICE: no further arguments. */
enum ornic_device_caps {
	ORNIC_CAP_RC			= 1 << 0,	/* reliable connected QPs */
	ORNIC_CAP_UC			= 1 << 1,	/* unreliable connected QPs */
	ORNIC_CAP_UD			= 1 << 2,	/* unreliable datagram QPs */
	ORNIC_CAP_ATOMICS		= 1 << 3,	/* CAS and FAA */
	ORNIC_CAP_SRQ			= 1 << 4,	/* shared receive queues */
	ORNIC_CAP_RESIZE_CQ		= 1 << 5,
	ORNIC_CAP_MODIFY_MKEY		= 1 << 6,
	ORNIC_CAP_MW			= 1 << 7,	/* type 1 and 2B */
	/* What kernel users need: QP 1, AVs in WQEs, keys of all memory. */
	ORNIC_CAP_KERNEL		= 1 << 8,
	/* ORNIC_QP_FAST_REG, ORNIC_MKEY_FAST; READ_INV. */
	ORNIC_CAP_FAST_REG		= 1 << 9,
	ORNIC_CAP_XRC			= 1 << 10,	/* extended reliable connections */
	ORNIC_CAP_ATOMIC_WRITE		= 1 << 11,
	ORNIC_CAP_FLUSH			= 1 << 12,	/* ORNIC_FLUSH_GLOBAL */
	ORNIC_CAP_MCAST			= 1 << 13,	/* groups of UD QPs */
	ORNIC_CAP_COUNTERS		= 1 << 14,	/* counter sets, optional counters */
	ORNIC_CAP_MODERATION		= 1 << 15,	/* MODIFY_CQ */
	ORNIC_CAP_RESIZE_SRQ		= 1 << 16,
	ORNIC_CAP_INSPECT		= 1 << 17,
	ORNIC_CAP_QUERY_CLOCK		= 1 << 18,
	ORNIC_CAP_COMP_CNTR		= 1 << 19,	/* completion counters */
	ORNIC_CAP_MKEY_OFFSET		= 1 << 20,	/* ORNIC_MKEY_OFFSET */
	ORNIC_CAP_NULL_KEY		= 1 << 21,	/* ORNIC_NULL_LKEY */
	ORNIC_CAP_RAW			= 1 << 22,	/* raw packet QPs and flow rules */
	ORNIC_CAP_TM			= 1 << 23,	/* ORNIC_SRQ_TM, QPs of type TAGS */
	ORNIC_CAP_ROCE_V1		= 1 << 24,	/* ORNIC_GID_ROCE_V1 */
	ORNIC_CAP_ODP			= 1 << 25,	/* on-demand paging: ORNIC_MKEY_ODP */
	ORNIC_CAP_SG_GAPS		= 1 << 26,	/* ORNIC_MKEY_SG_GAPS */
	ORNIC_CAP_RSS			= 1 << 27,	/* SET_RSS; with ORNIC_CAP_RAW */
	ORNIC_CAP_DM			= 1 << 28,	/* device memory: ORNIC_MKEY_DM */
	ORNIC_CAP_PKEY			= 1 << 29,	/* QUERY_PKEY, ORNIC_QPM_PKEY */
	ORNIC_CAP_RATE_LIMIT		= 1 << 30,	/* ORNIC_QPM_RATE_LIMIT; with RAW */
};

/*
 * log_max_*: the numbers that objects may have. Number 0 is given to none, and
 * of the QPNs the first 16 are for the fabric (IBTA 3.5.10).
 */
#define ORNIC_RESERVED_QPNS	16

struct ornic_rsp_query_device {
	struct ornic_rsp_hdr hdr;
	__le64 caps;			/* enum ornic_device_caps */
	__le64 page_sizes;		/* bit n: MRs and queues may use pages of 2^n bytes */
	__le64 max_mr_size;		/* bytes */
	__u8 hw_version;		/* ORNIC_HW_VERSION */
	__u8 log_max_qp;		/* log2 of the number of QPs */
	__u8 log_max_cq;		/* of CQs */
	__u8 log_max_mkey;		/* of MRs and windows */
	__u8 log_max_ah;		/* of AHs */
	__u8 log_max_srq;		/* of SRQs; 0: none */
	__u8 log_max_wqe;		/* of WQEs per SQ, RQ or SRQ */
	__u8 log_max_cqe;		/* of CQEs per CQ */
	__u8 max_sge;			/* per WQE */
	__u8 max_rd_atomic;		/* initiator depth per QP */
	__u8 max_dest_rd_atomic;	/* responder resources per QP */
	__u8 num_vectors;		/* completion vectors */
	__le16 max_inline;		/* bytes */
	__le16 gid_table_len;		/* entries */
	__u8 mac[6];			/* Ethernet address */
	__u8 log_max_counters;		/* log2 of the counter sets */
	__u8 log_max_mcast;		/* of multicast groups */
	__u8 log_max_mcast_qps;		/* of QPs per group */
	__u8 log_max_comp_cntr;		/* of completion counters */
	__u8 log_max_flow;		/* of flow rules */
	__u8 pkey_table_len;		/* entries, with ORNIC_CAP_PKEY */
	__le32 ece_options;		/* ECE options that MODIFY_QP takes; 0: none */
};

/*
 * QUERY_STATS: the device writes min(@count, all it has) counters, __le64
 * each, in the order of enum ornic_stat, to the memory at @addr. hdr.obj = 0:
 * those of the device, else those of a counter set. An event is counted in one
 * place only: in the set of its QP, else in the device's own counters.
 */
struct ornic_req_query_stats {
	struct ornic_req_hdr hdr;	/* obj = 0: of the device; else of that counter set */
	__le64 addr;			/* DMA address that the counters are written to */
	__le32 count;			/* of them, at most */
	__u8 reserved[44];
};

/* MODIFY_STATS: counters that are not in @optional keep the value that they have. */
struct ornic_req_modify_stats {
	struct ornic_req_hdr hdr;
	/* bit n: optional counter n counts from now on; others are 0 */
	__le64 optional;
	__u8 reserved[48];
};

/*
 * CREATE_COUNTERS, DESTROY_COUNTERS: a counter set, all zero at first; the
 * header alone. Busy while QPs are bound to it.
 * BIND_COUNTERS: hdr.obj = QPN, in any state. What the QP counts goes to set
 * @counters from now on; 0: to the device's own counters.
 */
struct ornic_req_bind_counters {
	struct ornic_req_hdr hdr;	/* obj = QPN */
	__le32 counters;		/* set that the QP counts in, 0: none */
	__u8 reserved[52];
};

/*
 * CREATE_COMP_CNTR: a completion counter, all zero at first. @mem begins with
 * its struct ornic_comp_cntr_record, in one page. Busy while QPs have it.
 */
struct ornic_req_create_comp_cntr {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;		/* the record */
	__u8 reserved[40];
};

/*
 * MODIFY_COMP_CNTR: hdr.obj = number of the counter. The record has the new value
 * when the command is done.
 */
struct ornic_req_modify_comp_cntr {
	struct ornic_req_hdr hdr;	/* obj = number of the counter */
	__le64 value;
	__u8 entry;			/* enum ornic_cntr_entry */
	__u8 change;			/* enum ornic_cntr_change */
	__u8 reserved[46];
};

/*
 * ATTACH_COMP_CNTR: hdr.obj = QPN, in RESET or INIT. The counter counts what
 * @ops names of the QP, whether it has a CQE or not, until DESTROY_QP. A QP may
 * have several. ORNIC_BUSY if it has one for some of @ops.
 */
struct ornic_req_attach_comp_cntr {
	struct ornic_req_hdr hdr;	/* obj = QPN */
	__le32 cntr;			/* number of the counter */
	__u8 ops;			/* bit n: enum ornic_cntr_op n; not 0 */
	__u8 reserved[51];
};

/* CREATE_CQ: memory layout above. */
struct ornic_req_create_cq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;		/* record and ring */
	__u8 log_depth;			/* log2 of the CQEs */
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
	struct ornic_req_hdr hdr;	/* obj = CQN */
	struct ornic_mem mem;		/* as in CREATE_CQ */
	__u8 log_depth;			/* log2 of the CQEs */
	__u8 reserved[39];
};

/*
 * MODIFY_CQ: hdr.obj = CQN. The completion event of an armed CQ comes with the
 * @count-th CQE that would cause it, or @period us after the first of them. 0:
 * that condition does not count; both 0, or @count 1: with the first CQE, as
 * after CREATE_CQ. CQEs are visible at once in any case.
 */
struct ornic_req_modify_cq {
	struct ornic_req_hdr hdr;	/* obj = CQN */
	__le16 count;			/* CQEs that an event waits for, 0: any */
	__le16 period;			/* us after the first that it waits for at most */
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
	ORNIC_QPT_TAGS			= 7,	/* no verb's: changes the tag list of an SRQ */
	ORNIC_QPT_RAW			= 8,	/* raw packet: Ethernet frames */
	ORNIC_QPT_XRC_INI		= 9,	/* XRC initiator: sends */
	ORNIC_QPT_XRC_TGT		= 10,	/* XRC target: answers */
};

enum ornic_qp_flags {
	ORNIC_QP_SIG_ALL		= 1 << 0,	/* a CQE for each send WQE */
	ORNIC_QP_AV			= 1 << 1,	/* UD: WQEs may have ORNIC_WQE_AV */
	ORNIC_QP_GSI			= 1 << 2,	/* UD: becomes QP 1, IBTA 3.9.5 */
	/* RC: WQEs may name memory by DMA address (REG_MR). Never of a process. */
	ORNIC_QP_FAST_REG		= 1 << 3,
	ORNIC_QP_SRQ			= 1 << 4,	/* receives come from @srqn */
	ORNIC_QP_NO_SELF_MCAST		= 1 << 5,	/* UD: not what it sent itself */
};

/*
 * CREATE_QP. Strides are log2 of bytes; depths log2 of WQEs. has_sq / has_rq
 * say whether the ring exists at all; with ORNIC_QP_SRQ there is no RQ. The
 * state is RESET afterwards. An XRC initiator has no RQ and no @recv_cqn; an
 * XRC target has no rings, CQs and PD, but an @xrcdn: it takes from the XRC
 * SRQs of that domain, completes to their CQs, and lets a peer use the keys of
 * their PDs, as each request says. One of type TAGS has an SQ only, for changes
 * of the tag list of @srqn; it is in RTS. RC QPs of that SRQ have no SQ, but its PD.
 */
struct ornic_req_create_qp {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;		/* records and rings */
	__le32 pdn;			/* protection domain, a number of the host's */
	__le32 send_cqn;		/* CQ of the SQ */
	__le32 recv_cqn;		/* CQ of the RQ */
	__u8 qp_type;			/* enum ornic_qp_type */
	__u8 flags;			/* enum ornic_qp_flags */
	__u8 has_sq;			/* 0: no SQ */
	__u8 has_rq;			/* 0: no RQ */
	__u8 sq_log_depth;		/* log2 of the WQEs */
	__u8 sq_log_stride;		/* log2 of the bytes of a WQE, 6 to 10 */
	__u8 rq_log_depth;		/* log2 of the WQEs */
	__u8 rq_log_stride;		/* log2 of the bytes of a WQE, 5 to 10 */
	__u8 sq_max_sge;		/* SGEs of a send WQE */
	__u8 rq_max_sge;		/* SGEs of a receive WQE */
	__le16 max_inline;		/* inline bytes of a send WQE */
	__le32 srqn;			/* with ORNIC_QP_SRQ; TAGS */
	__le32 xrcdn;			/* XRC target: its domain */
	__u8 reserved[8];
};

/* Values of enum ib_qp_state. */
enum ornic_qp_state {
	ORNIC_QPS_RESET			= 0,
	ORNIC_QPS_INIT			= 1,
	ORNIC_QPS_RTR			= 2,	/* ready to receive */
	ORNIC_QPS_RTS			= 3,	/* ready to send */
	ORNIC_QPS_SQD			= 4,	/* SQ drained, or draining */
	ORNIC_QPS_SQE			= 5,	/* SQ in error */
	ORNIC_QPS_ERR			= 6,
};

/**
 * struct ornic_av - address vector
 * @dgid: destination GID; of RoCE v2, ::ffff:a.b.c.d means IPv4
 * @dmac: next hop
 * @udp_sport: of RoCE v2: UDP source port, 0xc000 to 0xffff
 * @flow_label: 20 bits; the others are ignored
 * @sgid_index: source, an entry set by SET_GID
 * @tclass: of RoCE v2: DSCP and ECN bits
 * @hop_limit: TTL; 0 means 64, and 1 for a multicast group
 * @sl: service level, 3 bits; the PCP of a tagged frame
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
	ORNIC_QPM_SQD_NOTIFY		= 1 << 15,	/* event when drained */
	ORNIC_QPM_ECE			= 1 << 16,	/* RC, XRC: until RTS */
	ORNIC_QPM_PKEY			= 1 << 17,	/* else 0 from RESET on */
	ORNIC_QPM_RATE_LIMIT		= 1 << 18,	/* raw packet: with RTS and in it */
};

#define ORNIC_QPM_ALL		0x7ffff

/*
 * Rate limits of raw packet QPs, kbit/s. What counts is a frame without FCS. A QP that
 * has sent less than it might sends up to its burst at once. A frame that is longer than
 * the burst goes alone.
 */
#define ORNIC_RATE_LIMIT_MIN	1
#define ORNIC_RATE_LIMIT_MAX	400000000
#define ORNIC_RATE_BURST	65536	/* bytes, of a QP for which none is set */

/*
 * Options that both ends of a connection have to have (Enhanced Connection
 * Establishment). The hosts exchange their offers and agree on the bits that are in
 * both, in the lower version; on 0 if there are none. Until MODIFY_QP sets options,
 * the devices find out by themselves.
 */
enum ornic_ece {
	ORNIC_ECE_SELECTIVE		= 1 << 0,	/* selective repeat */
};

#define ORNIC_ECE_VERSION_SHIFT	28	/* what the bits below mean; 1 or more */

/*
 * Access rights of MRs and QPs. The values are those of enum ib_access_flags,
 * except for the last: its bit there does not fit into 8. Bits 5 and 6 are
 * ZERO_BASED and ON_DEMAND there, which no device may take for something else.
 */
enum ornic_access {
	ORNIC_ACCESS_LOCAL_WRITE	= 1 << 0,	/* receives, READs and atomics may write */
	ORNIC_ACCESS_REMOTE_WRITE	= 1 << 1,	/* the peer may WRITE */
	ORNIC_ACCESS_REMOTE_READ	= 1 << 2,	/* the peer may READ */
	ORNIC_ACCESS_REMOTE_ATOMIC	= 1 << 3,	/* the peer may CAS, FAA and ATOMIC_WRITE */
	ORNIC_ACCESS_MW_BIND		= 1 << 4,	/* MRs only: windows may be bound to it */
	ORNIC_ACCESS_FLUSH_GLOBAL	= 1 << 7,	/* the peer may FLUSH */
};

/*
 * The null key: as lkey of any PD, for any address, it reads as zeroes, and what
 * is written there is lost. No key of CREATE_MKEY has index 0.
 */
#define ORNIC_NULL_LKEY		0xff

#define ORNIC_ACCESS_MASK	0x8f
#define ORNIC_ACCESS_MR_MASK	0x9f

/* hdr.param of MODIFY_QP: retry_cnt | rnr_retry << 3 | sqd_notify << 6. */
#define ORNIC_MODIFY_RETRY_SHIFT	0
#define ORNIC_MODIFY_RNR_SHIFT		3
#define ORNIC_MODIFY_SQD_NOTIFY		(1 << 6)
/* In dest_qpn_mtu */
#define ORNIC_MODIFY_PKEY_SHIFT		27

/*
 * MODIFY_QP: hdr.obj = QPN. The device enforces the state table of IBTA
 * 10.3.1 and refuses the whole command on any bad value.
 */
struct ornic_req_modify_qp {
	struct ornic_req_hdr hdr;	/* obj = QPN; param: ORNIC_MODIFY_* */
	__le32 mask;			/* enum ornic_qp_mask */
	/* 23:0 rq_psn, 28:24 min_rnr_timer; raw packet: burst in bytes, 0: ORNIC_RATE_BURST */
	__le32 rq_psn_rnr;
	__le32 sq_psn_timeout;		/* 23:0 sq_psn, 28:24 ACK timeout */
	/* 23:0 dest_qpn, 26:24 enum ib_mtu, 31:27 index of the P_Key */
	__le32 dest_qpn_mtu;
	/* UD: Q_Key; RC, XRC: ECE options; raw packet: rate limit in kbit/s, 0: none */
	__le32 qkey_ece;
	struct ornic_av av;
	__u8 state;			/* 3:0 new, 7:4 current */
	__u8 access;			/* enum ornic_access */
	__u8 max_rd_atomic;		/* READs and atomics out at a time */
	__u8 max_dest_rd_atomic;	/* answered at a time */
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
	__u8 sq_draining;		/* SQD, and not drained yet */
	__u8 reserved;
	__le32 rq_psn_rnr;		/* as in MODIFY_QP; rq_psn: the next PSN expected */
	__le32 sq_psn_timeout;		/* sq_psn: the next PSN to be sent */
	__le32 dest_qpn_mtu;		/* as in MODIFY_QP */
	__le32 qkey_ece;		/* as in MODIFY_QP */
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
	__le64 iova;			/* address of its first byte, as WQEs and peers know it */
	__le64 length;			/* bytes; iova + length must not wrap */
	__le32 pdn;			/* protection domain */
	__u8 access;			/* enum ornic_access */
	__u8 flags;			/* enum ornic_mkey_flags */
	__u8 reserved[2];
	__le64 offset;			/* with OFFSET: of the first byte in mem */
	__u8 reserved2[8];
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
	struct ornic_req_hdr hdr;	/* obj = key */
	struct ornic_mem mem;		/* with MEM */
	__le64 iova;			/* with MEM */
	__le64 length;			/* with MEM */
	__le32 pdn;			/* with PD */
	__u8 access;			/* with ACCESS */
	__u8 mask;			/* enum ornic_mkey_mask */
	__u8 reserved[18];
};

enum ornic_mw_type {
	ORNIC_MW_TYPE_1			= 1,	/* bound by any QP of its PD */
	ORNIC_MW_TYPE_2			= 2,	/* 2B: bound to one QP */
};

/*
 * CREATE_MW: a window, unbound. The device makes up the key; BIND_MW replaces
 * its low byte. DESTROY_MW: hdr.obj = the key, whose low byte counts for
 * nothing.
 */
struct ornic_req_create_mw {
	struct ornic_req_hdr hdr;
	__le32 pdn;			/* protection domain */
	__u8 type;			/* enum ornic_mw_type */
	__u8 reserved[51];
};

/*
 * DMA and FAST are never given to a process. DMA: the key covers all DMA memory,
 * addresses are DMA addresses; mem, iova and length are 0. FAST: the key is free
 * until a REG_MR gives it memory, of at most mem.npages pages
 * (ORNIC_LIST_ENTRIES). All else of mem, iova, length and access are 0. OFFSET:
 * the first byte is byte @offset of mem, whatever iova is, and length may be 0.
 * ODP: see ornic-hw-odp.h. SG_GAPS: REG_MR names segments (struct
 * ornic_list_segment) instead of pages, of which mem.npages is the limit. It comes
 * with FAST. DM: mem is a run (levels 0) in the device's memory, whose first byte has
 * the address 0. It may come with OFFSET. Else at most one is set.
 */
enum ornic_mkey_flags {
	ORNIC_MKEY_DMA			= 1 << 0,	/* all DMA memory */
	ORNIC_MKEY_FAST			= 1 << 1,	/* for REG_MR */
	ORNIC_MKEY_OFFSET		= 1 << 2,	/* @offset counts */
	ORNIC_MKEY_ODP			= 1 << 3,	/* pages on demand */
	ORNIC_MKEY_SG_GAPS		= 1 << 4,	/* with FAST: for segments */
	ORNIC_MKEY_DM			= 1 << 5,	/* of device memory */
};

/* CREATE_AH; DESTROY_AH: hdr.obj = AH. */
struct ornic_req_create_ah {
	struct ornic_req_hdr hdr;
	struct ornic_av av;
	__le32 pdn;			/* protection domain */
	__u8 reserved[20];
};

/*
 * CREATE_SRQ: memory layout above; WQEs and strides are those of an RQ. Its
 * SGEs are looked up in @pdn, whatever the PD of the QP that takes them. With
 * ORNIC_SRQ_XRC it is for the XRC targets of the domain @xrcdn alone, a number of
 * the host's; with ORNIC_SRQ_TM it has a tag list. Both complete to @cqn.
 */
struct ornic_req_create_srq {
	struct ornic_req_hdr hdr;
	struct ornic_mem mem;		/* record and ring */
	__le32 pdn;			/* of the keys in its WQEs */
	__u8 log_depth;			/* log2 of the WQEs */
	__u8 log_stride;		/* log2 of the bytes of a WQE, 5 to 10 */
	__u8 max_sge;			/* of a WQE */
	__u8 flags;			/* enum ornic_srq_flags */
	__le32 xrcdn;			/* with XRC: its domain */
	__le32 cqn;			/* with XRC, TM: what its receives complete to */
	__le32 max_tags;		/* with TM: of the list, at least 1 */
	__u8 reserved[20];
};

enum ornic_srq_flags {
	ORNIC_SRQ_XRC			= 1 << 0,	/* for XRC targets of its domain */
	ORNIC_SRQ_TM			= 1 << 1,	/* matches tags */
};

/*
 * RESIZE_SRQ: hdr.obj = SRQN. The SRQ goes on in @mem, whose layout is that of
 * CREATE_SRQ with the old stride. The host posts nothing while the command
 * executes; messages may take WQEs. Those that wait then are the first of the
 * new ring, where both sides count from zero: the device writes @producer of
 * the new record this once. The old memory is the host's again with the
 * response. ORNIC_BAD_PARAM if they, or the limit, do not fit.
 */
struct ornic_req_resize_srq {
	struct ornic_req_hdr hdr;	/* obj = SRQN */
	struct ornic_mem mem;		/* as in CREATE_SRQ */
	__u8 log_depth;			/* log2 of the WQEs */
	__u8 reserved[39];
};

/*
 * MODIFY_SRQ: hdr.obj = SRQN. Arms the limit event, or disarms it with 0: it
 * is raised once, as soon as fewer than @limit WQEs wait in the ring; at once
 * if they do already.
 */
struct ornic_req_modify_srq {
	struct ornic_req_hdr hdr;	/* obj = SRQN */
	__le32 limit;			/* event below so many WQEs; at most the depth; 0: none */
	__u8 reserved[52];
};

/* QUERY_SRQ: hdr.obj = SRQN. */
struct ornic_rsp_query_srq {
	struct ornic_rsp_hdr hdr;
	__le32 limit;			/* 0: not armed, or fired */
	__le32 waiting;			/* WQEs that are posted and not taken */
	__u8 broken;			/* SRQ_ERR was raised */
	__u8 reserved[3];
	__le32 tags;			/* TM: tagged receives in the list */
	__le32 unexpected;		/* TM: unexpected messages so far */
	__u8 reserved2[36];
};

/* QUERY_TAGS, with ORNIC_CAP_TM: the header alone. */
struct ornic_rsp_query_tags {
	struct ornic_rsp_hdr hdr;
	__u8 log_max_tags;		/* log2 of the tagged receives per SRQ */
	__u8 max_sge;			/* of a tagged receive */
	__u8 reserved[54];
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
	struct ornic_req_hdr hdr;	/* obj = QPN */
	__u8 mgid[16];
	__u8 reserved[40];
};

#define ORNIC_MCAST_QPN		0xffffff	/* IBTA 10.5.2 */

struct ornic_req_create_flow {
	struct ornic_req_hdr hdr;
	struct ornic_flow_rule rule;
	__u8 reserved[40];
};

struct ornic_req_set_rss {
	struct ornic_req_hdr hdr;
	__le64 rss;			/* DMA address of a struct ornic_rss */
	__u8 reserved[48];
};

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
	ORNIC_IQP_RNR_WAIT		= 1 << 0,	/* waiting until the peer is ready */
	ORNIC_IQP_TIMER			= 1 << 1,	/* its timer runs */
	ORNIC_IQP_DRAINING		= 1 << 2,	/* on its way to SQD */
	ORNIC_IQP_SQ_BROKEN		= 1 << 3,	/* stopped: bad producer in its record */
	ORNIC_IQP_RQ_BROKEN		= 1 << 4,	/* stopped: bad producer in its record */
	ORNIC_IQP_NAK_SENT		= 1 << 5,	/* waiting for a request that was lost */
	ORNIC_IQP_ECE			= 1 << 6,	/* @ece was set */
	ORNIC_IQP_SELECTIVE		= 1 << 7,	/* repeats selectively */
};

/* INSPECT of a QP. */
struct ornic_rsp_inspect_qp {
	struct ornic_rsp_hdr hdr;
	__le32 sq_psn;			/* next PSN to send */
	__le32 sq_acked;		/* oldest PSN without a response */
	__le32 sq_window;		/* PSNs that may be in flight */
	__le32 sq_reads;		/* READs and atomics in flight */
	__le32 sq_producer;		/* WQEs posted */
	__le32 sq_sent;			/* of them executed, or on the wire */
	__le32 sq_done;			/* of them complete */
	__le32 rq_psn;			/* next PSN expected */
	__le32 rq_msn;			/* messages received */
	__le32 rq_producer;		/* WQEs posted */
	__le32 rq_taken;		/* of them taken */
	__le32 counters;		/* counter set, 0: none */
	__u8 state;			/* enum ornic_qp_state */
	__u8 flags;			/* enum ornic_inspect_qp_flags */
	__u8 retry_left;		/* of the retry counter */
	__u8 rnr_left;			/* of the RNR retry counter */
	__le32 ece;			/* ECE options */
};

/* INSPECT of a CQ. */
struct ornic_rsp_inspect_cq {
	struct ornic_rsp_hdr hdr;
	__le32 producer;		/* CQEs written */
	__le32 consumer;		/* CQEs consumed, as the host reports */
	__le32 users;			/* SQs and RQs that complete here */
	__u8 armed;			/* enum ornic_arm */
	__u8 overflow;			/* CQ_ERR was raised */
	__u8 vector;
	__u8 reserved;
	__le16 count;			/* of MODIFY_CQ, like @period */
	__le16 period;			/* of MODIFY_CQ */
	__le32 pending;			/* CQEs that its event waits for more of */
	__u8 reserved2[32];
};

/* INSPECT of an MR. */
struct ornic_rsp_inspect_mkey {
	struct ornic_rsp_hdr hdr;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__le32 windows;			/* memory windows bound to it */
	__u8 access;			/* enum ornic_access */
	__u8 flags;			/* enum ornic_mkey_flags */
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
	struct ornic_req_create_comp_cntr create_comp_cntr;
	struct ornic_req_modify_comp_cntr modify_comp_cntr;
	struct ornic_req_attach_comp_cntr attach_comp_cntr;
	struct ornic_req_create_flow create_flow;
	struct ornic_req_set_pages set_pages;
	struct ornic_req_clear_pages clear_pages;
	struct ornic_req_end_fault end_fault;
	struct ornic_req_set_rss set_rss;
	__u8 bytes[64];
};

union ornic_rsp {
	struct ornic_rsp_hdr hdr;
	struct ornic_rsp_query_device query_device;
	struct ornic_rsp_query_clock query_clock;
	struct ornic_rsp_query_pkey query_pkey;
	struct ornic_rsp_query_qp query_qp;
	struct ornic_rsp_query_srq query_srq;
	struct ornic_rsp_query_tags query_tags;
	struct ornic_rsp_inspect_qp inspect_qp;
	struct ornic_rsp_inspect_cq inspect_cq;
	struct ornic_rsp_inspect_mkey inspect_mkey;
	struct ornic_rsp_take_fault take_fault;
	__u8 bytes[64];
};

/* clang-format on */

#endif /* ORNIC_HW_H */
