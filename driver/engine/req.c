// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The requester: takes send WQEs in order and turns them into packets, or
 * hands them to the peer on the same device. Everything here runs with sq.lock
 * held and stops at the first thing that it has to wait for; whoever brings
 * that thing (an ACK, a timer, room at the host, a kick) runs it again.
 *
 * Going back N is moving @cur and the @pkts of the WQEs; the WQE copies hold
 * all that is needed to send again.
 */
#include "loop.h"
#include "proto.h"

/* First opcode of a kind; the table of places follows IBTA table 38. */
static u8 packet_opcode(const struct ornic_swqe *sw, bool first, bool last)
{
	const struct ornic_wqe_info *info = sw->info;
	u8 base = sw->kind == ORNIC_OPF_WRITE ? ORNIC_OP_WRITE_FIRST :
						ORNIC_OP_SEND_FIRST;
	static const u8 place[2][2] = {
		/* !last */ /* last */
		{ 1, 2 }, /* middle, last */
		{ 0, 4 }, /* first, only */
	};

	if (last && info->inv)
		return first ? ORNIC_OP_SEND_ONLY_INV : ORNIC_OP_SEND_LAST_INV;
	return base + place[first][last] + (last && info->imm);
}

void ornic_req_advance(struct ornic_qp *qp, struct ornic_swqe *sw, u32 npkts)
{
	struct ornic_sq *sq = &qp->sq;

	sw->pkts += npkts;
	sq->psn = ornic_psn_add(sq->psn, npkts);
	if (ornic_psn_diff(sq->psn, sq->max_psn) > 0)
		sq->max_psn = sq->psn;
	if (sw->pkts == sw->npkts)
		sq->cur++;
	ornic_fault_passed(&sq->fault, false);
}

/* An operation on keys that has its place and waits for it. */
static bool is_pending_local(const struct ornic_swqe *sw)
{
	return sw->kind == ORNIC_OPF_LOCAL && !sw->done;
}

/*
 * Requests for pieces of the READ or the like @sw that are out. One that is cut
 * counts when the rest of it is requested.
 */
static u32 pieces_out(const struct ornic_sq *sq, const struct ornic_swqe *sw)
{
	s32 done = -ornic_psn_diff(sw->first_psn, sq->acked);
	u32 over = done > 0 ? done >> sw->piece_shift : 0;

	if (!ornic_swqe_is_fetch(sw))
		return 0;
	if (sw->pkts == sw->npkts)
		return ((sw->npkts - 1) >> sw->piece_shift) + 1 - over;
	return (sw->pkts >> sw->piece_shift) - over;
}

void ornic_req_seek(struct ornic_qp *qp, u32 psn)
{
	struct ornic_sq *sq = &qp->sq;
	u32 last = sq->cur, i;
	struct ornic_swqe *sw;
	bool found = false;
	s32 into;

	sq->rd_out = 0;
	sq->unacked_pkts = 0;
	/* An ACK from now on may be for the first packet or its copy. */
	sq->rtt.start = 0;
	for (i = sq->tail; i != sq->fetched; i++) {
		sw = ornic_swqe(sq, i);
		/* Beyond the last cursor all is to be sent anyway. */
		if (!sw->started || (found && (s32)(i - last) > 0))
			break;
		/* From acked: a message may take as many PSNs as there are. */
		into = ornic_psn_diff(psn, sq->acked) -
		       ornic_psn_diff(sw->first_psn, sq->acked);
		if (into >= (s32)sw->npkts && !is_pending_local(sw)) {
			sw->pkts = sw->npkts;
			sq->rd_out += pieces_out(sq, sw);
			continue;
		}
		if (!found)
			sq->cur = i;
		found = true;
		sw->pkts = into > 0 ? into : 0;
		sq->rd_out += pieces_out(sq, sw);
	}
	if (!found)
		sq->cur = i;
	sq->psn = psn;
	/* The oldest ones. */
	sq->gaps.passed = min_t(u32, sq->gaps.passed, sq->rd_out);
}

/* True if as much is outstanding, @out, as may be. */
static bool window_is_full(const struct ornic_sq *sq, u32 out)
{
	return out >= sq->window &&
	       (likely(!sq->gaps.ngot) || !ornic_gaps_leave_room(sq, out));
}

