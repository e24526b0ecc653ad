/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_POLL_H
#define ORNIC_POLL_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ib_cq;
struct ib_wc;
struct ornic_cq_record;
struct ornic_event_target;
struct ornic_ib_cq;
struct ornic_ib_dev;
struct ornic_queue_mem;
struct work_struct;

/* The host's end of a CQ of a kernel user. */
struct ornic_cq_ring {
	spinlock_t lock; /* protects all but target; taken in any context */
	struct ornic_queue_mem *mem; /* record page and ring */
	struct ornic_cq_record *record; /* doorbell record */
	u32 consumer; /* CQEs taken, free running */
	u32 armed; /* what was last written to record->arm */
	u8 log_depth; /* log2 of the CQEs */
	struct ornic_event_target *target; /* of the CQ */
};

struct ornic_cq_ring *ornic_cq_ring_open(struct ornic_queue_mem *mem,
					 u8 log_depth);
void ornic_cq_ring_forget_qp(struct ornic_cq_ring *ring, u32 qpn);
bool ornic_ib_cq_has_completions(struct ib_cq *ibcq);

int ornic_flush_cq(struct ornic_ib_dev *dev, const struct ib_cq *ibcq, int room,
		   struct ib_wc *wc);
bool ornic_flush_pending(struct ornic_ib_dev *dev, const struct ib_cq *ibcq);
bool ornic_flush_has_users(struct ornic_ib_dev *dev, const struct ib_cq *ibcq);
/* For ornic_flush_later() of all devices. May sleep. Return: 0 or -ENOMEM. */
int ornic_flush_init(void);
/* After the last device. May sleep. */
void ornic_flush_exit(void);
void ornic_flush_later(struct ornic_ib_dev *dev);
void ornic_flush_work(struct work_struct *work);

#endif /* ORNIC_POLL_H */
