// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder resources, and what repeats responses from them. A duplicate is not executed
 * again, its response is sent again (IBTA C9-105), from the responder resource that the
 * request left. That stays until another request takes its slot.
 *
 * A requester that repeats selectively asks for the parts of a READ that it misses,
 * perhaps before the rest has left. The rest is then sent first, and the part waits,
 * so that no part is lost for another, and a request that comes early costs nothing. If
 * parts of ORNIC_RD_WAITING READs wait, one of another is dropped.
 * Any other requester goes back: its newest request replaces what is being sent.
 *
 * A response may wait for a page for longer than the ACK timeout of the peer. A request
 * for what comes next then gets an RNR NAK now and then, so that it uses up no retries.
 */
#include "proto.h"

/* Of a READ that is longer no parts wait. A selective requester sends none. */
#define MOST_PACKETS 0xffff
/* Of what a request is held, a quarter of the ACK timeout, from one RNR NAK to the next. */
#define MOST_TOLD_LOG 2

static bool is_first_time(const struct ornic_rd *rd)
{
	return rd->busy && !rd->replayed;
}

static void drop_parts(struct ornic_rq *rq, struct ornic_rd *rd)
{
	if (rd->nparts)
		rq->rd_parts &= ~(1u << rd->parts);
	rd->nparts = 0;
}

void ornic_rd_stop(struct ornic_rq *rq, struct ornic_rd *rd)
{
	rd->busy = false;
	drop_parts(rq, rd);
}

bool ornic_rd_full(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	bool selective = r->pkt && r->pkt->selective;
	u32 most = qp->max_dest_rd_atomic;
	struct ornic_rq *rq = &qp->rq;
	u32 kept = selective ? ORNIC_RD_SLOTS : most;
	struct ornic_rd *rd;

	if (selective && most && rq->rd_tail - rq->rd_head >= most &&
	    is_first_time(ornic_rd_slot(rq, rq->rd_tail - most)))
		return true;
	while (rq->rd_tail - rq->rd_head >= kept &&
	       rq->rd_tail != rq->rd_head) {
		rd = ornic_rd_slot(rq, rq->rd_head);
		if (is_first_time(rd))
			return true;
		ornic_rd_stop(rq, rd);
		WRITE_ONCE(rq->rd_head, rq->rd_head + 1);
	}
	return !most;
}

struct ornic_rd *ornic_rd_new(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_rd *rd = ornic_rd_slot(rq, rq->rd_tail);

	/* Nothing is to be sent unless packets ask for it again. */
	if (!r->pkt && rq->rd_head == rq->rd_tail)
		WRITE_ONCE(rq->rd_head, rq->rd_tail + 1);
	WRITE_ONCE(rq->rd_tail, rq->rd_tail + 1);
	drop_parts(rq, rd);
	memset(rd, 0, sizeof(*rd));
	rd->valid = true;
	rd->busy = !!r->pkt;
	rd->first_psn = r->psn;
	rd->npkts = r->npsn;
	rd->psn0 = r->psn;
	rd->pkts = r->npsn;
	rd->va = r->va;
	rd->rkey = r->rkey;
	rd->length = r->dma_len;
	rd->bytes = r->dma_len;
	rd->pdn = qp->pdn;
	rd->msn = ornic_psn_add(rq->msn, 1);
	rd->again = r->pkt && r->pkt->selective & ORNIC_BTH_AGAIN;
	return rd;
}

static u32 end_of(struct ornic_part part)
{
	return part.at + part.n;
}

/*
 * The response that is being sent, as a part of the one first requested, which is not
 * longer than MOST_PACKETS.
 */
static struct ornic_part current_part(const struct ornic_rd *rd)
{
	struct ornic_part part = {
		.at = (u16)ornic_psn_diff(rd->psn0, rd->first_psn),
		.n = (u16)rd->pkts,
	};

	return part;
}

/* Where the response has its packet number @at, counted as first requested. */
static u64 packet_va(const struct ornic_qp *qp, const struct ornic_rd *rd,
		     u32 at)
{
	u32 now = ornic_psn_diff(rd->psn0, rd->first_psn);

	return rd->va + ((u64)at - now) * qp->mtu;
}

static u32 part_bytes(const struct ornic_qp *qp, const struct ornic_rd *rd,
		      struct ornic_part part)
{
	if (end_of(part) == rd->npkts)
		return rd->bytes - part.at * qp->mtu;
	return part.n * qp->mtu;
}

/*
 * Does @r ask for whole packets of @rd, from number @at on? As what is wrong in a copy is
 * dropped, and does not end the QP, a peer could else try keys and addresses without end.
 */
