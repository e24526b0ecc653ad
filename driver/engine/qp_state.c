// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MODIFY_QP and QUERY_QP: the state machine of IBTA 10.3.1 as a table, then
 * the attributes. A command is checked as a whole before anything changes.
 */
#include "proto.h"

/* clang-format off */
#define T(type)	(1u << (type))
#define RC	T(ORNIC_QPT_RC)
#define UC	T(ORNIC_QPT_UC)
#define UD	T(ORNIC_QPT_UD)
#define RAW	T(ORNIC_QPT_RAW)
#define INI	T(ORNIC_QPT_XRC_INI)
#define TGT	T(ORNIC_QPT_XRC_TGT)

/* What may change in every live state. */
#define LIVE_C	(ORNIC_QPM_CUR_STATE | ORNIC_QPM_ACCESS)
#define LIVE_RC	(LIVE_C | ORNIC_QPM_MIN_RNR_TIMER)
#define LIVE_UD	(ORNIC_QPM_CUR_STATE | ORNIC_QPM_QKEY)

/* Only before the first request is sent. */
#define ECE	ORNIC_QPM_ECE
#define PKEY	ORNIC_QPM_PKEY

#define LIVE_RAW (ORNIC_QPM_CUR_STATE | ORNIC_QPM_RATE_LIMIT)

#define RTR_UC	(ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU | ORNIC_QPM_DEST_QPN | \
		 ORNIC_QPM_RQ_PSN)
#define RTR_RC	(RTR_UC | ORNIC_QPM_MAX_DEST_RD_ATOMIC | \
		 ORNIC_QPM_MIN_RNR_TIMER)
#define RTS_RC	(ORNIC_QPM_TIMEOUT | ORNIC_QPM_RETRY_CNT | \
		 ORNIC_QPM_RNR_RETRY | ORNIC_QPM_SQ_PSN | \
		 ORNIC_QPM_MAX_RD_ATOMIC)
#define SQD_RC	(LIVE_RC | ORNIC_QPM_AV | ORNIC_QPM_TIMEOUT | \
		 ORNIC_QPM_RETRY_CNT | ORNIC_QPM_RNR_RETRY | \
		 ORNIC_QPM_MAX_RD_ATOMIC | ORNIC_QPM_MAX_DEST_RD_ATOMIC)
/* XRC: each end has the half of RC that it needs, IBTA A14.5. */
#define RTS_TGT	(ORNIC_QPM_TIMEOUT | ORNIC_QPM_SQ_PSN)
#define SQD_INI	(LIVE_C | ORNIC_QPM_AV | ORNIC_QPM_TIMEOUT | \
		 ORNIC_QPM_RETRY_CNT | ORNIC_QPM_RNR_RETRY | \
		 ORNIC_QPM_MAX_RD_ATOMIC)
#define SQD_TGT	(LIVE_RC | ORNIC_QPM_AV | ORNIC_QPM_TIMEOUT | \
		 ORNIC_QPM_MAX_DEST_RD_ATOMIC)
/* clang-format on */

#define S(state) ORNIC_QPS_##state

