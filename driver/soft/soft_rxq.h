/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_RXQ_H
#define ORNIC_SOFT_RXQ_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>

struct ornic_soft;
struct ornic_soft_rxq;
struct sk_buff;
struct sock;

void ornic_soft_rxq_init(struct ornic_soft_rxq *rxq);
void ornic_soft_rxq_stop(struct ornic_soft_rxq *rxq);
bool ornic_soft_rxq_take(struct ornic_soft *soft, struct sock *sk,
			 struct sk_buff *skb);

/* The worker that has packets delivered on a CPU, also in softirqs above it. */
DECLARE_PER_CPU(struct task_struct *, ornic_soft_receiver);

/**
 * ornic_soft_rxq_is_here - this CPU receives long messages now
 *
 * Context: Not preemptible.
 * Return: True in the worker, and in softirqs that interrupt it.
 */
static inline bool ornic_soft_rxq_is_here(void)
{
	return this_cpu_read(ornic_soft_receiver) == current;
}

#endif /* ORNIC_SOFT_RXQ_H */