static bool is_copy(const struct ornic_qp *qp, const struct ornic_rd *rd,
		    const struct ornic_inreq *r, u32 at)
{
	u64 end = (u64)at * qp->mtu + r->dma_len;

	return r->rkey == rd->rkey && qp->pdn == rd->pdn &&
	       r->va == packet_va(qp, rd, at) &&
	       (end == rd->bytes ||
		(end < rd->bytes && r->dma_len && r->dma_len % qp->mtu == 0));
}

/* Overlapping, or one after the other. */
static bool do_touch(struct ornic_part a, struct ornic_part b)
{
	return a.at <= end_of(b) && b.at <= end_of(a);
}

static struct ornic_part hull_of(struct ornic_part a, struct ornic_part b)
{
	struct ornic_part hull = { .at = min_t(u16, a.at, b.at) };

	hull.n = (u16)(max_t(u32, end_of(a), end_of(b)) - hull.at);
	return hull;
}

static bool take_parts(struct ornic_rq *rq, struct ornic_rd *rd)
{
	u32 unused = (u16)~rq->rd_parts;

	if (!unused)
		return false;
	rd->parts = (u8)__builtin_ctz(unused);
	rq->rd_parts |= 1u << rd->parts;
	return true;
}

/*
 * @part waits. Parts are in ascending order and do not touch; of more than there
 * is room for the last two become one. False if parts of too many READs wait.
 */
static bool add_part(struct ornic_rq *rq, struct ornic_rd *rd,
		     struct ornic_part part)
{
	struct ornic_part all[ORNIC_RD_PARTS + 1], *own;
	u32 i, at, n = 0;

	if (!rd->nparts && !take_parts(rq, rd))
		return false;
	own = rq->rd->part[rd->parts];
	for (i = 0; i < rd->nparts; i++) {
		if (do_touch(own[i], part))
			part = hull_of(own[i], part);
		else
			all[n++] = own[i];
	}
	for (at = n; at && all[at - 1].at > part.at; at--)
		all[at] = all[at - 1];
	all[at] = part;
	if (++n > ORNIC_RD_PARTS) {
		n--;
		all[n - 1] = hull_of(all[n - 1], all[n]);
	}
	memcpy(own, all, n * sizeof(all[0]));
	rd->nparts = n;
	return true;
}

/*
 * @part was asked for while @rd is being sent: all that does not come anyway waits.
 * False if it cannot.
 */
static bool add_missing(struct ornic_rq *rq, struct ornic_rd *rd,
			struct ornic_part part)
{
	struct ornic_part coming = current_part(rd);

	coming.at += (u16)rd->next;
	coming.n -= (u16)rd->next;
	if (end_of(part) > coming.at && end_of(part) <= end_of(coming)) {
		if (part.at >= coming.at)
			return true;
		part.n = (u16)(coming.at - part.at);
	}
	return add_part(rq, rd, part);
}

bool ornic_rd_ends(const struct ornic_rd *rd)
{
	return ornic_psn_add(rd->psn0, rd->pkts) ==
	       ornic_psn_add(rd->first_psn, rd->npkts);
}

/* Before something else is sent of @rd */
static void note_what_left(struct ornic_rd *rd)
{
	if (rd->next == rd->pkts && ornic_rd_ends(rd))
		rd->left = true;
}

/* Send the whole response of the newest request, and nothing that was asked before. */
static void begin_again(struct ornic_rq *rq, struct ornic_rd *rd)
{
	drop_parts(rq, rd);
	rd->next = 0;
	rd->busy = true;
	rd->replayed = true;
	rd->again = true;
}

void ornic_replay_next(struct ornic_qp *qp, struct ornic_rd *rd)
{
	struct ornic_part *own = qp->rq.rd->part[rd->parts], part = own[0];
	u64 va = packet_va(qp, rd, part.at);

	if (rd->nparts == 1)
		drop_parts(&qp->rq, rd);
	else
		memmove(own, own + 1, --rd->nparts * sizeof(part));
	note_what_left(rd);
	rd->psn0 = ornic_psn_add(rd->first_psn, part.at);
	rd->pkts = part.n;
	rd->va = va;
	rd->length = part_bytes(qp, rd, part);
	rd->next = 0;
	rd->replayed = true;
	rd->again = true;
}

/* Does @rd, whose response is being sent, wait for the first page that @r asks for? */
static bool waits_for_page(struct ornic_qp *qp, const struct ornic_rd *rd,
			   const struct ornic_inreq *r)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_inreq first = *r;

	if (!ornic_fault_is_out(&rq->fault) || !rd->busy ||
	    rd != ornic_rd_slot(rq, rq->rd_head) ||
	    ornic_psn_diff(r->psn, ornic_psn_add(rd->psn0, rd->next)) > 0)
		return false;
	first.dma_len = min_t(u32, r->dma_len, qp->mtu);
	return ornic_read_check(qp, &first) == ORNIC_VERR_PAGE;
}