/* Does a packet ask for an ACK before its message ends? */
static bool wants_ack_within(const struct ornic_sq *sq)
{
	u32 out = ornic_psn_diff(sq->psn, sq->acked) + 1;

	return sq->probe || window_is_full(sq, out) ||
	       sq->unacked_pkts + 1 + sq->delay.ack_early >= ORNIC_ACK_INTERVAL;
}

/*
 * Does the last packet of @sw ask for an ACK? Not if another message follows
 * at once and will ask itself; its packets then acknowledge this one as well.
 */
static bool wants_ack(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *next;

	if (wants_ack_within(sq) || qp->state != ORNIC_QPS_RTS)
		return true;
	if (sq->cur + 1 != sq->fetched)
		next = ornic_swqe(sq, sq->cur + 1);
	else
		next = ornic_sq_fetch(qp);
	return !next || next->status != ORNIC_CQE_SUCCESS ||
	       next->flags & ORNIC_WQE_FENCE ||
	       !(next->kind & (ORNIC_OPF_SEND | ORNIC_OPF_WRITE));
}

bool ornic_req_probe(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (!sq->unacked_pkts || !ornic_qp_is_reliable(qp) ||
	    ornic_psn_diff(sq->psn, sq->acked) <= 0)
		return false;
	ornic_req_seek(qp, ornic_psn_add(sq->psn, ORNIC_PSN_MASK));
	sq->probe = true;
	return true;
}

enum ornic_step ornic_req_fail(struct ornic_ctx *ctx, struct ornic_qp *qp,
			       struct ornic_swqe *sw,
			       enum ornic_cqe_status status,
			       enum ornic_vendor_err verr)
{
	if (verr == ORNIC_VERR_PAGE && sw->status == ORNIC_CQE_SUCCESS &&
	    ornic_fault_sq(ctx, qp, sw) == ORNIC_FAULT_WAITS)
		return ORNIC_STEP_WAIT;
	sw->status = status;
	sw->verr = verr;
	if (qp->sq.tail != qp->sq.cur)
		return ornic_req_probe(qp) ? ORNIC_STEP_DONE : ORNIC_STEP_WAIT;
	ornic_comp_fail(ctx, qp, status, verr);
	return ORNIC_STEP_STOP;
}

/*
 * Begin to time the response to what was just sent, if it was sent for the first
 * time and no other is timed.
 */
static void time_round(const struct ornic_ctx *ctx, struct ornic_sq *sq,
		       bool first_time)
{
	if (!first_time || (sq->rtt.start && !sq->rtt.again))
		return;
	sq->rtt.psn = sq->psn;
	sq->rtt.start = ctx->now;
	sq->rtt.again = false;
	sq->rtt.clean = ornic_psn_diff(sq->acked, sq->retry.recover) >= 0;
}

/* What the BTH of a request says about its requester, and itself. */
static u8 selective_bits(const struct ornic_sq *sq, bool first_time)
{
	if (sq->selective == ORNIC_SELECTIVE_NO)
		return 0;
	return first_time ? ORNIC_BTH_SELECTIVE :
			    ORNIC_BTH_SELECTIVE | ORNIC_BTH_AGAIN;
}

/* One packet of a SEND or WRITE. */
static __flatten noinline enum ornic_step
send_packet(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_swqe *sw)
{
	bool first = !sw->pkts, last = sw->pkts + 1 == sw->npkts;
	bool first_time = qp->sq.psn == qp->sq.max_psn;
	u32 off = sw->pkts * qp->mtu;
	u32 len = min_t(u32, sw->length - off, qp->mtu);
	struct ornic_txinfo info = {
		.opcode = packet_opcode(sw, first, last) |
			  ornic_qp_transport(qp),
		.solicited = last && sw->flags & ORNIC_WQE_SOLICITED,
		.selective = selective_bits(&qp->sq, first_time),
		.pkey = (u16)qp->pkey,
		.dest_qpn = qp->dest_qpn,
		.psn = qp->sq.psn,
		.srqn = sw->srqn,
		.va = sw->raddr,
		.rkey = sw->rkey,
		.dma_len = sw->length,
		.imm = sw->imm,
	};
	struct ornic_iov iov = { .frag = qp->sq.frag, .max = ORNIC_TX_FRAGS };
	enum ornic_vendor_err verr;

	verr = ornic_swqe_map(qp, sw, off, len, &iov);
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      verr);
	if (ornic_qp_is_reliable(qp))
		info.ack_req =
			ornic_cc_wants_ack(qp) ||
			(last ? wants_ack(qp) : wants_ack_within(&qp->sq));
	if (!ornic_tx_send(ctx, qp, &qp->sq.backoff, &qp->path, &info, &iov))
		return ORNIC_STEP_WAIT;
	qp->sq.probe = false;
	qp->sq.unacked_pkts = info.ack_req ? 0 : qp->sq.unacked_pkts + 1;
	ctx->budget -= len + ORNIC_MSG_COST;
	ornic_req_advance(qp, sw, 1);
	if (info.ack_req)
		time_round(ctx, &qp->sq, first_time);
	if (last && qp->type == ORNIC_QPT_UC)
		ornic_comp_success(ctx, qp, sw);
	return ORNIC_STEP_DONE;
}

