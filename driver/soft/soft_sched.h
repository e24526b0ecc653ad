/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_SCHED_H
#define ORNIC_SOFT_SCHED_H

#include <linux/cpumask.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "soft.h"

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

void ornic_soft_qp_wake(struct ornic_soft_qp *qp);
bool ornic_soft_qp_run(struct ornic_soft_qp *qp);

int ornic_soft_qp_init(void *host, void *host_qp, u32 qpn);
void ornic_soft_qp_fini(void *host, void *host_qp);
void ornic_soft_resched(void *host, void *host_qp);
void ornic_soft_deadline(void *host, void *host_qp, u64 when);
void ornic_soft_cq_init(void *host, void *host_cq, u32 cqn);
void ornic_soft_cq_fini(void *host, void *host_cq);
void ornic_soft_cq_deadline(void *host, void *host_cq, u64 when);
void ornic_soft_kick(struct ornic_bus *bus, u32 qpn, bool inline_ok);
void ornic_soft_wake_qpn(struct ornic_soft *soft, u32 qpn);

int ornic_soft_next_cpu(int cpu, const struct cpumask *among);
int ornic_soft_other_cpu(int last, const struct cpumask *among);
void ornic_soft_queue_work(int cpu, struct work_struct *work);

int ornic_soft_sched_init(void);
void ornic_soft_sched_exit(void);

#endif /* ORNIC_SOFT_SCHED_H */
