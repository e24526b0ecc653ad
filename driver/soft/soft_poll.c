// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Poll thread: polls all send queues of its device, as hardware does, so posts
 * need no system call. It occupies a CPU, so it is off until the attribute
 * poll_thread is set.
 */
#include "soft.h"

#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "engine/engine.h"

#define POLL_BUDGET (64 * 1024) /* bytes between two checks for stop */

static int poll_loop(void *arg)
{
	struct ornic_soft *soft = arg;

	while (!kthread_should_stop()) {
		if (!ornic_engine_poll(soft->engine, POLL_BUDGET))
			cpu_relax();
		/* Without this a Tasks RCU grace period would never end. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int poll_start(struct ornic_soft *soft)
{
	struct task_struct *task;

	task = kthread_create(poll_loop, soft, "ornic_poll/%d",
			      soft->netdev->ifindex);
	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(soft->poll_thread, task);
	ornic_engine_set_polling(soft->engine, true);
	wake_up_process(task);
	return 0;
}

int ornic_soft_poll_set(struct ornic_soft *soft, bool on)
{
	int err = 0;

	mutex_lock(&soft->poll_lock);
	if (on && !soft->poll_thread) {
		err = poll_start(soft);
	} else if (!on && soft->poll_thread) {
		kthread_stop(soft->poll_thread);
		WRITE_ONCE(soft->poll_thread, NULL);
		ornic_engine_set_polling(soft->engine, false);
	}
	mutex_unlock(&soft->poll_lock);
	return err;
}
