// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * INSPECT: the state of an object at this moment. The response is for humans,
 * so the host's side of a record goes into it unchecked.
 */
#include "frmr.h"
#include "proto.h"

static u8 qp_flags(const struct ornic_qp *qp)
{
	u8 flags = 0;

	if (qp->sq.wait == ORNIC_WAIT_RNR)
		flags |= ORNIC_IQP_RNR_WAIT;
	if (qp->sq.deadline)
		flags |= ORNIC_IQP_TIMER;
	if (qp->sq.draining)
		flags |= ORNIC_IQP_DRAINING;
	if (qp->sq.broken)
		flags |= ORNIC_IQP_SQ_BROKEN;
	if (qp->rq.broken)
		flags |= ORNIC_IQP_RQ_BROKEN;
	if (qp->rq.nak_sent)
		flags |= ORNIC_IQP_NAK_SENT;
	if (qp->has_ece)
		flags |= ORNIC_IQP_ECE;
	if (qp->sq.selective == ORNIC_SELECTIVE_YES ||
	    ornic_selective_lacks_all(qp->sq.selective))
		flags |= ORNIC_IQP_SELECTIVE;
	return flags;
}

static void fill_sq(const struct ornic_sq *sq, struct ornic_rsp_inspect_qp *r)
{
	r->sq_psn = cpu_to_le32(sq->psn);
	r->sq_acked = cpu_to_le32(sq->acked);
	r->sq_window = cpu_to_le32(sq->window);
	r->sq_reads = cpu_to_le32(sq->rd_out);
	if (sq->depth)
		r->sq_producer = READ_ONCE(sq->record->producer);
	r->sq_sent = cpu_to_le32(sq->cur);
	r->sq_done = cpu_to_le32(sq->tail);
	r->retry_left = sq->retry.left;
	r->rnr_left = sq->retry.rnr_left;
}

static void fill_rq(const struct ornic_rq *rq, struct ornic_rsp_inspect_qp *r)
{
	r->rq_psn = cpu_to_le32(rq->epsn);
	r->rq_msn = cpu_to_le32(rq->msn);
	if (rq->depth)
		r->rq_producer = READ_ONCE(rq->record->producer);
	r->rq_taken = cpu_to_le32(rq->fetched);
}

static int inspect_qp(struct ornic_dev *dev, u32 qpn, union ornic_rsp *rsp)
{
	struct ornic_rsp_inspect_qp *r = &rsp->inspect_qp;
	struct ornic_qp *qp = ornic_qp_lookup(dev, qpn);

	if (!qp)
		return ORNIC_NOT_FOUND;
	ornic_lock(&qp->sq.lock);
	ornic_lock(&qp->rq.lock);
	fill_sq(&qp->sq, r);
	fill_rq(&qp->rq, r);
	r->counters = cpu_to_le32(qp->csetn);
	r->ece = cpu_to_le32(qp->ece);
	r->state = qp->state;
	r->flags = qp_flags(qp);
	ornic_unlock(&qp->rq.lock);
	ornic_unlock(&qp->sq.lock);
	return ORNIC_OK;
}

static int inspect_cq(struct ornic_dev *dev, u32 cqn, union ornic_rsp *rsp)
{
	struct ornic_rsp_inspect_cq *r = &rsp->inspect_cq;
	struct ornic_cq *cq;
	u32 arm;

	cq = ornic_table_lookup(&dev->cqs, cqn);
	if (!cq)
		return ORNIC_NOT_FOUND;
	ornic_lock(&cq->lock);
	arm = le32_to_cpu(READ_ONCE(cq->mem.record->arm));
	r->producer = cpu_to_le32(cq->producer);
	r->consumer = READ_ONCE(cq->mem.record->consumer);
	if (arm != cq->fired)
		r->armed = arm & ORNIC_ARM_MODE_MASK;
	r->overflow = cq->overflow;
	r->count = cpu_to_le16(cq->count);
	r->period = cpu_to_le16(cq->period);
	r->pending = cpu_to_le32(cq->pending);
	ornic_unlock(&cq->lock);
	r->users = cpu_to_le32(ornic_atomic_read(&cq->users));
	r->vector = cq->vector;
	return ORNIC_OK;
}

static int fill_mkey(const struct ornic_mkey *m, u32 key,
		     struct ornic_rsp_inspect_mkey *r)
{
	if (m->key != key)
		return ORNIC_NOT_FOUND;
	r->iova = cpu_to_le64(m->iova);
	r->length = cpu_to_le64(m->length);
	r->pdn = cpu_to_le32(m->pdn);
	r->windows = cpu_to_le32(max_t(int, ornic_atomic_read(&m->windows), 0));
	r->access = m->access;
	if (m->dev)
		r->flags = ornic_mkey_is_dm(m) ? ORNIC_MKEY_DM : ORNIC_MKEY_DMA;
	else if (m->odp)
		r->flags = ORNIC_MKEY_ODP;
	else if (m->frmr && m->frmr->seg)
		r->flags = ORNIC_MKEY_SG_GAPS;
	return ORNIC_OK;
}

static int inspect_mkey(struct ornic_dev *dev, u32 key, union ornic_rsp *rsp)
{
	struct ornic_mkey *m = ornic_mkey_lookup(dev, key);
	int status;

	if (!m || m->window)
		return ORNIC_NOT_FOUND;
	if (!m->frmr)
		return fill_mkey(m, key, &rsp->inspect_mkey);
	ornic_lock(&m->frmr->lock);
	status = fill_mkey(m, key, &rsp->inspect_mkey);
	ornic_unlock(&m->frmr->lock);
	return status;
}

int ornic_inspect(struct ornic_dev *dev, const union ornic_req *req,
		  union ornic_rsp *rsp)
{
	u32 obj = le32_to_cpu(req->hdr.obj);
	int status = ORNIC_BAD_PARAM;

	ornic_rcu_read_lock();
	switch (req->hdr.param) {
	case ORNIC_INSPECT_QP:
		status = inspect_qp(dev, obj, rsp);
		break;
	case ORNIC_INSPECT_CQ:
		status = inspect_cq(dev, obj, rsp);
		break;
	case ORNIC_INSPECT_MKEY:
		status = inspect_mkey(dev, obj, rsp);
		break;
	}
	ornic_rcu_read_unlock();
	return status;
}
