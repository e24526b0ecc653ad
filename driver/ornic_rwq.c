// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * WQs for receives, tables of them, and what QPs spread by hash need (RSS).
 *
 * Tables are ib_core's alone: a WQ is not destroyed while a table has it, nor a
 * table while a QP has it. The device gets a copy with the QP, which does not change.
 *
 * States of a WQ, and those of its QP on the device: RESET is RESET, RDY is RTR, ERR
 * is ERR. The device goes from RDY to ERR by itself.
 */
#include "ornic_rwq.h"

#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ornic-abi.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_cq.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_odp.h"
#include "ornic_pd.h"
#include "ornic_raw.h"
#include "ornic_rss.h"
#include "ornic_ucontext.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/* ---- WQs: create ------------------------------------------------------------- */

/*
 * The CQ is optional in the ioctl() of ib_uverbs, which then gives an error pointer. The
 * right is the one that QPs of this type take in ib_uverbs, which asks for none here:
 * without it a program has no use for a WQ. It may make ib_core warn (modify_wq with a
 * current state beyond ERR), so nobody has one for nothing.
 */
static int rwq_check_init_attr(struct ornic_ib_dev *dev,
			       const struct ib_wq_init_attr *init)
{
	if (!(dev->caps.caps & ORNIC_CAP_RSS) || init->create_flags) {
		ibdev_dbg(&dev->ibdev,
			  "WQ: flags %#x not supported, device caps %#llx\n",
			  init->create_flags, dev->caps.caps);
		return -EOPNOTSUPP;
	}
	if (init->wq_type != IB_WQT_RQ || IS_ERR_OR_NULL(init->cq)) {
		ibdev_dbg(&dev->ibdev, "WQ: type %d, CQ %d\n", init->wq_type,
			  !IS_ERR_OR_NULL(init->cq));
		return -EINVAL;
	}
	return capable(CAP_NET_RAW) ? ornic_raw_check(dev) : -EPERM;
}

static int rwq_check_udata(struct ib_udata *udata)
{
	struct ornic_create_wq_req req;
	int ret;

	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	return req.reserved_20 ? -EINVAL : 0;
}

/* Lays out the ring and raises @init to what it holds. */
static int rwq_init_ring(struct ornic_ib_dev *dev, struct ornic_ib_rwq *rwq,
			 struct ib_wq_init_attr *init)
{
	const struct ornic_ring_limits limits = {
		.log_max_wqe = dev->caps.log_max_wqe,
		.max_sge = dev->caps.max_sge,
	};
	struct ornic_ring_caps caps = {
		.recv_wr = init->max_wr,
		.recv_sge = init->max_sge,
	};

	if (!init->max_wr ||
	    ornic_qp_rings_init(&rwq->rings, &caps, false, &limits)) {
		ibdev_dbg(&dev->ibdev, "WQ: WRs %u of %u, SGEs %u of %u\n",
			  init->max_wr, 1u << limits.log_max_wqe, init->max_sge,
			  limits.max_sge);
		return -EINVAL;
	}
	init->max_wr = caps.recv_wr;
	init->max_sge = caps.recv_sge;
	return 0;
}

static int rwq_create_on_device(struct ornic_ib_dev *dev,
				struct ornic_ib_rwq *rwq)
{
	u32 cqn = to_ocq(rwq->ibwq.cq)->cqn;
	struct ornic_create_qp_params params = {
		.rings = &rwq->rings,
		.qp_type = ORNIC_QPT_RAW,
		.pdn = to_opd(rwq->ibwq.pd)->pdn,
		.send_cqn = cqn,
		.recv_cqn = cqn,
	};

	ornic_queue_mem_describe(rwq->queue.mem, &params.mem);
	return ornic_cmd_create_qp(dev, &params, &rwq->ibwq.wq_num);
}

