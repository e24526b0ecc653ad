// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responses on the wire: READ responses and atomic results in the order of
 * their PSNs, as many as the port takes, and after them the ACK or NAK that
 * is due. While a response waits the host runs the QP again as soon as there
 * is room.
 */
#include "proto.h"

/* What of the budget a packet costs that carries no data. */
#define ORNIC_RESP_COST 64

/* A bitmap of so many bytes needs no memory. */
#define SMALL_SACK 64

static_assert(ORNIC_REORDER_WINDOW / 8 <= ORNIC_SACK_MAX);

/*
 * A response acknowledges all before it (IBTA 9.7.5). rxe takes an ACK that is older for the
 * end of a READ response that it lacks a part of. A selective peer does not, and may lack
 * the response.
 */
static void forget_older_ack(struct ornic_rq *rq, u32 psn)
{
	if (!rq->selective &&
	    (rq->syndrome_due & ORNIC_AETH_TYPE_MASK) == ORNIC_AETH_ACK &&
	    ornic_psn_diff(psn, rq->psn_due) > 0)
		WRITE_ONCE(rq->ack_due, false);
}

/* A response, with the marks that are due; @info has ORNIC_BTH_AGAIN or nothing. */
static bool send_response(struct ornic_ctx *ctx, struct ornic_qp *qp,
			  struct ornic_txinfo *info,
			  const struct ornic_iov *payload)
{
	struct ornic_rq *rq = &qp->rq;

	if (rq->selective)
		info->selective |= ORNIC_BTH_SELECTIVE;
	else
		info->selective = 0;
	info->becn = rq->marked;
	info->pkey = (u16)qp->pkey;
	if (!ornic_tx_send(ctx, qp, &rq->backoff, &qp->path, info, payload))
		return false;
	rq->marked = false;
	if (rq->ack_due)
		forget_older_ack(rq, info->psn);
	return true;
}

/* A response without data. */
static bool send_empty(struct ornic_ctx *ctx, struct ornic_qp *qp,
		       struct ornic_txinfo *info)
{
	const struct ornic_iov none = { .n = 0 };

	return send_response(ctx, qp, info, &none);
}

/*
 * A sequence NAK with a bitmap of what is kept, as far as the path MTU allows. Without
 * memory it names less.
 */
static noinline bool send_sack(struct ornic_ctx *ctx, struct ornic_qp *qp,
			       struct ornic_txinfo *info)
{
	u32 nbits = ornic_reorder_bits(ctx, qp, info->psn);
	u32 len = min_t(u32, DIV_ROUND_UP(nbits, 32) * 4, qp->mtu);
	u8 small[SMALL_SACK] __uninitialized, *large = NULL;
	struct ornic_frag frag;
	struct ornic_iov iov = { &frag, 1, 0, 0 };
	bool sent;

	if (len > sizeof(small))
		large = ornic_alloc_atomic(len);
	if (!large)
		len = min_t(u32, len, sizeof(small));
	frag.ptr = large ? large : small;
	frag.len = len;
	ornic_reorder_bitmap(qp, info->psn, nbits, frag.ptr, len);
	iov.n = !!len;
	iov.bytes = len;
	sent = send_response(ctx, qp, info, &iov);
	ornic_free(large);
	return sent;
}

static noinline bool send_ack(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      u8 syndrome, u32 psn)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK | ornic_qp_transport(qp),
		.syndrome = syndrome,
		.selective = qp->rq.again_due ? ORNIC_BTH_AGAIN : 0,
		.dest_qpn = qp->dest_qpn,
		.psn = psn,
		.msn = qp->rq.msn,
	};
	bool sent;

	if (unlikely(syndrome == (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)) &&
	    qp->rq.selective)
		sent = send_sack(ctx, qp, &info);
	else
		sent = send_empty(ctx, qp, &info);
	if (!sent)
		return false;
	ornic_qp_stat_inc(qp, ORNIC_STAT_ACKS_SENT);
	return true;
}

/*
 * Schedule an ACK or NAK for ornic_resp_run(), which sends it after the READ
 * responses that wait and in order with those that the port still holds, or is
 * given next. A later ACK includes an earlier one; a NAK ends the
 * sequence.
 */
static void schedule_ack(struct ornic_qp *qp, u8 syndrome, u32 psn)
{
	struct ornic_rq *rq = &qp->rq;

	rq->again_due = rq->again && (!rq->ack_due || rq->again_due);
	WRITE_ONCE(rq->ack_due, true);
	rq->syndrome_due = syndrome;
	rq->psn_due = psn;
}

