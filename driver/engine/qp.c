// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CREATE_QP and DESTROY_QP. A QP can be found only when it is complete; it is
 * freed when no call into the engine can still see it.
 */
#include "proto.h"

#define SQ_MIN_LOG_STRIDE 6
#define SQ_MAX_LOG_STRIDE 10

/* Whether what a send WQE holds fits its slot shows when it is decoded. */
static bool sq_ok(u8 log_depth, u8 log_stride, u8 max_sge)
{
	return log_depth <= ORNIC_LOG_MAX_WQE &&
	       log_stride >= SQ_MIN_LOG_STRIDE &&
	       log_stride <= SQ_MAX_LOG_STRIDE && max_sge <= ORNIC_MAX_SGE;
}

static bool flags_ok(const struct ornic_req_create_qp *req)
{
	const u8 datagram = ORNIC_QP_AV | ORNIC_QP_GSI | ORNIC_QP_NO_SELF_MCAST;

	if (req->flags &
	    ~(ORNIC_QP_SIG_ALL | ORNIC_QP_SRQ | ORNIC_QP_FAST_REG | datagram))
		return false;
	if (req->flags & ORNIC_QP_FAST_REG && req->qp_type != ORNIC_QPT_RC)
		return false;
	if (req->flags & ORNIC_QP_SRQ && req->has_rq)
		return false;
	return !(req->flags & datagram) || req->qp_type == ORNIC_QPT_UD;
}

/* IBTA A14.2: an initiator receives nothing, a target has no queues at all. */
static bool type_ok(const struct ornic_req_create_qp *req)
{
	bool receives = req->has_rq || req->flags & ORNIC_QP_SRQ;

	switch (req->qp_type) {
	case ORNIC_QPT_RC:
	case ORNIC_QPT_UC:
	case ORNIC_QPT_UD:
	case ORNIC_QPT_RAW:
		return true;
	case ORNIC_QPT_XRC_INI:
		return !receives;
	case ORNIC_QPT_XRC_TGT:
		return !receives && !req->has_sq;
	case ORNIC_QPT_TAGS:
		return !receives && req->has_sq &&
		       req->sq_max_sge <= ORNIC_MAX_TAG_SGE;
	default:
		return false;
	}
}

static bool request_ok(const struct ornic_req_create_qp *req)
{
	if (!type_ok(req) || !flags_ok(req))
		return false;
	if (req->has_sq &&
	    !sq_ok(req->sq_log_depth, req->sq_log_stride, req->sq_max_sge))
		return false;
	if (req->has_rq &&
	    (req->rq_log_depth > ORNIC_LOG_MAX_WQE ||
	     !ornic_rwqe_fits(req->rq_log_stride, req->rq_max_sge)))
		return false;
	return le16_to_cpu(req->max_inline) <= ORNIC_MAX_INLINE;
}

static u64 ring_bytes(bool has, u8 log_depth, u8 log_stride)
{
	if (!has)
		return 0;
	return ALIGN(1ull << (log_depth + log_stride),
		     1ull << ORNIC_PAGE_SHIFT);
}

static int init_rings(struct ornic_qp *qp,
		      const struct ornic_req_create_qp *req)
{
	u64 sq_bytes =
		ring_bytes(req->has_sq, req->sq_log_depth, req->sq_log_stride);
	u64 rq_bytes =
		ring_bytes(req->has_rq, req->rq_log_depth, req->rq_log_stride);
	u64 run;
	u8 *page;
	int err;

	if (ornic_pages_bytes(&qp->pages) <
	    ORNIC_RING_OFFSET + sq_bytes + rq_bytes)
		return -EINVAL;
	page = ornic_pages_at(&qp->pages, 0, &run);
	qp->sq.record = (struct ornic_wq_record *)(page + ORNIC_SQ_RECORD);
	qp->rq.record = (struct ornic_wq_record *)(page + ORNIC_RQ_RECORD);
	if (req->has_sq) {
		err = ornic_ring_init(&qp->sq.ring, &qp->pages,
				      ORNIC_RING_OFFSET, req->sq_log_depth,
				      req->sq_log_stride);
		if (err)
			return err;
		qp->sq.depth = 1u << req->sq_log_depth;
	}
	if (!req->has_rq)
		return 0;
	err = ornic_ring_init(&qp->rq.ring, &qp->pages,
			      ORNIC_RING_OFFSET + sq_bytes, req->rq_log_depth,
			      req->rq_log_stride);
	if (!err)
		qp->rq.depth = 1u << req->rq_log_depth;
	return err;
}

