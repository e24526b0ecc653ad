// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "peek.h"
#include "engine/proto.h"

/* More than a device takes. */
#define NO_ROOM (1 << 30)

static struct ornic_qp *lookup(const struct ornic_th_qp *qp)
{
	return ornic_qp_lookup(&qp->th->eng->dev, qp->qpn);
}

struct ornic_peek ornic_peek_at(const struct ornic_th_qp *a,
				const struct ornic_th_qp *b)
{
	u32 first = a->conn.sq_psn;
	struct ornic_peek peek = { 0 };
	struct ornic_qp *qa, *qb;

	ornic_rcu_read_lock();
	qa = lookup(a);
	qb = lookup(b);
	peek.acked = ornic_psn_diff(qa->sq.acked, first);
	peek.psn = ornic_psn_diff(qa->sq.psn, first);
	peek.max_psn = ornic_psn_diff(qa->sq.max_psn, first);
	peek.epsn = ornic_psn_diff(qb->rq.epsn, first);
	peek.deadline = qa->sq.deadline;
	peek.ack_at = qa->sq.retry.ack_at;
	peek.nak_at = qb->rq.ahead.nak_at;
	ornic_rcu_read_unlock();
	return peek;
}

void ornic_peek_forget(const struct ornic_th_qp *qp)
{
	struct ornic_qp *q;

	ornic_rcu_read_lock();
	q = lookup(qp);
	ornic_lock(&q->rq.lock);
	ornic_reorder_forget(q);
	ornic_unlock(&q->rq.lock);
	ornic_rcu_read_unlock();
}

void ornic_peek_set_late(const struct ornic_th_qp *qp, u64 ns)
{
	struct ornic_qp *q;

	ornic_rcu_read_lock();
	q = lookup(qp);
	ornic_lock(&q->rq.lock);
	q->rq.ahead.late.ns = ns;
	ornic_unlock(&q->rq.lock);
	ornic_rcu_read_unlock();
}

void ornic_peek_set_full(struct ornic_th *th, bool full)
{
	ornic_atomic_t *spare = &th->eng->dev.spare;

	if (full != (ornic_atomic_read(spare) >= NO_ROOM))
		ornic_atomic_add(spare, full ? NO_ROOM : -NO_ROOM);
}
