// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of a QP: from verbs to MODIFY_QP, and from QUERY_QP to verbs.
 *
 * The driver checks masks and ranges, and the transition by ib_core's table and
 * the state that it last saw. The device, which alone knows the current state,
 * checks the transition again (IBTA 10.3.1). Attributes that are narrower on
 * the wire than in struct ib_qp_attr are truncated, as in mlx5, since programs
 * pass such values; ib_core does so for PSNs.
 */
#include <linux/capability.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>

#include "ornic_ah.h"
#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_pack.h"
#include "ornic_qp.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

#define RETRY_MASK 0x7 /* retry counts */
#define CODE_MASK 0x1f /* timeout, RNR timer */
#define QPN_MASK 0xffffff

/* clang-format off */
#define SUPPORTED_MASK							\
	(IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY |	\
	 IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY | \
	 IB_QP_AV | IB_QP_PATH_MTU | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |	\
	 IB_QP_RNR_RETRY | IB_QP_RQ_PSN | IB_QP_MAX_QP_RD_ATOMIC |	\
	 IB_QP_MIN_RNR_TIMER | IB_QP_SQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | \
	 IB_QP_DEST_QPN | IB_QP_RATE_LIMIT)
/* clang-format on */

/* Attributes for the device, and the largest value of small ones. */
static const struct mask_map {
	u32 ib;
	u32 ornic;
} mask_map[] = {
	{ IB_QP_STATE, ORNIC_QPM_STATE },
	{ IB_QP_CUR_STATE, ORNIC_QPM_CUR_STATE },
	{ IB_QP_EN_SQD_ASYNC_NOTIFY, ORNIC_QPM_SQD_NOTIFY },
	{ IB_QP_ACCESS_FLAGS, ORNIC_QPM_ACCESS },
	{ IB_QP_QKEY, ORNIC_QPM_QKEY },
	{ IB_QP_AV, ORNIC_QPM_AV },
	{ IB_QP_PATH_MTU, ORNIC_QPM_PATH_MTU },
	{ IB_QP_TIMEOUT, ORNIC_QPM_TIMEOUT },
	{ IB_QP_RETRY_CNT, ORNIC_QPM_RETRY_CNT },
	{ IB_QP_RNR_RETRY, ORNIC_QPM_RNR_RETRY },
	{ IB_QP_RQ_PSN, ORNIC_QPM_RQ_PSN },
	{ IB_QP_MAX_QP_RD_ATOMIC, ORNIC_QPM_MAX_RD_ATOMIC },
	{ IB_QP_MIN_RNR_TIMER, ORNIC_QPM_MIN_RNR_TIMER },
	{ IB_QP_SQ_PSN, ORNIC_QPM_SQ_PSN },
	{ IB_QP_MAX_DEST_RD_ATOMIC, ORNIC_QPM_MAX_DEST_RD_ATOMIC },
	{ IB_QP_DEST_QPN, ORNIC_QPM_DEST_QPN },
	{ IB_QP_PKEY_INDEX, ORNIC_QPM_PKEY },
	{ IB_QP_RATE_LIMIT, ORNIC_QPM_RATE_LIMIT },
};

static u32 device_mask(u32 mask)
{
	u32 out = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(mask_map); i++)
		if (mask & mask_map[i].ib)
			out |= mask_map[i].ornic;
	return out;
}

static int check_range(struct ornic_ib_qp *qp, int mask, int bit,
		       const char *name, u32 value, u32 min, u32 max)
{
	if (!(mask & bit) || (value >= min && value <= max))
		return 0;
	ibdev_dbg(qp->ibqp.device, "QP %#x: %s %u, allowed %u to %u\n",
		  qp->ibqp.qp_num, name, value, min, max);
	return -EINVAL;
}

static int check_ranges(struct ornic_ib_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	const struct ornic_caps *caps = &to_odev(qp->ibqp.device)->caps;

	if (check_range(qp, mask, IB_QP_PORT, "port", attr->port_num,
			ORNIC_PORT, ORNIC_PORT) ||
	    check_range(qp, mask, IB_QP_PKEY_INDEX, "P_Key index",
			attr->pkey_index, 0, caps->pkey_table_len - 1) ||
	    check_range(qp, mask, IB_QP_PATH_MTU, "path MTU", attr->path_mtu,
			IB_MTU_256, IB_MTU_4096) ||
	    check_range(qp, mask, IB_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic",
			attr->max_rd_atomic, 0, caps->max_rd_atomic) ||
	    check_range(qp, mask, IB_QP_MAX_DEST_RD_ATOMIC,
			"max_dest_rd_atomic", attr->max_dest_rd_atomic, 0,
			caps->max_dest_rd_atomic) ||
	    check_range(qp, mask, IB_QP_RATE_LIMIT, "rate_limit",
			attr->rate_limit, 0, ORNIC_RATE_LIMIT_MAX))
		return -EINVAL;
	return 0;
}

