/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_EVENT_H
#define ORNIC_EVENT_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct xarray;

/**
 * struct ornic_sink - where events of one CQ or QP go
 * @ref: one of the object, one of each handler that runs
 * @idle: completed with the last reference
 * @num: CQN or QPN
 * @obj: struct ib_cq or struct ib_qp, valid while a reference is held
 * @rcu: frees it after the last lookup
 */
struct ornic_sink {
	refcount_t ref;
	struct completion idle;
	u32 num;
	void *obj;
	struct rcu_head rcu;
};

struct ornic_sink *ornic_sink_open(struct xarray *table, u32 num, void *obj);
int ornic_sink_reopen(struct xarray *table, struct ornic_sink *sink);
void ornic_sink_close(struct xarray *table, struct ornic_sink *sink);
void ornic_sink_free(struct ornic_sink *sink);

#endif /* ORNIC_EVENT_H */
