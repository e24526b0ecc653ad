/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_UCONTEXT_H
#define ORNIC_UCONTEXT_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_ioctl.h>

struct ornic_ib_dev;
struct ornic_mmap_entry;

struct ornic_ib_ucontext {
	struct ib_ucontext ibctx;
	/* Its QPs and WQs, which its doorbell files may kick */
	struct ornic_kick_set *kicks;
	/* The doorbell page, if the bus has one */
	struct ornic_mmap_entry *page;
	atomic_t memberships; /* QPs times multicast groups */
	struct mutex resize_lock; /* one of its CQs is resized at a time */
};

static inline struct ornic_ib_ucontext *
to_oucontext(struct ib_ucontext *context)
{
	return container_of(context, struct ornic_ib_ucontext, ibctx);
}

/* The context that calls a verb; @udata is not NULL. */
static inline struct ornic_ib_ucontext *
ornic_udata_context(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct ornic_ib_ucontext,
					 ibctx);
}

/* What the doorbell files of a context may kick: QPs and WQs that have its id */
struct ornic_kick_set {
	struct ornic_ib_dev *dev;
	u64 id; /* ornic_event_target::kicker; never used again */
	struct rcu_head rcu;
};

extern const struct uapi_definition ornic_uapi_defs[];

#endif /* ORNIC_UCONTEXT_H */
