// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completer: handles ACKs, NAKs and READ/atomic responses.
 *
 * Invariants, sq.lock held: WQEs complete in order; sq.acked is the oldest PSN
 * that is not acknowledged; tail <= cur <= fetched; acked <= psn <= max_psn. A
 * response counts only if its PSN is in [acked, max_psn).
 *
 * Timer law: there is one deadline. During an RNR wait it is the end of that
 * wait; while a sequence NAK is held, the end of the round trip in which packets
 * go back to it; else the ACK timeout, which starts with the first packet, moves
 * with each progress and stops when nothing is outstanding. The host's timer may
 * be early, never late: it is set again on expiry, so that progress costs no
 * timer operation. The same timer serves the short waits for a port that refused
 * a frame (struct ornic_backoff). The ACK timer runs meanwhile, so that a port
 * that is down ends in a timeout as well.
 */
#include "proto.h"

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

static bool is_fetch(const struct ornic_swqe *sw)
{
	return sw->kind & ORNIC_OPF_HAS_RESPONSE;
}

static void push_cqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_swqe *sw, enum ornic_cqe_status status,
		     enum ornic_vendor_err verr)
{
	struct ornic_cqe cqe = {
		.wr_id = cpu_to_le64(sw->wr_id),
		.wqe_index = cpu_to_le32(sw->index),
		.qpn = cpu_to_le32(qp->qpn),
		.byte_len = cpu_to_le32(sw->length),
		.vlan = cpu_to_le16(ORNIC_VLAN_NONE),
		.opcode = sw->info->cqe,
		.status = status,
		.vendor_err = verr,
	};

	ornic_trace(qp, ORNIC_TRACE_COMPLETION, (u32)status << 8 | cqe.opcode,
		    sw->index, sw->length);
	if (ornic_cq_push(ctx, qp->sq.cq, &cqe, status != ORNIC_CQE_SUCCESS))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CQES);
}

/* Completion counters count WQEs that have no CQE, too. */
static void count_wqe(struct ornic_qp *qp, const struct ornic_swqe *sw,
		      enum ornic_cntr_entry entry)
{
	if (unlikely(qp->cntr_ops))
		ornic_comp_cntr_send(qp, sw->info->cqe, entry);
}

/* The oldest WQE has succeeded; it completes if it is signaled. */
static void retire_wqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
		       const struct ornic_swqe *sw)
{
	count_wqe(qp, sw, ORNIC_CNTR_COMPLETIONS);
	if (sw->flags & ORNIC_WQE_SIGNALED ||
	    qp->create_flags & ORNIC_QP_SIG_ALL)
		push_cqe(ctx, qp, sw, ORNIC_CQE_SUCCESS, ORNIC_VERR_NONE);
	qp->sq.tail++;
}

/*
 * An RTT above timeout/4 means that the peer is congested: halve the window.
 * Above timeout/8 the window does not grow.
 */
static void take_rtt_sample(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u64 timeout = 4096ull << (qp->timeout ? qp->timeout : 14);
	u64 took = ctx->now - sq->rtt.start;

	sq->rtt.start = 0;
	sq->rtt.last = min_t(u64, took, timeout / 4);
	sq->rtt.congested = took > timeout / 8;
	if (took > timeout / 4 && sq->window > ORNIC_LATE_WINDOW)
		sq->window = max_t(u32, sq->window / 2, ORNIC_LATE_WINDOW);
}

void ornic_comp_progress(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 acked)
{
	struct ornic_sq *sq = &qp->sq;
	u32 gain = ornic_psn_diff(acked, sq->acked);

	if (sq->rtt.start && ornic_psn_diff(acked, sq->rtt.psn) >= 0)
		take_rtt_sample(ctx, qp);
	if (!sq->rtt.congested)
		sq->window = min_t(u32, sq->window + gain, ORNIC_SEND_WINDOW);
	sq->acked = acked;
	sq->retry.left = qp->retry_cnt;
	sq->retry.rnr_left = qp->rnr_retry;
	sq->retry.rnr_waits = 0;
	sq->retry.grace_used = 0;
	sq->retry.gap = false;
	sq->retry.nak_held = false;
	if (sq->wait == ORNIC_WAIT_NONE)
		sq->deadline = 0;
}

