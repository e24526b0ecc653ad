// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Statistics: of the device, and of counter sets that QPs are bound to.
 *
 * Invariant: a QP counts either in the device's own counters or in one set,
 * never in both, so that what a host adds up is true.
 */
#include "qp.h"

static struct ornic_counter_set *cset_lookup(struct ornic_dev *dev, u32 number)
{
	return ornic_table_lookup(&dev->csets, number);
}

static void cset_free(struct ornic_counter_set *cset)
{
	ornic_counters_free(&cset->stats);
	ornic_free(cset);
}

int ornic_counters_create(struct ornic_dev *dev, u32 *number)
{
	struct ornic_counter_set *cset;
	int index;

	cset = ornic_zalloc(sizeof(*cset));
	if (!cset)
		return ORNIC_NO_RESOURCE;
	if (ornic_counters_alloc(&cset->stats, ORNIC_STAT_COUNT)) {
		ornic_free(cset);
		return ORNIC_NO_RESOURCE;
	}
	index = ornic_table_reserve(&dev->csets, 0);
	if (index < 0) {
		cset_free(cset);
		return ornic_errno_status(index);
	}
	*number = (u32)index;
	ornic_table_publish(&dev->csets, *number, cset);
	return ORNIC_OK;
}

int ornic_counters_destroy(struct ornic_dev *dev, u32 number)
{
	struct ornic_counter_set *cset;

	cset = ornic_table_unlink(&dev->csets, number);
	if (!cset)
		return ORNIC_NOT_FOUND;
	if (!ornic_table_retire(&dev->csets, number, cset, &cset->users))
		return ORNIC_BUSY;
	ornic_table_release(&dev->csets, number);
	cset_free(cset);
	return ORNIC_OK;
}

/* Under both locks nothing is counted half here and half there. */
static void bind_qp(struct ornic_qp *qp, struct ornic_counter_set *cset,
		    u32 number)
{
	struct ornic_counter_set *old;

	ornic_lock(&qp->sq.lock);
	ornic_lock(&qp->rq.lock);
	old = qp->cset;
	qp->cset = cset;
	qp->csetn = number;
	WRITE_ONCE(qp->stats, cset ? &cset->stats : &qp->dev->stats);
	ornic_unlock(&qp->rq.lock);
	ornic_unlock(&qp->sq.lock);
	if (old)
		ornic_atomic_dec(&old->users);
}

int ornic_counters_bind(struct ornic_dev *dev,
			const struct ornic_req_bind_counters *req)
{
	u32 number = le32_to_cpu(req->counters);
	struct ornic_counter_set *cset = NULL;
	int status = ORNIC_NOT_FOUND;
	struct ornic_qp *qp;

	ornic_rcu_read_lock();
	qp = ornic_table_lookup(&dev->qps, le32_to_cpu(req->hdr.obj));
	if (number)
		cset = cset_lookup(dev, number);
	if (qp && (cset || !number)) {
		if (cset)
			ornic_atomic_inc(&cset->users);
		bind_qp(qp, cset, number);
		status = ORNIC_OK;
	}
	ornic_rcu_read_unlock();
	return status;
}

static void write_stats(u8 *out, struct ornic_counters *stats, u32 n)
{
	__le64 value;
	u32 i;

	for (i = 0; i < n; i++) {
		value = cpu_to_le64(ornic_counters_sum(stats, i));
		memcpy(out + i * sizeof(value), &value, sizeof(value));
	}
}

int ornic_stats_query(struct ornic_dev *dev,
		      const struct ornic_req_query_stats *req)
{
	u32 n = min_t(u32, le32_to_cpu(req->count), ORNIC_STAT_COUNT);
	u32 number = le32_to_cpu(req->hdr.obj);
	struct ornic_counter_set *cset = NULL;
	u8 *out = NULL;

	if (n) {
		out = dev->ops->dma(dev->host, le64_to_cpu(req->addr),
				    n * sizeof(u64));
		if (!out)
			return ORNIC_BAD_ADDR;
	}
	if (!number) {
		write_stats(out, &dev->stats, n);
		return ORNIC_OK;
	}
	ornic_rcu_read_lock();
	cset = cset_lookup(dev, number);
	if (cset)
		write_stats(out, &cset->stats, n);
	ornic_rcu_read_unlock();
	return cset ? ORNIC_OK : ORNIC_NOT_FOUND;
}

int ornic_stats_modify(struct ornic_dev *dev,
		       const struct ornic_req_modify_stats *req)
{
	u64 optional = le64_to_cpu(req->optional);

	if (optional & ~ORNIC_STATS_OPTIONAL)
		return ORNIC_BAD_PARAM;
	WRITE_ONCE(dev->optional, optional);
	return ORNIC_OK;
}
