// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When the engine runs: in a kick, in a worker, at a timer.
 *
 * Running. A kick runs the QP for up to KICK_ROUNDS budgets; its work item does
 * the rest. While the QP is being run, a request to run it (room in the netdev,
 * ornic_engine_ops::resched) only sets a flag, so that no worker is started to
 * wait for the lock of the QP:
 *
 *	runner					waker
 *	set ACTIVE				if ACTIVE:
 *	run the engine					set AGAIN
 *	clear ACTIVE					full barrier
 *	full barrier					if still ACTIVE: done
 *	if AGAIN was set: run again		queue the work
 *
 * Timer. The engine moves the deadline of a QP with nearly every packet. The timer
 * is started only if it is off or would fire too late, and is neither moved to a
 * later time nor cancelled: if it fires early, it is set to the current deadline.
 * What has arrived by then is received first, see soft_rxq.c.
 */
#include "soft_sched.h"

#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "compat/compat_timer.h"
#include "compat/compat_wq.h"
#include "engine/engine.h"
#include "soft.h"
#include "soft_busypoll.h"
#include "soft_rxq.h"

#define RUN_BUDGET (64 * 1024) /* bytes with softirqs off */
#define KICK_ROUNDS 4 /* budgets of a kick */
#define WORK_ROUNDS 16 /* budgets of a work item */
#define EXIT_TIMEOUT (10 * HZ) /* between two messages */

static struct workqueue_struct *run_wq;
static struct workqueue_struct *unbound_wq;
static atomic_t num_qps = ATOMIC_INIT(0);

/* ---- Running ------------------------------------------------------------- */

static bool cpu_is_fit(int cpu, const struct cpumask *among)
{
	return cpu >= 0 && cpumask_test_cpu(cpu, among) && cpu_online(cpu) &&
	       housekeeping_test_cpu(cpu, HK_TYPE_WQ);
}

int ornic_soft_next_cpu(int cpu, const struct cpumask *among)
{
	int next;

	for_each_cpu_wrap(next, among, cpu + 1) {
		if (cpu_is_fit(next, among))
			return next;
	}
	return -1;
}

int ornic_soft_other_cpu(int last, const struct cpumask *among)
{
	int this_cpu = smp_processor_id();
	int cpu;

	if (last != this_cpu && cpu_is_fit(last, among))
		return last;
	cpu = ornic_soft_next_cpu(this_cpu, among);
	return cpu == this_cpu ? -1 : cpu;
}

void ornic_soft_queue_work(int cpu, struct work_struct *work)
{
	if (cpu < 0 || !cpu_online(cpu))
		cpu = WORK_CPU_UNBOUND;
	queue_work_on(cpu, run_wq, work);
}

/*
 * Queue the work on the CPU that may send now, see soft_tx.c. If any may, and with
 * @elsewhere, where the scheduler finds an idle one.
 */
static void queue_run(struct ornic_soft_qp *qp, bool elsewhere)
{
	unsigned long flags;
	int cpu = -1;

	if (atomic_read(&qp->in_flight)) {
		cpu = READ_ONCE(qp->cpu);
		elsewhere = false;
	} else if (!elsewhere && ornic_soft_rxq_is_here()) {
		cpu = ornic_soft_other_cpu(READ_ONCE(qp->cpu), cpu_online_mask);
	}
	raw_spin_lock_irqsave(&qp->lock, flags);
	if (!qp->dead && elsewhere)
		queue_work(unbound_wq, &qp->work);
	else if (!qp->dead)
		ornic_soft_queue_work(cpu, &qp->work);
	raw_spin_unlock_irqrestore(&qp->lock, flags);
}

/* Run one budget. Returns true if there is more to do. */
static bool run_once(struct ornic_soft_qp *qp, bool kicked)
{
	struct ornic_engine *engine = qp->soft->engine;
	enum ornic_run_result res;

	set_bit(ORNIC_SOFT_QP_ACTIVE, &qp->state);
	if (kicked)
		res = ornic_engine_kick(engine, qp->qpn, RUN_BUDGET);
	else
		res = ornic_engine_run(engine, qp->qpn, RUN_BUDGET);
	clear_bit_unlock(ORNIC_SOFT_QP_ACTIVE, &qp->state);
	smp_mb__after_atomic(); /* pairs with ornic_soft_qp_wake() */
	return test_and_clear_bit(ORNIC_SOFT_QP_AGAIN, &qp->state) ||
	       res == ORNIC_RUN_MORE;
}

