// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues: create, resize, arm the limit, destroy. The provider
 * posts to them in shared memory, the driver for kernel users (ornic_wq.c).
 */
#include "ornic_srq.h"

#include <rdma/ornic-abi.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME ornic_srq
#include <rdma/uverbs_named_ioctl.h>

#include "ornic_cmd.h"
#include "ornic_cq.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_pd.h"
#include "ornic_queue.h"
#include "ornic_ucontext.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/* ib_core sees to it that it has a CQ. */
static int check_tags(struct ornic_ib_dev *dev,
		      const struct ib_srq_init_attr *init)
{
	u32 tags = init->ext.tag_matching.max_num_tags;

	if (init->ext.cq && tags && tags <= dev->caps.max_tags)
		return 0;
	ibdev_dbg(&dev->ibdev, "SRQ: tags %u of %u, CQ %d\n", tags,
		  dev->caps.max_tags, !!init->ext.cq);
	return -EINVAL;
}

static int srq_check_init_attr(struct ornic_ib_dev *dev,
			       const struct ib_srq_init_attr *init, u64 needs)
{
	if (init->srq_type == IB_SRQT_BASIC && !(needs & ~dev->caps.caps))
		return 0;
	if (init->srq_type == IB_SRQT_XRC && dev->caps.caps & ORNIC_CAP_XRC &&
	    !(needs & ORNIC_CAP_KERNEL))
		return init->ext.cq && init->ext.xrc.xrcd ? 0 : -EINVAL;
	if (init->srq_type == IB_SRQT_TM && dev->caps.max_tags &&
	    !(needs & ORNIC_CAP_KERNEL))
		return check_tags(dev, init);
	ibdev_dbg(&dev->ibdev,
		  "SRQ: type %d not supported, device caps %#llx\n",
		  init->srq_type, dev->caps.caps);
	return -EOPNOTSUPP;
}

static int srq_check_udata(struct ib_udata *udata)
{
	struct ornic_create_srq_req req;
	int ret;

	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	return req.reserved_20 ? -EINVAL : 0;
}