static int rwq_put_response(struct ornic_ib_rwq *rwq, struct ib_udata *udata)
{
	const struct ornic_ring_geom *rq = &rwq->rings.rq;
	struct ornic_create_wq_resp resp = {
		.wqn = rwq->ibwq.wq_num,
		.mmap_offset = ornic_mmap_offset(rwq->queue.mmap),
		.mmap_size = ornic_mmap_size(rwq->queue.mmap),
		.rq_offset = rq->offset,
		.log_depth = rq->log_depth,
		.log_stride = rq->log_stride,
		.max_sge = rq->max_sge,
	};

	return ornic_udata_put(udata, &resp, sizeof(resp));
}

/* Kicks and events may come afterwards. */
static int rwq_publish(struct ornic_ib_dev *dev, struct ornic_ib_rwq *rwq,
		       u64 kicker)
{
	u32 wqn = rwq->ibwq.wq_num;

	rwq->faults = ornic_qp_faults_open(dev, wqn);
	if (IS_ERR(rwq->faults))
		return PTR_ERR(rwq->faults);
	rwq->target =
		ornic_event_target_open(&dev->wqs, wqn, &rwq->ibwq, kicker);
	if (IS_ERR(rwq->target)) {
		ornic_qp_faults_close(rwq->faults);
		return PTR_ERR(rwq->target);
	}
	return 0;
}

/* All steps that can fail, after the arguments were checked. */
static int rwq_bring_up(struct ornic_ib_dev *dev, struct ornic_ib_rwq *rwq,
			struct ib_udata *udata)
{
	struct ornic_ib_ucontext *context = ornic_udata_context(udata);
	int ret;

	ret = ornic_queue_init(&rwq->queue, &context->ibctx, rwq->rings.size);
	if (ret)
		return ret;
	ret = rwq_create_on_device(dev, rwq);
	if (ret)
		goto err_release_queue;
	ret = rwq_put_response(rwq, udata);
	if (ret)
		goto err_destroy_on_device;
	ret = rwq_publish(dev, rwq, context->kicks->id);
	if (ret)
		goto err_destroy_on_device;
	return 0;

err_destroy_on_device:
	ornic_cmd_destroy_qp(dev, rwq->ibwq.wq_num);
err_release_queue:
	ornic_queue_release(&rwq->queue, &dev->ibdev);
	return ret;
}

static struct ornic_ib_rwq *rwq_alloc(struct ib_pd *pd,
				      const struct ib_wq_init_attr *init)
{
	struct ornic_ib_rwq *rwq = kzalloc(sizeof(*rwq), GFP_KERNEL_ACCOUNT);

	if (!rwq)
		return NULL;
	rwq->ibwq.device = pd->device;
	rwq->ibwq.pd = pd;
	rwq->ibwq.cq = init->cq;
	rwq->ibwq.event_handler = init->event_handler;
	rwq->state = IB_WQS_RESET;
	mutex_init(&rwq->lock);
	return rwq;
}

static void rwq_free(struct ornic_ib_rwq *rwq)
{
	mutex_destroy(&rwq->lock);
	kfree(rwq);
}

struct ib_wq *ornic_ib_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *init,
				 struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(pd->device);
	struct ornic_ib_rwq *rwq;
	int ret;

	ret = rwq_check_init_attr(dev, init);
	if (ret)
		return ERR_PTR(ret);
	ret = rwq_check_udata(udata);
	if (ret)
		return ERR_PTR(ret);
	rwq = rwq_alloc(pd, init);
	if (!rwq)
		return ERR_PTR(-ENOMEM);
	ret = rwq_init_ring(dev, rwq, init);
	if (ret)
		goto err_free;
	ret = rwq_bring_up(dev, rwq, udata);
	if (ret)
		goto err_free;
	return &rwq->ibwq;

err_free:
	rwq_free(rwq);
	return ERR_PTR(ret);
}

/* ---- WQs: modify and destroy --------------------------------------------------- */

static int modify_on_device(struct ornic_ib_rwq *rwq, enum ib_qp_state state)
{
	const struct ornic_qp_params params = {
		.mask = ORNIC_QPM_STATE,
		.state = state,
	};

	return ornic_cmd_modify_qp(to_odev(rwq->ibwq.device), rwq->ibwq.wq_num,
				   &params);
}

