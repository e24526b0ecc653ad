/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spraying: the packets of a connection go over several paths of a network with ECMP, by
 * their UDP source ports (IBTA A17.4.5), if both ends repeat selectively.
 */
#ifndef ORNIC_ENGINE_SPRAY_H
#define ORNIC_ENGINE_SPRAY_H

#include "env.h"

struct ornic_ctx;
struct ornic_path;
struct ornic_qp;
struct ornic_txinfo;

#define ORNIC_SPRAY_MOST 16 /* paths */
/* PSNs whose paths are remembered: as many as may be outstanding, a power of two. */
#define ORNIC_SPRAY_PSNS (1 << 15)

/* struct ornic_spray_path - what becomes of the packets of one path */
struct ornic_spray_path {
	bool down; /* too many were lost: it is used for trials only */
	u8 trial; /* packets of a trial that may still be sent */
	u8 fails; /* trials that have failed in a row */
	u32 sent; /* not long ago, ... */
	u32 lost; /* ... and of these, those that went again */
	u64 again; /* @down: when the next trial begins, or this one ends, ns */
};

/* struct ornic_spray_dir - requests, sq.lock, or responses, rq.lock */
struct ornic_spray_dir {
	u32 at; /* the path that was used last */
	u32 total; /* packets since the counts were halved, ... */
	u64 halved_at; /* ... ns */
	u8 ack; /* path of the last ACK or NAK, if it may be lost; else >= n */
	bool used; /* a packet was sent */
	u32 high; /* if @used: one past the highest PSN that was */
	struct ornic_spray_path path[ORNIC_SPRAY_MOST];
	u8 of[ORNIC_SPRAY_PSNS]; /* path of the last packet of a PSN, or NONE */
};

/* struct ornic_spray - a QP that may spray */
struct ornic_spray {
	u32 n; /* paths */
	u16 port[ORNIC_SPRAY_MOST]; /* of each */
	struct ornic_spray_dir requests;
	struct ornic_spray_dir responses;
};

/* sq and rq: a QP that may spray has got its path. */
void ornic_spray_start(struct ornic_qp *qp);

/*
 * sq for a request, rq for a response, of a QP that may spray: the path of the packet of
 * @psn, which is written to @own if it is not that of the QP; and the port has taken the
 * packet.
 */
noinline const struct ornic_path *ornic_spray_path(const struct ornic_ctx *ctx,
						   struct ornic_qp *qp,
						   bool request, u32 psn,
						   struct ornic_path *own);
noinline void ornic_spray_sent(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			       bool request, const struct ornic_txinfo *info);

/* rq, of a QP that may spray: the peer has sent again what it had an ACK or NAK for. */
noinline void ornic_spray_unheard(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp);

#endif /* ORNIC_ENGINE_SPRAY_H */