/* IBTA tables 91 to 95. Any state may also go to RESET and ERR. */
static const struct transition {
	u8 from, to;
	u16 types;
	u32 required, optional;
} transitions[] = {
	{ S(RESET), S(INIT), RC | INI | TGT, ORNIC_QPM_ACCESS, ECE | PKEY },
	{ S(RESET), S(INIT), UC, ORNIC_QPM_ACCESS, PKEY },
	{ S(RESET), S(INIT), UD, ORNIC_QPM_QKEY, PKEY },
	{ S(RESET), S(INIT), RAW, 0, 0 },
	{ S(INIT), S(INIT), RC | INI | TGT, 0, ORNIC_QPM_ACCESS | ECE | PKEY },
	{ S(INIT), S(INIT), UC, 0, ORNIC_QPM_ACCESS | PKEY },
	{ S(INIT), S(INIT), UD, 0, ORNIC_QPM_QKEY | PKEY },
	{ S(INIT), S(INIT), RAW, 0, 0 },
	{ S(INIT), S(RTR), RC | TGT, RTR_RC, ORNIC_QPM_ACCESS | ECE | PKEY },
	{ S(INIT), S(RTR), INI, RTR_UC, ORNIC_QPM_ACCESS | ECE | PKEY },
	{ S(INIT), S(RTR), UC, RTR_UC, ORNIC_QPM_ACCESS | PKEY },
	{ S(INIT), S(RTR), UD, 0, ORNIC_QPM_QKEY | PKEY },
	{ S(INIT), S(RTR), RAW, 0, 0 },
	{ S(RTR), S(RTS), RC, RTS_RC, LIVE_RC | ECE },
	{ S(RTR), S(RTS), INI, RTS_RC, LIVE_C | ECE },
	{ S(RTR), S(RTS), TGT, RTS_TGT, LIVE_RC | ECE },
	{ S(RTR), S(RTS), UC, ORNIC_QPM_SQ_PSN, LIVE_C },
	{ S(RTR), S(RTS), UD, ORNIC_QPM_SQ_PSN, LIVE_UD },
	{ S(RTR), S(RTS), RAW, 0, LIVE_RAW },
	{ S(RTS), S(RTS), RC | TGT, 0, LIVE_RC },
	{ S(RTS), S(RTS), UC | INI, 0, LIVE_C },
	{ S(RTS), S(RTS), UD, 0, LIVE_UD },
	{ S(RTS), S(RTS), RAW, 0, LIVE_RAW },
	{ S(RTS), S(SQD), RC | UC | UD | INI | TGT | RAW, 0,
	  ORNIC_QPM_SQD_NOTIFY },
	{ S(SQD), S(RTS), RC | TGT, 0, LIVE_RC },
	{ S(SQD), S(RTS), UC | INI, 0, LIVE_C },
	{ S(SQD), S(RTS), UD, 0, LIVE_UD },
	{ S(SQD), S(RTS), RAW, 0, ORNIC_QPM_CUR_STATE },
	{ S(SQD), S(SQD), RC, 0, SQD_RC | PKEY },
	{ S(SQD), S(SQD), INI, 0, SQD_INI | PKEY },
	{ S(SQD), S(SQD), TGT, 0, SQD_TGT | PKEY },
	{ S(SQD), S(SQD), UC, 0, LIVE_C | ORNIC_QPM_AV | PKEY },
	{ S(SQD), S(SQD), UD, 0, LIVE_UD | PKEY },
	{ S(SQE), S(RTS), UC, 0, LIVE_C },
	{ S(SQE), S(RTS), UD, 0, LIVE_UD },
	{ S(SQE), S(RTS), RAW, 0, ORNIC_QPM_CUR_STATE },
};

/* What messages under way are sent by, so that it changes between them only. */
#define IDLE_ONLY                                 \
	(ORNIC_QPM_AV | ORNIC_QPM_MAX_RD_ATOMIC | \
	 ORNIC_QPM_MAX_DEST_RD_ATOMIC | ORNIC_QPM_PKEY)

/* IBTA 10.3.1.5: not before the SQ is drained. */
static bool is_early(const struct ornic_qp *qp, u32 mask)
{
	return qp->state == ORNIC_QPS_SQD && qp->sq.draining &&
	       mask & IDLE_ONLY;
}

