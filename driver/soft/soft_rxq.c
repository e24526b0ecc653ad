// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Long messages are received on a CPU of their own. Between two netdevs of one
 * host a packet is received by the softirq of the CPU that sent it, so one CPU
 * would build, carry, check and copy a message while the others are idle. The
 * first packet of a message that has more of them therefore wakes a worker on
 * another CPU. Until its queue is empty all packets of the QP go through it, so
 * none overtakes another. Short messages stay where they are: to wake somebody
 * takes longer than to receive one.
 *
 * The worker's CPU answers, and so gets the ACK; the requester must not go on
 * there, or all would be on one CPU again: see ornic_rx::busy_here.
 *
 * Only what may be of a message gets there: packets for a connected QP from the
 * address of its peer. A queue is bounded in bytes as the receive buffer of a socket
 * is, and has its share of what all queues of the device may hold, so it takes
 * nothing from the others. What it drops is counted with the drops of the UDP
 * socket; the requester sends it again.
 */
#include "soft_rxq.h"

#include <linux/if_ether.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/udp.h>
#include <linux/xarray.h>
#include <net/sock.h>

#include "engine/engine.h"
#include "soft.h"
#include "soft_rx.h"
#include "soft_sched.h"

/* Of one QP, truesize: several windows of a peer like us, see wire.rst. */
#define QUEUE_MAX (4 << 20)
/* Of a device: the share of a queue when there are many. */
#define DEVICE_MAX (64 << 20)
#define ACTIVE_MAX 512 /* queues of a device that are not empty */
#define BATCH 16 /* packets with softirqs off */

DEFINE_PER_CPU(struct task_struct *, ornic_soft_receiver);

static struct ornic_soft_qp *rxq_qp(struct ornic_soft_rxq *rxq)
{
	return container_of(rxq, struct ornic_soft_qp, rxq);
}

/* Nothing is queued or being delivered any more. */
static void rxq_set_idle(struct ornic_soft_rxq *rxq)
{
	WRITE_ONCE(rxq->busy, false);
	/* Pairs with ornic_soft_rxq_take(): what was queued has been delivered. */
	atomic_dec_return_release(&rxq_qp(rxq)->soft->rx_active);
}

static void deliver_batch(struct ornic_soft_rxq *rxq, struct sk_buff_head *list)
{
	struct ornic_soft *soft = rxq_qp(rxq)->soft;
	struct sk_buff *skb;
	int bytes = 0;
	int i;

	migrate_disable();
	this_cpu_write(ornic_soft_receiver, current);
	local_bh_disable();
	rcu_read_lock();
	for (i = 0; i < BATCH; i++) {
		skb = __skb_dequeue(list);
		if (!skb)
			break;
		bytes += skb->truesize;
		ornic_soft_rx_deliver(soft, skb);
	}
	rcu_read_unlock();
	/* What we sent comes back to this CPU now, the ACK for it as well. */
	local_bh_enable();
	this_cpu_write(ornic_soft_receiver, NULL);
	migrate_enable();
	atomic_sub(bytes, &rxq->bytes);
}

static void rx_work(struct work_struct *work)
{
	struct ornic_soft_rxq *rxq =
		container_of(work, struct ornic_soft_rxq, work);
	struct sk_buff_head list;

	__skb_queue_head_init(&list);
	for (;;) {
		spin_lock_bh(&rxq->packets.lock);
		skb_queue_splice_tail_init(&rxq->packets, &list);
		if (skb_queue_empty(&list))
			rxq_set_idle(rxq);
		spin_unlock_bh(&rxq->packets.lock);
		if (skb_queue_empty(&list))
			return;
		while (!skb_queue_empty(&list)) {
			deliver_batch(rxq, &list);
			cond_resched_tasks_rcu_qs();
		}
	}
}

/*
 * Is a packet for the queue, and not for whoever has it? The first of a message
 * chooses the worker's CPU, if there is one.
 */
static bool rxq_may_take(struct ornic_soft_rxq *rxq, bool begin)
{
	if (rxq->dead)
		return false;
	if (rxq->busy)
		return true;
	if (!begin || atomic_read(&rxq_qp(rxq)->soft->rx_active) >= ACTIVE_MAX)
		return false;
	rxq->cpu = ornic_soft_other_cpu(rxq->cpu, cpu_online_mask);
	return rxq->cpu >= 0;
}

static bool rxq_take_skb(struct ornic_soft_rxq *rxq, struct sk_buff *skb,
			 bool begin, struct sock *sk)
{
	struct ornic_soft *soft = rxq_qp(rxq)->soft;
	int share;
	bool taken;

	spin_lock(&rxq->packets.lock);
	taken = rxq_may_take(rxq, begin);
	if (!taken)
		goto unlock;
	share = DEVICE_MAX / max(atomic_read(&soft->rx_active), 1);
	if (atomic_read(&rxq->bytes) + (int)skb->truesize >
	    min(QUEUE_MAX, share)) {
		atomic_inc(&sk->sk_drops);
		kfree_skb_reason(skb, SKB_DROP_REASON_SOCKET_RCVBUFF);
		goto unlock;
	}

	/* What the stack lent for the softirq only must not be kept. */
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb->dev = NULL;

	atomic_add(skb->truesize, &rxq->bytes);
	__skb_queue_tail(&rxq->packets, skb);
	if (!rxq->busy) {
		WRITE_ONCE(rxq->busy, true);
		atomic_inc(&soft->rx_active);
		ornic_soft_queue_work(rxq->cpu, &rxq->work);
	}
unlock:
	spin_unlock(&rxq->packets.lock);
	return taken;
}

bool ornic_soft_rxq_take(struct ornic_soft *soft, struct sock *sk,
			 struct sk_buff *skb)
{
	struct ornic_soft_qp *qp;
	bool begin;
	u32 qpn;

	/*
	 * A packet of the emergency reserves must not wait. It may overtake
	 * queued ones: the QP sees lost packets.
	 */
	if (skb_pfmemalloc(skb) ||
	    !pskb_may_pull(skb, sizeof(struct udphdr) + ORNIC_RX_PEEK))
		return false;
	qpn = ornic_engine_rx_peek(skb->data + sizeof(struct udphdr), &begin);
	/* One that is a message of its own, and nothing that it could overtake. */
	if (!begin && !atomic_read_acquire(&soft->rx_active))
		return false;
	begin = begin && READ_ONCE(soft->rx_queues);
	qp = xa_load(&soft->qps, qpn);
	if (!qp || (!begin && !READ_ONCE(qp->rxq.busy)) ||
	    !ornic_engine_is_peer(soft->engine, qpn, skb_network_header(skb),
				  skb->protocol == htons(ETH_P_IPV6)))
		return false;
	return rxq_take_skb(&qp->rxq, skb, begin, sk);
}

void ornic_soft_rxq_init(struct ornic_soft_rxq *rxq)
{
	skb_queue_head_init(&rxq->packets);
	INIT_WORK(&rxq->work, rx_work);
	rxq->cpu = -1;
}

void ornic_soft_rxq_stop(struct ornic_soft_rxq *rxq)
{
	spin_lock_bh(&rxq->packets.lock);
	rxq->dead = true;
	spin_unlock_bh(&rxq->packets.lock);
	cancel_work_sync(&rxq->work);
	skb_queue_purge(&rxq->packets);
	if (rxq->busy)
		rxq_set_idle(rxq);
}
