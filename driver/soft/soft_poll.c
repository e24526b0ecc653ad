// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The poll thread: looks at all send queues of its device without being
 * kicked, as hardware does, so no post needs a system call. It takes a CPU
 * for itself, so it is off until somebody writes 1 to poll_thread in the
 * ib_device's sysfs folder.
 */
#include "soft_poll.h"

#include <linux/kthread.h>
#include <linux/kstrtox.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "engine/engine.h"
#include "soft_dev.h"

#define POLL_BUDGET (64 * 1024) /* bytes between two looks around */

static int poll_loop(void *arg)
{
	struct ornic_soft *soft = arg;

	while (!kthread_should_stop()) {
		if (!ornic_engine_poll(soft->engine, POLL_BUDGET))
			cpu_relax();
		cond_resched();
	}
	return 0;
}

static int poll_start(struct ornic_soft *soft)
{
	struct task_struct *task;

	if (soft->poll_thread)
		return 0;
	task = kthread_create(poll_loop, soft, "ornic_poll/%d", soft->id);
	if (IS_ERR(task))
		return PTR_ERR(task);
	soft->poll_thread = task;
	ornic_engine_set_polling(soft->engine, true);
	wake_up_process(task);
	return 0;
}

static void poll_stop(struct ornic_soft *soft)
{
	if (!soft->poll_thread)
		return;
	kthread_stop(soft->poll_thread);
	soft->poll_thread = NULL;
	ornic_engine_set_polling(soft->engine, false);
}

/**
 * ornic_soft_poll_stop - stop the poll thread if there is one
 * @soft: the device
 *
 * Context: Process context; sleeps.
 */
void ornic_soft_poll_stop(struct ornic_soft *soft)
{
	mutex_lock(&soft->poll_lock);
	poll_stop(soft);
	mutex_unlock(&soft->poll_lock);
}

/* ---- sysfs ---------------------------------------------------------------------- */

static struct ornic_soft *to_soft(struct device *dev)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	return container_of(ibdev->dev.parent, struct ornic_soft, dev);
}

static ssize_t poll_thread_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct ornic_soft *soft = to_soft(dev);

	return sysfs_emit(buf, "%d\n", !!READ_ONCE(soft->poll_thread));
}

static ssize_t poll_thread_store(struct device *dev,
				 struct device_attribute *attr, const char *buf,
				 size_t count)
{
	struct ornic_soft *soft = to_soft(dev);
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (err)
		return err;
	mutex_lock(&soft->poll_lock);
	if (on)
		err = poll_start(soft);
	else
		poll_stop(soft);
	mutex_unlock(&soft->poll_lock);
	return err ?: count;
}

static DEVICE_ATTR_RW(poll_thread);

static struct attribute *poll_attrs[] = { &dev_attr_poll_thread.attr, NULL };

const struct attribute_group ornic_soft_poll_group = {
	.attrs = poll_attrs,
};
