// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The lookout. A kick executes what was posted before the program posts the
 * next, so a program that posts one WQE after another kicks for each, and the
 * program and the engine take turns on one CPU. Where another CPU has nothing
 * to do, a worker looks at the send queues there: posts are mere stores then.
 *
 * It begins when a CPU kicks HOT_KICKS times a second and another, on which the
 * program may run as well, was idle since this was asked last (a kernel with a
 * tick on idle CPUs cannot tell), and ends when nothing was new for a while, or as
 * soon as anything else wants to run on its CPU. So it takes no time from anybody;
 * what it spends is charged to nobody, and bounded by one CPU for a device.
 *
 * A QP joins at a kick, under the lock; from then on it is the worker's, which
 * lets it go when it had no news for some time. It holds a reference of the flow,
 * and asks the engine by QP number: the QP may be destroyed meanwhile.
 */
#include "soft_lookout.h"

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/tick.h>

#include "engine/engine.h"
#include "soft_dev.h"
#include "soft_sched.h"

#define HOT_KICKS 16000 /* a second, of a CPU */
#define PATIENCE_US 50
#define IDLE_JIFFIES 2 /* a QP without news is let go */
#define IDLE_PERCENT 75 /* of a CPU that has nothing to do */

/* How often a CPU has kicked in a jiffy. */
struct heat {
	unsigned long jiffy;
	unsigned int kicks;
};

static DEFINE_PER_CPU(struct heat, heat);
static struct workqueue_struct *lookout_wq;

/* ---- Joining ----------------------------------------------------------------- */

/* One more kick of this CPU. It may move to another meanwhile: a heuristic. */
static bool is_hot(void)
{
	struct heat *h = raw_cpu_ptr(&heat);
	unsigned long now = jiffies;
	unsigned int kicks;

	if (READ_ONCE(h->jiffy) != now) {
		WRITE_ONCE(h->jiffy, now);
		WRITE_ONCE(h->kicks, 0);
	}
	kicks = READ_ONCE(h->kicks) + 1;
	WRITE_ONCE(h->kicks, kicks);
	if (kicks <= HOT_KICKS / HZ)
		return false;
	WRITE_ONCE(h->kicks, 0);
	return true;
}

/*
 * Was the CPU idle since this was asked last? If not, or if that was another
 * CPU, it will be asked again; a busy one makes room for the next.
 */
static bool was_idle(struct ornic_soft_lookout *lookout, int cpu)
{
	u64 now = 0, idle = get_cpu_idle_time_us(cpu, &now);
	u64 time = now - lookout->asked_us, spent = idle - lookout->idle_us;
	bool same = cpu == lookout->cpu;

	lookout->cpu = cpu;
	lookout->asked_us = now;
	lookout->idle_us = idle;
	if (!same || !now)
		return false;
	if (spent * 100 >= time * IDLE_PERCENT)
		return true;
	lookout->cpu = ornic_soft_next_cpu(cpu, &current->cpus_mask);
	return false;
}

/* A program gets no time of a CPU that it may not run on itself. */
static bool begin(struct ornic_soft_lookout *lookout)
{
	int cpu;

	if (lookout->running)
		return cpumask_test_cpu(lookout->cpu, &current->cpus_mask);
	if (lookout->stopped || !READ_ONCE(lookout->patience_us))
		return false;
	cpu = ornic_soft_other_cpu(lookout->cpu, &current->cpus_mask);
	if (cpu < 0 || !was_idle(lookout, cpu))
		return false;
	WRITE_ONCE(lookout->running, true);
	queue_work_on(cpu, lookout_wq, &lookout->work);
	return true;
}

/**
 * ornic_soft_lookout_kicked - a QP was kicked, and has been run
 * @flow: its flow
 *
 * Context: Process context, in an RCU section that found @flow.
 */
void ornic_soft_lookout_kicked(struct ornic_soft_flow *flow)
{
	struct ornic_soft_lookout *lookout = &flow->soft->lookout;

	if (!READ_ONCE(lookout->running) && !is_hot())
		return;
	if (test_bit(ORNIC_FLOW_WATCHED, &flow->state))
		return;
	spin_lock_bh(&lookout->lock);
	/* Again: another thread may kick the same QP at this moment. */
	if (!test_bit_acquire(ORNIC_FLOW_WATCHED, &flow->state) &&
	    begin(lookout) && refcount_inc_not_zero(&flow->refs)) {
		set_bit(ORNIC_FLOW_WATCHED, &flow->state);
		list_add_tail(&flow->watch.link, &lookout->joining);
	}
	spin_unlock_bh(&lookout->lock);
}

/* ---- Looking ----------------------------------------------------------------- */