static int check_mask(struct ornic_ib_qp *qp, int mask)
{
	const u64 caps = to_odev(qp->ibqp.device)->caps.caps;
	const int supported = caps & ORNIC_CAP_RATE_LIMIT ?
				      SUPPORTED_MASK :
				      SUPPORTED_MASK & ~IB_QP_RATE_LIMIT;

	if (!(mask & ~supported))
		return 0;
	ibdev_dbg(qp->ibqp.device, "QP %#x: mask %#x, supported %#x\n",
		  qp->ibqp.qp_num, mask, supported);
	return -EOPNOTSUPP;
}

static int qp_check_transition(struct ornic_ib_qp *qp, enum ib_qp_state cur,
			       enum ib_qp_state next, int mask)
{
	if (ib_modify_qp_is_ok(cur, next, qp->ibqp.qp_type, mask))
		return 0;
	ibdev_dbg(qp->ibqp.device,
		  "QP %#x: invalid transition from %d to %d, mask %#x\n",
		  qp->ibqp.qp_num, cur, next, mask);
	return -EINVAL;
}

/* Without a flow label the driver chooses the source port. */
static int set_path(struct ornic_ib_qp *qp, const struct ib_qp_attr *attr,
		    struct ornic_qp_params *params)
{
	u32 label = attr->ah_attr.grh.flow_label & IB_GRH_FLOWLABEL_MASK;
	u16 sport =
		rdma_get_udp_sport(label, qp->ibqp.qp_num, params->dest_qpn);

	return ornic_av_params_from_ah_attr(qp->ibqp.device, &attr->ah_attr,
					    sport, &params->path);
}

static int make_params(struct ornic_ib_qp *qp, const struct ib_qp_attr *attr,
		       int mask, struct ornic_qp_params *params)
{
	u64 caps = to_odev(qp->ibqp.device)->caps.caps;
	/* There the index is 0, as check_ranges() has seen. */
	u32 unknown = caps & ORNIC_CAP_PKEY ? 0 : ORNIC_QPM_PKEY;
	int ret = 0;

	*params = (struct ornic_qp_params){
		.mask = device_mask(mask) & ~unknown,
		.state = attr->qp_state,
		.cur_state = attr->cur_qp_state,
		.path_mtu = attr->path_mtu,
		.timeout = attr->timeout & CODE_MASK,
		.retry_cnt = attr->retry_cnt & RETRY_MASK,
		.rnr_retry = attr->rnr_retry & RETRY_MASK,
		.min_rnr_timer = attr->min_rnr_timer & CODE_MASK,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.sqd_notify = attr->en_sqd_async_notify,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qpn = mask & IB_QP_DEST_QPN ?
				    attr->dest_qp_num & QPN_MASK :
				    qp->dest_qpn,
		.qkey_ece = attr->qkey,
		.pkey_index = attr->pkey_index,
	};
	if (mask & IB_QP_ACCESS_FLAGS)
		ret = ornic_qp_access(attr->qp_access_flags, &params->access);
	if (!ret && mask & IB_QP_AV)
		ret = set_path(qp, attr, params);
	return ret;
}

/* A QP in RESET has no peer; RTR names it again. */
static void qp_remember(struct ornic_ib_qp *qp, enum ib_qp_state state,
			u32 dest_qpn)
{
	WRITE_ONCE(qp->state, state);
	qp->dest_qpn = state == IB_QPS_RESET ? 0 : dest_qpn;
}

/* All QPs of a device that has failed are in ERR, and may go to RESET. */
static bool may_end(struct ornic_ib_dev *dev, enum ib_qp_state next)
{
	return ornic_is_dead(dev) &&
	       (next == IB_QPS_ERR || next == IB_QPS_RESET);
}

/* It takes nothing from the SRQ any more (IBTA 10.3.1.7). */
static void report_last_wqe(struct ornic_ib_qp *qp)
{
	struct ornic_eqe eqe = {
		.obj = cpu_to_le32(qp->ibqp.qp_num),
		.type = ORNIC_EVENT_LAST_WQE,
	};

	ornic_event(to_odev(qp->ibqp.device)->bus, &eqe);
}