static u8 fetch_opcode(const struct ornic_swqe *sw)
{
	switch (sw->opcode) {
	case ORNIC_WQE_CAS:
		return ORNIC_OP_CAS;
	case ORNIC_WQE_FAA:
		return ORNIC_OP_FAA;
	case ORNIC_WQE_ATOMIC_WRITE:
		return ORNIC_OP_ATOMIC_WRITE;
	case ORNIC_WQE_FLUSH:
		return ORNIC_OP_FLUSH;
	default:
		return ORNIC_OP_READ_REQUEST;
	}
}

/*
 * The data of a request that has a response: only ATOMIC WRITE has some. Pages of
 * the others, which begin_wqe() has checked, may be absent later.
 */
static enum ornic_vendor_err map_fetch(struct ornic_qp *qp,
				       const struct ornic_swqe *sw, u32 npkts,
				       bool first_time, struct ornic_iov *iov)
{
	if (unlikely(sw->kind == ORNIC_OPF_ATOMIC_WRITE))
		return ornic_swqe_map(qp, sw, 0, sw->length, iov);
	if (unlikely(sw->pkts || !first_time))
		return ornic_sink_check(qp, sw, sw->pkts * qp->mtu,
					ornic_odp_ahead((u64)npkts * qp->mtu));
	return ORNIC_VERR_NONE;
}

/* Bytes that a request asks for, or covers, if its responses take @npkts PSNs. */
static u32 fetch_length(const struct ornic_qp *qp, const struct ornic_swqe *sw,
			u32 npkts)
{
	u32 left = sw->length - sw->pkts * qp->mtu;

	if (sw->kind == ORNIC_OPF_FLUSH)
		return sw->flush_length;
	return sw->pkts + npkts == sw->npkts ? left : npkts * qp->mtu;
}

/* A READ or @npkts packets of it, an atomic, ATOMIC WRITE or FLUSH. */
static __flatten noinline enum ornic_step send_fetch(struct ornic_ctx *ctx,
						     struct ornic_qp *qp,
						     struct ornic_swqe *sw,
						     u32 npkts)
{
	bool first_time = qp->sq.psn == qp->sq.max_psn;
	u32 off = sw->pkts * qp->mtu;
	struct ornic_txinfo info = {
		.opcode = fetch_opcode(sw),
		.ack_req = true,
		.selective = selective_bits(&qp->sq, first_time),
		.pkey = (u16)qp->pkey,
		.dest_qpn = qp->dest_qpn,
		.psn = qp->sq.psn,
		.srqn = sw->srqn,
		.va = sw->raddr + off,
		.rkey = sw->rkey,
		.dma_len = fetch_length(qp, sw, npkts),
		.swap_add = sw->swap_add,
		.compare = sw->compare,
		.feth = sw->feth,
	};
	struct ornic_iov iov = { .frag = qp->sq.frag, .max = ORNIC_TX_FRAGS };
	enum ornic_vendor_err verr;

	info.opcode |= ornic_qp_transport(qp);
	if (info.selective && sw->pkts + npkts != sw->npkts)
		info.selective |= ORNIC_BTH_MORE;
	verr = map_fetch(qp, sw, npkts, first_time, &iov);
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      verr);
	if (!ornic_tx_send(ctx, qp, &qp->sq.backoff, &qp->path, &info, &iov))
		return ORNIC_STEP_WAIT;
	qp->sq.unacked_pkts = 0;
	qp->sq.rd_out++;
	/* What the peer had accepted without packets ends here. */
	sw->done = false;
	ctx->budget -= ORNIC_MSG_COST;
	ornic_req_advance(qp, sw, npkts);
	time_round(ctx, &qp->sq, first_time);
	return ORNIC_STEP_DONE;
}

