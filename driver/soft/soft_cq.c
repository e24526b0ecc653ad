// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The timer of a moderated CQ. The engine starts it with the first completion
 * that an event waits behind, and never stops it: it checks when it fires.
 */
#include "soft_cq.h"

#include <linux/ktime.h>

#include "engine/engine.h"
#include "soft_dev.h"

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct ornic_soft_cq *cq =
		container_of(timer, struct ornic_soft_cq, timer);

	ornic_engine_cq_expire(cq->soft->engine, cq->cqn);
	return HRTIMER_NORESTART;
}

/**
 * ornic_soft_cq_init - ornic_engine_ops::cq_init
 * @host: the device
 * @host_cq: the host's area of the CQ
 * @cqn: its number
 *
 * Context: Process context.
 */
void ornic_soft_cq_init(void *host, void *host_cq, u32 cqn)
{
	struct ornic_soft_cq *cq = host_cq;

	cq->soft = host;
	cq->cqn = cqn;
	hrtimer_init(&cq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	cq->timer.function = timer_fires;
}

/**
 * ornic_soft_cq_fini - ornic_engine_ops::cq_fini
 * @host: the device
 * @host_cq: the host's area of the CQ; nobody completes to it any more
 *
 * On return its timer is off for good.
 *
 * Context: Process context; sleeps.
 */
void ornic_soft_cq_fini(void *host, void *host_cq)
{
	struct ornic_soft_cq *cq = host_cq;

	hrtimer_cancel(&cq->timer);
}

/**
 * ornic_soft_cq_deadline - ornic_engine_ops::cq_deadline
 * @host: the device
 * @host_cq: the host's area of the CQ
 * @when: when ornic_engine_cq_expire is wanted, ns
 *
 * Context: Softirqs off; engine locks are held.
 */
void ornic_soft_cq_deadline(void *host, void *host_cq, u64 when)
{
	struct ornic_soft_cq *cq = host_cq;

	hrtimer_start(&cq->timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}
