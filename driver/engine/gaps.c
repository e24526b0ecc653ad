// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What has arrived beyond the oldest PSN without a response: READ responses that
 * are placed before their turn, and requests that the peer keeps. Only what is
 * missing is sent again.
 *
 * A response to PSN p proves that the peer has executed all before p (IBTA 9.7.5),
 * so what is missing there are responses. They are asked for when no more of the
 * READ can come: its last packet has arrived, or something after it. Until then a
 * second request would meet a responder that is still busy with the first.
 *
 * A standard peer may refuse parts of a READ before one that it was asked for (rxe
 * does), so it is asked for the first one that is missing only, until that is here.
 *
 * What was sent again is not sent once more before a round trip is over, unless
 * something arrives that was sent again after it.
 */
#include "gaps.h"

/* A round trip, at least, and before one is measured. */
#define MIN_EPOCH_NS 50000ull
#define FIRST_EPOCH_NS 2000000ull

/* ---- What is sent again -------------------------------------------------------- */

/* Sent again within the last round trip? */
static bool was_resent(const struct ornic_gaps *gaps, u32 psn)
{
	return ornic_gap_has(gaps, ORNIC_GAPS_RESENT, psn) ||
	       ornic_gap_has(gaps, ORNIC_GAPS_RESENT_BEFORE, psn);
}

/* The request for a piece of the READ @sw that @psn is in has this PSN ... */
static u32 piece_first(const struct ornic_swqe *sw, u32 psn)
{
	u32 at = ornic_psn_diff(psn, sw->first_psn);

	return ornic_psn_add(sw->first_psn, ornic_piece_start(sw, at));
}

/* ... and this is one past the last one of its response. */
static u32 piece_after(const struct ornic_swqe *sw, u32 psn)
{
	u32 at = ornic_psn_diff(psn, sw->first_psn);

	return ornic_psn_add(sw->first_psn, ornic_piece_end(sw, at));
}

/*
 * True if @psn, of @sw, is to be sent again: it has not arrived, and was not sent
 * again within the last round trip. What is outstanding is in the window.
 */
static bool is_missing(const struct ornic_sq *sq, const struct ornic_swqe *sw,
		       u32 psn)
{
	const struct ornic_gaps *gaps = &sq->gaps;

	if (!ornic_gap_in_window(sq, psn) || was_resent(gaps, psn))
		return false;
	/* What the peer kept it may have dropped, if it does not acknowledge it. */
	if (psn == sq->acked && !ornic_swqe_is_fetch(sw))
		return true;
	return !ornic_gap_has(gaps, ORNIC_GAPS_GOT, psn);
}

/* Has the peer executed the request for @psn of the READ @sw, as far as is known? */
static bool is_executed(const struct ornic_sq *sq, const struct ornic_swqe *sw,
			u32 psn)
{
	u32 first = piece_first(sw, psn);

	return ornic_psn_diff(sq->acked, first) > 0 ||
	       (sq->gaps.open && ornic_psn_diff(sq->gaps.executed, first) > 0);
}

/* How many PSNs from gaps.at on, of @sw, are missing and go again in one packet. */
static u32 run_of(const struct ornic_sq *sq, const struct ornic_swqe *sw)
{
	u32 psn = sq->gaps.at, n = 0;
	u32 left = ornic_psn_diff(piece_after(sw, psn), psn);

	left = min_t(u32, left, ornic_psn_diff(sq->gaps.end, psn));
	if (sw->kind != ORNIC_OPF_READ)
		left = min_t(u32, left, 1);
	while (n < left && is_missing(sq, sw, ornic_psn_add(psn, n)))
		n++;
	return n;
}

/*
 * A part would be another READ to a peer that has not executed the request. A NAK
 * that comes a round trip after all of it has gone again is news.
 */
