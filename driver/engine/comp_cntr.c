// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion counters: commands, and counting.
 *
 * Invariant: the values are the engine's. The record is written under the lock
 * of the counter and never read, so what else writes to that memory changes
 * nothing but what is read there.
 */
#include "comp_cntr.h"

#include "qp.h"

static void set_value(struct ornic_comp_cntr *cntr, enum ornic_cntr_entry entry,
		      u64 value)
{
	__le64 *to = entry == ORNIC_CNTR_ERRORS ? &cntr->record->errors :
						  &cntr->record->completions;

	cntr->value[entry] = value;
	/* Pairs with the acquire of the reader: data before its completion. */
	smp_store_release(to, cpu_to_le64(value));
}

void ornic_comp_cntr_count(struct ornic_comp_cntr *cntr,
			   enum ornic_cntr_entry entry)
{
	ornic_lock_inner(&cntr->lock);
	set_value(cntr, entry, cntr->value[entry] + 1);
	ornic_unlock_inner(&cntr->lock);
}

void ornic_comp_cntr_send(struct ornic_qp *qp, u8 cqe,
			  enum ornic_cntr_entry entry)
{
	switch (cqe) {
	case ORNIC_CQE_SEND:
		ornic_qp_count(qp, ORNIC_CNTR_SEND, entry);
		break;
	case ORNIC_CQE_WRITE:
		ornic_qp_count(qp, ORNIC_CNTR_WRITE, entry);
		break;
	case ORNIC_CQE_READ:
		ornic_qp_count(qp, ORNIC_CNTR_READ, entry);
		break;
	default:
		break;
	}
}

void ornic_comp_cntr_recv(struct ornic_qp *qp, u8 status)
{
	ornic_qp_count(qp, ORNIC_CNTR_RECV,
		       status == ORNIC_CQE_SUCCESS ? ORNIC_CNTR_COMPLETIONS :
						     ORNIC_CNTR_ERRORS);
}

static void request_failed(struct ornic_qp *qp, u32 flags)
{
	if (flags & ORNIC_OPF_WRITE)
		ornic_qp_count(qp, ORNIC_CNTR_REMOTE_WRITE, ORNIC_CNTR_ERRORS);
	if (flags & ORNIC_OPF_READ)
		ornic_qp_count(qp, ORNIC_CNTR_REMOTE_READ, ORNIC_CNTR_ERRORS);
}

void ornic_comp_cntr_request(struct ornic_qp *qp, u32 flags,
			     enum ornic_verdict verdict)
{
	switch (verdict) {
	case ORNIC_RESP_ACK:
		if (flags & ORNIC_OPF_WRITE && flags & ORNIC_OPF_END)
			ornic_qp_count(qp, ORNIC_CNTR_REMOTE_WRITE,
				       ORNIC_CNTR_COMPLETIONS);
		break;
	case ORNIC_RESP_NAK_INVALID:
	case ORNIC_RESP_NAK_ACCESS:
	case ORNIC_RESP_NAK_OP:
		request_failed(qp, flags);
		break;
	default:
		break;
	}
}

/* ---- Commands --------------------------------------------------------------- */

static int map_record(struct ornic_dev *dev, const struct ornic_mem *mem,
		      struct ornic_comp_cntr *cntr)
{
	u64 run;
	int err;

	err = ornic_pages_get(dev, mem, &cntr->pages);
	if (err)
		return err;
	cntr->record = ornic_pages_at(&cntr->pages, 0, &run);
	if (run >= sizeof(*cntr->record) &&
	    !((uintptr_t)cntr->record & (sizeof(*cntr->record) - 1)))
		return 0;
	ornic_pages_put(&cntr->pages);
	return -EINVAL;
}

static void cntr_free(struct ornic_comp_cntr *cntr)
{
	ornic_pages_put(&cntr->pages);
	ornic_free(cntr);
}

