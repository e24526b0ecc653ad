// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Impairments: what happens to single packets of a soft device by rules of its
 * administrator, for tests. engine/impair.c decides.
 *
 * Frames are impaired last before the netdev gets them, and packets last before
 * the engine gets them. So packet sockets see what leaves the device and what
 * reaches it, and a QP takes a lost frame for sent.
 *
 * A held frame belongs to no QP, like one on the wire. Held frames continue
 * after the packet that overtakes them, on its CPU, or by a timer. What is
 * decided under the lock is executed without it: sending and receiving take
 * locks of their own.
 */
#include "soft_impair.h"

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/udp.h>

#include "compat/compat_timer.h"
#include "engine/engine.h"
#include "soft.h"
#include "soft_rx.h"
#include "soft_tx.h"

#define BTH_AND_AETH 16

/* What a rule, and the number of held packets, take on the page of _show(). */
#define RULE_LINE "%s # seen %llu hits %llu missed %llu\n"
#define HELD_LINE "# held %u\n"
#define RULE_LINE_MAX (ORNIC_IMPAIR_TEXT + sizeof(RULE_LINE) + 3 * 20)
#define HELD_LINE_MAX (sizeof(HELD_LINE) + 10)
static_assert(ORNIC_IMPAIR_RULES * RULE_LINE_MAX + HELD_LINE_MAX <= PAGE_SIZE);

DEFINE_STATIC_KEY_FALSE(ornic_soft_impair_key);

/* ---- Held packets -------------------------------------------------------- */

/* Under the lock. */
static void timer_arm(struct ornic_soft_impair *im)
{
	u64 next = ornic_impair_next(im->table);

	if (next != U64_MAX)
		hrtimer_start(&im->timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_SOFT);
}

static struct sk_buff *held_take(struct ornic_soft_impair *im,
				 enum ornic_impair_dir dir, u64 now)
{
	struct sk_buff *skb = NULL;

	spin_lock_bh(&im->lock);
	if (im->table)
		skb = ornic_impair_take(im->table, dir, now);
	spin_unlock_bh(&im->lock);
	return skb;
}

/* Let those continue that may. Softirqs off, under RCU. */
static void held_send(struct ornic_soft *soft, u64 now)
{
	struct sk_buff *skb;

	while ((skb = held_take(&soft->impair, ORNIC_IMPAIR_TX, now)))
		ornic_soft_tx_any(soft->netdev, skb);
}

/* Likewise, and no engine lock is held. */
static void held_receive(struct ornic_soft *soft, u64 now)
{
	struct sk_buff *skb;

	while ((skb = held_take(&soft->impair, ORNIC_IMPAIR_RX, now)))
		ornic_soft_rx_accept(soft, skb);
}

static void held_release(struct ornic_soft *soft, u64 now)
{
	local_bh_disable();
	rcu_read_lock();
	held_send(soft, now);
	held_receive(soft, now);
	rcu_read_unlock();
	local_bh_enable();
}

static enum hrtimer_restart held_timer_fires(struct hrtimer *timer)
{
	struct ornic_soft *soft =
		container_of(timer, struct ornic_soft, impair.timer);

	held_release(soft, ktime_get_ns());
	spin_lock_bh(&soft->impair.lock);
	if (!soft->impair.stopped)
		timer_arm(&soft->impair);
	spin_unlock_bh(&soft->impair.lock);
	return HRTIMER_NORESTART;
}

void ornic_soft_impair_purge(struct ornic_soft *soft)
{
	struct sk_buff *skb;

	while ((skb = held_take(&soft->impair, ORNIC_IMPAIR_TX, U64_MAX)) ||
	       (skb = held_take(&soft->impair, ORNIC_IMPAIR_RX, U64_MAX)))
		kfree_skb(skb);
}

/* Under the lock. @skb refers to no QP or socket, and to no netdev but ours. */
static bool skb_hold(struct ornic_soft_impair *im,
		     const struct ornic_impair_verdict *verdict,
		     struct sk_buff *skb)
{
	if (!ornic_impair_hold(im->table, verdict, skb, skb->truesize,
			       ktime_get_ns()))
		return false;
	timer_arm(im);
	return true;
}

/* ---- Both directions ----------------------------------------------------- */

/* What happens to a packet, decided under the lock. */
struct impair_step {
	struct ornic_impair_verdict verdict;
	struct sk_buff *copy; /* of DUPLICATE; or to be changed, of RX */
	bool taken; /* dropped or held: not the caller's any more */
};