/* Those who joined are watched now. */
static void admit(struct ornic_soft_lookout *lookout, struct list_head *members)
{
	struct ornic_soft_flow *flow;
	LIST_HEAD(fresh);

	if (list_empty_careful(&lookout->joining))
		return;
	spin_lock_bh(&lookout->lock);
	list_splice_init(&lookout->joining, &fresh);
	spin_unlock_bh(&lookout->lock);
	list_for_each_entry(flow, &fresh, watch.link) {
		ornic_engine_watch(flow->soft->engine, flow->qpn, true);
		flow->watch.news = jiffies;
		flow->watch.more = true;
	}
	list_splice_tail(&fresh, members);
}

/* From here on it has to be kicked, as before. */
static void let_go(struct ornic_soft_flow *flow)
{
	list_del(&flow->watch.link);
	ornic_engine_watch(flow->soft->engine, flow->qpn, false);
	/* Its link is free for the next to join, who tests with acquire. */
	clear_bit_unlock(ORNIC_FLOW_WATCHED, &flow->state);
	/* By number: the QP may be gone and its number another one's. */
	if (ornic_soft_flow_run(flow))
		ornic_soft_wake(flow->soft, flow->qpn);
	ornic_soft_flow_put(flow);
}

/* One look at a QP. Returns true if there was something to do. */
static bool look_at(struct ornic_soft_flow *flow)
{
	struct ornic_soft_watch *watch = &flow->watch;

	if (!ornic_engine_has_news(flow->soft->engine, flow->qpn,
				   &watch->seen) &&
	    !watch->more) {
		if (time_after(jiffies, watch->news + IDLE_JIFFIES))
			let_go(flow);
		return false;
	}
	watch->more = ornic_soft_flow_run(flow);
	watch->news = jiffies;
	return true;
}

static bool look_at_all(struct list_head *members)
{
	struct ornic_soft_flow *flow, *next;
	bool news = false;

	list_for_each_entry_safe(flow, next, members, watch.link) {
		news |= look_at(flow);
		if (need_resched())
			break;
	}
	return news;
}

/* Does nobody else want this CPU? */
static bool is_alone(const struct ornic_soft_lookout *lookout)
{
	return !need_resched() && single_task_running() &&
	       !READ_ONCE(lookout->stopped);
}

static void look_out(struct ornic_soft_lookout *lookout,
		     struct list_head *members)
{
	u64 patience = (u64)READ_ONCE(lookout->patience_us) * NSEC_PER_USEC;
	u64 idle_since = 0, now;

	while (is_alone(lookout)) {
		admit(lookout, members);
		if (look_at_all(members)) {
			idle_since = 0;
		} else {
			now = ktime_get_ns();
			if (!idle_since)
				idle_since = now;
			else if (now - idle_since > patience)
				return;
			cpu_relax();
		}
		cond_resched_tasks_rcu_qs();
	}
}

/* If nobody has joined meanwhile. */
static bool may_end(struct ornic_soft_lookout *lookout)
{
	bool end;

	spin_lock_bh(&lookout->lock);
	end = list_empty(&lookout->joining);
	WRITE_ONCE(lookout->running, !end);
	spin_unlock_bh(&lookout->lock);
	return end;
}

static void lookout_work(struct work_struct *work)
{
	struct ornic_soft_lookout *lookout =
		container_of(work, struct ornic_soft_lookout, work);
	struct ornic_soft_flow *flow, *next;
	LIST_HEAD(members);

	look_out(lookout, &members);
	do {
		admit(lookout, &members);
		list_for_each_entry_safe(flow, next, &members, watch.link)
			let_go(flow);
	} while (!may_end(lookout));
}

/* ---- Beginning and end -------------------------------------------------------- */

/**
 * ornic_soft_lookout_init - nobody is looked at
 * @lookout: of a device
 *
 * Context: Any.
 */
void ornic_soft_lookout_init(struct ornic_soft_lookout *lookout)
{
	INIT_WORK(&lookout->work, lookout_work);
	lookout->patience_us = PATIENCE_US;
	spin_lock_init(&lookout->lock);
	INIT_LIST_HEAD(&lookout->joining);
	lookout->cpu = -1;
}

/**
 * ornic_soft_lookout_stop - let all QPs go, for good
 * @lookout: of a device whose engine still exists
 *
 * Context: Process context; sleeps.
 */
void ornic_soft_lookout_stop(struct ornic_soft_lookout *lookout)
{
	spin_lock_bh(&lookout->lock);
	WRITE_ONCE(lookout->stopped, true);
	spin_unlock_bh(&lookout->lock);
	flush_work(&lookout->work);
}

/**
 * ornic_soft_lookout_module_init - prepare for lookouts
 *
 * Context: Process context.
 * Return: 0 or -ENOMEM.
 */
int ornic_soft_lookout_module_init(void)
{
	lookout_wq = alloc_workqueue("ornic_lookout", WQ_CPU_INTENSIVE, 0);
	return lookout_wq ? 0 : -ENOMEM;
}

/**
 * ornic_soft_lookout_module_exit - all devices are gone
 *
 * Context: Process context.
 */
void ornic_soft_lookout_module_exit(void)
{
	destroy_workqueue(lookout_wq);
}
