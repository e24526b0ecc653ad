/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_CQ_H
#define ORNIC_CQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "ornic_poll.h"
#include "ornic_queue.h"

struct ornic_event_target;

struct ornic_ib_cq {
	struct ib_cq ibcq;
	u32 cqn;
	struct mutex lock; /* one resize at a time; protects log_depth, queue */
	u8 log_depth; /* log2 of its CQEs */
	u8 vector;
	struct ornic_queue queue; /* record page and ring */
	struct ornic_cq_ring ring; /* kernel user: the host's end of the ring */
	struct ornic_event_target *target;
};

static inline struct ornic_ib_cq *to_ocq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct ornic_ib_cq, ibcq);
}

#endif /* ORNIC_CQ_H */