void ornic_resp_ack(struct ornic_qp *qp, u32 psn)
{
	schedule_ack(qp, ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE, psn);
}

void ornic_resp_nak_gap(struct ornic_qp *qp)
{
	ornic_qp_stat_inc(qp, ORNIC_STAT_SEQ_NAK_SENT);
	schedule_ack(qp, ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ, qp->rq.epsn);
}

static enum ornic_step send_atomic(struct ornic_ctx *ctx, struct ornic_qp *qp,
				   struct ornic_rd *rd)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ATOMIC_ACK | ornic_qp_transport(qp),
		.syndrome = ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE,
		.selective = rd->again ? ORNIC_BTH_AGAIN : 0,
		.dest_qpn = qp->dest_qpn,
		.psn = rd->first_psn,
		.msn = rd->msn,
		.orig = rd->orig,
	};

	if (!send_empty(ctx, qp, &info))
		return ORNIC_STEP_WAIT;
	rd->busy = false;
	return ORNIC_STEP_DONE;
}

static u8 read_opcode(bool first, bool last)
{
	if (first)
		return last ? ORNIC_OP_READ_RESP_ONLY :
			      ORNIC_OP_READ_RESP_FIRST;
	return last ? ORNIC_OP_READ_RESP_LAST : ORNIC_OP_READ_RESP_MIDDLE;
}

/* Map the data of the next response packet; an error if the key or a page has gone. */
static enum ornic_vendor_err map_read(struct ornic_qp *qp,
				      const struct ornic_rd *rd, u32 off,
				      u32 len, struct ornic_iov *iov)
{
	enum ornic_vendor_err verr;

	if (!len)
		return ORNIC_VERR_NONE;
	/* Requests that came since may be of another PD. */
	if (qp->type == ORNIC_QPT_XRC_TGT)
		qp->pdn = rd->pdn;
	verr = ornic_rkey_map(iov, qp, rd->rkey, rd->va + off, len,
			      ORNIC_ACCESS_REMOTE_READ);
	if (unlikely(verr == ORNIC_VERR_NONE && iov->bytes != len))
		verr = ornic_rkey_gather(iov, qp, rd->rkey, rd->va + off, len);
	return verr;
}

/* WAIT: for an absent page. STOP: the memory may not be read any more. */
static noinline enum ornic_step read_unmapped(struct ornic_ctx *ctx,
					      struct ornic_qp *qp,
					      const struct ornic_rd *rd,
					      enum ornic_vendor_err verr)
{
	u32 off = rd->next * qp->mtu;
	struct ornic_range rest = { rd->va + off, rd->length - off };

	if (verr == ORNIC_VERR_PAGE &&
	    ornic_fault_read(ctx, qp, rd->first_psn, rd->rkey, rest) ==
		    ORNIC_FAULT_WAITS)
		return ORNIC_STEP_WAIT;
	return ORNIC_STEP_STOP;
}

/*
 * All data of a request for a READ has left, for the first time. Of those for the
 * pieces of one READ the last one counts.
 */
static void count_read(struct ornic_qp *qp, const struct ornic_rd *rd)
{
	if (likely(!qp->cntr_ops) || rd->left || rd->empty || rd->more ||
	    !ornic_rd_ends(rd))
		return;
	ornic_qp_count(qp, ORNIC_CNTR_REMOTE_READ, ORNIC_CNTR_COMPLETIONS);
}

static enum ornic_step send_held_read(struct ornic_ctx *ctx,
				      struct ornic_qp *qp, struct ornic_rd *rd)
{
	u32 off = rd->next * qp->mtu;
	u32 len = min_t(u32, rd->length - off, qp->mtu);
	struct ornic_txinfo info = {
		.opcode = read_opcode(!rd->next, rd->next + 1 == rd->pkts) |
			  ornic_qp_transport(qp),
		.syndrome = ORNIC_AETH_ACK | ORNIC_AETH_CREDITS_NONE,
		.selective = rd->again ? ORNIC_BTH_AGAIN : 0,
		.dest_qpn = qp->dest_qpn,
		.psn = ornic_psn_add(rd->psn0, rd->next),
		.msn = rd->msn,
	};
	struct ornic_iov iov = { .frag = qp->rq.frag, .max = ORNIC_RESP_FRAGS };
	enum ornic_vendor_err verr;

