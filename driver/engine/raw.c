// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Raw packet QPs: Ethernet frames as programs write them, and those that flow
 * rules (flow.h) give to them.
 *
 * Invariant: in each pass over a WQE its frame is copied from the program's memory
 * once, and what is looked up, delivered and sent is that copy. A pass ends when the
 * budget does or the port refuses the frame. The next one reads memory and rules again,
 * and goes on after as many QPs as have had the frame: if either has changed meanwhile,
 * QPs may get different frames, and one of them none or two.
 */
#include "flow.h"
#include "proto.h"
#include "rss.h"

#define ETH_LEN 14
#define VLAN_LEN 4
#define TAGGED_LEN (ETH_LEN + VLAN_LEN)
/* What arriving frames may do for a queue, as in run.c. */
#define RX_BUDGET (256u << 10)

/* ---- Receiving --------------------------------------------------------------- */

/* No rq; perhaps the sq of the sender. RCU section. */
static void deliver(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_flow_hits *hits,
		    const struct ornic_iov *frame)
{
	struct ornic_rq *rq;
	bool dead;

	if (unlikely(ornic_rcu_dereference(qp->rss))) {
		qp = ornic_rss_pick(qp, &hits->key);
		if (!qp) {
			ornic_stat_inc(ctx->dev, ORNIC_STAT_RX_NO_QP);
			return;
		}
	}
	rq = &qp->rq;
	ornic_lock(&rq->lock);
	if (ornic_qp_can_receive(qp))
		ornic_resp_raw(ctx, qp, frame);
	else
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_NO_QP);
	dead = rq->dead;
	ornic_unlock(&rq->lock);
	if (unlikely(dead))
		ornic_qp_resched(qp);
}

/* Each QP in a call of its own, so that no event is lost. */
static void rx_frame(struct ornic_dev *dev, u32 qpn,
		     const struct ornic_flow_hits *hits,
		     const struct ornic_iov *frame)
{
	struct ornic_ctx ctx __uninitialized;
	struct ornic_qp *qp;

	ornic_ctx_begin(&ctx, dev, RX_BUDGET);
	qp = ornic_qp_lookup(dev, qpn);
	if (qp)
		deliver(&ctx, qp, hits, frame);
	ornic_ctx_end(&ctx);
}

void ornic_engine_find_frame(struct ornic_engine *eng, const u8 *head, u32 len,
			     bool for_host, struct ornic_flow_hits *hits)
{
	ornic_flow_parse(&hits->key.key, head, len);
	ornic_flow_find(&eng->dev, for_host, hits);
}

void ornic_engine_rx_frame(struct ornic_engine *eng,
			   const struct ornic_flow_hits *hits,
			   struct ornic_frag *seg, u32 nsegs)
{
	struct ornic_iov frame = { .frag = seg, .max = nsegs, .n = nsegs };
	u32 i;

	for (i = 0; i < nsegs; i++)
		frame.bytes += seg[i].len;
	for (i = 0; i < hits->n; i++)
		rx_frame(&eng->dev, hits->qpn[i], hits, &frame);
}

static void end_qp(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	ornic_lock(&qp->sq.lock);
	if (qp->state != ORNIC_QPS_RESET && qp->state != ORNIC_QPS_ERR) {
		ornic_ctx_event(ctx, ORNIC_EVENT_QP_FATAL, qp->qpn, 0);
		ornic_qp_error(ctx, qp);
	}
	ornic_unlock(&qp->sq.lock);
}

int ornic_raw_end_all(struct ornic_dev *dev)
{
	struct ornic_ctx ctx __uninitialized;
	struct ornic_qp *qp;
	u32 i;

	if (!dev->ops->tx_drop)
		return ORNIC_BAD_OPCODE;
	ornic_flow_end_all(dev);
	for (i = 0, qp = NULL; !i || qp; i++) {
		ornic_ctx_begin(&ctx, dev, RX_BUDGET);
		qp = ornic_table_next(&dev->qps, &i);
		if (qp && qp->type == ORNIC_QPT_RAW)
			end_qp(&ctx, qp);
		ornic_ctx_end(&ctx);
		ornic_relax(dev);
	}
	return ORNIC_OK;
}

