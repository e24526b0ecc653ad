// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests ahead of the expected PSN. The responder keeps them and executes them when
 * the gap is filled, so that a lost or overtaken packet costs that packet and not all
 * after it. What it keeps was not acknowledged: it may be dropped at any time, and the
 * requester sends it again.
 *
 * The sequence NAK (IBTA C9-116) is sent when the first packet of the gap is so late
 * that it is taken for lost: late.h. A requester that repeats selectively says which
 * packets are copies. To another one the NAK was in vain if the packet comes once more.
 */
#include "kept.h"

#define BLOCK ORNIC_KEPT_BLOCK
#define MOST_BLOCKS ((ORNIC_REORDER_WINDOW + 1 + BLOCK) / BLOCK)
/* The table of blocks becomes so much larger at once. */
#define GROWTH 8
/* What may be asked again, by a packet with AckReq, is a NAK that old, ns. */
#define NAK_AGAIN_NS 100000ull
/* What is kept is dropped when nothing of it was executed for so long, ns. */
#define EXPIRE_NS 1000000000ull
/* So many, and a block, are freed at a time: some 100 us. */
#define FREE_PIECE 512

/* ---- The requests by PSN ------------------------------------------------------- */

static struct ornic_kept_block *block_of(const struct ornic_ahead *ahead,
					 u32 psn)
{
	return &ahead->block[psn / BLOCK % ahead->nblocks];
}

static u64 bit_of(u32 psn)
{
	return BIT_ULL(psn % BLOCK);
}

/* The request with @psn, which is at @base or behind it; NULL: it is not kept. */
static struct ornic_kept *find_kept(const struct ornic_ahead *ahead, u32 psn)
{
	const struct ornic_kept_block *block = block_of(ahead, psn);

	return block->has & bit_of(psn) ? block->kept[psn % BLOCK] : NULL;
}

/* The first one; there is one. */
static struct ornic_kept *first_kept(const struct ornic_ahead *ahead)
{
	const struct ornic_kept_block *block = block_of(ahead, ahead->base);
	u32 i;

	for (i = 1; !block->has && i < ahead->nblocks; i++)
		block = block_of(ahead, ahead->base + i * BLOCK);
	return block->kept[ornic_low_bit(block->has)];
}

/* The request that is expected; NULL if it is not kept, or none is executed. */
static struct ornic_kept *due_kept(const struct ornic_rq *rq)
{
	if (!rq->ahead.n || rq->dead)
		return NULL;
	return find_kept(&rq->ahead, rq->epsn);
}

static void use_table(struct ornic_ahead *ahead, struct ornic_kept_block *block,
		      u32 nblocks)
{
	ahead->block = block;
	ahead->nblocks = nblocks;
}

static u32 table_bytes(u32 nblocks)
{
	return nblocks * sizeof(struct ornic_kept_block);
}

static void free_table(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;

	if (ahead->block != ahead->own)
		ornic_spare_free(qp, ahead->block, table_bytes(ahead->nblocks));
	use_table(ahead, ahead->own, ORNIC_KEPT_BLOCKS);
}

void ornic_reorder_init(struct ornic_qp *qp)
{
	use_table(&qp->rq.ahead, qp->rq.ahead.own, ORNIC_KEPT_BLOCKS);
}

/* A table with more blocks; false if there is no memory for it. */
static bool grow_table(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u32 nblocks = ahead->nblocks * GROWTH, i, psn;
	struct ornic_kept_block *block;

	block = ornic_spare_zalloc(qp, table_bytes(nblocks));
	if (!block)
		return false;
	for (i = 0; i < ahead->nblocks; i++) {
		psn = ahead->base + i * BLOCK;
		block[psn / BLOCK % nblocks] = *block_of(ahead, psn);
	}
	if (ahead->block == ahead->own)
		memset(ahead->own, 0, sizeof(ahead->own));
	free_table(qp);
	use_table(ahead, block, nblocks);
	return true;
}

