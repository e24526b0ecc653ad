// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Adaptive busy poll. A kick executes what was posted before the program can post
 * more, so a program that posts single WQEs kicks for each of them, and program
 * and engine alternate on one CPU. If another CPU is idle, a worker polls the send
 * queues there, and posts need no kick.
 *
 * Polling starts when a CPU kicks at HOT_KICKS a second and another CPU, on which
 * the program may run too, was idle for IDLE_PERCENT of the time since the last
 * check (a kernel with a tick on idle CPUs does not count idle time). It stops
 * after max_idle_us without work, or as soon as another task is runnable on its
 * CPU. So it takes no time from other tasks; the time is not charged to the
 * program, and is bounded by one CPU for each device.
 *
 * A kick adds a QP, under the lock. Then the QP belongs to the worker, which
 * removes it after IDLE_JIFFIES without work. The list holds a reference of the
 * ornic_soft_qp. The engine is called by QP number, since the QP may have been
 * destroyed.
 */
#include "soft_busypoll.h"

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/tick.h>

#include "compat/compat_wq.h"
#include "engine/engine.h"
#include "soft.h"
#include "soft_sched.h"

#define HOT_KICKS 16000 /* per second and CPU */
#define MAX_IDLE_US 50
#define IDLE_JIFFIES 2 /* then a QP without work is removed */
#define IDLE_PERCENT 75 /* of the time, of a CPU that is idle */

/* Kicks of a CPU in the current jiffy. */
struct kick_rate {
	unsigned long jiffy;
	unsigned int kicks;
};

static DEFINE_PER_CPU(struct kick_rate, kick_rate);
static struct workqueue_struct *busypoll_wq;

/* ---- Kicks --------------------------------------------------------------- */

