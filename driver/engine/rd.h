/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Responder resources: what a QP remembers of the READs and atomics that it has accepted. */
#ifndef ORNIC_ENGINE_RD_H
#define ORNIC_ENGINE_RD_H

#include "env.h"

/* Packets of a READ response, from number @at on. */
struct ornic_part {
	u16 at;
	u16 n;
};

/* Parts of a READ that may wait to be sent again. */
#define ORNIC_RD_PARTS 8

/*
 * Responder resources of a QP that accepts READs or atomics. It accepts
 * max_dest_rd_atomic at a time; the others remember requests whose responses a
 * selective requester may miss.
 */
#define ORNIC_RD_SLOTS 64

/* Of so many READs parts may wait at a time. */
#define ORNIC_RD_WAITING 16

/* struct ornic_rd - responder resource: a READ or atomic that was accepted. */
struct ornic_rd {
	bool valid : 1; /* in use */
	bool busy : 1; /* response not sent completely */
	bool replayed : 1; /* busy with a duplicate */
	bool left : 1; /* READ: its end was sent before what is being sent */
	bool more : 1; /* READ: a piece that is not its end: not counted */
	bool again : 1; /* what is being sent was requested before */
	bool atomic : 1; /* an atomic, else a READ */
	bool empty : 1; /* ATOMIC WRITE, FLUSH: response like a READ of 0 bytes */
	u8 nparts; /* READ: parts of it that wait, replay.c, ... */
	u8 parts; /* ... if any, in this element of ornic_rd_ring.part */
	u32 pdn; /* PD of @rkey */
	u32 first_psn; /* of the response as first requested */
	u32 npkts; /* PSNs of the response as first requested */
	u32 psn0; /* first PSN of what is being sent */
	u32 pkts; /* packets of that */
	u32 next; /* next packet of it to be sent, from 0 */
	u32 rkey; /* READ: its key */
	u32 length; /* READ: bytes of what is being sent */
	u32 bytes; /* READ: bytes as first requested */
	u32 msn; /* of the response */
	union {
		u64 va; /* READ: address of what is being sent */
		u64 orig; /* atomic: what the memory held before */
	};
};

/* A page for each QP that accepts some, from the first time that it does. */
struct ornic_rd_ring {
	struct ornic_rd slot[ORNIC_RD_SLOTS];
	struct ornic_part part[ORNIC_RD_WAITING][ORNIC_RD_PARTS];
};

/* sparse gives each bit-field of type bool a byte. */
#ifndef __CHECKER__
static_assert(sizeof(struct ornic_rd_ring) <= 4096);
#endif
static_assert(ORNIC_RD_WAITING == 16); /* bits of ornic_rq.rd_parts */

/* Is what is being sent up to the end of the READ? */
bool ornic_rd_ends(const struct ornic_rd *rd);

#endif /* ORNIC_ENGINE_RD_H */