/* May @qp go from @from to @to with the attributes of @mask? */
static int check_transition(const struct ornic_qp *qp, u8 from, u8 to, u32 mask)
{
	const struct transition *t;
	u32 i;

	mask &= ~ORNIC_QPM_STATE;
	/* There would be no way back from there. */
	if (to == ORNIC_QPS_RESET && qp->type == ORNIC_QPT_TAGS)
		return ORNIC_BAD_STATE;
	if (to == ORNIC_QPS_RESET || to == ORNIC_QPS_ERR)
		return mask & ~ORNIC_QPM_CUR_STATE ? ORNIC_BAD_PARAM : ORNIC_OK;
	for (i = 0; i < ARRAY_SIZE(transitions); i++) {
		t = &transitions[i];
		if (t->from != from || t->to != to || !(t->types & T(qp->type)))
			continue;
		if ((mask & t->required) != t->required)
			return ORNIC_BAD_PARAM;
		return mask & ~(t->required | t->optional) ? ORNIC_BAD_PARAM :
							     ORNIC_OK;
	}
	return ORNIC_BAD_STATE;
}

/* MODIFY_QP in host order. */
struct modify {
	u32 mask;
	u8 new_state, cur_state, access, mtu, timeout, retry, rnr, min_rnr;
	u8 max_rd, max_dest, pkey_index;
	bool sqd_notify;
	u32 rq_psn, sq_psn, dest_qpn, qkey_ece, rate, burst;
	struct ornic_path path;
	struct ornic_rd_ring *rd; /* for a QP that has none, or NULL */
};

static void decode_modify(struct modify *m,
			  const struct ornic_req_modify_qp *req)
{
	u32 rq = le32_to_cpu(req->rq_psn_rnr);
	u32 sq = le32_to_cpu(req->sq_psn_timeout);
	u32 dest = le32_to_cpu(req->dest_qpn_mtu);

	m->mask = le32_to_cpu(req->mask);
	m->new_state = req->state & 0xf;
	m->cur_state = req->state >> 4;
	m->access = req->access;
	m->rq_psn = rq & ORNIC_PSN_MASK;
	m->min_rnr = rq >> 24 & 0x1f;
	m->sq_psn = sq & ORNIC_PSN_MASK;
	m->timeout = sq >> 24 & 0x1f;
	m->dest_qpn = dest & ORNIC_PSN_MASK;
	m->mtu = dest >> 24 & 7;
	m->pkey_index = dest >> ORNIC_MODIFY_PKEY_SHIFT;
	m->qkey_ece = le32_to_cpu(req->qkey_ece);
	m->rate = m->qkey_ece;
	m->burst = rq;
	m->retry = req->hdr.param >> ORNIC_MODIFY_RETRY_SHIFT & 7;
	m->rnr = req->hdr.param >> ORNIC_MODIFY_RNR_SHIFT & 7;
	m->sqd_notify = req->hdr.param & ORNIC_MODIFY_SQD_NOTIFY;
	m->max_rd = req->max_rd_atomic;
	m->max_dest = req->max_dest_rd_atomic;
}

/* Bytes of enum ib_mtu. */
static u32 mtu_bytes(u8 mtu)
{
	return 128u << mtu;
}

/* Nothing, or some of what this device offers, in a version that it knows. */
static bool ece_is_valid(u32 options)
{
	const u32 bits = (1u << ORNIC_ECE_VERSION_SHIFT) - 1;
	u32 version = options >> ORNIC_ECE_VERSION_SHIFT;

	return !options ||
	       (options & bits && !(options & bits & ~ORNIC_ECE_OFFER) &&
		version &&
		version <= ORNIC_ECE_OFFER >> ORNIC_ECE_VERSION_SHIFT);
}

