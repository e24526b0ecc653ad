/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_UCONTEXT_H
#define ORNIC_UCONTEXT_H

#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_ioctl.h>

struct ornic_kick_set;
struct ornic_mmap_entry;

/**
 * struct ornic_ib_ucontext - an opened device
 * @ibctx: the context as ib_core knows it
 * @kicks: send queues that its doorbell files may kick
 * @page: the doorbell page, if the bus has one
 * @memberships: QPs times multicast groups
 */
struct ornic_ib_ucontext {
	struct ib_ucontext ibctx;
	struct ornic_kick_set *kicks;
	struct ornic_mmap_entry *page;
	atomic_t memberships;
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

struct ornic_alloc_ucontext_resp
ornic_describe_ucontext(const struct ornic_ib_ucontext *context);

#endif /* ORNIC_UCONTEXT_H */