int ornic_comp_cntr_create(struct ornic_dev *dev,
			   const struct ornic_req_create_comp_cntr *req,
			   u32 *number)
{
	struct ornic_comp_cntr *cntr;
	int index, err;

	cntr = ornic_zalloc(sizeof(*cntr));
	if (!cntr)
		return ORNIC_NO_RESOURCE;
	ornic_lock_init(&cntr->lock);
	err = map_record(dev, &req->mem, cntr);
	if (err)
		goto err_free;
	index = ornic_table_reserve(&dev->comp_cntrs, 0);
	if (index < 0) {
		err = index;
		goto err_put_pages;
	}
	set_value(cntr, ORNIC_CNTR_COMPLETIONS, 0);
	set_value(cntr, ORNIC_CNTR_ERRORS, 0);
	*number = (u32)index;
	ornic_table_publish(&dev->comp_cntrs, *number, cntr);
	return ORNIC_OK;

err_put_pages:
	ornic_pages_put(&cntr->pages);
err_free:
	ornic_free(cntr);
	return ornic_errno_status(err);
}

int ornic_comp_cntr_destroy(struct ornic_dev *dev, u32 number)
{
	struct ornic_comp_cntr *cntr;

	cntr = ornic_table_unlink(&dev->comp_cntrs, number);
	if (!cntr)
		return ORNIC_NOT_FOUND;
	if (!ornic_table_retire(&dev->comp_cntrs, number, cntr, &cntr->users))
		return ORNIC_BUSY;
	ornic_table_release(&dev->comp_cntrs, number);
	cntr_free(cntr);
	return ORNIC_OK;
}

int ornic_comp_cntr_modify(struct ornic_dev *dev,
			   const struct ornic_req_modify_comp_cntr *req)
{
	u64 value = le64_to_cpu(req->value);
	struct ornic_comp_cntr *cntr;

	if (req->entry > ORNIC_CNTR_ERRORS || req->change > ORNIC_CNTR_ADD)
		return ORNIC_BAD_PARAM;
	ornic_rcu_read_lock();
	cntr = ornic_table_lookup(&dev->comp_cntrs, le32_to_cpu(req->hdr.obj));
	if (cntr) {
		ornic_lock(&cntr->lock);
		if (req->change == ORNIC_CNTR_ADD)
			value += cntr->value[req->entry];
		set_value(cntr, req->entry, value);
		ornic_unlock(&cntr->lock);
	}
	ornic_rcu_read_unlock();
	return cntr ? ORNIC_OK : ORNIC_NOT_FOUND;
}

static int attach_locked(struct ornic_qp *qp, struct ornic_comp_cntr *cntr,
			 u8 ops)
{
	u32 op;

	if (qp->state != ORNIC_QPS_RESET && qp->state != ORNIC_QPS_INIT)
		return ORNIC_BAD_STATE;
	if (qp->cntr_ops & ops)
		return ORNIC_BUSY;
	for (op = 0; op < ORNIC_CNTR_OPS; op++) {
		if (!(ops & 1u << op))
			continue;
		ornic_atomic_inc(&cntr->users);
		qp->cntr[op] = cntr;
	}
	qp->cntr_ops |= ops;
	return ORNIC_OK;
}

int ornic_comp_cntr_attach(struct ornic_dev *dev,
			   const struct ornic_req_attach_comp_cntr *req)
{
	struct ornic_comp_cntr *cntr;
	int status = ORNIC_NOT_FOUND;
	struct ornic_qp *qp;

	if (!req->ops || req->ops >> ORNIC_CNTR_OPS)
		return ORNIC_BAD_PARAM;
	ornic_rcu_read_lock();
	qp = ornic_table_lookup(&dev->qps, le32_to_cpu(req->hdr.obj));
	cntr = ornic_table_lookup(&dev->comp_cntrs, le32_to_cpu(req->cntr));
	if (qp && cntr) {
		ornic_lock(&qp->sq.lock);
		ornic_lock(&qp->rq.lock);
		status = attach_locked(qp, cntr, req->ops);
		ornic_unlock(&qp->rq.lock);
		ornic_unlock(&qp->sq.lock);
	}
	ornic_rcu_read_unlock();
	return status;
}

void ornic_comp_cntr_detach(struct ornic_qp *qp)
{
	u32 op;

	for (op = 0; op < ORNIC_CNTR_OPS; op++) {
		if (qp->cntr[op])
			ornic_atomic_dec(&qp->cntr[op]->users);
	}
}