/* Is there a place for @psn in the table, or can one be made? */
static bool make_place(struct ornic_qp *qp, u32 psn)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u32 at = ornic_psn_diff(psn, ahead->base);
	struct ornic_kept_block *block;

	while (at >= (ahead->nblocks - 1) * BLOCK)
		if (ahead->nblocks >= MOST_BLOCKS || !grow_table(qp))
			return false;
	block = block_of(ahead, psn);
	if (!block->kept)
		block->kept = ornic_spare_zalloc(qp, BLOCK * sizeof(void *));
	return block->kept;
}

static void free_place(struct ornic_qp *qp, struct ornic_kept_block *block)
{
	if (block->has)
		return;
	ornic_spare_free(qp, block->kept, BLOCK * sizeof(void *));
	block->kept = NULL;
}

/* Free those of @block that @bits name; returns how many. */
static u32 free_bits(struct ornic_qp *qp, struct ornic_kept_block *block,
		     u64 bits)
{
	u32 n = 0, i;

	for (bits &= block->has; bits; bits &= bits - 1) {
		i = ornic_low_bit(bits);
		ornic_kept_free(qp, block->kept[i]);
		block->has &= ~BIT_ULL(i);
		n++;
	}
	free_place(qp, block);
	return n;
}

static void drop_bits(struct ornic_qp *qp, struct ornic_kept_block *block,
		      u64 bits)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;

	WRITE_ONCE(ahead->n, ahead->n - free_bits(qp, block, bits));
}

/* Nothing is kept any more. */
static void become_empty(struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;

	memset(rq->ahead.seen, 0, sizeof(rq->ahead.seen));
	free_table(qp);
	ornic_kept_free_unused(qp);
	WRITE_ONCE(rq->ahead.expires, 0);
	/* It may be that of what is held. */
	if (!rq->held)
		WRITE_ONCE(rq->ahead.nak_at, 0);
}

/*
 * Drop everything. What a large table has would take milliseconds to free: it is put
 * aside for ornic_reorder_free_some(). There is none aside yet, as nothing has been kept
 * since.
 */
static void drop_all(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u32 i;

	if (ahead->block == ahead->own) {
		for (i = 0; i < ahead->nblocks && ahead->n; i++)
			drop_bits(qp, &ahead->own[i], U64_MAX);
	} else {
		WRITE_ONCE(ahead->aside, ahead->block);
		ahead->naside = ahead->nblocks;
		ahead->aside_at = 0;
		use_table(ahead, ahead->own, ORNIC_KEPT_BLOCKS);
		WRITE_ONCE(ahead->n, 0);
	}
	become_empty(qp);
}

bool ornic_reorder_free_some(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u32 n = 0;

	while (ahead->aside_at < ahead->naside && n < FREE_PIECE)
		n += free_bits(qp, &ahead->aside[ahead->aside_at++], U64_MAX);
	if (ahead->aside_at < ahead->naside)
		return true;
	ornic_kept_free_unused(qp);
	ornic_spare_free(qp, ahead->aside, table_bytes(ahead->naside));
	WRITE_ONCE(ahead->aside, NULL);
	return false;
}

/* The same, and runs of the QP free what is more than a piece. */
static void forget_all(struct ornic_qp *qp)
{
	drop_all(qp);
	if (qp->rq.ahead.aside && ornic_reorder_free_some(qp))
		ornic_qp_resched(qp);
}

/*
 * What is before @end has been executed, or is not kept any more. A READ takes the PSNs of
 * its responses: a peer that has sent many requests with these has to send all again.
 */
