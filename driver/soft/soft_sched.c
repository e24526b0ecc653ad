// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * When the engine runs: in the context of a kick, in a worker, at a timer.
 *
 * Running. A QP is run by whoever kicks it, up to a budget, and by its work
 * item for the rest. While somebody runs it, a wish to run it again (room in
 * the netdev, ornic_engine_ops::resched) is only noted for them, so that
 * neither a worker starts nor two CPUs meet at the QP's lock:
 *
 *	runner					waker
 *	set ACTIVE				if ACTIVE:
 *	run the engine					set AGAIN
 *	clear ACTIVE					full barrier
 *	full barrier					if still ACTIVE: done
 *	if AGAIN was set: run again		queue the work
 *
 * Timer. The engine moves the deadline of a QP with nearly every packet. The
 * timer is armed when it is off or would be late, never moved back and never
 * cancelled: when it fires early, it is set to the deadline of that moment.
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

#include "engine/engine.h"
#include "soft_dev.h"

#define RUN_BUDGET (64 * 1024) /* bytes with softirqs off */
#define KICK_ROUNDS 4 /* budgets that a kick may use */
#define WORK_ROUNDS 16 /* and that a work item may use */
#define EXIT_TIMEOUT (10 * HZ) /* between two messages of a slow exit */

static struct workqueue_struct *run_wq;
static atomic_t num_flows = ATOMIC_INIT(0);

/* ---- Running ---------------------------------------------------------------- */

static bool cpu_is_fit(int cpu, const struct cpumask *among)
{
	return cpu >= 0 && cpumask_test_cpu(cpu, among) && cpu_online(cpu) &&
	       housekeeping_test_cpu(cpu, HK_TYPE_WQ);
}

/**
 * ornic_soft_next_cpu - the CPU after another
 * @cpu: any
 * @among: CPUs to choose from
 *
 * Context: Any.
 * Return: The next online CPU that is for work queues, around the end; @cpu if
 * it is the only one; -1 if there is none at all.
 */
int ornic_soft_next_cpu(int cpu, const struct cpumask *among)
{
	int next;

	for_each_cpu_wrap(next, among, cpu + 1) {
		if (cpu_is_fit(next, among))
			return next;
	}
	return -1;
}

/**
 * ornic_soft_other_cpu - a CPU for what should not be done on this one
 * @last: the one that had it last, -1 if none
 * @among: CPUs to choose from
 *
 * Context: Not preemptible.
 * Return: @last if it is still fit and not this one, else the next online CPU
 * that is for work queues; -1 if there is none.
 */
int ornic_soft_other_cpu(int last, const struct cpumask *among)
{
	int this_cpu = smp_processor_id();
	int cpu;

	if (last != this_cpu && cpu_is_fit(last, among))
		return last;
	cpu = ornic_soft_next_cpu(this_cpu, among);
	return cpu == this_cpu ? -1 : cpu;
}

/**
 * ornic_soft_queue_work - queue the work of a flow
 * @cpu: where; -1 or one that is offline: wherever it suits
 * @work: the work item
 *
 * Context: Any, also with interrupts off.
 */
void ornic_soft_queue_work(int cpu, struct work_struct *work)
{
	if (cpu < 0 || !cpu_online(cpu))
		cpu = WORK_CPU_UNBOUND;
	queue_work_on(cpu, run_wq, work);
}

/* On the CPU that may send now, see soft_tx.c. */
static void queue_run(struct ornic_soft_flow *flow)
{
	int cpu = -1;

	if (atomic_read(&flow->in_flight))
		cpu = READ_ONCE(flow->cpu);
	else if (ornic_soft_rxq_is_here())
		cpu = ornic_soft_other_cpu(READ_ONCE(flow->cpu),
					   cpu_online_mask);
	ornic_soft_queue_work(cpu, &flow->work);
}

/* One budget. Returns true if it should be run again. */
static bool run_once(struct ornic_soft_flow *flow, bool kicked)
{
	struct ornic_engine *engine = flow->soft->engine;
	enum ornic_run_result res;

	set_bit(ORNIC_FLOW_ACTIVE, &flow->state);
	if (kicked)
		res = ornic_engine_kick(engine, flow->qpn, RUN_BUDGET);
	else
		res = ornic_engine_run(engine, flow->qpn, RUN_BUDGET);
	clear_bit_unlock(ORNIC_FLOW_ACTIVE, &flow->state);
	smp_mb__after_atomic(); /* pairs with ornic_soft_flow_wake */
	return test_and_clear_bit(ORNIC_FLOW_AGAIN, &flow->state) ||
	       res == ORNIC_RUN_MORE;
}

/**
 * ornic_soft_flow_run - run a QP here
 * @flow: its flow; the QP may be gone, then nothing happens
 *
 * Context: Process context.
 * Return: Whether it should be run again: one call does not do without end.
 */