static int check_values(struct ornic_dev *dev, struct modify *m,
			const struct ornic_req_modify_qp *req)
{
	u32 mask = m->mask;

	if (mask & ~ORNIC_QPM_ALL)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_STATE && m->new_state > ORNIC_QPS_ERR)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_ACCESS && m->access & ~ORNIC_ACCESS_MASK)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_MAX_RD_ATOMIC &&
	    m->max_rd > ORNIC_MAX_INIT_RD_ATOMIC)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_MAX_DEST_RD_ATOMIC &&
	    m->max_dest > ORNIC_MAX_RD_ATOMIC)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_PATH_MTU &&
	    (!m->mtu || m->mtu > 5 ||
	     mtu_bytes(m->mtu) > READ_ONCE(dev->mtu))) {
		ornic_pr_debug("path MTU code %u, port MTU %u\n", m->mtu,
			       READ_ONCE(dev->mtu));
		return ORNIC_BAD_PARAM;
	}
	if (mask & ORNIC_QPM_PKEY && m->pkey_index >= ORNIC_PKEY_TABLE_LEN)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_ECE && !ece_is_valid(m->qkey_ece)) {
		ornic_pr_debug("ECE options %#x, offer %#x\n", m->qkey_ece,
			       ORNIC_ECE_OFFER);
		return ORNIC_BAD_PARAM;
	}
	if (mask & ORNIC_QPM_RATE_LIMIT && m->rate > ORNIC_RATE_LIMIT_MAX)
		return ORNIC_BAD_PARAM;
	if (mask & ORNIC_QPM_AV && ornic_path_resolve(dev, &m->path, &req->av))
		return ORNIC_BAD_PARAM;
	return ORNIC_OK;
}

/*
 * Does the peer repeat selectively? Its first response tells, also if the hosts have
 * agreed that it does, as one of them may be wrong.
 */
static enum ornic_selective first_selective(const struct ornic_qp *qp)
{
	return ornic_qp_is_reliable(qp) && !qp->standard ? ORNIC_SELECTIVE_ASK :
							   ORNIC_SELECTIVE_NO;
}

/* Before apply_sq(), which begins with them. */
static void apply_ece(struct ornic_qp *qp, const struct modify *m)
{
	if (!(m->mask & ORNIC_QPM_ECE))
		return;
	qp->ece = m->qkey_ece;
	qp->has_ece = true;
	qp->standard = !(qp->ece & ORNIC_ECE_SELECTIVE);
	if (qp->standard)
		qp->rq.selective = false;
}

static void apply_sq(struct ornic_qp *qp, const struct modify *m)
{
	struct ornic_sq *sq = &qp->sq;

	if (m->mask & ORNIC_QPM_TIMEOUT)
		qp->timeout = m->timeout;
	if (m->mask & ORNIC_QPM_RETRY_CNT) {
		qp->retry_cnt = m->retry;
		sq->retry.left = m->retry;
	}
	if (m->mask & ORNIC_QPM_RNR_RETRY) {
		qp->rnr_retry = m->rnr;
		sq->retry.rnr_left = m->rnr;
	}
	if (m->mask & ORNIC_QPM_MAX_RD_ATOMIC)
		qp->max_rd_atomic = m->max_rd;
	if (m->mask & ORNIC_QPM_SQ_PSN) {
		sq->psn = m->sq_psn;
		sq->acked = m->sq_psn;
		sq->max_psn = m->sq_psn;
		sq->retry.recover = m->sq_psn;
		sq->window = ORNIC_FIRST_WINDOW;
		sq->probing = false;
		sq->credit = 0;
		sq->rtt.start = 0;
		sq->rtt.smooth = 0;
		sq->rtt.congested = false;
		sq->rtt.backoff = 0;
		sq->rtt.early = false;
		sq->retry.silent = false;
		sq->retry.judge = false;
		ornic_delay_reset(sq);
		sq->delay.resent_psn = m->sq_psn;
		sq->selective = first_selective(qp);
		ornic_gaps_reset(qp);
	}
	/* It is asked for with the transition to SQD, and for that one. */
	if (m->mask & ORNIC_QPM_SQD_NOTIFY)
		qp->sqd_notify = m->sqd_notify;
	else if (qp->state != ORNIC_QPS_SQD)
		qp->sqd_notify = false;
}

/* A QP keeps its responder resources until it is destroyed. */
static void apply_max_dest(struct ornic_qp *qp, struct modify *m)
{
	if (!qp->rq.rd) {
		WRITE_ONCE(qp->rq.rd, m->rd);
		m->rd = NULL;
	}
	qp->max_dest_rd_atomic = m->max_dest;
}

