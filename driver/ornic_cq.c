// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: create, resize, moderate, destroy. The provider polls and
 * arms them in shared memory, as does the driver for kernel users
 * (ornic_poll.c). ornic_event.c delivers their events.
 */
#include "ornic_cq.h"

#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_poll.h"
#include "ornic_queue.h"
#include "ornic_ring.h"
#include "ornic_ucontext.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

static int check_attr(struct ib_device *ibdev,
		      const struct ib_cq_init_attr *attr)
{
	const u32 supported = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;

	if (attr->flags & ~supported) {
		ibdev_dbg(ibdev, "CQ: flags %#x, supported %#x\n", attr->flags,
			  supported);
		return -EOPNOTSUPP;
	}
	if (attr->comp_vector >= ibdev->num_comp_vectors) {
		ibdev_dbg(ibdev, "CQ: completion vector %u, limit %d\n",
			  attr->comp_vector, ibdev->num_comp_vectors);
		return -EINVAL;
	}
	return 0;
}

static int cq_check_udata(struct ib_udata *udata)
{
	struct ornic_create_cq_req req;
	int ret;

	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	return req.reserved_20 ? -EINVAL : 0;
}

static int cq_create_on_device(struct ornic_ib_dev *dev, struct ornic_ib_cq *cq)
{
	struct ornic_create_cq_params params = {
		.log_depth = cq->log_depth,
		.vector = cq->vector,
	};

	ornic_queue_mem_describe(cq->queue.mem, &params.mem);
	return ornic_cmd_create_cq(dev, &params, &cq->cqn);
}

static int cq_put_response(struct ornic_ib_cq *cq, struct ib_udata *udata)
{
	struct ornic_create_cq_resp resp = {
		.cqn = cq->cqn,
		.mmap_offset = ornic_mmap_offset(cq->queue.mmap),
		.mmap_size = ornic_mmap_size(cq->queue.mmap),
		.log_depth = cq->log_depth,
	};

	return ornic_udata_put(udata, &resp, sizeof(resp));
}

static int cq_init_queue(struct ornic_ib_dev *dev, struct ornic_ib_cq *cq,
			 u64 size, struct ib_udata *udata)
{
	struct ornic_ib_ucontext *context;
	int ret;

	if (udata) {
		context = ornic_udata_context(udata);
		return ornic_queue_init(&cq->queue, &context->ibctx, size);
	}
	ret = ornic_queue_init_kernel(&cq->queue, &dev->ibdev, size);
	if (ret)
		return ret;
	cq->ring = ornic_cq_ring_open(cq->queue.mem, cq->log_depth);
	if (cq->ring)
		return 0;
	ornic_queue_release(&cq->queue, &dev->ibdev);
	return -ENOMEM;
}

static void cq_release_queue(struct ornic_ib_cq *cq,
			     const struct ib_udata *udata)
{
	ornic_queue_release(&cq->queue, cq->ibcq.device);
	if (!udata)
		kfree(cq->ring);
}

/* Let events come: nothing can fail after this. */
static int cq_open_target(struct ornic_ib_dev *dev, struct ornic_ib_cq *cq,
			  const struct ib_udata *udata)
{
	struct ornic_event_target *target;

	target = ornic_event_target_open(&dev->cqs, cq->cqn, &cq->ibcq, 0);
	if (IS_ERR(target))
		return PTR_ERR(target);
	if (udata)
		cq->target = target;
	else
		cq->ring->target = target;
	return 0;
}

/* All steps that can fail, after the arguments were checked. */
static int cq_bring_up(struct ornic_ib_dev *dev, struct ornic_ib_cq *cq,
		       u64 size, struct ib_udata *udata)
{
	int ret;

	ret = cq_init_queue(dev, cq, size, udata);
	if (ret)
		return ret;
	ret = cq_create_on_device(dev, cq);
	if (ret)
		goto err_release_queue;
	if (udata)
		ret = cq_put_response(cq, udata);
	if (ret)
		goto err_destroy_on_device;
	ret = cq_open_target(dev, cq, udata);
	if (ret)
		goto err_destroy_on_device;
	return 0;

err_destroy_on_device:
	ornic_cmd_destroy_cq(dev, cq->cqn);
err_release_queue:
	cq_release_queue(cq, udata);
	return ret;
}

