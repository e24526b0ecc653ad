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

#endif /* ORNIC_WQE_H */