static void apply_rq(struct ornic_qp *qp, struct modify *m)
{
	if (m->mask & ORNIC_QPM_RQ_PSN)
		qp->rq.epsn = m->rq_psn;
	if (m->mask & ORNIC_QPM_MAX_DEST_RD_ATOMIC)
		apply_max_dest(qp, m);
	if (m->mask & ORNIC_QPM_MIN_RNR_TIMER)
		qp->min_rnr_timer = m->min_rnr;
}

/*
 * 40 bits that tell one peer from another. A peer may have many addresses, and does not
 * know which of them share a slot with those of others.
 */
static u64 path_fingerprint(const struct ornic_dev *dev,
			    const struct ornic_path *path)
{
	u64 half[2];

	memcpy(half, path->dgid, sizeof(half));
	return ornic_hash128(half[0], half[1], &dev->peer_key) &
	       ~ORNIC_PEER_SEEN_TIME;
}

static u32 loop_identity(u32 qpn, u8 type, bool v1)
{
	return qpn | (u32)type << 24 | (u32)v1 << 31;
}

/* All that packets show of a connection but addresses, as one word for loop.c. */
static void identify_for_loop(struct ornic_qp *qp)
{
	u8 to = qp->type == ORNIC_QPT_XRC_INI ? ORNIC_QPT_XRC_TGT : qp->type;

	qp->loop_self = loop_identity(qp->qpn, to, qp->path.v1);
	qp->loop_peer = loop_identity(qp->dest_qpn, qp->type, qp->path.v1);
}

static void apply_attrs(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			struct modify *m)
{
	apply_ece(qp, m);
	apply_sq(qp, m);
	apply_rq(qp, m);
	/* Also what CREATE_QP and RESET have left. */
	ornic_pkey_use(qp, m->mask & ORNIC_QPM_PKEY ? m->pkey_index :
						      qp->pkey_index);
	if (m->mask & ORNIC_QPM_ACCESS)
		qp->access = m->access;
	if (m->mask & ORNIC_QPM_QKEY)
		qp->qkey = m->qkey_ece;
	if (m->mask & ORNIC_QPM_DEST_QPN)
		qp->dest_qpn = m->dest_qpn;
	if (m->mask & ORNIC_QPM_AV) {
		qp->path = m->path;
		qp->sq.answered = 0;
		if (qp->spray)
			ornic_spray_start(qp);
		ornic_path_set_ect(&qp->path);
		ornic_spare_move(qp, path_fingerprint(qp->dev, &m->path));
	}
	if (m->mask & ORNIC_QPM_PATH_MTU) {
		qp->path_mtu_enum = m->mtu;
		qp->mtu = mtu_bytes(m->mtu);
	}
	if (qp->type == ORNIC_QPT_UD)
		qp->mtu = READ_ONCE(qp->dev->mtu);
	if (m->mask & ORNIC_QPM_RATE_LIMIT)
		ornic_rate_set(ctx, qp, m->rate, m->burst);
	identify_for_loop(qp);
}

