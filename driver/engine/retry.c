// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Timers and retries of the requester: what happens when no response comes, or
 * one that reports a loss.
 *
 * Timer law: there is one deadline. During an RNR wait it is the end of that
 * wait; while the QP waits for pages there is none; while a sequence NAK is held,
 * the end of the round trip in which packets are sent again. Else it is the earliest of
 * these, counted from the first packet or the last progress of the peer; none if nothing
 * is outstanding:
 *
 *   probe       2 SRTT + 4 RTTVAR, at least MIN_PROBE_NS: the last packet again,
 *               with AckReq. What is missing shows in the response (RFC 8985, 7).
 *   resend      after the probe: SRTT + 4 RTTVAR, at least MIN_RESEND_NS or
 *               MIN_REPEAT_NS, each time twice as long: from the oldest packet on
 *               (RFC 6298), or that one.
 *   ACK timeout of the user (IBTA 9.7.6.1.3): the only one that is a retry.
 *
 * Each probe and resend doubles the time to the next probe, until there is an RTT sample:
 * see ornic_retry_judge().
 *
 * A READ response that is placed before its turn moves the first two. Two more times
 * are set beside the deadline: responses that were late are lost (gaps.c), and a NAK
 * of the responder is due, or what it keeps expires (reorder.c).
 *
 * The host's timer may be early, never late: it is set again on expiry, so that
 * progress costs no timer operation. The same timer serves the short waits for a
 * port that refused a frame (struct ornic_backoff). The ACK timer runs meanwhile,
 * so that a port that is down ends in a timeout as well.
 */
#include "proto.h"

#define MIN_PROBE_NS 150000ull
#define MIN_GAP_PROBE_NS 400000ull /* while something is known to be missing */
/* A standard peer gets many packets again, a selective one gets one. */
#define MIN_RESEND_NS 1000000ull
#define MIN_REPEAT_NS 400000ull
/* After so many resends a selective peer has perhaps dropped what it kept. */
#define TRUSTED_RESENDS 3
/* Before the first round trip is measured. */
#define FIRST_PROBE_NS 4000000ull
/* Packets that a loss is counted as if the peer has to get all after it again. */
#define GO_BACK_COST 4
/* How often the time to a probe and that to a resend double at most, ... */
#define MAX_DOUBLINGS 10
/* ... and to a probe, if the RTT may limit the window, so that the queue is short. */
#define MAX_SHORT_DOUBLINGS 4

/* IBTA table 45, in units of 10 us. */
/* clang-format off */
static const u32 rnr_table[32] = {
	65536,	  1,	  2,	  3,	  4,	  6,	  8,	 12,
	   16,	 24,	 32,	 48,	 64,	 96,	128,	192,
	  256,	384,	512,	768,   1024,   1536,   2048,   3072,
	 4096,	6144,	8192, 12288,  16384,  24576,  32768,  49152,
};

/* clang-format on */

u64 ornic_rnr_ns(u8 code)
{
	return rnr_table[code & ORNIC_AETH_VALUE_MASK] * 10000ull;
}

/*
 * How long to wait. A peer may ask for 10 us again and again, and a timer's time
 * is charged to no process: each wait in a row is longer than the last one, by
 * up to a millisecond.
 */
static u64 rnr_wait_ns(struct ornic_sq *sq, u8 code)
{
	u64 more = 0;

	if (sq->retry.rnr_waits)
		more = ORNIC_RNR_STEP_NS << (sq->retry.rnr_waits - 1);
	if (sq->retry.rnr_waits <= ORNIC_RNR_STEPS_LOG)
		sq->retry.rnr_waits++;
	return ornic_rnr_ns(code) + more;
}

/* The earlier of two times; 0 is none, and so is a @b that is over. */
static u64 earlier_of(u64 a, u64 b, u64 now)
{
	if (b <= now)
		return a;
	return a && a < b ? a : b;
}

void ornic_retry_arm(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u64 when = sq->deadline;

	when = earlier_of(when, sq->backoff.until, ctx->now);
	when = earlier_of(when, sq->gaps.ask_at, ctx->now);
	when = earlier_of(when, READ_ONCE(qp->rq.backoff.until), ctx->now);
	when = earlier_of(when, READ_ONCE(qp->rq.dead_until), ctx->now);
	when = earlier_of(when, READ_ONCE(qp->rq.ahead.nak_at), ctx->now);
	when = earlier_of(when, READ_ONCE(qp->rq.ahead.expires), ctx->now);
	if (!when || (sq->timer_at && sq->timer_at <= when))
		return;
	sq->timer_at = when;
	qp->dev->ops->deadline(qp->dev->host, qp->host_qp, when);
}

