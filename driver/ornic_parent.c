// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ornic_parent.h"

#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "compat/compat_device.h"
#include "ornic_bus.h"

#define MODALIAS "ornic:soft"

/* How often a parent without a device is asked whether it has children. */
#define CHILDREN_PERIOD HZ

struct ornic_parent {
	struct device dev;
	u64 dma_mask; /* of @dev */
	struct device_dma_parameters dma_parms; /* of @dev */
	int id; /* number in its name */
	bool had_children; /* when @del_work looked last */
	struct delayed_work del_work;
};

static DEFINE_IDA(ids);
static struct device *root;

static int bus_uevent(ORNIC_UEVENT_MAY_BE(const) struct device *dev,
		      struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "MODALIAS=%s", MODALIAS);
}

static ORNIC_BUS_MAY_BE(const) struct bus_type parent_bus_type = {
	.name = "ornic",
	.uevent = bus_uevent,
};

static ssize_t modalias_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%s\n", MODALIAS);
}

static DEVICE_ATTR_RO(modalias);

static struct attribute *parent_attrs[] = { &dev_attr_modalias.attr, NULL };

ATTRIBUTE_GROUPS(parent);

static void parent_release(struct device *dev)
{
	struct ornic_parent *parent =
		container_of(dev, struct ornic_parent, dev);

	ida_free(&ids, parent->id);
	kfree(parent);
	/* ornic_parent_exit() waits for the rest of this function. */
	module_put(THIS_MODULE);
}

static int is_child(struct device *dev, void *unused)
{
	return 1;
}

static void del_work(struct work_struct *work)
{
	struct ornic_parent *parent = container_of(
		to_delayed_work(work), struct ornic_parent, del_work);
	bool had_children = parent->had_children;

	/* A child is in no list any more while it is being deleted. */
	parent->had_children =
		device_for_each_child(&parent->dev, NULL, is_child);
	if (parent->had_children || had_children)
		schedule_delayed_work(&parent->del_work, CHILDREN_PERIOD);
	else
		device_unregister(&parent->dev);
}

/*
 * It has no DMA of its own. But dma-bufs are mapped for it, and what the CPU copies is
 * coherent with what it sees.
 */
static void init_dma(struct ornic_parent *parent)
{
	struct device *dev = &parent->dev;

	parent->dma_mask = DMA_BIT_MASK(64);
	dev->dma_mask = &parent->dma_mask;
	dev->coherent_dma_mask = parent->dma_mask;
	dev->dma_parms = &parent->dma_parms;
	dma_set_max_seg_size(dev, UINT_MAX);
#ifdef CONFIG_ARCH_HAS_SYNC_DMA_FOR_DEVICE
	dev_set_dma_coherent(dev);
#endif
}

struct device *ornic_parent_add(void)
{
	struct ornic_parent *parent;
	int err;

	parent = kzalloc(sizeof(*parent), GFP_KERNEL);
	if (!parent)
		return ERR_PTR(-ENOMEM);
	parent->id = ida_alloc(&ids, GFP_KERNEL);
	if (parent->id < 0) {
		err = parent->id;
		kfree(parent);
		return ERR_PTR(err);
	}
	__module_get(THIS_MODULE);
	INIT_DELAYED_WORK(&parent->del_work, del_work);
	parent->dev.bus = &parent_bus_type;
	parent->dev.parent = root;
	parent->dev.groups = parent_groups;
	parent->dev.release = parent_release;
	device_initialize(&parent->dev);
	init_dma(parent);
	err = dev_set_name(&parent->dev, "ornic-soft%d", parent->id);
	if (!err)
		err = device_add(&parent->dev);
	if (err) {
		put_device(&parent->dev);
		return ERR_PTR(err);
	}
	return &parent->dev;
}
EXPORT_SYMBOL_GPL(ornic_parent_add);

void ornic_parent_del(struct device *dev)
{
	struct ornic_parent *parent =
		container_of(dev, struct ornic_parent, dev);

	del_work(&parent->del_work.work);
}
EXPORT_SYMBOL_GPL(ornic_parent_del);

int ornic_parent_init(void)
{
	int err;

	err = bus_register(&parent_bus_type);
	if (err)
		return err;
	root = root_device_register("ornic");
	if (!IS_ERR(root))
		return 0;
	bus_unregister(&parent_bus_type);
	return PTR_ERR(root);
}

/*
 * There are no parents. A task that was preempted at the end of parent_release(), or of
 * what has called it, has not slept since: Tasks RCU waits for it.
 */
void ornic_parent_exit(void)
{
	synchronize_rcu_tasks();
	root_device_unregister(root);
	bus_unregister(&parent_bus_type);
	ida_destroy(&ids);
}