bool ornic_soft_qp_run(struct ornic_soft_qp *qp)
{
	return run_once(qp, false);
}

static void run_work(struct work_struct *work)
{
	struct ornic_soft_qp *qp =
		container_of(work, struct ornic_soft_qp, work);
	bool kicked = test_and_clear_bit(ORNIC_SOFT_QP_KICKED, &qp->state);
	int i;

	for (i = 0; i < WORK_ROUNDS; i++) {
		if (!run_once(qp, kicked))
			return;
		kicked = false;
		cond_resched_tasks_rcu_qs();
	}
	queue_run(qp, false);
}

void ornic_soft_qp_wake(struct ornic_soft_qp *qp)
{
	if (test_bit(ORNIC_SOFT_QP_ACTIVE, &qp->state)) {
		set_bit(ORNIC_SOFT_QP_AGAIN, &qp->state);
		smp_mb__after_atomic(); /* pairs with run_once() */
		if (test_bit(ORNIC_SOFT_QP_ACTIVE, &qp->state))
			return;
	}
	queue_run(qp, false);
}

void ornic_soft_resched(void *host, void *host_qp)
{
	ornic_soft_qp_wake(ornic_soft_qp_of(host_qp));
}

void ornic_soft_wake_qpn(struct ornic_soft *soft, u32 qpn)
{
	struct ornic_soft_qp *qp;

	rcu_read_lock();
	qp = ornic_soft_qp_lookup(soft, qpn);
	if (qp)
		ornic_soft_qp_wake(qp);
	rcu_read_unlock();
}

void ornic_soft_kick(struct ornic_bus *bus, u32 qpn,
		     enum ornic_kick_where where)
{
	struct ornic_soft *soft = container_of(bus, struct ornic_soft, bus);
	struct ornic_soft_qp *qp;
	int i = 0;

	rcu_read_lock();
	qp = ornic_soft_qp_lookup(soft, qpn);
	if (qp && where == ORNIC_KICK_HERE) {
		while (i < KICK_ROUNDS && run_once(qp, i == 0))
			i++;
		if (i == KICK_ROUNDS)
			queue_run(qp, false);
		ornic_soft_busypoll_kicked(qp);
	} else if (qp) {
		set_bit(ORNIC_SOFT_QP_KICKED, &qp->state);
		queue_run(qp, where == ORNIC_KICK_ELSEWHERE);
	}
	rcu_read_unlock();
}

/* ---- The timer ----------------------------------------------------------- */

static enum hrtimer_restart qp_timer_fires(struct hrtimer *timer)
{
	struct ornic_soft_qp *qp =
		container_of(timer, struct ornic_soft_qp, timer);
	enum hrtimer_restart ret = HRTIMER_NORESTART;
	unsigned long flags;
	bool due = false;

	raw_spin_lock_irqsave(&qp->lock, flags);
	/* If it was started again meanwhile, wait for that. */
	if (!hrtimer_is_queued(timer)) {
		due = qp->deadline && qp->deadline <= ktime_get_ns();
		if (due)
			qp->deadline = 0;
		qp->armed = qp->dead ? 0 : qp->deadline;
		if (qp->armed) {
			hrtimer_set_expires(timer, ns_to_ktime(qp->armed));
			ret = HRTIMER_RESTART;
		}
	}
	raw_spin_unlock_irqrestore(&qp->lock, flags);

	/* Not under the lock: the engine sets the next deadline. */
	if (due && !ornic_soft_rxq_expire(&qp->rxq))
		ornic_engine_expire(qp->soft->engine, qp->qpn);
	return ret;
}

void ornic_soft_deadline(void *host, void *host_qp, u64 when)
{
	struct ornic_soft_qp *qp = ornic_soft_qp_of(host_qp);
	unsigned long flags;

	when = min_t(u64, when, KTIME_MAX);
	raw_spin_lock_irqsave(&qp->lock, flags);
	qp->deadline = when;
	if (when && !qp->dead && (!qp->armed || when < qp->armed)) {
		qp->armed = when;
		hrtimer_start(&qp->timer, ns_to_ktime(when),
			      HRTIMER_MODE_ABS_SOFT);
	}
	raw_spin_unlock_irqrestore(&qp->lock, flags);
}

/* ---- QPs ----------------------------------------------------------------- */

