// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive WQEs: taken from the RQ or an SRQ for a message, and completed.
 */
#include "proto.h"

bool ornic_recv_take(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;

	if (!rq->srq)
		return ornic_rq_fetch(qp);
	if (!ornic_srq_take(ctx, rq->srq, &rq->rwqe))
		return false;
	ornic_qp_stat_inc(qp, ORNIC_STAT_RECV_WQES);
	return true;
}

void ornic_recv_push(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_cqe *cqe, bool solicited)
{
	struct ornic_srq *srq = qp->rq.srq;
	struct ornic_rwqe *rw = &qp->rq.rwqe;
	/* What comes from an XRC SRQ completes to its own CQ, IBTA A14.2. */
	struct ornic_cq *cq = srq && srq->cq ? srq->cq : qp->rq.cq;

	cqe->wr_id = cpu_to_le64(rw->wr_id);
	cqe->wqe_index = cpu_to_le32(rw->index);
	cqe->qpn = cpu_to_le32(qp->qpn);
	ornic_trace(qp, ORNIC_TRACE_COMPLETION,
		    (u32)cqe->status << 8 | cqe->opcode, rw->index,
		    le32_to_cpu(cqe->byte_len));
	if (ornic_cq_push(ctx, cq, cqe,
			  solicited || cqe->status != ORNIC_CQE_SUCCESS))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CQES);
}

void ornic_recv_cqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    struct ornic_cqe *cqe, bool solicited)
{
	ornic_recv_push(ctx, qp, cqe, solicited);
	qp->rq.rwqe.valid = false;
	if (unlikely(qp->cntr_ops))
		ornic_comp_cntr_recv(qp, cqe->status);
}

/* Which kind of header the 40 bytes before the data of a datagram are. */
static u8 header_flag(const struct ornic_inreq *r)
{
	if (!r->ipv6)
		return ORNIC_CQE_IPV4;
	return ornic_ip_is_grh(r->ip, true) ? ORNIC_CQE_ROCE_V1 : 0;
}

/* What a UD receive is told of the frame, or of what would have been one. */
static noinline void describe_frame(struct ornic_cqe *cqe,
				    const struct ornic_inreq *r)
{
	const struct ornic_path *path = r->path;

	cqe->flags |= ORNIC_CQE_GRH | header_flag(r);
	cqe->sgid_index = r->sgid_index;
	cqe->pkey_index = r->pkey_index;
	if (r->pkt) {
		memcpy(cqe->smac, r->pkt->rx->smac, sizeof(cqe->smac));
		cqe->vlan = cpu_to_le16(r->pkt->rx->vlan);
		cqe->sl = r->pkt->rx->sl;
		return;
	}
	memcpy(cqe->smac, path->hdr + 6, sizeof(cqe->smac));
	cqe->vlan = cpu_to_le16(path->vlan);
	/* The priority travels in the VLAN tag. */
	if (path->vlan != ORNIC_VLAN_NONE)
		cqe->sl = path->av.sl;
}

void ornic_recv_done(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_inreq *r, u8 opcode, u32 bytes)
{
	struct ornic_cqe cqe = {
		.byte_len = cpu_to_le32(bytes),
		.opcode = opcode,
		.src_qpn = cpu_to_le32(r->src_qpn),
		.vlan = cpu_to_le16(ORNIC_VLAN_NONE),
	};

	if (r->flags & ORNIC_OPF_IMM) {
		cqe.imm = r->imm;
		cqe.flags |= ORNIC_CQE_WITH_IMM;
	}
	if (r->flags & ORNIC_OPF_INV) {
		cqe.imm = r->imm;
		cqe.flags |= ORNIC_CQE_WITH_INV;
	}
	if (r->solicited)
		cqe.flags |= ORNIC_CQE_SOLICITED_EVENT;
	if (qp->type == ORNIC_QPT_UD)
		describe_frame(&cqe, r);
	else if (unlikely(qp->tm) && opcode == ORNIC_CQE_RECV)
		ornic_tm_describe(qp->tm, &cqe);
	ornic_recv_cqe(ctx, qp, &cqe, r->solicited);
}

void ornic_recv_fail(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     enum ornic_cqe_status status, enum ornic_vendor_err verr)
{
	struct ornic_cqe cqe = {
		.opcode = qp->rq.rwqe.tagged ? ORNIC_CQE_TM_RECV :
					       ORNIC_CQE_RECV,
		.status = status,
		.vendor_err = verr,
		.vlan = cpu_to_le16(ORNIC_VLAN_NONE),
	};

	ornic_srq_uncount(qp->rq.srq, &qp->rq.rwqe);
	ornic_recv_cqe(ctx, qp, &cqe, true);
}

/*
 * IBTA 10.3.1: the WQEs of an SRQ stay for other QPs. This QP completes the
 * one that it has taken, and reports that it takes no more.
 */
static void flush_shared(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;

	if (rq->rwqe.valid)
		ornic_recv_fail(ctx, qp, ORNIC_CQE_WR_FLUSH_ERR,
				ORNIC_VERR_FLUSH);
	if (rq->last_wqe)
		return;
	rq->last_wqe = true;
	ornic_ctx_event(ctx, ORNIC_EVENT_LAST_WQE, qp->qpn, 0);
}

void ornic_rq_flush(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	u32 n;

	WRITE_ONCE(rq->rd_head, rq->rd_tail);
	WRITE_ONCE(rq->ack_due, false);
	ornic_backoff_reset(&rq->backoff);
	ornic_reorder_forget(qp);
	ornic_hold_forget(qp);
	ornic_fault_forget(&rq->fault);
	if (rq->srq || qp->type == ORNIC_QPT_XRC_TGT)
		flush_shared(ctx, qp);
	if (!rq->depth)
		return;
	for (n = 0; n <= rq->depth; n++) {
		if (!rq->rwqe.valid && !ornic_rq_fetch(qp)) {
			WRITE_ONCE(rq->record->kick_wanted, cpu_to_le32(1));
			/* Pairs with the host's barrier before it reads it. */
			smp_mb();
			if (!ornic_rq_fetch(qp))
				return;
		}
		ornic_recv_fail(ctx, qp, ORNIC_CQE_WR_FLUSH_ERR,
				ORNIC_VERR_FLUSH);
	}
	ornic_qp_resched(qp);
}