/* The device's own copies of the send WQEs. */
static int init_store(struct ornic_sq *sq, bool with_av)
{
	if (!sq->depth)
		return 0;
	sq->store_stride = max_t(u32, sq->max_sge * sizeof(struct ornic_lsge),
				 sq->max_inline);
	/* The bytes of an ATOMIC WRITE need no max_inline. */
	sq->store_stride = max_t(u32, sq->store_stride, sizeof(u64));
	sq->store_stride = ALIGN(sq->store_stride, 16u);
	if (with_av)
		sq->store_stride += sizeof(struct ornic_av);
	sq->swqe = ornic_vzalloc((size_t)sq->depth * sizeof(*sq->swqe));
	sq->store = ornic_vzalloc((size_t)sq->depth * sq->store_stride);
	return sq->swqe && sq->store ? 0 : -ENOMEM;
}

/* What a QP that may spray remembers. */
static int init_spray(struct ornic_qp *qp)
{
	if (!ornic_qp_is_reliable(qp) || READ_ONCE(qp->dev->spray) <= 1)
		return 0;
	qp->spray = ornic_vzalloc(sizeof(*qp->spray));
	return qp->spray ? 0 : -ENOMEM;
}

/* Both queues of QPs that use MRs with gaps. */
static int init_bounce(struct ornic_qp *qp)
{
	if (!(qp->create_flags & ORNIC_QP_FAST_REG))
		return 0;
	qp->sq.bounce = ornic_vzalloc((size_t)2 * ORNIC_BOUNCE_BYTES);
	if (!qp->sq.bounce)
		return -ENOMEM;
	qp->rq.bounce = qp->sq.bounce + ORNIC_BOUNCE_BYTES;
	return 0;
}

/* It completes nothing: an XRC target, or a raw packet QP for SET_RSS. */
static bool has_no_cq(const struct ornic_req_create_qp *req)
{
	return req->qp_type == ORNIC_QPT_XRC_TGT ||
	       (req->qp_type == ORNIC_QPT_RAW && !req->has_sq && !req->has_rq &&
		!(req->flags & ORNIC_QP_SRQ));
}

/* Bind the CQs: DESTROY_CQ finds them in use from now on. */
static int get_cqs(struct ornic_qp *qp, const struct ornic_req_create_qp *req)
{
	if (has_no_cq(req))
		return 0;
	qp->sq.cq = ornic_cq_get(qp->dev, le32_to_cpu(req->send_cqn));
	if (!qp->sq.cq)
		return -EINVAL;
	if (qp->type == ORNIC_QPT_XRC_INI)
		return 0;
	qp->rq.cq = ornic_cq_get(qp->dev, le32_to_cpu(req->recv_cqn));
	return qp->rq.cq ? 0 : -EINVAL;
}

static void put_cqs(struct ornic_qp *qp)
{
	ornic_cq_put(qp->sq.cq);
	ornic_cq_put(qp->rq.cq);
}

/*
 * May @qp use @srq? One of an XRC domain is for messages that name it. The device
 * sends for a QP whose SRQ matches tags, with the keys of both.
 */
static bool srq_fits(const struct ornic_qp *qp, const struct ornic_srq *srq,
		     const struct ornic_req_create_qp *req)
{
	if (qp->type == ORNIC_QPT_TAGS)
		return srq->tags;
	if (srq->tags)
		return qp->type == ORNIC_QPT_RC && !req->has_sq &&
		       qp->pdn == srq->pdn;
	return !srq->cq;
}

