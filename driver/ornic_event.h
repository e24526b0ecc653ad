/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_EVENT_H
#define ORNIC_EVENT_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct ornic_ib_dev;
struct work_struct;
struct xarray;

/* The CQ, QP, WQ or SRQ that an event or the kick of a doorbell file is for. */
struct ornic_event_target {
	refcount_t ref; /* one for the object, one for each user of it */
	struct completion idle; /* completed with the last reference */
	u32 num; /* CQN, QPN or SRQN */
	/* struct ib_cq, ib_qp, ib_wq or ib_srq, valid while a reference is held */
	void *obj;
	u64 kicker; /* constant: ornic_kick_set::id of who may kick a QP or WQ, 0: nobody */
	/* QP of a kernel user: struct ib_cq of its SQ, else NULL */
	const void *send_cq;
	const void *recv_cq; /* and of its RQ */
	struct rcu_head rcu; /* frees it after the last lookup */
};

struct ornic_event_target *
ornic_event_target_open(struct xarray *table, u32 num, void *obj, u64 kicker);
int ornic_event_target_reopen(struct xarray *table,
			      struct ornic_event_target *target);
void ornic_event_target_close(struct xarray *table,
			      struct ornic_event_target *target);
void ornic_event_target_free(struct ornic_event_target *target);
struct ornic_event_target *ornic_event_target_hold(struct xarray *table,
						   u32 num);
void ornic_event_target_put(struct ornic_event_target *target);
bool ornic_event_target_is_of(struct xarray *table, u32 num, u64 kicker);
void ornic_event_comp_kernel(struct ornic_ib_dev *dev, u32 cqn);
void ornic_event_fatal(struct ornic_ib_dev *dev);
void ornic_event_pkey_work(struct work_struct *work);

#endif /* ORNIC_EVENT_H */
