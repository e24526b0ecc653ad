// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The rate limit of raw packet QPs: a token bucket for each that has one.
 *
 * A frame goes when the bucket has enough for it, or is full. It takes all that it
 * needs, so a frame that is longer than the burst leaves a debt.
 *
 * Invariant: |credit| is at most the larger of burst and frame, which have 32 bits each:
 * below 2^56, so that sums of them do not overflow.
 */
#include "rate.h"

#include "proto.h"
#include "qp.h"

/* Millionths of a bit. */
#define RATE_BYTE 8000000ll

static s64 full_credit(const struct ornic_rate *rate)
{
	return rate->burst * RATE_BYTE;
}

static void refill(struct ornic_rate *rate, u64 now)
{
	u64 ns = ornic_since(now, rate->at);
	u64 room = (u64)(full_credit(rate) - rate->credit);

	if (ns > room / rate->kbit)
		rate->credit = full_credit(rate);
	else
		rate->credit += (s64)(ns * rate->kbit);
	rate->at = max_t(u64, rate->at, now);
}

void ornic_rate_set(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 kbit,
		    u32 burst)
{
	struct ornic_rate *rate = &qp->sq.rate;
	bool was_on = rate->kbit;

	ornic_lock_held(&qp->sq.lock);
	if (was_on)
		refill(rate, ctx->now);
	else
		rate->at = ctx->now;
	rate->kbit = kbit;
	rate->burst = burst ? burst : ORNIC_RATE_BURST;
	/* What was sent by another limit counts. */
	if (!was_on || rate->credit > full_credit(rate))
		rate->credit = full_credit(rate);
	if (rate->holds)
		WRITE_ONCE(qp->sq.backoff.until, 0);
	rate->holds = false;
}

noinline bool ornic_rate_hold(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			      u32 len)
{
	struct ornic_rate *rate = &qp->sq.rate;
	s64 need = min_t(u32, len, rate->burst) * RATE_BYTE;

	refill(rate, ctx->now);
	rate->holds = rate->credit < need;
	if (!rate->holds)
		return false;
	need -= rate->credit;
	WRITE_ONCE(qp->sq.backoff.until,
		   rate->at + (u64)(need - 1) / rate->kbit + 1);
	return true;
}

void ornic_rate_take(struct ornic_qp *qp, u32 len)
{
	qp->sq.rate.credit -= len * RATE_BYTE;
}