/* The same for the SRQ, if there is one. */
static int get_srq(struct ornic_qp *qp, const struct ornic_req_create_qp *req)
{
	bool changes = qp->type == ORNIC_QPT_TAGS;
	struct ornic_srq *srq;

	if (!(req->flags & ORNIC_QP_SRQ) && !changes)
		return 0;
	ornic_rcu_read_lock();
	srq = ornic_table_lookup(&qp->dev->srqs, le32_to_cpu(req->srqn));
	if (srq && !srq_fits(qp, srq, req))
		srq = NULL;
	if (srq)
		ornic_atomic_inc(&srq->users);
	ornic_rcu_read_unlock();
	if (changes)
		qp->tag_srq = srq;
	else
		qp->rq.srq = srq;
	return srq ? 0 : -EINVAL;
}

/* What the device sends by itself: READs, and the headers that follow them. */
static int init_tm(struct ornic_qp *qp)
{
	if (!qp->rq.srq || !qp->rq.srq->tags)
		return 0;
	qp->tm = ornic_vzalloc(sizeof(*qp->tm));
	if (!qp->tm)
		return -ENOMEM;
	qp->sq.depth = ORNIC_RNDV_DEPTH;
	qp->sq.max_sge = ORNIC_MAX_TAG_SGE;
	qp->sq.max_inline = ORNIC_TM_HDR_LEN;
	return 0;
}

static void put_srq(struct ornic_qp *qp)
{
	if (qp->tag_srq)
		ornic_atomic_dec(&qp->tag_srq->users);
	if (qp->rq.srq && qp->create_flags & ORNIC_QP_SRQ)
		ornic_atomic_dec(&qp->rq.srq->users);
}

/* Undo of everything but publication; each part may be missing. */
static void qp_free(struct ornic_qp *qp)
{
	ornic_reorder_fini(qp);
	ornic_hold_forget(qp);
	ornic_gaps_reset(qp);
	if (qp->cset)
		ornic_atomic_dec(&qp->cset->users);
	ornic_comp_cntr_detach(qp);
	ornic_srq_uncount(qp->rq.srq, &qp->rq.rwqe);
	put_srq(qp);
	put_cqs(qp);
	ornic_vfree(qp->rq.rd);
	ornic_vfree(qp->spray);
	ornic_vfree(qp->tm);
	ornic_vfree(qp->sq.bounce);
	ornic_vfree(ornic_rcu_locked(qp->rss));
	ornic_vfree(qp->sq.store);
	ornic_vfree(qp->sq.swqe);
	ornic_ring_fini(&qp->rq.ring);
	ornic_ring_fini(&qp->sq.ring);
	ornic_pages_put(&qp->pages);
	ornic_vfree(qp);
}

static struct ornic_qp *qp_alloc(struct ornic_dev *dev,
				 const struct ornic_req_create_qp *req)
{
	struct ornic_qp *qp;

	qp = ornic_vzalloc(sizeof(*qp) + dev->ops->host_qp_size);
	if (!qp)
		return NULL;
	qp->dev = dev;
	/* Not a count: the peer may be a QP of another engine, with counts of its own. */
	qp->id = ornic_random64(dev);
	qp->epoch = qp->id;
	/* So that no answer to a fault of an earlier QP is taken for one of this. */
	qp->sq.fault.seq = (u32)qp->id;
	qp->rq.fault.seq = (u32)(qp->id >> 32);
	qp->type = req->qp_type;
	qp->create_flags = req->flags;
	qp->pdn = le32_to_cpu(req->pdn);
	qp->xrcdn = le32_to_cpu(req->xrcdn);
	qp->state = qp->type == ORNIC_QPT_TAGS ? ORNIC_QPS_RTS :
						 ORNIC_QPS_RESET;
	qp->stats = &dev->stats;
	qp->pkey = ORNIC_PKEY_NONE;
	qp->mtu = READ_ONCE(dev->mtu);
	qp->sq.max_sge = req->sq_max_sge;
	qp->sq.max_inline = le16_to_cpu(req->max_inline);
	qp->rq.max_sge = req->rq_max_sge;
	ornic_lock_init(&qp->sq.lock);
	ornic_lock_init(&qp->rq.lock);
	ornic_lock_init(&qp->cc.lock);
	ornic_gaps_reset(qp);
	ornic_reorder_init(qp);
	return qp;
}

