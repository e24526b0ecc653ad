// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues. The provider posts to them in shared memory; the
 * driver makes them, arms their limit and passes their events on.
 */
#include "ornic_srq.h"

#include <rdma/ornic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_mmap.h"
#include "ornic_pd.h"
#include "ornic_queue_mem.h"
#include "ornic_ucontext.h"
#include "ornic_udata.h"

static int check_init_attr(struct ornic_dev *dev,
			   const struct ib_srq_init_attr *init, u64 needs)
{
	if (init->srq_type == IB_SRQT_BASIC && !(needs & ~dev->caps.caps))
		return 0;
	ibdev_dbg(&dev->ibdev, "SRQ: type %d, device caps %#llx\n",
		  init->srq_type, dev->caps.caps);
	return -EOPNOTSUPP;
}

static int check_udata(struct ib_udata *udata)
{
	struct ornic_create_srq_req req;
	int ret;

	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	return req.reserved_20 ? -EINVAL : 0;
}

/* Lays the ring out and returns in @attr what it holds. */
static int init_ring(struct ornic_dev *dev, struct ornic_srq *srq,
		     struct ib_srq_attr *attr, u64 *size)
{
	const struct ornic_ring_limits limits = {
		.log_max_wqe = dev->caps.log_max_wqe,
		.max_sge = dev->caps.max_sge,
	};
	struct ornic_ring_caps caps = {
		.recv_wr = attr->max_wr,
		.recv_sge = attr->max_sge,
	};
	int ret;

	ret = ornic_srq_ring_init(&srq->ring, &caps, &limits, size);
	if (ret) {
		ibdev_dbg(&dev->ibdev, "SRQ: WRs %u of %u, SGEs %u of %u\n",
			  attr->max_wr, 1u << limits.log_max_wqe, attr->max_sge,
			  limits.max_sge);
		return ret;
	}
	attr->max_wr = caps.recv_wr;
	attr->max_sge = caps.recv_sge;
	return 0;
}

static int create_on_device(struct ornic_dev *dev, struct ornic_srq *srq)
{
	struct ornic_create_srq_params params = {
		.ring = &srq->ring,
		.pdn = to_ornic_pd(srq->ibsrq.pd)->pdn,
	};

	ornic_queue_mem_describe(srq->queue.mem, &params.mem);
	return ornic_cmd_create_srq(dev, &params, &srq->srqn);
}

static int put_response(struct ornic_srq *srq, struct ib_udata *udata)
{
	struct ornic_create_srq_resp resp = {
		.srqn = srq->srqn,
		.mmap_offset = ornic_mmap_offset(srq->queue.mmap),
		.mmap_size = ornic_mmap_size(srq->queue.mmap),
		.log_depth = srq->ring.log_depth,
		.log_stride = srq->ring.log_stride,
		.max_sge = srq->ring.max_sge,
	};

	return ornic_udata_put(udata, &resp, sizeof(resp));
}

static int init_queue(struct ornic_dev *dev, struct ornic_srq *srq, u64 size,
		      struct ib_udata *udata)
{
	int ret;

	if (udata)
		return ornic_queue_init(
			&srq->queue, &ornic_udata_context(udata)->ibctx, size);
	ret = ornic_queue_init_kernel(&srq->queue, &dev->ibdev, size);
	if (!ret)
		ornic_wq_init(&srq->wq, srq->queue.mem, &srq->ring, 0);
	return ret;
}

/* Everything that can fail once the arguments are good. */
static int bring_up(struct ornic_dev *dev, struct ornic_srq *srq, u64 size,
		    struct ib_udata *udata)
{
	int ret;

	ret = init_queue(dev, srq, size, udata);
	if (ret)
		return ret;
	ret = create_on_device(dev, srq);
	if (ret)
		goto err_release_queue;
	if (udata)
		ret = put_response(srq, udata);
	if (ret)
		goto err_destroy_on_device;
	srq->sink = ornic_sink_open(&dev->srqs, srq->srqn, &srq->ibsrq);
	if (IS_ERR(srq->sink)) {
		ret = PTR_ERR(srq->sink);
		goto err_destroy_on_device;
	}
	return 0;

err_destroy_on_device:
	ornic_cmd_destroy_srq(dev, srq->srqn);
err_release_queue:
	ornic_queue_release(&srq->queue, &dev->ibdev);
	return ret;
}