/* ---- Sending ----------------------------------------------------------------- */

/* sq: copy [@off, @off + @len) of the data of @sw to @to. RCU section. */
static enum ornic_vendor_err copy_data(struct ornic_qp *qp,
				       const struct ornic_swqe *sw, u32 off,
				       u8 *to, u32 len)
{
	struct ornic_frag room = { to, len };
	struct ornic_iov dst = { &room, 1, 1, len };
	enum ornic_vendor_err verr;
	struct ornic_iov src;
	u32 n;

	while (room.len) {
		src = (struct ornic_iov){ .frag = qp->sq.frag,
					  .max = ORNIC_TX_FRAGS };
		verr = ornic_swqe_iov(qp, sw, off, room.len, 0, &src);
		if (verr != ORNIC_VERR_NONE)
			return verr;
		n = (u32)ornic_iov_copy(&dst, &src);
		if (!n)
			return ORNIC_VERR_LKEY_RANGE;
		off += n;
		room.ptr = (u8 *)room.ptr + n;
		room.len -= n;
		dst.bytes = room.len;
	}
	return ORNIC_VERR_NONE;
}

static bool is_tagged(const u8 *frame, u32 len)
{
	u32 type = (u32)frame[12] << 8 | frame[13];

	return len >= TAGGED_LEN && (type == 0x8100 || type == 0x88a8);
}

/* The shape of a frame of @len bytes that begins with @head. */
static void plan_frame(struct ornic_tx *tx, struct ornic_qp *qp, const u8 *head,
		       u32 len)
{
	memset(tx, 0, sizeof(*tx));
	tx->host_qp = qp->host_qp;
	tx->raw = true;
	tx->hdr_len = (u8)min_t(u32, len, ORNIC_FLOW_HEAD);
	tx->l3_offset = is_tagged(head, len) ? TAGGED_LEN : ETH_LEN;
	tx->l4_offset = tx->hdr_len;
	tx->payload_len = len - tx->hdr_len;
	tx->body_len = tx->payload_len;
}

/* A frame of the host with the data of @sw. 0 and @tx, or what to do instead. */
static int make_frame(struct ornic_qp *qp, const struct ornic_swqe *sw,
		      struct ornic_tx *tx, enum ornic_vendor_err *verr)
{
	struct ornic_dev *dev = qp->dev;
	u8 head[TAGGED_LEN] = { 0 };
	u32 n = min_t(u32, sw->length, sizeof(head));
	int err;

	*verr = copy_data(qp, sw, 0, head, n);
	if (*verr != ORNIC_VERR_NONE)
		return 0;
	plan_frame(tx, qp, head, sw->length);
	err = dev->ops->tx_frame(dev->host, tx);
	if (err)
		return err;
	memcpy(tx->hdr, head, n);
	*verr = copy_data(qp, sw, n, tx->hdr + n, tx->hdr_len - n);
	if (*verr == ORNIC_VERR_NONE)
		*verr = copy_data(qp, sw, tx->hdr_len, tx->body, tx->body_len);
	if (*verr != ORNIC_VERR_NONE)
		dev->ops->tx_drop(dev->host, tx);
	return 0;
}

/* There is always room for one more, so that each call gets on. */
static bool pause_here(const struct ornic_ctx *ctx, bool first)
{
	return !first && (ctx->budget <= 0 || ornic_ctx_full(ctx));
}

/*
 * sq: to the QPs of this device that get the frame, but for its sender; false if
 * some are left for another call.
 */
