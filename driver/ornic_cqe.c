// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CQEs -> completions of verbs. Pure. */
#include "ornic_cqe.h"

#include <rdma/ib_user_verbs.h>

static const u8 send_opcodes[] = {
	[ORNIC_CQE_SEND] = IB_UVERBS_WC_SEND,
	[ORNIC_CQE_WRITE] = IB_UVERBS_WC_RDMA_WRITE,
	[ORNIC_CQE_READ] = IB_UVERBS_WC_RDMA_READ,
	[ORNIC_CQE_CAS] = IB_UVERBS_WC_COMP_SWAP,
	[ORNIC_CQE_FAA] = IB_UVERBS_WC_FETCH_ADD,
	[ORNIC_CQE_BIND_MW] = IB_UVERBS_WC_BIND_MW,
	[ORNIC_CQE_LOCAL_INV] = IB_UVERBS_WC_LOCAL_INV,
	[ORNIC_CQE_REG_MR] = ORNIC_WC_REG_MR,
	[ORNIC_CQE_ATOMIC_WRITE] = ORNIC_VERBS_WC_ATOMIC_WRITE,
	[ORNIC_CQE_FLUSH] = ORNIC_VERBS_WC_FLUSH,
};

/* Verbs have receive opcodes from bit 7 on, as the device does. */
#define WC_RECV 0x80
#define WC_RECV_RDMA_WITH_IMM 0x81

static u8 wc_opcode(u8 opcode)
{
	if (opcode & ORNIC_CQE_IS_RECV)
		return opcode == ORNIC_CQE_RECV_WRITE_IMM ?
			       WC_RECV_RDMA_WITH_IMM :
			       WC_RECV;
	return opcode < ARRAY_SIZE(send_opcodes) ? send_opcodes[opcode] :
						   IB_UVERBS_WC_SEND;
}

/**
 * ornic_unpack_cqe - read a CQE
 * @cqe: that the device has written
 * @comp: filled in
 *
 * Context: any.
 */
void ornic_unpack_cqe(const struct ornic_cqe *cqe,
		      struct ornic_completion *comp)
{
	comp->wr_id = le64_to_cpu(cqe->wr_id);
	comp->wqe_index = le32_to_cpu(cqe->wqe_index);
	comp->qpn = le32_to_cpu(cqe->qpn);
	comp->byte_len = le32_to_cpu(cqe->byte_len);
	comp->imm = cqe->imm;
	comp->opcode = wc_opcode(cqe->opcode);
	comp->status = cqe->status;
	comp->vendor_err = cqe->vendor_err;
	comp->is_recv = cqe->opcode & ORNIC_CQE_IS_RECV;
	comp->has_imm = cqe->flags & ORNIC_CQE_WITH_IMM;
	comp->has_inv = cqe->flags & ORNIC_CQE_WITH_INV;
	comp->has_grh = cqe->flags & ORNIC_CQE_GRH;
	comp->ipv4 = cqe->flags & ORNIC_CQE_IPV4;
	comp->src_qpn = le32_to_cpu(cqe->src_qpn);
	memcpy(comp->smac, cqe->smac, sizeof(comp->smac));
	comp->vlan = le16_to_cpu(cqe->vlan);
	comp->sl = cqe->sl;
}

ORNIC_FOR_KUNIT(ornic_unpack_cqe);
