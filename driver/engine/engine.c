// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The engine as its host sees it: creation and destruction, modes, counters.
 */
#include "comp_cntr.h"
#include "cq.h"
#include "dev.h"
#include "mkey.h"
#include "mw.h"
#include "proto.h"
#include "srq.h"

/* One copy of the sizes and offsets for the engine. */
#include <rdma/ornic-layout.h>

#define MIN_ROCE_MTU 256

ORNIC_DEFINE_TRACE;

/* ---- Creation and destruction ------------------------------------------------ */

/* QPN 0 and 1 are special on the wire (IBTA 3.5.3): QPNs start above them. */
static int tables_init(struct ornic_dev *dev)
{
	if (ornic_table_init_random(&dev->qps, ORNIC_LOG_MAX_QP,
				    ORNIC_RESERVED_QPNS) ||
	    ornic_table_init(&dev->cqs, ORNIC_LOG_MAX_CQ, 1) ||
	    ornic_table_init(&dev->mkeys, ORNIC_LOG_MAX_MKEY, 1) ||
	    ornic_table_init(&dev->ahs, ORNIC_LOG_MAX_AH, 1) ||
	    ornic_table_init_random(&dev->srqs, ORNIC_LOG_MAX_SRQ, 1) ||
	    ornic_table_init(&dev->csets, ORNIC_LOG_MAX_COUNTERS, 1) ||
	    ornic_table_init(&dev->comp_cntrs, ORNIC_LOG_MAX_COMP_CNTR, 1) ||
	    ornic_flows_init(&dev->flows))
		return -ENOMEM;
	return 0;
}

static void tables_fini(struct ornic_dev *dev)
{
	ornic_flows_fini(&dev->flows);
	ornic_table_fini(&dev->comp_cntrs);
	ornic_table_fini(&dev->csets);
	ornic_table_fini(&dev->srqs);
	ornic_table_fini(&dev->ahs);
	ornic_table_fini(&dev->mkeys);
	ornic_table_fini(&dev->cqs);
	ornic_table_fini(&dev->qps);
}

struct ornic_engine *ornic_engine_create(const struct ornic_engine_ops *ops,
					 void *host, const u8 mac[6])
{
	struct ornic_engine *eng = ornic_zalloc(sizeof(*eng));
	struct ornic_dev *dev;

	if (!eng)
		return NULL;
	dev = &eng->dev;
	dev->ops = ops;
	dev->host = host;
	dev->mtu = MIN_ROCE_MTU;
	ornic_cc_init(dev);
	ornic_spare_init(dev);
	dev->peer_key.key[0] = ornic_random64(dev);
	dev->peer_key.key[1] = ornic_random64(dev);
	memcpy(dev->mac, mac, sizeof(dev->mac));
	ornic_lock_init(&dev->gid_lock);
	ornic_lock_init(&dev->mcast.lock);
	ornic_pkey_init(dev);
	dev->sink = ornic_zalloc(ORNIC_NULL_PIECE);
	if (!dev->sink)
		goto err_free;
	if (ornic_counters_alloc(&dev->stats, ORNIC_STAT_COUNT))
		goto err_free_sink;
	if (tables_init(dev))
		goto err_free_tables;
	return eng;

err_free_tables:
	tables_fini(dev);
	ornic_counters_free(&dev->stats);
err_free_sink:
	ornic_free(dev->sink);
err_free:
	ornic_free(eng);
	return NULL;
}

/* Number of the first object at or above @from, or the table's size. */
static u32 first_object(struct ornic_table *t, u32 from)
{
	ornic_rcu_read_lock();
	ornic_table_next(t, &from);
	ornic_rcu_read_unlock();
	return from;
}

/* The windows, or else what they are bound to. */
static void destroy_keys(struct ornic_dev *dev, bool windows)
{
	struct ornic_mkey *m;
	bool is_window;
	u32 i, key;

	for (i = first_object(&dev->mkeys, 0); i < dev->mkeys.size;
	     i = first_object(&dev->mkeys, i + 1)) {
		ornic_rcu_read_lock();
		m = ornic_table_lookup(&dev->mkeys, i);
		key = m ? m->key : 0;
		is_window = m && m->window;
		ornic_rcu_read_unlock();
		if (is_window && windows)
			ornic_mw_destroy(dev, key);
		else if (!is_window && !windows)
			ornic_mkey_destroy(dev, key);
		ornic_relax(dev);
	}
}

