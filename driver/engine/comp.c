// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completer: handles ACKs, NAKs and READ/atomic responses.
 *
 * Invariants, sq.lock held: WQEs complete in order; sq.acked is the oldest PSN
 * that is not acknowledged; tail <= cur <= fetched; acked <= psn <= max_psn. A
 * response counts only if its PSN is in [acked, max_psn).
 */
#include "proto.h"

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
		.tm_flags = sw->tm_flags,
	};

	ornic_trace(qp, ORNIC_TRACE_COMPLETION, (u32)status << 8 | cqe.opcode,
		    sw->index, sw->length);
	if (unlikely(qp->tm)) {
		ornic_tm_complete(ctx, qp, sw, status, verr);
		return;
	}
	if (ornic_cq_push(ctx, qp->sq.cq, &cqe, status != ORNIC_CQE_SUCCESS))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CQES);
}

/*
 * Completion counters count WQEs that have no CQE, too, but none with an opcode
 * that does not exist, and none that are the device's own.
 */
static void count_wqe(struct ornic_qp *qp, const struct ornic_swqe *sw,
		      enum ornic_cntr_entry entry)
{
	if (unlikely(qp->cntr_ops) && sw->kind && !qp->tm)
		ornic_comp_cntr_send(qp, sw->info->cqe, entry);
}

/* The oldest WQE is done; it completes if it is signaled. */
static void retire_wqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
		       const struct ornic_swqe *sw,
		       enum ornic_cqe_status status, enum ornic_vendor_err verr)
{
	count_wqe(qp, sw, ORNIC_CNTR_COMPLETIONS);
	if (sw->flags & ORNIC_WQE_SIGNALED ||
	    qp->create_flags & ORNIC_QP_SIG_ALL)
		push_cqe(ctx, qp, sw, status, verr);
	qp->sq.tail++;
}

/* RFC 6298, 2. The least of all samples rises slowly, as paths change. */
static void smooth_rtt(struct ornic_sq *sq, u64 took)
{
	u64 off = took > sq->rtt.smooth ? took - sq->rtt.smooth :
					  sq->rtt.smooth - took;

	if (!sq->rtt.smooth) {
		sq->rtt.smooth = took;
		sq->rtt.var = took / 2;
		sq->rtt.least = took;
		return;
	}
	sq->rtt.var += off / 4 - sq->rtt.var / 4;
	sq->rtt.smooth += took / 8 - sq->rtt.smooth / 8;
	sq->rtt.least = min_t(u64, took, sq->rtt.least + sq->rtt.least / 256);
}

/*
 * An RTT above timeout/4 means that the peer is congested: halve the window.
 * Above timeout/8 the window does not grow.
 */
static void take_sample(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u64 timeout = 4096ull << (qp->timeout ? qp->timeout : 14);
	u64 took = ornic_since(ctx->now, sq->rtt.start);

	sq->rtt.start = 0;
	/* It is compared with PSNs to come, so it must not fall far behind. */
	if (ornic_psn_diff(sq->retry.recover, sq->acked) < 0)
		sq->retry.recover = sq->acked;
	sq->rtt.backoff = 0;
	smooth_rtt(sq, took);
	sq->rtt.last = min_t(u64, took, timeout / 4);
	sq->rtt.congested = took > timeout / 8;
	if (took > timeout / 4 && sq->window > ORNIC_LATE_WINDOW)
		sq->window = max_t(u32, sq->window / 2, ORNIC_LATE_WINDOW);
	if (unlikely(READ_ONCE(qp->dev->cc_param[ORNIC_CC_RTT_ENABLE])))
		ornic_delay_sample(ctx, qp, took);
}

/* Of which of two packets it would be is not known: RFC 6298, 3. */
void ornic_comp_rtt(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	if (likely(!qp->sq.rtt.again))
		take_sample(ctx, qp);
	else
		qp->sq.rtt.start = 0;
}

/*
 * To a peer that keeps what it gets a gap costs nothing but its place in the maps,
 * which have room for gaps that last for three more round trips.
 */
static u32 max_window(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->selective != ORNIC_SELECTIVE_YES)
		return ORNIC_SEND_WINDOW;
	if (unlikely(sq->window > sq->gaps.size / 4))
		ornic_gaps_grow(qp);
	return sq->gaps.size / 2;
}

/*
 * By what was acknowledged; above what any path takes only while queues are short
 * and the window is used, and by a part in a round trip if it was too large once.
 */
static void widen_window(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			 u32 gain)
{
	struct ornic_sq *sq = &qp->sq;

	if (sq->window >= ORNIC_SEND_WINDOW &&
	    (sq->rtt.last >= 2 * sq->rtt.least ||
	     (u32)ornic_psn_diff(sq->max_psn, sq->acked) < sq->window / 2))
		return;
	if (unlikely(sq->probing)) {
		if (sq->delay.cwnd) {
			ornic_delay_widen(ctx, qp, gain, max_window(qp));
			return;
		}
		sq->credit += gain;
		if (sq->credit < sq->window)
			return;
		sq->credit = 0;
		gain = 1 + sq->window / 32;
	}
	sq->window = min_t(u32, sq->window + gain, max_window(qp));
}

