/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_POLL_H
#define ORNIC_POLL_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct ornic_ib_cq;
struct ornic_cq_record;
struct ornic_queue_mem;

/**
 * struct ornic_cq_ring - the host's end of a CQ of a kernel user
 * @lock: protects all of it; taken in any context
 * @mem: record page and ring
 * @record: doorbell record
 * @consumer: CQEs taken, free running
 * @armed: what was last written to @record->arm
 * @log_depth: log2 of the CQEs
 */
struct ornic_cq_ring {
	spinlock_t lock; /* polling and arming */
	struct ornic_queue_mem *mem;
	struct ornic_cq_record *record;
	u32 consumer;
	u32 armed;
	u8 log_depth;
};

void ornic_cq_ring_open(struct ornic_cq_ring *ring, struct ornic_queue_mem *mem,
			u8 log_depth);
void ornic_cq_ring_forget_qp(struct ornic_cq_ring *ring, u32 qpn);
bool ornic_ib_cq_has_completions(struct ib_cq *ibcq);

#endif /* ORNIC_POLL_H */
