/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Timers and retries of the requester, retry.c: see proto.h for "sq" and "not rq". */
#ifndef ORNIC_ENGINE_RETRY_H
#define ORNIC_ENGINE_RETRY_H

#include "qp.h"

/* sq, not rq: the host's timer fired; the deadline may have passed. */
noinline void ornic_retry_expire(struct ornic_ctx *ctx, struct ornic_qp *qp);

/*
 * sq: a standard peer misses the request @psn, and responses before it are missing:
 * go back to it, once in a round trip.
 */
noinline void ornic_retry_back(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			       u32 psn);

/* sq: start, move or stop the timers after sending or progress. */
void ornic_retry_timer(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: what is before @end was sent again; is it what is timed, or after it? */
static inline void ornic_retry_ambiguous(struct ornic_sq *sq, u32 end)
{
	if (!sq->rtt.start || ornic_psn_diff(sq->rtt.psn, end) > 0)
		return;
	sq->rtt.again = true;
	sq->retry.judge = true;
}

/* sq, retry.judge is set: does the response @pkt answer what was sent first, or a copy? */
noinline void ornic_retry_judge(struct ornic_qp *qp,
				const struct ornic_pkt *pkt);

/* sq: set the host's timer to the earliest deadline of @qp. */
noinline void ornic_retry_arm(const struct ornic_ctx *ctx, struct ornic_qp *qp);

/*
 * sq, not rq: the peer had no receive WQE; @code is its timer code. All before
 * the message in question is complete.
 */
noinline void ornic_retry_rnr(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      u8 code);

/*
 * sq, not rq: the peer misses the request with the PSN of @pkt, and has all
 * before it. @progress: that is news.
 */
noinline void ornic_retry_nak(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      const struct ornic_pkt *pkt, bool progress);

/* sq, not rq: responses to PSNs from @from to before @end were lost. */
noinline void ornic_retry_gap(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      u32 from, u32 end);

/* sq: a response that is no progress has come: what is early waits for the next. */
noinline void ornic_retry_postpone(const struct ornic_ctx *ctx,
				   struct ornic_qp *qp);

/* ns of RNR timer @code, IBTA table 45. */
u64 ornic_rnr_ns(u8 code);

#endif /* ORNIC_ENGINE_RETRY_H */
