// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The device itself: birth and death, GID table, statistics, and the frame of
 * a call into the engine (struct ornic_ctx).
 *
 * Invariant: whatever is looked up inside a call stays until ornic_ctx_end,
 * and events leave the engine only there, when no lock is held.
 */
#include "cq.h"
#include "dev.h"
#include "mem.h"
#include "mw.h"
#include "qp.h"
#include "srq.h"

/* One copy of the sizes and offsets for the engine. */
#include <rdma/ornic-layout.h>

#define MIN_ROCE_MTU 256

ORNIC_DEFINE_TRACE;

/* ---- Birth and death ------------------------------------------------------- */

/*
 * Numbers that go onto the wire: the first is any, so that one device does not
 * tell those of another.
 */
static void start_anywhere(struct ornic_dev *dev, struct ornic_table *t)
{
	u32 random = dev->ops->random(dev->host);

	t->next = t->first + random % (t->size - t->first);
}

/* QPN 0 and 1 are special on the wire (IBTA 3.5.3): QPNs start above them. */
static int tables_init(struct ornic_dev *dev)
{
	if (ornic_table_init(&dev->qps, ORNIC_LOG_MAX_QP,
			     ORNIC_RESERVED_QPNS) ||
	    ornic_table_init(&dev->cqs, ORNIC_LOG_MAX_CQ, 1) ||
	    ornic_table_init(&dev->mkeys, ORNIC_LOG_MAX_MKEY, 1) ||
	    ornic_table_init(&dev->ahs, ORNIC_LOG_MAX_AH, 1) ||
	    ornic_table_init(&dev->srqs, ORNIC_LOG_MAX_SRQ, 1) ||
	    ornic_table_init(&dev->csets, ORNIC_LOG_MAX_COUNTERS, 1))
		return -ENOMEM;
	start_anywhere(dev, &dev->qps);
	start_anywhere(dev, &dev->srqs);
	return 0;
}

static void tables_fini(struct ornic_dev *dev)
{
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
	memcpy(dev->mac, mac, sizeof(dev->mac));
	ornic_lock_init(&dev->gid_lock);
	ornic_lock_init(&dev->mcast.lock);
	if (ornic_counters_alloc(&dev->stats, ORNIC_STAT_COUNT))
		goto err_free;
	if (tables_init(dev))
		goto err_free_tables;
	return eng;

err_free_tables:
	tables_fini(dev);
	ornic_counters_free(&dev->stats);
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

	destroy_all(dev, &dev->qps, ornic_qp_destroy);
	destroy_all(dev, &dev->srqs, ornic_srq_destroy);
	destroy_all(dev, &dev->cqs, ornic_cq_destroy);
	destroy_all(dev, &dev->ahs, ornic_ah_destroy);
	destroy_all(dev, &dev->csets, ornic_counters_destroy);
	destroy_keys(dev, true);
	destroy_keys(dev, false);
	tables_fini(dev);
	ornic_counters_free(&dev->stats);
	ornic_free(eng);
}

/* ---- One call into the engine ---------------------------------------------- */

void ornic_ctx_enter(struct ornic_ctx *ctx, struct ornic_dev *dev, u32 budget)
{
	ctx->dev = dev;
	ctx->now = dev->ops->now(dev->host);
	ctx->budget = budget;
	ctx->nevents = 0;
}

void ornic_ctx_begin(struct ornic_ctx *ctx, struct ornic_dev *dev, u32 budget)
	__acquires(RCU)
{
	ornic_ctx_enter(ctx, dev, budget);
	ornic_rcu_read_lock();
}

/* XRC QPs do not have both CQs. */
static bool completes_to(const struct ornic_cq *cq, u32 cqn)
{
	return cq && cq->cqn == cqn;
}

/* The QPs of a CQ that has overflowed end, each in a run of its own. */
static void run_users(struct ornic_dev *dev, u32 cqn)
{
	struct ornic_qp *qp;
	u32 i;

	ornic_rcu_read_lock();
	for (i = 0; (qp = ornic_table_next(&dev->qps, &i)); i++) {
		if (completes_to(qp->sq.cq, cqn) ||
		    completes_to(qp->rq.cq, cqn))
			dev->ops->resched(dev->host, qp->host_qp);
	}
	ornic_rcu_read_unlock();
}

void ornic_ctx_leave(struct ornic_ctx *ctx)
{
	struct ornic_dev *dev = ctx->dev;
	const struct ornic_eqe *eqe;
	u32 i;

	for (i = 0; i < ctx->nevents; i++) {
		eqe = &ctx->event[i];
		dev->ops->event(dev->host, eqe);
		if (unlikely(eqe->type == ORNIC_EVENT_CQ_ERR))
			run_users(dev, le32_to_cpu(eqe->obj));
	}
}

void ornic_ctx_end(struct ornic_ctx *ctx) __releases(RCU)
{
	ornic_rcu_read_unlock();
	ornic_ctx_leave(ctx);
}

void ornic_ctx_event(struct ornic_ctx *ctx, enum ornic_eqe_type type, u32 obj,
		     u8 vector)
{
	struct ornic_eqe eqe = {
		.obj = cpu_to_le32(obj),
		.type = (u8)type,
		.vector = vector,
	};
	u32 i;

	for (i = ctx->nevents; i-- > 0;) {
		if (!memcmp(&ctx->event[i], &eqe, sizeof(eqe)))
			return;
	}
	if (ctx->nevents < ORNIC_CTX_EVENTS)
		ctx->event[ctx->nevents++] = eqe;
	else
		ornic_pr_debug("event %u of object %u is lost\n", type, obj);
}

