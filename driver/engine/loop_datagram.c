// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback of datagrams: to a QP of the same device or of a peer engine, and to the
 * members of a multicast group on the same device. Locks as in loop.c.
 */
#include "loop.h"

#include "proto.h"

/* The IP header or GRH that the datagram would have had. */
static void datagram_ip(u8 *ip, const struct ornic_path *path, u32 payload,
			bool imm)
{
	u8 opcode = imm ? ORNIC_OP_SEND_ONLY_IMM : ORNIC_OP_SEND_ONLY;
	u32 len = ornic_opcode_lookup(ORNIC_UD | opcode)->hdr_len +
		  ALIGN(payload, 4u) + ORNIC_ICRC_LEN;
	u32 at = path->ipv6 ? 4 : 2;
	u32 sum;

	if (!path->v1)
		len += ORNIC_UDP_LEN;
	if (!path->ipv6)
		len += 20;
	memcpy(ip, path->hdr + path->l3_offset, path->ipv6 ? 40 : 20);
	ip[at] = len >> 8;
	ip[at + 1] = len;
	if (path->ipv6)
		return;
	/* Users tell IPv4 from IPv6 by the checksum of these 20 bytes. */
	sum = ornic_ipv4_checksum(ip);
	ip[10] = sum >> 8;
	ip[11] = sum;
}

/* The request that the datagram of @sw is to @dev; @ip: room for its header. */
static void datagram_request(struct ornic_inreq *r, u8 *ip,
			     const struct ornic_qp *qp,
			     const struct ornic_swqe *sw,
			     const struct ornic_path *path,
			     const struct ornic_iov *src, struct ornic_dev *dev)
{
	memset(r, 0, sizeof(*r));
	r->flags = ORNIC_OPF_SEND | ORNIC_OPF_REQUEST | ORNIC_OPF_START |
		   ORNIC_OPF_END;
	if (sw->info->imm)
		r->flags |= ORNIC_OPF_IMM;
	r->npsn = 1;
	r->solicited = sw->flags & ORNIC_WQE_SOLICITED;
	r->imm = sw->imm;
	r->src_qpn = qp->qpn;
	r->src = src;
	r->path = path;
	r->ip = ip;
	r->ipv6 = path->ipv6;
	r->sgid_index = ornic_gid_index(dev, path->dgid, path->vlan, path->v1);
	datagram_ip(ip, path, src->bytes, sw->info->imm);
}

/* Returns true if @peer holds it, and has to be run for that. */
static bool take_datagram(struct ornic_ctx *ctx, struct ornic_qp *qp,
			  struct ornic_qp *peer, struct ornic_inreq *r)
{
	enum ornic_verdict verdict = ornic_resp_request(ctx, peer, r);

	if (verdict == ORNIC_RESP_ABSENT)
		ornic_hold_request(ctx, peer, r);
	if (verdict == ORNIC_RESP_ACK || verdict == ORNIC_RESP_ABSENT) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_LOOP_MSGS);
		ornic_qp_stat_add(qp, ORNIC_STAT_LOOP_BYTES, r->src->bytes);
	}
	return verdict == ORNIC_RESP_ABSENT;
}

/* What @peer does not take is dropped and counted, as on the wire. */
static void hand_over(struct ornic_ctx *ctx, struct ornic_qp *qp,
		      struct ornic_qp *peer, struct ornic_inreq *r,
		      const struct ornic_swqe *sw)
{
	u32 pkey = ornic_datagram_pkey(qp, sw);
	bool dead = false, held = false;

	ctx->dev = peer->dev;
	ornic_lock_inner(&peer->rq.lock);
	if (!ornic_qp_can_receive(peer)) {
		ornic_qp_stat_inc(peer, ORNIC_STAT_RX_NO_QP);
	} else if (!ornic_qp_takes_pkey(peer, pkey)) {
		ornic_qp_stat_inc(peer, ORNIC_STAT_RX_BAD_PKEY);
	} else if (peer->qkey != sw->dest_qkey) {
		ornic_qp_stat_inc(peer, ORNIC_STAT_RX_BAD_QKEY);
	} else {
		r->pkey_index = ornic_qp_pkey_index(peer, pkey);
		held = take_datagram(ctx, qp, peer, r);
	}
	dead = peer->rq.dead;
	ornic_unlock_inner(&peer->rq.lock);
	/* It sets the timer of what is held. */
	if (dead || held)
		ornic_qp_resched(peer);
	ctx->dev = qp->dev;
}

void ornic_loop_datagram(struct ornic_ctx *ctx, struct ornic_qp *qp,
			 struct ornic_swqe *sw, const struct ornic_path *path,
			 const struct ornic_iov *src)
{
	struct ornic_dev *dev = ornic_path_dev(qp->dev, path);
	struct ornic_qp *peer;
	struct ornic_inreq r;
	u8 ip[40];

	if (!dev)
		return;
	peer = ornic_qp_lookup(dev, sw->dest_qpn);
	if (!peer || peer->type != ORNIC_QPT_UD) {
		ornic_stat_inc(dev, ORNIC_STAT_RX_NO_QP);
		return;
	}
	datagram_request(&r, ip, qp, sw, path, src, dev);
	hand_over(ctx, qp, peer, &r, sw);
}

/* There is always room for one more, so that each call gets on. */
static bool pause_here(const struct ornic_ctx *ctx, bool first)
{
	return !first && (ctx->budget <= 0 || ornic_ctx_full(ctx));
}

bool ornic_loop_multicast(struct ornic_ctx *ctx, struct ornic_qp *qp,
			  struct ornic_swqe *sw, const struct ornic_path *path,
			  const struct ornic_iov *src)
{
	struct ornic_mcg *group = ornic_mcast_group(qp->dev, path->dgid);
	struct ornic_qp *peer;
	struct ornic_inreq r;
	bool first = true;
	u8 ip[40];

	if (!group || sw->dest_qpn != ORNIC_MCAST_QPN)
		return true;
	datagram_request(&r, ip, qp, sw, path, src, qp->dev);
	while ((peer = ornic_mcast_member(qp->dev, group, &sw->mcast_at))) {
		if (pause_here(ctx, first))
			return false;
		first = false;
		sw->mcast_at++;
		if (peer == qp && qp->create_flags & ORNIC_QP_NO_SELF_MCAST)
			continue;
		hand_over(ctx, qp, peer, &r, sw);
		ctx->budget -= (s64)src->bytes + ORNIC_MSG_COST;
	}
	return true;
}