/* Lays out the ring and raises @attr to what it holds. */
static int init_ring(struct ornic_ib_dev *dev, struct ornic_ring_geom *ring,
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

	ret = ornic_srq_ring_init(ring, &caps, &limits, size);
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

/* What it has beside its ring. */
static void describe_type(const struct ib_srq *ibsrq,
			  const struct ib_srq_init_attr *init,
			  struct ornic_create_srq_params *params)
{
	switch (ibsrq->srq_type) {
	case IB_SRQT_XRC:
		params->flags = ORNIC_SRQ_XRC;
		params->xrcdn = to_oxrcd(ibsrq->ext.xrc.xrcd)->xrcdn;
		break;
	case IB_SRQT_TM:
		params->flags = ORNIC_SRQ_TM;
		params->max_tags = init->ext.tag_matching.max_num_tags;
		break;
	default:
		return;
	}
	params->cqn = to_ocq(ibsrq->ext.cq)->cqn;
}

static int srq_create_on_device(struct ornic_ib_dev *dev,
				struct ornic_ib_srq *srq,
				const struct ib_srq_init_attr *init)
{
	struct ib_srq *ibsrq = &srq->ibsrq;
	struct ornic_create_srq_params params = {
		.ring = &srq->ring,
		.pdn = to_opd(ibsrq->pd)->pdn,
	};
	int ret;

	describe_type(ibsrq, init, &params);
	ornic_queue_mem_describe(srq->queue.mem, &params.mem);
	ret = ornic_cmd_create_srq(dev, &params, &srq->srqn);
	if (!ret && ibsrq->srq_type == IB_SRQT_XRC)
		ibsrq->ext.xrc.srq_num = srq->srqn;
	return ret;
}

static int srq_put_response(struct ornic_ib_srq *srq, struct ib_udata *udata)
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

static int srq_init_queue(struct ornic_ib_dev *dev, struct ornic_ib_srq *srq,
			  u64 size, struct ib_udata *udata)
{
	struct ornic_ib_ucontext *context;
	int ret;

	if (udata) {
		context = ornic_udata_context(udata);
		return ornic_queue_init(&srq->queue, &context->ibctx, size);
	}
	ret = ornic_queue_init_kernel(&srq->queue, &dev->ibdev, size);
	if (!ret)
		ornic_wq_init(&srq->wq, srq->queue.mem, &srq->ring, 0);
	return ret;
}

/* All steps that can fail, after the arguments were checked. */
static int srq_bring_up(struct ornic_ib_dev *dev, struct ornic_ib_srq *srq,
			const struct ib_srq_init_attr *init, u64 size,
			struct ib_udata *udata)
{
	int ret;

	ret = srq_init_queue(dev, srq, size, udata);
	if (ret)
		return ret;
	ret = srq_create_on_device(dev, srq, init);
	if (ret)
		goto err_release_queue;
	if (udata)
		ret = srq_put_response(srq, udata);
	if (ret)
		goto err_destroy_on_device;
	srq->target =
		ornic_event_target_open(&dev->srqs, srq->srqn, &srq->ibsrq, 0);
	if (IS_ERR(srq->target)) {
		ret = PTR_ERR(srq->target);
		goto err_destroy_on_device;
	}
	return 0;

err_destroy_on_device:
	ornic_cmd_destroy_srq(dev, srq->srqn);
err_release_queue:
	ornic_queue_release(&srq->queue, &dev->ibdev);
	return ret;
}

int ornic_ib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
			struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibsrq->device);
	struct ornic_ib_srq *srq = to_osrq(ibsrq);
	u64 caps = ORNIC_CAP_SRQ;
	u64 size;
	int ret;

	if (!udata)
		caps |= ORNIC_CAP_KERNEL;
	ret = srq_check_init_attr(dev, init, caps);
	if (ret)
		return ret;
	if (udata)
		ret = srq_check_udata(udata);
	if (ret)
		return ret;
	ret = init_ring(dev, &srq->ring, &init->attr, &size);
	if (ret)
		return ret;
	mutex_init(&srq->lock);
	ret = srq_bring_up(dev, srq, init, size, udata);
	if (ret)
		goto err_destroy_lock;
	return 0;

err_destroy_lock:
	mutex_destroy(&srq->lock);
	return ret;
}

/*
 * Moves the SRQ to @next, which then holds what is to be released. The response
 * is copied out first: once the device has moved, nothing may fail.
 */
static int srq_resize_locked(struct ornic_ib_srq *srq, struct ornic_queue *next,
			     u8 log_depth, struct uverbs_attr_bundle *attrs)
{
	struct ornic_ib_dev *dev = to_odev(srq->ibsrq.device);
	struct ornic_resize_srq_resp resp = {
		.log_depth = log_depth,
		.mmap_offset = ornic_mmap_offset(next->mmap),
		.mmap_size = ornic_mmap_size(next->mmap),
	};
	struct ornic_dma_mem mem;
	int ret;

	ret = uverbs_copy_to_struct_or_zero(attrs, ORNIC_ATTR_SRQ_RESIZE_RESP,
					    &resp, sizeof(resp));
	if (ret)
		return ret;
	ornic_queue_mem_describe(next->mem, &mem);
	ret = ornic_cmd_resize_srq(dev, srq->srqn, &mem, log_depth);
	if (ret)
		return ret;
	swap(srq->queue, *next);
	WRITE_ONCE(srq->ring.log_depth, log_depth);
	return 0;
}

static int srq_resize(struct ornic_ib_srq *srq, u32 max_wr,
		      struct uverbs_attr_bundle *attrs)
{
	struct ornic_ib_dev *dev = to_odev(srq->ibsrq.device);
	struct ib_srq_attr attr = {
		.max_wr = max_wr,
		.max_sge = srq->ring.max_sge,
	};
	struct ornic_ring_geom ring;
	struct ornic_queue next;
	u64 size;
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_RESIZE_SRQ))
		return -EOPNOTSUPP;
	/* The SGEs that fit the stride give the same stride again. */
	ret = init_ring(dev, &ring, &attr, &size);
	if (ret)
		return ret;
	ret = ornic_queue_init(&next, attrs->context, size);
	if (ret)
		return ret;
	mutex_lock(&srq->lock);
	ret = srq_resize_locked(srq, &next, ring.log_depth, attrs);
	mutex_unlock(&srq->lock);
	/* The old memory, or the new one that is not needed. */
	ornic_queue_release(&next, srq->ibsrq.device);
	return ret;
}

