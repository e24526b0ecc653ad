/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rate limit of raw packet QPs. */
#ifndef ORNIC_ENGINE_RATE_H
#define ORNIC_ENGINE_RATE_H

#include "env.h"

struct ornic_ctx;
struct ornic_qp;

/*
 * struct ornic_rate - a token bucket, rate.c. Bits are counted in millionths, of which
 * a rate of 1 kbit/s gives one in a ns. All zero: no limit.
 */
struct ornic_rate {
	u32 kbit; /* kbit/s; 0 = no limit */
	u32 burst; /* bytes that it holds */
	s64 credit; /* what it had at @at; below zero after a frame longer than it */
	u64 at; /* ns */
	bool holds; /* the backoff of the SQ is for it */
};

/* sq: what MODIFY_QP sets. What waits is to run again. */
void ornic_rate_set(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 kbit,
		    u32 burst);

/*
 * sq: true if a frame of @len bytes must wait, until the backoff of the SQ is over.
 * Nothing is taken for it: ornic_rate_take() does that, when it has been sent.
 */
noinline bool ornic_rate_hold(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			      u32 len);
void ornic_rate_take(struct ornic_qp *qp, u32 len);

#endif /* ORNIC_ENGINE_RATE_H */