/* True if a response is outstanding, or will be when the port takes a frame. */
static bool is_outstanding(struct ornic_sq *sq)
{
	return ornic_psn_diff(sq->max_psn, sq->acked) > 0 ||
	       (sq->backoff.tries && sq->cur != sq->fetched &&
		ornic_swqe(sq, sq->cur)->started);
}

/* When the last packet goes again if nothing comes. */
static u64 probe_ns(const struct ornic_sq *sq)
{
	u64 ns;

	/* One probe is no sign yet that this is too early. */
	if (!sq->rtt.smooth)
		return FIRST_PROBE_NS
		       << (sq->rtt.backoff > 1 ? sq->rtt.backoff : 0);
	if (sq->gaps.used && !sq->delay.cwnd && !sq->rtt.early)
		/* Few but resends are under way: the queue of ours is short. */
		ns = max_t(u64, 4 * sq->rtt.least, MIN_GAP_PROBE_NS);
	else
		ns = max_t(u64, 2 * sq->rtt.smooth + 4 * sq->rtt.var,
			   MIN_PROBE_NS);
	return ns << sq->rtt.backoff;
}

static u64 resend_ns(const struct ornic_sq *sq)
{
	u64 least = sq->selective == ORNIC_SELECTIVE_YES ? MIN_REPEAT_NS :
							   MIN_RESEND_NS;

	return max_t(u64, ornic_sq_rto_ns(sq), least) << sq->retry.resends;
}

/*
 * IBTA 9.7.6.1.3: 4.096 us * 2^timeout, at most four times as long. A peer
 * without a response so far may be slow: wait longer.
 */
static void start_ack_timer(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u32 used = qp->retry_cnt - sq->retry.left + sq->retry.grace_used;

	sq->retry.ack_at =
		ctx->now + (4096ull << qp->timeout << min_t(u32, used, 2));
	sq->retry.resends = 0;
	sq->retry.postponed = false;
	sq->retry.peer_seen = READ_ONCE(*ornic_qp_peer_seen(qp));
	sq->deadline = sq->retry.ack_at;
}

void ornic_retry_timer(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->wait != ORNIC_WAIT_NONE || sq->retry.nak_held)
		return;
	if (!qp->timeout || !is_outstanding(sq)) {
		sq->deadline = 0;
		return;
	}
	if (sq->deadline)
		return;
	start_ack_timer(ctx, qp);
	/* What is lost without packets is lost again. */
	if (!qp->path.loop)
		sq->deadline =
			min_t(u64, sq->deadline, ctx->now + probe_ns(sq));
	ornic_retry_arm(ctx, qp);
}

/*
 * What any QP of the peer sends in its turn proves that it is alive; such a timeout
 * costs no retry. At most retry_cnt of them, as IBTA 9.9.2.1.1 bounds the
 * time until the error by the retries.
 */
static bool grant_retry_grace(struct ornic_qp *qp)
{
	u64 peer_seen = READ_ONCE(*ornic_qp_peer_seen(qp));
	struct ornic_sq *sq = &qp->sq;

	if (peer_seen == sq->retry.peer_seen ||
	    (peer_seen & ~ORNIC_PEER_SEEN_TIME) != qp->peer ||
	    sq->retry.grace_used >= qp->retry_cnt)
		return false;
	sq->retry.grace_used++;
	return true;
}

/* A resend begins; what was under way until now says nothing about it. */
static void begin_recovery(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	sq->retry.recover = sq->max_psn;
	sq->retry.recover_until = ctx->now + sq->rtt.last;
	ornic_trace(qp, ORNIC_TRACE_RETRY, sq->retry.left, sq->acked,
		    sq->window);
}

/* What the peer kept it may have dropped by now: a NAK tells if not. */
static void doubt_peer(struct ornic_sq *sq)
{
	if (sq->selective != ORNIC_SELECTIVE_YES)
		return;
	sq->selective = ORNIC_SELECTIVE_DOUBTED;
	ornic_gaps_doubt(sq);
}