static int start_on_device(struct ornic_ib_rwq *rwq)
{
	int ret;

	ret = modify_on_device(rwq, IB_QPS_INIT);
	if (ret)
		return ret;
	ret = modify_on_device(rwq, IB_QPS_RTR);
	if (ret)
		modify_on_device(rwq, IB_QPS_RESET);
	return ret;
}

/* All queues of a device that has failed are in ERR, and may go to RESET. */
static int end_on_device(struct ornic_ib_rwq *rwq, enum ib_qp_state state)
{
	int ret = modify_on_device(rwq, state);

	return ornic_is_dead(to_odev(rwq->ibwq.device)) ? 0 : ret;
}

static int rwq_check_transition(struct ornic_ib_rwq *rwq, enum ib_wq_state from,
				enum ib_wq_state to)
{
	enum ib_wq_state state = rwq->state;
	/* The device may have gone there. */
	bool known = from == state ||
		     (from == IB_WQS_ERR && state == IB_WQS_RDY);

	if (known && !(from == IB_WQS_ERR && to == IB_WQS_RDY))
		return 0;
	ibdev_dbg(rwq->ibwq.device, "WQ %#x: invalid from %d to %d, is %d\n",
		  rwq->ibwq.wq_num, from, to, state);
	return -EINVAL;
}

static int rwq_modify(struct ornic_ib_rwq *rwq, enum ib_wq_state from,
		      enum ib_wq_state to)
{
	int ret;

	ret = rwq_check_transition(rwq, from, to);
	if (ret || from == to)
		return ret;
	switch (to) {
	case IB_WQS_RESET:
		ret = end_on_device(rwq, IB_QPS_RESET);
		break;
	case IB_WQS_RDY:
		ret = start_on_device(rwq);
		break;
	case IB_WQS_ERR:
		ret = end_on_device(rwq, IB_QPS_ERR);
		break;
	}
	if (!ret)
		rwq->state = to;
	return ret;
}

static int rwq_modify_locked(struct ornic_ib_rwq *rwq,
			     const struct ib_wq_attr *attr, u32 mask)
{
	enum ib_wq_state from = mask & IB_WQ_CUR_STATE ? attr->curr_wq_state :
							 rwq->state;

	return rwq_modify(rwq, from,
			  mask & IB_WQ_STATE ? attr->wq_state : from);
}

/* As qp_modify_raw() of ornic_qp_modify.c: the device ends WQs of a netdev that moves. */
static int rwq_start(struct ornic_ib_rwq *rwq, const struct ib_wq_attr *attr,
		     u32 mask)
{
	struct ornic_ib_dev *dev = to_odev(rwq->ibwq.device);
	int ret;

	ret = ornic_raw_begin(dev, NULL);
	if (ret)
		return ret;
	ret = rwq_modify_locked(rwq, attr, mask);
	ornic_raw_end(dev);
	return ret;
}

int ornic_ib_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		       struct ib_udata *udata)
{
	struct ornic_ib_rwq *rwq = to_orwq(ibwq);
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	if (mask & IB_WQ_FLAGS && attr->flags_mask) {
		ibdev_dbg(ibwq->device, "WQ %#x: flags %#x not supported\n",
			  ibwq->wq_num, attr->flags_mask);
		return -EOPNOTSUPP;
	}
	mutex_lock(&rwq->lock);
	if (mask & IB_WQ_STATE && attr->wq_state == IB_WQS_RDY)
		ret = rwq_start(rwq, attr, mask);
	else
		ret = rwq_modify_locked(rwq, attr, mask);
	mutex_unlock(&rwq->lock);
	return ret;
}

void ornic_ib_rwq_flush(struct ornic_ib_rwq *rwq)
{
	mutex_lock(&rwq->lock);
	if (rwq->state != IB_WQS_ERR && !modify_on_device(rwq, IB_QPS_ERR))
		rwq->state = IB_WQS_ERR;
	mutex_unlock(&rwq->lock);
}