/* Under the lock. */
static void step_execute(struct ornic_soft_impair *im, struct impair_step *step,
			 struct sk_buff *skb)
{
	switch (step->verdict.action) {
	case ORNIC_IMPAIR_DROP:
		kfree_skb(skb);
		step->taken = true;
		break;
	case ORNIC_IMPAIR_DUPLICATE:
		step->copy = skb_clone(skb, GFP_ATOMIC);
		if (!step->copy)
			ornic_impair_failed(&step->verdict);
		break;
	case ORNIC_IMPAIR_CE:
	case ORNIC_IMPAIR_CORRUPT:
		/* Packet sockets and the sender may share the bytes. */
		if (step->verdict.dir == ORNIC_IMPAIR_TX)
			break;
		step->copy = skb_copy(skb, GFP_ATOMIC);
		if (!step->copy)
			ornic_impair_failed(&step->verdict);
		break;
	case ORNIC_IMPAIR_DELAY:
	case ORNIC_IMPAIR_SWAP:
		step->taken = skb_hold(im, &step->verdict, skb);
		break;
	}
}

/* False if nothing was decided: the packet goes on as without rules. */
static bool step_begin(struct ornic_soft_impair *im, struct impair_step *step,
		       struct sk_buff *skb,
		       const struct ornic_impair_packet *packet)
{
	bool decided = false;

	spin_lock_bh(&im->lock);
	if (im->table && !im->stopped) {
		step->verdict = ornic_impair_decide(im->table, packet);
		step_execute(im, step, skb);
		decided = true;
	}
	spin_unlock_bh(&im->lock);
	return decided;
}

/* The packet has gone on. */
static void step_end(struct ornic_soft_impair *im,
		     const struct impair_step *step)
{
	spin_lock_bh(&im->lock);
	ornic_impair_passed(im->table, &step->verdict);
	spin_unlock_bh(&im->lock);
}

/* ---- Transmission -------------------------------------------------------- */

static void frame_change(const struct ornic_tx *tx, u8 action)
{
	if (action == ORNIC_IMPAIR_CE)
		ornic_impair_mark_ce(tx->hdr + tx->l3_offset, tx->ipv6);
	else if (action == ORNIC_IMPAIR_CORRUPT)
		tx->body[tx->body_len - 1] ^= 1;
}

int ornic_soft_impair_tx(struct ornic_soft_qp *qp, struct sk_buff *skb,
			 const struct ornic_tx *tx)
{
	const u8 *bth = ornic_tx_bth(tx);
	const struct ornic_impair_packet packet = {
		.dir = ORNIC_IMPAIR_TX,
		.ipv6 = tx->ipv6,
		.ip = tx->hdr + tx->l3_offset,
		.bth = bth,
		.len = tx->hdr + tx->hdr_len - bth + tx->body_len,
	};
	struct ornic_soft *soft = qp->soft;
	struct impair_step step = {};
	int err;

	if (!READ_ONCE(soft->impair.on) ||
	    !step_begin(&soft->impair, &step, skb, &packet))
		return ornic_soft_tx_own(qp, skb, tx->ipv6);
	if (step.taken)
		return 0;
	frame_change(tx, step.verdict.action);
	/*
	 * A frame that the netdev refuses has overtaken none. The rules have
	 * counted it, and will count it when the engine sends it again.
	 */
	err = ornic_soft_tx_own(qp, skb, tx->ipv6);
	if (step.copy)
		ornic_soft_tx_any(soft->netdev, step.copy);
	if (!err)
		step_end(&soft->impair, &step);
	held_send(soft, ktime_get_ns());
	return err;
}

/* ---- Reception ----------------------------------------------------------- */

/* The packet that goes on first; @skb, or its changed copy. */
static struct sk_buff *skb_change(struct sk_buff *skb, struct impair_step *step)
{
	struct sk_buff *copy = step->copy;
	u8 action = step->verdict.action;

	if (!copy || action == ORNIC_IMPAIR_DUPLICATE)
		return skb;
	if (action == ORNIC_IMPAIR_CE)
		ornic_impair_mark_ce(skb_network_header(copy),
				     copy->protocol == htons(ETH_P_IPV6));
	else
		copy->data[copy->len - 1] ^= 1;
	step->copy = NULL;
	consume_skb(skb);
	return copy;
}