static void drop_before(struct ornic_qp *qp, u32 end)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u32 left = ornic_psn_diff(end, ahead->base), n;
	u32 before = ahead->n;

	for (; left && ahead->n; left -= n) {
		if (before - ahead->n >= FREE_PIECE) {
			forget_all(qp);
			break;
		}
		n = min_t(u32, left, BLOCK - ahead->base % BLOCK);
		drop_bits(qp, block_of(ahead, ahead->base),
			  ornic_low_bits(n) << ahead->base % BLOCK);
		ahead->base = ornic_psn_add(ahead->base, n);
	}
	ahead->base = end;
	if (!ahead->n && ahead->expires)
		become_empty(qp);
}

void ornic_reorder_forget(struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;

	forget_all(qp);
	WRITE_ONCE(ahead->nak_at, 0);
	ahead->late.judged = 0;
	ahead->refused = false;
}

void ornic_reorder_fini(struct ornic_qp *qp)
{
	drop_all(qp);
	while (qp->rq.ahead.aside && ornic_reorder_free_some(qp))
		ornic_relax(qp->dev);
}

/* ---- Keeping ------------------------------------------------------------------- */

/*
 * Not too far ahead of what has come, so that somebody beside the path has to know more
 * than that there is a connection; and not above the path MTU, which would be refused
 * in its turn.
 */
static bool is_kept(const struct ornic_qp *qp, const struct ornic_pkt *pkt)
{
	const struct ornic_rq *rq = &qp->rq;
	u32 last = rq->ahead.n ? rq->ahead.last : rq->epsn;

	return ornic_psn_diff(pkt->psn, last) <= ORNIC_REORDER_STEP &&
	       ornic_psn_diff(pkt->psn, rq->epsn) <= ORNIC_REORDER_WINDOW &&
	       pkt->payload_len <= qp->mtu;
}

/* There is no room for @psn: false. After an RNR NAK it comes again anyway. */
static bool refuse(struct ornic_rq *rq, u32 psn)
{
	struct ornic_ahead *ahead = &rq->ahead;

	if (rq->nak_sent && !ahead->nak_time)
		return false;
	if (!ahead->refused || ornic_psn_diff(psn, ahead->refused_psn) > 0)
		ahead->refused_psn = psn;
	ahead->refused = true;
	return false;
}

/* False if it is kept already, or will not be. */
static bool keep_copy(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		      const struct ornic_pkt *pkt)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept_block *block;
	struct ornic_kept *kept;

	if (!is_kept(qp, pkt))
		return false;
	if (ahead->aside || !make_place(qp, pkt->psn))
		return refuse(&qp->rq, pkt->psn);
	block = block_of(ahead, pkt->psn);
	if (block->has & bit_of(pkt->psn)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_DUPLICATES);
		if (unlikely(qp->spray))
			ornic_spray_unheard(ctx, qp);
		return false;
	}
	kept = ornic_kept_make(ctx, qp, pkt);
	if (!kept) {
		free_place(qp, block);
		return refuse(&qp->rq, pkt->psn);
	}
	block->kept[pkt->psn % BLOCK] = kept;
	block->has |= bit_of(pkt->psn);
	if (!ahead->n || ornic_psn_diff(pkt->psn, ahead->last) > 0)
		ahead->last = pkt->psn;
	if (!ahead->n)
		WRITE_ONCE(ahead->expires, ctx->now + EXPIRE_NS);
	WRITE_ONCE(ahead->n, ahead->n + 1);
	return true;
}

/* ---- What is overdue --------------------------------------------------------------- */

/* From time to time, which PSN was the highest. */
static void note_seen(const struct ornic_ctx *ctx, struct ornic_ahead *ahead)
{
	u32 at = ahead->seen_at % ORNIC_SEEN;
	u64 last = ahead->seen[(at + ORNIC_SEEN - 1) % ORNIC_SEEN].when;

	if (ornic_since(ctx->now, last) < ahead->late.ns / 4)
		return;
	ahead->seen[at].when = ctx->now;
	ahead->seen[at].psn = ahead->last;
	ahead->seen_at = at + 1;
}

/*
 * Nothing is known of the path. Losses are fewer than what arrives: if most is missing, it
 * was overtaken, or is a single gap.
 */
