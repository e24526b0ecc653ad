/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_BUSYPOLL_H
#define ORNIC_SOFT_BUSYPOLL_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct ornic_soft_qp;

/**
 * struct ornic_soft_polled - a QP that the busy poll has; its worker's alone
 * @link: in a list of the busy poll; protected by its lock until the worker has it
 * @seen: SQ producer, see ornic_engine_has_work()
 * @last_work: when there was work last, jiffies
 * @more: there is work left of what was seen
 */
struct ornic_soft_polled {
	struct list_head link;
	u32 seen;
	unsigned long last_work;
	bool more;
};

/**
 * struct ornic_soft_busypoll - who looks at the SQs of a device
 * @work: does
 * @max_idle_us: ends it when there was nothing new for that long; 0: off
 * @lock: protects what follows; softirqs off
 * @fresh: struct ornic_soft_qp that the worker has not seen yet
 * @running: the worker is queued, or has not ended
 * @stopped: the device goes
 * @cpu: that is asked whether it is idle; -1: none yet
 * @asked_us: when it was asked last
 * @idle_us: how long it had been idle in all by then
 */
struct ornic_soft_busypoll {
	struct work_struct work;
	unsigned int max_idle_us;
	spinlock_t lock; /* all that follows */
	struct list_head fresh;
	bool running;
	bool stopped;
	int cpu;
	u64 asked_us;
	u64 idle_us;
};

void ornic_soft_busypoll_init(struct ornic_soft_busypoll *busypoll);
void ornic_soft_busypoll_stop(struct ornic_soft_busypoll *busypoll);
void ornic_soft_busypoll_kicked(struct ornic_soft_qp *qp);
int ornic_soft_busypoll_module_init(void);
void ornic_soft_busypoll_module_exit(void);

#endif /* ORNIC_SOFT_BUSYPOLL_H */
