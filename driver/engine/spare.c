// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that a device takes because packets are lost or paths are long: what
 * responders keep, and the maps of requesters. A peer causes it, nobody is charged
 * for it, and nothing depends on it but speed. So a device has a limit, a peer's QPs
 * have as much as is left of that, and a QP half as much: whoever takes all it can
 * leaves as much to others.
 */
#include "proto.h"

/* Without a limit of the host's. */
#define DEFAULT_LIMIT (16u << 20)
/* Counts are of type int. */
#define LARGEST_LIMIT (1u << 30)

void ornic_spare_init(struct ornic_dev *dev)
{
	u64 limit = dev->ops->max_spare;

	if (!limit)
		limit = DEFAULT_LIMIT;
	dev->spare_limit = (u32)min_t(u64, limit, LARGEST_LIMIT);
}

static ornic_atomic_t *peer_spare(const struct ornic_qp *qp)
{
	return &qp->dev->spare_of_peer[qp->peer >> (64 - ORNIC_PEER_SEEN_LOG)];
}

static void add_spare(struct ornic_qp *qp, s32 bytes)
{
	ornic_atomic_add(&qp->dev->spare, bytes);
	ornic_atomic_add(peer_spare(qp), bytes);
	ornic_atomic_add(&qp->spare, bytes);
}

bool ornic_spare_take(struct ornic_qp *qp, u32 bytes)
{
	s64 left =
		(s64)qp->dev->spare_limit - ornic_atomic_read(&qp->dev->spare);

	if ((s64)ornic_atomic_read(&qp->spare) + bytes > left / 2 ||
	    (s64)ornic_atomic_read(peer_spare(qp)) + bytes > left)
		return false;
	add_spare(qp, (s32)bytes);
	return true;
}

bool ornic_spare_is_ample(const struct ornic_qp *qp)
{
	return (u32)ornic_atomic_read(&qp->dev->spare) <
	       qp->dev->spare_limit / 4;
}

void ornic_spare_return(struct ornic_qp *qp, u32 bytes)
{
	add_spare(qp, -(s32)bytes);
}

void *ornic_spare_zalloc(struct ornic_qp *qp, u32 bytes)
{
	void *p;

	if (!ornic_spare_take(qp, bytes))
		return NULL;
	p = ornic_alloc_atomic(bytes);
	if (p)
		memset(p, 0, bytes);
	else
		ornic_spare_return(qp, bytes);
	return p;
}

void ornic_spare_free(struct ornic_qp *qp, void *p, u32 bytes)
{
	if (!p)
		return;
	ornic_spare_return(qp, bytes);
	ornic_free(p);
}

void ornic_spare_move(struct ornic_qp *qp, u64 peer)
{
	s32 bytes = ornic_atomic_read(&qp->spare);

	ornic_atomic_add(peer_spare(qp), -bytes);
	qp->peer = peer;
	ornic_atomic_add(peer_spare(qp), bytes);
}