bool ornic_soft_flow_run(struct ornic_soft_flow *flow)
{
	return run_once(flow, false);
}

static void run_work(struct work_struct *work)
{
	struct ornic_soft_flow *flow =
		container_of(work, struct ornic_soft_flow, work);
	bool kicked = test_and_clear_bit(ORNIC_FLOW_KICKED, &flow->state);
	int i;

	for (i = 0; i < WORK_ROUNDS; i++) {
		if (!run_once(flow, kicked))
			return;
		kicked = false;
		cond_resched_tasks_rcu_qs();
	}
	queue_run(flow);
}

/**
 * ornic_soft_flow_wake - have a QP run soon
 * @flow: its flow; the QP may be gone, then nothing happens
 *
 * Context: Any, also with interrupts off.
 */
void ornic_soft_flow_wake(struct ornic_soft_flow *flow)
{
	if (test_bit(ORNIC_FLOW_ACTIVE, &flow->state)) {
		set_bit(ORNIC_FLOW_AGAIN, &flow->state);
		smp_mb__after_atomic(); /* pairs with run_once */
		if (test_bit(ORNIC_FLOW_ACTIVE, &flow->state))
			return;
	}
	queue_run(flow);
}

/**
 * ornic_soft_resched - ornic_engine_ops::resched
 * @host: the device
 * @host_qp: the host's area of the QP
 *
 * Context: Any; engine locks are held.
 */
void ornic_soft_resched(void *host, void *host_qp)
{
	ornic_soft_flow_wake(ornic_soft_flow_of(host_qp));
}

/**
 * ornic_soft_wake - have a QP run soon
 * @soft: the device
 * @qpn: QP number; nothing happens if there is no such QP
 *
 * Context: Any, also with interrupts off.
 */
void ornic_soft_wake(struct ornic_soft *soft, u32 qpn)
{
	struct ornic_soft_flow *flow;

	rcu_read_lock();
	flow = xa_load(&soft->flows, qpn);
	if (flow)
		ornic_soft_flow_wake(flow);
	rcu_read_unlock();
}

static void kick_inline(struct ornic_soft_flow *flow)
{
	int i;

	for (i = 0; i < KICK_ROUNDS; i++)
		if (!run_once(flow, i == 0))
			return;
	queue_run(flow);
}

/**
 * ornic_soft_kick - the driver or a program kicks a QP
 * @soft: the device
 * @qpn: QP number, unchecked
 * @inline_ok: the QP may be run here
 *
 * Context: Process context with interrupts on, or any if not @inline_ok.
 */
void ornic_soft_kick(struct ornic_soft *soft, u32 qpn, bool inline_ok)
{
	struct ornic_soft_flow *flow;

	rcu_read_lock();
	flow = xa_load(&soft->flows, qpn);
	if (flow && inline_ok) {
		kick_inline(flow);
		ornic_soft_busypoll_kicked(flow);
	} else if (flow) {
		set_bit(ORNIC_FLOW_KICKED, &flow->state);
		queue_run(flow);
	}
	rcu_read_unlock();
}

/* ---- The timer --------------------------------------------------------------- */

static bool timer_due(struct ornic_soft_flow *flow)
{
	return flow->deadline && flow->deadline <= ktime_get_ns();
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct ornic_soft_flow *flow =
		container_of(timer, struct ornic_soft_flow, timer);
	enum hrtimer_restart ret = HRTIMER_NORESTART;
	bool due = false;

	spin_lock(&flow->timer_lock);
	/* Armed again before we got here: that is the one that counts. */
	if (!hrtimer_is_queued(timer)) {
		due = timer_due(flow);
		if (due)
			flow->deadline = 0;
		flow->armed = flow->dead ? 0 : flow->deadline;
		if (flow->armed) {
			hrtimer_set_expires(timer, ns_to_ktime(flow->armed));
			ret = HRTIMER_RESTART;
		}
	}
	spin_unlock(&flow->timer_lock);

	/* Not under the lock: the engine sets the next deadline in there. */
	if (due)
		ornic_engine_expire(flow->soft->engine, flow->qpn);
	return ret;
}

/**
 * ornic_soft_deadline - ornic_engine_ops::deadline
 * @host: the device
 * @host_qp: the host's area of the QP
 * @when: when ornic_engine_expire is wanted, ns; 0: not at all
 *
 * Context: Softirqs off; engine locks are held.
 */
