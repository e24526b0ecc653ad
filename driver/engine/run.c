// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The entry points that move data: kicks, runs, packets, timers, polling.
 * Each is one struct ornic_ctx: it takes the locks of the QP one after the
 * other, never sq inside rq, and delivers its events at the end.
 */
#include "proto.h"

/* Work that an arriving packet or timer may do for the queue it unblocks. */
#define RX_BUDGET (256u << 10)

/*
 * True if all responses before the error are sent, or their time is over.
 * sq.lock held.
 */
static bool has_drained(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	bool drained;

	ornic_lock(&rq->lock);
	drained = !ornic_resp_waits(rq) || ctx->now >= rq->dead_until;
	ornic_unlock(&rq->lock);
	return drained;
}

/* The responder found an error: bring the QP down, now that rq is free. */
static void reap_dead_qp(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	if (!READ_ONCE(qp->rq.dead))
		return;
	ornic_lock(&qp->sq.lock);
	/* Perhaps reset before the lock was ours, and connected anew. */
	if (READ_ONCE(qp->rq.dead) && ornic_qp_can_receive(qp)) {
		if (has_drained(ctx, qp))
			ornic_qp_error(ctx, qp);
		else
			ornic_retry_arm(ctx, qp);
	}
	ornic_unlock(&qp->sq.lock);
}

/* XRC QPs do not have both CQs. */
static bool has_overflowed(const struct ornic_cq *cq)
{
	return cq && READ_ONCE(cq->overflow);
}

/* What it completes is lost: a QP does not outlive one of its CQs. */
static void check_cqs(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	if (likely(!has_overflowed(qp->sq.cq) && !has_overflowed(qp->rq.cq) &&
		   (!qp->tm || !has_overflowed(qp->rq.srq->cq))))
		return;
	ornic_lock(&qp->sq.lock);
	if (qp->state != ORNIC_QPS_RESET && qp->state != ORNIC_QPS_ERR) {
		ornic_ctx_event(ctx, ORNIC_EVENT_QP_FATAL, qp->qpn, 0);
		ornic_qp_error(ctx, qp);
	}
	ornic_unlock(&qp->sq.lock);
}

/*
 * True if the responder has work that no packet starts. A peek without the
 * lock: code that leaves such work asks for a run afterwards.
 */
static bool rq_may_wait(const struct ornic_qp *qp)
{
	return READ_ONCE(qp->state) == ORNIC_QPS_ERR ||
	       ornic_resp_waits(&qp->rq) || READ_ONCE(qp->rq.ahead.n) ||
	       READ_ONCE(qp->rq.ahead.aside) || READ_ONCE(qp->rq.held);
}

static enum ornic_run_result run_rq(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	enum ornic_run_result res = ORNIC_RUN_IDLE;
	struct ornic_rq *rq = &qp->rq;
	bool more = false;

	if (!rq_may_wait(qp))
		return res;
	ornic_lock(&rq->lock);
	if (qp->state == ORNIC_QPS_ERR) {
		ornic_rq_flush(ctx, qp);
	} else {
		if (unlikely(rq->held))
			more = ornic_hold_run(ctx, qp);
		if (unlikely(rq->ahead.n || rq->ahead.refused))
			ornic_reorder_run(ctx, qp, NULL);
		if (ornic_resp_waits(rq))
			res = ornic_resp_run(ctx, qp);
	}
	if (unlikely(rq->ahead.aside) && ornic_reorder_free_some(qp))
		more = true;
	ornic_unlock(&rq->lock);
	return more ? ORNIC_RUN_MORE : res;
}

/*
 * If the port refused a response, or requests are kept or held, for which a NAK may be
 * due later, the timer of the QP is wanted; rq is free.
 */
static void arm_responses(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	if (likely(!(READ_ONCE(qp->rq.backoff.until) |
		     READ_ONCE(qp->rq.ahead.expires) |
		     READ_ONCE(qp->rq.ahead.nak_at))))
		return;
	ornic_lock(&qp->sq.lock);
	ornic_retry_arm(ctx, qp);
	ornic_unlock(&qp->sq.lock);
}

static enum ornic_run_result run_sq(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	enum ornic_run_result res;

	ornic_lock(&qp->sq.lock);
	res = ornic_req_run(ctx, qp);
	ornic_unlock(&qp->sq.lock);
	return res;
}

/*
 * Those who are first may take all the room of the port, or the budget. If they have sent
 * something, and both have more, it is the others' turn to be first the next time.
 */
