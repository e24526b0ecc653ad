/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SRQ_H
#define ORNIC_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "ornic_queue.h"
#include "ornic_ring.h"
#include "ornic_wq.h"

struct ornic_event_target;

extern const struct uapi_definition ornic_srq_defs[];

/**
 * struct ornic_ib_srq - a shared receive queue
 * @ibsrq: the SRQ as ib_core knows it
 * @lock: of resizing: protects @ring and @queue
 * @srqn: its number
 * @ring: geometry of its ring; its depth is read without the lock, too
 * @queue: record page and ring
 * @target: takes its events
 * @wq: kernel user: the host's end
 */
struct ornic_ib_srq {
	struct ib_srq ibsrq;
	struct mutex lock; /* resize */
	u32 srqn;
	struct ornic_ring_geom ring;
	struct ornic_queue queue;
	struct ornic_event_target *target;
	struct ornic_wq wq;
};

static inline struct ornic_ib_srq *to_osrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct ornic_ib_srq, ibsrq);
}

#endif /* ORNIC_SRQ_H */
