// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The maps in which a requester marks what has arrived, and what was sent again, by PSN:
 * their memory, their room, and the WQEs that PSNs are of.
 */
#include "gaps.h"

/* ---- The maps ------------------------------------------------------------------- */

/* @block is for all maps. */
static void use_maps(struct ornic_gaps *gaps, u64 *block, u32 size)
{
	u32 i;

	for (i = 0; i < ORNIC_GAPS_MAPS; i++)
		gaps->map[i] = &block[(size_t)i * (size / 64)];
	gaps->size = size;
}

static void free_maps(struct ornic_qp *qp)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;

	if (gaps->size > ORNIC_GAPS_FIRST)
		ornic_spare_free(qp, gaps->map[0],
				 ORNIC_GAPS_MAPS *
					 ornic_gap_map_bytes(gaps->size));
}

void ornic_gaps_grow(struct ornic_qp *qp)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;
	u32 size = 2 * gaps->size, i;
	u64 *block;

	if (gaps->size >= ORNIC_GAPS_MOST)
		return;
	block = ornic_spare_zalloc(qp,
				   ORNIC_GAPS_MAPS * ornic_gap_map_bytes(size));
	if (!block)
		return;
	for (i = 0; i < ORNIC_GAPS_MAPS && gaps->used; i++)
		ornic_map_copy(&block[(size_t)i * (size / 64)], size,
			       gaps->map[i], gaps->size, qp->sq.acked,
			       gaps->size);
	free_maps(qp);
	use_maps(gaps, block, size);
}

static void clear_maps(struct ornic_qp *qp)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;
	u32 i;

	gaps->used = false;
	gaps->ngot = 0;
	/* The path has become short, or bad: the memory is for others. */
	if (gaps->size > ORNIC_GAPS_FIRST &&
	    qp->sq.window <= ORNIC_FIRST_WINDOW) {
		free_maps(qp);
		use_maps(gaps, gaps->own, ORNIC_GAPS_FIRST);
	}
	for (i = 0; i < ORNIC_GAPS_MAPS; i++)
		ornic_gap_clear_map(gaps, i);
}

/* Of @n PSNs from @psn on, in all maps at once: they have one size. */
static void clear_bits(struct ornic_gaps *gaps, u32 psn, u32 n)
{
	u32 at, part, i;
	u64 bits;

	for (; n; n -= part) {
		part = min_t(u32, n, 64 - psn % 64);
		bits = ornic_low_bits(part) << psn % 64;
		at = ornic_map_index(gaps->size, psn);
		gaps->ngot -=
			ornic_count_bits(gaps->map[ORNIC_GAPS_GOT][at] & bits);
		for (i = 0; i < ORNIC_GAPS_MAPS; i++)
			gaps->map[i][at] &= ~bits;
		psn += part;
	}
}

void ornic_gaps_forget(struct ornic_qp *qp, u32 end)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_gaps *gaps = &sq->gaps;
	u32 n = ornic_psn_diff(end, sq->acked);

	if (gaps->whole_at && ornic_psn_diff(gaps->whole_psn, end) < 0)
		gaps->whole_at = 0;
	if (end == sq->max_psn || !ornic_gap_in_window(sq, end)) {
		clear_maps(qp);
		return;
	}
	clear_bits(gaps, sq->acked, n);
}

bool ornic_gaps_has(const struct ornic_sq *sq, u32 psn)
{
	return ornic_gap_in_window(sq, psn) &&
	       ornic_gap_has(&sq->gaps, ORNIC_GAPS_GOT, psn);
}

void ornic_gap_add_unplaced(struct ornic_sq *sq, u32 psn)
{
	struct ornic_gaps *gaps = &sq->gaps;
	u32 last = ornic_psn_add(gaps->unplaced, gaps->nunplaced - 1);

	/* All of them are complete, or there are none. */
	if (!gaps->nunplaced || !ornic_gap_in_window(sq, last)) {
		gaps->unplaced = psn;
		last = psn;
	}
	if (ornic_psn_diff(psn, gaps->unplaced) < 0)
		gaps->unplaced = psn;
	if (ornic_psn_diff(psn, last) > 0)
		last = psn;
	gaps->nunplaced = ornic_psn_diff(last, gaps->unplaced) + 1;
}

void ornic_gaps_stop(struct ornic_sq *sq)
{
	sq->gaps.at = sq->acked;
	sq->gaps.end = sq->acked;
	sq->gaps.again = true;
}

void ornic_gaps_reset(struct ornic_qp *qp)
{
	struct ornic_gaps *gaps = &qp->sq.gaps;

	free_maps(qp);
	memset(gaps, 0, sizeof(*gaps));
	use_maps(gaps, gaps->own, ORNIC_GAPS_FIRST);
	ornic_gaps_stop(&qp->sq);
}

bool ornic_gaps_leave_room(const struct ornic_sq *sq, u32 out)
{
	/* A refusal was the last news: all goes again, what has arrived as well. */
	return sq->selective == ORNIC_SELECTIVE_YES && !sq->retry.rnr_waits &&
	       out < sq->gaps.size &&
	       out - min_t(u32, out, sq->gaps.ngot) < sq->window;
}

/* ---- WQEs by PSN ---------------------------------------------------------------- */

/* Is @psn, @at after acked, one of @sw? */
static bool is_of(const struct ornic_sq *sq, const struct ornic_swqe *sw,
		  u32 psn)
{
	s32 into = ornic_gap_into(sq, sw, psn);

	return sw->started && into >= 0 && into < (s32)sw->npkts;
}

/* WQEs have got their PSNs in order, those that have some come first. */
static u32 search_index(struct ornic_sq *sq, u32 psn)
{
	u32 low = 0, high = sq->fetched - sq->tail, mid;
	s32 at = ornic_psn_diff(psn, sq->acked);
	const struct ornic_swqe *sw;

	while (low < high) {
		mid = (low + high) / 2;
		sw = ornic_swqe(sq, sq->tail + mid);
		if (sw->started &&
		    ornic_psn_diff(sw->first_psn, sq->acked) <= at)
			low = mid + 1;
		else
			high = mid;
	}
	/* The last one that begins at it or before; those without PSNs come first. */
	if (low && is_of(sq, ornic_swqe(sq, sq->tail + low - 1), psn))
		return sq->tail + low - 1;
	return sq->fetched;
}

static bool is_index(struct ornic_sq *sq, u32 i, u32 psn)
{
	return i - sq->tail < sq->fetched - sq->tail &&
	       is_of(sq, ornic_swqe(sq, i), psn);
}

/* It is nearly always the one that was found last, or the next. */
u32 ornic_gap_index(struct ornic_sq *sq, u32 psn)
{
	u32 i = sq->gaps.found;

	if (!is_index(sq, i, psn) && !is_index(sq, ++i, psn))
		i = search_index(sq, psn);
	sq->gaps.found = i;
	return i;
}