static void end_turn(struct ornic_qp *qp, bool sent, enum ornic_run_result sq,
		     enum ornic_run_result rq)
{
	bool first = READ_ONCE(qp->requests_first), next;

	next = sq != ORNIC_RUN_IDLE && rq != ORNIC_RUN_IDLE && first != sent;
	if (unlikely(next != first))
		WRITE_ONCE(qp->requests_first, next);
}

/* Requests, by @requests, and responses. */
static __always_inline enum ornic_run_result
run_both(struct ornic_ctx *ctx, struct ornic_qp *qp,
	 enum ornic_run_result (*requests)(struct ornic_ctx *ctx,
					   struct ornic_qp *qp))
{
	bool first = READ_ONCE(qp->requests_first), sent;
	enum ornic_run_result sq, rq;
	s64 budget = ctx->budget;

	if (unlikely(first)) {
		sq = requests(ctx, qp);
		sent = ctx->budget != budget;
		rq = run_rq(ctx, qp);
	} else {
		rq = run_rq(ctx, qp);
		sent = ctx->budget != budget;
		sq = requests(ctx, qp);
	}
	end_turn(qp, sent, sq, rq);
	if (sq == ORNIC_RUN_MORE || rq == ORNIC_RUN_MORE)
		return ORNIC_RUN_MORE;
	if (sq == ORNIC_RUN_WAIT || rq == ORNIC_RUN_WAIT)
		return ORNIC_RUN_WAIT;
	return ORNIC_RUN_IDLE;
}

static enum ornic_run_result run_qp(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	enum ornic_run_result res;

	check_cqs(ctx, qp);
	reap_dead_qp(ctx, qp);
	res = run_both(ctx, qp, run_sq);
	arm_responses(ctx, qp);
	reap_dead_qp(ctx, qp);
	return res;
}

static void count_kick(struct ornic_qp *qp)
{
	const struct ornic_sq *sq = &qp->sq;
	u32 posted = le32_to_cpu(READ_ONCE(sq->record->producer));
	/* The SQ may be running: the trace may show an older value. */
	u32 fetched = data_race(sq->fetched);

	ornic_qp_stat_inc(qp, ORNIC_STAT_KICKS);
	ornic_trace(qp, ORNIC_TRACE_KICK, READ_ONCE(qp->state), posted,
		    fetched);
}

static __flatten enum ornic_run_result
run_kicked(struct ornic_engine *eng, u32 qpn, u32 budget, bool kicked)
{
	enum ornic_run_result res = ORNIC_RUN_IDLE;
	struct ornic_ctx ctx __uninitialized;
	struct ornic_qp *qp;

	ornic_ctx_begin(&ctx, &eng->dev, budget);
	qp = ornic_qp_lookup(&eng->dev, qpn);
	if (qp) {
		if (kicked)
			count_kick(qp);
		res = run_qp(&ctx, qp);
	} else if (kicked) {
		ornic_stat_inc(&eng->dev, ORNIC_STAT_KICKS);
	}
	ornic_ctx_end(&ctx);
	return res;
}

enum ornic_run_result ornic_engine_run(struct ornic_engine *eng, u32 qpn,
				       u32 budget)
{
	return run_kicked(eng, qpn, budget, false);
}

enum ornic_run_result ornic_engine_kick(struct ornic_engine *eng, u32 qpn,
					u32 budget)
{
	return run_kicked(eng, qpn, budget, true);
}

/*
 * Was anything posted to @qp since it last ran? WQEs that wait for the peer, a
 * timer or room go on without the poll thread. A peek only.
 */
static bool has_work(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (!sq->depth || READ_ONCE(qp->state) < ORNIC_QPS_RTS)
		return false;
	return le32_to_cpu(READ_ONCE(sq->record->producer)) !=
	       READ_ONCE(sq->seen);
}

void ornic_engine_busy_poll(struct ornic_engine *eng, u32 qpn, bool on)
{
	struct ornic_qp *qp;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(&eng->dev, qpn);
	if (qp) {
		ornic_lock(&qp->sq.lock);
		qp->sq.polled = on;
		ornic_unlock(&qp->sq.lock);
	}
	ornic_rcu_read_unlock();
}

bool ornic_engine_has_work(struct ornic_engine *eng, u32 qpn, u32 *seen)
{
	struct ornic_qp *qp;
	u32 producer = *seen;
	bool news;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(&eng->dev, qpn);
	if (qp && qp->sq.depth)
		producer = le32_to_cpu(READ_ONCE(qp->sq.record->producer));
	ornic_rcu_read_unlock();
	news = producer != *seen;
	*seen = producer;
	return news;
}