static void destroy_all(struct ornic_dev *dev, struct ornic_table *t,
			int (*destroy)(struct ornic_dev *dev, u32 number))
{
	u32 i;

	for (i = first_object(t, 0); i < t->size; i = first_object(t, i + 1)) {
		destroy(dev, i);
		ornic_relax(dev);
	}
}

void ornic_engine_destroy(struct ornic_engine *eng)
{
	struct ornic_dev *dev = &eng->dev;

	destroy_all(dev, &dev->flows.numbers, ornic_flow_destroy);
	destroy_all(dev, &dev->qps, ornic_qp_destroy);
	destroy_all(dev, &dev->srqs, ornic_srq_destroy);
	destroy_all(dev, &dev->cqs, ornic_cq_destroy);
	destroy_all(dev, &dev->ahs, ornic_ah_destroy);
	destroy_all(dev, &dev->csets, ornic_counters_destroy);
	destroy_all(dev, &dev->comp_cntrs, ornic_comp_cntr_destroy);
	destroy_keys(dev, true);
	destroy_keys(dev, false);
	tables_fini(dev);
	ornic_counters_free(&dev->stats);
	ornic_free(dev->sink);
	ornic_free(eng);
}

/* ---- Modes and counters ------------------------------------------------------- */

void ornic_engine_set_polling(struct ornic_engine *eng, bool polling)
{
	WRITE_ONCE(eng->dev.polling, polling);
	/* Pairs with the one between kick_wanted and producer in a run. */
	smp_mb();
	ornic_dev_resched_all(&eng->dev);
}

void ornic_engine_set_loopback(struct ornic_engine *eng, bool loopback)
{
	WRITE_ONCE(eng->dev.wire_only, !loopback);
}

bool ornic_engine_loopback(const struct ornic_engine *eng)
{
	return !READ_ONCE(eng->dev.wire_only);
}

void ornic_engine_set_direct(struct ornic_engine *eng, bool on)
{
	WRITE_ONCE(eng->dev.direct, on);
}

void ornic_engine_set_roce_v1(struct ornic_engine *eng, bool on)
{
	eng->dev.roce_v1 = on;
}

u64 ornic_engine_stat(struct ornic_engine *eng, enum ornic_stat stat)
{
	if ((u32)stat >= ORNIC_STAT_COUNT)
		return 0;
	return ornic_counters_sum(&eng->dev.stats, stat);
}

void ornic_engine_count_malformed(struct ornic_engine *eng)
{
	ornic_stat_inc(&eng->dev, ORNIC_STAT_RX_MALFORMED);
}

void ornic_engine_count_kick(struct ornic_engine *eng)
{
	ornic_stat_inc(&eng->dev, ORNIC_STAT_KICKS);
}

bool ornic_engine_port_up(const struct ornic_engine *eng)
{
	return READ_ONCE(eng->dev.up);
}

u32 ornic_engine_netdev_mtu(const struct ornic_engine *eng)
{
	return READ_ONCE(eng->dev.netdev_mtu);
}

void ornic_engine_count_objects(const struct ornic_engine *eng,
				struct ornic_engine_counts *counts)
{
	counts->qps = READ_ONCE(eng->dev.qps.count);
	counts->cqs = READ_ONCE(eng->dev.cqs.count);
	counts->mkeys = READ_ONCE(eng->dev.mkeys.count);
	counts->flows = READ_ONCE(eng->dev.flows.numbers.count);
}

bool ornic_engine_has_cq(struct ornic_engine *eng, u32 cqn)
{
	struct ornic_cq *cq = ornic_cq_get(&eng->dev, cqn);

	ornic_cq_put(cq);
	return cq;
}

int ornic_engine_pages_get(struct ornic_engine *eng,
			   const struct ornic_mem *mem,
			   struct ornic_pages *pages)
{
	return ornic_pages_get(&eng->dev, mem, pages);
}