/*
 * Is it time to tell the peer? An RNR NAK keeps it from giving up, but costs one of its
 * RNR retries, and time. So as late as of a request that is held, less and less often up
 * to once per ACK timeout, and never for a wait that is longer than the last one.
 */
static bool is_long(const struct ornic_ctx *ctx, const struct ornic_qp *qp)
{
	const struct ornic_fault *f = &qp->rq.fault;
	u64 hold = ornic_hold_ns(qp) << min_t(u8, f->ntold, MOST_TOLD_LOG);

	return ctx->now - f->told >=
	       max_t(u64, hold, ornic_rnr_ns(qp->min_rnr_timer));
}

/* A copy of a READ waits for a page, and that is long. */
static enum ornic_verdict tell_peer(const struct ornic_ctx *ctx,
				    struct ornic_qp *qp)
{
	struct ornic_fault *f = &qp->rq.fault;

	f->told = ctx->now;
	if (f->ntold < MOST_TOLD_LOG)
		f->ntold++;
	return ORNIC_RESP_RNR;
}

/*
 * All of the READ @rd once more, or a part of it; DROP if that is not allowed, or if
 * parts of too many READs wait.
 */
static enum ornic_verdict replay_read(const struct ornic_ctx *ctx,
				      struct ornic_qp *qp, struct ornic_rd *rd,
				      const struct ornic_inreq *r)
{
	u32 at = ornic_psn_diff(r->psn, rd->first_psn);
	u32 n = ornic_read_npkts(qp, r->dma_len);
	struct ornic_part part = { .at = (u16)at, .n = (u16)n };
	enum ornic_vendor_err verr;

	if (!(qp->access & ORNIC_ACCESS_REMOTE_READ) || !is_copy(qp, rd, r, at))
		return ORNIC_RESP_DROP;
	/* Pages that are absent it asks for when it sends. */
	verr = ornic_read_check(qp, r);
	if (verr != ORNIC_VERR_NONE && verr != ORNIC_VERR_PAGE)
		return ORNIC_RESP_DROP;
	if (verr == ORNIC_VERR_PAGE && waits_for_page(qp, rd, r) &&
	    is_long(ctx, qp))
		return tell_peer(ctx, qp);
	if (rd->busy && r->pkt->selective && rd->npkts <= MOST_PACKETS) {
		return add_missing(&qp->rq, rd, part) ? ORNIC_RESP_DATA :
							ORNIC_RESP_DROP;
	}
	note_what_left(rd);
	rd->psn0 = r->psn;
	rd->pkts = n;
	rd->va = r->va;
	rd->length = r->dma_len;
	begin_again(&qp->rq, rd);
	return ORNIC_RESP_DATA;
}

/* Did a request of the kind of @r, with its PSN, leave @rd? */
static bool is_resource_of(const struct ornic_rd *rd,
			   const struct ornic_inreq *r)
{
	s32 into = ornic_psn_diff(r->psn, rd->first_psn);

	return rd->valid && rd->atomic == !!(r->flags & ORNIC_OPF_ATOMIC) &&
	       rd->empty == !!(r->flags & ORNIC_OPF_EMPTY_RESPONSE) &&
	       into >= 0 && into < (s32)rd->npkts;
}

enum ornic_verdict ornic_replay(const struct ornic_ctx *ctx,
				struct ornic_qp *qp,
				const struct ornic_inreq *r)
{
	u32 kept = r->pkt->selective ? ORNIC_RD_SLOTS : qp->max_dest_rd_atomic;
	enum ornic_verdict verdict = ORNIC_RESP_DATA;
	struct ornic_rq *rq = &qp->rq;
	struct ornic_rd *rd;
	u32 i, n;

	for (n = 1; n <= kept && rq->rd; n++) {
		i = rq->rd_tail - n;
		rd = ornic_rd_slot(rq, i);
		if (!is_resource_of(rd, r))
			continue;
		if (!rd->atomic && !rd->empty) {
			verdict = replay_read(ctx, qp, rd, r);
			if (verdict != ORNIC_RESP_DATA)
				return verdict;
		} else {
			verdict = rd->atomic ? ORNIC_RESP_ATOMIC :
					       ORNIC_RESP_EMPTY;
			begin_again(rq, rd);
		}
		if ((s32)(i - rq->rd_head) < 0)
			WRITE_ONCE(rq->rd_head, i);
		return verdict;
	}
	return ORNIC_RESP_DROP;
}
