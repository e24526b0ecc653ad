// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The frame of a call into the engine (struct ornic_ctx), the GID table and
 * paths.
 *
 * Invariant: what is looked up inside a call stays until ornic_ctx_end(), and
 * events leave the engine only there, when no lock is held.
 */
#include "dev.h"
#include "qp.h"

/* ---- One call into the engine ---------------------------------------------- */

void ornic_ctx_begin(struct ornic_ctx *ctx, struct ornic_dev *dev, u32 budget)
	__acquires(RCU)
{
	ctx->dev = dev;
	ctx->direct = NULL;
	ctx->now = dev->ops->now(dev->host);
	ctx->budget = budget;
	ctx->nevents = 0;
	ornic_rcu_read_lock();
}

/* XRC QPs do not have both CQs. */
static bool is_cq(const struct ornic_cq *cq, u32 cqn)
{
	return cq && cq->cqn == cqn;
}

static bool completes_to(const struct ornic_qp *qp, u32 cqn)
{
	return is_cq(qp->sq.cq, cqn) || is_cq(qp->rq.cq, cqn) ||
	       (qp->tm && is_cq(qp->rq.srq->cq, cqn));
}

/* The QPs of a CQ that has overflowed end, each in a run of its own. */
static void run_users(struct ornic_dev *dev, u32 cqn)
{
	struct ornic_qp *qp;
	u32 i;

	ornic_rcu_read_lock();
	for (i = 0; (qp = ornic_table_next(&dev->qps, &i)); i++) {
		if (completes_to(qp, cqn))
			dev->ops->resched(dev->host, qp->host_qp);
	}
	ornic_rcu_read_unlock();
}

static void deliver(const struct ornic_pending_event *event)
{
	struct ornic_dev *dev = event->dev;
	struct ornic_eqe eqe = {
		.obj = cpu_to_le32(event->obj),
		.type = event->type,
		.vector = event->vector,
	};

	dev->ops->event(dev->host, &eqe);
	if (unlikely(event->type == ORNIC_EVENT_CQ_ERR))
		run_users(dev, event->obj);
}

void ornic_ctx_end(struct ornic_ctx *ctx) __releases(RCU)
{
	u32 i;

	for (i = 0; i < ctx->nevents; i++) {
		if (unlikely(ctx->event[i].dev != ctx->dev))
			deliver(&ctx->event[i]);
	}
	ornic_rcu_read_unlock();
	for (i = 0; i < ctx->nevents; i++) {
		if (likely(ctx->event[i].dev == ctx->dev))
			deliver(&ctx->event[i]);
	}
}

void ornic_ctx_event(struct ornic_ctx *ctx, enum ornic_eqe_type type, u32 obj,
		     u8 vector)
{
	const struct ornic_pending_event *old;
	u32 i;

	for (i = ctx->nevents; i-- > 0;) {
		old = &ctx->event[i];
		if (old->obj == obj && old->type == type &&
		    old->vector == vector && old->dev == ctx->dev)
			return;
	}
	if (ctx->nevents == ORNIC_CTX_EVENTS) {
		ornic_pr_debug("event %u of object %u is lost\n", type, obj);
		return;
	}
	ctx->event[ctx->nevents++] = (struct ornic_pending_event){
		.dev = ctx->dev,
		.obj = obj,
		.type = (u8)type,
		.vector = vector,
	};
}

void ornic_dev_resched_all(struct ornic_dev *dev)
{
	struct ornic_qp *qp;
	u32 i;

	ornic_rcu_read_lock();
	for (i = 0; (qp = ornic_table_next(&dev->qps, &i)); i++)
		dev->ops->resched(dev->host, qp->host_qp);
	ornic_rcu_read_unlock();
}

/* ---- The GID table ----------------------------------------------------------- */

static bool gid_is_set(const struct ornic_gid *entry, const u8 *gid, u16 vlan,
		       bool v1)
{
	return entry->valid && entry->vlan == vlan && entry->v1 == v1 &&
	       !memcmp(entry->gid, gid, sizeof(entry->gid));
}

/* Index of @gid on @vlan, of that version; dev->ngids if there is none. */
static u32 gid_find(struct ornic_dev *dev, const u8 *gid, u16 vlan, bool v1)
{
	u32 i;

	ornic_lock_held(&dev->gid_lock);
	for (i = 0; i < dev->ngids; i++) {
		if (gid_is_set(&dev->gid[i], gid, vlan, v1))
			break;
	}
	return i;
}

static bool gid_is_legal(const struct ornic_dev *dev,
			 const struct ornic_req_set_gid *req)
{
	static const u8 zero[16];
	u32 vlan = le16_to_cpu(req->vlan);

	return memcmp(req->gid, zero, sizeof(zero)) != 0 &&
	       !ornic_gid_is_multicast(req->gid) && !(req->smac[0] & 1) &&
	       req->type <=
		       (dev->roce_v1 ? ORNIC_GID_ROCE_V1 : ORNIC_GID_ROCE_V2) &&
	       (vlan < 4095 || vlan == ORNIC_VLAN_NONE);
}

int ornic_gid_set(struct ornic_dev *dev, const struct ornic_req_set_gid *req)
{
	u32 index = le32_to_cpu(req->hdr.obj);
	struct ornic_gid entry = { 0 };

	if (index >= ORNIC_GID_TABLE_LEN || req->valid > 1 ||
	    (req->valid && !gid_is_legal(dev, req)))
		return ORNIC_BAD_PARAM;
	if (req->valid) {
		memcpy(entry.gid, req->gid, sizeof(entry.gid));
		memcpy(entry.smac, req->smac, sizeof(entry.smac));
		entry.vlan = le16_to_cpu(req->vlan);
		entry.valid = true;
		entry.v1 = req->type == ORNIC_GID_ROCE_V1;
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

bool ornic_gid_is_local(struct ornic_dev *dev, const u8 *gid, u16 vlan, bool v1)
{
	bool found;

	ornic_lock(&dev->gid_lock);
	found = gid_find(dev, gid, vlan, v1) < dev->ngids;
	ornic_unlock(&dev->gid_lock);
	return found;
}

bool ornic_rx_is_astray(struct ornic_dev *dev, const struct ornic_rx *rx)
{
	const u8 *dgid = (const u8 *)rx->ip + 24;

	if (likely(!ornic_ip_is_grh(rx->ip, rx->ipv6)))
		return false;
	if (ornic_gid_is_multicast(dgid))
		return !dev->roce_v1;
	return !ornic_gid_is_local(dev, dgid, rx->vlan, true);
}

u8 ornic_gid_index(struct ornic_dev *dev, const u8 *gid, u16 vlan, bool v1)
{
	u32 index;

	ornic_lock(&dev->gid_lock);
	index = gid_find(dev, gid, vlan, v1);
	if (index == dev->ngids)
		index = 0;
	ornic_unlock(&dev->gid_lock);
	return (u8)index;
}

noinline u8 ornic_rx_gid_index(struct ornic_dev *dev, const struct ornic_rx *rx)
{
	u8 gid[16];

	ornic_rx_dgid(rx, gid);
	return ornic_gid_index(dev, gid, rx->vlan,
			       ornic_ip_is_grh(rx->ip, rx->ipv6));
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

	return there && ornic_gid_is_local(there, path->dgid, vlan, path->v1);
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
		     ornic_gid_is_local(dev, av->dgid, src.vlan, src.v1);
	if (!path->loop && is_peer_path(dev, path, src.vlan)) {
		path->peer_engine = true;
		path->loop = true;
	}
	return 0;
}
