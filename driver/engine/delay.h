/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Congestion control by RTT, delay.c. The caller holds sq.lock. */
#ifndef ORNIC_ENGINE_DELAY_H
#define ORNIC_ENGINE_DELAY_H

#include "qp.h"

/* A READ is requested in pieces of 2^ORNIC_READ_PIECE_SHIFT response packets. */
#define ORNIC_READ_PIECE_SHIFT 8

/* Forget all samples; the window is not changed. */
void ornic_delay_reset(struct ornic_sq *sq);

/* What is timed, sq.rtt, was acknowledged after @took ns. */
void ornic_delay_sample(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			u64 took);

/* @npkts packets, or the request for so many, went again. */
void ornic_delay_resent(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			u32 npkts);

/*
 * True if a response with @psn was overtaken by one to a later request. ACKs of one QP
 * keep their order unless the path reorders; the last one may be repeated.
 */
static inline bool ornic_delay_is_overtaken(const struct ornic_sq *sq, u32 psn)
{
	return ornic_psn_diff(psn, sq->acked) < -1;
}

/* @pkt was overtaken. */
noinline void ornic_delay_overtaken(const struct ornic_ctx *ctx,
				    struct ornic_sq *sq,
				    const struct ornic_pkt *pkt);

/* The window was cut before, and @gain PSNs are acknowledged; up to @most. */
noinline void ornic_delay_widen(const struct ornic_ctx *ctx,
				struct ornic_qp *qp, u32 gain, u32 most);

/*
 * With delay.spread set: true if the next packet must wait, which sq.backoff does
 * then. Else it is taken for sent.
 */
noinline bool ornic_delay_hold(const struct ornic_ctx *ctx,
			       struct ornic_qp *qp);

/* log2 of the packets of a piece of a READ that begins now. */
static inline u8 ornic_delay_piece_shift(const struct ornic_sq *sq)
{
	u8 shift = ORNIC_READ_PIECE_SHIFT;

	if (likely(!sq->delay.cwnd))
		return shift;
	while (shift && 1u << shift > sq->window)
		shift--;
	return shift;
}

/* Where the piece of the READ @sw begins that packet @at of its response is in. */
static inline u32 ornic_piece_start(const struct ornic_swqe *sw, u32 at)
{
	return at >> sw->piece_shift << sw->piece_shift;
}

#endif /* ORNIC_ENGINE_DELAY_H */
