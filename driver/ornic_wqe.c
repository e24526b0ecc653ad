// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Work requests of kernel users -> WQEs, CQEs -> completions. Pure.
 *
 * A row for each opcode of verbs has its opcode on the device, the QP types
 * that support it, and the segments that follow the header.
 */
#include "ornic_wqe.h"

#include <rdma/ib_user_verbs.h>

#define T(type) (1u << (type))
#define RC T(ORNIC_QPT_RC)
#define UC T(ORNIC_QPT_UC)
#define UD T(ORNIC_QPT_UD)

enum trait {
	HAS_REMOTE = 1 << 0,
	HAS_ATOMIC = 1 << 1,
	MAY_INLINE = 1 << 2,
	HAS_REG = 1 << 3,
	HAS_FLUSH = 1 << 7,
};

/* clang-format off */
static const struct row {
	u8 opcode;
	u8 types;
	u8 traits;
} rows[] = {
	[IB_UVERBS_WR_RDMA_WRITE] = {
		ORNIC_WQE_WRITE, RC | UC, HAS_REMOTE | MAY_INLINE },
	[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM] = {
		ORNIC_WQE_WRITE_IMM, RC | UC, HAS_REMOTE | MAY_INLINE },
	[IB_UVERBS_WR_SEND] = {
		ORNIC_WQE_SEND, RC | UC | UD, MAY_INLINE },
	[IB_UVERBS_WR_SEND_WITH_IMM] = {
		ORNIC_WQE_SEND_IMM, RC | UC | UD, MAY_INLINE },
	[IB_UVERBS_WR_RDMA_READ] = {
		ORNIC_WQE_READ, RC, HAS_REMOTE },
	[IB_UVERBS_WR_ATOMIC_CMP_AND_SWP] = {
		ORNIC_WQE_CAS, RC, HAS_REMOTE | HAS_ATOMIC },
	[IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD] = {
		ORNIC_WQE_FAA, RC, HAS_REMOTE | HAS_ATOMIC },
	[IB_UVERBS_WR_LOCAL_INV] = {
		ORNIC_WQE_LOCAL_INV, RC | UC, 0 },
	[IB_UVERBS_WR_SEND_WITH_INV] = {
		ORNIC_WQE_SEND_INV, RC, MAY_INLINE },
	[IB_UVERBS_WR_RDMA_READ_WITH_INV] = {
		ORNIC_WQE_READ_INV, RC, HAS_REMOTE },
	[ORNIC_WR_REG_MR] = {
		ORNIC_WQE_REG_MR, RC, HAS_REMOTE | HAS_REG },
	[ORNIC_VERBS_WR_FLUSH] = {
		ORNIC_WQE_FLUSH, RC, HAS_REMOTE | HAS_FLUSH },
	[ORNIC_VERBS_WR_ATOMIC_WRITE] = {
		ORNIC_WQE_ATOMIC_WRITE, RC, HAS_REMOTE | MAY_INLINE },
};

/* clang-format on */

static u8 *put_remote(u8 *at, const struct ornic_send_work *work)
{
	struct ornic_seg_remote seg = {
		.raddr = cpu_to_le64(work->raddr),
		.rkey = cpu_to_le32(work->rkey),
	};

	memcpy(at, &seg, sizeof(seg));
	return at + sizeof(seg);
}

static u8 *put_atomic(u8 *at, const struct ornic_send_work *work)
{
	struct ornic_seg_atomic seg = {
		.swap_add = cpu_to_le64(work->swap_add),
		.compare = cpu_to_le64(work->compare),
	};

	memcpy(at, &seg, sizeof(seg));
	return at + sizeof(seg);
}

static u8 *put_reg(u8 *at, const struct ornic_send_work *work)
{
	struct ornic_seg_reg seg = {
		.length = cpu_to_le64(work->length),
		.list = cpu_to_le64(work->list),
		.npages = cpu_to_le32(work->npages),
		.page_shift = work->page_shift,
		.access = work->access,
	};

	memcpy(at, &seg, sizeof(seg));
	return at + sizeof(seg);
}

