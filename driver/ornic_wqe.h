/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_WQE_H
#define ORNIC_WQE_H

#include "ornic_pure.h"

#include <rdma/ornic-hw.h>

/* IB_WR_REG_MR, which programs do not have and uapi does not name. */
#define ORNIC_WR_REG_MR 0x20

/* A send work request without its data. */
struct ornic_send_work {
	u32 opcode; /* enum ib_uverbs_wr_opcode, or ORNIC_WR_REG_MR */
	u8 qp_type; /* enum ornic_qp_type */
	/* enum ornic_wqe_flags: SIGNALED, SOLICITED, FENCE and INLINE */
	u8 flags;
	u64 wr_id; /* returned in the completion */
	/* Immediate data in wire order, or the key to invalidate, big endian */
	__be32 imm;
	u64 raddr; /* remote address; REG_MR: address of the first byte */
	u32 rkey; /* of raddr; REG_MR: the new key */
	u64 swap_add; /* CAS: new value; FAA: addend */
	u64 compare; /* CAS */
	u32 flush_length; /* FLUSH: bytes */
	u8 flush_level; /* FLUSH: enum ornic_flush_level; its type is GLOBAL */
	u32 dest_qpn; /* UD */
	u32 dest_qkey; /* UD */
	u16 pkey_index; /* QP 1 */
	const struct ornic_av *av; /* UD: where to */
	u64 length; /* REG_MR: bytes */
	u64 list; /* REG_MR: DMA address of the page list */
	u32 npages; /* REG_MR: pages that it names */
	u8 page_shift; /* REG_MR: log2 of their bytes */
	u8 access; /* REG_MR: enum ornic_access */
};

int ornic_pack_send(void *slot, const struct ornic_send_work *work);
void ornic_pack_payload(void *slot, u32 count);
void ornic_pack_recv(void *slot, u64 wr_id, u32 num_sge);

static inline void ornic_pack_sge(struct ornic_sge *at, u64 addr, u32 length,
				  u32 lkey)
{
	at->addr = cpu_to_le64(addr);
	at->length = cpu_to_le32(length);
	at->lkey = cpu_to_le32(lkey);
}

/* IB_WC_REG_MR, which uapi does not name. Its value depends on the kernel. */
#define ORNIC_WC_REG_MR 10

/* A CQE in host order, in the terms of verbs. */
struct ornic_completion {
	u64 wr_id; /* of the work request */
	u32 wqe_index; /* free-running index of its WQE */
	u32 qpn;
	u32 byte_len; /* bytes received or read */
	/*
	 * Immediate data in wire order, if has_imm; the key that the peer has
	 * invalidated, big endian, if has_inv
	 */
	__be32 imm;
	u8 opcode; /* enum ib_wc_opcode */
	u8 status; /* enum ib_wc_status */
	u8 vendor_err; /* enum ornic_vendor_err */
	bool is_recv; /* of a receive queue */
	bool has_imm; /* see imm */
	bool has_inv; /* see imm */
	bool has_grh; /* 40 bytes precede the data; what follows is valid */
	bool ipv4; /* the last 20 of them are an IPv4 header */
	bool roce_v1; /* they are a GRH, of RoCE v1 */
	u32 src_qpn; /* sender */
	u8 smac[6]; /* its MAC address, zero if unknown */
	u16 vlan; /* VLAN id or ORNIC_VLAN_NONE */
	u8 sl;
	u8 pkey_index; /* entry of the P_Key table that the packet matched */
};

void ornic_unpack_cqe(const struct ornic_cqe *cqe,
		      struct ornic_completion *comp);

/*
 * Has the device written the slot of the free-running @index in this pass of
 * the ring? @phase is the bit in the slot.
 */
static inline bool ornic_phase_is_new(bool phase, u32 index, u8 log_depth)
{
	bool odd_pass = index >> log_depth & 1;

	return phase != odd_pass;
}

/* The same for the flags of a CQE or an EQE. */
static inline bool ornic_cqe_is_new(u8 flags, u32 index, u8 log_depth)
{
	return ornic_phase_is_new(flags & ORNIC_CQE_PHASE, index, log_depth);
}

#endif /* ORNIC_WQE_H */
