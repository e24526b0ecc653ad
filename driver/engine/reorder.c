// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests ahead of the expected PSN. The responder keeps copies of them and
 * executes them when the gap is filled, so that a lost or overtaken packet costs
 * that packet and not all after it. What it keeps was not acknowledged: it may be
 * dropped at any time, and the requester sends it again.
 *
 * The sequence NAK (IBTA C9-116) is sent when the first packet of the gap is
 * @late overdue. On a path that keeps order @late is 0. If the packet comes once
 * more after its copy, the NAK was in vain: the path reorders, and @late grows to
 * what this packet took. Each NAK takes a part of @late away again.
 */
#include "proto.h"

/* Packets that a device keeps for all its QPs. */
#define MAX_KEPT 4096
/* @late is at most so many ns. */
#define MAX_LATE_NS 20000000ull
/* What may be asked again, by a packet with AckReq, is a NAK that old, ns. */
#define NAK_AGAIN_NS 100000ull
/* A NAK that old is not judged any more, ns. */
#define JUDGE_NS 20000000ull
/* What is kept is dropped when nothing has been added to it for so long, ns. */
#define EXPIRE_NS 1000000000ull

/**
 * struct ornic_kept - a request ahead of the expected PSN
 * @next: the next one in the order of PSNs
 * @when: it came, ns
 * @pkt: its headers; @pkt.rx is not valid
 * @data: its payload
 */
struct ornic_kept {
	struct ornic_kept *next;
	u64 when;
	struct ornic_pkt pkt;
	u8 data[];
};

static void forget_first(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept *kept = ahead->first;

	WRITE_ONCE(ahead->first, kept->next);
	if (!kept->next) {
		ahead->last = NULL;
		WRITE_ONCE(ahead->expires, 0);
	}
	ahead->n--;
	ornic_atomic_dec(&qp->dev->kept);
	ornic_free(kept);
}

void ornic_reorder_forget(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;

	while (ahead->first)
		forget_first(qp);
	WRITE_ONCE(ahead->nak_at, 0);
	ahead->judged = 0;
}

/*
 * A QP may have half of what is left of the device's share, so that one that
 * takes all it can leaves something for the others.
 */
static bool has_share(const struct ornic_qp *qp)
{
	s32 left = MAX_KEPT - ornic_atomic_read(&qp->dev->kept);

	return (s32)qp->rq.ahead.n < left / 2;
}

static struct ornic_kept *copy_of(const struct ornic_ctx *ctx,
				  const struct ornic_pkt *pkt)
{
	struct ornic_kept *kept;

	kept = ornic_alloc_atomic(sizeof(*kept) + pkt->payload_len);
	if (!kept)
		return NULL;
	kept->when = ctx->now;
	kept->pkt = *pkt;
	kept->pkt.rx = NULL;
	ornic_pkt_copy_payload(pkt, kept->data, pkt->payload_len);
	return kept;
}

/* The one after which a packet with @psn belongs; NULL: it is the first. */
static struct ornic_kept *place_of(const struct ornic_ahead *ahead, u32 psn)
{
	struct ornic_kept *before = NULL, *at;

	if (ahead->last && ornic_psn_diff(psn, ahead->last->pkt.psn) >= 0)
		return ahead->last;
	for (at = ahead->first; at; at = at->next) {
		if (ornic_psn_diff(at->pkt.psn, psn) > 0)
			break;
		before = at;
	}
	return before;
}

/* False if it is kept already, or will not be. */
static bool keep_copy(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		      const struct ornic_pkt *pkt)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept *before = place_of(ahead, pkt->psn), *kept;

	if (before && before->pkt.psn == pkt->psn) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_DUPLICATES);
		return false;
	}
	/* More than the path MTU will be refused in its turn. */
	if (ornic_psn_diff(pkt->psn, qp->rq.epsn) > ORNIC_REORDER_WINDOW ||
	    pkt->payload_len > qp->mtu || !has_share(qp))
		return false;
	kept = copy_of(ctx, pkt);
	if (!kept)
		return false;
	kept->next = before ? before->next : ahead->first;
	if (before)
		before->next = kept;
	else
		WRITE_ONCE(ahead->first, kept);
	if (!kept->next)
		ahead->last = kept;
	ahead->n++;
	WRITE_ONCE(ahead->expires, ctx->now + EXPIRE_NS);
	ornic_atomic_inc(&qp->dev->kept);
	return true;
}

static enum ornic_verdict nak_now(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_ahead *ahead = &rq->ahead;

	rq->nak_sent = true;
	ahead->naked = true;
	ahead->nak_time = ctx->now;
	ahead->gap_psn = rq->epsn;
	WRITE_ONCE(ahead->nak_at, 0);
	if (!ahead->judged || ctx->now - ahead->judged >= JUDGE_NS) {
		ahead->judged = ctx->now;
		ahead->nak_psn = rq->epsn;
		ahead->took = 0;
	}
	ahead->late = ornic_less_late(ahead->late);
	return ORNIC_RESP_NAK_SEQ;
}

/* There is a gap that no NAK was sent for: now, or when it is late. */
static enum ornic_verdict nak_gap(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u64 when = ahead->first ? ahead->since + ahead->late : 0;

	if (ctx->now >= when)
		return nak_now(ctx, qp);
	WRITE_ONCE(ahead->nak_at, when);
	return ORNIC_RESP_DROP;
}

