// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The P_Key table. Each QP has a copy of its entry, so that a packet needs no look
 * at the table; a change of the table is a change of these copies.
 *
 * Invariant: a QP that has an index has the entry of it, or that entry is being
 * changed and the QP is about to get it.
 */
#include "pkey.h"

#include "dev.h"
#include "qp.h"

/* QPs whose copies are changed before other work of the host gets its turn. */
#define QPS_AT_ONCE 256

void ornic_pkey_init(struct ornic_dev *dev)
{
	ornic_lock_init(&dev->pkey_lock);
	dev->pkey[0] = ORNIC_DEFAULT_PKEY;
}

u32 ornic_pkey_read(const struct ornic_dev *dev, u32 index)
{
	u16 pkey;

	if (index >= ORNIC_PKEY_TABLE_LEN)
		return ORNIC_PKEY_NONE;
	index = ornic_index_nospec(index, ORNIC_PKEY_TABLE_LEN);
	pkey = READ_ONCE(dev->pkey[index]);
	return pkey ? pkey : ORNIC_PKEY_NONE;
}

u32 ornic_pkey_find(const struct ornic_dev *dev, u32 pkey)
{
	u32 i;

	for (i = 0; i < ORNIC_PKEY_TABLE_LEN; i++) {
		if (ornic_pkeys_match(ornic_pkey_read(dev, i), pkey))
			break;
	}
	return i;
}

bool ornic_pkey_is_for_gsi(const struct ornic_qp *qp, u32 pkey)
{
	return qp->create_flags & ORNIC_QP_GSI &&
	       ornic_pkey_find(qp->dev, pkey) < ORNIC_PKEY_TABLE_LEN;
}

/*
 * The index is written before the lock is taken: either refresh_qp() sees it, or the
 * new entry is read here.
 */
void ornic_pkey_use(struct ornic_qp *qp, u8 index)
{
	struct ornic_dev *dev = qp->dev;

	WRITE_ONCE(qp->pkey_index, index);
	ornic_lock(&dev->pkey_lock);
	qp->pkey = ornic_pkey_read(dev, index);
	ornic_unlock(&dev->pkey_lock);
}

/* If it has lost its P_Key, the run fails what is posted. */
static void refresh_qp(struct ornic_qp *qp, u32 index)
{
	u32 before, now;

	if (READ_ONCE(qp->pkey_index) != index)
		return;
	ornic_lock(&qp->sq.lock);
	ornic_lock(&qp->rq.lock);
	before = qp->pkey;
	ornic_pkey_use(qp, qp->pkey_index);
	now = qp->pkey;
	ornic_unlock(&qp->rq.lock);
	ornic_unlock(&qp->sq.lock);
	if (now != before)
		qp->dev->ops->resched(qp->dev->host, qp->host_qp);
}

/* Some of the QPs from @at on; false after the last. */
static bool refresh_some(struct ornic_dev *dev, u32 index, u32 *at)
{
	struct ornic_qp *qp = NULL;
	u32 n;

	ornic_rcu_read_lock();
	for (n = 0; n < QPS_AT_ONCE; n++) {
		qp = ornic_table_next(&dev->qps, at);
		if (!qp)
			break;
		refresh_qp(qp, index);
		++*at;
	}
	ornic_rcu_read_unlock();
	return qp;
}

static bool set_entry(struct ornic_dev *dev, u32 index, u16 pkey)
{
	bool changed;

	ornic_lock(&dev->pkey_lock);
	changed = dev->pkey[index] != pkey;
	WRITE_ONCE(dev->pkey[index], pkey);
	ornic_unlock(&dev->pkey_lock);
	return changed;
}

int ornic_engine_pkey_set(struct ornic_engine *eng, u32 index, u16 pkey)
{
	const struct ornic_eqe eqe = { .type = ORNIC_EVENT_PKEY_CHANGE };
	struct ornic_dev *dev = &eng->dev;
	u32 at = 0;

	if (index >= ORNIC_PKEY_TABLE_LEN || pkey == ORNIC_PKEY_FULL)
		return -EINVAL;
	if (!set_entry(dev, index, pkey))
		return 0;
	while (refresh_some(dev, index, &at))
		ornic_relax(dev);
	dev->ops->event(dev->host, &eqe);
	return 0;
}

int ornic_engine_pkey_get(const struct ornic_engine *eng, u32 index)
{
	if (index >= ORNIC_PKEY_TABLE_LEN)
		return -EINVAL;
	return READ_ONCE(eng->dev.pkey[index]);
}
