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
 *
 * As a packet may have to be compared with all of them, they have a list: no more of
 * them are under way than the peer allows, but as many WQEs as the window has PSNs.
 */
#include "proto.h"

/* SGEs of a WQE that are compared with those of another */
#define MAX_COMPARED 4

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

static enum ornic_vendor_err
check_bytes(struct ornic_qp *qp, const struct ornic_lsge *sge, u32 off, u32 len)
{
	enum ornic_vendor_err verr;
	struct ornic_mkey *mkey;

	verr = ornic_key_check(qp->dev, sge->lkey, qp->pdn, sge->addr + off,
			       len, ORNIC_ACCESS_LOCAL_WRITE, &mkey);
	if (unlikely(verr != ORNIC_VERR_NONE) && sge->lkey == ORNIC_NULL_LKEY)
		verr = ornic_null_check(sge);
	return verr;
}

enum ornic_vendor_err ornic_sink_check(struct ornic_qp *qp,
				       const struct ornic_swqe *sw, u32 off,
				       u32 pages)
{
	enum ornic_vendor_err verr;
	u32 i, len;

	for (i = 0; i < sw->nsge; i++) {
		if (off >= sw->sge[i].length) {
			off -= sw->sge[i].length;
			continue;
		}
		len = sw->sge[i].length - off;
		verr = check_bytes(qp, &sw->sge[i], off, len);
		/* Memory may have no room for all pages at one time. */
		if (unlikely(verr == ORNIC_VERR_PAGE))
			verr = check_bytes(qp, &sw->sge[i], off,
					   min_t(u32, len, pages));
		if (verr != ORNIC_VERR_NONE)
			return verr;
		pages -= min_t(u32, len, pages);
		off = 0;
	}
	return ORNIC_VERR_NONE;
}

/*
 * What was begun last may be long gone, its number too: then either it is no WQE that
 * is under way or not one with a sink, as that one would have been the last.
 */
void ornic_sink_begin(struct ornic_sq *sq, struct ornic_swqe *sw)
{
	u32 last = sq->sink_last;

	if (last - sq->tail >= sw->index - sq->tail ||
	    !ornic_swqe_has_sink(ornic_swqe(sq, last)))
		last = sq->tail - 1;
	sw->sink_before = last;
	sq->sink_last = sw->index;
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
	if (!ornic_swqe_has_sink(sw))
		return;
	for (i = sw->sink_before; (s32)(i - sq->tail) >= 0;
	     i = older->sink_before) {
		older = ornic_swqe(sq, i);
		if (are_same(older, sw) || !do_overlap(older, sw))
			continue;
		sw->sink_shared = true;
		sw->sink_after = i;
		return;
	}
}

bool ornic_sink_must_wait(struct ornic_sq *sq, struct ornic_swqe *sw)
{
	if (!sw->sink_known)
		find_sinks(sq, sw);
	return sw->sink_shared && (s32)(sw->sink_after - sq->tail) >= 0;
}

/* Of those that are newer than gaps.newest no response has come before its turn. */
bool ornic_sink_is_newer(struct ornic_sq *sq, const struct ornic_swqe *sw,
			 u32 i)
{
	const struct ornic_swqe *newer;
	u32 n;

	if (!sq->gaps.open)
		return false;
	for (n = sq->gaps.newest; (s32)(n - sw->index) > 0;
	     n = newer->sink_before) {
		newer = ornic_swqe(sq, n);
		if (ornic_gaps_has(sq, ornic_psn_add(newer->first_psn, i)) &&
		    are_same(newer, sw))
			return true;
	}
	return false;
}
