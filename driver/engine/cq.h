/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues, the device's end: producing CQEs and firing events. */
#ifndef ORNIC_ENGINE_CQ_H
#define ORNIC_ENGINE_CQ_H

#include "dev.h"
#include "mem.h"

/**
 * struct ornic_ring - a ring in memory shared with the host
 * @page: pointer to each 4 KiB page of the ring
 * @mask: depth - 1
 * @log_stride: log2 of the entry size in bytes; entries do not cross pages
 */
struct ornic_ring {
	u8 **page;
	u32 mask;
	u8 log_stride;
};

/*
 * Set up @ring over [@off, ...) of @pages, which must outlive it. @off is a
 * multiple of 4 KiB, @log_stride at most 12. May sleep. Return: 0; -EINVAL if
 * @pages are too short or not aligned to 4 KiB: an entry must not cross a page;
 * -ENOMEM.
 */
int ornic_ring_init(struct ornic_ring *ring, const struct ornic_pages *pages,
		    u64 off, u32 log_depth, u32 log_stride);
void ornic_ring_fini(struct ornic_ring *ring);

static inline void *ornic_ring_slot(const struct ornic_ring *ring, u32 index)
{
	u64 off = (u64)(index & ring->mask) << ring->log_stride;

	return ring->page[off >> ORNIC_PAGE_SHIFT] +
	       (off & ((1u << ORNIC_PAGE_SHIFT) - 1));
}

/**
 * struct ornic_cq_mem - where a CQ lives
 * @pages: memory of ring and record
 * @ring: the CQEs
 * @record: doorbell record
 */
struct ornic_cq_mem {
	struct ornic_pages pages;
	struct ornic_ring ring;
	struct ornic_cq_record *record;
};

/**
 * struct ornic_cq - a CQ
 * @cqn: its number
 * @vector: completion vector
 * @users: QP ends that complete here; DESTROY_CQ is ORNIC_BUSY while > 0
 * @lock: protects all below it
 * @mem: its memory, which RESIZE_CQ replaces
 * @producer: CQEs written so far (free running)
 * @fired: the value of record.arm whose event was raised last
 * @overflow: it has overflowed: nothing is written any more; may be read
 *	without @lock
 * @count: raise the event with that many CQEs; 0: no matter how many
 * @period: or so many us after the first of them; 0: no matter when
 * @pending: CQEs that would have raised it
 * @due: when the period of these ends, ns; 0: never
 * @host_cq: the host's own area, see struct ornic_engine_ops
 */
struct ornic_cq {
	u32 cqn;
	u8 vector;
	ornic_atomic_t users;
	ornic_lock_t lock;
	struct ornic_cq_mem mem;
	u32 producer;
	u32 fired;
	bool overflow;
	u16 count;
	u16 period;
	u32 pending;
	u64 due;
	u64 host_cq[];
};

/**
 * ornic_cq_push - write one CQE and gather the event that it causes
 * @ctx: the call that gathers it
 * @cq: the CQ
 * @cqe: all but timestamp, phase; copied
 * @solicited: wakes CQs armed for solicited completions: a solicited receive
 *	or any CQE with an error status (IBTA 11.4.2.2)
 *
 * A full ring is never overwritten: the CQ is marked and CQ_ERR is raised once.
 * Its QPs end in a run of each, which the end of the call asks for.
 *
 * Context: sq.lock or rq.lock of a QP held; takes cq.lock.
 * Return: whether it was written.
 */
noinline bool ornic_cq_push(struct ornic_ctx *ctx, struct ornic_cq *cq,
			    const struct ornic_cqe *cqe, bool solicited);

/* The CQ with @cqn, with its user counted; NULL if there is none. */
struct ornic_cq *ornic_cq_get(struct ornic_dev *dev, u32 cqn);

/* No user of @cq, which may be NULL, any more. */
static inline void ornic_cq_put(struct ornic_cq *cq)
{
	if (cq)
		ornic_atomic_dec(&cq->users);
}

/*
 * CREATE_, DESTROY_, RESIZE_ and MODIFY_CQ. Return: enum ornic_status.
 *
 * CREATE_QP counts itself in @users inside an RCU section, so ornic_cq_destroy()
 * finds one that saw the CQ before it was unlinked after its wait for RCU.
 * ornic_cq_resize() returns ORNIC_BAD_PARAM if the pending CQEs do not fit,
 * ORNIC_BUSY if more than ORNIC_MAX_MOVED_CQES are pending and ORNIC_BAD_STATE
 * after an overflow; nothing has changed then. ornic_cq_modify() raises an event
 * that is delayed by the old values at once.
 */
int ornic_cq_create(struct ornic_dev *dev,
		    const struct ornic_req_create_cq *req, u32 *cqn);
int ornic_cq_destroy(struct ornic_dev *dev, u32 cqn);
int ornic_cq_resize(struct ornic_dev *dev,
		    const struct ornic_req_resize_cq *req);

int ornic_cq_modify(struct ornic_dev *dev,
		    const struct ornic_req_modify_cq *req);

#endif /* ORNIC_ENGINE_CQ_H */