enum ornic_verdict ornic_reorder_keep(const struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_ahead *ahead = &rq->ahead;
	bool is_new = !ahead->first, was_missing;

	/* It went again after what is missing still. */
	was_missing = ahead->last &&
		      ornic_psn_diff(pkt->psn, ahead->last->pkt.psn) < 0;
	was_missing &= keep_copy(ctx, qp, pkt);
	if (is_new) {
		ahead->since = ctx->now;
		ahead->naked = false;
	}
	if (!rq->nak_sent)
		return nak_gap(ctx, qp);
	/*
	 * A requester that asks what is missing may not have got the NAK, or
	 * what it sent for it was lost. A standard one gets one NAK for a gap
	 * (IBTA C9-116).
	 */
	if (pkt->selective && pkt->ack_req && ahead->nak_time &&
	    ahead->gap_psn == rq->epsn &&
	    (was_missing || ctx->now - ahead->nak_time >= NAK_AGAIN_NS))
		return nak_now(ctx, qp);
	return ORNIC_RESP_DROP;
}

void ornic_reorder_duplicate(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			     u32 psn)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;

	if (!ahead->judged || psn != ahead->nak_psn)
		return;
	ahead->judged = 0;
	if (!ahead->took)
		return;
	ahead->late = max_t(u64, 2 * ahead->late, ahead->took * 5 / 4);
	ahead->late = min_t(u64, ahead->late, MAX_LATE_NS);
}

/* The first of the kept is the one expected. */
static enum ornic_verdict execute_first(struct ornic_ctx *ctx,
					struct ornic_qp *qp)
{
	struct ornic_kept *kept = qp->rq.ahead.first;
	struct ornic_rx rx __uninitialized;
	enum ornic_verdict verdict;

	/* Its payload is at the start of the only piece, without headers. */
	rx.ip = NULL;
	rx.ipv6 = qp->path.ipv6;
	rx.nsegs = 1;
	rx.seg[0].ptr = kept->data;
	rx.seg[0].len = kept->pkt.payload_len;
	rx.len = kept->pkt.payload_len;
	kept->pkt.rx = &rx;
	kept->pkt.hdr_len = 0;
	ctx->budget -= kept->pkt.payload_len;
	verdict = ornic_resp_execute(ctx, qp, &kept->pkt);
	/*
	 * A standard requester that has got a NAK is sending it again: that one
	 * is refused, as two RNR NAKs would cost two of its retries.
	 */
	if (verdict == ORNIC_RESP_RNR && !kept->pkt.selective &&
	    qp->rq.ahead.naked)
		return ORNIC_RESP_DROP;
	ornic_resp_verdict(qp, verdict, &kept->pkt);
	return verdict;
}

/* True if the first of the kept is not ahead any more. */
static bool is_due(const struct ornic_rq *rq)
{
	return rq->ahead.first && !rq->dead &&
	       ornic_psn_diff(rq->ahead.first->pkt.psn, rq->epsn) <= 0;
}

/*
 * The gap is filled: execute what follows, and acknowledge it, so that a
 * requester that has gone back does not send it again.
 */
static void execute_due(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	enum ornic_verdict verdict;
	u32 psn = 0;
	bool ack = false;

	while (is_due(&qp->rq) && ctx->budget > 0 && !ornic_ctx_full(ctx)) {
		verdict = ORNIC_RESP_DROP;
		if (ahead->first->pkt.psn == qp->rq.epsn)
			verdict = execute_first(ctx, qp);
		if (verdict == ORNIC_RESP_ACK)
			psn = ahead->first->pkt.psn;
		if (verdict != ORNIC_RESP_DROP)
			ack = verdict == ORNIC_RESP_ACK;
		forget_first(qp);
	}
	if (ack)
		ornic_resp_ack(qp, psn);
	if (ahead->first)
		ahead->since = ahead->first->when;
}

void ornic_reorder_run(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_ahead *ahead = &rq->ahead;
	bool filled = is_due(rq);

	/* The peer does not send any more: others shall have the room. */
	if (!filled && ahead->first && ctx->now >= ahead->expires) {
		ornic_reorder_forget(qp);
		rq->nak_sent = false;
		return;
	}
	if (ahead->judged && !ahead->took &&
	    ornic_psn_diff(rq->epsn, ahead->nak_psn) > 0)
		ahead->took = ctx->now - ahead->since;
	if (filled) {
		WRITE_ONCE(ahead->nak_at, 0);
		execute_due(ctx, qp);
	}
	if (is_due(rq)) {
		ornic_qp_resched(qp);
		return;
	}
	if (!ahead->first || rq->nak_sent || rq->dead)
		return;
	/*
	 * Another gap. The rest of this one is probably under way: then only
	 * what comes after it shows that it is not.
	 */
	if ((filled || ahead->nak_at) && nak_gap(ctx, qp) == ORNIC_RESP_NAK_SEQ)
		ornic_resp_nak_gap(qp);
}

u32 ornic_reorder_bitmap(const struct ornic_qp *qp, u32 psn, u8 *bitmap)
{
	const struct ornic_kept *kept;
	u32 len = 0;
	s32 bit;

	memset(bitmap, 0, ORNIC_SACK_BYTES);
	for (kept = qp->rq.ahead.first; kept; kept = kept->next) {
		bit = ornic_psn_diff(kept->pkt.psn, psn) - 1;
		if (bit < 0 || bit >= 8 * ORNIC_SACK_BYTES)
			continue;
		bitmap[bit / 8] |= (u8)(1u << bit % 8);
		len = (u32)bit / 32 * 4 + 4;
	}
	return len;
}
