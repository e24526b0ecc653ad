// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* XRC targets: the SRQ that each request names. */
#include "proto.h"

void ornic_xrc_find_srq(struct ornic_qp *qp, struct ornic_inreq *r)
{
	if (qp->type != ORNIC_QPT_XRC_TGT)
		return;
	r->srq = ornic_srq_xrc(qp->dev, r->srqn, qp->xrcdn);
	if (r->srq)
		qp->pdn = r->srq->pdn;
}

bool ornic_xrc_lacks_srq(const struct ornic_qp *qp, const struct ornic_inreq *r)
{
	return qp->type == ORNIC_QPT_XRC_TGT && !r->srq;
}

enum ornic_verdict ornic_xrc_bind_srq(struct ornic_qp *qp,
				      const struct ornic_inreq *r)
{
	struct ornic_rq *rq = &qp->rq;

	if (qp->type != ORNIC_QPT_XRC_TGT)
		return ORNIC_RESP_ACK;
	if (!r->srq)
		return ORNIC_RESP_NAK_INVALID;
	if (rq->srq != r->srq &&
	    (rq->rwqe.valid || !(r->flags & ORNIC_OPF_START)))
		return ORNIC_RESP_NAK_INVALID;
	if (READ_ONCE(r->srq->cq->overflow))
		return ORNIC_RESP_NAK_OP;
	rq->srq = r->srq;
	return ORNIC_RESP_ACK;
}
