// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Datagrams: the part of the requester that UD QPs have to themselves. Each goes to
 * an address of its own, and is complete when it has left.
 */
#include "loop.h"
#include "proto.h"

/* Where a datagram goes: along its AH, or along the AV that it carries. */
static const struct ornic_path *datagram_path(struct ornic_qp *qp,
					      const struct ornic_swqe *sw,
					      struct ornic_path *own)
{
	struct ornic_ah *ah;

	if (sw->av)
		return ornic_path_resolve(qp->dev, own, sw->av) ? NULL : own;
	ah = ornic_table_lookup(&qp->dev->ahs, sw->ah);
	return ah && ah->pdn == qp->pdn ? &ah->path : NULL;
}

noinline enum ornic_step ornic_datagram_send(struct ornic_ctx *ctx,
					     struct ornic_qp *qp,
					     struct ornic_swqe *sw)
{
	u32 pkey = ornic_datagram_pkey(qp, sw);
	bool imm = sw->info->imm;
	struct ornic_txinfo info = {
		.opcode = ORNIC_UD |
			  (imm ? ORNIC_OP_SEND_ONLY_IMM : ORNIC_OP_SEND_ONLY),
		.solicited = sw->flags & ORNIC_WQE_SOLICITED,
		.pkey = (u16)pkey,
		.dest_qpn = sw->dest_qpn,
		.psn = qp->sq.psn,
		.src_qpn = qp->qpn,
		/* IBTA C10-15: bit 31 selects the QP's own Q_Key. */
		.qkey = sw->dest_qkey & 0x80000000u ? qp->qkey : sw->dest_qkey,
		.imm = sw->imm,
	};
	struct ornic_iov iov = { .frag = qp->sq.frag, .max = ORNIC_TX_FRAGS };
	const struct ornic_path *path;
	enum ornic_vendor_err verr;
	struct ornic_path own;

	if (unlikely(pkey == ORNIC_PKEY_NONE))
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_QP_OP_ERR,
				      ORNIC_VERR_PKEY);
	path = datagram_path(qp, sw, &own);
	if (!path)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_QP_OP_ERR,
				      ORNIC_VERR_AH);
	verr = ornic_swqe_map(qp, sw, 0, sw->length, &iov);
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      verr);
	sw->dest_qkey = info.qkey;
	if (path->loop)
		ornic_loop_datagram(ctx, qp, sw, path, &iov);
	else if (!sw->done &&
		 !ornic_tx_send(ctx, qp, &qp->sq.backoff, path, &info, &iov))
		return ORNIC_STEP_WAIT;
	sw->done = true;
	if (path->mcast && !ornic_loop_multicast(ctx, qp, sw, path, &iov))
		return ORNIC_STEP_DONE;
	ctx->budget -= sw->length + ORNIC_MSG_COST;
	ornic_req_advance(qp, sw, 1);
	ornic_comp_success(ctx, qp, sw);
	return ORNIC_STEP_DONE;
}