void ornic_comp_success(struct ornic_ctx *ctx, struct ornic_qp *qp,
			struct ornic_swqe *sw)
{
	struct ornic_sq *sq = &qp->sq;
	u32 end = ornic_psn_add(sw->first_psn, sw->npkts);

	if (is_fetch(sw) && sq->rd_out)
		sq->rd_out--;
	retire_wqe(ctx, qp, sw);
	ornic_comp_progress(ctx, qp, end);
	/* A response that overtook a retransmission: do not send it again. */
	if (ornic_psn_diff(end, sq->psn) > 0)
		ornic_req_seek(qp, end);
	ornic_comp_local(ctx, qp);
}

void ornic_comp_local(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;

	while (sq->tail != sq->cur) {
		sw = ornic_swqe(sq, sq->tail);
		if (sw->kind != ORNIC_OPF_LOCAL)
			return;
		retire_wqe(ctx, qp, sw);
	}
}

void ornic_comp_fail(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     enum ornic_cqe_status status, enum ornic_vendor_err verr)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->tail == sq->fetched)
		return;
	count_wqe(qp, ornic_swqe(sq, sq->tail), ORNIC_CNTR_ERRORS);
	push_cqe(ctx, qp, ornic_swqe(sq, sq->tail), status, verr);
	sq->tail++;
	if (ornic_qp_is_reliable(qp)) {
		ornic_qp_error(ctx, qp);
		return;
	}
	ornic_lock(&qp->rq.lock);
	WRITE_ONCE(qp->state, ORNIC_QPS_SQE);
	ornic_unlock(&qp->rq.lock);
	ornic_sq_flush(ctx, qp);
}

bool ornic_comp_read(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_swqe *sw)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;

	if (sw->opcode == ORNIC_WQE_READ_INV)
		verr = ornic_req_invalidate(qp, sw);
	if (verr == ORNIC_VERR_NONE)
		ornic_comp_success(ctx, qp, sw);
	else
		ornic_comp_fail(ctx, qp, ORNIC_CQE_MW_BIND_ERR, verr);
	return verr == ORNIC_VERR_NONE;
}

void ornic_sq_flush(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;
	u32 n;

	sq->wait = ORNIC_WAIT_NONE;
	sq->retry.nak_held = false;
	sq->deadline = 0;
	ornic_backoff_reset(&sq->backoff);
	sq->rd_out = 0;
	if (!sq->depth)
		return;
	for (n = 0; n <= sq->depth; n++) {
		if (sq->tail == sq->fetched && !ornic_sq_fetch(qp)) {
			sq->cur = sq->tail;
			WRITE_ONCE(sq->record->kick_wanted, cpu_to_le32(1));
			/* Pairs with the host's barrier before it reads it. */
			smp_mb();
			if (!ornic_sq_fetch(qp))
				return;
		}
		sw = ornic_swqe(sq, sq->tail);
		count_wqe(qp, sw, ORNIC_CNTR_ERRORS);
		push_cqe(ctx, qp, sw, ORNIC_CQE_WR_FLUSH_ERR, ORNIC_VERR_FLUSH);
		sq->tail++;
	}
	sq->cur = sq->tail;
	ornic_qp_resched(qp);
}

void ornic_sq_check_drained(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (!sq->draining || qp->state != ORNIC_QPS_SQD)
		return;
	if (sq->tail != sq->fetched && ornic_swqe(sq, sq->tail)->started)
		return;
	sq->draining = false;
	if (qp->sqd_notify)
		ornic_ctx_event(ctx, ORNIC_EVENT_SQ_DRAINED, qp->qpn, 0);
}

/* ---- timer and retries ------------------------------------------------------ */

/* The earlier of two times; 0 is none, and so is a @b that is over. */
static u64 earlier_of(u64 a, u64 b, u64 now)
{
	if (b <= now)
		return a;
	return a && a < b ? a : b;
}