/* QPs that have no Q_Key; the device knows when it takes options. */
static void add_options(const struct ib_qp_attr *attr, int mask,
			const struct ornic_modify_qp_req *req,
			struct ornic_qp_params *params)
{
	if (req->comp_mask & ORNIC_MODIFY_QP_ECE) {
		params->mask |= ORNIC_QPM_ECE;
		params->qkey_ece = req->ece_options;
	}
	if (mask & IB_QP_RATE_LIMIT) {
		params->qkey_ece = attr->rate_limit;
		params->max_burst = req->max_burst;
	}
}

static int qp_modify_locked(struct ornic_ib_qp *qp,
			    const struct ib_qp_attr *attr, int mask,
			    const struct ornic_modify_qp_req *req)
{
	struct ornic_ib_dev *dev = to_odev(qp->ibqp.device);
	struct ornic_qp_params params;
	enum ib_qp_state cur, next;
	int ret;

	cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	ret = qp_check_transition(qp, cur, next, mask);
	if (ret)
		return ret;
	ret = check_ranges(qp, attr, mask);
	if (ret)
		return ret;
	ret = make_params(qp, attr, mask, &params);
	if (ret)
		return ret;
	add_options(attr, mask, req, &params);
	ret = ornic_cmd_modify_qp(dev, qp->ibqp.qp_num, &params);
	if (ret && may_end(dev, next))
		ret = 0;
	if (ret)
		return ret;

	qp_remember(qp, next, params.dest_qpn);
	/* The provider does this for QPs of users. */
	if (next == IB_QPS_RESET && ornic_ib_qp_is_kernel(qp))
		ornic_ib_qp_reset(qp);
	return 0;
}

/* What the device takes, enum ornic_modify_qp_mask. */
static u32 known_options(const struct ornic_caps *caps)
{
	u32 known = caps->ece_options ? ORNIC_MODIFY_QP_ECE : 0;

	return caps->caps & ORNIC_CAP_RATE_LIMIT ?
		       known | ORNIC_MODIFY_QP_BURST :
		       known;
}

/* Programs pass driver data only if they have set options or a limit. */
static int get_request(struct ornic_ib_qp *qp, struct ib_udata *udata, int mask,
		       struct ornic_modify_qp_req *req)
{
	const struct ornic_ib_dev *dev = to_odev(qp->ibqp.device);
	size_t size = sizeof(*req);
	int ret;

	if (!udata || !udata->inlen)
		return 0;
	/* That of a provider that knows no rate limits. */
	if (udata->inlen < size)
		size = offsetofend(struct ornic_modify_qp_req, ece_options);
	ret = ornic_udata_get_masked(udata, req, size,
				     known_options(&dev->caps));
	if (ret)
		return ret;
	if (req->reserved_60 || (req->comp_mask & ORNIC_MODIFY_QP_BURST &&
				 !(mask & IB_QP_RATE_LIMIT)))
		return -EINVAL;
	if (!(req->comp_mask & ORNIC_MODIFY_QP_BURST))
		req->max_burst = 0;
	if (!(req->comp_mask & ORNIC_MODIFY_QP_ECE))
		return 0;
	if (ornic_ib_qp_is_datagram(qp) || qp->ibqp.qp_type == IB_QPT_UC ||
	    qp->ibqp.qp_type == IB_QPT_RAW_PACKET) {
		ibdev_dbg(qp->ibqp.device, "QP %#x: ECE options on type %d\n",
			  qp->ibqp.qp_num, qp->ibqp.qp_type);
		return -EINVAL;
	}
	return 0;
}

/* A change of state that takes a right to the network namespace of the netdev. */
static bool needs_right(const struct ornic_ib_qp *qp,
			const struct ib_qp_attr *attr, int mask)
{
	return qp->ibqp.qp_type == IB_QPT_RAW_PACKET && mask & IB_QP_STATE &&
	       attr->qp_state != IB_QPS_RESET && attr->qp_state != IB_QPS_ERR;
}

/*
 * The device ends raw packet QPs when the netdev moves to another namespace, and
 * only who has the right there may start them again. It leaves alone those in RESET
 * and ERR, so the netdev must not move between check and change.
 */
static int qp_modify_raw(struct ornic_ib_qp *qp, const struct ib_qp_attr *attr,
			 int mask, const struct ornic_modify_qp_req *req)
{
	struct ornic_ib_dev *dev = to_odev(qp->ibqp.device);
	int ret;

	ret = ornic_raw_begin(dev, NULL);
	if (ret)
		return ret;
	ret = qp_modify_locked(qp, attr, mask, req);
	ornic_raw_end(dev);
	return ret;
}