/*
 * May the response of @sw be written, before it is requested? It nearly always may at
 * once; ornic_sink_check() knows the rest, without a cost for that.
 */
static enum ornic_vendor_err check_sink(struct ornic_qp *qp,
					const struct ornic_swqe *sw)
{
	struct ornic_mkey *mkey;
	u32 i;

	for (i = 0; i < sw->nsge; i++) {
		if (sw->sge[i].length &&
		    unlikely(ornic_key_check(qp->dev, sw->sge[i].lkey, qp->pdn,
					     sw->sge[i].addr, sw->sge[i].length,
					     ORNIC_ACCESS_LOCAL_WRITE, &mkey)))
			return ornic_sink_check(qp, sw, 0, ORNIC_FAULT_BYTES);
	}
	return ORNIC_VERR_NONE;
}

/*
 * What a WQE must wait for, or fail of, before it gets its PSNs. ornic_loop_step() looks at
 * the sink of a short READ.
 */
static enum ornic_step begin_wqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 struct ornic_swqe *sw)
{
	bool fetch = ornic_swqe_is_fetch(sw);
	struct ornic_sq *sq = &qp->sq;
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;

	if (sw->status != ORNIC_CQE_SUCCESS)
		return ornic_req_fail(ctx, qp, sw, sw->status, sw->verr);
	if (sw->flags & ORNIC_WQE_FENCE && sq->rd_out)
		return ORNIC_STEP_WAIT;
	if (fetch) {
		if (!qp->max_rd_atomic)
			return ornic_req_fail(ctx, qp, sw,
					      ORNIC_CQE_LOC_QP_OP_ERR,
					      ORNIC_VERR_RD_ATOMIC);
	}
	if (fetch && !(sw->kind & ORNIC_OPF_EMPTY_RESPONSE)) {
		if (!qp->path.loop || !ornic_loop_is_short(qp, sw))
			verr = check_sink(qp, sw);
		if (verr != ORNIC_VERR_NONE)
			return ornic_req_fail(ctx, qp, sw,
					      ORNIC_CQE_LOC_PROT_ERR, verr);
		ornic_sink_begin(sq, sw);
	}
	sw->first_psn = sq->psn;
	sw->piece_shift = ornic_delay_piece_shift(sq);
	sw->started = true;
	ornic_qp_stat_inc(qp, ORNIC_STAT_SEND_WQES);
	return ORNIC_STEP_DONE;
}

/* A packet that is out already, and goes again to ask for an ACK. */
static bool is_probe(const struct ornic_sq *sq, const struct ornic_swqe *sw)
{
	return sq->probe && ornic_psn_diff(sq->psn, sq->max_psn) < 0 &&
	       !ornic_swqe_is_fetch(sw);
}

/* How many response packets the next request of @sw asks for. */
static u32 fetch_npkts(const struct ornic_swqe *sw)
{
	return ornic_piece_end(sw, sw->pkts) - sw->pkts;
}

/*
 * True if an RC QP may have more PSNs outstanding, for @sw. A piece of a READ may
 * begin inside the window and end beyond it.
 */
static bool window_open(const struct ornic_qp *qp, const struct ornic_swqe *sw)
{
	const struct ornic_sq *sq = &qp->sq;
	u32 out = ornic_psn_diff(sq->psn, sq->acked);

	if (is_probe(sq, sw))
		return true;
	if (window_is_full(sq, out))
		return false;
	if (!ornic_swqe_is_fetch(sw))
		return true;
	return (sq->rd_out < qp->max_rd_atomic ||
		(unlikely(sq->gaps.passed) && ornic_gaps_leave_reads(qp))) &&
	       out + fetch_npkts(sw) <= sq->gaps.size;
}