/**
 * ornic_create_srq - ib_device_ops.create_srq
 * @ibsrq: new SRQ
 * @init: its attributes; max_wr and max_sge are raised to what it holds
 * @udata: struct ornic_create_srq_req and _resp; NULL for a kernel user
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for attributes beyond the limits or bad driver data;
 * -EOPNOTSUPP for SRQ types and users that the device does not have; -EFAULT;
 * -ENOMEM; -ENOSPC.
 */
int ornic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct ornic_dev *dev = to_ornic_dev(ibsrq->device);
	struct ornic_srq *srq = to_ornic_srq(ibsrq);
	u64 size;
	int ret;

	ret = check_init_attr(dev, init,
			      ORNIC_CAP_SRQ | (udata ? 0 : ORNIC_CAP_KERNEL));
	if (ret)
		return ret;
	if (udata)
		ret = check_udata(udata);
	if (ret)
		return ret;
	ret = init_ring(dev, srq, &init->attr, &size);
	if (ret)
		return ret;
	return bring_up(dev, srq, size, udata);
}

/**
 * ornic_modify_srq - ib_device_ops.modify_srq
 * @ibsrq: SRQ
 * @attr: new values
 * @mask: IB_SRQ_LIMIT
 * @udata: none
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for a limit above the size, or an SRQ in error;
 * -EOPNOTSUPP for a new size; -errno of the device.
 */
int ornic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct ornic_srq *srq = to_ornic_srq(ibsrq);
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	if (mask & ~IB_SRQ_LIMIT) {
		ibdev_dbg(ibsrq->device, "SRQ %#x: mask %#x, supported %#x\n",
			  srq->srqn, mask, IB_SRQ_LIMIT);
		return -EOPNOTSUPP;
	}
	if (!mask)
		return 0;
	if (attr->srq_limit > 1u << srq->ring.log_depth) {
		ibdev_dbg(ibsrq->device, "SRQ %#x: limit %u of %u WRs\n",
			  srq->srqn, attr->srq_limit,
			  1u << srq->ring.log_depth);
		return -EINVAL;
	}
	return ornic_cmd_modify_srq(to_ornic_dev(ibsrq->device), srq->srqn,
				    attr->srq_limit);
}

/**
 * ornic_query_srq - ib_device_ops.query_srq
 * @ibsrq: SRQ
 * @attr: filled in
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device.
 */
int ornic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct ornic_srq *srq = to_ornic_srq(ibsrq);
	int ret;

	ret = ornic_cmd_query_srq(to_ornic_dev(ibsrq->device), srq->srqn,
				  &attr->srq_limit);
	if (ret)
		return ret;
	attr->max_wr = 1u << srq->ring.log_depth;
	attr->max_sge = srq->ring.max_sge;
	return 0;
}

/**
 * ornic_destroy_srq - ib_device_ops.destroy_srq
 * @ibsrq: SRQ without QPs
 * @udata: unused
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device; the SRQ lives on then.
 */
int ornic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct ornic_dev *dev = to_ornic_dev(ibsrq->device);
	struct ornic_srq *srq = to_ornic_srq(ibsrq);
	int ret;

	ornic_sink_close(&dev->srqs, srq->sink);
	ret = ornic_cmd_destroy_srq(dev, srq->srqn);
	if (ret) {
		ibdev_err_ratelimited(ibsrq->device, "SRQ %#x stays: %d\n",
				      srq->srqn, ret);
		ornic_sink_reopen(&dev->srqs, srq->sink);
		return ret;
	}

	ornic_sink_free(srq->sink);
	ornic_queue_release(&srq->queue, ibsrq->device);
	return 0;
}