void ornic_comp_arm(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u64 when = sq->deadline;

	when = earlier_of(when, sq->backoff.until, ctx->now);
	when = earlier_of(when, READ_ONCE(qp->rq.backoff.until), ctx->now);
	when = earlier_of(when, READ_ONCE(qp->rq.dead_until), ctx->now);
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

void ornic_comp_timer(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u32 used;

	if (sq->wait != ORNIC_WAIT_NONE || sq->retry.nak_held)
		return;
	if (!qp->timeout || !is_outstanding(sq)) {
		sq->deadline = 0;
		return;
	}
	if (sq->deadline)
		return;
	/*
	 * IBTA 9.7.6.1.3: 4.096 us * 2^timeout, at most four times as long. A
	 * peer without a response so far may be slow: wait longer.
	 */
	used = qp->retry_cnt - sq->retry.left + sq->retry.grace_used;
	sq->deadline =
		ctx->now + (4096ull << qp->timeout << min_t(u32, used, 2));
	sq->retry.peer_seen = READ_ONCE(*ornic_qp_peer_seen(qp));
	ornic_comp_arm(ctx, qp);
}

/*
 * Traffic from any QP of the peer proves that it is alive; such a timeout
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

static void resend_unacked(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	sq->deadline = 0;
	sq->retry.nak_held = false;
	sq->retry.recover = sq->max_psn;
	sq->retry.recover_until = ctx->now + sq->rtt.last;
	ornic_trace(qp, ORNIC_TRACE_RETRY, sq->retry.left, sq->acked,
		    sq->window);
	ornic_qp_stat_inc(qp, ORNIC_STAT_RETRIES);
	ornic_req_seek(qp, sq->acked);
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

/* A response is missing before one that came; the rest of it is on the way. */
static void response_missing(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	if (qp->sq.retry.gap || qp->sq.wait != ORNIC_WAIT_NONE)
		return;
	qp->sq.retry.gap = true;
	retry_or_fail(ctx, qp);
}

/*
 * A packet was lost: go back to it. That is no retry if the peer got further
 * before, unless IBTA 9.9.2.1.1 allows none at all.
 */
static void lost_packet(struct ornic_ctx *ctx, struct ornic_qp *qp,
			bool progress)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->window > ORNIC_LOSS_WINDOW)
		sq->window = max_t(u32, sq->window / 2, ORNIC_LOSS_WINDOW);
	if (progress && qp->retry_cnt)
		resend_unacked(ctx, qp);
	else
		retry_or_fail(ctx, qp);
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
	ornic_comp_arm(ctx, qp);
	return true;
}

void ornic_comp_rnr(struct ornic_ctx *ctx, struct ornic_qp *qp, u8 code)
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
	ornic_req_seek(qp, sq->acked);
	sq->retry.nak_held = false;
	/* What is refused once is not sent in full again: one packet asks. */
	sq->window = 1;
	sq->wait = ORNIC_WAIT_RNR;
	sq->deadline = ctx->now + rnr_wait_ns(sq, code);
	ornic_comp_arm(ctx, qp);
}

void ornic_comp_expire(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	sq->timer_at = 0;
	if (!sq->deadline)
		return;
	if (ctx->now < sq->deadline) {
		ornic_comp_arm(ctx, qp);
		return;
	}
	sq->deadline = 0;
	if (sq->wait == ORNIC_WAIT_RNR) {
		sq->wait = ORNIC_WAIT_NONE;
		return;
	}
	if (sq->retry.nak_held) {
		lost_packet(ctx, qp, false);
		return;
	}
	ornic_qp_stat_inc(qp, ORNIC_STAT_TIMEOUTS);
	sq->retry.gap = false;
	/*
	 * Perhaps everything is queued at a busy peer. Do not add to it: one
	 * packet finds out, and responses open the window again.
	 */
	sq->window = 1;
	if (grant_retry_grace(qp))
		resend_unacked(ctx, qp);
	else
		retry_or_fail(ctx, qp);
}

/* ---- responses ---------------------------------------------------------------- */

