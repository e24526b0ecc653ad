// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Congestion control by RTT, where no switch marks packets, in the manner of Swift
 * (Kumar et al., SIGCOMM 2020). The window of a requester follows the RTT: below a
 * target it grows by a part of a packet in a round trip, above that it becomes
 * smaller, once in a round trip. A window of less than a packet is a time between packets.
 * READ responses obey as well, as they are requested in pieces that are not larger
 * than the window.
 *
 * A sample counts if the one before was late as well, since a host that is busy
 * delays some. The target is the same for all flows of a port, not the least RTT of
 * each and an allowance: one that came late cannot tell a queue from a long path.
 * For the same reason nothing in the growth depends on the least RTT.
 *
 * Evaluated when a sample comes, sq.lock held. Until the first cut there is
 * nothing but the comparison.
 */
#include "proto.h"

#define NS_PER_US 1000ull
/* Fixed point: the window in parts of a packet, factors in parts of one. */
#define CWND_SHIFT 8
#define CWND_ONE (1u << CWND_SHIFT)
/* The least window: a packet in 16 round trips. */
#define CWND_MIN (CWND_ONE / 16)
/* The least RTT is that of the last one or two of these, ns. */
#define BASE_NS 5000000000ull
/* Losses are judged when so many packets were sent, or a window ... */
#define HEAVY_PSNS 16
/* ... and a part of a READ that goes again counts at most as so many. */
#define HEAVY_PART 8
/* So many samples in a row below the target end a series of cuts. */
#define CALM_SAMPLES 4
/* Growth becomes fast after so many windows with an RTT below half the target. */
#define SHORT_RTTS 4
/*
 * A least RTT above it, and above the target, is that of a long path, ns: what a full
 * queue does not add, or, if nothing was lost for LOSS_NS, what a short one does not.
 */
#define LONG_PATH_NS 2000000ull
#define LONG_CLEAN_NS 600000ull
#define LOSS_NS 1000000000ull
/* For so long, ns, and so many RTTs, such a path is not tried. */
#define UNTRIED_NS 20000000ull
#define UNTRIED_RTTS 32
/* So many cuts in a row that do not make its RTT shorter prove it. */
#define LONG_CUTS 4
/* Others, and all for CROWDED_NS after heavy loss, need so many, in so many ns. */
#define MANY_CUTS 16
#define MANY_CUTS_NS 200000000ull
#define CROWDED_NS 1000000000ull
/* An RTT above it, and above twice the target, may be that of a busy host, ns. */
#define BUSY_NS 1000000ull
/*
 * An RTT that cuts do not change is that of the path for so long, ns, or so many RTTs;
 * one that is so many times as long is that of a queue.
 */
#define OFF_NS 10000000000ull
#define OFF_RTTS 500
#define OFF_TIMES 3
/* After an ACK that was overtaken the RTT does not count for so long, ns. */
#define REORDER_NS 1000000000ull

static u32 param(const struct ornic_qp *qp, enum ornic_cc_param which)
{
	return READ_ONCE(qp->dev->cc_param[which]);
}

void ornic_delay_reset(struct ornic_sq *sq)
{
	memset(&sq->delay, 0, sizeof(sq->delay));
}

static u64 target_ns(const struct ornic_qp *qp)
{
	return param(qp, ORNIC_CC_RTT_TARGET) * NS_PER_US;
}

/*
 * Marks tell more than the RTT, and it has a part that the rate of the QP adds. Where
 * packets overtake each other it depends on the path of each.
 */
static bool is_off(const struct ornic_ctx *ctx, const struct ornic_qp *qp)
{
	return !param(qp, ORNIC_CC_RTT_ENABLE) || qp->sq.marks.on ||
	       READ_ONCE(qp->cc.paced) || qp->spray ||
	       ctx->now < qp->sq.delay.reorder_until;
}

/* The path alone has an RTT above the target, as far as is known. */
static bool has_long_path(const struct ornic_ctx *ctx,
			  const struct ornic_qp *qp)
{
	const struct ornic_delay *delay = &qp->sq.delay;
	bool clean = ctx->now >= delay->lossy_until;

	return delay->base >
	       max_t(u64, target_ns(qp), clean ? LONG_CLEAN_NS : LONG_PATH_NS);
}

/* An RTT above the target that does not follow the window, or may not. */
static bool is_ignored(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		       u64 rtt)
{
	const struct ornic_delay *delay = &qp->sq.delay;

	if (ctx->now < delay->off_until)
		return rtt <= OFF_TIMES * delay->off_rtt;
	return ctx->now < delay->untried_until && has_long_path(ctx, qp);
}