/* Counts a kick. Preemption between the accesses only makes it less precise. */
static bool kicks_often(void)
{
	struct kick_rate *h = raw_cpu_ptr(&kick_rate);
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
 * True if @cpu was idle since the last call, which has to be for the same CPU.
 * After a busy CPU the next call is for another one.
 */
static bool cpu_was_idle(struct ornic_soft_busypoll *busypoll, int cpu)
{
	u64 now = 0, idle = get_cpu_idle_time_us(cpu, &now);
	u64 time = now - busypoll->asked_us, spent = idle - busypoll->idle_us;
	bool same = cpu == busypoll->cpu && busypoll->asked_us;

	busypoll->cpu = cpu;
	busypoll->asked_us = now;
	busypoll->idle_us = idle;
	if (!same || !now)
		return false;
	if (spent * 100 >= time * IDLE_PERCENT)
		return true;
	busypoll->cpu = ornic_soft_next_cpu(cpu, &current->cpus_mask);
	/* The times are not those of that CPU. */
	busypoll->asked_us = 0;
	return false;
}

/* Only a CPU on which the program may run itself polls for it. */
static bool busypoll_begin(struct ornic_soft_busypoll *busypoll)
{
	int cpu;

	if (busypoll->running)
		return cpumask_test_cpu(busypoll->cpu, &current->cpus_mask);
	if (busypoll->stopped || !READ_ONCE(busypoll->max_idle_us))
		return false;
	cpu = ornic_soft_other_cpu(busypoll->cpu, &current->cpus_mask);
	if (cpu < 0 || !cpu_was_idle(busypoll, cpu))
		return false;
	WRITE_ONCE(busypoll->running, true);
	queue_work_on(cpu, busypoll_wq, &busypoll->work);
	return true;
}

void ornic_soft_busypoll_kicked(struct ornic_soft_qp *qp)
{
	struct ornic_soft_busypoll *busypoll = &qp->soft->busypoll;

	if (!READ_ONCE(busypoll->running) && !kicks_often())
		return;
	if (test_bit(ORNIC_SOFT_QP_POLLED, &qp->state))
		return;
	spin_lock_bh(&busypoll->lock);
	/* Test again: another thread may kick the same QP. */
	if (!test_bit_acquire(ORNIC_SOFT_QP_POLLED, &qp->state) &&
	    busypoll_begin(busypoll)) {
		refcount_inc(&qp->refs);
		set_bit(ORNIC_SOFT_QP_POLLED, &qp->state);
		list_add_tail(&qp->poll.link, &busypoll->fresh);
	}
	spin_unlock_bh(&busypoll->lock);
}

/* ---- Polling ------------------------------------------------------------- */

/* Move new QPs to @polled. They need no kicks from here on. */
static void busypoll_add(struct ornic_soft_busypoll *busypoll,
			 struct list_head *polled)
{
	struct ornic_soft_qp *qp;
	LIST_HEAD(added);

	if (list_empty_careful(&busypoll->fresh))
		return;
	spin_lock_bh(&busypoll->lock);
	list_splice_init(&busypoll->fresh, &added);
	spin_unlock_bh(&busypoll->lock);
	list_for_each_entry(qp, &added, poll.link) {
		ornic_engine_busy_poll(qp->soft->engine, qp->qpn, true);
		qp->poll.last_work = jiffies;
		qp->poll.more = true;
	}
	list_splice_tail(&added, polled);
}

/* From here on the QP needs kicks. */
static void busypoll_remove(struct ornic_soft_qp *qp)
{
	list_del(&qp->poll.link);
	ornic_engine_busy_poll(qp->soft->engine, qp->qpn, false);
	/* Releases the link; ornic_soft_busypoll_kicked() acquires it. */
	clear_bit_unlock(ORNIC_SOFT_QP_POLLED, &qp->state);
	/* By number: the QP may be destroyed, and its number reused. */
	if (ornic_soft_qp_run(qp))
		ornic_soft_wake_qpn(qp->soft, qp->qpn);
	ornic_soft_qp_put(qp);
}

/* Poll a QP once. Returns true if there was work. */
static bool busypoll_qp(struct ornic_soft_qp *qp)
{
	struct ornic_soft_polled *poll = &qp->poll;

	if (!ornic_engine_has_work(qp->soft->engine, qp->qpn, &poll->seen) &&
	    !poll->more) {
		if (time_after(jiffies, poll->last_work + IDLE_JIFFIES))
			busypoll_remove(qp);
		return false;
	}
	poll->more = ornic_soft_qp_run(qp);
	poll->last_work = jiffies;
	return true;
}

static bool busypoll_once(struct list_head *polled)
{
	struct ornic_soft_qp *qp, *next;
	bool work = false;

	list_for_each_entry_safe(qp, next, polled, poll.link) {
		work |= busypoll_qp(qp);
		if (need_resched())
			break;
	}
	return work;
}

/* False when another task is runnable on this CPU. */
static bool cpu_is_free(const struct ornic_soft_busypoll *busypoll)
{
	return !need_resched() && single_task_running() &&
	       !READ_ONCE(busypoll->stopped);
}

static void busypoll_loop(struct ornic_soft_busypoll *busypoll,
			  struct list_head *polled)
{
	u64 max_idle = (u64)READ_ONCE(busypoll->max_idle_us) * NSEC_PER_USEC;
	u64 idle_since = 0, now;

	while (cpu_is_free(busypoll)) {
		busypoll_add(busypoll, polled);
		if (busypoll_once(polled)) {
			idle_since = 0;
		} else {
			now = ktime_get_ns();
			if (!idle_since)
				idle_since = now;
			else if (now - idle_since > max_idle)
				return;
			cpu_relax();
		}
		cond_resched_tasks_rcu_qs();
	}
}

/* Returns false if QPs were added meanwhile. */
static bool busypoll_end(struct ornic_soft_busypoll *busypoll)
{
	bool end;

	spin_lock_bh(&busypoll->lock);
	end = list_empty(&busypoll->fresh);
	WRITE_ONCE(busypoll->running, !end);
	spin_unlock_bh(&busypoll->lock);
	return end;
}

static void busypoll_work(struct work_struct *work)
{
	struct ornic_soft_busypoll *busypoll =
		container_of(work, struct ornic_soft_busypoll, work);
	struct ornic_soft_qp *qp, *next;
	LIST_HEAD(polled);

	busypoll_loop(busypoll, &polled);
	do {
		busypoll_add(busypoll, &polled);
		list_for_each_entry_safe(qp, next, &polled, poll.link)
			busypoll_remove(qp);
	} while (!busypoll_end(busypoll));
}

/* ---- Init and exit ------------------------------------------------------- */

void ornic_soft_busypoll_init(struct ornic_soft_busypoll *busypoll)
{
	INIT_WORK(&busypoll->work, busypoll_work);
	busypoll->max_idle_us = MAX_IDLE_US;
	spin_lock_init(&busypoll->lock);
	INIT_LIST_HEAD(&busypoll->fresh);
	busypoll->cpu = -1;
}

void ornic_soft_busypoll_stop(struct ornic_soft_busypoll *busypoll)
{
	spin_lock_bh(&busypoll->lock);
	WRITE_ONCE(busypoll->stopped, true);
	spin_unlock_bh(&busypoll->lock);
	flush_work(&busypoll->work);
}

int ornic_soft_busypoll_module_init(void)
{
	busypoll_wq = alloc_workqueue("ornic_busypoll",
				      WQ_CPU_INTENSIVE | WQ_PERCPU, 0);
	return busypoll_wq ? 0 : -ENOMEM;
}

void ornic_soft_busypoll_module_exit(void)
{
	destroy_workqueue(busypoll_wq);
}
