// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: create, destroy, multicast. ornic_qp_modify.c has attributes. */
#include "ornic_qp.h"

#include <rdma/ornic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_cq.h"
#include "ornic_dev.h"
#include "ornic_event.h"
#include "ornic_odp.h"
#include "ornic_pd.h"
#include "ornic_poll.h"
#include "ornic_queue.h"
#include "ornic_rwq.h"
#include "ornic_srq.h"
#include "ornic_ucontext.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

static bool has_type(const struct ornic_ib_dev *dev, enum ib_qp_type type,
		     bool kernel)
{
	/* ib_core creates it without driver data. */
	if (type == IB_QPT_XRC_TGT)
		return dev->caps.caps & ORNIC_CAP_XRC;
	if (kernel && !(dev->caps.caps & ORNIC_CAP_KERNEL))
		return false;
	switch (type) {
	case IB_QPT_GSI:
		return kernel;
	case IB_QPT_RC:
		return dev->caps.caps & ORNIC_CAP_RC;
	case IB_QPT_UC:
		return dev->caps.caps & ORNIC_CAP_UC;
	case IB_QPT_UD:
		return dev->caps.caps & ORNIC_CAP_UD;
	case IB_QPT_XRC_INI:
		return !kernel && dev->caps.caps & ORNIC_CAP_XRC;
	case IB_QPT_RAW_PACKET:
		return !kernel && dev->caps.caps & ORNIC_CAP_RAW;
	case IB_QPT_DRIVER:
		return !kernel && dev->caps.max_tags;
	default:
		return false;
	}
}

static u32 create_flags(const struct ornic_ib_dev *dev, enum ib_qp_type type)
{
	if (type == IB_QPT_UD && dev->caps.caps & ORNIC_CAP_MCAST)
		return IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	/* Nothing that it sends comes back to it. */
	if (type == IB_QPT_RAW_PACKET)
		return IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	return 0;
}

/* It spreads what it receives over WQs, and does nothing else. */
static int check_rss(struct ornic_ib_dev *dev,
		     const struct ib_qp_init_attr *init)
{
	if (init->qp_type == IB_QPT_RAW_PACKET && !init->send_cq &&
	    !init->recv_cq && !init->srq && !init->cap.max_send_wr &&
	    !init->cap.max_recv_wr)
		return 0;
	ibdev_dbg(
		&dev->ibdev,
		"QP: type %d with WQs, send CQ %d, WRs %u (send), %u (receive)\n",
		init->qp_type, !!init->send_cq, init->cap.max_send_wr,
		init->cap.max_recv_wr);
	return -EINVAL;
}

/* IBTA A14.2: an XRC initiator has one CQ, a target none. */
static int check_domains(struct ornic_ib_dev *dev,
			 const struct ib_qp_init_attr *init)
{
	bool tgt = init->qp_type == IB_QPT_XRC_TGT;
	bool ini = init->qp_type == IB_QPT_XRC_INI;

	if (tgt ? !!init->xrcd : init->send_cq && (ini || init->recv_cq))
		return 0;
	ibdev_dbg(&dev->ibdev,
		  "QP: type %d lacks a CQ: send CQ %d, receive CQ %d\n",
		  init->qp_type, !!init->send_cq, !!init->recv_cq);
	return -EINVAL;
}

/* The send queue of a QP whose SRQ matches tags is the device's. */
static int check_srq(struct ornic_ib_dev *dev,
		     const struct ib_qp_init_attr *init)
{
	bool tags = init->srq && init->srq->srq_type == IB_SRQT_TM;

	if (init->qp_type == IB_QPT_DRIVER ?
		    tags :
		    !tags || (init->qp_type == IB_QPT_RC &&
			      !init->cap.max_send_wr))
		return 0;
	ibdev_dbg(&dev->ibdev,
		  "QP: type %d, SRQ type %d, send WRs %u of 0 with tags\n",
		  init->qp_type, init->srq ? init->srq->srq_type : -1,
		  init->cap.max_send_wr);
	return -EINVAL;
}

static int qp_check_init_attr(struct ornic_ib_dev *dev,
			      const struct ib_qp_init_attr *init, bool kernel)
{
	if (!has_type(dev, init->qp_type, kernel)) {
		ibdev_dbg(&dev->ibdev,
			  "QP: type %d not supported, device caps %#llx\n",
			  init->qp_type, dev->caps.caps);
		return -EOPNOTSUPP;
	}
	if (init->create_flags & ~create_flags(dev, init->qp_type)) {
		ibdev_dbg(&dev->ibdev, "QP: flags %#x not supported\n",
			  init->create_flags);
		return -EOPNOTSUPP;
	}
	if (init->qp_type == IB_QPT_RAW_PACKET && ornic_raw_check(dev))
		return -EPERM;
	if (init->rwq_ind_tbl)
		return check_rss(dev, init);
	return check_domains(dev, init) ?: check_srq(dev, init);
}