static u32 new_path_end(const struct ornic_ahead *ahead)
{
	if ((u32)ornic_psn_diff(ahead->last, ahead->base) < 2 * ahead->n)
		return ahead->last;
	return first_kept(ahead)->pkt.psn;
}

/*
 * Packets before this PSN that are missing are overdue: a later one has been here for
 * late.ns. Others may be under way. Something is kept.
 */
static u32 overdue_end(const struct ornic_ahead *ahead, u64 now)
{
	u32 end = first_kept(ahead)->pkt.psn, i;
	const struct ornic_seen *seen;

	if (!ahead->late.ns)
		return ahead->late.lossy ? ahead->last : new_path_end(ahead);
	for (i = 0; i < ORNIC_SEEN; i++) {
		seen = &ahead->seen[i];
		if (seen->when &&
		    ornic_since(now, seen->when) >= ahead->late.ns &&
		    ornic_psn_diff(seen->psn, ahead->last) <= 0 &&
		    ornic_psn_diff(seen->psn, end) > 0)
			end = seen->psn;
	}
	return end;
}

/* ---- Sequence NAKs --------------------------------------------------------------- */

static enum ornic_verdict nak_now(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_ahead *ahead = &rq->ahead;

	rq->nak_sent = true;
	ahead->naked = true;
	ahead->nak_time = ctx->now;
	ahead->gap_psn = rq->epsn;
	WRITE_ONCE(ahead->nak_at, 0);
	if (!rq->selective)
		ornic_late_judge(&ahead->late, ctx->now, ctx->now, rq->epsn);
	ornic_late_asked(&ahead->late, qp->spray);
	return ORNIC_RESP_NAK_SEQ;
}

/* There is a gap that no NAK was sent for: now, or when it is late. */
static enum ornic_verdict nak_gap(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	u64 when = ahead->n ? ahead->since + ahead->late.ns : 0;

	if (ctx->now >= when)
		return nak_now(ctx, qp);
	WRITE_ONCE(ahead->nak_at, when);
	return ORNIC_RESP_DROP;
}

enum ornic_verdict ornic_reorder_keep(const struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_ahead *ahead = &rq->ahead;
	bool is_new, was_missing;

	drop_before(qp, rq->epsn);
	is_new = !ahead->n;
	/* It went again after what is missing still. */
	was_missing = ahead->n && ornic_psn_diff(pkt->psn, ahead->last) < 0;
	was_missing &= keep_copy(ctx, qp, pkt);
	/* There was memory for a larger table, but for nothing in it. A NAK tells that. */
	if (!ahead->n) {
		free_table(qp);
		ahead->refused = rq->held && ahead->refused;
	}
	if (unlikely(ahead->late.ns) && ahead->n)
		note_seen(ctx, ahead);
	if (is_new) {
		ahead->since = ctx->now;
		ahead->naked = false;
	}
	/* The gap was filled, and what follows is still to be executed. */
	if (rq->held || due_kept(rq))
		return ORNIC_RESP_DROP;
	if (!rq->nak_sent)
		return nak_gap(ctx, qp);
	/*
	 * A requester that asks what is missing may not have got the NAK, or
	 * what it sent for it was lost. A standard one gets one NAK for a gap
	 * (IBTA C9-116). One that asks by what is not kept may be somebody who
	 * wants long NAKs sent.
	 */
	if (pkt->selective && pkt->ack_req && ahead->nak_time &&
	    is_kept(qp, pkt) && ahead->gap_psn == rq->epsn &&
	    (was_missing ||
	     ornic_since(ctx->now, ahead->nak_time) >= NAK_AGAIN_NS))
		return nak_now(ctx, qp);
	return ORNIC_RESP_DROP;
}

void ornic_reorder_duplicate(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			     u32 psn)
{
	struct ornic_late *late = &qp->rq.ahead.late;

	if (!late->judged || psn != late->psn)
		return;
	if (late->took && ornic_late_is_judging(late, ctx->now))
		ornic_late_in_vain(late);
	late->judged = 0;
}

