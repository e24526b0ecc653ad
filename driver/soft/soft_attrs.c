// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What can be tuned while a soft device runs, in the ib_device's sysfs folder
 * (a link message has no room for options):
 *
 *	poll_thread	look at the send queues in a thread, see soft_poll.c
 *	lookout_us	look at queues that are posted to all the time from a CPU
 *			that has nothing else to do, until there was nothing
 *			new for that long; 0: never. See soft_lookout.c
 *	loopback	QPs of this device need no packets between them. With 0,
 *			those that connect from then on send packets, for a
 *			switch that reflects them, such as a port of a bridge
 *			with "hairpin on": so tests of one device test the wire.
 */
#include "soft_attrs.h"

#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

#include "engine/engine.h"
#include "soft_dev.h"
#include "soft_poll.h"

static struct ornic_soft *to_soft(struct device *dev)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(dev);

	return container_of(ibdev->dev.parent, struct ornic_soft, dev);
}

static ssize_t poll_thread_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", !!READ_ONCE(to_soft(dev)->poll_thread));
}

static ssize_t poll_thread_store(struct device *dev,
				 struct device_attribute *attr, const char *buf,
				 size_t count)
{
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (!err)
		err = ornic_soft_poll_set(to_soft(dev), on);
	return err ?: count;
}

static DEVICE_ATTR_RW(poll_thread);

static ssize_t lookout_us_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(to_soft(dev)->lookout.patience_us));
}

static ssize_t lookout_us_store(struct device *dev,
				struct device_attribute *attr, const char *buf,
				size_t count)
{
	u16 us;
	int err;

	err = kstrtou16(buf, 0, &us);
	if (!err)
		WRITE_ONCE(to_soft(dev)->lookout.patience_us, us);
	return err ?: count;
}

static DEVICE_ATTR_RW(lookout_us);

static ssize_t loopback_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%d\n",
			  ornic_engine_loopback(to_soft(dev)->engine));
}

static ssize_t loopback_store(struct device *dev, struct device_attribute *attr,
			      const char *buf, size_t count)
{
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (!err)
		ornic_engine_set_loopback(to_soft(dev)->engine, on);
	return err ?: count;
}

static DEVICE_ATTR_RW(loopback);

static struct attribute *attrs[] = {
	&dev_attr_poll_thread.attr,
	&dev_attr_lookout_us.attr,
	&dev_attr_loopback.attr,
	NULL,
};

const struct attribute_group ornic_soft_attr_group = {
	.attrs = attrs,
};