/* There may be no RQ, whatever is requested. */
static struct ornic_ring_caps ring_caps(const struct ornic_ib_qp *qp,
					const struct ib_qp_cap *cap,
					bool has_srq)
{
	enum ib_qp_type type = qp->ibqp.qp_type;
	bool receives = !has_srq && type != IB_QPT_XRC_INI;
	struct ornic_ring_caps caps = {};

	if (type == IB_QPT_XRC_TGT)
		return caps;
	caps.send_wr = cap->max_send_wr;
	caps.send_sge = cap->max_send_sge;
	caps.inline_data = cap->max_inline_data;
	caps.recv_wr = receives ? cap->max_recv_wr : 0;
	caps.recv_sge = receives ? cap->max_recv_sge : 0;
	if (ornic_ib_qp_is_kernel(qp) && ornic_ib_qp_is_datagram(qp))
		caps.send_segs = sizeof(struct ornic_av);
	else if (type == IB_QPT_XRC_INI)
		caps.send_segs = sizeof(struct ornic_seg_xrc);
	else if (ornic_ib_qp_is_tags(qp))
		caps.send_segs = sizeof(struct ornic_seg_tag) -
				 sizeof(struct ornic_seg_remote);
	return caps;
}

/* Lays out the rings and raises @cap to what they hold. */
static int qp_init_rings(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp,
			 struct ib_qp_cap *cap, bool has_srq)
{
	bool atomics = qp->ibqp.qp_type == IB_QPT_RC ||
		       qp->ibqp.qp_type == IB_QPT_XRC_INI;
	const struct ornic_ring_limits limits = {
		.log_max_wqe = dev->caps.log_max_wqe,
		.max_sge = ornic_ib_qp_is_tags(qp) ? dev->caps.max_tag_sge :
						     dev->caps.max_sge,
		.max_inline = dev->caps.max_inline,
	};
	struct ornic_ring_caps caps = ring_caps(qp, cap, has_srq);
	int ret;

	ret = ornic_qp_rings_init(&qp->rings, &caps, atomics, &limits);
	if (ret) {
		ibdev_dbg(&dev->ibdev,
			  "QP: WRs %u (send), %u (receive), limit %u\n",
			  cap->max_send_wr, cap->max_recv_wr,
			  1u << limits.log_max_wqe);
		ibdev_dbg(&dev->ibdev,
			  "QP: SGEs %u, %u of %u, inline %u of %u\n",
			  cap->max_send_sge, cap->max_recv_sge, limits.max_sge,
			  cap->max_inline_data, limits.max_inline);
		return ret;
	}

	cap->max_send_wr = caps.send_wr;
	cap->max_recv_wr = caps.recv_wr;
	cap->max_send_sge = caps.send_sge;
	cap->max_recv_sge = caps.recv_sge;
	cap->max_inline_data = caps.inline_data;
	qp->caps = *cap;
	return 0;
}

/* @rss: of a QP with a table of WQs, else NULL; freed by kfree(). */
static int qp_check_udata(const struct ib_qp_init_attr *init,
			  struct ib_udata *udata, struct ornic_rss **rss)
{
	struct ornic_create_qp_req req;
	int ret;

	if (init->rwq_ind_tbl)
		return ornic_ib_rss_get(init->rwq_ind_tbl, udata, rss);
	ret = ornic_udata_get(udata, &req, sizeof(req));
	if (ret)
		return ret;
	return req.reserved_20 ? -EINVAL : 0;
}

static u8 device_type(const struct ornic_ib_qp *qp)
{
	if (ornic_ib_qp_is_datagram(qp))
		return ORNIC_QPT_UD;
	if (ornic_ib_qp_is_tags(qp))
		return ORNIC_QPT_TAGS;
	return qp->ibqp.qp_type;
}

