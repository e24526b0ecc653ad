/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_SCHED_H
#define ORNIC_SOFT_SCHED_H

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "soft_busypoll.h"
#include "soft_rxq.h"

struct ornic_soft;

enum ornic_soft_qp_state {
	ORNIC_SOFT_QP_STALLED, /* the QP waits for room */
	ORNIC_SOFT_QP_ACTIVE, /* somebody runs the QP now */
	ORNIC_SOFT_QP_AGAIN, /* who runs it looks once more */
	ORNIC_SOFT_QP_KICKED, /* a kick was left to the worker */
	ORNIC_SOFT_QP_POLLED, /* the busy poll of the device has it */
};

/**
 * struct ornic_soft_qp - what the soft device keeps for a QP
 * @refs: one of the QP, one of each frame in flight: frames may outlive it; one
 *	of the busy poll
 * @in_flight: frames that the netdev has not freed
 * @state: enum ornic_soft_qp_state, bits
 * @soft: the device; valid only while the QP exists
 * @qpn: QP number
 * @cpu: that sent last; -1: none yet
 * @hash: of the frames, so that nobody dissects them to pick a queue
 * @work: runs the QP
 * @rxq: packets of long messages
 * @poll: what the busy poll of the device knows, see soft_busypoll.c
 * @timer: one timer for the deadlines of the QP, see soft_sched.c
 * @timer_lock: protects @deadline, @armed and @dead; softirqs off
 * @deadline: when the engine wants to be called, ns; 0: never
 * @armed: when @timer fires, ns; 0: it does not
 * @dead: the QP goes, @timer stays off
 * @rcu: ornic_soft_kick looks it up under RCU
 */
struct ornic_soft_qp {
	refcount_t refs;
	atomic_t in_flight;
	unsigned long state;
	struct ornic_soft *soft;
	u32 qpn;
	int cpu;
	u32 hash;
	struct work_struct work;
	struct ornic_soft_rxq rxq;
	struct ornic_soft_polled poll;
	struct hrtimer timer;
	spinlock_t timer_lock; /* deadline */
	u64 deadline;
	u64 armed;
	bool dead;
	struct rcu_head rcu;
};

/**
 * ornic_soft_qp_of - the flow of a QP
 * @host_qp: the host's area of the QP
 *
 * Context: Any, while the QP exists.
 * Return: The flow.
 */
static inline struct ornic_soft_qp *ornic_soft_qp_of(void *host_qp)
{
	return *(struct ornic_soft_qp **)host_qp;
}

void ornic_soft_qp_free(struct ornic_soft_qp *qp);

/**
 * ornic_soft_qp_put - drop a reference of a flow
 * @qp: the flow
 *
 * Context: Any, also with interrupts off.
 */
static inline void ornic_soft_qp_put(struct ornic_soft_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		ornic_soft_qp_free(qp);
}

/**
 * struct ornic_soft_cq - what the soft device keeps for a CQ
 * @soft: the device
 * @cqn: CQ number
 * @timer: for an event that waits for more completions
 */
struct ornic_soft_cq {
	struct ornic_soft *soft;
	u32 cqn;
	struct hrtimer timer;
};

void ornic_soft_qp_wake(struct ornic_soft_qp *qp);
bool ornic_soft_qp_run(struct ornic_soft_qp *qp);

int ornic_soft_qp_init(void *host, void *host_qp, u32 qpn);
void ornic_soft_qp_fini(void *host, void *host_qp);
void ornic_soft_resched(void *host, void *host_qp);
void ornic_soft_deadline(void *host, void *host_qp, u64 when);
void ornic_soft_cq_init(void *host, void *host_cq, u32 cqn);
void ornic_soft_cq_fini(void *host, void *host_cq);
void ornic_soft_cq_deadline(void *host, void *host_cq, u64 when);
void ornic_soft_kick(struct ornic_soft *soft, u32 qpn, bool inline_ok);
void ornic_soft_wake(struct ornic_soft *soft, u32 qpn);

int ornic_soft_next_cpu(int cpu, const struct cpumask *among);
int ornic_soft_other_cpu(int last, const struct cpumask *among);
void ornic_soft_queue_work(int cpu, struct work_struct *work);

int ornic_soft_sched_init(void);
void ornic_soft_sched_exit(void);

#endif /* ORNIC_SOFT_SCHED_H */
