// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* XRC targets: the SRQ that each request names. */
#include "proto.h"

/**
 * ornic_xrc_find_srq - look up the SRQ that a request names
 * @qp: QP; nothing happens if it is no XRC target
 * @r: request; its srq is set, NULL if there is no such SRQ in the domain
 *
 * The keys of the request are of that SRQ's PD (IBTA A14.3.2). So are those of
 * duplicates: it is looked up before anything else.
 *
 * Context: rq.lock held, inside an RCU section whose end is the end of r->srq.
 */
void ornic_xrc_find_srq(struct ornic_qp *qp, struct ornic_inreq *r)
{
	if (qp->type != ORNIC_QPT_XRC_TGT)
		return;
	r->srq = ornic_srq_xrc(qp->dev, r->srqn, qp->xrcdn);
	if (r->srq)
		qp->pdn = r->srq->pdn;
}

/**
 * ornic_xrc_lacks_srq - does a request name no SRQ, though it has to?
 * @qp: QP
 * @r: request, after ornic_xrc_find_srq()
 *
 * Context: rq.lock held.
 * Return: true for an XRC target without an SRQ of its domain.
 */
bool ornic_xrc_lacks_srq(const struct ornic_qp *qp, const struct ornic_inreq *r)
{
	return qp->type == ORNIC_QPT_XRC_TGT && !r->srq;
}

/**
 * ornic_xrc_bind_srq - take receive WQEs from the SRQ of a request
 * @qp: QP; true if it is no XRC target
 * @r: request, after ornic_xrc_find_srq()
 *
 * One message takes from one SRQ.
 *
 * Context: rq.lock held.
 * Return: false if it names none, or another one within a message.
 */
bool ornic_xrc_bind_srq(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	struct ornic_rq *rq = &qp->rq;

	if (qp->type != ORNIC_QPT_XRC_TGT)
		return true;
	if (!r->srq)
		return false;
	if (rq->srq != r->srq &&
	    (rq->rwqe.valid || !(r->flags & ORNIC_OPF_START)))
		return false;
	rq->srq = r->srq;
	return true;
}