static int qp_create_on_device(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp,
			       const struct ib_qp_init_attr *init)
{
	bool has_srq = init->srq && !ornic_ib_qp_is_xrc_target(qp);
	struct ornic_create_qp_params params = {
		.rings = &qp->rings,
		.qp_type = device_type(qp),
		.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR,
		.has_srq = has_srq && !ornic_ib_qp_is_tags(qp),
		.srqn = has_srq ? to_osrq(init->srq)->srqn : 0,
		.wqe_av = ornic_ib_qp_is_kernel(qp) &&
			  ornic_ib_qp_is_datagram(qp),
		.gsi = init->qp_type == IB_QPT_GSI,
		.no_self_mcast = init->qp_type == IB_QPT_UD &&
				 init->create_flags &
					 IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK,
		.fast_reg = ornic_ib_qp_is_kernel(qp) &&
			    init->qp_type == IB_QPT_RC &&
			    dev->caps.caps & ORNIC_CAP_FAST_REG,
	};

	if (ornic_ib_qp_is_xrc_target(qp))
		params.xrcdn = to_oxrcd(init->xrcd)->xrcdn;
	else
		params.pdn = to_opd(qp->ibqp.pd)->pdn;
	/* XRC QPs do not have both, and those with a table of WQs none. */
	if (init->send_cq)
		qp->send_cqn = to_ocq(init->send_cq)->cqn;
	if (init->recv_cq)
		qp->recv_cqn = to_ocq(init->recv_cq)->cqn;
	params.send_cqn = qp->send_cqn;
	params.recv_cqn = qp->recv_cqn;
	ornic_queue_mem_describe(qp->queue.mem, &params.mem);
	return ornic_cmd_create_qp(dev, &params, &qp->ibqp.qp_num);
}

static int qp_put_response(struct ornic_ib_qp *qp, struct ib_udata *udata)
{
	const struct ornic_ring_geom *sq = &qp->rings.sq;
	const struct ornic_ring_geom *rq = &qp->rings.rq;
	struct ornic_create_qp_resp resp = {
		.qpn = qp->ibqp.qp_num,
		.mmap_offset = ornic_mmap_offset(qp->queue.mmap),
		.mmap_size = ornic_mmap_size(qp->queue.mmap),
		.sq_offset = sq->offset,
		.rq_offset = rq->offset,
		.sq_log_depth = sq->log_depth,
		.sq_log_stride = sq->log_stride,
		.rq_log_depth = rq->log_depth,
		.rq_log_stride = rq->log_stride,
		.has_sq = sq->exists,
		.has_rq = rq->exists,
		.max_inline = sq->max_inline,
		.sq_max_sge = sq->max_sge,
		.rq_max_sge = rq->max_sge,
	};

	return ornic_udata_put(udata, &resp, sizeof(resp));
}

/* Kicks and events may come afterwards. */
static int qp_publish(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp)
{
	u32 qpn = qp->ibqp.qp_num;

	qp->faults = ornic_qp_faults_open(dev, qpn);
	if (IS_ERR(qp->faults))
		return PTR_ERR(qp->faults);
	qp->target = ornic_event_target_open(
		&dev->qps, qpn, &qp->ibqp,
		qp->context ? qp->context->kicks->id : 0);
	if (IS_ERR(qp->target)) {
		ornic_qp_faults_close(qp->faults);
		return PTR_ERR(qp->target);
	}
	if (ornic_ib_qp_is_kernel(qp)) {
		WRITE_ONCE(qp->target->send_cq, qp->ibqp.send_cq);
		WRITE_ONCE(qp->target->recv_cq, qp->ibqp.recv_cq);
	}
	return 0;
}

static void release_queue(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp)
{
	if (qp->sq) {
		ornic_wq_untrack(qp->sq);
		ornic_wq_untrack(qp->rq);
		kfree(qp->sq);
	}
	ornic_queue_release(&qp->queue, &dev->ibdev);
}

/* The host's ends of the queues, for a kernel user. */
static int init_wqs(struct ornic_ib_qp *qp)
{
	int ret;

	qp->sq = kcalloc(2, sizeof(*qp->sq), GFP_KERNEL);
	if (!qp->sq)
		return -ENOMEM;
	qp->rq = qp->sq + 1;
	if (ornic_ib_qp_is_xrc_target(qp))
		return 0;
	ornic_wq_init(qp->sq, qp->queue.mem, &qp->rings.sq, ORNIC_SQ_RECORD);
	ornic_wq_init(qp->rq, qp->queue.mem, &qp->rings.rq, ORNIC_RQ_RECORD);
	ret = ornic_wq_track(qp->sq);
	return ret ?: ornic_wq_track(qp->rq);
}

static int qp_init_queue(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp,
			 struct ib_udata *udata)
{
	struct ornic_ib_ucontext *context;
	int ret;

