// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receive queues: long messages are received on another CPU. Between two netdevs
 * of one host, packets are received in the softirq of the CPU that sent them, so
 * one CPU would build, check and copy a whole message while others are idle. A message
 * of several packets therefore wakes a worker on another CPU. Until its queue is empty all
 * packets of the QP go through it, to keep them in order.
 *
 * Messages of one packet are received in the softirq, since waking a worker takes
 * longer. So are requests of up to SHORT_MAX bytes if the QP has sent something between
 * the one before and this: that may be a dialogue, in which there is nothing to do at the
 * same time, and where both programs poll the worker would wait for their time slices.
 *
 * What has arrived is not lost. A deadline that comes while packets are queued is handled
 * by the worker, after all of these: else a worker that gets no CPU makes the requester
 * ask again for what is in the queue, and what then comes twice makes the queue longer.
 *
 * The worker sends the ACK, which is therefore received on its CPU. The requester
 * must not continue there, see ornic_rx::busy_here.
 *
 * Only packets for a connected QP from the address of its peer are queued. Queues
 * are bounded in bytes as the receive buffer of a socket is, and by an equal share
 * of a limit for the device. Drops are counted as drops of a UDP socket; the
 * requester sends the packets again.
 */
#include "soft_rxq.h"

#include <linux/if_ether.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "engine/engine.h"
#include "soft.h"
#include "soft_rx.h"
#include "soft_sched.h"

/* Limit of a queue, truesize: several windows of an ornic peer, see wire.rst. */
#define QUEUE_MAX (4 << 20)
/* Limit of a device, shared equally by the queues that are not empty. */
#define DEVICE_MAX (64 << 20)
#define ACTIVE_MAX 512 /* of a device: limit of queues that are not empty */
#define BATCH 16 /* packets with softirqs off */
#define SHORT_MAX 8192 /* bytes of the packets of a message but the last */

DEFINE_PER_CPU(struct task_struct *, ornic_soft_receiver);

static struct ornic_soft_qp *rxq_qp(struct ornic_soft_rxq *rxq)
{
	return container_of(rxq, struct ornic_soft_qp, rxq);
}

/* Nothing is queued or being delivered. */
static void rxq_set_idle(struct ornic_soft_rxq *rxq)
{
	WRITE_ONCE(rxq->busy, false);
	/* Pairs with ornic_soft_rxq_take(): all packets were delivered. */
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
	/* Runs softirqs: packets that were sent here, and ACKs for them. */
	local_bh_enable();
	this_cpu_write(ornic_soft_receiver, NULL);
	migrate_enable();
	atomic_sub(bytes, &rxq->bytes);
}

static void expire_qp(const struct ornic_soft_qp *qp)
{
	local_bh_disable();
	ornic_engine_expire(qp->soft->engine, qp->qpn);
	local_bh_enable();
}

static void rx_work(struct work_struct *work)
{
	struct ornic_soft_rxq *rxq =
		container_of(work, struct ornic_soft_rxq, work);
	struct sk_buff_head list;
	bool expired, empty;

	__skb_queue_head_init(&list);
	do {
		spin_lock_bh(&rxq->packets.lock);
		skb_queue_splice_tail_init(&rxq->packets, &list);
		expired = rxq->expired;
		rxq->expired = false;
		empty = skb_queue_empty(&list);
		if (empty)
			rxq_set_idle(rxq);
		spin_unlock_bh(&rxq->packets.lock);
		while (!skb_queue_empty(&list)) {
			deliver_batch(rxq, &list);
			cond_resched_tasks_rcu_qs();
		}
		if (expired)
			expire_qp(rxq_qp(rxq));
	} while (!empty);
}

bool ornic_soft_rxq_expire(struct ornic_soft_rxq *rxq)
{
	bool later;

	if (likely(!READ_ONCE(rxq->busy)))
		return false;
	spin_lock(&rxq->packets.lock);
	later = rxq->busy && !rxq->dead;
	if (later)
		rxq->expired = true;
	spin_unlock(&rxq->packets.lock);
	return later;
}

/*
 * With a packet of @len bytes that is not the last of its message: shall a worker receive
 * it? Softirqs of two CPUs may disagree, which costs a worker or saves one.
 */
static bool wants_worker(struct ornic_soft_qp *qp,
			 const struct ornic_rx_peek *peek, u32 len)
{
	struct ornic_soft_rxq *rxq = &qp->rxq;
	u32 seen = READ_ONCE(rxq->seen), sent;

	/* Several READs may be under way. */
	if (!peek->request)
		return true;
	if (peek->start) {
		sent = ornic_engine_sent(qp->soft->engine, qp->qpn);
		WRITE_ONCE(rxq->early,
			   seen >= SHORT_MAX || sent == READ_ONCE(rxq->sent));
		WRITE_ONCE(rxq->sent, sent);
		seen = 0;
	}
	if (seen < SHORT_MAX) {
		seen += len;
		WRITE_ONCE(rxq->seen, seen);
	}
	return seen >= SHORT_MAX || READ_ONCE(rxq->early);
}

/*
 * True if a packet has to be queued. With @begin a queue that is not busy gets a CPU
 * for its worker; without another CPU it is not used.
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

	ornic_soft_rx_detach(skb);
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
	struct ornic_rx_peek peek;
	bool begin, more;

	/*
	 * A packet of the emergency reserves must not wait. If it overtakes
	 * queued packets, the QP handles them as lost.
	 */
	if (skb_pfmemalloc(skb) ||
	    !pskb_may_pull(skb, ORNIC_SOFT_RX_HEAD + ORNIC_RX_PEEK))
		return false;
	peek = ornic_engine_rx_peek(skb->data + ORNIC_SOFT_RX_HEAD);
	/* The last of its message, and no queued packet to overtake. */
	if (!peek.more && !atomic_read_acquire(&soft->rx_active))
		return false;
	more = peek.more && READ_ONCE(soft->rx_queues);
	qp = ornic_soft_qp_lookup(soft, peek.qpn);
	if (!qp || (!more && !READ_ONCE(qp->rxq.busy)) ||
	    !ornic_engine_is_peer(soft->engine, peek.qpn,
				  skb_network_header(skb),
				  skb->protocol != htons(ETH_P_IP)))
		return false;
	begin = more && wants_worker(qp, &peek, skb->len);
	if (!begin && !READ_ONCE(qp->rxq.busy))
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