static bool deliver_here(struct ornic_ctx *ctx, struct ornic_qp *qp,
			 struct ornic_swqe *sw, const struct ornic_tx *tx,
			 const struct ornic_flow_hits *hits)
{
	struct ornic_frag seg[2] = { { tx->hdr, tx->hdr_len },
				     { tx->body, tx->body_len } };
	struct ornic_iov frame = { seg, 2, tx->body_len ? 2 : 1,
				   tx->hdr_len + tx->body_len };
	struct ornic_qp *peer;
	bool first = true;

	while (sw->mcast_at < hits->n) {
		if (pause_here(ctx, first))
			return false;
		first = false;
		peer = ornic_qp_lookup(qp->dev, hits->qpn[sw->mcast_at++]);
		if (!peer || peer == qp)
			continue;
		deliver(ctx, peer, hits, &frame);
		ctx->budget -= (s64)frame.bytes + ORNIC_MSG_COST;
		ornic_qp_stat_inc(qp, ORNIC_STAT_LOOP_MSGS);
		ornic_qp_stat_add(qp, ORNIC_STAT_LOOP_BYTES, frame.bytes);
	}
	return true;
}

/*
 * Where a frame goes that is sent here. As behind a switch, the rules of this device
 * see it like one that arrives; what is for this port, or for an address that a
 * rule names, does not leave.
 */
static bool must_leave(struct ornic_dev *dev, const struct ornic_tx *tx,
		       struct ornic_flow_hits *hits)
{
	hits->n = 0;
	if (READ_ONCE(dev->flows.count)) {
		ornic_flow_parse(&hits->key.key, tx->hdr, tx->hdr_len);
		ornic_flow_find(dev, true, hits);
		if (hits->named)
			return false;
	}
	return !dev->ops->is_own(dev->host, tx->hdr);
}

static enum ornic_step sent(struct ornic_ctx *ctx, struct ornic_qp *qp,
			    struct ornic_swqe *sw)
{
	ctx->budget -= sw->length + ORNIC_MSG_COST;
	if (unlikely(qp->sq.rate.kbit))
		ornic_rate_take(qp, sw->length);
	ornic_req_advance(qp, sw, 1);
	ornic_comp_success(ctx, qp, sw);
	return ORNIC_STEP_DONE;
}

/* The port refused the frame: it is too long, or lost, or goes again later. */
static enum ornic_step refused(struct ornic_ctx *ctx, struct ornic_qp *qp,
			       struct ornic_swqe *sw, int err)
{
	if (ornic_tx_refused(ctx, qp, &qp->sq.backoff, err))
		return ORNIC_STEP_WAIT;
	if (err == -EMSGSIZE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_LEN_ERR,
				      ORNIC_VERR_BAD_LENGTH);
	return sent(ctx, qp, sw);
}

enum ornic_step ornic_raw_send(struct ornic_ctx *ctx, struct ornic_qp *qp,
			       struct ornic_swqe *sw)
{
	struct ornic_flow_hits hits __uninitialized;
	struct ornic_dev *dev = qp->dev;
	struct ornic_tx tx __uninitialized;
	enum ornic_vendor_err verr;
	bool leaves;
	int err;

	if (unlikely(qp->sq.rate.kbit) && ornic_rate_hold(ctx, qp, sw->length))
		return ORNIC_STEP_WAIT;
	err = make_frame(qp, sw, &tx, &verr);
	if (err)
		return refused(ctx, qp, sw, err);
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      verr);
	leaves = must_leave(dev, &tx, &hits);
	if (!deliver_here(ctx, qp, sw, &tx, &hits)) {
		dev->ops->tx_drop(dev->host, &tx);
		return ORNIC_STEP_DONE;
	}
	if (!leaves) {
		dev->ops->tx_drop(dev->host, &tx);
		return sent(ctx, qp, sw);
	}
	err = dev->ops->xmit(dev->host, &tx);
	if (err)
		return refused(ctx, qp, sw, err);
	ornic_tx_accepted(qp, &qp->sq.backoff);
	ornic_qp_stat_inc(qp, ORNIC_STAT_TX_PACKETS);
	ornic_qp_stat_add(qp, ORNIC_STAT_TX_BYTES, sw->length);
	return sent(ctx, qp, sw);
}
