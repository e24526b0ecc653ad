/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_UCONTEXT_H
#define ORNIC_UCONTEXT_H

#include <linux/types.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_ioctl.h>

struct ornic_bus;
struct ornic_mmap_entry;

struct ornic_ib_ucontext {
	struct ib_ucontext ibctx;
	/* Send queues that its doorbell files may kick */
	struct ornic_kick_set *kicks;
	/* The doorbell page, if the bus has one */
	struct ornic_mmap_entry *page;
	atomic_t memberships; /* QPs times multicast groups */
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

/* The send queues that a context may kick. */
struct ornic_kick_set {
	struct ornic_bus *bus;
	struct xarray qpns; /* a value entry for each QPN */
	struct rcu_head rcu;
};

int ornic_kick_set_add(struct ornic_kick_set *set, u32 qpn);
void ornic_kick_set_del(struct ornic_kick_set *set, u32 qpn);

extern const struct uapi_definition ornic_uapi_defs[];

#endif /* ORNIC_UCONTEXT_H */