/*
 * From the oldest PSN without a response on: all, or, to a peer that keeps what
 * it gets, those that it is known to lack.
 */
static void resend_from_oldest(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->selective == ORNIC_SELECTIVE_YES &&
	    sq->retry.resends < TRUSTED_RESENDS) {
		ornic_gaps_oldest(ctx, qp);
		return;
	}
	doubt_peer(sq);
	ornic_delay_resent(ctx, qp, GO_BACK_COST);
	ornic_req_seek(qp, sq->acked);
}

static void resend_unacked(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	qp->sq.deadline = 0;
	qp->sq.retry.nak_held = false;
	begin_recovery(ctx, qp);
	ornic_qp_stat_inc(qp, ORNIC_STAT_RETRIES);
	resend_from_oldest(ctx, qp);
}

/* Go back to the oldest PSN without a response, or give up. */
static void retry_or_fail(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (!sq->retry.left) {
		ornic_comp_fail(ctx, qp, ORNIC_CQE_RETRY_EXC_ERR,
				ORNIC_VERR_TIMEOUT);
		return;
	}
	sq->retry.left--;
	resend_unacked(ctx, qp);
}

/*
 * The window becomes smaller if going back costs more than the packet; or, if it is
 * larger than what any path takes, while queues are long. A long RTT alone may be that
 * of a busy CPU, and a selective peer needs one packet again: see judge_loss() for losses
 * that are too many.
 */
static void shrink_window(struct ornic_sq *sq)
{
	u32 least = ORNIC_LOSS_WINDOW;

	if (sq->selective == ORNIC_SELECTIVE_YES) {
		if (sq->rtt.last <= 2 * sq->rtt.least)
			return;
		least = ORNIC_SEND_WINDOW;
	}
	if (sq->window > least)
		sq->window = max_t(u32, sq->window / 2, least);
}

/*
 * A packet was lost: go back to it. That is no retry if the peer got further
 * before, unless IBTA 9.9.2.1.1 allows none at all.
 */
static void lost_packet(struct ornic_ctx *ctx, struct ornic_qp *qp,
			bool progress)
{
	shrink_window(&qp->sq);
	if (progress && qp->retry_cnt)
		resend_unacked(ctx, qp);
	else
		retry_or_fail(ctx, qp);
}

void ornic_retry_back(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 psn)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->wait == ORNIC_WAIT_RNR ||
	    (ctx->now < sq->retry.recover_until &&
	     ornic_psn_diff(psn, sq->retry.recover) < 0))
		return;
	begin_recovery(ctx, qp);
	ornic_qp_stat_inc(qp, ORNIC_STAT_RETRIES);
	ornic_delay_resent(ctx, qp, GO_BACK_COST);
	ornic_req_seek(qp, psn);
}

void ornic_retry_gap(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 from,
		     u32 end)
{
	/* All before it goes again when the wait is over. */
	if (qp->sq.wait == ORNIC_WAIT_RNR)
		return;
	if (!qp->retry_cnt) {
		retry_or_fail(ctx, qp);
		return;
	}
	/* Packets that are lost together are one loss. */
	if (ornic_psn_diff(from, qp->sq.retry.recover) >= 0) {
		begin_recovery(ctx, qp);
		ornic_qp_stat_inc(qp, ORNIC_STAT_RETRIES);
	}
	ornic_gaps_ask(ctx, qp, from, end);
}

/*
 * A sequence NAK for what was just sent again. Packets that were under way then
 * may have caused it: two that swap their places cause one NAK each. If it is
 * true, nothing is acknowledged within a round trip of the resend.
 */
static bool hold_nak(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 psn)
{
	struct ornic_sq *sq = &qp->sq;

	if (ctx->now >= sq->retry.recover_until ||
	    ornic_psn_diff(psn, sq->retry.recover) >= 0)
		return false;
	sq->retry.nak_held = true;
	sq->deadline = sq->retry.recover_until;
	ornic_retry_arm(ctx, qp);
	return true;
}

/*
 * The NAK of a peer that keeps what it gets names that, so what is sent again is
 * no more than what is missing. It costs no retry, as long as the ACK timeout
 * does not pass without progress. False if the peer keeps nothing, so that it has
 * to get all after the gap again.
 */
