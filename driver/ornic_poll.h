/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_POLL_H
#define ORNIC_POLL_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ib_cq;
struct ib_wc;
struct ornic_cq_record;
struct ornic_ib_cq;
struct ornic_ib_dev;
struct ornic_queue_mem;
struct work_struct;

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

int ornic_flush_cq(struct ornic_ib_dev *dev, const struct ib_cq *ibcq, int room,
		   struct ib_wc *wc);
bool ornic_flush_pending(struct ornic_ib_dev *dev, const struct ib_cq *ibcq);
bool ornic_flush_has_users(struct ornic_ib_dev *dev, const struct ib_cq *ibcq);
void ornic_flush_later(struct ornic_ib_dev *dev);
void ornic_flush_work(struct work_struct *work);

#endif /* ORNIC_POLL_H */
