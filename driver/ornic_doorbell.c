// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The doorbell file: write() of QPNs kicks send queues of the context.
 *
 * This is the data path of a bus without a doorbell page, so a write takes no
 * lock and no reference: under RCU it goes from the file to the kick set of
 * the context, checks that the QPN is in it, and calls the bus.
 *
 *   file --RCU--> kick set --RCU--> QPN; kick set -> bus
 *
 * What ends while a write runs:
 *  - a QP: a kick is a hint, and the device knows by itself what a QPN is;
 *  - the context, by close or disassociation: the file lets go of the kick
 *    set, which is freed after a grace period;
 *  - the device: dealloc_driver waits for a grace period after the last
 *    context is gone, and only then lets go of the bus.
 */
#include "ornic_doorbell.h"

#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#define UVERBS_MODULE_NAME ornic
#include <rdma/uverbs_named_ioctl.h>

#include "ornic_bus.h"
#include "ornic_clock.h"
#include "ornic_import.h"
#include "ornic_srq.h"
#include "ornic_ucontext.h"

/**
 * struct ornic_doorbell - an open doorbell file
 * @uobj: the file as uverbs knows it
 * @set: what it may kick; NULL once the context is gone
 */
struct ornic_doorbell {
	struct ib_uobject uobj;
	struct ornic_kick_set __rcu *set;
};

/**
 * ornic_kick_set_alloc - make an empty kick set
 * @bus: which takes the kicks
 *
 * Context: process, may sleep.
 * Return: the set, or NULL without memory.
 */
struct ornic_kick_set *ornic_kick_set_alloc(struct ornic_bus *bus)
{
	struct ornic_kick_set *set;

	set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
	if (!set)
		return NULL;
	set->bus = bus;
	xa_init(&set->qpns);
	return set;
}

/**
 * ornic_kick_set_free - free a kick set after its last reader
 * @set: without QPNs, and let go by all doorbell files
 *
 * Context: any.
 */
void ornic_kick_set_free(struct ornic_kick_set *set)
{
	WARN_ON_ONCE(!xa_empty(&set->qpns));
	kfree_rcu(set, rcu);
}

/**
 * ornic_kick_set_add - allow kicks of a QP
 * @set: of the context
 * @qpn: its number
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int ornic_kick_set_add(struct ornic_kick_set *set, u32 qpn)
{
	void *yes = xa_mk_value(1);

	return xa_err(xa_store(&set->qpns, qpn, yes, GFP_KERNEL_ACCOUNT));
}

/**
 * ornic_kick_set_del - allow no further kick of a QP
 * @set: of the context
 * @qpn: its number
 *
 * Context: process. One that has begun may still come.
 */
void ornic_kick_set_del(struct ornic_kick_set *set, u32 qpn)
{
	xa_erase(&set->qpns, qpn);
}

static int kick(struct ornic_doorbell *doorbell, u32 qpn)
{
	struct ornic_kick_set *set;
	int ret = 0;

	rcu_read_lock();
	set = rcu_dereference(doorbell->set);
	if (unlikely(!set))
		ret = -EIO;
	else if (unlikely(!xa_load(&set->qpns, qpn)))
		ret = -ENOENT;
	else
		set->bus->ops->kick(set->bus, qpn, true);
	rcu_read_unlock();
	return ret;
}

static ssize_t doorbell_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	struct ornic_doorbell *doorbell = file->private_data;
	const u32 __user *next = (const u32 __user *)buf;
	size_t done = 0;
	u32 qpn;
	int ret;

	if (len % sizeof(qpn))
		return -EINVAL;

	while (done < len) {
		ret = get_user(qpn, next++);
		if (!ret)
			ret = kick(doorbell, qpn);
		if (ret)
			return done ?: ret;
		done += sizeof(qpn);
		if (done < len) {
			if (signal_pending(current))
				break;
			cond_resched();
		}
	}
	return done;
}

static const struct file_operations doorbell_fops = {
	.owner = THIS_MODULE,
	.write = doorbell_write,
	.release = uverbs_uobject_fd_release,
};

static void doorbell_destroy(struct ib_uobject *uobj,
			     enum rdma_remove_reason why)
{
	struct ornic_doorbell *doorbell =
		container_of(uobj, struct ornic_doorbell, uobj);

	rcu_assign_pointer(doorbell->set, NULL);
}

static struct ib_uobject *new_uobject(struct uverbs_attr_bundle *attrs)
{
	return uverbs_attr_get_uobject(attrs, ORNIC_ATTR_DOORBELL_ALLOC_HANDLE);
}

static int
UVERBS_HANDLER(ORNIC_METHOD_DOORBELL_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = new_uobject(attrs);
	struct ornic_doorbell *doorbell =
		container_of(uobj, struct ornic_doorbell, uobj);
	struct ornic_ib_ucontext *context = to_oucontext(attrs->context);

	/* It has no position; this spares write() the lock for one. */
	stream_open(NULL, uobj->object);
	rcu_assign_pointer(doorbell->set, context->kicks);
	return 0;
}

/* clang-format off */
DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_DOORBELL_ALLOC,
			    UVERBS_ATTR_FD(ORNIC_ATTR_DOORBELL_ALLOC_HANDLE,
					   ORNIC_OBJECT_DOORBELL,
					   UVERBS_ACCESS_NEW,
					   UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(ORNIC_OBJECT_DOORBELL,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct ornic_doorbell),
						 doorbell_destroy,
						 &doorbell_fops,
						 "[ornic_doorbell]",
						 O_WRONLY),
			    &UVERBS_METHOD(ORNIC_METHOD_DOORBELL_ALLOC));
/* clang-format on */

const struct uapi_definition ornic_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(ORNIC_OBJECT_DOORBELL),
	UAPI_DEF_CHAIN(ornic_clock_defs),
	UAPI_DEF_CHAIN(ornic_import_defs),
	UAPI_DEF_CHAIN(ornic_srq_defs),
	{}
};