static int qp_build(struct ornic_qp *qp, const struct ornic_req_create_qp *req)
{
	int err;

	err = ornic_pages_get(qp->dev, &req->mem, &qp->pages);
	if (err)
		return err;
	err = init_rings(qp, req);
	if (err)
		return err;
	err = get_cqs(qp, req);
	if (err)
		return err;
	err = get_srq(qp, req);
	if (err)
		return err;
	err = init_tm(qp);
	if (err)
		return err;
	err = init_store(&qp->sq, qp->create_flags & ORNIC_QP_AV);
	if (err)
		return err;
	err = init_bounce(qp);
	if (err)
		return err;
	return init_spray(qp);
}

/* There is one QP 1; the others get what is free. */
static int reserve_qpn(struct ornic_dev *dev,
		       const struct ornic_req_create_qp *req)
{
	int err;

	if (!(req->flags & ORNIC_QP_GSI))
		return ornic_table_reserve_random(&dev->qps,
						  dev->ops->random(dev->host));
	err = ornic_table_reserve_at(&dev->qps, ORNIC_GSI_QPN);
	return err ? err : ORNIC_GSI_QPN;
}

int ornic_qp_create(struct ornic_dev *dev,
		    const struct ornic_req_create_qp *req, u32 *qpn)
{
	struct ornic_qp *qp;
	int index, err;

	if (!request_ok(req) ||
	    (req->qp_type == ORNIC_QPT_RAW && !dev->ops->tx_drop))
		return ORNIC_BAD_PARAM;
	qp = qp_alloc(dev, req);
	if (!qp)
		return ORNIC_NO_RESOURCE;
	err = qp_build(qp, req);
	if (err)
		goto err_free;
	index = reserve_qpn(dev, req);
	if (index < 0) {
		err = index;
		goto err_free;
	}
	qp->qpn = index;
	err = dev->ops->qp_init(dev->host, qp->host_qp, qp->qpn);
	if (err)
		goto err_release;
	if (qp->sq.depth)
		WRITE_ONCE(qp->sq.record->kick_wanted, cpu_to_le32(1));
	ornic_table_publish(&dev->qps, qp->qpn, qp);
	/* Before it looks for a key. Pairs with that of ornic_mkey_wait_for_users(). */
	smp_mb();
	*qpn = qp->qpn;
	return ORNIC_OK;

err_release:
	ornic_table_release(&dev->qps, index);
err_free:
	qp_free(qp);
	return ornic_errno_status(err);
}

/* Flow rules name the QP, so they go first. */
static bool has_flows(struct ornic_dev *dev, u32 qpn)
{
	struct ornic_qp *qp;
	bool has;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(dev, qpn);
	has = qp && qp->type == ORNIC_QPT_RAW && !ornic_flow_close_qp(dev, qp);
	ornic_rcu_read_unlock();
	return has;
}

int ornic_qp_destroy(struct ornic_dev *dev, u32 qpn)
{
	struct ornic_qp *qp;

	if (has_flows(dev, qpn))
		return ORNIC_BUSY;
	ornic_atomic_inc(&dev->qps_leaving);
	/* A call that misses it in the table sees qps_leaving: mkey.c. */
	smp_mb();
	qp = ornic_table_unlink(&dev->qps, qpn);
	if (qp) {
		ornic_mcast_forget(dev, qp);
		ornic_rcu_wait();
	}
	ornic_atomic_dec(&dev->qps_leaving);
	if (!qp)
		return ORNIC_NOT_FOUND;
	dev->ops->qp_fini(dev->host, qp->host_qp);
	ornic_table_release(&dev->qps, qpn);
	qp_free(qp);
	return ORNIC_OK;
}