/*
 * Everything before @end is acknowledged. A READ or atomic is so only by its
 * own response; a response beyond it means that this was lost (IBTA C9-145).
 * Returns false in that case.
 */
static bool complete_up_to(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 end)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;
	u32 last;

	while (sq->tail != sq->fetched) {
		sw = ornic_swqe(sq, sq->tail);
		if (!sw->started || ornic_psn_diff(end, sq->acked) <= 0)
			return true;
		if (is_fetch(sw))
			return false;
		last = ornic_psn_add(sw->first_psn, sw->npkts);
		if (ornic_psn_diff(last, end) > 0) {
			ornic_comp_progress(ctx, qp, end);
			if (ornic_psn_diff(end, sq->psn) > 0)
				ornic_req_seek(qp, end);
			return true;
		}
		ornic_comp_success(ctx, qp, sw);
	}
	return true;
}

static void rx_seq_nak(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 psn,
		       bool progress)
{
	ornic_qp_stat_inc(qp, ORNIC_STAT_SEQ_NAK_RCVD);
	/* Of packets that were under way before the RNR NAK came. */
	if (qp->sq.wait != ORNIC_WAIT_NONE)
		return;
	if (!hold_nak(ctx, qp, psn))
		lost_packet(ctx, qp, progress);
}

static void rx_fatal_nak(struct ornic_ctx *ctx, struct ornic_qp *qp, u8 code)
{
	static const u8 status[] = {
		[ORNIC_NAK_INVALID_REQ] = ORNIC_CQE_REM_INV_REQ_ERR,
		[ORNIC_NAK_REMOTE_ACCESS] = ORNIC_CQE_REM_ACCESS_ERR,
		[ORNIC_NAK_REMOTE_OP] = ORNIC_CQE_REM_OP_ERR,
	};

	ornic_qp_stat_inc(qp, ORNIC_STAT_ERR_NAK_RCVD);
	if (code < ARRAY_SIZE(status))
		ornic_comp_fail(ctx, qp, status[code], ORNIC_VERR_NAK);
	else
		ornic_comp_fail(ctx, qp, ORNIC_CQE_BAD_RESP_ERR,
				ORNIC_VERR_BAD_RESPONSE);
}

static void rx_ack(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   const struct ornic_pkt *pkt)
{
	u8 type = pkt->syndrome & ORNIC_AETH_TYPE_MASK;
	u8 value = pkt->syndrome & ORNIC_AETH_VALUE_MASK;
	u32 end = type == ORNIC_AETH_ACK ? ornic_psn_add(pkt->psn, 1) :
					   pkt->psn;
	u32 before = qp->sq.acked;

	ornic_trace(qp, ORNIC_TRACE_ACK, pkt->syndrome, pkt->psn, pkt->msn);
	ornic_qp_stat_inc(qp, ORNIC_STAT_ACKS_RCVD);
	if (!complete_up_to(ctx, qp, end)) {
		response_missing(ctx, qp);
		return;
	}
	if (type == ORNIC_AETH_NAK && value == ORNIC_NAK_PSN_SEQ)
		rx_seq_nak(ctx, qp, pkt->psn, before != qp->sq.acked);
	else if (type == ORNIC_AETH_NAK)
		rx_fatal_nak(ctx, qp, value);
	else if (type == ORNIC_AETH_RNR && qp->sq.wait == ORNIC_WAIT_NONE)
		ornic_comp_rnr(ctx, qp, value);
}

/* Does the response fit its place in the READ? */
static bool read_fits(struct ornic_qp *qp, const struct ornic_swqe *sw,
		      const struct ornic_pkt *pkt, u32 i)
{
	bool last = i + 1 == sw->npkts;
	u32 len = last ? sw->length - i * qp->mtu : qp->mtu;

	return last == !!(pkt->op->flags & ORNIC_OPF_END) &&
	       pkt->payload_len == len;
}