	verr = map_read(qp, rd, off, len, &iov);
	if (unlikely(verr != ORNIC_VERR_NONE))
		return read_unmapped(ctx, qp, rd, verr);
	/* After an error there is a time limit for what precedes the NAK. */
	if ((!qp->rq.dead && ornic_cc_waits(ctx, qp, &qp->rq.backoff, len)) ||
	    !send_response(ctx, qp, &info, &iov))
		return ORNIC_STEP_WAIT;
	if (unlikely(qp->rq.fault.state == ORNIC_FAULT_FAILED))
		ornic_fault_read_passed(qp);
	ctx->budget -= len;
	if (++rd->next < rd->pkts)
		return ORNIC_STEP_DONE;
	count_read(qp, rd);
	if (unlikely(rd->nparts))
		ornic_replay_next(qp, rd);
	else
		rd->busy = false;
	return ORNIC_STEP_DONE;
}

/* The next packet of a READ; STOP if its memory may not be read any more. */
static enum ornic_step send_read(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 struct ornic_rd *rd)
{
	struct ornic_frmr *frmr;
	enum ornic_step res;

	frmr = ornic_frmr_hold(ornic_mkey_lookup(qp->dev, rd->rkey));
	res = send_held_read(ctx, qp, rd);
	ornic_frmr_release(frmr);
	return res;
}

/* True if an RNR NAK is due for @psn, or what was before it. */
static bool is_rnr_due(const struct ornic_rq *rq, u32 psn)
{
	return rq->ack_due &&
	       (rq->syndrome_due & ORNIC_AETH_TYPE_MASK) == ORNIC_AETH_RNR &&
	       ornic_psn_diff(rq->psn_due, psn) <= 0;
}

/* The same for a copy of the READ @rd: it does not wait for the response. */
static bool is_copy_refused(const struct ornic_rq *rq,
			    const struct ornic_rd *rd)
{
	return is_rnr_due(rq, ornic_psn_add(rd->psn0, rd->next));
}

/*
 * No copy of the READ @rd, whose end has left, is answered any more. An RNR NAK for one goes
 * as well, as it would become an ACK when nothing waits. If it has replaced an ACK, the peer
 * asks for that again.
 */
static void drop_copies(struct ornic_qp *qp, struct ornic_rd *rd)
{
	struct ornic_rq *rq = &qp->rq;

	ornic_rd_stop(rq, rd);
	rd->valid = false;
	if (is_rnr_due(rq, ornic_psn_add(rd->first_psn, rd->npkts - 1)))
		WRITE_ONCE(rq->ack_due, false);
	ornic_fault_read_dropped(qp, rd->first_psn);
}

/*
 * The memory of @rd may not be read any more. If the end of it has left, the peer may have
 * had all, and have said so in a message since: then its owner takes the key back, and the
 * copies of the request that are still under way end nothing. They are dropped, with those
 * that come later: a peer that misses a part asks for it in vain, and its retries end it.
 */
static noinline void read_lost_access(struct ornic_ctx *ctx,
				      struct ornic_qp *qp, struct ornic_rd *rd)
{
	struct ornic_rq *rq = &qp->rq;

	if (rd->left) {
		drop_copies(qp, rd);
		return;
	}
	WRITE_ONCE(rq->rd_head, rq->rd_tail);
	ornic_resp_die(ctx, rq);
	ornic_qp_count(qp, ORNIC_CNTR_REMOTE_READ, ORNIC_CNTR_ERRORS);
	ornic_qp_stat_inc(qp, ORNIC_STAT_ERR_NAK_SENT);
	ornic_ctx_event(ctx, ORNIC_EVENT_QP_ACCESS_ERR, qp->qpn, 0);
	schedule_ack(qp, ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_ACCESS,
		     ornic_psn_add(rd->psn0, rd->next));
}

/* True if a response can be sent now. */
static bool has_room(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	u32 room;

	if (ornic_backoff_on(&qp->rq.backoff, ctx->now))
		return false;
	room = ornic_qp_tx_room(qp);

	if (room == ORNIC_TX_IDLE)
		qp->rq.reads_out = false;
	return room;
}

/*
 * True if an ACK is sent only where the port keeps it in order with other frames: it may
 * overtake no READ response, and at a standard peer none may overtake it. rxe takes an old
 * ACK among the packets of a response for the end of it.
 */
static bool ack_keeps_order(const struct ornic_rq *rq)
{
	return rq->reads_out || !rq->selective;
}

/* All responses have left, also that of a copy that was refused: that RNR NAK is late. */
static void drop_late_rnr(struct ornic_qp *qp)
{
	u32 last = ornic_psn_add(qp->rq.epsn, ORNIC_PSN_MASK);

	if (is_rnr_due(&qp->rq, last))
		ornic_resp_ack(qp, last);
}

