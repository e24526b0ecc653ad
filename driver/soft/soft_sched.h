/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_SCHED_H
#define ORNIC_SOFT_SCHED_H

#include <linux/cpumask.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "engine/engine.h"
#include "soft.h"

/*
 * Of struct ornic_engine_ops.
 *
 * ornic_soft_qp_init() - allocate the ornic_soft_qp of a QP.
 * ornic_soft_qp_fini() - stop its timer and its workers for good; it is freed
 * with the last frame in flight.
 * ornic_soft_resched() - run a QP soon.
 * ornic_soft_deadline() - set the timer of a QP.
 * ornic_soft_cq_init() - prepare the timer of a CQ.
 * ornic_soft_cq_fini() - stop it for good.
 * ornic_soft_cq_deadline() - start it.
 */
int ornic_soft_qp_init(void *host, void *host_qp, u32 qpn);
void ornic_soft_qp_fini(void *host, void *host_qp);
void ornic_soft_resched(void *host, void *host_qp);
void ornic_soft_deadline(void *host, void *host_qp, u64 when);
void ornic_soft_cq_init(void *host, void *host_cq, u32 cqn);
void ornic_soft_cq_fini(void *host, void *host_cq);
void ornic_soft_cq_deadline(void *host, void *host_cq, u64 when);

/* ornic_soft_kick() - ornic_bus_ops::kick */
void ornic_soft_kick(struct ornic_bus *bus, u32 qpn,
		     enum ornic_kick_where where);

static inline struct ornic_soft_qp *ornic_soft_qp_of(void *host_qp)
{
	return *(struct ornic_soft_qp **)host_qp;
}

/* The QP of that number until the end of the RCU section, or NULL. */
static inline struct ornic_soft_qp *
ornic_soft_qp_lookup(struct ornic_soft *soft, u32 qpn)
{
	void *host_qp = ornic_engine_host_qp(soft->engine, qpn);

	return host_qp ? ornic_soft_qp_of(host_qp) : NULL;
}

/*
 * All but ornic_soft_qp_run() may be called in any context. They do nothing if
 * the engine's QP is gone.
 *
 * ornic_soft_qp_run() - run a QP here, for one budget, in process context.
 * Returns true if it has to be run again.
 * ornic_soft_qp_wake() - run a QP soon, in its worker.
 * ornic_soft_wake_qpn() - the same by QP number.
 * ornic_soft_qp_free() - free it; for ornic_soft_qp_put() only.
 */
bool ornic_soft_qp_run(struct ornic_soft_qp *qp);
void ornic_soft_qp_wake(struct ornic_soft_qp *qp);
void ornic_soft_wake_qpn(struct ornic_soft *soft, u32 qpn);
void ornic_soft_qp_free(struct ornic_soft_qp *qp);

static inline void ornic_soft_qp_put(struct ornic_soft_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		ornic_soft_qp_free(qp);
}

/*
 * CPUs are online ones of @among on which unbound work may run.
 *
 * ornic_soft_next_cpu() - the CPU after @cpu, around the end; @cpu if there is
 * no other, -1 if there is none.
 * ornic_soft_other_cpu() - @last if it is such a CPU and not this one, else the
 * next after this one; -1 if there is none. Not preemptible.
 * ornic_soft_queue_work() - queue @work on @cpu, or anywhere if that is -1 or
 * offline. Any context.
 */
int ornic_soft_next_cpu(int cpu, const struct cpumask *among);
int ornic_soft_other_cpu(int last, const struct cpumask *among);
void ornic_soft_queue_work(int cpu, struct work_struct *work);

/*
 * ornic_soft_sched_init() - prepare for QPs.
 * ornic_soft_sched_exit() - wait until the last ornic_soft_qp is freed, that is
 * for all frames: a stopped netdev or a qdisc may keep one for long. No QP and
 * no device is left.
 */
int ornic_soft_sched_init(void);
void ornic_soft_sched_exit(void);

#endif /* ORNIC_SOFT_SCHED_H */
