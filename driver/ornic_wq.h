/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_WQ_H
#define ORNIC_WQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct ornic_queue_mem;
struct ornic_ring_geom;
struct ornic_wq_record;

/**
 * struct ornic_posted - a work request as it was posted
 * @wr_id: what its completion carries, whatever the device says
 * @length: bytes that a receive has room for
 */
struct ornic_posted {
	u64 wr_id;
	u32 length;
};

/**
 * struct ornic_wq - the host's end of an SQ, RQ or SRQ of a kernel user
 * @lock: protects @head, and the WQEs from there on; taken in any context
 * @mem: of the QP or SRQ
 * @ring: geometry in @mem
 * @record: doorbell record
 * @posted: SQ, RQ: the requests by slot
 * @head: WQEs posted, free running
 * @tail: WQEs that completions have given back; written with the lock of the
 *	CQ held, read by posters. SRQ: WQEs that the device is known to have
 *	taken; protected by @lock
 */
struct ornic_wq {
	spinlock_t lock; /* posting */
	struct ornic_queue_mem *mem;
	const struct ornic_ring_geom *ring;
	struct ornic_wq_record *record;
	struct ornic_posted *posted;
	u32 head;
	u32 tail;
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
