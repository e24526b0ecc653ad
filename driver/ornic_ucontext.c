// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * User contexts, and the methods that they have beside those of verbs: doorbell
 * files, import into another process.
 */
#include "ornic_ucontext.h"

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#define UVERBS_MODULE_NAME ornic
#include <rdma/uverbs_named_ioctl.h>

#include "compat/compat_ops.h"
#include "ornic_bus.h"
#include "ornic_clock.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_dm.h"
#include "ornic_event.h"
#include "ornic_pd.h"
#include "ornic_queue.h"
#include "ornic_srq.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/* ---- Doorbell files ------------------------------------------------------ */

/*
 * The doorbell file: write() of QPNs kicks send queues of the context.
 *
 * This is the data path of a bus without a doorbell page, so a write takes no
 * lock and no reference: under RCU it goes from the file to the kick set of the
 * context, checks that the QP of that number has its id, and calls the bus.
 *
 *   file --RCU--> kick set -> device --RCU--> QP; device -> bus
 *
 * During a write may end:
 *  - a QP: a kick is a hint, and the device checks the QPN itself;
 *  - the context, by close or disassociation: the file drops the kick set,
 *    which is freed after a grace period;
 *  - the device: dealloc_driver waits for a grace period after the last context
 *    is gone, before it releases the bus.
 */

struct ornic_doorbell {
	struct ib_uobject uobj;
	/* NULL once the context is gone */
	struct ornic_kick_set __rcu *set;
};

static struct ornic_kick_set *kick_set_alloc(struct ornic_ib_dev *dev)
{
	static atomic64_t last_id = ATOMIC64_INIT(0);
	struct ornic_kick_set *set;

	set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
	if (!set)
		return NULL;
	set->dev = dev;
	set->id = atomic64_inc_return(&last_id);
	return set;
}

static void kick_set_free(struct ornic_kick_set *set)
{
	kfree_rcu(set, rcu);
}

static bool may_kick(const struct ornic_kick_set *set, u32 qpn)
{
	struct ornic_ib_dev *dev = set->dev;

	return ornic_event_target_is_of(&dev->qps, qpn, set->id) ||
	       ornic_event_target_is_of(&dev->wqs, qpn, set->id);
}

static int doorbell_kick(struct ornic_doorbell *doorbell, u32 qpn)
{
	struct ornic_kick_set *set;
	struct ornic_bus *bus;
	int ret = 0;

	rcu_read_lock();
	set = rcu_dereference(doorbell->set);
	if (unlikely(!set)) {
		ret = -EIO;
	} else if (likely(may_kick(set, qpn))) {
		bus = set->dev->bus;
		bus->ops->kick(bus, qpn, ORNIC_KICK_HERE);
	} else {
		ret = -ENOENT;
	}
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
			ret = doorbell_kick(doorbell, qpn);
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

/* ---- Contexts ------------------------------------------------------------ */

static struct ornic_alloc_ucontext_resp
fill_resp(const struct ornic_ib_ucontext *context)
{
	const struct ornic_ib_dev *dev = to_odev(context->ibctx.device);
	struct ornic_alloc_ucontext_resp resp = {
		.hw_version = dev->caps.hw_version,
		.kick_mode = dev->bus->kick_mode,
		.max_sge = dev->caps.max_sge,
		.max_inline = dev->caps.max_inline,
		.max_wqe = 1u << dev->caps.log_max_wqe,
		.max_cqe = 1u << dev->caps.log_max_cqe,
		.ece_options = dev->caps.ece_options,
		.null_lkey = dev->caps.caps & ORNIC_CAP_NULL_KEY ?
				     ORNIC_NULL_LKEY :
				     0,
	};

	if (dev->caps.caps & ORNIC_CAP_RATE_LIMIT) {
		resp.rate_limit_min = ORNIC_RATE_LIMIT_MIN;
		resp.rate_limit_max = ORNIC_RATE_LIMIT_MAX;
	}
	if (context->page) {
		resp.kick_mmap = ornic_mmap_offset(context->page);
		resp.kick_offset = dev->bus->kick_offset;
		resp.kick_value = dev->bus->kick_value;
	}
	return resp;
}

static int ucontext_put_response(const struct ornic_ib_ucontext *context,
				 struct ib_udata *udata)
{
	struct ornic_alloc_ucontext_resp resp;

	resp = fill_resp(context);
	return ornic_udata_put(udata, &resp, sizeof(resp));
}

int ornic_ib_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct ornic_ib_ucontext *octx = to_oucontext(context);
	struct ornic_ib_dev *dev = to_odev(context->device);
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	octx->kicks = kick_set_alloc(dev);
	if (!octx->kicks)
		return -ENOMEM;
	mutex_init(&octx->resize_lock);

	if (dev->bus->kick_mode == ORNIC_KICK_PAGE) {
		const struct ornic_io_mem io = {
			.pfn = dev->bus->kick_pfn,
			.bytes = PAGE_SIZE,
		};

		octx->page = ornic_mmap_add_io(context, &io, NULL);
		if (IS_ERR(octx->page)) {
			ret = PTR_ERR(octx->page);
			goto err_free_kicks;
		}
	}
	ret = ucontext_put_response(octx, udata);
	if (ret)
		goto err_remove_page;
	return 0;

err_remove_page:
	ornic_mmap_remove(octx->page);
err_free_kicks:
	mutex_destroy(&octx->resize_lock);
	kick_set_free(octx->kicks);
	return ret;
}