/* The least RTT of the last five to ten seconds. */
static void note_least(const struct ornic_ctx *ctx, struct ornic_delay *delay,
		       u64 took)
{
	if (ctx->now >= delay->base_until) {
		delay->base = delay->base_next;
		delay->base_next = took;
		delay->base_until = ctx->now + BASE_NS;
	}
	delay->base_next = min_t(u64, delay->base_next, took);
	if (!delay->base || took < delay->base)
		delay->base = took;
}

/* The window, which others may have changed since it was set here. */
static u32 cwnd_of(const struct ornic_sq *sq)
{
	u32 cwnd = sq->delay.cwnd;

	if (!cwnd || max_t(u32, cwnd >> CWND_SHIFT, 1) != sq->window)
		cwnd = sq->window << CWND_SHIFT;
	return cwnd;
}

static void set_cwnd(struct ornic_sq *sq, u32 cwnd)
{
	sq->delay.cwnd = cwnd;
	sq->delay.spread = cwnd < CWND_ONE;
	sq->window = max_t(u32, cwnd >> CWND_SHIFT, 1);
	/* With one ACK for a window nothing would be sent while it is under way. */
	sq->delay.ack_early =
		ORNIC_ACK_INTERVAL -
		min_t(u32, max_t(u32, sq->window / 2, 1), ORNIC_ACK_INTERVAL);
}

/* The window follows other laws again. */
static void leave(struct ornic_sq *sq)
{
	sq->delay.cwnd = 0;
	sq->delay.spread = false;
	sq->delay.ack_early = 0;
	sq->delay.ncuts = 0;
}

/* @percent of the window go. */
static void cut(struct ornic_qp *qp, u64 percent)
{
	u32 most = 100 - param(qp, ORNIC_CC_RTT_MIN_DEC_FAC);
	struct ornic_sq *sq = &qp->sq;
	u64 left = 100 - min_t(u64, percent, most);
	u64 cwnd = cwnd_of(sq) * left / 100;
	/* One that waits for its program does not fill a queue. */
	u32 floor = sq->cur == sq->fetched ? CWND_ONE : CWND_MIN;

	set_cwnd(sq, max_t(u32, (u32)cwnd, floor));
	sq->probing = true;
	sq->credit = 0;
	sq->delay.end = sq->max_psn;
	sq->delay.before = 0;
	sq->delay.nshort = 0;
}

/*
 * Cuts in a row have not made the RTT shorter, so it does not follow the window. While
 * a queue is full others take at first what one gives up, so it takes more of them.
 */
static bool is_vain(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		    u64 rtt)
{
	const struct ornic_delay *delay = &qp->sq.delay;
	u64 target = target_ns(qp);

	if (has_long_path(ctx, qp) && ctx->now >= delay->crowded_until)
		return delay->ncuts >= LONG_CUTS &&
		       rtt < delay->base + delay->base / 4;
	return delay->ncuts >= MANY_CUTS &&
	       ctx->now >= delay->first_at + MANY_CUTS_NS &&
	       (delay->base > target || rtt > max_t(u64, 2 * target, BUSY_NS));
}

/*
 * The same part for all flows, so that they come to have the same window, and more
 * than what is above the target, so that the queue becomes shorter at times.
 */
static void cut_queue(const struct ornic_ctx *ctx, struct ornic_qp *qp, u64 rtt)
{
	struct ornic_delay *delay = &qp->sq.delay;
	u64 part = rtt * param(qp, ORNIC_CC_RTT_BETA) / target_ns(qp);

	if (ctx->now < delay->off_until) {
		cut(qp, 100);
		leave(&qp->sq);
		return;
	}
	if (is_vain(ctx, qp, rtt)) {
		delay->off_until =
			ctx->now + max_t(u64, OFF_NS, OFF_RTTS * rtt);
		delay->off_rtt = rtt;
		qp->sq.window = max_t(u32, delay->first >> CWND_SHIFT, 1);
		leave(&qp->sq);
		return;
	}
	if (!delay->ncuts || rtt < delay->first_rtt - delay->first_rtt / 8) {
		delay->first = cwnd_of(&qp->sq);
		delay->first_rtt = rtt;
		delay->first_at = ctx->now;
		delay->ncuts = 0;
	}
	delay->ncuts++;
	cut(qp, part);
}

