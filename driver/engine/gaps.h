/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What gaps*.c share: bits of the maps, and WQEs by PSN. sq */
#ifndef ORNIC_ENGINE_GAPS_H
#define ORNIC_ENGINE_GAPS_H

#include "proto.h"

static inline bool ornic_gap_has(const struct ornic_gaps *gaps,
				 enum ornic_gaps_map map, u32 psn)
{
	return ornic_map_has(gaps->map[map], gaps->size, psn);
}

static inline void ornic_gap_set(struct ornic_gaps *gaps,
				 enum ornic_gaps_map map, u32 psn)
{
	ornic_map_set(gaps->map[map], gaps->size, psn);
}

/* Returns how many were set. */
static inline u32 ornic_gap_clear(struct ornic_gaps *gaps,
				  enum ornic_gaps_map map, u32 psn, u32 n)
{
	return ornic_map_clear(gaps->map[map], gaps->size, psn, n);
}

static inline u64 ornic_gap_bits(const struct ornic_gaps *gaps,
				 enum ornic_gaps_map map, u32 psn)
{
	return ornic_map_bits(gaps->map[map], gaps->size, psn);
}

/* What has arrived of the @n PSNs from @psn on has not, or is complete. */
static inline void ornic_gap_clear_got(struct ornic_gaps *gaps, u32 psn, u32 n)
{
	gaps->ngot -= ornic_gap_clear(gaps, ORNIC_GAPS_GOT, psn, n);
}

static inline bool ornic_gap_in_window(const struct ornic_sq *sq, u32 psn)
{
	return (u32)ornic_psn_diff(psn, sq->acked) < sq->gaps.size;
}

static inline u32 ornic_gap_map_bytes(u32 size)
{
	return size / 8;
}

static inline void ornic_gap_clear_map(struct ornic_gaps *gaps,
				       enum ornic_gaps_map map)
{
	memset(gaps->map[map], 0, ornic_gap_map_bytes(gaps->size));
}

/*
 * The response @psn has come, but cannot be placed: its page is absent, or an older one
 * is to write there before. It has to come again, but was not lost.
 */
void ornic_gap_add_unplaced(struct ornic_sq *sq, u32 psn);

/* Is the oldest response one of those? */
static inline bool ornic_gap_is_unplaced(const struct ornic_sq *sq)
{
	const struct ornic_gaps *gaps = &sq->gaps;

	return (u32)ornic_psn_diff(sq->acked, gaps->unplaced) < gaps->nunplaced;
}

/* If a round trip is over, what was sent again before it, and has not arrived, was lost. */
void ornic_gap_turn_epoch(const struct ornic_ctx *ctx, struct ornic_qp *qp);

/* @psn, which is in the window, has arrived, or the peer keeps it. */
void ornic_gap_mark(const struct ornic_ctx *ctx, struct ornic_qp *qp, u32 psn);

/*
 * How far after the first PSN of @sw @psn is, which is in the window. Beside the oldest PSN,
 * as the longest READ may have begun 2^23 PSNs before.
 */
static inline s32 ornic_gap_into(const struct ornic_sq *sq,
				 const struct ornic_swqe *sw, u32 psn)
{
	return ornic_psn_diff(psn, sq->acked) -
	       ornic_psn_diff(sw->first_psn, sq->acked);
}

/*
 * The index of the WQE that @psn belongs to, sq.fetched if it is of none that is
 * under way.
 */
u32 ornic_gap_index(struct ornic_sq *sq, u32 psn);

/* How many PSNs from *@from on, which is moved, to before @end are of @sw. */
static inline u32 ornic_gap_part(const struct ornic_sq *sq,
				 const struct ornic_swqe *sw, u32 *from,
				 u32 end)
{
	s32 first = ornic_psn_diff(sw->first_psn, sq->acked);
	s32 last = first + (s32)sw->npkts;

	first = max_t(s32, first, ornic_psn_diff(*from, sq->acked));
	last = min_t(s32, last, ornic_psn_diff(end, sq->acked));
	last = min_t(s32, last, (s32)sq->gaps.size);
	*from = ornic_psn_add(sq->acked, (u32)first);
	return last > first ? last - first : 0;
}

static inline struct ornic_swqe *ornic_gap_owner(struct ornic_sq *sq, u32 psn)
{
	u32 i = ornic_gap_index(sq, psn);

	return i != sq->fetched ? ornic_swqe(sq, i) : NULL;
}

#endif /* ORNIC_ENGINE_GAPS_H */