bool ornic_engine_is_peer(struct ornic_engine *eng, u32 qpn, const void *ip,
			  bool ipv6)
{
	struct ornic_rx rx __uninitialized;
	struct ornic_qp *qp;
	bool is_peer = false;

	rx.ip = ip;
	rx.ipv6 = ipv6;
	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(&eng->dev, qpn);
	if (qp && qp->type != ORNIC_QPT_UD && qp->type != ORNIC_QPT_RAW) {
		/*
		 * Without a lock: MODIFY_QP may be changing both. The answer only
		 * decides where the packet waits; the QP checks its addresses again.
		 */
		is_peer = data_race(ornic_qp_can_receive(qp) &&
				    ornic_path_matches(&qp->path, &rx));
	}
	ornic_rcu_read_unlock();
	return is_peer;
}

void *ornic_engine_host_qp(struct ornic_engine *eng, u32 qpn)
{
	struct ornic_qp *qp = ornic_qp_lookup(&eng->dev, qpn);

	return qp ? qp->host_qp : NULL;
}

u32 ornic_engine_sent(struct ornic_engine *eng, u32 qpn)
{
	struct ornic_qp *qp;
	u32 psn = 0;

	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(&eng->dev, qpn);
	if (qp)
		/* A hint: whether it has changed since the last time. */
		psn = data_race(qp->sq.max_psn);
	ornic_rcu_read_unlock();
	return psn;
}

static bool is_recent(const struct ornic_poll *poll, u32 qpn)
{
	u32 i;

	for (i = 0; i < poll->nrecent; i++) {
		if (poll->recent[i] == qpn)
			return true;
	}
	return false;
}

static void remember_qp(struct ornic_poll *poll, u32 qpn)
{
	if (poll->nrecent < ORNIC_POLL_RECENT)
		poll->recent[poll->nrecent++] = qpn;
	else
		poll->recent[poll->oldest++ % ORNIC_POLL_RECENT] = qpn;
}

/* QPs with news among those that had some last. Returns how many. */
static u32 look_at_recent(struct ornic_dev *dev, u32 *found)
{
	struct ornic_poll *poll = &dev->poll;
	struct ornic_qp *qp;
	u32 i = 0, n = 0;

	while (i < poll->nrecent) {
		qp = ornic_qp_lookup(dev, poll->recent[i]);
		if (unlikely(!qp)) {
			poll->recent[i] = poll->recent[--poll->nrecent];
			continue;
		}
		if (has_work(qp))
			found[n++] = qp->qpn;
		i++;
	}
	return n;
}

/* QPs with work among the others, from where the last call ended. */
static u32 look_at_others(struct ornic_dev *dev, u32 *found)
{
	struct ornic_poll *poll = &dev->poll;
	struct ornic_table *qps = &dev->qps;
	struct ornic_qp *qp;
	u32 end, i, n = 0;

	if (poll->at >= qps->size)
		poll->at = 0;
	end = min_t(u32, poll->at + ORNIC_POLL_SPAN, qps->size);
	for (i = 0; i < ORNIC_POLL_OTHERS; i++) {
		qp = ornic_table_next_in(qps, &poll->at, end);
		if (!qp)
			break;
		poll->at++;
		if (has_work(qp) && !is_recent(poll, qp->qpn)) {
			remember_qp(poll, qp->qpn);
			found[n++] = qp->qpn;
		}
	}
	return n;
}

static void run_polled(struct ornic_dev *dev, u32 qpn, u32 budget)
{
	struct ornic_ctx ctx __uninitialized;
	struct ornic_qp *qp;

	ornic_ctx_begin(&ctx, dev, budget);
	qp = ornic_qp_lookup(dev, qpn);
	if (qp && run_qp(&ctx, qp) == ORNIC_RUN_MORE)
		ornic_qp_resched(qp);
	ornic_ctx_end(&ctx);
}

u32 ornic_engine_poll(struct ornic_engine *eng, u32 budget)
{
	u32 found[ORNIC_POLL_RECENT + ORNIC_POLL_OTHERS], i, n;
	struct ornic_dev *dev = &eng->dev;

	ornic_rcu_read_lock();
	n = look_at_recent(dev, found);
	n += look_at_others(dev, found + n);
	ornic_rcu_read_unlock();
	for (i = 0; i < n; i++)
		run_polled(dev, found[i], budget);
	return n;
}