static bool selective_nak(struct ornic_ctx *ctx, struct ornic_qp *qp,
			  const struct ornic_pkt *pkt)
{
	u32 last = ornic_gaps_sack(ctx, qp, pkt);
	struct ornic_sq *sq = &qp->sq;

	if (last == pkt->psn) {
		sq->selective = ORNIC_SELECTIVE_FULL;
		return false;
	}
	sq->selective = ORNIC_SELECTIVE_YES;
	if (ornic_psn_diff(pkt->psn, sq->retry.recover) >= 0)
		shrink_window(sq);
	ornic_retry_gap(ctx, qp, pkt->psn, last);
	return true;
}

void ornic_retry_nak(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_pkt *pkt, bool progress)
{
	struct ornic_sq *sq = &qp->sq;

	ornic_qp_stat_inc(qp, ORNIC_STAT_SEQ_NAK_RCVD);
	/* Of packets that were under way before the RNR NAK came. */
	if (sq->wait == ORNIC_WAIT_RNR)
		return;
	if (sq->selective != ORNIC_SELECTIVE_NO && selective_nak(ctx, qp, pkt))
		return;
	if (!hold_nak(ctx, qp, pkt->psn))
		lost_packet(ctx, qp, progress);
}

void ornic_retry_rnr(struct ornic_ctx *ctx, struct ornic_qp *qp, u8 code)
{
	struct ornic_sq *sq = &qp->sq;

	ornic_qp_stat_inc(qp, ORNIC_STAT_RNR_NAK_RCVD);
	if (!sq->retry.rnr_left) {
		ornic_comp_fail(ctx, qp, ORNIC_CQE_RNR_RETRY_EXC_ERR,
				ORNIC_VERR_RNR);
		return;
	}
	if (qp->rnr_retry != ORNIC_RETRY_INFINITE)
		sq->retry.rnr_left--;
	/*
	 * The peer is alive and the path works. Otherwise the sequence NAKs
	 * of a responder that sends both for a message of several packets
	 * would use up the retries during the RNR wait.
	 */
	sq->retry.left = qp->retry_cnt;
	ornic_trace(qp, ORNIC_TRACE_RETRY, sq->retry.rnr_left, sq->acked,
		    sq->window);
	ornic_qp_stat_inc(qp, ORNIC_STAT_RETRIES);
	ornic_gaps_stop(sq);
	ornic_req_seek(qp, sq->acked);
	sq->retry.nak_held = false;
	/* What is refused once is not sent in full again: one packet asks. */
	sq->window = 1;
	sq->wait = ORNIC_WAIT_RNR;
	sq->deadline = ctx->now + rnr_wait_ns(sq, code);
	ornic_retry_arm(ctx, qp);
}

void ornic_retry_postpone(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u64 when = ctx->now + probe_ns(sq);

	if (!sq->deadline || sq->wait != ORNIC_WAIT_NONE ||
	    sq->retry.nak_held || when < sq->deadline)
		return;
	sq->deadline = min_t(u64, when, sq->retry.ack_at);
}

/* Does the window follow the RTT, and become smaller by loss? */
static bool has_rtt_control(const struct ornic_qp *qp)
{
	return READ_ONCE(qp->dev->cc_param[ORNIC_CC_RTT_ENABLE]);
}

/* Does the first response after a timer has expired show that something was lost? */
static bool shows_loss(const struct ornic_pkt *pkt)
{
	if (pkt->selective)
		return pkt->selective & ORNIC_BTH_AGAIN;
	return pkt->syndrome == (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ);
}

/*
 * A selective peer tells if it answers a copy. If the first response after a timer has
 * expired does, something was lost. Else something was under way still, and the timer was
 * early: the time to a probe stays doubled until there is a sample (RFC 6298, 5.5 to 5.7),
 * which what was sent first gives even if it was sent again. Of other peers only NAKs are
 * news; after an ACK one doubling goes. After a loss half of them go: where copies are lost
 * as well, the path is full, and unless the RTT does it nothing else makes a QP slower.
 */