/* Nothing that is out asks for an ACK, so none will open the window. */
static bool is_mute(const struct ornic_sq *sq)
{
	return sq->unacked_pkts &&
	       sq->unacked_pkts >= ornic_psn_diff(sq->psn, sq->acked);
}

static enum ornic_vendor_err
execute_local(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_swqe *sw)
{
	if (qp->tag_srq) {
		ornic_tags_execute(ctx, qp, sw);
		return ORNIC_VERR_NONE;
	}
	switch (sw->opcode) {
	case ORNIC_WQE_BIND_MW:
		return ornic_mw_bind(qp, sw);
	case ORNIC_WQE_REG_MR:
		return ornic_frmr_register(qp, sw);
	default:
		return ornic_req_invalidate(qp, sw);
	}
}

/*
 * A key is invalidated when all before it are complete: what may have to be
 * sent again still needs it. IBTA 10.6.5.1 has this on demand (the local
 * invalidate fence), here it is always so.
 */
static bool must_wait(const struct ornic_qp *qp, const struct ornic_swqe *sw)
{
	return sw->opcode == ORNIC_WQE_LOCAL_INV && qp->sq.tail != qp->sq.cur;
}

/*
 * An operation on the device's own keys: executed once, in its turn, and
 * complete when all before it are. Going back to a WQE before it leads here
 * again.
 */
static noinline enum ornic_step
do_local(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_swqe *sw)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;

	if (sw->status != ORNIC_CQE_SUCCESS)
		return ornic_req_fail(ctx, qp, sw, sw->status, sw->verr);
	if (!sw->done && must_wait(qp, sw))
		return ornic_req_probe(qp) ? ORNIC_STEP_DONE : ORNIC_STEP_WAIT;
	if (!sw->done)
		verr = execute_local(ctx, qp, sw);
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_MW_BIND_ERR, verr);
	sw->done = true;
	ctx->budget -= ORNIC_MSG_COST;
	ornic_req_advance(qp, sw, 0);
	ornic_comp_local(ctx, qp);
	return ORNIC_STEP_DONE;
}

/* True if the next packet of @sw must wait for the rate of the QP. */
static noinline bool pace_wqe(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			      const struct ornic_swqe *sw)
{
	u32 len = min_t(u32, sw->length - sw->pkts * qp->mtu, qp->mtu);

	return ornic_cc_hold(ctx, qp, &qp->sq.backoff,
			     ornic_swqe_is_fetch(sw) ? 0 : len);
}

static enum ornic_step do_wqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      struct ornic_swqe *sw)
{
	enum ornic_step res;

	if (!sw->started) {
		res = begin_wqe(ctx, qp, sw);
		if (res != ORNIC_STEP_DONE)
			return res;
	}
	if (sw->kind == ORNIC_OPF_LOCAL)
		return do_local(ctx, qp, sw);
	if (qp->type != ORNIC_QPT_UD && qp->path.loop)
		return ornic_loop_step(ctx, qp, sw);
	if (unlikely(READ_ONCE(qp->dev->direct))) {
		res = ornic_direct_step(ctx, qp, sw);
		if (res != ORNIC_STEP_WIRE)
			return res;
	}
	if (ornic_qp_is_reliable(qp) && !window_open(qp, sw))
		return is_mute(&qp->sq) && ornic_req_probe(qp) ?
			       ORNIC_STEP_DONE :
			       ORNIC_STEP_WAIT;
	if (ornic_backoff_on(&qp->sq.backoff, ctx->now) ||
	    !ornic_qp_tx_room(qp) ||
	    (unlikely(READ_ONCE(qp->cc.paced)) && pace_wqe(ctx, qp, sw)) ||
	    (unlikely(qp->sq.delay.spread) && ornic_delay_hold(ctx, qp)))
		return ORNIC_STEP_WAIT;
	if (qp->type == ORNIC_QPT_UD)
		return ornic_datagram_send(ctx, qp, sw);
	if (unlikely(qp->type == ORNIC_QPT_RAW))
		return ornic_raw_send(ctx, qp, sw);
	if (ornic_swqe_is_fetch(sw))
		return send_fetch(ctx, qp, sw, fetch_npkts(sw));
	return send_packet(ctx, qp, sw);
}

/* Where the requester is, while it sends something again. */
struct place {
	u32 cur, psn, rd_out, unacked, pkts;
	bool probe;
};