/* ---- packets -------------------------------------------------------------------- */

struct ornic_rx_peek ornic_engine_rx_peek(const u8 *bth)
{
	const struct ornic_opinfo *op = ornic_opcode_lookup(bth[0]);

	return (struct ornic_rx_peek){
		.qpn = ornic_be24(bth + 5),
		.start = op && op->flags & ORNIC_OPF_START,
		.more = op && !(op->flags & ORNIC_OPF_END),
		.request = op && op->flags & ORNIC_OPF_REQUEST,
	};
}

static bool transport_fits(const struct ornic_qp *qp,
			   const struct ornic_pkt *pkt)
{
	switch (pkt->opcode & ORNIC_TRANSPORT_MASK) {
	case ORNIC_RC:
		return qp->type == ORNIC_QPT_RC;
	case ORNIC_UC:
		return qp->type == ORNIC_QPT_UC;
	case ORNIC_UD:
		return qp->type == ORNIC_QPT_UD;
	case ORNIC_XRC:
		return qp->type == (pkt->op->flags & ORNIC_OPF_REQUEST ?
					    ORNIC_QPT_XRC_TGT :
					    ORNIC_QPT_XRC_INI);
	}
	return false;
}

static void rx_request(struct ornic_ctx *ctx, struct ornic_qp *qp,
		       struct ornic_pkt *pkt)
{
	ornic_lock(&qp->rq.lock);
	if (unlikely(!ornic_qp_can_receive(qp) || !transport_fits(qp, pkt))) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_NO_QP);
	} else if (unlikely(!ornic_qp_takes_pkey(qp, pkt->pkey))) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_PKEY);
	} else {
		/* The hosts have agreed to ignore reserved bits, IBTA 9.2. */
		if (unlikely(qp->standard))
			pkt->selective = 0;
		if (unlikely(pkt->ce))
			ornic_cc_marked_request(ctx, qp, pkt);
		ornic_resp_rx(ctx, qp, pkt);
	}
	ornic_unlock(&qp->rq.lock);
	arm_responses(ctx, qp);
	reap_dead_qp(ctx, qp);
}

/* sq: the same when responses wait; true if there is more to do. */
static noinline bool run_both_locked(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	enum ornic_run_result res = run_both(ctx, qp, ornic_req_run);

	ornic_retry_arm(ctx, qp);
	return res == ORNIC_RUN_MORE;
}

/* A response frees the window: send what it held back. */
static void rx_response(struct ornic_ctx *ctx, struct ornic_qp *qp,
			const struct ornic_pkt *pkt)
{
	bool more = false, both = false;

	ornic_lock(&qp->sq.lock);
	if ((qp->state != ORNIC_QPS_RTS && qp->state != ORNIC_QPS_SQD) ||
	    !transport_fits(qp, pkt)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_NO_QP);
	} else if (unlikely(!ornic_pkeys_match(qp->pkey, pkt->pkey))) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_PKEY);
	} else if (!ornic_path_matches(&qp->path, pkt->rx)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_ADDR);
	} else {
		if (unlikely(pkt->ce))
			ornic_cc_marked_response(ctx, qp, pkt);
		if (unlikely(ornic_delay_is_overtaken(&qp->sq, pkt->psn)))
			ornic_delay_overtaken(ctx, &qp->sq, pkt);
		ornic_comp_rx(ctx, qp, pkt);
		if (pkt->rx->busy_here)
			ctx->budget = 0;
		both = ornic_resp_waits(&qp->rq);
		if (unlikely(both))
			more = run_both_locked(ctx, qp);
		else
			more = ornic_req_run(ctx, qp) == ORNIC_RUN_MORE;
	}
	ornic_unlock(&qp->sq.lock);
	if (unlikely(both))
		reap_dead_qp(ctx, qp);
	if (more)
		ornic_qp_resched(qp);
}

/*
 * Deliver @pkt to members of @mgid from @slot on, as far as there is room for
 * events. Returns where to go on, 0 at the end: a call has room for the first.
 */