void ornic_ib_dealloc_ucontext(struct ib_ucontext *context)
{
	struct ornic_ib_ucontext *octx = to_oucontext(context);

	ornic_mmap_remove(octx->page);
	mutex_destroy(&octx->resize_lock);
	kick_set_free(octx->kicks);
}

/*
 * That it exists allows the device to go while users have it open. ib_core has
 * destroyed all objects by now and zapped the doorbell page; mapped queue
 * memory belongs to its mappings, and doorbell files have dropped their kick
 * set.
 */
void ornic_ib_disassociate_ucontext(struct ib_ucontext *context)
{
}

/* ---- Import -------------------------------------------------------------- */

/*
 * Import of an open context into another process, which has received its file
 * descriptor and the numbers of PDs and MRs in a message. QUERY_CONTEXT returns
 * what alloc_ucontext returned to the first process; PD_QUERY finds out whether
 * a PD exists. ib_core handles MRs.
 */

int ornic_ib_query_ucontext(struct ib_ucontext *context,
			    struct uverbs_attr_bundle *attrs)
{
	struct ornic_alloc_ucontext_resp resp =
		fill_resp(to_oucontext(context));
	const size_t id = ORNIC_ATTR_QUERY_CONTEXT_RESP;

	return uverbs_copy_to_struct_or_zero(attrs, id, &resp, sizeof(resp));
}

static int
UVERBS_HANDLER(ORNIC_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	const struct ib_pd *pd =
		uverbs_attr_get_obj(attrs, ORNIC_ATTR_PD_QUERY_HANDLE);
	struct ornic_alloc_pd_resp resp = {};

	resp.pdn = container_of(pd, struct ornic_ib_pd, ibpd)->pdn;
	return uverbs_copy_to_struct_or_zero(attrs, ORNIC_ATTR_PD_QUERY_RESP,
					     &resp, sizeof(resp));
}

/* clang-format off */
#define CONTEXT_RESP \
	UVERBS_ATTR_STRUCT(struct ornic_alloc_ucontext_resp, max_cqe)
#define PD_RESP UVERBS_ATTR_STRUCT(struct ornic_alloc_pd_resp, pdn)

ADD_UVERBS_ATTRIBUTES_SIMPLE(ornic_query_context, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_QUERY_CONTEXT_RESP,
						 CONTEXT_RESP, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(ORNIC_ATTR_PD_QUERY_HANDLE,
					    UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_PD_QUERY_RESP,
						PD_RESP, UA_MANDATORY));

ADD_UVERBS_METHODS(ornic_pd_query, UVERBS_OBJECT_PD,
		   &UVERBS_METHOD(ORNIC_METHOD_PD_QUERY));
/* clang-format on */

const struct uapi_definition ornic_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(ORNIC_OBJECT_DOORBELL),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &ornic_query_context),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &ornic_pd_query),
	UAPI_DEF_CHAIN(ornic_clock_defs),
	UAPI_DEF_CHAIN(ornic_srq_defs),
	UAPI_DEF_CHAIN(ornic_dm_defs),
	UAPI_DEF_CHAIN(ornic_comp_cntr_defs),
	{}
};
