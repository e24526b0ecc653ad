/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_CQ_H
#define ORNIC_CQ_H

#include <rdma/ib_verbs.h>

#include "ornic_queue.h"

struct ornic_cq_ring;
struct ornic_event_target;

/*
 * Programs have many: with ib_cq of 224 bytes it fits in 256. A resize changes log_depth
 * and queue, with resize_lock of the context held.
 */
struct ornic_ib_cq {
	struct ib_cq ibcq;
	u32 cqn;
	u8 log_depth; /* log2 of its CQEs */
	u8 vector;
	struct ornic_queue queue; /* record page and ring */
	/* Which of the two: a kernel user gives no udata */
	union {
		struct ornic_event_target *target; /* of a process */
		struct ornic_cq_ring *ring; /* kernel user: has target */
	};
};

static inline struct ornic_ib_cq *to_ocq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct ornic_ib_cq, ibcq);
}

#endif /* ORNIC_CQ_H */