/* ---- Modes ------------------------------------------------------------------ */

void ornic_dev_resched_all(struct ornic_dev *dev)
{
	struct ornic_qp *qp;
	u32 i;

	ornic_rcu_read_lock();
	for (i = 0; (qp = ornic_table_next(&dev->qps, &i)); i++)
		dev->ops->resched(dev->host, qp->host_qp);
	ornic_rcu_read_unlock();
}

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

/* ---- Statistics -------------------------------------------------------------- */

u64 ornic_engine_stat(struct ornic_engine *eng, enum ornic_stat stat)
{
	if ((u32)stat >= ORNIC_STAT_COUNT)
		return 0;
	return ornic_counters_sum(&eng->dev.stats, stat);
}

/* ---- The GID table ----------------------------------------------------------- */

static bool gid_is_set(const struct ornic_gid *entry, const u8 *gid, u16 vlan)
{
	return entry->valid && entry->vlan == vlan &&
	       !memcmp(entry->gid, gid, sizeof(entry->gid));
}

/* Index of @gid on @vlan, dev->ngids if there is none. */
static u32 gid_find(struct ornic_dev *dev, const u8 *gid, u16 vlan)
{
	u32 i;

	ornic_lock_held(&dev->gid_lock);
	for (i = 0; i < dev->ngids; i++) {
		if (gid_is_set(&dev->gid[i], gid, vlan))
			break;
	}
	return i;
}

static bool gid_is_legal(const struct ornic_req_set_gid *req)
{
	static const u8 zero[16];
	u32 vlan = le16_to_cpu(req->vlan);

	return memcmp(req->gid, zero, sizeof(zero)) != 0 &&
	       !ornic_gid_is_multicast(req->gid) && !(req->smac[0] & 1) &&
	       (vlan < 4095 || vlan == ORNIC_VLAN_NONE);
}

int ornic_gid_set(struct ornic_dev *dev, const struct ornic_req_set_gid *req)
{
	u32 index = le32_to_cpu(req->hdr.obj);
	struct ornic_gid entry = { 0 };

	if (index >= ORNIC_GID_TABLE_LEN || req->valid > 1 ||
	    (req->valid && !gid_is_legal(req)))
		return ORNIC_BAD_PARAM;
	if (req->valid) {
		memcpy(entry.gid, req->gid, sizeof(entry.gid));
		memcpy(entry.smac, req->smac, sizeof(entry.smac));
		entry.vlan = le16_to_cpu(req->vlan);
		entry.valid = true;
	}
	ornic_lock(&dev->gid_lock);
	dev->gid[index] = entry;
	if (index >= dev->ngids)
		dev->ngids = index + 1;
	while (dev->ngids && !dev->gid[dev->ngids - 1].valid)
		dev->ngids--;
	ornic_unlock(&dev->gid_lock);
	return ORNIC_OK;
}

bool ornic_gid_is_local(struct ornic_dev *dev, const u8 *gid, u16 vlan)
{
	bool found;

	ornic_lock(&dev->gid_lock);
	found = gid_find(dev, gid, vlan) < dev->ngids;
	ornic_unlock(&dev->gid_lock);
	return found;
}

u8 ornic_gid_index(struct ornic_dev *dev, const u8 *gid, u16 vlan)
{
	u32 index;

	ornic_lock(&dev->gid_lock);
	index = gid_find(dev, gid, vlan);
	if (index == dev->ngids)
		index = 0;
	ornic_unlock(&dev->gid_lock);
	return (u8)index;
}

void ornic_gid_read(struct ornic_dev *dev, u32 index, struct ornic_gid *gid)
{
	if (index >= ORNIC_GID_TABLE_LEN) {
		memset(gid, 0, sizeof(*gid));
		return;
	}
	index = ornic_index_nospec(index, ORNIC_GID_TABLE_LEN);
	ornic_lock(&dev->gid_lock);
	*gid = dev->gid[index];
	ornic_unlock(&dev->gid_lock);
}

static struct ornic_dev *peer_dev(struct ornic_dev *dev, const u8 *mac)
{
	struct ornic_engine *eng;

	if (!dev->ops->peer_engine)
		return NULL;
	eng = dev->ops->peer_engine(dev->host, mac);
	return eng ? &eng->dev : NULL;
}

/* Is the next hop of @path a peer engine, and the end of the way, too? */
static bool is_peer_path(struct ornic_dev *dev, const struct ornic_path *path,
			 u16 vlan)
{
	struct ornic_dev *there = peer_dev(dev, path->av.dmac);

	return there && ornic_gid_is_local(there, path->dgid, vlan);
}

struct ornic_dev *ornic_path_dev(struct ornic_dev *dev,
				 const struct ornic_path *path)
{
	return path->peer_engine ? peer_dev(dev, path->av.dmac) : dev;
}

int ornic_path_resolve(struct ornic_dev *dev, struct ornic_path *path,
		       const struct ornic_av *av)
{
	struct ornic_gid src;
	int err;

	ornic_gid_read(dev, av->sgid_index, &src);
	err = ornic_path_init(path, &src, av);
	if (err)
		return err;
	path->loop = !READ_ONCE(dev->wire_only) &&
		     ornic_gid_is_local(dev, av->dgid, src.vlan);
	if (!path->loop && is_peer_path(dev, path, src.vlan)) {
		path->peer_engine = true;
		path->loop = true;
	}
	return 0;
}