static u32 rx_members(struct ornic_ctx *ctx, struct ornic_pkt *pkt,
		      const u8 *mgid, u32 slot)
{
	struct ornic_mcg *group = ornic_mcast_group(ctx->dev, mgid);
	struct ornic_qp *qp;

	if (!group) {
		if (!slot)
			ornic_stat_inc(ctx->dev, ORNIC_STAT_RX_NO_QP);
		return 0;
	}
	while ((qp = ornic_mcast_member(ctx->dev, group, &slot))) {
		if (ornic_ctx_full(ctx))
			return slot;
		rx_request(ctx, qp, pkt);
		slot++;
	}
	return 0;
}

/*
 * IBTA 10.5.2: each member gets a multicast packet, or not, for itself. Each
 * round is a call of its own, so that no event is lost however many there are.
 */
static noinline void rx_multicast(struct ornic_dev *dev, struct ornic_pkt *pkt)
{
	struct ornic_ctx ctx __uninitialized;
	u32 slot = 0;
	u8 mgid[16];

	ornic_stat_inc(dev, ORNIC_STAT_RX_PACKETS);
	if (!(pkt->op->flags & ORNIC_OPF_DETH)) {
		ornic_stat_inc(dev, ORNIC_STAT_RX_NO_QP);
		return;
	}
	ornic_rx_dgid(pkt->rx, mgid);
	do {
		ornic_ctx_begin(&ctx, dev, RX_BUDGET);
		slot = rx_members(&ctx, pkt, mgid, slot);
		ornic_ctx_end(&ctx);
	} while (slot);
}

/* What is wrong with a packet before its QP is known: a statistic, or 0. */
static int check_packet(const struct ornic_pkt *pkt)
{
	bool to_group = pkt->qpn == ORNIC_MCAST_QPN;

	if (ornic_rx_is_multicast(pkt->rx) != to_group)
		return ORNIC_STAT_RX_BAD_ADDR;
	return 0;
}

/* A packet that belongs to no QP. */
static noinline void rx_stray(struct ornic_dev *dev, enum ornic_stat why)
{
	ornic_stat_inc(dev, ORNIC_STAT_RX_PACKETS);
	ornic_stat_inc(dev, why);
}

static void rx_count(struct ornic_qp *qp, const struct ornic_pkt *pkt)
{
	ornic_trace(qp, ORNIC_TRACE_RX, pkt->opcode, pkt->psn,
		    pkt->payload_len);
	ornic_qp_stat_inc(qp, ORNIC_STAT_RX_PACKETS);
}

__flatten void ornic_engine_rx(struct ornic_engine *eng,
			       const struct ornic_rx *rx)
{
	struct ornic_dev *dev = &eng->dev;
	struct ornic_pkt pkt __uninitialized;
	struct ornic_ctx ctx __uninitialized;
	struct ornic_qp *qp;
	int stat;

	stat = ornic_pkt_parse(&pkt, rx);
	if (!stat)
		stat = check_packet(&pkt);
	if (stat) {
		rx_stray(dev, stat);
		return;
	}
	if (pkt.qpn == ORNIC_MCAST_QPN) {
		rx_multicast(dev, &pkt);
		return;
	}
	ornic_ctx_begin(&ctx, dev, RX_BUDGET);
	qp = ornic_qp_lookup(dev, pkt.qpn);
	if (qp)
		rx_count(qp, &pkt);
	if (!qp)
		rx_stray(dev, ORNIC_STAT_RX_NO_QP);
	else if (pkt.op->flags & ORNIC_OPF_REQUEST)
		rx_request(&ctx, qp, &pkt);
	else if (likely(!(pkt.op->flags & ORNIC_OPF_CNP)))
		rx_response(&ctx, qp, &pkt);
	else
		ornic_cc_rx_cnp(&ctx, qp, &pkt);
	ornic_ctx_end(&ctx);
}

void ornic_engine_expire(struct ornic_engine *eng, u32 qpn)
{
	struct ornic_ctx ctx __uninitialized;
	struct ornic_qp *qp;
	bool more = false;

	ornic_ctx_begin(&ctx, &eng->dev, RX_BUDGET);
	qp = ornic_qp_lookup(&eng->dev, qpn);
	if (qp) {
		more = run_rq(&ctx, qp) == ORNIC_RUN_MORE;
		ornic_lock(&qp->sq.lock);
		ornic_retry_expire(&ctx, qp);
		more |= ornic_req_run(&ctx, qp) == ORNIC_RUN_MORE;
		ornic_unlock(&qp->sq.lock);
		arm_responses(&ctx, qp);
		reap_dead_qp(&ctx, qp);
		if (more)
			ornic_qp_resched(qp);
	}
	ornic_ctx_end(&ctx);
}