static u32 whole_of(const struct ornic_ctx *ctx, struct ornic_sq *sq,
		    const struct ornic_swqe *sw)
{
	struct ornic_gaps *gaps = &sq->gaps;
	u32 first = piece_first(sw, gaps->at);
	u32 end = piece_after(sw, gaps->at);
	bool again = gaps->whole_at && gaps->whole_psn == first &&
		     sq->rtt.smooth &&
		     ornic_since(ctx->now, gaps->whole_at) > sq->rtt.smooth;

	if (again || (is_missing(sq, sw, first) &&
		      !ornic_gap_has(gaps, ORNIC_GAPS_HELD, first))) {
		gaps->at = first;
		gaps->whole_psn = first;
		gaps->whole_at = ctx->now;
		return ornic_psn_diff(end, first);
	}
	gaps->at = end;
	return 0;
}

/* What is missing first of a piece that a standard peer has executed. */
static u32 first_gap_of(struct ornic_sq *sq, const struct ornic_swqe *sw)
{
	struct ornic_gaps *gaps = &sq->gaps;
	u32 end = piece_after(sw, gaps->at), n;

	gaps->at = piece_first(sw, gaps->at);
	if (ornic_psn_diff(gaps->at, sq->acked) < 0)
		gaps->at = sq->acked;
	while (gaps->at != end && gaps->at != gaps->end &&
	       ornic_gap_has(gaps, ORNIC_GAPS_GOT, gaps->at))
		gaps->at = ornic_psn_add(gaps->at, 1);
	n = gaps->at != end ? run_of(sq, sw) : 0;
	if (!n)
		gaps->at = end;
	return n;
}

/*
 * How many PSNs from @at on, 64 at most, need not be looked at: they have arrived
 * or were sent again. What went again as a whole may do so once more.
 */
static u32 settled(const struct ornic_sq *sq, u32 at)
{
	const struct ornic_gaps *gaps = &sq->gaps;
	u64 bits;
	u32 n;

	if (at == sq->acked)
		return 0;
	bits = ornic_gap_bits(gaps, ORNIC_GAPS_GOT, at) |
	       ornic_gap_bits(gaps, ORNIC_GAPS_RESENT, at) |
	       ornic_gap_bits(gaps, ORNIC_GAPS_RESENT_BEFORE, at);
	n = ~bits ? ornic_low_bit(~bits) : 64;
	if (gaps->whole_at)
		n = min_t(u32, n, (u32)ornic_psn_diff(gaps->whole_psn, at));
	return n;
}

/* The next PSN from @at on that may be missing; gaps.end if there is none. */
static u32 skip_settled(const struct ornic_sq *sq, u32 at)
{
	const struct ornic_gaps *gaps = &sq->gaps;
	s32 left = ornic_psn_diff(gaps->end, at);
	u32 n;

	for (; left > 0; left -= (s32)n) {
		n = settled(sq, at);
		if (!n)
			return at;
		at = ornic_psn_add(at, n);
	}
	return gaps->end;
}

/*
 * How many PSNs of the piece of @sw that gaps.at is in go again in one packet;
 * gaps.at is moved to the first of them. 0: none are left, and gaps.at is beyond.
 */
static u32 next_of(const struct ornic_ctx *ctx, struct ornic_sq *sq,
		   const struct ornic_swqe *sw)
{
	struct ornic_gaps *gaps = &sq->gaps;
	u32 n;

	if (ornic_swqe_is_fetch(sw) && !is_executed(sq, sw, gaps->at))
		return whole_of(ctx, sq, sw);
	if (ornic_swqe_is_fetch(sw) && sq->selective == ORNIC_SELECTIVE_NO)
		return first_gap_of(sq, sw);
	n = run_of(sq, sw);
	if (!n)
		gaps->at = ornic_psn_add(gaps->at, 1);
	return n;
}

u32 ornic_gaps_next(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 *psn,
		    u32 *wqe)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;
	u32 n;

	if (ornic_psn_diff(gaps->at, sq->acked) < 0)
		gaps->at = sq->acked;
	/* No more than a window in a round trip, then the next response asks. */
	if (gaps->nresent > max_t(u32, sq->window, ORNIC_LOSS_WINDOW) ||
	    gaps->nasked > sq->window + ORNIC_READ_PIECE) {
		gaps->at = gaps->end;
		gaps->again = true;
	}
	while (ornic_psn_diff(gaps->end, gaps->at) > 0) {
		gaps->at = skip_settled(sq, gaps->at);
		if (gaps->at == gaps->end)
			return 0;
		*wqe = ornic_gap_index(sq, gaps->at);
		if (*wqe == sq->fetched)
			break;
		n = next_of(ctx, sq, ornic_swqe(sq, *wqe));
		*psn = gaps->at;
		if (n)
			return n;
	}
	gaps->at = gaps->end;
	return 0;
}