	if (udata) {
		context = ornic_udata_context(udata);
		qp->context = context;
		return ornic_queue_init(&qp->queue, &context->ibctx,
					qp->rings.size);
	}
	ret = ornic_queue_init_kernel(&qp->queue, &dev->ibdev, qp->rings.size);
	if (ret)
		return ret;
	ret = init_wqs(qp);
	if (ret)
		release_queue(dev, qp);
	return ret;
}

/* All steps that can fail, after the arguments were checked. */
static int qp_bring_up(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp,
		       const struct ib_qp_init_attr *init,
		       struct ib_udata *udata, struct ornic_rss **rss)
{
	int ret;

	ret = qp_init_queue(dev, qp, udata);
	if (ret)
		return ret;
	ret = qp_create_on_device(dev, qp, init);
	if (ret)
		goto err_release_queue;
	if (*rss)
		ret = ornic_ib_rss_set(dev, qp->ibqp.qp_num, rss);
	if (ret)
		goto err_destroy_on_device;
	if (udata)
		ret = qp_put_response(qp, udata);
	if (ret)
		goto err_destroy_on_device;
	ret = qp_publish(dev, qp);
	if (ret)
		goto err_destroy_on_device;
	return 0;

err_destroy_on_device:
	ornic_cmd_destroy_qp(dev, qp->ibqp.qp_num);
err_release_queue:
	release_queue(dev, qp);
	return ret;
}

int ornic_ib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		       struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	struct ornic_rss *rss = NULL;
	int ret;

	ret = qp_check_init_attr(dev, init, !udata);
	if (ret)
		return ret;
	if (udata)
		ret = qp_check_udata(init, udata, &rss);
	if (ret)
		return ret;
	ret = qp_init_rings(dev, qp, &init->cap, init->srq);
	if (ret)
		goto out_free_rss;

	mutex_init(&qp->lock);
	qp->state = ornic_ib_qp_is_tags(qp) ? IB_QPS_RTS : IB_QPS_RESET;
	qp->sig_type = init->sq_sig_type;
	ret = qp_bring_up(dev, qp, init, udata, &rss);
	if (ret)
		mutex_destroy(&qp->lock);
out_free_rss:
	kfree(rss);
	return ret;
}

/* The CQs of @qp are locked. */
static void empty_queues(struct ornic_ib_qp *qp)
{
	ornic_wq_reset(qp->sq);
	ornic_wq_reset(qp->rq);
}

/*
 * Empty the queues of a QP in RESET, and remove its CQEs from its CQs. Pollers
 * see both at once, as the tail of a queue is written under the lock of its CQ.
 */
void ornic_ib_qp_reset(struct ornic_ib_qp *qp)
{
	struct ornic_cq_ring *first = to_ocq(qp->ibqp.send_cq)->ring;
	struct ornic_cq_ring *second = to_ocq(qp->ibqp.recv_cq)->ring;
	unsigned long flags;

	if (first > second)
		swap(first, second);
	spin_lock_irqsave(&first->lock, flags);
	ornic_cq_ring_forget_qp(first, qp->ibqp.qp_num);
	if (second == first) {
		empty_queues(qp);
	} else {
		spin_lock_nested(&second->lock, SINGLE_DEPTH_NESTING);
		ornic_cq_ring_forget_qp(second, qp->ibqp.qp_num);
		empty_queues(qp);
		spin_unlock(&second->lock);
	}
	spin_unlock_irqrestore(&first->lock, flags);
}

/*
 * Must run while the QP still has its number: once it is destroyed another QP
 * may get the number, and complete to the same CQ.
 */
static bool forget_completions(struct ornic_ib_dev *dev, struct ornic_ib_qp *qp)
{
	const struct ornic_qp_params params = {
		.mask = ORNIC_QPM_STATE,
		.state = IB_QPS_RESET,
	};
	int ret;

	ret = ornic_cmd_modify_qp(dev, qp->ibqp.qp_num, &params);
	if (ret && !ornic_is_dead(dev))
		return false;
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	ornic_ib_qp_reset(qp);
	/* It may be calling the handler of a CQ that is destroyed next. */
	if (ornic_is_dead(dev))
		flush_work(&dev->flush_work);
	return true;
}

/* One with a table of WQs has nothing posted, and stays in RESET. */
static void flush_qp(void *ibqp)
{
	struct ornic_ib_qp *qp = to_oqp(ibqp);

	if (!ornic_ib_qp_is_kernel(qp) && !qp->ibqp.rwq_ind_tbl)
		ornic_ib_qp_flush(qp);
}