void ornic_delay_resent(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			u32 npkts)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_delay *delay = &sq->delay;
	u32 sent;

	delay->lossy_until = ctx->now + LOSS_NS;
	/* A timer may be early. */
	if (sq->retry.resends && has_long_path(ctx, qp))
		return;
	if (ornic_psn_diff(sq->max_psn, delay->resent_psn) < 0)
		delay->resent_psn = sq->max_psn;
	delay->resent += min_t(u32, npkts, HEAVY_PART);
	sent = ornic_psn_diff(sq->max_psn, delay->resent_psn) + delay->resent;
	if (sent < max_t(u32, sq->window, HEAVY_PSNS))
		return;
	if (2 * delay->resent > sent) {
		delay->crowded_until = ctx->now + CROWDED_NS;
		delay->untried_until = 0;
		delay->off_until = 0;
		delay->ncuts = 0;
		if (!is_off(ctx, qp))
			cut(qp, 100);
	}
	delay->resent = 0;
	delay->resent_psn = sq->max_psn;
}

/* What was just timed says something about the path. */
static void note_sample(const struct ornic_ctx *ctx, struct ornic_delay *delay,
			u64 took)
{
	if (unlikely(!delay->base))
		delay->untried_until =
			ctx->now + max_t(u64, UNTRIED_NS, UNTRIED_RTTS * took);
	note_least(ctx, delay, took);
}

void ornic_delay_sample(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			u64 took)
{
	struct ornic_sq *sq = &qp->sq;
	bool valid = sq->rtt.clean &&
		     ornic_psn_diff(sq->retry.recover, sq->rtt.psn) < 0;
	struct ornic_delay *delay = &sq->delay;
	u64 target, rtt;

	/* It is compared with PSNs to come, so it must not fall far behind. */
	if (ornic_psn_diff(delay->end, sq->acked) < 0)
		delay->end = sq->acked;
	if (valid)
		note_sample(ctx, delay, took);
	target = target_ns(qp);
	if (likely(took <= target)) {
		delay->before = took;
		if (delay->ncalm < CALM_SAMPLES)
			delay->ncalm++;
		else
			delay->ncuts = 0;
		return;
	}
	delay->ncalm = 0;
	/* It may have waited for something that was lost. */
	if (!valid || is_off(ctx, qp))
		return;
	/* Sent before the window became smaller. */
	if (delay->cwnd && ornic_psn_diff(sq->rtt.psn, delay->end) <= 0)
		return;
	rtt = min_t(u64, took, delay->before);
	delay->before = took;
	if (rtt > target && !is_ignored(ctx, qp, rtt))
		cut_queue(ctx, qp, rtt);
}

/* How much the window grows when all of it is acknowledged. */
static u32 growth(struct ornic_qp *qp, u32 cwnd, u64 target)
{
	struct ornic_delay *delay = &qp->sq.delay;
	u32 add = param(qp, ORNIC_CC_RTT_AI);

	/* As much in a round trip as others: an ACK comes in several of them. */
	if (cwnd < CWND_ONE)
		add = add * CWND_ONE / cwnd;
	if (qp->sq.rtt.last >= target / 2)
		delay->nshort = 0;
	else if (delay->nshort < SHORT_RTTS)
		delay->nshort++;
	else
		add += cwnd / 8;
	return add;
}

void ornic_delay_overtaken(const struct ornic_ctx *ctx, struct ornic_sq *sq,
			   const struct ornic_pkt *pkt)
{
	if ((pkt->opcode & ~ORNIC_TRANSPORT_MASK) == ORNIC_OP_ACK)
		sq->delay.reorder_until = ctx->now + REORDER_NS;
}

void ornic_delay_widen(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		       u32 gain, u32 most)
{
	struct ornic_sq *sq = &qp->sq;
	u64 target = target_ns(qp);
	u32 cwnd = cwnd_of(sq);

	if (is_off(ctx, qp))
		leave(sq);
	sq->credit += gain;
	if (!sq->delay.cwnd || sq->credit < sq->window || !sq->rtt.last ||
	    sq->rtt.last > target)
		return;
	sq->credit = 0;
	cwnd += growth(qp, cwnd, target);
	set_cwnd(sq, min_t(u32, cwnd, most << CWND_SHIFT));
}

/* From half of @ns to one and a half, so that flows do not send in step. */
static u64 jitter(const struct ornic_qp *qp, u64 ns)
{
	u32 hash = (qp->sq.psn ^ qp->qpn) * 2654435761u;

	return ns / 2 + (ns * (hash >> 24) >> 8);
}

bool ornic_delay_hold(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_delay *delay = &sq->delay;

	if (cwnd_of(sq) >= CWND_ONE || is_off(ctx, qp)) {
		delay->spread = false;
		return false;
	}
	if (ctx->now < delay->next) {
		sq->backoff.slot = true;
		WRITE_ONCE(sq->backoff.until, delay->next);
		return true;
	}
	sq->backoff.slot = false;
	delay->next =
		ctx->now + jitter(qp, sq->rtt.smooth * CWND_ONE / delay->cwnd);
	return false;
}
