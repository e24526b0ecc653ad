/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The memory of a request that is kept, kept.c. See proto.h for "rq". */
#ifndef ORNIC_ENGINE_KEPT_H
#define ORNIC_ENGINE_KEPT_H

#include "proto.h"

/* A payload in the memory of the host has so many pieces at most. */
#define ORNIC_KEPT_PIECES 3

/**
 * struct ornic_kept - a request ahead of the expected PSN
 * @when: it came, ns
 * @cost: bytes of spare memory that it takes
 * @nfrags: pieces of its payload, which may be empty
 * @pkt: its headers; @pkt.rx is not valid
 * @lent: of ornic_engine_ops::rx_keep, if the payload is memory of the host's
 * @next: among those without a request
 * @frag: the payload: that, or @data, or an allocation of its own
 * @data: a short payload
 */
struct ornic_kept {
	u64 when;
	u32 cost;
	u32 nfrags;
	struct ornic_pkt pkt;
	union {
		void *lent;
		struct ornic_kept *next;
	};
	struct ornic_frag frag[ORNIC_KEPT_PIECES];
	u8 data[];
};

/* rq: a copy of @pkt, which has come now; NULL: there is no memory for it. */
struct ornic_kept *ornic_kept_make(const struct ornic_ctx *ctx,
				   struct ornic_qp *qp,
				   const struct ornic_pkt *pkt);

/* rq, or nobody else has the QP: @kept is not needed any more. */
void ornic_kept_free(struct ornic_qp *qp, struct ornic_kept *kept);

/* rq: the same, once it was executed: its memory may stay for others of the QP ... */
void ornic_kept_done(struct ornic_qp *qp, struct ornic_kept *kept);

/* rq, or nobody else has the QP: ... which this gives back. */
void ornic_kept_free_unused(struct ornic_qp *qp);

#endif /* ORNIC_ENGINE_KEPT_H */