/* To @at, of the WQE of index @i, which is in [acked, psn). The last asks for an ACK. */
static struct place leave_place(struct ornic_sq *sq, u32 i, u32 at)
{
	struct ornic_swqe *sw = ornic_swqe(sq, i);
	struct place place = {
		.cur = sq->cur,
		.psn = sq->psn,
		.rd_out = sq->rd_out,
		.unacked = sq->unacked_pkts,
		.pkts = sw->pkts,
		.probe = sq->probe,
	};

	sq->cur = i;
	sq->psn = at;
	sw->pkts = ornic_psn_diff(at, sw->first_psn);
	sq->unacked_pkts = 0;
	sq->probe = ornic_gaps_is_last(sq, at);
	return place;
}

/* Back from the WQE of index @i. */
static void return_to(struct ornic_sq *sq, u32 i, const struct place *place)
{
	sq->cur = place->cur;
	sq->psn = place->psn;
	sq->rd_out = place->rd_out;
	sq->unacked_pkts = place->unacked;
	ornic_swqe(sq, i)->pkts = place->pkts;
	sq->probe = place->probe;
}

/*
 * What is missing at the peer, or of its responses, goes again before all else;
 * then the cursor is where it was. A WQE that cannot be sent any more stays at
 * the cursor: it fails when those before it are done.
 */
static noinline enum ornic_step send_missing(struct ornic_ctx *ctx,
					     struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u32 at, i, npkts = ornic_gaps_next(ctx, qp, &at, &i);
	struct ornic_swqe *sw;
	struct place place;
	enum ornic_step res;

	if (!npkts)
		return ORNIC_STEP_DONE;
	if (ornic_backoff_on(&sq->backoff, ctx->now) || !ornic_qp_tx_room(qp) ||
	    ornic_cc_waits(ctx, qp, &sq->backoff, qp->mtu) ||
	    (sq->delay.spread && ornic_delay_hold(ctx, qp)))
		return ORNIC_STEP_WAIT;
	place = leave_place(sq, i, at);
	sw = ornic_swqe(sq, i);
	if (ornic_swqe_is_fetch(sw)) {
		sw->asked_again = true;
		res = send_fetch(ctx, qp, sw, npkts);
	} else {
		res = send_packet(ctx, qp, sw);
	}
	if (res == ORNIC_STEP_STOP)
		return res;
	return_to(sq, i, &place);
	if (sw->status != ORNIC_CQE_SUCCESS) {
		ornic_req_seek(qp, at);
		ornic_gaps_stop(sq);
		return res;
	}
	if (res == ORNIC_STEP_DONE) {
		ornic_retry_ambiguous(sq, ornic_psn_add(at, npkts));
		ornic_gaps_sent(sq, at, npkts, !ornic_swqe_is_fetch(sw));
		ornic_delay_resent(ctx, qp, npkts);
	}
	return res;
}

static bool is_any_missing(const struct ornic_sq *sq)
{
	return sq->gaps.at != sq->gaps.end;
}

/* The WQE to work on, NULL if there is none that may be begun. */
static struct ornic_swqe *current_wqe(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;

	if (sq->cur != sq->fetched)
		sw = ornic_swqe(sq, sq->cur);
	else
		sw = ornic_sq_fetch(qp);
	/* IBTA 10.3.1.5: in SQD what was begun goes on, nothing is begun. */
	if (sw && !sw->started && qp->state == ORNIC_QPS_SQD)
		return NULL;
	return sw;
}

static void want_kick(struct ornic_sq *sq, bool want)
{
	WRITE_ONCE(sq->record->kick_wanted, cpu_to_le32(want));
}

/*
 * Nothing to do: request a kick, then check the producer again. The barrier
 * pairs with the one that the host has between its producer and its read of
 * kick_wanted: either it sees kick_wanted or we see its WQE.
 */
static bool may_rest(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	if (READ_ONCE(qp->dev->polling) || sq->polled)
		return true;
	/* The responder asks for a run after it has left work. */
	if (unlikely(qp->tm))
		return true;
	want_kick(sq, true);
	/* Between kick_wanted and the producer, see above. */
	smp_mb();
	if (qp->state == ORNIC_QPS_SQD)
		return true;
	if (le32_to_cpu(READ_ONCE(sq->record->producer)) == sq->fetched)
		return true;
	want_kick(sq, false);
	return false;
}

