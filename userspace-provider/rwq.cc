// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Work queues for receives, and tables of them.

#include "rwq.h"

#include <algorithm>
#include <cerrno>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <span>

#include "command.h"
#include "context.h"
#include "domain.h"
#include "verbs.h"

namespace ornic
{
namespace
{

/* 0 if this provider can make the WQ that is asked for. */
int check(const ibv_wq_init_attr &attr) noexcept
{
	constexpr std::uint32_t known = IBV_WQ_INIT_ATTR_FLAGS;

	if (attr.comp_mask & ~known)
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_WQ_INIT_ATTR_FLAGS) && attr.create_flags)
		return EOPNOTSUPP;
	return attr.wq_type == IBV_WQT_RQ && attr.pd && attr.cq ? 0 : EINVAL;
}

/* How the kernel describes the QP that it is to the device. */
[[nodiscard]] ornic_create_qp_resp
as_qp(const ornic_create_wq_resp &answer) noexcept
{
	ornic_create_qp_resp qp{};

	qp.qpn = answer.wqn;
	qp.mmap_offset = answer.mmap_offset;
	qp.mmap_size = answer.mmap_size;
	qp.rq_offset = answer.rq_offset;
	qp.rq_log_depth = answer.log_depth;
	qp.rq_log_stride = answer.log_stride;
	qp.has_rq = 1;
	qp.rq_max_sge = answer.max_sge;
	return qp;
}

/* Map what the kernel has made. 0, or an errno. */
int set_up_wq(context &ctx, work_queue &wq, const ibv_wq_init_attr &attr,
	      const ornic_create_wq_resp &answer) noexcept
{
	ibv_qp_init_attr_ex ex{};
	ibv_qp &base = wq.qp.base.qp;

	ex.qp_type = IBV_QPT_RAW_PACKET;
	ex.pd = attr.pd;
	base.context = &ctx.base;
	base.qp_type = ex.qp_type;
	base.qp_num = answer.wqn;
	base.send_cq = attr.cq;
	base.recv_cq = attr.cq;
	return set_up(ctx, wq.qp, ex, as_qp(answer));
}

/** Also EINVAL in RESET, as for a QP. */
int post_wq_recv(ibv_wq *ibwq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	if (ibwq->state == IBV_WQS_RESET) [[unlikely]] {
		*bad_wr = wr;
		return EINVAL;
	}
	return to_wq(ibwq).qp.rq.post(wr, bad_wr);
}

} // namespace

ibv_wq *create_wq(ibv_context *ibctx, ibv_wq_init_attr *attr) noexcept
{
	ex_request<ib_uverbs_ex_create_wq, ornic_create_wq_req> cmd;
	response<ib_uverbs_ex_create_wq_resp, ornic_create_wq_resp> resp;
	context &ctx = *to_context(ibctx);

	if (int ret = check(*attr))
		return fail(ret);
	auto wq = make_object<work_queue>();
	if (!wq)
		return nullptr;
	if (int ret = ibv_cmd_create_wq(ibctx, attr, &wq->base, cmd.data(),
					cmd.size(), resp.data(), resp.size()))
		return fail(ret);
	if (int ret = set_up_wq(ctx, *wq, *attr, resp.driver())) {
		log_error(ibctx, "ornic: %s: cannot map WQ %u: %d\n",
			  wq->base.wq_num, ret);
		ibv_cmd_destroy_wq(&wq->base);
		return fail(ret);
	}
	wq->base.post_recv = post_wq_recv;
	wq->qp.pd = attr->pd;
	use(attr->pd);
	return &wq.release()->base;
}

/*
 * States beyond the last one do not come to the kernel: ib_core (6.12)
 * refuses them with the WQ locked, for good.
 */
int modify_wq(ibv_wq *ibwq, ibv_wq_attr *attr) noexcept
{
	ex_request<ib_uverbs_ex_modify_wq> cmd;
	const std::uint32_t mask = attr->attr_mask;

	if ((mask & IBV_WQ_ATTR_STATE && attr->wq_state > IBV_WQS_ERR) ||
	    (mask & IBV_WQ_ATTR_CURR_STATE &&
	     attr->curr_wq_state > IBV_WQS_ERR))
		return EINVAL;
	if (int ret = ibv_cmd_modify_wq(ibwq, attr, cmd.data(), cmd.size()))
		return ret;
	if (mask & IBV_WQ_ATTR_STATE && attr->wq_state == IBV_WQS_RESET)
		reset(to_wq(ibwq).qp);
	return 0;
}

/* EBUSY while a table has it. As destroy_qp(): the kernel goes first. */
int destroy_wq(ibv_wq *ibwq) noexcept
{
	work_queue &wq = to_wq(ibwq);

	if (int ret = ibv_cmd_destroy_wq(ibwq))
		return ret;
	take_down(*to_context(ibwq->context), wq.qp);
	unuse(wq.qp.pd);
	object_deleter()(&wq);
	return 0;
}

ibv_rwq_ind_table *
create_rwq_ind_table(ibv_context *ctx,
		     ibv_rwq_ind_table_init_attr *attr) noexcept
{
	response<ib_uverbs_ex_create_rwq_ind_table_resp> resp;

	// libibverbs takes the command from the stack, and looks at each WQ.
	if (attr->log_ind_tbl_size > ORNIC_RSS_MAX_LOG_SIZE || !attr->ind_tbl)
		return fail(EINVAL);
	const std::span wqs(attr->ind_tbl,
			    std::size_t{ 1 } << attr->log_ind_tbl_size);
	if (std::ranges::find(wqs, nullptr) != wqs.end())
		return fail(EINVAL);
	auto table = make_object<ibv_rwq_ind_table>();
	if (!table)
		return nullptr;
	if (int ret = ibv_cmd_create_rwq_ind_table(ctx, attr, table.get(),
						   resp.data(), resp.size()))
		return fail(ret);
	return table.release();
}

/* EBUSY while a QP has it. */
int destroy_rwq_ind_table(ibv_rwq_ind_table *table) noexcept
{
	if (int ret = ibv_cmd_destroy_rwq_ind_table(table))
		return ret;
	object_deleter()(table);
	return 0;
}

} // namespace ornic