bool ornic_gaps_is_last(const struct ornic_sq *sq, u32 psn)
{
	return skip_settled(sq, ornic_psn_add(psn, 1)) == sq->gaps.end;
}

/* What is asked for twice comes twice, late or not. */
static void count_asks(struct ornic_gaps *gaps, u32 psn, u32 npkts)
{
	if (gaps->late.judged &&
	    (u32)ornic_psn_diff(gaps->late.psn, psn) < npkts)
		gaps->judged_asks++;
}

void ornic_gaps_sent(struct ornic_sq *sq, u32 psn, u32 npkts, bool request)
{
	count_asks(&sq->gaps, psn, npkts);
	sq->gaps.used = true;
	sq->gaps.at = ornic_psn_add(psn, npkts);
	sq->gaps.nresent += request;
	sq->gaps.nasked += !request;
	for (; npkts && ornic_gap_in_window(sq, psn); npkts--) {
		ornic_gap_set(&sq->gaps, ORNIC_GAPS_RESENT, psn);
		psn = ornic_psn_add(psn, 1);
	}
}

/*
 * Noise takes some packets, a full queue takes many: if more than a third of
 * what was sent went again, the rest is what the path takes.
 */
static void judge_loss(struct ornic_sq *sq)
{
	u32 lost = sq->gaps.nresent;
	u32 sent = ornic_psn_diff(sq->max_psn, sq->gaps.epoch_psn) + lost;

	sq->gaps.nresent = 0;
	sq->gaps.nasked = 0;
	sq->gaps.epoch_psn = sq->max_psn;
	if (lost <= 2 * ORNIC_LOSS_WINDOW ||
	    3 * lost <= max_t(u32, sent, sq->window))
		return;
	lost = min_t(u32, lost, sq->window / 2);
	sq->window = max_t(u32, sq->window - lost, ORNIC_LOSS_WINDOW);
	sq->probing = true;
}

static u64 epoch_ns(const struct ornic_qp *qp)
{
	const struct ornic_sq *sq = &qp->sq;
	u64 rto = FIRST_EPOCH_NS;

	if (sq->rtt.smooth)
		rto = max_t(u64, ornic_sq_rto_ns(sq), MIN_EPOCH_NS);
	/* It may have gone again along a longer path than those that were timed. */
	return likely(!qp->spray) ? rto : 2 * rto;
}

void ornic_gap_turn_epoch(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;
	u64 age = ornic_since(ctx->now, gaps->epoch);
	u64 rto = epoch_ns(qp);

	if (age < rto)
		return;
	gaps->again = true;
	judge_loss(sq);
	memcpy(gaps->map[ORNIC_GAPS_RESENT_BEFORE],
	       gaps->map[ORNIC_GAPS_RESENT], ornic_gap_map_bytes(gaps->size));
	if (age >= 2 * rto)
		ornic_gap_clear_map(gaps, ORNIC_GAPS_RESENT_BEFORE);
	ornic_gap_clear_map(gaps, ORNIC_GAPS_RESENT);
	ornic_gap_clear_map(gaps, ORNIC_GAPS_HELD);
	gaps->epoch = ctx->now;
}

/* Is something to go again that is outstanding still? */
static bool is_asking(const struct ornic_sq *sq)
{
	const struct ornic_gaps *gaps = &sq->gaps;

	return ornic_psn_diff(gaps->end, gaps->at) > 0 &&
	       ornic_psn_diff(gaps->end, sq->acked) > 0;
}

