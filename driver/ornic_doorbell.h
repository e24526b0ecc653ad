/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DOORBELL_H
#define ORNIC_DOORBELL_H

#include <linux/types.h>
#include <linux/xarray.h>
#include <rdma/uverbs_ioctl.h>

struct ornic_bus;

/**
 * struct ornic_kick_set - the send queues that a context may kick
 * @bus: which takes the kicks
 * @qpns: a value entry for each QPN
 * @rcu: frees it after the last reader
 */
struct ornic_kick_set {
	struct ornic_bus *bus;
	struct xarray qpns;
	struct rcu_head rcu;
};

struct ornic_kick_set *ornic_kick_set_alloc(struct ornic_bus *bus);
void ornic_kick_set_free(struct ornic_kick_set *set);
int ornic_kick_set_add(struct ornic_kick_set *set, u32 qpn);
void ornic_kick_set_del(struct ornic_kick_set *set, u32 qpn);

extern const struct uapi_definition ornic_uapi_defs[];

#endif /* ORNIC_DOORBELL_H */
