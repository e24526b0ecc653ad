// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two devices of one host: where packets would reach the peer and nobody would see them
 * on their way, its responder is called instead, as on one device (loop.c).
 *
 * Each QP proves its way by packets, now and then, and by their ACKs.
 *
 * What does not work that way goes by packets, and so does all that follows as soon as
 * the host says so: in the middle of a message, since the responder has the state that
 * packets leave behind. The other way round, nothing is executed while packets are out,
 * or it would overtake them.
 */
#include "loop.h"
#include "proto.h"

/* How long a packet that the peer has answered proves the way of both. */
#define PROOF_NS 100000000ull

/* Nothing was sent that is not complete. */
static bool is_drained(const struct ornic_sq *sq)
{
	return sq->acked == sq->max_psn && sq->tail == sq->cur;
}

/* MACs and addresses of both ends are right, and whatever else is between them. */
static bool is_proved(const struct ornic_ctx *ctx, const struct ornic_sq *sq)
{
	return sq->answered && ornic_since(ctx->now, sq->answered) < PROOF_NS;
}

enum ornic_step ornic_direct_step(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  struct ornic_swqe *sw)
{
	const struct ornic_path *path = &qp->path;
	struct ornic_dev *dev = qp->dev;
	struct ornic_engine *there;
	enum ornic_step res;

	/* What is sent again; what has a rate, which packets keep. */
	if (!ornic_qp_is_reliable(qp) || qp->sq.psn != qp->sq.max_psn ||
	    READ_ONCE(qp->cc.paced) || !is_proved(ctx, &qp->sq))
		return ORNIC_STEP_WIRE;
	there = dev->ops->direct(dev->host, path->hdr,
				 path->hdr + path->l3_offset, path->ipv6,
				 path->vlan, qp->mtu);
	if (!there)
		return ORNIC_STEP_WIRE;
	if (!is_drained(&qp->sq)) {
		/* If a response is lost, only what follows shows it. */
		if (!qp->timeout)
			return ORNIC_STEP_WIRE;
		return ornic_req_probe(qp) ? ORNIC_STEP_DONE : ORNIC_STEP_WAIT;
	}
	ctx->direct = &there->dev;
	res = ornic_loop_step(ctx, qp, sw);
	ctx->direct = NULL;
	return res;
}
