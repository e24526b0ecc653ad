// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets of requester and responder to the port: the host makes a frame, the
 * engine writes all of it, the host sends it. The payload is copied for first
 * sends and resends alike, so nothing of a frame refers to the program's memory
 * and the ICRC matches even if the program writes to the memory meanwhile.
 */
#include "proto.h"

/* What the first refusal of the port is good for; each further one doubles it. */
#define BACKOFF_NS 64000ull
/* Refusals after which the wait grows no more, or the packet is lost: 65 ms. */
#define BACKOFF_TRIES 10

static int send_frame(struct ornic_qp *qp, const struct ornic_path *path,
		      const struct ornic_txinfo *info,
		      const struct ornic_iov *payload)
{
	struct ornic_dev *dev = qp->dev;
	struct ornic_tx tx __uninitialized;
	int err;

	tx.host_qp = qp->host_qp;
	ornic_tx_plan(&tx, path, info->opcode, (u32)payload->bytes);
	err = dev->ops->tx_frame(dev->host, &tx);
	if (err)
		return err;
	ornic_tx_fill(&tx, path, info, payload->frag, payload->n);
	return dev->ops->xmit(dev->host, &tx);
}

/*
 * A port that is full or out of memory is known at once, while loss in the
 * network would cost an ACK timeout: the packet is sent again later. A
 * reliable requester has retries of its own and keeps trying. Responses, UC
 * and UD give up after BACKOFF_TRIES. A frame that the port will never take,
 * or that a rule drops, is lost.
 */
static bool try_again(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		      struct ornic_backoff *b, int err)
{
	bool has_retries = b == &qp->sq.backoff && ornic_qp_is_reliable(qp);

	if (err == -EMSGSIZE || err == -EPERM ||
	    (!has_retries && b->tries == BACKOFF_TRIES))
		return false;
	WRITE_ONCE(b->until, ctx->now + (BACKOFF_NS << b->tries));
	if (b->tries < BACKOFF_TRIES)
		b->tries++;
	return true;
}

bool ornic_tx_refused(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		      struct ornic_backoff *b, int err)
{
	ornic_qp_stat_inc(qp, ORNIC_STAT_TX_ERRORS);
	return try_again(ctx, qp, b, err);
}

/* The port takes frames again. The ACK timer counts from the first of them. */
static noinline void tx_resumed(struct ornic_qp *qp, struct ornic_backoff *b)
{
	struct ornic_sq *sq = &qp->sq;

	b->tries = 0;
	if (b == &sq->backoff && sq->wait == ORNIC_WAIT_NONE &&
	    ornic_psn_diff(sq->max_psn, sq->acked) <= 0)
		sq->deadline = 0;
}

void ornic_tx_accepted(struct ornic_qp *qp, struct ornic_backoff *b)
{
	if (unlikely(b->tries))
		tx_resumed(qp, b);
}

/* Of a QP that may spray: along the next of its paths. */
static noinline int send_sprayed(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 const struct ornic_backoff *b,
				 const struct ornic_txinfo *info,
				 const struct ornic_iov *payload)
{
	struct ornic_path own __uninitialized;
	bool request = b == &qp->sq.backoff;
	const struct ornic_path *path;
	int err;

	path = ornic_spray_path(ctx, qp, request, info->psn, &own);
	err = send_frame(qp, path, info, payload);
	/* What the port refuses goes again, and is not lost. */
	if (!err)
		ornic_spray_sent(ctx, qp, request, info);
	return err;
}

bool ornic_tx_send(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   struct ornic_backoff *b, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_iov *payload)
{
	u32 len = (u32)payload->bytes;
	int err;

	if (unlikely(qp->spray) && path == &qp->path)
		err = send_sprayed(ctx, qp, b, info, payload);
	else
		err = send_frame(qp, path, info, payload);
	if (unlikely(err))
		return !ornic_tx_refused(ctx, qp, b, err);
	ornic_tx_accepted(qp, b);
	ornic_trace(qp, ORNIC_TRACE_TX, info->opcode, info->psn, len);
	ornic_qp_stat_inc(qp, ORNIC_STAT_TX_PACKETS);
	ornic_qp_stat_add(qp, ORNIC_STAT_TX_BYTES, len);
	return true;
}
