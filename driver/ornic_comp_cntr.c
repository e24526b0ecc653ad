// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion counters. Their values are in a page that the device writes, and
 * that the provider and the driver only read.
 */
#include "ornic_comp_cntr.h"

#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"

int ornic_ib_cntr_create(struct ornic_ib_cntr *cntr,
			 struct ib_ucontext *context,
			 struct ornic_create_comp_cntr_resp *resp)
{
	struct ornic_ib_dev *dev = to_odev(context->device);
	struct ornic_dma_mem mem;
	int ret;

	if (!dev->caps.max_comp_cntr)
		return -EOPNOTSUPP;
	ret = ornic_queue_init_read_only(&cntr->queue, context,
					 sizeof(struct ornic_comp_cntr_record));
	if (ret)
		return ret;
	ornic_queue_mem_describe(cntr->queue.mem, &mem);
	ret = ornic_cmd_create_comp_cntr(dev, &mem, &cntr->number);
	if (ret)
		goto err_release_queue;
	resp->number = cntr->number;
	resp->mmap_offset = ornic_mmap_offset(cntr->queue.mmap);
	resp->mmap_size = ornic_mmap_size(cntr->queue.mmap);
	return 0;

err_release_queue:
	ornic_queue_release(&cntr->queue, context->device);
	return ret;
}

int ornic_ib_cntr_destroy(struct ornic_ib_cntr *cntr, struct ornic_ib_dev *dev)
{
	int ret;

	ret = ornic_cmd_destroy_comp_cntr(dev, cntr->number);
	if (!ret)
		ornic_queue_release(&cntr->queue, &dev->ibdev);
	return ret;
}

int ornic_ib_cntr_modify(struct ornic_ib_cntr *cntr, struct ornic_ib_dev *dev,
			 u32 entry, u32 change, u64 value)
{
	if (entry > ORNIC_CNTR_ERRORS || change > ORNIC_CNTR_ADD) {
		ibdev_dbg(&dev->ibdev,
			  "completion counter %u: entry %u, change %u\n",
			  cntr->number, entry, change);
		return -EINVAL;
	}
	return ornic_cmd_modify_comp_cntr(dev, cntr->number, entry, change,
					  value);
}

int ornic_ib_cntr_read(const struct ornic_ib_cntr *cntr, u32 entry, u64 *value)
{
	const struct ornic_comp_cntr_record *record =
		ornic_queue_mem_at(cntr->queue.mem, 0);
	const __le64 *from;

	if (entry > ORNIC_CNTR_ERRORS)
		return -EINVAL;
	from = entry == ORNIC_CNTR_ERRORS ? &record->errors :
					    &record->completions;
	*value = le64_to_cpu(READ_ONCE(*from));
	/* What was counted is in memory. */
	dma_rmb();
	return 0;
}

int ornic_ib_cntr_attach(const struct ornic_ib_cntr *cntr, struct ib_qp *ibqp,
			 u32 ops)
{
	if (ops >> ORNIC_CNTR_OPS) {
		ibdev_dbg(ibqp->device,
			  "QP %#x: operations %#x for a counter, all are %#x\n",
			  ibqp->qp_num, ops, (1u << ORNIC_CNTR_OPS) - 1);
		return -EOPNOTSUPP;
	}
	return ornic_cmd_attach_comp_cntr(to_odev(ibqp->device), ibqp->qp_num,
					  cntr->number, ops);
}