void ornic_comp_progress(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 acked)
{
	struct ornic_sq *sq = &qp->sq;
	u32 gain = ornic_psn_diff(acked, sq->acked);

	if (sq->rtt.start && ornic_psn_diff(acked, sq->rtt.psn) >= 0)
		ornic_comp_rtt(ctx, qp);
	/* What makes no packets shows nothing of their way. */
	if (!sq->rtt.congested && !ctx->direct)
		widen_window(ctx, qp, gain);
	if (unlikely(sq->gaps.used))
		ornic_gaps_forget(qp, acked);
	sq->acked = acked;
	sq->retry.left = qp->retry_cnt;
	sq->retry.rnr_left = qp->rnr_retry;
	sq->retry.nak_held = false;
	sq->retry.rnr_waits = 0;
	sq->retry.grace_used = 0;
	/* For pages it waits without a timer, now that no NAK is held. */
	if (sq->wait == ORNIC_WAIT_NONE || sq->wait == ORNIC_WAIT_PAGES)
		sq->deadline = 0;
}

/* The oldest request for a response, or a piece of one, has it. */
static void fetch_done(struct ornic_sq *sq)
{
	if (sq->rd_out)
		sq->rd_out--;
	if (unlikely(sq->gaps.passed))
		sq->gaps.passed--;
}

/*
 * The peer has more than was sent again: go on at acked. What follows was to be sent
 * again as well, so it is not looked at: there may be as many WQEs as the window has
 * PSNs, and this is done for each that completes.
 */
static void skip_to_acked(struct ornic_sq *sq)
{
	struct ornic_swqe *sw;
	u32 i;

	sq->psn = sq->acked;
	sq->rd_out = 0;
	sq->gaps.passed = 0;
	sq->unacked_pkts = 0;
	sq->rtt.start = 0;
	for (i = sq->tail; i != sq->fetched; i++) {
		sw = ornic_swqe(sq, i);
		if (!sw->started)
			break;
		sw->pkts = (u32)-ornic_psn_diff(sw->first_psn, sq->acked);
		if (sw->kind != ORNIC_OPF_LOCAL || !sw->done)
			break;
	}
	sq->cur = i;
}

void ornic_comp_success(struct ornic_ctx *ctx, struct ornic_qp *qp,
			struct ornic_swqe *sw)
{
	struct ornic_sq *sq = &qp->sq;
	u32 end = ornic_psn_add(sw->first_psn, sw->npkts);