/* A QP without a P_Key sends nothing. The peer asks again when it has one. */
static noinline void drop_responses(struct ornic_rq *rq)
{
	u32 i;

	for (i = rq->rd_head; i != rq->rd_tail; i++)
		ornic_rd_stop(rq, ornic_rd_slot(rq, i));
	WRITE_ONCE(rq->rd_head, rq->rd_tail);
	WRITE_ONCE(rq->ack_due, false);
}

enum ornic_run_result ornic_resp_run(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	enum ornic_step res;
	struct ornic_rd *rd;

	if (unlikely(qp->pkey == ORNIC_PKEY_NONE))
		drop_responses(rq);
	while (rq->rd_head != rq->rd_tail) {
		rd = ornic_rd_slot(rq, rq->rd_head);
		if (!rd->busy) {
			WRITE_ONCE(rq->rd_head, rq->rd_head + 1);
			continue;
		}
		if (ctx->budget <= 0 || ornic_ctx_full(ctx))
			return ORNIC_RUN_MORE;
		if (!has_room(ctx, qp))
			return ORNIC_RUN_WAIT;
		ctx->budget -= ORNIC_RESP_COST;
		rq->reads_out = true;
		if (rd->atomic)
			res = send_atomic(ctx, qp, rd);
		else
			res = send_read(ctx, qp, rd);
		if (res == ORNIC_STEP_WAIT && unlikely(is_copy_refused(rq, rd)))
			break;
		if (res == ORNIC_STEP_WAIT)
			return ORNIC_RUN_WAIT;
		if (res == ORNIC_STEP_STOP)
			read_lost_access(ctx, qp, rd);
	}
	if (rq->ack_due) {
		if (rq->rd_head == rq->rd_tail)
			drop_late_rnr(qp);
		if (ornic_backoff_on(&rq->backoff, ctx->now) ||
		    (ack_keeps_order(rq) && !has_room(ctx, qp)))
			return ORNIC_RUN_WAIT;
		if (!send_ack(ctx, qp, rq->syndrome_due, rq->psn_due))
			return ORNIC_RUN_WAIT;
		WRITE_ONCE(rq->ack_due, false);
	}
	return likely(rq->rd_head == rq->rd_tail) ? ORNIC_RUN_IDLE :
						    ORNIC_RUN_WAIT;
}

void ornic_resp_verdict(struct ornic_qp *qp, enum ornic_verdict verdict,
			const struct ornic_pkt *pkt)
{
	static const u8 nak[] = {
		[ORNIC_RESP_NAK_INVALID] = ORNIC_NAK_INVALID_REQ,
		[ORNIC_RESP_NAK_ACCESS] = ORNIC_NAK_REMOTE_ACCESS,
		[ORNIC_RESP_NAK_OP] = ORNIC_NAK_REMOTE_OP,
	};
	struct ornic_rq *rq = &qp->rq;
	u32 last = ornic_psn_add(rq->epsn, ORNIC_PSN_MASK);

	switch (verdict) {
	case ORNIC_RESP_ACK:
		if (pkt->ack_req)
			ornic_resp_ack(qp, pkt->psn);
		break;
	case ORNIC_RESP_DUPLICATE:
		/*
		 * IBTA C9-105: what it would say now. Not past what waits, and
		 * once for a window that is sent again: to what asks for it,
		 * and to the newest, which a peer that never asks ends with.
		 */
		if ((pkt->ack_req || pkt->psn == last) && !ornic_resp_waits(rq))
			ornic_resp_ack(qp, last);
		break;
	case ORNIC_RESP_RNR:
		ornic_qp_stat_inc(qp, ORNIC_STAT_RNR_NAK_SENT);
		/* The requester sends all again. */
		rq->ahead.refused = false;
		schedule_ack(qp, ORNIC_AETH_RNR | qp->min_rnr_timer, pkt->psn);
		break;
	case ORNIC_RESP_NAK_SEQ:
		ornic_resp_nak_gap(qp);
		break;
	case ORNIC_RESP_NAK_INVALID:
	case ORNIC_RESP_NAK_ACCESS:
	case ORNIC_RESP_NAK_OP:
		ornic_qp_stat_inc(qp, ORNIC_STAT_ERR_NAK_SENT);
		/*
		 * IBTA 9.7.5.1.1: in order, after the responses to earlier
		 * requests.
		 */
		schedule_ack(qp, ORNIC_AETH_NAK | nak[verdict], pkt->psn);
		break;
	case ORNIC_RESP_DATA:
	case ORNIC_RESP_ATOMIC:
	case ORNIC_RESP_EMPTY:
	case ORNIC_RESP_DROP:
	case ORNIC_RESP_AHEAD:
	case ORNIC_RESP_ABSENT:
		break;
	}
}