static void rx_read(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    struct ornic_swqe *sw, const struct ornic_pkt *pkt)
{
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	struct ornic_iov src = { .frag = frag, .max = ORNIC_RX_SEGS };
	u32 i = ornic_psn_diff(pkt->psn, sw->first_psn);
	enum ornic_vendor_err verr;

	if (!read_fits(qp, sw, pkt, i)) {
		ornic_comp_fail(ctx, qp, ORNIC_CQE_BAD_RESP_ERR,
				ORNIC_VERR_BAD_RESPONSE);
		return;
	}
	src.n = ornic_pkt_payload(pkt, frag);
	src.bytes = pkt->payload_len;
	verr = ornic_sgl_write(qp, sw->sge, sw->nsge, (u64)i * qp->mtu, &src);
	if (verr != ORNIC_VERR_NONE) {
		ornic_comp_fail(ctx, qp, ORNIC_CQE_LOC_PROT_ERR, verr);
		return;
	}
	ornic_qp_stat_add(qp, ORNIC_STAT_RX_BYTES, pkt->payload_len);
	ornic_comp_progress(ctx, qp, ornic_psn_add(pkt->psn, 1));
	if (i + 1 == sw->npkts)
		ornic_comp_read(ctx, qp, sw);
	else if (ornic_psn_diff(qp->sq.acked, qp->sq.psn) > 0)
		ornic_req_seek(qp, qp->sq.acked);
}

static void rx_atomic(struct ornic_ctx *ctx, struct ornic_qp *qp,
		      struct ornic_swqe *sw, const struct ornic_pkt *pkt)
{
	u64 orig = pkt->orig;
	struct ornic_frag frag = { &orig, sizeof(orig) };
	struct ornic_iov src = { &frag, 1, 1, sizeof(orig) };
	enum ornic_vendor_err verr;

	verr = ornic_sgl_write(qp, sw->sge, sw->nsge, 0, &src);
	if (verr != ORNIC_VERR_NONE)
		ornic_comp_fail(ctx, qp, ORNIC_CQE_LOC_PROT_ERR, verr);
	else
		ornic_comp_success(ctx, qp, sw);
}

/*
 * IBTA A19.4: the response to ATOMIC WRITE and FLUSH is an empty READ
 * response.
 */
static void rx_empty(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_swqe *sw, const struct ornic_pkt *pkt)
{
	if (pkt->opcode == ORNIC_OP_READ_RESP_ONLY && !pkt->payload_len)
		ornic_comp_success(ctx, qp, sw);
	else
		ornic_comp_fail(ctx, qp, ORNIC_CQE_BAD_RESP_ERR,
				ORNIC_VERR_BAD_RESPONSE);
}

/* A response of its own: it must be the one that is due. */
static void rx_data(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_pkt *pkt)
{
	u32 kind = pkt->op->flags & (ORNIC_OPF_READ | ORNIC_OPF_ATOMIC);
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;

	if (!complete_up_to(ctx, qp, pkt->psn)) {
		response_missing(ctx, qp);
		return;
	}
	if (sq->tail == sq->fetched || pkt->psn != sq->acked)
		return;
	sw = ornic_swqe(sq, sq->tail);
	if (!sw->started)
		return;
	if (sw->kind & ORNIC_OPF_EMPTY_RESPONSE) {
		rx_empty(ctx, qp, sw, pkt);
		return;
	}
	if (sw->kind != kind) {
		ornic_comp_fail(ctx, qp, ORNIC_CQE_BAD_RESP_ERR,
				ORNIC_VERR_BAD_RESPONSE);
		return;
	}
	if (kind == ORNIC_OPF_READ)
		rx_read(ctx, qp, sw, pkt);
	else
		rx_atomic(ctx, qp, sw, pkt);
}

void ornic_comp_rx(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   const struct ornic_pkt *pkt)
{
	struct ornic_sq *sq = &qp->sq;

	if (ornic_psn_diff(pkt->psn, sq->acked) < 0 ||
	    ornic_psn_diff(pkt->psn, sq->max_psn) >= 0) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_PSN);
		return;
	}
	if (pkt->op->flags & (ORNIC_OPF_READ | ORNIC_OPF_ATOMIC))
		rx_data(ctx, qp, pkt);
	else
		rx_ack(ctx, qp, pkt);
}