/* sq and rq: forget everything that happened since CREATE. */
static void reset_qp(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_rq *rq = &qp->rq;

	qp->epoch++;
	qp->ece = 0;
	qp->has_ece = false;
	qp->standard = false;
	WRITE_ONCE(qp->pkey_index, 0);
	sq->fetched = 0;
	WRITE_ONCE(sq->seen, 0);
	sq->cur = 0;
	sq->tail = 0;
	sq->rd_out = 0;
	sq->unacked_pkts = 0;
	sq->retry.rnr_waits = 0;
	sq->retry.grace_used = 0;
	sq->rtt.last = 0;
	sq->rtt.smooth = 0;
	sq->selective = ORNIC_SELECTIVE_ASK;
	sq->retry.recover_until = 0;
	sq->retry.nak_held = false;
	sq->wait = ORNIC_WAIT_NONE;
	ornic_fault_forget(&sq->fault);
	sq->draining = false;
	ornic_gaps_reset(qp);
	sq->probe = false;
	sq->broken = false;
	sq->deadline = 0;
	sq->answered = 0;
	ornic_backoff_reset(&sq->backoff);
	memset(&sq->rate, 0, sizeof(sq->rate));
	if (sq->depth)
		WRITE_ONCE(sq->record->kick_wanted, cpu_to_le32(1));
	rq->fetched = 0;
	rq->msn = 0;
	rq->msg = 0;
	rq->received = 0;
	WRITE_ONCE(rq->rd_head, 0);
	WRITE_ONCE(rq->rd_tail, 0);
	if (rq->rd)
		memset(rq->rd, 0, sizeof(*rq->rd));
	rq->rd_parts = 0;
	ornic_srq_uncount(rq->srq, &rq->rwqe);
	rq->rwqe.valid = false;
	if (qp->type == ORNIC_QPT_XRC_TGT)
		rq->srq = NULL;
	rq->nak_sent = false;
	ornic_reorder_forget(qp);
	ornic_hold_forget(qp);
	ornic_fault_forget(&rq->fault);
	memset(&rq->ahead.late, 0, sizeof(rq->ahead.late));
	rq->selective = false;
	rq->comm_est = false;
	WRITE_ONCE(rq->ack_due, false);
	rq->reads_out = false;
	ornic_backoff_reset(&rq->backoff);
	WRITE_ONCE(rq->dead, false);
	WRITE_ONCE(rq->dead_until, 0);
	ornic_cc_reset(qp);
	rq->last_wqe = false;
	rq->broken = false;
	if (qp->tm)
		ornic_tm_reset(qp->tm);
	if (rq->depth)
		WRITE_ONCE(rq->record->kick_wanted, 0);
}

void ornic_qp_error(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	ornic_lock_held(&qp->sq.lock);
	ornic_lock(&qp->rq.lock);
	WRITE_ONCE(qp->state, ORNIC_QPS_ERR);
	ornic_rq_flush(ctx, qp);
	ornic_unlock(&qp->rq.lock);
	ornic_sq_flush(ctx, qp);
}

/* sq: what entering @to sets in motion. */
static void state_entered(struct ornic_ctx *ctx, struct ornic_qp *qp, u8 from,
			  u8 to)
{
	if (to == ORNIC_QPS_SQD && from == ORNIC_QPS_RTS) {
		qp->sq.draining = true;
		ornic_req_probe(qp);
		if (ornic_req_run(ctx, qp) == ORNIC_RUN_MORE)
			ornic_qp_resched(qp);
		/* Without a send queue at once. */
		ornic_sq_check_drained(ctx, qp);
	}
	/* WQEs that were posted before: no kick follows. */
	if (to == ORNIC_QPS_RTS && from != ORNIC_QPS_RTS)
		ornic_qp_resched(qp);
}

/* @m lets @qp accept READs and atomics, and it has not remembered any before. */
static bool needs_rd(const struct ornic_qp *qp, const struct modify *m)
{
	return m->mask & ORNIC_QPM_MAX_DEST_RD_ATOMIC && m->max_dest &&
	       !READ_ONCE(qp->rq.rd);
}

static int modify_locked(struct ornic_ctx *ctx, struct ornic_qp *qp,
			 struct modify *m)
{
	u8 from = qp->state, to;
	int status;

	to = m->mask & ORNIC_QPM_STATE ? m->new_state : from;
	if (m->mask & ORNIC_QPM_CUR_STATE && m->cur_state != from)
		return ORNIC_BAD_STATE;
	status = check_transition(qp, from, to, m->mask);
	if (status != ORNIC_OK)
		return status;
	if (is_early(qp, m->mask))
		return ORNIC_BAD_STATE;
	if (needs_rd(qp, m) && !m->rd)
		return ORNIC_NO_RESOURCE;
	if (to == ORNIC_QPS_ERR) {
		if (from != ORNIC_QPS_ERR)
			ornic_qp_error(ctx, qp);
		return ORNIC_OK;
	}
	ornic_lock(&qp->rq.lock);
	if (to == ORNIC_QPS_RESET)
		reset_qp(qp);
	apply_attrs(ctx, qp, m);
	WRITE_ONCE(qp->state, to);
	ornic_unlock(&qp->rq.lock);
	state_entered(ctx, qp, from, to);
	/* Frames that waited for the old limit. */
	if (m->mask & ORNIC_QPM_RATE_LIMIT)
		ornic_qp_resched(qp);
	return ORNIC_OK;
}

