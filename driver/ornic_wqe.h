/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_WQE_H
#define ORNIC_WQE_H

#include "ornic_pure.h"

#include <rdma/ornic-hw.h>

/* IB_WR_REG_MR, which programs do not have and uapi does not name. */
#define ORNIC_WR_REG_MR 0x20

/**
 * struct ornic_send_work - a send work request without its data
 * @opcode: enum ib_uverbs_wr_opcode, or ORNIC_WR_REG_MR
 * @qp_type: enum ornic_qp_type
 * @flags: enum ornic_wqe_flags: SIGNALED, SOLICITED, FENCE and INLINE
 * @wr_id: returned in the completion
 * @imm: immediate data in wire order, or the key to invalidate, big endian
 * @raddr: remote address; REG_MR: address of the first byte
 * @rkey: of @raddr; REG_MR: the new key
 * @swap_add: CAS: new value; FAA: addend
 * @compare: CAS
 * @flush_length: FLUSH: bytes
 * @flush_level: FLUSH: enum ornic_flush_level; its type is GLOBAL
 * @dest_qpn: UD
 * @dest_qkey: UD
 * @av: UD: where to
 * @length: REG_MR: bytes
 * @list: REG_MR: DMA address of the page list
 * @npages: REG_MR: pages that it names
 * @page_shift: REG_MR: log2 of their bytes
 * @access: REG_MR: enum ornic_access
 */
struct ornic_send_work {
	u32 opcode;
	u8 qp_type;
	u8 flags;
	u64 wr_id;
	__be32 imm;
	u64 raddr;
	u32 rkey;
	u64 swap_add;
	u64 compare;
	u32 flush_length;
	u8 flush_level;
	u32 dest_qpn;
	u32 dest_qkey;
	const struct ornic_av *av;
	u64 length;
	u64 list;
	u32 npages;
	u8 page_shift;
	u8 access;
};

int ornic_pack_send(void *slot, const struct ornic_send_work *work);
void ornic_pack_payload(void *slot, u32 count);
void ornic_pack_recv(void *slot, u64 wr_id, u32 num_sge);

/**
 * ornic_pack_sge - write an SGE
 * @at: where to
 * @addr: first byte
 * @length: bytes
 * @lkey: key
 *
 * Context: any.
 */
static inline void ornic_pack_sge(struct ornic_sge *at, u64 addr, u32 length,
				  u32 lkey)
{
	at->addr = cpu_to_le64(addr);
	at->length = cpu_to_le32(length);
	at->lkey = cpu_to_le32(lkey);
}

/* IB_WC_REG_MR, which programs do not have and uapi does not name. */
#define ORNIC_WC_REG_MR 10

/**
 * struct ornic_completion - a CQE in host order, in the terms of verbs
 * @wr_id: of the work request
 * @wqe_index: free-running index of its WQE
 * @qpn: QP
 * @byte_len: bytes received or read
 * @imm: immediate data in wire order, if @has_imm; the key that the peer has
 *	invalidated, big endian, if @has_inv
 * @opcode: enum ib_wc_opcode
 * @status: enum ib_wc_status
 * @vendor_err: enum ornic_vendor_err
 * @is_recv: of a receive queue
 * @has_imm: see @imm
 * @has_inv: see @imm
 * @has_grh: 40 bytes precede the data; what follows is valid
 * @ipv4: the last 20 of them are an IPv4 header
 * @src_qpn: sender
 * @smac: its MAC address, zero if unknown
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 * @sl: service level
 */
struct ornic_completion {
	u64 wr_id;
	u32 wqe_index;
	u32 qpn;
	u32 byte_len;
	__be32 imm;
	u8 opcode;
	u8 status;
	u8 vendor_err;
	bool is_recv;
	bool has_imm;
	bool has_inv;
	bool has_grh;
	bool ipv4;
	u32 src_qpn;
	u8 smac[6];
	u16 vlan;
	u8 sl;
};

void ornic_unpack_cqe(const struct ornic_cqe *cqe,
		      struct ornic_completion *comp);

/**
 * ornic_phase_is_new - has the device written a slot in this pass of the ring?
 * @phase: bit of what is in the slot of @index
 * @index: free running
 * @log_depth: log2 of the slots
 *
 * Context: any.
 * Return: whether it has.
 */
static inline bool ornic_phase_is_new(bool phase, u32 index, u8 log_depth)
{
	bool odd_pass = index >> log_depth & 1;

	return phase != odd_pass;
}

/**
 * ornic_cqe_is_new - the same for a CQE, or an EQE
 * @flags: of the entry in the slot of @index
 * @index: free running
 * @log_depth: log2 of the entries
 *
 * Context: any.
 * Return: whether the device has written it.
 */
static inline bool ornic_cqe_is_new(u8 flags, u32 index, u8 log_depth)
{
	return ornic_phase_is_new(flags & ORNIC_CQE_PHASE, index, log_depth);
}

#endif /* ORNIC_WQE_H */