void ornic_soft_deadline(void *host, void *host_qp, u64 when)
{
	struct ornic_soft_flow *flow = ornic_soft_flow_of(host_qp);

	when = min_t(u64, when, KTIME_MAX);
	spin_lock_bh(&flow->timer_lock);
	flow->deadline = when;
	if (when && !flow->dead && (!flow->armed || when < flow->armed)) {
		flow->armed = when;
		hrtimer_start(&flow->timer, ns_to_ktime(when),
			      HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&flow->timer_lock);
}

static void timer_stop(struct ornic_soft_flow *flow)
{
	spin_lock_bh(&flow->timer_lock);
	flow->dead = true;
	spin_unlock_bh(&flow->timer_lock);
	hrtimer_cancel(&flow->timer);
}

/* ---- Flows -------------------------------------------------------------------- */

static struct ornic_soft_flow *flow_alloc(struct ornic_soft *soft, u32 qpn)
{
	struct ornic_soft_flow *flow;

	flow = kzalloc(sizeof(*flow), GFP_KERNEL_ACCOUNT);
	if (!flow)
		return NULL;
	refcount_set(&flow->refs, 1);
	flow->soft = soft;
	flow->qpn = qpn;
	flow->cpu = -1;
	flow->hash = hash_32(qpn, 32) ?: 1;
	INIT_WORK(&flow->work, run_work);
	ornic_soft_rxq_init(&flow->rxq);
	hrtimer_init(&flow->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	flow->timer.function = timer_fires;
	spin_lock_init(&flow->timer_lock);
	atomic_inc(&num_flows);
	return flow;
}

/**
 * ornic_soft_flow_free - the last reference of a flow is gone
 * @flow: the flow
 *
 * Context: Any, also with interrupts off.
 */
void ornic_soft_flow_free(struct ornic_soft_flow *flow)
{
	kfree_rcu(flow, rcu);

	/* The module's exit waits for this, and then for us: see there. */
	if (atomic_dec_and_test(&num_flows))
		wake_up_var(&num_flows);
}

/**
 * ornic_soft_qp_init - ornic_engine_ops::qp_init
 * @host: the device
 * @host_qp: the host's area of the QP
 * @qpn: its number
 *
 * Context: Process context; sleeps.
 * Return: 0 or -ENOMEM.
 */
int ornic_soft_qp_init(void *host, void *host_qp, u32 qpn)
{
	struct ornic_soft *soft = host;
	struct ornic_soft_flow *flow;
	int err;

	flow = flow_alloc(soft, qpn);
	if (!flow)
		return -ENOMEM;
	*(struct ornic_soft_flow **)host_qp = flow;
	err = xa_insert(&soft->flows, qpn, flow, GFP_KERNEL);
	if (err)
		ornic_soft_flow_put(flow);
	return err;
}

/**
 * ornic_soft_qp_fini - ornic_engine_ops::qp_fini
 * @host: the device
 * @host_qp: the host's area of the QP
 *
 * On return its timer and its work items are off for good. Frames of it may
 * still be in flight.
 *
 * Context: Process context; sleeps.
 */
void ornic_soft_qp_fini(void *host, void *host_qp)
{
	struct ornic_soft_flow *flow = ornic_soft_flow_of(host_qp);
	struct ornic_soft *soft = host;

	xa_erase(&soft->flows, flow->qpn);
	ornic_soft_rxq_stop(&flow->rxq);
	timer_stop(flow);
	disable_work_sync(&flow->work);
	ornic_soft_flow_put(flow);
}

/* ---- The module ---------------------------------------------------------------- */

/**
 * ornic_soft_sched_init - prepare for flows
 *
 * Context: Process context.
 * Return: 0 or -ENOMEM.
 */
int ornic_soft_sched_init(void)
{
	/*
	 * MEM_RECLAIM: storage on RDMA may need it to free memory. Not HIGHPRI:
	 * peers and programs decide how much there is to do.
	 */
	run_wq = alloc_workqueue("ornic", WQ_CPU_INTENSIVE | WQ_MEM_RECLAIM, 0);
	if (!run_wq)
		return -ENOMEM;
	if (ornic_soft_busypoll_module_init()) {
		destroy_workqueue(run_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * ornic_soft_sched_exit - wait for the last flow, thus for all frames
 *
 * A netdev may keep a frame for long: in a ring that has stopped, in a qdisc
 * that delays.
 *
 * Context: Process context; no QP and no device exists.
 */
void ornic_soft_sched_exit(void)
{
	while (!wait_var_event_timeout(&num_flows, !atomic_read(&num_flows),
				       EXIT_TIMEOUT))
		pr_info("ornic: unloading waits: netdevs still have frames of %d QPs\n",
			atomic_read(&num_flows));

	/*
	 * A task that was preempted in ornic_soft_flow_free(), or in what frees
	 * a device, still has a few instructions of the module to go. It may be
	 * outside of any RCU section, but has not slept since: that is what
	 * Tasks RCU waits for.
	 */
	synchronize_rcu_tasks();
	ornic_soft_busypoll_module_exit();
	destroy_workqueue(run_wq);
}