static int qp_modify(struct ornic_ib_qp *qp, const struct ib_qp_attr *attr,
		     int mask, const struct ornic_modify_qp_req *req)
{
	int ret;

	mutex_lock(&qp->lock);
	if (needs_right(qp, attr, mask))
		ret = qp_modify_raw(qp, attr, mask, req);
	else
		ret = qp_modify_locked(qp, attr, mask, req);
	mutex_unlock(&qp->lock);
	return ret;
}

int ornic_ib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata)
{
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	struct ornic_modify_qp_req req = {};
	int ret;

	/* It has none, and ib_core's table of transitions has no such type. */
	if (ornic_ib_qp_is_tags(qp))
		return -EOPNOTSUPP;
	/* Its WQs have states. */
	if (ibqp->rwq_ind_tbl)
		return -EOPNOTSUPP;
	ret = get_request(qp, udata, mask, &req);
	if (ret)
		return ret;
	ret = check_mask(qp, mask);
	if (ret)
		return ret;
	ret = qp_modify(qp, attr, mask, &req);
	if (!ret && qp->ibqp.srq && mask & IB_QP_STATE &&
	    attr->qp_state == IB_QPS_ERR &&
	    ornic_is_dead(to_odev(ibqp->device)))
		report_last_wqe(qp);
	return ret;
}

/* Complete all that is posted, IBTA 10.3.1.7. */
void ornic_ib_qp_flush(struct ornic_ib_qp *qp)
{
	const struct ornic_qp_params params = {
		.mask = ORNIC_QPM_STATE,
		.state = IB_QPS_ERR,
	};
	struct ornic_ib_dev *dev = to_odev(qp->ibqp.device);

	mutex_lock(&qp->lock);
	if (qp->state != IB_QPS_ERR &&
	    !ornic_cmd_modify_qp(dev, qp->ibqp.qp_num, &params))
		WRITE_ONCE(qp->state, IB_QPS_ERR);
	mutex_unlock(&qp->lock);
}

static void fill_attr(struct ornic_ib_qp *qp,
		      const struct ornic_qp_params *params,
		      struct ib_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = params->state;
	attr->cur_qp_state = params->state;
	attr->path_mtu = params->path_mtu;
	attr->path_mig_state = IB_MIG_MIGRATED;
	if (ornic_ib_qp_is_datagram(qp))
		attr->qkey = params->qkey_ece;
	attr->rq_psn = params->rq_psn;
	attr->sq_psn = params->sq_psn;
	attr->dest_qp_num = params->dest_qpn;
	attr->qp_access_flags = ornic_access_flags(params->access);
	attr->cap = qp->caps;
	attr->sq_draining = params->sq_draining;
	attr->max_rd_atomic = params->max_rd_atomic;
	attr->max_dest_rd_atomic = params->max_dest_rd_atomic;
	attr->min_rnr_timer = params->min_rnr_timer;
	attr->port_num = ORNIC_PORT;
	attr->pkey_index = params->pkey_index;
	attr->timeout = params->timeout;
	attr->retry_cnt = params->retry_cnt;
	attr->rnr_retry = params->rnr_retry;
	if (qp->ibqp.qp_type == IB_QPT_RAW_PACKET) {
		attr->rate_limit = params->qkey_ece;
		/* In their place there is the burst. */
		attr->rq_psn = 0;
		attr->min_rnr_timer = 0;
	}
	if (!ornic_ib_qp_is_datagram(qp))
		ornic_av_params_to_ah_attr(qp->ibqp.device, &params->path,
					   &attr->ah_attr);
}

static void fill_init_attr(struct ornic_ib_qp *qp, struct ib_qp_init_attr *init)
{
	const struct ib_qp *ibqp = &qp->ibqp;

	memset(init, 0, sizeof(*init));
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->caps;
	init->sq_sig_type = qp->sig_type;
	init->qp_type = ibqp->qp_type;
	init->port_num = ORNIC_PORT;
}

/*
 * nldev asks for no attribute, and shows the answer to any user (rdma resource show
 * qp). These are what it takes to send packets in the name of the peer.
 */
static void hide_connection(struct ib_qp_attr *attr)
{
	attr->dest_qp_num = 0;
	attr->rq_psn = 0;
	attr->sq_psn = 0;
}

int ornic_ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_qp_init_attr *init)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	struct ornic_qp_params params;
	int ret;

	mutex_lock(&qp->lock);
	ret = ornic_cmd_query_qp(dev, ibqp->qp_num, &params);
	if (!ret)
		WRITE_ONCE(qp->state, params.state);
	mutex_unlock(&qp->lock);
	if (ret)
		return ret;

	fill_attr(qp, &params, attr);
	fill_init_attr(qp, init);
	if (!mask && !capable(CAP_NET_ADMIN))
		hide_connection(attr);
	return 0;
}