/* States in which the SQ is worked on. */
static bool sq_is_active(const struct ornic_qp *qp)
{
	return qp->state == ORNIC_QPS_RTS || qp->state == ORNIC_QPS_SQD;
}

/* No WQE may be begun: false if there is one by now. */
static bool is_at_end(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	if (likely(!qp->sq.broken))
		return may_rest(qp);
	ornic_ctx_event(ctx, ORNIC_EVENT_QP_FATAL, qp->qpn, 0);
	ornic_qp_error(ctx, qp);
	return true;
}

/* Raw packet QPs and those of tags send nothing that has one; of UD, see datagram.c. */
static bool lacks_pkey(const struct ornic_qp *qp)
{
	return unlikely(qp->pkey == ORNIC_PKEY_NONE) &&
	       qp->type != ORNIC_QPT_UD && qp->type != ORNIC_QPT_RAW &&
	       qp->type != ORNIC_QPT_TAGS;
}

/*
 * A connected QP whose P_Key is gone sends nothing, neither for the first time nor
 * again: what it has to do fails.
 */
static noinline enum ornic_run_result run_without_pkey(struct ornic_ctx *ctx,
						       struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	while (sq->tail == sq->cur && !current_wqe(qp)) {
		if (is_at_end(ctx, qp))
			return ORNIC_RUN_IDLE;
	}
	ornic_comp_fail(ctx, qp, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_PKEY);
	return ORNIC_RUN_IDLE;
}

static enum ornic_run_result run_loop(struct ornic_ctx *ctx,
				      struct ornic_qp *qp)
{
	struct ornic_swqe *sw;
	enum ornic_step res;

	if (unlikely(qp->sq.wait == ORNIC_WAIT_PEER)) {
		qp->sq.wait = ORNIC_WAIT_NONE;
		qp->sq.deadline = 0;
	}
	for (;;) {
		if (qp->sq.wait != ORNIC_WAIT_NONE)
			return ORNIC_RUN_WAIT;
		if (ornic_ctx_full(ctx))
			return ORNIC_RUN_MORE;
		if (unlikely(is_any_missing(&qp->sq))) {
			if (ctx->budget <= 0)
				return ORNIC_RUN_MORE;
			res = send_missing(ctx, qp);
			if (res == ORNIC_STEP_WAIT)
				return ORNIC_RUN_WAIT;
			if (res == ORNIC_STEP_STOP)
				return ORNIC_RUN_IDLE;
			continue;
		}
		sw = current_wqe(qp);
		if (!sw) {
			if (is_at_end(ctx, qp))
				return ORNIC_RUN_IDLE;
			continue;
		}
		if (ctx->budget <= 0)
			return ORNIC_RUN_MORE;
		res = do_wqe(ctx, qp, sw);
		if (res == ORNIC_STEP_WAIT)
			return ORNIC_RUN_WAIT;
		if (res == ORNIC_STEP_STOP)
			return ORNIC_RUN_IDLE;
	}
}

enum ornic_run_result ornic_req_run(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	enum ornic_run_result res;

	ornic_lock_held(&sq->lock);
	if (!sq->depth)
		return ORNIC_RUN_IDLE;
	if (READ_ONCE(qp->dev->polling))
		WRITE_ONCE(sq->seen,
			   le32_to_cpu(READ_ONCE(sq->record->producer)));
	if (qp->state == ORNIC_QPS_ERR || qp->state == ORNIC_QPS_SQE) {
		ornic_sq_flush(ctx, qp);
		return ORNIC_RUN_IDLE;
	}
	if (!sq_is_active(qp))
		return ORNIC_RUN_IDLE;
	if (READ_ONCE(sq->record->kick_wanted))
		want_kick(sq, false);
	res = lacks_pkey(qp) ? run_without_pkey(ctx, qp) : run_loop(ctx, qp);
	if (sq_is_active(qp) && ornic_qp_is_reliable(qp))
		ornic_retry_timer(ctx, qp);
	if (unlikely(sq->backoff.until))
		ornic_retry_arm(ctx, qp);
	ornic_sq_check_drained(ctx, qp);
	return res;
}