	if (ornic_swqe_is_fetch(sw))
		fetch_done(sq);
	retire_wqe(ctx, qp, sw, ORNIC_CQE_SUCCESS, ORNIC_VERR_NONE);
	ornic_comp_progress(ctx, qp, end);
	if (ornic_psn_diff(end, sq->psn) > 0)
		skip_to_acked(sq);
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
		/* It has failed if it is a change of a tag list. */
		retire_wqe(ctx, qp, sw, sw->status, sw->verr);
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
	/* No other state goes on after an error of a change of a tag list. */
	if (ornic_qp_is_reliable(qp) || qp->tag_srq) {
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
	ornic_fault_forget(&sq->fault);
	sq->retry.nak_held = false;
	sq->deadline = 0;
	ornic_backoff_reset(&sq->backoff);
	sq->rd_out = 0;
	ornic_gaps_reset(qp);
	if (!sq->depth)
		return;
	for (n = 0; n <= sq->depth; n++) {
		if (unlikely(qp->tag_srq))
			ornic_tags_taken(qp, sq->tail);
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

/* ---- responses ---------------------------------------------------------------- */

bool ornic_comp_up_to(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 end)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;
	u32 last;

	while (sq->tail != sq->fetched) {
		sw = ornic_swqe(sq, sq->tail);
		if (!sw->started || ornic_psn_diff(end, sq->acked) <= 0)
			return true;
		if (ornic_swqe_is_fetch(sw))
			return false;
		last = ornic_psn_add(sw->first_psn, sw->npkts);
		if (ornic_psn_diff(last, end) > 0) {
			ornic_comp_progress(ctx, qp, end);
			if (ornic_psn_diff(end, sq->psn) > 0)
				skip_to_acked(sq);
			return true;
		}
		ornic_comp_success(ctx, qp, sw);
	}
	return true;
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

/* The peer refuses the oldest request, by an RNR NAK or a fatal one. */
static void take_refusal(struct ornic_ctx *ctx, struct ornic_qp *qp,
			 u8 syndrome)
{
	u8 type = syndrome & ORNIC_AETH_TYPE_MASK;
	u8 value = syndrome & ORNIC_AETH_VALUE_MASK;

	if (type == ORNIC_AETH_NAK)
		rx_fatal_nak(ctx, qp, value);
	else if (type == ORNIC_AETH_RNR && qp->sq.wait != ORNIC_WAIT_RNR)
		ornic_retry_rnr(ctx, qp, value);
}

static void rx_ack(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   const struct ornic_pkt *pkt)
{
	bool ack = (pkt->syndrome & ORNIC_AETH_TYPE_MASK) == ORNIC_AETH_ACK;
	u32 end = ack ? ornic_psn_add(pkt->psn, 1) : pkt->psn;
	u32 before = qp->sq.acked;

	/* A standard peer names nothing. */
	if (unlikely(pkt->payload_len) &&
	    qp->sq.selective == ORNIC_SELECTIVE_NO) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_MALFORMED);
		return;
	}
	ornic_trace(qp, ORNIC_TRACE_ACK, pkt->syndrome, pkt->psn, pkt->msn);
	ornic_qp_stat_inc(qp, ORNIC_STAT_ACKS_RCVD);
	if (!ornic_comp_up_to(ctx, qp, end)) {
		ornic_gaps_ack(ctx, qp, pkt, end);
		return;
	}
	if (pkt->syndrome == (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ))
		ornic_retry_nak(ctx, qp, pkt, before != qp->sq.acked);
	else if (!ack)
		take_refusal(ctx, qp, pkt->syndrome);
}

/*
 * Does the response fit its place in the READ? One to a part of it that was
 * missing ends where that part does.
 */
static bool read_fits(const struct ornic_qp *qp, const struct ornic_swqe *sw,
		      const struct ornic_pkt *pkt, u32 i)
{
	bool last = i + 1 == ornic_piece_end(sw, i);
	bool end = pkt->op->flags & ORNIC_OPF_END;
	u32 len = i + 1 == sw->npkts ? sw->length - i * qp->mtu : qp->mtu;

	return (end || !last) && (last || !end || sw->asked_again) &&
	       pkt->payload_len == len;
}

/* The data of a READ response goes to its place. */
static enum ornic_cqe_status place_read(struct ornic_qp *qp,
					const struct ornic_swqe *sw,
					const struct ornic_pkt *pkt,
					enum ornic_vendor_err *verr)
{
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	struct ornic_iov src = { .frag = frag, .max = ORNIC_RX_SEGS };
	u32 i = ornic_psn_diff(pkt->psn, sw->first_psn);

	if (!read_fits(qp, sw, pkt, i))
		return ORNIC_CQE_BAD_RESP_ERR;
	if (unlikely(qp->sq.gaps.used) && ornic_sink_is_newer(&qp->sq, sw, i))
		return ORNIC_CQE_SUCCESS;
	src.n = ornic_pkt_payload(pkt, frag);
	src.bytes = pkt->payload_len;
	*verr = ornic_sgl_write(qp, sw->sge, sw->nsge, (u64)i * qp->mtu, &src);
	if (*verr != ORNIC_VERR_NONE)
		return ORNIC_CQE_LOC_PROT_ERR;
	ornic_qp_stat_add(qp, ORNIC_STAT_RX_BYTES, pkt->payload_len);
	return ORNIC_CQE_SUCCESS;
}

/* Rare, and the way of an ACK is longer with it inside. */
static noinline enum ornic_cqe_status place_atomic(struct ornic_qp *qp,
						   const struct ornic_swqe *sw,
						   const struct ornic_pkt *pkt,
						   enum ornic_vendor_err *verr)
{
	u64 orig = pkt->orig;
	struct ornic_frag frag = { &orig, sizeof(orig) };
	struct ornic_iov src = { &frag, 1, 1, sizeof(orig) };

	if (unlikely(qp->sq.gaps.used) && ornic_sink_is_newer(&qp->sq, sw, 0))
		return ORNIC_CQE_SUCCESS;
	*verr = ornic_sgl_write(qp, sw->sge, sw->nsge, 0, &src);
	return *verr == ORNIC_VERR_NONE ? ORNIC_CQE_SUCCESS :
					  ORNIC_CQE_LOC_PROT_ERR;
}

enum ornic_cqe_status ornic_comp_place(struct ornic_qp *qp,
				       const struct ornic_swqe *sw,
				       const struct ornic_pkt *pkt,
				       enum ornic_vendor_err *verr)
{
	u32 kind = pkt->op->flags & (ORNIC_OPF_READ | ORNIC_OPF_ATOMIC);