void ornic_retry_judge(struct ornic_qp *qp, const struct ornic_pkt *pkt)
{
	struct ornic_sq *sq = &qp->sq;
	bool lost = shows_loss(pkt);

	if (sq->retry.silent) {
		sq->rtt.early = pkt->selective && !lost;
		if (lost)
			sq->rtt.backoff =
				has_rtt_control(qp) ? 0 : sq->rtt.backoff / 2;
		else if (!pkt->selective && sq->rtt.backoff)
			sq->rtt.backoff--;
	}
	if (pkt->selective && !lost &&
	    ornic_psn_add(pkt->psn, 1) == sq->rtt.psn)
		sq->rtt.again = false;
	sq->retry.silent = false;
	sq->retry.judge = sq->rtt.start && sq->rtt.again;
}

/* A probe or resend is due. */
static void note_expiry(struct ornic_qp *qp)
{
	u32 most = has_rtt_control(qp) ? MAX_SHORT_DOUBLINGS : MAX_DOUBLINGS;
	struct ornic_sq *sq = &qp->sq;

	if (sq->rtt.backoff < most)
		sq->rtt.backoff++;
	sq->retry.silent = true;
	sq->retry.judge = true;
}

/*
 * No response for long, but not for the ACK timeout: the last packet goes again,
 * or the oldest. That is no retry.
 */
static void resend_early(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	sq->deadline = min_t(u64, sq->retry.ack_at, ctx->now + resend_ns(sq));
	ornic_retry_arm(ctx, qp);
	/* Nothing is out if the port has refused it. */
	if (ornic_psn_diff(sq->max_psn, sq->acked) <= 0)
		return;
	ornic_qp_stat_inc(qp, ORNIC_STAT_ROCE_ADP_RETRANS);
	note_expiry(qp);
	if (!sq->retry.resends) {
		ornic_gaps_probe(ctx, qp);
	} else {
		ornic_qp_stat_inc(qp, ORNIC_STAT_ROCE_ADP_RETRANS_TO);
		begin_recovery(ctx, qp);
		if (sq->selective != ORNIC_SELECTIVE_YES ||
		    sq->retry.resends > TRUSTED_RESENDS)
			sq->window = min_t(u32, sq->window, ORNIC_LOSS_WINDOW);
		resend_from_oldest(ctx, qp);
	}
	if (sq->retry.resends <= MAX_DOUBLINGS)
		sq->retry.resends++;
}

/*
 * True if what is to be sent waits for its place in the rate of the QP: nothing is
 * late before it has left. The ACK timer waits for that once before each retry.
 */
static bool wait_for_slot(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	bool timeout = ctx->now >= sq->retry.ack_at;

	if (likely(!sq->backoff.slot) || ctx->now >= sq->backoff.until ||
	    sq->wait != ORNIC_WAIT_NONE || sq->retry.nak_held ||
	    (timeout && sq->retry.postponed))
		return false;
	if (timeout) {
		sq->retry.postponed = true;
		sq->retry.ack_at = sq->backoff.until + (4096ull << qp->timeout);
	}
	sq->deadline =
		min_t(u64, sq->retry.ack_at, sq->backoff.until + probe_ns(sq));
	ornic_retry_arm(ctx, qp);
	return true;
}

void ornic_retry_expire(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	sq->timer_at = 0;
	if (unlikely(sq->gaps.ask_at))
		ornic_gaps_late(ctx, qp);
	if (!sq->deadline)
		return;
	if (ctx->now < sq->deadline) {
		ornic_retry_arm(ctx, qp);
		return;
	}
	if (wait_for_slot(ctx, qp))
		return;
	sq->deadline = 0;
	if (sq->wait == ORNIC_WAIT_RNR || sq->wait == ORNIC_WAIT_PEER) {
		sq->wait = ORNIC_WAIT_NONE;
		return;
	}
	if (sq->retry.nak_held) {
		lost_packet(ctx, qp, false);
		return;
	}
	if (ctx->now < sq->retry.ack_at) {
		resend_early(ctx, qp);
		return;
	}
	ornic_qp_stat_inc(qp, ORNIC_STAT_TIMEOUTS);
	/*
	 * Perhaps everything is queued at a busy peer. Do not add to it: one
	 * packet finds out, and responses open the window again.
	 */
	sq->window = 1;
	doubt_peer(sq);
	if (grant_retry_grace(qp))
		resend_unacked(ctx, qp);
	else
		retry_or_fail(ctx, qp);
}