/* ---- Execution ------------------------------------------------------------------- */

/*
 * A standard requester that has got a NAK sends all again, and asks again. rxe never
 * completes a message of which it gets the ACK while it sends that again, if the last
 * packet is then lost: its timer does nothing, as all is acknowledged. Two RNR NAKs would
 * cost two retries.
 */
static bool is_coming_again(const struct ornic_qp *qp)
{
	return !qp->rq.selective && qp->rq.ahead.naked;
}

/* @kept is the one expected. */
static enum ornic_verdict execute_kept(struct ornic_ctx *ctx,
				       struct ornic_qp *qp,
				       struct ornic_kept *kept)
{
	struct ornic_rx rx __uninitialized;
	enum ornic_verdict verdict;

	/* Its payload is at the start of the first piece, without headers. */
	memset(&rx, 0, offsetof(struct ornic_rx, seg));
	rx.ipv6 = qp->path.ipv6;
	rx.nsegs = (u8)kept->nfrags;
	rx.len = kept->pkt.payload_len;
	memcpy(rx.seg, kept->frag, kept->nfrags * sizeof(*kept->frag));
	kept->pkt.rx = &rx;
	kept->pkt.hdr_len = 0;
	ctx->budget -= kept->pkt.payload_len + ORNIC_MSG_COST;
	verdict = ornic_resp_execute(ctx, qp, &kept->pkt);
	if (is_coming_again(qp) &&
	    (verdict == ORNIC_RESP_RNR || verdict == ORNIC_RESP_ACK))
		return ORNIC_RESP_DROP;
	ornic_resp_verdict(qp, verdict, &kept->pkt);
	return verdict;
}

/* @kept, at @psn, was executed or refused. */
static void remove_kept(struct ornic_qp *qp, struct ornic_kept *kept, u32 psn)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	struct ornic_kept_block *block = block_of(ahead, psn);

	ornic_kept_done(qp, kept);
	block->has &= ~bit_of(psn);
	free_place(qp, block);
	WRITE_ONCE(ahead->n, ahead->n - 1);
}

/*
 * The gap is filled: execute what follows, and acknowledge it, so that a
 * requester that has gone back does not send it again.
 */
static void execute_due(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_ahead *ahead = &qp->rq.ahead;
	enum ornic_verdict verdict;
	struct ornic_kept *kept;
	u32 psn = 0, at;
	bool ack = false;

	while (!qp->rq.held && (kept = due_kept(&qp->rq)) && ctx->budget > 0 &&
	       !ornic_ctx_full(ctx)) {
		at = kept->pkt.psn;
		verdict = execute_kept(ctx, qp, kept);
		if (verdict == ORNIC_RESP_ACK)
			psn = at;
		if (verdict != ORNIC_RESP_DROP)
			ack = verdict == ORNIC_RESP_ACK;
		/* What was refused comes again. */
		remove_kept(qp, kept, at);
		drop_before(qp, qp->rq.epsn);
	}
	if (ack)
		ornic_resp_ack(qp, psn);
	if (ahead->n)
		ahead->since = first_kept(ahead)->when;
}

/*
 * @pkt has come while something is kept. If it was expected, and is no copy, what is
 * kept has overtaken it; if it is one, what it is a copy of was lost.
 */
static void learn_late(const struct ornic_ctx *ctx, struct ornic_rq *rq,
		       const struct ornic_pkt *pkt)
{
	struct ornic_ahead *ahead = &rq->ahead;

	if (!pkt->selective || ornic_psn_diff(pkt->psn, ahead->base) < 0 ||
	    ornic_psn_diff(pkt->psn, rq->epsn) >= 0)
		return;
	if (pkt->selective & ORNIC_BTH_AGAIN)
		ahead->late.lossy = true;
	else
		ornic_late_learn(&ahead->late,
				 ornic_since(ctx->now, ahead->since));
}