void ornic_soft_impair_rx(struct ornic_soft *soft, struct sk_buff *skb, u32 len)
{
	struct ornic_impair_packet packet = {
		.dir = ORNIC_IMPAIR_RX,
		.ipv6 = skb->protocol != htons(ETH_P_IP),
		.len = len,
	};
	struct impair_step step = {};

	/* Packets of the emergency reserves must not wait. */
	if (!READ_ONCE(soft->impair.on) || len < ORNIC_IMPAIR_MIN_LEN ||
	    skb_pfmemalloc(skb) ||
	    !pskb_may_pull(skb, ORNIC_SOFT_RX_HEAD + BTH_AND_AETH)) {
		ornic_soft_rx_accept(soft, skb);
		return;
	}
	skb_orphan(skb);
	ornic_soft_rx_detach(skb);
	packet.ip = skb_network_header(skb);
	packet.bth = skb->data + ORNIC_SOFT_RX_HEAD;
	if (!step_begin(&soft->impair, &step, skb, &packet)) {
		ornic_soft_rx_accept(soft, skb);
		return;
	}
	if (step.taken)
		return;
	ornic_soft_rx_accept(soft, skb_change(skb, &step));
	if (step.copy)
		ornic_soft_rx_accept(soft, step.copy);
	step_end(&soft->impair, &step);
	held_receive(soft, ktime_get_ns());
}

/* ---- Rules --------------------------------------------------------------- */

ssize_t ornic_soft_impair_show(struct ornic_soft *soft, char *page)
{
	struct ornic_soft_impair *im = &soft->impair;
	const struct ornic_impair_rule *rule;
	ssize_t len = 0;
	u32 i;

	spin_lock_bh(&im->lock);
	for (i = 0; im->table && i < im->table->nrules; i++) {
		rule = &im->table->rule[i];
		len += sysfs_emit_at(page, len, RULE_LINE, rule->text,
				     rule->seen, rule->hits, rule->missed);
	}
	if (im->table && im->table->nheld)
		len += sysfs_emit_at(page, len, HELD_LINE, im->table->nheld);
	spin_unlock_bh(&im->lock);
	return len;
}

/* Under the mutex. */
static int rules_add(struct ornic_soft_impair *im,
		     const struct ornic_impair_rule *rule)
{
	struct ornic_impair *table = im->table;
	bool first = !im->on;
	int err;

	if (!table) {
		table = kvzalloc(sizeof(*table), GFP_KERNEL);
		if (!table)
			return -ENOMEM;
	}
	spin_lock_bh(&im->lock);
	im->table = table;
	err = ornic_impair_add(table, rule);
	if (!err)
		WRITE_ONCE(im->on, true);
	spin_unlock_bh(&im->lock);
	if (!err && first)
		static_branch_inc(&ornic_soft_impair_key);
	return err;
}

/* Under the mutex. */
static void rules_clear(struct ornic_soft_impair *im)
{
	bool any;

	spin_lock_bh(&im->lock);
	any = im->on;
	if (any)
		im->table->nrules = 0;
	WRITE_ONCE(im->on, false);
	spin_unlock_bh(&im->lock);
	if (any)
		static_branch_dec(&ornic_soft_impair_key);
}

int ornic_soft_impair_add(struct ornic_soft *soft,
			  const struct ornic_impair_rule *rule)
{
	struct ornic_soft_impair *im = &soft->impair;
	int err;

	mutex_lock(&im->rules_lock);
	err = rules_add(im, rule);
	mutex_unlock(&im->rules_lock);
	return err;
}

void ornic_soft_impair_clear(struct ornic_soft *soft)
{
	struct ornic_soft_impair *im = &soft->impair;

	mutex_lock(&im->rules_lock);
	rules_clear(im);
	mutex_unlock(&im->rules_lock);
	held_release(soft, U64_MAX);
}

/* ---- Devices ------------------------------------------------------------- */

void ornic_soft_impair_init(struct ornic_soft *soft)
{
	struct ornic_soft_impair *im = &soft->impair;

	mutex_init(&im->rules_lock);
	spin_lock_init(&im->lock);
	hrtimer_setup(&im->timer, held_timer_fires, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void ornic_soft_impair_stop(struct ornic_soft *soft)
{
	struct ornic_soft_impair *im = &soft->impair;

	mutex_lock(&im->rules_lock);
	rules_clear(im);
	spin_lock_bh(&im->lock);
	im->stopped = true;
	spin_unlock_bh(&im->lock);
	mutex_unlock(&im->rules_lock);
	hrtimer_cancel(&im->timer);
	ornic_soft_impair_purge(soft);
}
