// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Driver details of `rdma resource show ... -dd`: an object as the driver knows
 * it, and its current state from the device, unless the device has no INSPECT
 * or has destroyed the object.
 */
#include "ornic_verbs.h"

#include <linux/capability.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "ornic_cmd.h"
#include "ornic_cq.h"
#include "ornic_dev.h"
#include "ornic_mr.h"
#include "ornic_qp.h"
#include "ornic_srq.h"

struct detail {
	const char *name;
	u32 value;
};

static int put_list(struct sk_buff *msg, const struct detail *details,
		    int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (rdma_nl_put_driver_u32(msg, details[i].name,
					   details[i].value))
			return -EMSGSIZE;
	return 0;
}

/* @known, and the state of @live. */
static int put_details(struct sk_buff *msg, const struct detail *known,
		       int num_known, const struct detail *live, int nlive)
{
	struct nlattr *nest;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	if (put_list(msg, known, num_known) || put_list(msg, live, nlive)) {
		nla_nest_cancel(msg, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

/* Any user may list objects; only an administrator may issue commands. */
static bool may_ask(void)
{
	return capable(CAP_NET_ADMIN);
}

static bool inspect_obj(struct ib_device *ibdev, u8 kind, u32 obj,
			union ornic_rsp *rsp)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);

	if (!(dev->caps.caps & ORNIC_CAP_INSPECT) || !may_ask())
		return false;
	return !ornic_cmd_inspect(dev, kind, obj, rsp);
}

int ornic_ib_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct ornic_ib_cq *cq = to_ocq(ibcq);
	const struct detail known[] = {
		{ "cqn", cq->cqn },
		{ "depth", 1u << READ_ONCE(cq->log_depth) },
		{ "vector", cq->vector },
	};
	union ornic_rsp rsp = {};
	bool alive = inspect_obj(ibcq->device, ORNIC_INSPECT_CQ, cq->cqn, &rsp);
	const struct detail live[] = {
		{ "producer", le32_to_cpu(rsp.inspect_cq.producer) },
		{ "consumer", le32_to_cpu(rsp.inspect_cq.consumer) },
		{ "armed", rsp.inspect_cq.armed },
		{ "overflow", rsp.inspect_cq.overflow },
		{ "moderation_count", le16_to_cpu(rsp.inspect_cq.count) },
		{ "moderation_us", le16_to_cpu(rsp.inspect_cq.period) },
		{ "queues", le32_to_cpu(rsp.inspect_cq.users) },
	};

	return put_details(msg, known, ARRAY_SIZE(known), live,
			   alive ? ARRAY_SIZE(live) : 0);
}

/* The state of a QP on the device. */
static int put_qp(struct sk_buff *msg, const struct detail *known,
		  int num_known, const struct ornic_rsp_inspect_qp *r)
{
	const struct detail live[] = {
		{ "sq_psn", le32_to_cpu(r->sq_psn) },
		{ "sq_acked", le32_to_cpu(r->sq_acked) },
		{ "sq_window", le32_to_cpu(r->sq_window) },
		{ "sq_reads", le32_to_cpu(r->sq_reads) },
		{ "sq_producer", le32_to_cpu(r->sq_producer) },
		{ "sq_sent", le32_to_cpu(r->sq_sent) },
		{ "sq_done", le32_to_cpu(r->sq_done) },
		{ "retry_left", r->retry_left },
		{ "rnr_left", r->rnr_left },
		{ "rq_psn", le32_to_cpu(r->rq_psn) },
		{ "rq_msn", le32_to_cpu(r->rq_msn) },
		{ "rq_producer", le32_to_cpu(r->rq_producer) },
		{ "rq_taken", le32_to_cpu(r->rq_taken) },
		{ "rnr_wait", !!(r->flags & ORNIC_IQP_RNR_WAIT) },
		{ "timer", !!(r->flags & ORNIC_IQP_TIMER) },
		{ "draining", !!(r->flags & ORNIC_IQP_DRAINING) },
		{ "broken",
		  !!(r->flags & (ORNIC_IQP_SQ_BROKEN | ORNIC_IQP_RQ_BROKEN)) },
		{ "nak_sent", !!(r->flags & ORNIC_IQP_NAK_SENT) },
		{ "counters", le32_to_cpu(r->counters) },
		{ "ece", le32_to_cpu(r->ece) },
		{ "ece_set", !!(r->flags & ORNIC_IQP_ECE) },
		{ "selective", !!(r->flags & ORNIC_IQP_SELECTIVE) },
	};

	return put_details(msg, known, num_known, live, ARRAY_SIZE(live));
}

int ornic_ib_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct ornic_ib_qp *qp = to_oqp(ibqp);
	const struct detail known[] = {
		{ "send_cqn", qp->send_cqn },
		{ "recv_cqn", qp->recv_cqn },
		{ "sq_depth", qp->caps.max_send_wr },
		{ "sq_stride",
		  qp->caps.max_send_wr ? 1u << qp->rings.sq.log_stride : 0 },
		{ "rq_depth", qp->caps.max_recv_wr },
		{ "rq_stride",
		  qp->caps.max_recv_wr ? 1u << qp->rings.rq.log_stride : 0 },
	};
	union ornic_rsp rsp;

	if (!inspect_obj(ibqp->device, ORNIC_INSPECT_QP, ibqp->qp_num, &rsp))
		return put_details(msg, known, ARRAY_SIZE(known), NULL, 0);
	return put_qp(msg, known, ARRAY_SIZE(known), &rsp.inspect_qp);
}

int ornic_ib_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	const struct ornic_ib_srq *srq = to_osrq(ibsrq);
	const struct detail known[] = {
		{ "srqn", srq->srqn },
		{ "depth", 1u << READ_ONCE(srq->ring.log_depth) },
		{ "stride", 1u << srq->ring.log_stride },
	};
	struct ornic_srq_state state = {};
	bool alive = may_ask() && !ornic_cmd_srq_state(to_odev(ibsrq->device),
						       srq->srqn, &state);
	const struct detail live[] = {
		{ "waiting", state.waiting },
		{ "limit", state.limit },
		{ "broken", state.broken },
		/* If it matches tags, else 0. */
		{ "tags", state.tags },
		{ "unexpected", state.unexpected },
	};

	return put_details(msg, known, ARRAY_SIZE(known), live,
			   alive ? ARRAY_SIZE(live) : 0);
}

int ornic_ib_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct ornic_ib_mr *mr = to_omr(ibmr);
	const struct detail known[] = {
		{ "page_shift", mr->page_shift },
		{ "list_levels", mr->list.shape.levels },
		{ "list_pages", mr->list.shape.total },
		{ "dma_buf", mr->is_dmabuf },
		{ "sg_gaps", mr->sg_gaps },
	};
	union ornic_rsp rsp = {};
	bool alive =
		inspect_obj(ibmr->device, ORNIC_INSPECT_MKEY, ibmr->lkey, &rsp);
	const struct detail live[] = {
		{ "access", rsp.inspect_mkey.access },
		{ "windows", le32_to_cpu(rsp.inspect_mkey.windows) },
		{ "dma", !!(rsp.inspect_mkey.flags & ORNIC_MKEY_DMA) },
		{ "dm", !!(rsp.inspect_mkey.flags & ORNIC_MKEY_DM) },
	};

	return put_details(msg, known, ARRAY_SIZE(known), live,
			   alive ? ARRAY_SIZE(live) : 0);
}