int ornic_ib_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibwq->device);
	struct ornic_ib_rwq *rwq = to_orwq(ibwq);
	int ret;

	if (READ_ONCE(dev->disabled))
		ornic_ib_rwq_flush(rwq);
	ornic_event_target_close(&dev->wqs, rwq->target);
	ret = ornic_cmd_destroy_qp(dev, ibwq->wq_num);
	if (ret) {
		ibdev_err_ratelimited(ibwq->device,
				      "WQ %#x not destroyed: %d\n",
				      ibwq->wq_num, ret);
		ornic_event_target_reopen(&dev->wqs, rwq->target);
		/* An event may have come meanwhile. */
		ornic_qp_fault(rwq->faults, ORNIC_FAULT_RQ);
		return ret;
	}
	ornic_event_target_free(rwq->target);
	ornic_qp_faults_close(rwq->faults);
	ornic_queue_release(&rwq->queue, ibwq->device);
	rwq_free(rwq);
	return 0;
}

/* ---- Tables -------------------------------------------------------------------- */

int ornic_ib_create_rwq_ind_table(struct ib_rwq_ind_table *table,
				  struct ib_rwq_ind_table_init_attr *init,
				  struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(table->device);
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_RSS))
		return -EOPNOTSUPP;
	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	if (init->log_ind_tbl_size > ORNIC_RSS_MAX_LOG_SIZE) {
		ibdev_dbg(table->device, "table of 2^%u WQs, limit 2^%u\n",
			  init->log_ind_tbl_size, ORNIC_RSS_MAX_LOG_SIZE);
		return -EINVAL;
	}
	ret = ida_alloc_range(&dev->rwq_tables, 1, ORNIC_MAX_RWQ_TABLES,
			      GFP_KERNEL);
	if (ret < 0)
		return ret;
	table->ind_tbl_num = ret;
	return 0;
}

int ornic_ib_destroy_rwq_ind_table(struct ib_rwq_ind_table *table)
{
	ida_free(&to_odev(table->device)->rwq_tables, table->ind_tbl_num);
	return 0;
}

/* ---- QPs ----------------------------------------------------------------------- */

int ornic_ib_rss_get(const struct ib_rwq_ind_table *table,
		     struct ib_udata *udata, struct ornic_rss **out)
{
	struct ornic_create_rss_qp_req req;
	struct ornic_rss *rss;
	int i, ret;

	*out = NULL;
	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	/* A power of two: in one page. */
	rss = kzalloc(roundup_pow_of_two(sizeof(*rss)), GFP_KERNEL);
	if (!rss)
		return -ENOMEM;
	ret = ornic_rss_fill(rss, &req, table->log_ind_tbl_size);
	if (ret) {
		ibdev_dbg(table->device,
			  "RSS: function %#x, key of %u bytes, fields %#llx\n",
			  req.hash_function, req.key_len, req.fields);
		kfree(rss);
		return ret;
	}
	for (i = 0; i < 1 << table->log_ind_tbl_size; i++)
		rss->qpn[i] = cpu_to_le32(table->ind_tbl[i]->wq_num);
	*out = rss;
	return 0;
}

/* @dma: a struct ornic_rss in one page */
static int set_on_device(struct ornic_ib_dev *dev, u32 qpn, u64 dma)
{
	union ornic_req req = {
		.set_rss = {
			.hdr.opcode = ORNIC_CMD_SET_RSS,
			.hdr.obj = cpu_to_le32(qpn),
			.rss = cpu_to_le64(dma),
		},
	};
	union ornic_rsp rsp;

	return ornic_cmd_exec(dev, &req, &rsp);
}

int ornic_ib_rss_set(struct ornic_ib_dev *dev, u32 qpn, struct ornic_rss **rss)
{
	u64 dma;
	int ret;

	dma = ib_dma_map_single(&dev->ibdev, *rss, sizeof(**rss),
				DMA_TO_DEVICE);
	if (ib_dma_mapping_error(&dev->ibdev, dma))
		return -ENOMEM;
	ret = set_on_device(dev, qpn, dma);
	ib_dma_unmap_single(&dev->ibdev, dma, sizeof(**rss), DMA_TO_DEVICE);
	if (ret && ornic_dma_lives(&dev->ibdev, *rss, sizeof(**rss)))
		*rss = NULL;
	return ret;
}