void ornic_gaps_ask(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 from,
		    u32 end)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;
	bool active = is_asking(&qp->sq);

	ornic_gap_turn_epoch(ctx, qp);
	if (!active || ornic_psn_diff(from, gaps->at) < 0)
		gaps->at = from;
	if (!active || ornic_psn_diff(end, gaps->end) > 0)
		gaps->end = end;
}

static void forget_resends(struct ornic_gaps *gaps)
{
	ornic_gap_clear_map(gaps, ORNIC_GAPS_RESENT);
	ornic_gap_clear_map(gaps, ORNIC_GAPS_RESENT_BEFORE);
	gaps->again = true;
}

void ornic_gaps_probe(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	u32 last = ornic_psn_add(sq->max_psn, ORNIC_PSN_MASK);

	forget_resends(&sq->gaps);
	if (sq->gaps.open) {
		ornic_gaps_ask(ctx, qp, sq->acked, sq->gaps.executed);
		return;
	}
	/* What goes again asks as well, and what follows it was not lost. */
	if (is_asking(sq))
		return;
	/* The peer may have dropped what it kept. */
	ornic_gap_clear_got(&sq->gaps, last, 1);
	ornic_gaps_ask(ctx, qp, last, sq->max_psn);
}

void ornic_gaps_doubt(struct ornic_sq *sq)
{
	u32 at = sq->gaps.open ? sq->gaps.executed : sq->acked, n, i;
	const struct ornic_swqe *sw;

	for (i = ornic_gap_index(sq, at); i != sq->fetched; i++) {
		sw = ornic_swqe(sq, i);
		if (!sw->started)
			break;
		if (ornic_swqe_is_fetch(sw))
			continue;
		n = ornic_gap_part(sq, sw, &at, sq->max_psn);
		ornic_gap_clear_got(&sq->gaps, at, n);
	}
}

void ornic_gaps_oldest(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	forget_resends(&sq->gaps);
	ornic_gaps_ask(ctx, qp, sq->acked, ornic_psn_add(sq->acked, 1));
}

/*
 * What was sent again before a PSN that was sent again is lost if it has not arrived.
 * Before the last such PSN it was found then, unless the order begins anew.
 */
void ornic_gap_mark(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 psn)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;
	u32 other = sq->acked, n;

	gaps->used = true;
	gaps->ngot += !ornic_gap_has(gaps, ORNIC_GAPS_GOT, psn);
	ornic_gap_set(gaps, ORNIC_GAPS_GOT, psn);
	if (sq->rtt.start && ornic_psn_add(psn, 1) == sq->rtt.psn)
		ornic_comp_rtt(ctx, qp);
	/* Paths have no order among each other. */
	if (!was_resent(gaps, psn) || qp->spray)
		return;
	if (ornic_gap_in_window(sq, gaps->last) &&
	    ornic_psn_diff(psn, gaps->last) > 0)
		other = ornic_psn_add(gaps->last,
				      ornic_gap_has(gaps, ORNIC_GAPS_GOT,
						    gaps->last));
	n = ornic_psn_diff(psn, other);
	n = ornic_gap_clear(gaps, ORNIC_GAPS_RESENT, other, n) +
	    ornic_gap_clear(gaps, ORNIC_GAPS_RESENT_BEFORE, other, n);
	gaps->again |= n;
	gaps->last = psn;
}

/* ---- What has arrived ----------------------------------------------------------- */

/* Requests from @at to before @end that have no responses are executed: they are done. */
static void requests_are_done(struct ornic_sq *sq, u32 at, u32 end)
{
	struct ornic_gaps *gaps = &sq->gaps;
	const struct ornic_swqe *sw;
	u32 i, n;

	gaps->used = true;
	for (i = ornic_gap_index(sq, at); i != sq->fetched; i++) {
		sw = ornic_swqe(sq, i);
		if (!sw->started || ornic_gap_into(sq, sw, end) <= 0)
			break;
		if (ornic_swqe_is_fetch(sw))
			continue;
		n = ornic_gap_part(sq, sw, &at, end);
		gaps->ngot += ornic_map_fill(gaps->map[ORNIC_GAPS_GOT],
					     gaps->size, at, n);
	}
}