static int
UVERBS_HANDLER(ORNIC_METHOD_SRQ_RESIZE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_srq *ibsrq =
		uverbs_attr_get_obj(attrs, ORNIC_ATTR_SRQ_RESIZE_HANDLE);
	u32 max_wr;
	int ret;

	ret = uverbs_copy_from(&max_wr, attrs, ORNIC_ATTR_SRQ_RESIZE_MAX_WR);
	if (ret)
		return ret;
	return srq_resize(to_osrq(ibsrq), max_wr, attrs);
}

/* clang-format off */
DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_SRQ_RESIZE,
			    UVERBS_ATTR_IDR(ORNIC_ATTR_SRQ_RESIZE_HANDLE,
					    UVERBS_OBJECT_SRQ,
					    UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(ORNIC_ATTR_SRQ_RESIZE_MAX_WR,
					       UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_SRQ_RESIZE_RESP,
						UVERBS_ATTR_STRUCT(struct ornic_resize_srq_resp,
								   mmap_size),
						UA_MANDATORY));

ADD_UVERBS_METHODS(ornic_srq_methods, UVERBS_OBJECT_SRQ,
		   &UVERBS_METHOD(ORNIC_METHOD_SRQ_RESIZE));
/* clang-format on */

const struct uapi_definition ornic_srq_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_SRQ, &ornic_srq_methods),
	{}
};

static int set_limit(struct ornic_ib_srq *srq, u32 limit)
{
	u32 depth = 1u << READ_ONCE(srq->ring.log_depth);

	if (limit > depth) {
		ibdev_dbg(srq->ibsrq.device, "SRQ %#x: limit %u of %u WRs\n",
			  srq->srqn, limit, depth);
		return -EINVAL;
	}
	return ornic_cmd_modify_srq(to_odev(srq->ibsrq.device), srq->srqn,
				    limit);
}

int ornic_ib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
			enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct ornic_ib_srq *srq = to_osrq(ibsrq);
	int ret;

	if (mask & ~IB_SRQ_LIMIT) {
		ibdev_dbg(ibsrq->device, "SRQ %#x: mask %#x, supported %#x\n",
			  srq->srqn, mask, IB_SRQ_LIMIT);
		return -EOPNOTSUPP;
	}
	ret = ornic_udata_none(udata);
	if (ret || !(mask & IB_SRQ_LIMIT))
		return ret;
	return set_limit(srq, attr->srq_limit);
}

int ornic_ib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct ornic_ib_srq *srq = to_osrq(ibsrq);
	int ret;

	ret = ornic_cmd_query_srq(to_odev(ibsrq->device), srq->srqn,
				  &attr->srq_limit);
	if (ret)
		return ret;
	attr->max_wr = 1u << READ_ONCE(srq->ring.log_depth);
	attr->max_sge = srq->ring.max_sge;
	return 0;
}

int ornic_ib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibsrq->device);
	struct ornic_ib_srq *srq = to_osrq(ibsrq);
	int ret;

	ornic_event_target_close(&dev->srqs, srq->target);
	ret = ornic_cmd_destroy_srq(dev, srq->srqn);
	if (ret) {
		ibdev_err_ratelimited(ibsrq->device,
				      "SRQ %#x not destroyed: %d\n", srq->srqn,
				      ret);
		ornic_event_target_reopen(&dev->srqs, srq->target);
		return ret;
	}

	ornic_event_target_free(srq->target);
	ornic_queue_release(&srq->queue, ibsrq->device);
	mutex_destroy(&srq->lock);
	return 0;
}
