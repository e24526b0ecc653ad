// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * READs and atomics that write to the same memory while packets are missing. When
 * all are complete, the result of the newest is there, as if the responses had come
 * in order (IBTA 9.5).
 *
 * Those with the very same SGEs need not wait for each other, as a program that
 * reads into one buffer again and again, perftest for instance, would then get one
 * READ in a round trip: what comes late for the older one is not written where the
 * newer one has written. Others that overlap in any way do wait.
 */
#include "proto.h"

/* SGEs of a WQE that are compared with those of another */
#define MAX_COMPARED 4

static bool has_sink(const struct ornic_swqe *sw)
{
	return ornic_swqe_is_fetch(sw) &&
	       !(sw->kind & ORNIC_OPF_EMPTY_RESPONSE);
}

static bool do_sges_overlap(const struct ornic_lsge *a,
			    const struct ornic_lsge *b)
{
	return a->addr < b->addr + b->length && b->addr < a->addr + a->length;
}

/* Do two WQEs write to the same memory, or have too many SGEs to tell? */
static bool do_overlap(const struct ornic_swqe *a, const struct ornic_swqe *b)
{
	u32 i, j;

	if (a->nsge > MAX_COMPARED || b->nsge > MAX_COMPARED)
		return true;
	for (i = 0; i < a->nsge; i++) {
		for (j = 0; j < b->nsge; j++) {
			if (do_sges_overlap(&a->sge[i], &b->sge[j]))
				return true;
		}
	}
	return false;
}

/* Does a packet of @sw write where another one of it does? */
static bool overlaps_itself(const struct ornic_swqe *sw)
{
	u32 i, j;

	for (i = 1; i < sw->nsge; i++) {
		for (j = 0; j < i; j++) {
			if (do_sges_overlap(&sw->sge[i], &sw->sge[j]))
				return true;
		}
	}
	return false;
}

/* Do packets of the same number, and only these, write the same bytes? */
static bool are_same(const struct ornic_swqe *a, const struct ornic_swqe *b)
{
	u32 i;

	if (a->length != b->length || a->nsge != b->nsge ||
	    a->nsge > MAX_COMPARED)
		return false;
	for (i = 0; i < a->nsge; i++) {
		if (a->sge[i].addr != b->sge[i].addr ||
		    a->sge[i].length != b->sge[i].length ||
		    a->sge[i].lkey != b->sge[i].lkey)
			return false;
	}
	return !overlaps_itself(a);
}

/*
 * Which older READs or atomics write to the memory of @sw does not change, so they are
 * looked for once.
 */
static void find_sinks(struct ornic_sq *sq, struct ornic_swqe *sw)
{
	const struct ornic_swqe *older;
	u32 i;

	sw->sink_known = true;
	for (i = sq->tail; has_sink(sw); i++) {
		older = ornic_swqe(sq, i);
		if (older == sw)
			break;
		if (!has_sink(older) || are_same(older, sw) ||
		    !do_overlap(older, sw))
			continue;
		sw->sink_shared = true;
		sw->sink_after = i;
	}
}

bool ornic_sink_must_wait(struct ornic_sq *sq, struct ornic_swqe *sw)
{
	if (!sw->sink_known)
		find_sinks(sq, sw);
	return sw->sink_shared && (s32)(sw->sink_after - sq->tail) >= 0;
}

bool ornic_sink_is_newer(struct ornic_sq *sq, const struct ornic_swqe *sw,
			 u32 i)
{
	const struct ornic_swqe *newer;
	u32 n;

	for (n = sw->index + 1; n != sq->fetched && sq->gaps.ngot; n++) {
		newer = ornic_swqe(sq, n);
		if (!newer->started)
			break;
		if (has_sink(newer) && are_same(newer, sw) &&
		    ornic_gaps_has(sq, ornic_psn_add(newer->first_psn, i)))
			return true;
	}
	return false;
}