/* The peer has executed all before @end. */
static void note_executed(struct ornic_sq *sq, u32 end)
{
	struct ornic_gaps *gaps = &sq->gaps;
	u32 at = gaps->open ? gaps->executed : sq->acked;

	if (!gaps->open) {
		gaps->limit = sq->acked;
		gaps->due_limit = sq->acked;
		gaps->seen = sq->acked;
		gaps->newest = sq->tail - 1;
	} else if (ornic_psn_diff(end, at) <= 0) {
		return;
	}
	gaps->open = true;
	gaps->executed = end;
	requests_are_done(sq, at, end);
}

/* How many requests for pieces of @sw end before @psn. */
static u32 pieces_before(const struct ornic_sq *sq, const struct ornic_swqe *sw,
			 u32 psn)
{
	s32 into = ornic_gap_into(sq, sw, psn);

	if (into >= (s32)sw->npkts)
		return ((sw->npkts - 1) >> sw->piece_shift) + 1;
	return into > 0 ? into >> sw->piece_shift : 0;
}

/*
 * The peer has sent the responses before @end, in their order. What has been lost of
 * them it remembers, but it is ready for more requests.
 */
static void note_passed(struct ornic_sq *sq, u32 end)
{
	struct ornic_gaps *gaps = &sq->gaps;
	const struct ornic_swqe *sw;
	u32 at = gaps->seen, i;

	if (ornic_psn_diff(at, sq->acked) < 0)
		at = sq->acked;
	if (ornic_psn_diff(end, at) <= 0)
		return;
	for (i = ornic_gap_index(sq, at); i != sq->fetched; i++) {
		sw = ornic_swqe(sq, i);
		if (!sw->started || ornic_gap_into(sq, sw, end) <= 0)
			break;
		if (ornic_swqe_is_fetch(sw))
			gaps->passed += pieces_before(sq, sw, end) -
					pieces_before(sq, sw, at);
		if (ornic_swqe_has_sink(sw))
			gaps->newest = i;
	}
	gaps->seen = end;
}

bool ornic_gaps_leave_reads(const struct ornic_qp *qp)
{
	const struct ornic_sq *sq = &qp->sq;

	return sq->selective == ORNIC_SELECTIVE_YES &&
	       sq->rd_out < ORNIC_RD_SLOTS &&
	       sq->rd_out - min_t(u32, sq->rd_out, sq->gaps.passed) <
		       qp->max_rd_atomic;
}

/*
 * Is the oldest response lost, or only overtaken? A selective peer tells when one comes. Of
 * another one, if it comes twice, it was not lost.
 */
static void begin_judging(struct ornic_qp *qp, u64 now, u64 noticed)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;

	ornic_late_asked(&gaps->late, qp->spray);
	if (sq->selective != ORNIC_SELECTIVE_NO ||
	    was_resent(gaps, sq->acked) ||
	    !ornic_late_judge(&gaps->late, now, noticed, sq->acked))
		return;
	gaps->judged_asks = 0;
	gaps->judged_copies = 0;
}

void ornic_gaps_judge(const struct ornic_ctx *ctx, struct ornic_sq *sq)
{
	struct ornic_gaps *gaps = &sq->gaps;
	struct ornic_late *late = &gaps->late;

	if (!ornic_late_is_judging(late, ctx->now)) {
		late->judged = 0;
		return;
	}
	if (!late->took)
		late->took = max_t(u64, ornic_since(ctx->now, late->judged), 1);
	if (++gaps->judged_copies > max_t(u32, gaps->judged_asks, 1))
		ornic_late_in_vain(late);
}

void ornic_gaps_learn(const struct ornic_ctx *ctx, struct ornic_sq *sq,
		      const struct ornic_pkt *pkt)
{
	struct ornic_gaps *gaps = &sq->gaps;

	if (pkt->selective & ORNIC_BTH_AGAIN ||
	    ornic_psn_diff(pkt->psn, gaps->due_limit) >= 0 ||
	    !ornic_gap_in_window(sq, pkt->psn) ||
	    ornic_gap_has(gaps, ORNIC_GAPS_GOT, pkt->psn))
		return;
	ornic_late_learn(&gaps->late, ornic_since(ctx->now, gaps->due));
}

