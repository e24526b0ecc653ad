/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which posts of a kernel user another CPU executes.
 *
 * A poster that carries a request through both ends itself wakes no other CPU, which is
 * fastest with one request at a time. But then it has the answer before it can post the
 * next request, however many it has: so the two ends never work at the same time. Whether
 * there are more is seen only while another CPU executes them, if posts come faster than
 * answers. Therefore posts are handed off until ORNIC_HANDOFF_ALONE in succession had
 * their answer before the next, then the poster executes ORNIC_HANDOFF_HERE itself.
 *
 * An answer is a message that the QP receives.
 */
#ifndef ORNIC_HANDOFF_H
#define ORNIC_HANDOFF_H

#include "ornic_pure.h"

#define ORNIC_HANDOFF_ALONE 16
#define ORNIC_HANDOFF_HERE 256

/* Of a QP; zeroed at first */
struct ornic_handoff {
	u32 unanswered; /* posts since the last answer, at most 2 */
	u32 alone; /* of those handed off, in succession, had their answer */
	u32 here; /* posts that their poster executes, from now on */
};

/* A post; the callers of one QP are ordered. Returns true if it is to be handed off. */
static inline bool ornic_handoff_post(struct ornic_handoff *h)
{
	u32 before = READ_ONCE(h->unanswered);

	if (before < 2)
		WRITE_ONCE(h->unanswered, before + 1);
	if (h->here) {
		h->here--;
		return false;
	}
	if (before) {
		h->alone = 0;
	} else if (++h->alone == ORNIC_HANDOFF_ALONE) {
		h->alone = 0;
		h->here = ORNIC_HANDOFF_HERE;
	}
	return true;
}

/* A message was received; at any time */
static inline void ornic_handoff_answer(struct ornic_handoff *h)
{
	WRITE_ONCE(h->unanswered, 0);
}

#endif /* ORNIC_HANDOFF_H */