	*verr = ORNIC_VERR_BAD_RESPONSE;
	/* IBTA A19.4: to ATOMIC WRITE and FLUSH an empty READ response. */
	if (sw->kind & ORNIC_OPF_EMPTY_RESPONSE)
		return (pkt->opcode & ~ORNIC_TRANSPORT_MASK) ==
					       ORNIC_OP_READ_RESP_ONLY &&
				       !pkt->payload_len ?
			       ORNIC_CQE_SUCCESS :
			       ORNIC_CQE_BAD_RESP_ERR;
	if (sw->kind != kind)
		return ORNIC_CQE_BAD_RESP_ERR;
	if (kind == ORNIC_OPF_READ)
		return place_read(qp, sw, pkt, verr);
	return place_atomic(qp, sw, pkt, verr);
}

bool ornic_comp_response(struct ornic_ctx *ctx, struct ornic_qp *qp,
			 struct ornic_swqe *sw)
{
	struct ornic_sq *sq = &qp->sq;
	u32 next = ornic_psn_add(sq->acked, 1);
	/* From 1 to 2^23: not a signed distance. */
	u32 at = (next - sw->first_psn) & ORNIC_PSN_MASK;

	if (sw->kind != ORNIC_OPF_READ) {
		ornic_comp_success(ctx, qp, sw);
		return true;
	}
	if (at == sw->npkts)
		return ornic_comp_read(ctx, qp, sw);
	ornic_comp_progress(ctx, qp, next);
	if (at == ornic_piece_start(sw, at))
		fetch_done(sq);
	if (ornic_psn_diff(next, sq->psn) > 0)
		skip_to_acked(sq);
	return true;
}

/* A response of its own: it must be the one that is due. */
static void rx_data(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_pkt *pkt)
{
	struct ornic_sq *sq = &qp->sq;
	enum ornic_cqe_status status;
	enum ornic_vendor_err verr;
	struct ornic_swqe *sw;

	if (!ornic_comp_up_to(ctx, qp, pkt->psn)) {
		ornic_gaps_data(ctx, qp, pkt);
		return;
	}
	if (sq->tail == sq->fetched || pkt->psn != sq->acked)
		return;
	sw = ornic_swqe(sq, sq->tail);
	if (!sw->started)
		return;
	status = ornic_comp_place(qp, sw, pkt, &verr);
	if (status == ORNIC_CQE_SUCCESS)
		ornic_comp_response(ctx, qp, sw);
	else if (verr == ORNIC_VERR_PAGE)
		ornic_gaps_unplaced(ctx, qp, pkt->psn);
	else
		ornic_comp_fail(ctx, qp, status, verr);
}

/*
 * Whether the peer keeps what it gets, which its first response shows; or it had no
 * room, or was doubted, and all that was outstanding then is acknowledged.
 */
static noinline void learn_peer(struct ornic_sq *sq,
				const struct ornic_pkt *pkt)
{
	if (ornic_selective_lacks_all(sq->selective)) {
		if (ornic_psn_diff(sq->acked, sq->retry.recover) >= 0)
			sq->selective = ORNIC_SELECTIVE_YES;
		return;
	}
	sq->selective = pkt->selective ? ORNIC_SELECTIVE_YES :
					 ORNIC_SELECTIVE_NO;
}

static void advance_over_gaps(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	u8 syndrome;

	ornic_gaps_advance(ctx, qp);
	if (!qp->sq.gaps.refusal)
		return;
	syndrome = ornic_gaps_refusal(&qp->sq);
	if (syndrome)
		take_refusal(ctx, qp, syndrome);
}

void ornic_comp_rx(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   const struct ornic_pkt *pkt)
{
	bool data = pkt->op->flags & (ORNIC_OPF_READ | ORNIC_OPF_ATOMIC);
	struct ornic_sq *sq = &qp->sq;
	u32 before = sq->acked;

	if (unlikely(sq->gaps.late.judged) && data &&
	    pkt->psn == sq->gaps.late.psn)
		ornic_gaps_judge(ctx, sq);
	if (ornic_psn_diff(pkt->psn, sq->acked) < 0 ||
	    ornic_psn_diff(pkt->psn, sq->max_psn) >= 0) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_PSN);
		return;
	}
	ornic_qp_mark_peer_seen(qp, ctx->now);
	if (unlikely(sq->retry.judge))
		ornic_retry_judge(qp, pkt);
	if (unlikely(ornic_selective_is_open(sq->selective)))
		learn_peer(sq, pkt);
	if (unlikely(sq->gaps.open) && data && pkt->selective)
		ornic_gaps_learn(ctx, sq, pkt);
	if (data)
		rx_data(ctx, qp, pkt);
	else
		rx_ack(ctx, qp, pkt);
	if (unlikely(sq->gaps.open))
		advance_over_gaps(ctx, qp);
	if (sq->acked != before)
		sq->answered = ctx->now;
	if (unlikely(pkt->becn || sq->marks.on))
		ornic_cc_acked(qp, pkt, before);
}