static void flush_wq(void *ibwq)
{
	ornic_ib_rwq_flush(to_orwq(ibwq));
}

static void flush_all(struct ornic_ib_dev *dev, struct xarray *table,
		      void (*flush)(void *obj))
{
	struct ornic_event_target *target;
	unsigned long num;
	void *entry;

	xa_for_each(table, num, entry) {
		if (ornic_is_dead(dev))
			return;
		target = ornic_event_target_hold(table, num);
		if (!target)
			continue;
		flush(target->obj);
		ornic_event_target_put(target);
		cond_resched();
	}
}

/*
 * Complete what processes have posted, before ib_uverbs destroys their objects
 * because the device goes away. Nothing completes afterwards, but the memory of
 * their CQs stays. A QP that is created or reset meanwhile is flushed when it
 * is destroyed.
 */
void ornic_ib_flush_users(struct ornic_ib_dev *dev)
{
	flush_all(dev, &dev->qps, flush_qp);
	flush_all(dev, &dev->wqs, flush_wq);
}

int ornic_ib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	bool forgotten;
	int ret;

	if (READ_ONCE(dev->disabled) && !ornic_ib_qp_is_kernel(qp))
		ornic_ib_qp_flush(qp);
	ornic_event_target_close(&dev->qps, qp->target);
	forgotten = !ornic_ib_qp_is_kernel(qp) || forget_completions(dev, qp);
	ret = ornic_cmd_destroy_qp(dev, ibqp->qp_num);
	if (ret) {
		ibdev_err_ratelimited(ibqp->device,
				      "QP %#x not destroyed: %d\n",
				      ibqp->qp_num, ret);
		ornic_event_target_reopen(&dev->qps, qp->target);
		/* An event may have come meanwhile. */
		ornic_qp_fault(qp->faults, ORNIC_FAULT_SQ);
		ornic_qp_fault(qp->faults, ORNIC_FAULT_RQ);
		return ret;
	}
	/* A poller may have found it: wait, even if the device refused. */
	if (!forgotten)
		ornic_ib_qp_reset(qp);

	ornic_event_target_free(qp->target);
	ornic_qp_faults_close(qp->faults);
	release_queue(dev, qp);
	mutex_destroy(&qp->lock);
	return 0;
}

/*
 * Multicast groups. The device knows the members; the netdev joins the group,
 * so that its filter and the network pass the packets. ib_core checks type and
 * address, and detaches QPs of a process that exits.
 */

/*
 * Memberships of a context. The netdev joins each group without the limits of
 * sockets, igmp_max_memberships and optmem_max.
 */
#define MAX_MEMBERSHIPS 128

static bool get_membership(struct ornic_ib_qp *qp)
{
	return !qp->context ||
	       atomic_add_unless(&qp->context->memberships, 1, MAX_MEMBERSHIPS);
}

static void put_membership(struct ornic_ib_qp *qp)
{
	if (qp->context)
		atomic_dec(&qp->context->memberships);
}

/*
 * Takes the RTNL. Returns -EBUSY if the QP is a member; -ENOSPC if the group is
 * full, or the device or the process has too many.
 */
int ornic_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_MCAST))
		return -EOPNOTSUPP;
	if (!get_membership(qp)) {
		ibdev_dbg(ibqp->device,
			  "QP %#x: already in %u multicast groups\n",
			  ibqp->qp_num, MAX_MEMBERSHIPS);
		return -ENOSPC;
	}
	ret = ornic_netdev_mcast_join(&dev->mcast, gid->raw);
	if (ret) {
		ibdev_dbg(ibqp->device, "QP %#x: cannot join %pI6c: %d\n",
			  ibqp->qp_num, gid->raw, ret);
		goto err_put_membership;
	}
	ret = ornic_cmd_attach_mcast(dev, ibqp->qp_num, gid->raw);
	if (ret)
		goto err_leave;
	return 0;

err_leave:
	ornic_netdev_mcast_leave(&dev->mcast, gid->raw);
err_put_membership:
	put_membership(qp);
	return ret;
}

/*
 * Takes the RTNL. Returns 0 if the device is gone, -ENOENT if the QP is no
 * member.
 */
int ornic_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	int ret;

	ret = ornic_cmd_detach_mcast(dev, ibqp->qp_num, gid->raw);
	if (ret)
		return ret;
	ornic_netdev_mcast_leave(&dev->mcast, gid->raw);
	put_membership(to_oqp(ibqp));
	return 0;
}
