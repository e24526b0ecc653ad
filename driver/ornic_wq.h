/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_WQ_H
#define ORNIC_WQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "ornic_handoff.h"

struct ornic_queue_mem;
struct ornic_ring_geom;
struct ornic_wq_record;

/* A work request as it was posted. */
struct ornic_posted {
	u64 wr_id; /* for its completion, whatever the device reports */
	u32 length; /* bytes that a receive has room for */
};

/* The host's end of an SQ, RQ or SRQ of a kernel user. */
struct ornic_wq {
	/* Protects head, and the WQEs from there on; taken in any context */
	spinlock_t lock;
	struct ornic_queue_mem *mem; /* of the QP or SRQ */
	const struct ornic_ring_geom *ring; /* geometry in mem */
	struct ornic_wq_record *record; /* doorbell record */
	struct ornic_posted *posted; /* SQ, RQ: the requests by slot */
	u32 head; /* WQEs posted, free running */
	/*
	 * WQEs that are complete; written under the lock of the CQ, read by
	 * posters. SRQ: WQEs that the device has taken; protected by lock
	 */
	u32 tail;
	struct ornic_handoff handoff; /* SQ of an RC QP; posts: under lock */
};

void ornic_wq_init(struct ornic_wq *wq, struct ornic_queue_mem *mem,
		   const struct ornic_ring_geom *ring, u32 record_offset);
void ornic_wq_reset(struct ornic_wq *wq);
int ornic_wq_track(struct ornic_wq *wq);
void ornic_wq_untrack(struct ornic_wq *wq);
bool ornic_wq_complete(struct ornic_wq *wq, u32 index,
		       struct ornic_posted *posted);
bool ornic_wq_next(struct ornic_wq *wq, u64 *wr_id);
bool ornic_wq_has_work(const struct ornic_wq *wq);

#endif /* ORNIC_WQ_H */
