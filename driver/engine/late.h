/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How late a packet may be before it is taken for lost: what requesters learn of
 * responses (gaps.c) and responders of requests (reorder.c).
 *
 * On a path that keeps order, what is overtaken was lost: it is asked for again at once.
 * A peer that repeats selectively says what is a copy: when a packet comes that was
 * overtaken and is none, the next ones may be a quarter later than it was, up to 20 ms. Of
 * another peer one packet at a time is judged. If it comes, and is not what was sent for
 * that, it was asked for in vain: the next ones may be twice as late, or a quarter later
 * than this one was. Each time that something is asked for takes a sixteenth of it away,
 * so that a path on which packets are lost is found out as well.
 *
 * While neither has happened, and most is missing, a responder asks for the first gap.
 */
#ifndef ORNIC_ENGINE_LATE_H
#define ORNIC_ENGINE_LATE_H

#include "dev.h"

#define ORNIC_LATE_MOST_NS 20000000ull
/* No timer is worth less. */
#define ORNIC_LATE_LEAST_NS 1000ull
/* After so long it is another packet with that PSN, or another copy. */
#define ORNIC_LATE_JUDGE_NS 20000000ull

/* struct ornic_late - of the requests or responses of a QP; rq or sq */
struct ornic_late {
	u64 ns; /* one overdue for so long is taken for lost */
	u64 judged; /* when the one that is judged was missed, ns; 0 = none is */
	u64 took; /* until it came, ns; 0 = not yet */
	u32 psn; /* its PSN */
	bool lossy; /* rq: a copy has filled a gap */
};

/* Something was asked for. @spray: several paths stay as different as they are. */
static inline void ornic_late_asked(struct ornic_late *late, bool spray)
{
	late->ns -= late->ns >> (likely(!spray) ? 4 : 8);
	if (late->ns < ORNIC_LATE_LEAST_NS)
		late->ns = 0;
}

/* Is one judged, and not too old for that? */
static inline bool ornic_late_is_judging(const struct ornic_late *late, u64 now)
{
	return late->judged &&
	       ornic_since(now, late->judged) < ORNIC_LATE_JUDGE_NS;
}

/* @psn, missed at @missed, is asked for: judge it, unless another one is judged. */
static inline bool ornic_late_judge(struct ornic_late *late, u64 now,
				    u64 missed, u32 psn)
{
	if (ornic_late_is_judging(late, now))
		return false;
	late->judged = missed;
	late->took = 0;
	late->psn = psn;
	return true;
}

/* One that was overtaken, and is no copy, came after @took. */
static inline void ornic_late_learn(struct ornic_late *late, u64 took)
{
	u64 ns = min_t(u64, took + took / 4, ORNIC_LATE_MOST_NS);

	if (ns >= ORNIC_LATE_LEAST_NS)
		late->ns = max_t(u64, late->ns, ns);
}

/* The one that was judged, which came after @took, was asked for in vain. */
static inline void ornic_late_in_vain(struct ornic_late *late)
{
	late->judged = 0;
	late->ns = max_t(u64, 2 * late->ns, late->took * 5 / 4);
	late->ns = min_t(u64, late->ns, ORNIC_LATE_MOST_NS);
}

#endif /* ORNIC_ENGINE_LATE_H */
