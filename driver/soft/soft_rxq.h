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

/*
 * ornic_soft_rxq_init() - prepare the queue of a new QP.
 * ornic_soft_rxq_stop() - drop what is queued; nothing is queued any more.
 * Sleeps.
 * ornic_soft_rxq_expire() - the deadline of the QP has come. Returns true if packets
 * are queued: the QP expires when its worker has received them. Softirq.
 * ornic_soft_rxq_take() - queue @skb, which came to @sk, for the worker of its
 * QP, if that has to receive it. @skb starts at the UDP header and is ready for
 * ornic_soft_rx_deliver(). Softirq, under RCU. Returns false if @skb is still
 * the caller's.
 */
void ornic_soft_rxq_init(struct ornic_soft_rxq *rxq);
void ornic_soft_rxq_stop(struct ornic_soft_rxq *rxq);
bool ornic_soft_rxq_expire(struct ornic_soft_rxq *rxq);
bool ornic_soft_rxq_take(struct ornic_soft *soft, struct sock *sk,
			 struct sk_buff *skb);

/* The worker that receives long messages on a CPU, or NULL. */
DECLARE_PER_CPU(struct task_struct *, ornic_soft_receiver);

/*
 * True in the worker that receives long messages on this CPU, and in softirqs
 * that interrupt it. Not preemptible.
 */
static inline bool ornic_soft_rxq_is_here(void)
{
	return this_cpu_read(ornic_soft_receiver) == current;
}

#endif /* ORNIC_SOFT_RXQ_H */