static struct ornic_soft_qp *qp_alloc(struct ornic_soft *soft, u32 qpn)
{
	struct ornic_soft_qp *qp;

	qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);
	if (!qp)
		return NULL;
	refcount_set(&qp->refs, 1);
	qp->soft = soft;
	qp->serial = soft->serial;
	qp->qpn = qpn;
	qp->cpu = -1;
	qp->hash = hash_32(qpn, 32) ?: 1;
	INIT_WORK(&qp->work, run_work);
	ornic_soft_rxq_init(&qp->rxq);
	hrtimer_setup(&qp->timer, qp_timer_fires, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	raw_spin_lock_init(&qp->lock);
	atomic_inc(&num_qps);
	return qp;
}

void ornic_soft_qp_free(struct ornic_soft_qp *qp)
{
	kfree(qp);

	/* ornic_soft_sched_exit() waits. */
	if (atomic_dec_and_test(&num_qps))
		wake_up_var(&num_qps);
}

int ornic_soft_qp_init(void *host, void *host_qp, u32 qpn)
{
	struct ornic_soft_qp *qp = qp_alloc(host, qpn);

	if (!qp)
		return -ENOMEM;
	*(struct ornic_soft_qp **)host_qp = qp;
	return 0;
}

void ornic_soft_qp_fini(void *host, void *host_qp)
{
	struct ornic_soft_qp *qp = ornic_soft_qp_of(host_qp);
	unsigned long flags;

	ornic_soft_rxq_stop(&qp->rxq);
	raw_spin_lock_irqsave(&qp->lock, flags);
	qp->dead = true;
	raw_spin_unlock_irqrestore(&qp->lock, flags);
	hrtimer_cancel(&qp->timer);
	cancel_work_sync(&qp->work);
	ornic_soft_qp_put(qp);
}

/* ---- The timer of a moderated CQ ----------------------------------------- */

/*
 * The engine starts it with the first completion of a delayed event and never
 * stops it: ornic_engine_cq_expire() checks whether the event is still due.
 */
static enum hrtimer_restart cq_timer_fires(struct hrtimer *timer)
{
	struct ornic_soft_cq *cq =
		container_of(timer, struct ornic_soft_cq, timer);

	ornic_engine_cq_expire(cq->soft->engine, cq->cqn);
	return HRTIMER_NORESTART;
}

void ornic_soft_cq_init(void *host, void *host_cq, u32 cqn)
{
	struct ornic_soft_cq *cq = host_cq;

	cq->soft = host;
	cq->cqn = cqn;
	hrtimer_setup(&cq->timer, cq_timer_fires, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void ornic_soft_cq_fini(void *host, void *host_cq)
{
	struct ornic_soft_cq *cq = host_cq;

	hrtimer_cancel(&cq->timer);
}

void ornic_soft_cq_deadline(void *host, void *host_cq, u64 when)
{
	struct ornic_soft_cq *cq = host_cq;

	hrtimer_start(&cq->timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}

/* ---- The module ---------------------------------------------------------- */

static void destroy_queues(void)
{
	if (run_wq)
		destroy_workqueue(run_wq);
	if (unbound_wq)
		destroy_workqueue(unbound_wq);
}

int ornic_soft_sched_init(void)
{
	/*
	 * WQ_MEM_RECLAIM: storage over RDMA may need it to free memory. Not
	 * WQ_HIGHPRI: peers and programs determine the load.
	 */
	run_wq = alloc_workqueue(
		"ornic", WQ_CPU_INTENSIVE | WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	unbound_wq = alloc_workqueue("ornic_unbound",
				     WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!run_wq || !unbound_wq || ornic_soft_busypoll_module_init()) {
		destroy_queues();
		return -ENOMEM;
	}
	return 0;
}

void ornic_soft_sched_exit(void)
{
	while (!wait_var_event_timeout(&num_qps, !atomic_read(&num_qps),
				       EXIT_TIMEOUT))
		pr_info("ornic: waiting for netdevs to free frames of %d QPs\n",
			atomic_read(&num_qps));

	/*
	 * A task that was preempted in ornic_soft_qp_free() or soft_put()
	 * after the wake-up still has to execute instructions of the module. It
	 * may be outside of RCU sections, but has not slept since: Tasks RCU
	 * waits for it.
	 */
	synchronize_rcu_tasks();
	ornic_soft_busypoll_module_exit();
	destroy_queues();
}
