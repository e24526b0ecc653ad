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

struct ornic_ib_srq {
	struct ib_srq ibsrq;
	struct mutex lock; /* one resize at a time; protects ring, queue */
	u32 srqn;
	/* Its depth is also read without the lock */
	struct ornic_ring_geom ring;
	struct ornic_queue queue; /* record page and ring */
	struct ornic_event_target *target;
	struct ornic_wq wq; /* kernel user: the host's end */
};

static inline struct ornic_ib_srq *to_osrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct ornic_ib_srq, ibsrq);
}

#endif /* ORNIC_SRQ_H */
