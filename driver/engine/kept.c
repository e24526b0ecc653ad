// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The memory of requests that are kept: reorder.c.
 *
 * A long payload stays in the memory of the packet, if the host lends that: a copy of it
 * would cost more than all the rest of it. Headers are copied, as they were checked.
 *
 * While a gap is open requests come and go as fast as packets do. What they have of the
 * engine's memory beside short payloads is used again, until nothing is kept any more.
 */
#include "kept.h"

/* One without data of its own does not take a larger block of the allocator. */
static_assert(sizeof(struct ornic_kept) <= 192);

/* A payload of so many bytes stays in the memory of the host, if that lends it ... */
#define LEND_LEAST 512
/* ... which takes so many times its bytes at most: a page for 1 KiB is too much. */
#define LEND_TIMES 3
/* So many are left to be used again: some 50 KB. */
#define MOST_UNUSED 256

/* Of an allocation of @size bytes, not less than what it takes. */
static u32 block_bytes(u32 size)
{
	u32 bytes = 32;

	while (bytes < size)
		bytes *= 2;
	return bytes;
}

/* What one without data of its own takes */
static u32 own_bytes(void)
{
	return block_bytes(sizeof(struct ornic_kept));
}

static void free_memory(struct ornic_qp *qp, struct ornic_kept *kept)
{
	ornic_spare_return(qp, kept->cost);
	ornic_free(kept);
}

/* @kept has no payload any more. */
static void put_unused(struct ornic_qp *qp, struct ornic_kept *kept)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;

	ornic_spare_return(qp, kept->cost - own_bytes());
	kept->cost = own_bytes();
	kept->next = ahead->unused;
	ahead->unused = kept;
	ahead->nunused++;
}

/* Of a request with a payload of its own, or none, it is part of @kept. */
static bool has_data(const struct ornic_kept *kept)
{
	return kept->frag[0].ptr == kept->data;
}

static void free_payload(struct ornic_qp *qp, struct ornic_kept *kept)
{
	if (kept->lent)
		qp->dev->ops->rx_free(qp->dev->host, kept->lent);
	else if (!has_data(kept))
		ornic_free(kept->frag[0].ptr);
}

void ornic_kept_free(struct ornic_qp *qp, struct ornic_kept *kept)
{
	free_payload(qp, kept);
	free_memory(qp, kept);
}

void ornic_kept_done(struct ornic_qp *qp, struct ornic_kept *kept)
{
	bool reuse = !has_data(kept) && qp->rq.ahead.nunused < MOST_UNUSED;

	free_payload(qp, kept);
	if (reuse)
		put_unused(qp, kept);
	else
		free_memory(qp, kept);
}

void ornic_kept_free_unused(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept *kept;

	while ((kept = ahead->unused)) {
		ahead->unused = kept->next;
		free_memory(qp, kept);
	}
	ahead->nunused = 0;
}

/* One without data of its own, whose payload takes @more bytes elsewhere. */
static struct ornic_kept *use_again(struct ornic_qp *qp, u32 more)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept *kept = ahead->unused;

	if (!ornic_spare_take(qp, more))
		return NULL;
	kept->cost += more;
	ahead->unused = kept->next;
	ahead->nunused--;
	return kept;
}

/* With @room bytes of @data */
static struct ornic_kept *alloc_kept(struct ornic_qp *qp, u32 room, u32 more)
{
	u32 size = sizeof(struct ornic_kept) + room;
	u32 cost = block_bytes(size) + more;
	struct ornic_kept *kept;

	if (!ornic_spare_take(qp, cost))
		return NULL;
	kept = ornic_alloc_atomic(size);
	if (!kept) {
		ornic_spare_return(qp, cost);
		return NULL;
	}
	kept->cost = cost;
	return kept;
}

/*
 * With @room bytes of @data, or @more bytes of spare memory elsewhere. What is unused is
 * given up before nothing more is kept.
 */
static struct ornic_kept *get_kept(struct ornic_qp *qp, u32 room, u32 more)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept *kept;

	kept = more && ahead->unused ? use_again(qp, more) :
				       alloc_kept(qp, room, more);
	if (!kept && ahead->unused) {
		ornic_kept_free_unused(qp);
		kept = alloc_kept(qp, room, more);
	}
	if (!kept)
		return NULL;
	kept->lent = NULL;
	kept->frag[0].ptr = kept->data;
	return kept;
}

/* The payload stays where it is. NULL: it has to be copied. */
static struct ornic_kept *lent_of(struct ornic_qp *qp,
				  const struct ornic_pkt *pkt)
{
	const struct ornic_engine_ops *ops = qp->dev->ops;
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	struct ornic_kept *kept = NULL;
	u32 n, bytes;
	void *lent;

	n = ornic_pkt_payload(pkt, frag);
	if (n > ORNIC_KEPT_PIECES)
		return NULL;
	lent = ops->rx_keep(qp->dev->host, pkt->rx, &bytes);
	if (!lent)
		return NULL;
	if (bytes <= pkt->payload_len * LEND_TIMES)
		kept = get_kept(qp, 0, bytes);
	if (!kept) {
		ops->rx_free(qp->dev->host, lent);
		return NULL;
	}
	kept->lent = lent;
	kept->nfrags = n;
	memcpy(kept->frag, frag, n * sizeof(*frag));
	return kept;
}

/* A long payload beside the rest: together they would take the next power of two. */
static struct ornic_kept *copy_of(struct ornic_qp *qp,
				  const struct ornic_pkt *pkt)
{
	u32 len = pkt->payload_len;
	bool is_short = len < LEND_LEAST;
	struct ornic_kept *kept;
	void *data;

	kept = get_kept(qp, is_short ? len : 0,
			is_short ? 0 : block_bytes(len));
	if (!kept)
		return NULL;
	data = is_short ? kept->data : ornic_alloc_atomic(len);
	if (!data) {
		ornic_kept_free(qp, kept);
		return NULL;
	}
	ornic_pkt_copy_payload(pkt, 0, data, len);
	kept->nfrags = 1;
	kept->frag[0].ptr = data;
	kept->frag[0].len = len;
	return kept;
}

struct ornic_kept *ornic_kept_make(const struct ornic_ctx *ctx,
				   struct ornic_qp *qp,
				   const struct ornic_pkt *pkt)
{
	struct ornic_kept *kept = NULL;

	if (pkt->rx->host_rx && qp->dev->ops->rx_keep &&
	    pkt->payload_len >= LEND_LEAST && ornic_spare_is_ample(qp))
		kept = lent_of(qp, pkt);
	if (!kept)
		kept = copy_of(qp, pkt);
	if (!kept)
		return NULL;
	kept->when = ctx->now;
	kept->pkt = *pkt;
	kept->pkt.rx = NULL;
	return kept;
}
