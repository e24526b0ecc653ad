// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a NAK of a peer that repeats selectively names: the requests that it keeps. */
#include "gaps.h"

/*
 * The peer keeps those PSNs of @sw, from @psn on, that @bits has. Of a READ it keeps the
 * request, which then need not go again now, but has sent nothing. Returns how many
 * were marked one by one.
 */
static u32 note_kept(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_swqe *sw, u32 psn, u64 bits)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;
	u32 n = 0;

	gaps->used = true;
	if (ornic_swqe_is_fetch(sw)) {
		ornic_map_set_bits(gaps->map[ORNIC_GAPS_HELD], gaps->size, psn,
				   bits);
		return 0;
	}
	for (; bits; bits &= bits - 1, n++)
		ornic_gap_mark(ctx, qp,
			       ornic_psn_add(psn, ornic_low_bit(bits)));
	return n;
}

/*
 * The peer keeps the requests at @psn that @bits name. Those that are known are not
 * looked at, so that a NAK costs what it brings. Returns one past the last of them;
 * @psn if there is none.
 */
static u32 note_bits(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 psn,
		     u64 bits, u32 *looked)
{
	struct ornic_sq *sq = &qp->sq;
	s32 sent = ornic_psn_diff(sq->max_psn, psn);
	const struct ornic_swqe *sw;
	u32 end, low, at, n;
	u64 news, part;

	sent = min_t(s32, sent,
		     (s32)sq->gaps.size - ornic_psn_diff(psn, sq->acked));
	bits &= sent > 0 ? ornic_low_bits((u32)sent) : 0;
	if (!bits)
		return psn;
	end = ornic_psn_add(psn, ornic_high_bit(bits) + 1);
	news = bits & ~ornic_gap_bits(&sq->gaps, ORNIC_GAPS_GOT, psn) &
	       ~ornic_gap_bits(&sq->gaps, ORNIC_GAPS_HELD, psn);
	for (; news; news &= ~part) {
		low = ornic_low_bit(news);
		at = ornic_psn_add(psn, low);
		sw = ornic_gap_owner(sq, at);
		if (!sw)
			break;
		n = ornic_gap_part(sq, sw, &at, end);
		part = ornic_low_bits(max_t(u32, n, 1)) << low;
		*looked += 1 + note_kept(ctx, qp, sw, psn, news & part);
	}
	return end;
}

#define SACK_PIECE 64 /* bytes that are looked at together */
/* A packet brings no more than so much, and SACK_PIECE: what follows comes again. */
#define MOST_NEWS 4096

u32 ornic_gaps_sack(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_pkt *pkt)
{
	u32 left = pkt->payload_len, last = pkt->psn, psn, end, n, i;
	u32 looked = 0;
	__le64 word[SACK_PIECE / 8];

	/* It forgets which READs are held. */
	ornic_gap_turn_epoch(ctx, qp);
	psn = ornic_psn_add(pkt->psn, 1);
	for (; left && looked < MOST_NEWS; left -= n) {
		n = min_t(u32, left, SACK_PIECE);
		memset(word, 0, sizeof(word));
		ornic_pkt_copy_payload(pkt, pkt->payload_len - left, word, n);
		for (i = 0; i < ARRAY_SIZE(word); i++) {
			end = note_bits(ctx, qp, psn, le64_to_cpu(word[i]),
					&looked);
			if (end != psn)
				last = ornic_psn_add(end, ORNIC_PSN_MASK);
			psn = ornic_psn_add(psn, 64);
		}
	}
	return last;
}