/* Responses before gaps.limit are overdue from now on. */
static void wait_for_late(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;

	gaps->ask_at = ctx->now + gaps->late.ns;
	gaps->ask_limit = gaps->limit;
	ornic_retry_arm(ctx, qp);
}

/* Was the oldest response asked for within the last round trip, or will be next? */
static bool is_asked(const struct ornic_sq *sq)
{
	const struct ornic_gaps *gaps = &sq->gaps;

	return was_resent(gaps, sq->acked) ||
	       (ornic_psn_diff(gaps->end, gaps->at) > 0 &&
		ornic_psn_diff(gaps->at, sq->acked) <= 0);
}

static void ask_now(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 limit,
		    u64 noticed)
{
	struct ornic_sq *sq = &qp->sq;

	/* It was not lost, so this is no retry. After an RNR wait all goes again. */
	if (unlikely(ornic_gap_is_unplaced(sq))) {
		if (sq->wait != ORNIC_WAIT_RNR)
			ornic_gaps_ask(ctx, qp, sq->acked, limit);
		return;
	}
	if (sq->wait == ORNIC_WAIT_NONE && !is_asked(sq))
		ornic_qp_stat_inc(qp, ORNIC_STAT_IMPLIED_NAK_SEQ_ERR);
	begin_judging(qp, ctx->now, noticed);
	ornic_retry_gap(ctx, qp, sq->acked, limit);
	if (limit == sq->gaps.limit && sq->wait != ORNIC_WAIT_RNR)
		sq->gaps.again = false;
}

/* Responses before @limit that are missing do not come by themselves. */
static void note_lost(const struct ornic_ctx *ctx, struct ornic_sq *sq,
		      u32 limit)
{
	struct ornic_gaps *gaps = &sq->gaps;

	if (ornic_psn_diff(limit, gaps->limit) > 0)
		gaps->limit = limit;
	if (ornic_psn_diff(gaps->due_limit, sq->acked) <= 0) {
		gaps->due_limit = gaps->limit;
		gaps->due = ctx->now;
	}
}

/* The response @psn has come, but there is no place for it now. */
static void note_unplaced(const struct ornic_ctx *ctx, struct ornic_sq *sq,
			  u32 psn)
{
	ornic_gap_add_unplaced(sq, psn);
	sq->gaps.again = true;
	note_lost(ctx, sq, ornic_psn_add(psn, 1));
}

/* Responses before @limit that are missing were lost, or are late. */
static void ask_before(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 limit)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;

	if (ornic_psn_diff(limit, sq->acked) <= 0)
		return;
	note_lost(ctx, sq, limit);
	if (!gaps->late.ns)
		ask_now(ctx, qp, limit, ctx->now);
	else if (!gaps->ask_at)
		wait_for_late(ctx, qp);
}

void ornic_gaps_late(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;

	if (ctx->now < gaps->ask_at) {
		ornic_retry_arm(ctx, qp);
		return;
	}
	if (ornic_psn_diff(gaps->ask_limit, sq->acked) > 0)
		ask_now(ctx, qp, gaps->ask_limit, gaps->ask_at - gaps->late.ns);
	gaps->ask_at = 0;
	if (gaps->open && ornic_psn_diff(gaps->limit, gaps->ask_limit) > 0)
		ask_before(ctx, qp, gaps->limit);
}

/*
 * Responses before gaps.limit were asked for when it moved there: is there more to ask for
 * now? Not unless some were lost again or a round trip is over, but on a path that reorders
 * each response asks, and so it does of a standard peer, part by part.
 */
static bool is_news(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		    u32 limit)
{
	const struct ornic_sq *sq = &qp->sq;
	const struct ornic_gaps *gaps = &sq->gaps;

	return ornic_psn_diff(limit, gaps->limit) > 0 || gaps->again ||
	       gaps->late.ns || sq->selective != ORNIC_SELECTIVE_YES ||
	       ornic_since(ctx->now, gaps->epoch) >= epoch_ns(qp);
}