/* What sleeps comes before the locks. Another may get there first, or @qpn go. */
static void get_memory(struct ornic_dev *dev, u32 qpn, struct modify *m)
{
	const struct ornic_qp *qp;
	bool needed;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(dev, qpn);
	needed = qp && needs_rd(qp, m);
	ornic_rcu_read_unlock();
	if (needed)
		m->rd = ornic_vzalloc(sizeof(*m->rd));
}

int ornic_qp_modify(struct ornic_dev *dev,
		    const struct ornic_req_modify_qp *req)
{
	u32 qpn = le32_to_cpu(req->hdr.obj);
	struct modify m = { .mask = 0 };
	struct ornic_ctx ctx;
	struct ornic_qp *qp;
	int status;

	decode_modify(&m, req);
	status = check_values(dev, &m, req);
	if (status != ORNIC_OK)
		return status;
	get_memory(dev, qpn, &m);
	ornic_ctx_begin(&ctx, dev, ORNIC_LOOP_PIECE);
	qp = ornic_qp_lookup(dev, qpn);
	if (qp) {
		ornic_lock(&qp->sq.lock);
		status = modify_locked(&ctx, qp, &m);
		ornic_unlock(&qp->sq.lock);
	} else {
		status = ORNIC_NOT_FOUND;
	}
	ornic_ctx_end(&ctx);
	ornic_vfree(m.rd);
	return status;
}

static void fill_query(const struct ornic_qp *qp,
		       struct ornic_rsp_query_qp *rsp)
{
	rsp->retry_cnt = qp->retry_cnt;
	rsp->rnr_retry = qp->rnr_retry;
	rsp->sq_draining = qp->sq.draining;
	if (qp->type == ORNIC_QPT_RAW)
		rsp->rq_psn_rnr = cpu_to_le32(qp->sq.rate.burst);
	else
		rsp->rq_psn_rnr =
			cpu_to_le32(qp->rq.epsn | (u32)qp->min_rnr_timer << 24);
	rsp->sq_psn_timeout = cpu_to_le32(qp->sq.psn | (u32)qp->timeout << 24);
	rsp->dest_qpn_mtu =
		cpu_to_le32(qp->dest_qpn | (u32)qp->path_mtu_enum << 24 |
			    (u32)qp->pkey_index << ORNIC_MODIFY_PKEY_SHIFT);
	if (qp->type == ORNIC_QPT_RAW)
		rsp->qkey_ece = cpu_to_le32(qp->sq.rate.kbit);
	else
		rsp->qkey_ece = cpu_to_le32(
			ornic_qp_is_reliable(qp) ? qp->ece : qp->qkey);
	rsp->av = qp->path.av;
	rsp->state = qp->state;
	rsp->access = qp->access;
	rsp->max_rd_atomic = qp->max_rd_atomic;
	rsp->max_dest_rd_atomic = qp->max_dest_rd_atomic;
}

int ornic_qp_query(struct ornic_dev *dev, u32 qpn,
		   struct ornic_rsp_query_qp *rsp)
{
	int status = ORNIC_NOT_FOUND;
	struct ornic_qp *qp;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(dev, qpn);
	if (qp) {
		ornic_lock(&qp->sq.lock);
		ornic_lock(&qp->rq.lock);
		fill_query(qp, rsp);
		ornic_unlock(&qp->rq.lock);
		ornic_unlock(&qp->sq.lock);
		status = ORNIC_OK;
	}
	ornic_rcu_read_unlock();
	return status;
}