static u8 *put_flush(u8 *at, const struct ornic_send_work *work)
{
	struct ornic_seg_flush seg = {
		.length = cpu_to_le32(work->flush_length),
		.type = ORNIC_FLUSH_GLOBAL,
		.level = work->flush_level,
	};

	memcpy(at, &seg, sizeof(seg));
	return at + sizeof(seg);
}

static u8 *put_address(u8 *at, const struct ornic_send_work *work)
{
	struct ornic_seg_ud seg = {
		.dest_qpn = cpu_to_le32(work->dest_qpn),
		.dest_qkey = cpu_to_le32(work->dest_qkey),
		.pkey_index = cpu_to_le16(work->pkey_index),
	};

	memcpy(at, &seg, sizeof(seg));
	memcpy(at + sizeof(seg), work->av, sizeof(*work->av));
	return at + sizeof(seg) + sizeof(*work->av);
}

/*
 * Write header and segments of a send WQE into its slot. SGEs or inline bytes
 * follow at the returned offset; ornic_pack_payload() sets their number.
 * Returns -EINVAL for an opcode or flag that does not exist or that the QP type
 * does not have.
 */
int ornic_pack_send(void *slot, const struct ornic_send_work *work)
{
	struct ornic_sq_hdr hdr = {
		.flags = work->flags,
		.imm = work->imm,
		.wr_id = cpu_to_le64(work->wr_id),
	};
	u8 *at = (u8 *)slot + sizeof(hdr);
	const struct row *row;

	if (work->opcode >= ARRAY_SIZE(rows))
		return -EINVAL;
	row = &rows[work->opcode];
	if (!(row->types & T(work->qp_type)))
		return -EINVAL;
	if (work->flags & ORNIC_WQE_INLINE && !(row->traits & MAY_INLINE))
		return -EINVAL;

	hdr.opcode = row->opcode;
	if (row->traits & HAS_REMOTE)
		at = put_remote(at, work);
	if (row->traits & HAS_ATOMIC)
		at = put_atomic(at, work);
	if (row->traits & HAS_REG)
		at = put_reg(at, work);
	if (row->traits & HAS_FLUSH)
		at = put_flush(at, work);
	if (work->qp_type == ORNIC_QPT_UD) {
		if (!work->av)
			return -EINVAL;
		hdr.flags |= ORNIC_WQE_AV;
		at = put_address(at, work);
	}
	memcpy(slot, &hdr, sizeof(hdr));
	return at - (u8 *)slot;
}

ORNIC_FOR_KUNIT(ornic_pack_send);

/* @count is the number of SGEs, or of inline bytes. */
void ornic_pack_payload(void *slot, u32 count)
{
	struct ornic_sq_hdr *hdr = slot;

	hdr->payload = cpu_to_le16(count);
}

ORNIC_FOR_KUNIT(ornic_pack_payload);

/* Write the header of a receive WQE into its slot; SGEs follow it. */
void ornic_pack_recv(void *slot, u64 wr_id, u32 num_sge)
{
	struct ornic_rq_hdr hdr = {
		.wr_id = cpu_to_le64(wr_id),
		.num_sge = cpu_to_le16(num_sge),
	};

	memcpy(slot, &hdr, sizeof(hdr));
}

ORNIC_FOR_KUNIT(ornic_pack_recv);

/* ---- CQEs ---------------------------------------------------------------- */
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
	comp->roce_v1 = cqe->flags & ORNIC_CQE_ROCE_V1;
	comp->src_qpn = le32_to_cpu(cqe->src_qpn);
	memcpy(comp->smac, cqe->smac, sizeof(comp->smac));
	comp->vlan = le16_to_cpu(cqe->vlan);
	comp->sl = cqe->sl;
	comp->pkey_index = cqe->pkey_index;
}

ORNIC_FOR_KUNIT(ornic_unpack_cqe);