void ornic_gaps_data(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_pkt *pkt)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw = ornic_gap_owner(sq, pkt->psn);
	enum ornic_vendor_err verr;
	u32 limit;

	if (!sw || !ornic_swqe_is_fetch(sw))
		return;
	note_executed(sq, piece_after(sw, pkt->psn));
	note_passed(sq, ornic_psn_add(pkt->psn, 1));
	/* One that does not fit fails the WQE when its turn comes. */
	if (ornic_sink_must_wait(sq, sw)) {
		note_unplaced(ctx, sq, pkt->psn);
	} else if (ornic_gap_in_window(sq, pkt->psn) &&
		   !ornic_gap_has(&sq->gaps, ORNIC_GAPS_GOT, pkt->psn)) {
		if (ornic_comp_place(qp, sw, pkt, &verr) == ORNIC_CQE_SUCCESS) {
			ornic_gap_mark(ctx, qp, pkt->psn);
			ornic_retry_postpone(ctx, qp);
		} else if (verr == ORNIC_VERR_PAGE) {
			note_unplaced(ctx, sq, pkt->psn);
		}
	}
	limit = pkt->op->flags & ORNIC_OPF_END ? pkt->psn :
						 piece_first(sw, pkt->psn);
	if (is_news(ctx, qp, limit))
		ask_before(ctx, qp, limit);
}

void ornic_gaps_unplaced(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			 u32 psn)
{
	ornic_gap_add_unplaced(&qp->sq, psn);
	ornic_gaps_ask(ctx, qp, psn, ornic_psn_add(psn, 1));
}

/* The peer has waited for the request @end as long as its path may be late. */
static void request_is_lost(struct ornic_ctx *ctx, struct ornic_qp *qp,
			    const struct ornic_pkt *pkt, u32 end)
{
	struct ornic_sq *sq = &qp->sq;
	u32 last = ornic_gaps_sack(ctx, qp, pkt);

	if (sq->selective != ORNIC_SELECTIVE_YES) {
		ornic_retry_back(ctx, qp, end);
		ornic_retry_gap(ctx, qp, sq->acked, end);
		return;
	}
	if (last == end)
		last = ornic_psn_add(end, 1);
	ornic_retry_gap(ctx, qp, sq->acked, last);
}

void ornic_gaps_ack(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_pkt *pkt, u32 end)
{
	struct ornic_sq *sq = &qp->sq;

	note_executed(sq, end);
	note_passed(sq, end);
	if (pkt->syndrome == (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_SEQ_NAK_RCVD);
		request_is_lost(ctx, qp, pkt, end);
		return;
	}
	/* An RNR NAK or a fatal one counts when all before it is complete. */
	if ((pkt->syndrome & ORNIC_AETH_TYPE_MASK) != ORNIC_AETH_ACK) {
		sq->gaps.refusal = pkt->syndrome;
		sq->gaps.refusal_psn = end;
	}
	ask_before(ctx, qp, end);
}

u8 ornic_gaps_refusal(struct ornic_sq *sq)
{
	struct ornic_gaps *gaps = &sq->gaps;
	u8 syndrome = gaps->refusal;
	s32 diff = ornic_psn_diff(gaps->refusal_psn, sq->acked);

	if (diff > 0)
		return 0;
	gaps->refusal = 0;
	return diff ? 0 : syndrome;
}

void ornic_gaps_advance(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	while (!ornic_comp_up_to(ctx, qp, sq->gaps.executed)) {
		if (!ornic_gap_has(&sq->gaps, ORNIC_GAPS_GOT, sq->acked))
			break;
		if (!ornic_comp_response(ctx, qp, ornic_swqe(sq, sq->tail)))
			return;
	}
	if (ornic_psn_diff(sq->gaps.executed, sq->acked) <= 0)
		sq->gaps.open = false;
	else if (!was_resent(&sq->gaps, sq->acked))
		ask_before(ctx, qp, sq->gaps.limit);
}