/*
 * Nothing is kept: was something dropped for want of room that the requester has not sent
 * again yet? Without a NAK only a timer would tell it. A standard one goes back by itself.
 */
static bool was_refused(struct ornic_rq *rq)
{
	struct ornic_ahead *ahead = &rq->ahead;
	bool refused = ahead->refused && rq->selective &&
		       (u32)ornic_psn_diff(ahead->refused_psn, rq->epsn) <=
			       ORNIC_REORDER_WINDOW;

	ahead->refused = false;
	return refused;
}

void ornic_reorder_run(struct ornic_ctx *ctx, struct ornic_qp *qp,
		       const struct ornic_pkt *pkt)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_ahead *ahead = &rq->ahead;
	bool filled, refused;

	/* All of it comes after that. */
	if (rq->held)
		return;
	if (pkt)
		learn_late(ctx, rq, pkt);
	if (ahead->n && rq->epsn != ahead->base)
		WRITE_ONCE(ahead->expires, ctx->now + EXPIRE_NS);
	drop_before(qp, rq->epsn);
	filled = due_kept(rq);
	/* The peer does not fill the gap: others shall have the room. */
	if (!filled && ahead->n && ctx->now >= ahead->expires) {
		ornic_reorder_forget(qp);
		rq->nak_sent = false;
		return;
	}
	if (ahead->late.judged && !ahead->late.took &&
	    ornic_psn_diff(rq->epsn, ahead->late.psn) > 0) {
		ahead->late.took = ornic_since(ctx->now, ahead->since);
		/* It was the first packet of a requester that says what is a copy. */
		if (pkt && pkt->selective)
			ahead->late.judged = 0;
	}
	if (filled) {
		WRITE_ONCE(ahead->nak_at, 0);
		execute_due(ctx, qp);
	}
	if (due_kept(rq)) {
		ornic_qp_resched(qp);
		return;
	}
	refused = !ahead->n && was_refused(rq);
	if (rq->nak_sent || rq->dead || rq->held || (!ahead->n && !refused))
		return;
	/*
	 * Another gap. The rest of this one is probably under way: then only
	 * what comes after it shows that it is not.
	 */
	if ((filled || ahead->nak_at || refused) &&
	    nak_gap(ctx, qp) == ORNIC_RESP_NAK_SEQ)
		ornic_resp_nak_gap(qp);
}

u32 ornic_reorder_bits(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		       u32 psn)
{
	const struct ornic_ahead *ahead = &qp->rq.ahead;
	s32 n = 0;

	if (ahead->n)
		n = ornic_psn_diff(overdue_end(ahead, ctx->now), psn);

	return n > 0 ? n : 0;
}

/* Bits of the 64 PSNs from @psn on; none before @base. */
static u64 kept_bits(const struct ornic_ahead *ahead, u32 psn)
{
	u64 bits;

	if ((u32)ornic_psn_diff(psn, ahead->base) >=
	    (ahead->nblocks - 1) * BLOCK)
		return 0;
	bits = block_of(ahead, psn)->has >> psn % BLOCK;
	if (psn % BLOCK)
		bits |= block_of(ahead, psn + BLOCK)->has
			<< (BLOCK - psn % BLOCK);
	return bits;
}

void ornic_reorder_bitmap(const struct ornic_qp *qp, u32 psn, u32 nbits,
			  u8 *bitmap, u32 len)
{
	__le64 word;
	u64 bits;
	u32 n;

	psn = ornic_psn_add(psn, 1);
	for (; len; len -= n) {
		n = min_t(u32, len, sizeof(word));
		bits = kept_bits(&qp->rq.ahead, psn) & ornic_low_bits(nbits);
		word = cpu_to_le64(bits);
		memcpy(bitmap, &word, n);
		bitmap += n;
		psn = ornic_psn_add(psn, 64);
		nbits -= min_t(u32, nbits, 64);
	}
}
