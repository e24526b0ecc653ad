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
/* Losses are judged when so many packets were sent, or a window. */
#define HEAVY_PSNS 16
/* A large part of a READ is often one lost request. */
#define HEAVY_PART 32
/* So many cuts in a row would have made a queue shorter ... */
#define MANY_CUTS 24
/* ... so there is none, for this time, ns. */
#define OFF_NS 10000000000ull
/* For so long after heavy loss no path is taken for a long one, ns. */
#define CROWDED_NS 1000000000ull
/* A path with a least RTT above it, and above the target, is not controlled, ns. */
#define LONG_PATH_NS 2000000ull

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

static bool is_long(const struct ornic_qp *qp)
{
	return qp->sq.delay.base > max_t(u64, LONG_PATH_NS, target_ns(qp));
}

/* Marks tell more than the RTT, and it has a part that the rate of the QP adds. */
static bool is_off(const struct ornic_ctx *ctx, const struct ornic_qp *qp)
{
	return !param(qp, ORNIC_CC_RTT_ENABLE) || qp->sq.marks.on ||
	       READ_ONCE(qp->cc.paced) || ctx->now < qp->sq.delay.off_until ||
	       (is_long(qp) && ctx->now >= qp->sq.delay.crowded_until);
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

/* A path that reorders, or a host that is busy, has samples of all sizes. */
static bool is_noisy(const struct ornic_sq *sq)
{
	return sq->rtt.var > sq->rtt.smooth / 4;
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
}

/* The window follows other laws again. */
static void leave(struct ornic_sq *sq)
{
	sq->delay.cwnd = 0;
	sq->delay.spread = false;
	sq->delay.nseries = 0;
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
}

/*
 * The same part for all flows, so that they come to have the same window, and more
 * than what is above the target, so that the queue becomes shorter at times.
 */
static void cut_queue(const struct ornic_ctx *ctx, struct ornic_qp *qp, u64 rtt)
{
	struct ornic_delay *delay = &qp->sq.delay;
	u64 part = rtt * param(qp, ORNIC_CC_RTT_BETA) / target_ns(qp);

	if (!delay->nseries++)
		delay->first = cwnd_of(&qp->sq);
	cut(qp, part);
	if (delay->nseries < MANY_CUTS)
		return;
	/* The RTT does not follow the window: something else makes it long. */
	delay->off_until = ctx->now + OFF_NS;
	qp->sq.window = max_t(u32, delay->first >> CWND_SHIFT, 1);
	leave(&qp->sq);
}

void ornic_delay_resent(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			u32 npkts)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_delay *delay = &sq->delay;
	u32 sent;

	/* A timer may be early. */
	if (sq->retry.resends && is_long(qp))
		return;
	if (ornic_psn_diff(sq->max_psn, delay->resent_psn) < 0)
		delay->resent_psn = sq->max_psn;
	delay->resent += min_t(u32, npkts, HEAVY_PART);
	sent = ornic_psn_diff(sq->max_psn, delay->resent_psn) + delay->resent;
	if (sent < max_t(u32, sq->window, HEAVY_PSNS))
		return;
	if (2 * delay->resent > sent) {
		delay->crowded_until = ctx->now + CROWDED_NS;
		delay->nseries = 0;
		if (!is_off(ctx, qp))
			cut(qp, 100);
	}
	delay->resent = 0;
	delay->resent_psn = sq->max_psn;
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
		note_least(ctx, delay, took);
	target = target_ns(qp);
	if (likely(took <= target)) {
		delay->before = took;
		delay->nseries = 0;
		return;
	}
	/* It may have waited for something that was lost. */
	if (!valid || is_noisy(sq) || is_off(ctx, qp))
		return;
	/* Sent before the window became smaller. */
	if (delay->cwnd && ornic_psn_diff(sq->rtt.psn, delay->end) <= 0)
		return;
	rtt = min_t(u64, took, delay->before);
	delay->before = took;
	if (rtt > target)
		cut_queue(ctx, qp, rtt);
}

void ornic_delay_widen(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		       u32 gain, u32 most)
{
	struct ornic_sq *sq = &qp->sq;
	u32 cwnd = cwnd_of(sq), add = param(qp, ORNIC_CC_RTT_AI);
	u64 target = target_ns(qp);
	u64 base = min_t(u64, sq->delay.base, target);

	if (is_off(ctx, qp))
		leave(sq);
	sq->credit += gain;
	if (!sq->delay.cwnd || sq->credit < sq->window || sq->rtt.last > target)
		return;
	sq->credit = 0;
	if (sq->rtt.last < base + (target - base) / 2)
		add += cwnd / 8;
	set_cwnd(sq, min_t(u32, cwnd + add, most << CWND_SHIFT));
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
	delay->next = ctx->now + sq->rtt.smooth * CWND_ONE / delay->cwnd;
	return false;
}
