// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: WQ_PERCPU */
#include <linux/workqueue.h>

static const unsigned int flag = WQ_PERCPU;

static void queue(struct work_struct *percpu, struct work_struct *unbound)
{
	queue_work(system_percpu_wq, percpu);
	queue_work(system_dfl_wq, unbound);
}