int ornic_ib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		       struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibcq->device);
	struct ornic_ib_cq *cq = to_ocq(ibcq);
	u64 size;
	int ret;

	ret = check_attr(ibcq->device, attr);
	if (ret)
		return ret;
	ret = ornic_cq_ring_init(attr->cqe, dev->caps.log_max_cqe,
				 &cq->log_depth, &size);
	if (ret) {
		ibdev_dbg(ibcq->device, "CQ: %u CQEs, limit %u\n", attr->cqe,
			  1u << dev->caps.log_max_cqe);
		return ret;
	}
	if (udata)
		ret = cq_check_udata(udata);
	if (ret)
		return ret;

	cq->vector = attr->comp_vector;
	ibcq->cqe = 1u << cq->log_depth;
	return cq_bring_up(dev, cq, size, udata);
}

static int check_resize_udata(struct ib_udata *udata)
{
	struct ornic_resize_cq_req req;
	int ret;

	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	return req.reserved_20 ? -EINVAL : 0;
}

/*
 * Moves the CQ to @next, which then holds what is to be released. The response
 * is copied out first: once the device has moved, nothing may fail.
 */
static int cq_resize_locked(struct ornic_ib_dev *dev, struct ornic_ib_cq *cq,
			    struct ornic_queue *next, u8 log_depth,
			    struct ib_udata *udata)
{
	struct ornic_resize_cq_resp resp = {
		.log_depth = log_depth,
		.mmap_offset = ornic_mmap_offset(next->mmap),
		.mmap_size = ornic_mmap_size(next->mmap),
	};
	struct ornic_create_cq_params params = { .log_depth = log_depth };
	int ret;

	ret = ornic_udata_put(udata, &resp, sizeof(resp));
	if (ret)
		return ret;
	ornic_queue_mem_describe(next->mem, &params.mem);
	ret = ornic_cmd_resize_cq(dev, cq->cqn, &params);
	if (ret)
		return ret;
	swap(cq->queue, *next);
	WRITE_ONCE(cq->log_depth, log_depth);
	cq->ibcq.cqe = 1u << log_depth;
	return 0;
}

int ornic_ib_resize_cq(struct ib_cq *ibcq, unsigned int cqe,
		       struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibcq->device);
	struct ornic_ib_cq *cq = to_ocq(ibcq);
	struct ornic_ib_ucontext *context;
	struct ornic_queue next;
	u8 log_depth;
	u64 size;
	int ret;

	if (!udata || !(dev->caps.caps & ORNIC_CAP_RESIZE_CQ))
		return -EOPNOTSUPP;
	ret = ornic_cq_ring_init(cqe, dev->caps.log_max_cqe, &log_depth, &size);
	if (ret) {
		ibdev_dbg(ibcq->device, "CQ %#x: %u CQEs, limit %u\n", cq->cqn,
			  cqe, 1u << dev->caps.log_max_cqe);
		return ret;
	}
	ret = check_resize_udata(udata);
	if (ret)
		return ret;
	context = ornic_udata_context(udata);
	ret = ornic_queue_init(&next, &context->ibctx, size);
	if (ret)
		return ret;
	mutex_lock(&context->resize_lock);
	ret = cq_resize_locked(dev, cq, &next, log_depth, udata);
	mutex_unlock(&context->resize_lock);
	/* The old memory, or the new one that is not needed. */
	ornic_queue_release(&next, ibcq->device);
	return ret;
}

int ornic_ib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct ornic_ib_dev *dev = to_odev(ibcq->device);

	if (!(dev->caps.caps & ORNIC_CAP_MODERATION))
		return -EOPNOTSUPP;
	return ornic_cmd_modify_cq(dev, to_ocq(ibcq)->cqn, count, period);
}

int ornic_ib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibcq->device);
	struct ornic_ib_cq *cq = to_ocq(ibcq);
	struct ornic_event_target *target = udata ? cq->target :
						    cq->ring->target;
	int ret;

	ornic_event_target_close(&dev->cqs, target);
	ret = ornic_cmd_destroy_cq(dev, cq->cqn);
	if (ret) {
		ibdev_err_ratelimited(ibcq->device,
				      "CQ %#x not destroyed: %d\n", cq->cqn,
				      ret);
		ornic_event_target_reopen(&dev->cqs, target);
		return ret;
	}

	ornic_event_target_free(target);
	cq_release_queue(cq, udata);
	return 0;
}
