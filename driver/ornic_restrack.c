// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Details of ours in `rdma resource show ... -dd`. */
#include "ornic_restrack.h"

#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "ornic_cq.h"
#include "ornic_mr.h"
#include "ornic_qp.h"
#include "ornic_srq.h"

struct detail {
	const char *name;
	u32 value;
};

static int put_details(struct sk_buff *msg, const struct detail *details,
		       int count)
{
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < count; i++)
		if (rdma_nl_put_driver_u32(msg, details[i].name,
					   details[i].value))
			goto err_cancel_nest;
	nla_nest_end(msg, nest);
	return 0;

err_cancel_nest:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

/**
 * ornic_fill_res_cq - ib_device_ops.fill_res_cq_entry
 * @msg: netlink message
 * @ibcq: CQ
 *
 * Context: process.
 * Return: 0; -EMSGSIZE if @msg is full.
 */
int ornic_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct ornic_cq *cq = to_ornic_cq(ibcq);
	const struct detail details[] = {
		{ "cqn", cq->cqn },
		{ "depth", 1u << READ_ONCE(cq->log_depth) },
		{ "vector", cq->vector },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

/* XRC QPs do not have both. */
static u32 cqn_of(struct ib_cq *ibcq)
{
	return ibcq ? to_ornic_cq(ibcq)->cqn : 0;
}

/**
 * ornic_fill_res_qp - ib_device_ops.fill_res_qp_entry
 * @msg: netlink message
 * @ibqp: QP
 *
 * Context: process.
 * Return: 0; -EMSGSIZE if @msg is full.
 */
int ornic_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct ornic_qp *qp = to_ornic_qp(ibqp);
	const struct detail details[] = {
		{ "send_cqn", cqn_of(ibqp->send_cq) },
		{ "recv_cqn", cqn_of(ibqp->recv_cq) },
		{ "sq_depth", qp->caps.max_send_wr },
		{ "sq_stride",
		  qp->caps.max_send_wr ? 1u << qp->rings.sq.log_stride : 0 },
		{ "rq_depth", qp->caps.max_recv_wr },
		{ "rq_stride",
		  qp->caps.max_recv_wr ? 1u << qp->rings.rq.log_stride : 0 },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

/**
 * ornic_fill_res_srq - ib_device_ops.fill_res_srq_entry
 * @msg: netlink message
 * @ibsrq: SRQ
 *
 * Context: process.
 * Return: 0; -EMSGSIZE if @msg is full.
 */
int ornic_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	const struct ornic_srq *srq = to_ornic_srq(ibsrq);
	const struct detail details[] = {
		{ "srqn", srq->srqn },
		{ "depth", 1u << READ_ONCE(srq->ring.log_depth) },
		{ "stride", 1u << srq->ring.log_stride },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

/**
 * ornic_fill_res_mr - ib_device_ops.fill_res_mr_entry
 * @msg: netlink message
 * @ibmr: MR
 *
 * Context: process.
 * Return: 0; -EMSGSIZE if @msg is full.
 */
int ornic_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct ornic_mr *mr = to_ornic_mr(ibmr);
	const struct detail details[] = {
		{ "page_shift", mr->page_shift },
		{ "list_levels", mr->list.shape.levels },
		{ "list_pages", mr->list.shape.total },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}
