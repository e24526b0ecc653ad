/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_WQE_H
#define ORNIC_WQE_H

#include "ornic_pure.h"

#include <rdma/ornic-hw.h>

/**
 * struct ornic_send_work - a send work request without its data
 * @opcode: enum ib_uverbs_wr_opcode
 * @qp_type: enum ornic_qp_type
 * @flags: enum ornic_wqe_flags: SIGNALED, SOLICITED, FENCE and INLINE
 * @wr_id: returned in the completion
 * @imm: immediate data in wire order
 * @raddr: remote address
 * @rkey: of @raddr
 * @swap_add: CAS: new value; FAA: addend
 * @compare: CAS
 * @flush_length: FLUSH: bytes
 * @flush_level: FLUSH: enum ornic_flush_level; its type is GLOBAL
 * @dest_qpn: UD
 * @dest_qkey: UD
 * @av: UD: where to
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
