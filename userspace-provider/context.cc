// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Opening and closing a device, and the table of verbs.

#include "context.h"

#include <cstdlib>
#include <memory>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "command.h"
#include "import.h"
#include "qp.h"
#include "verbs.h"

namespace ornic
{
namespace
{

/* RDMA_DRIVER_UNKNOWN: the kernel driver has no number of its own. */
constexpr std::uint32_t driver_id = 0;

void destroy(context *ctx) noexcept
{
	verbs_context *base = to_verbs_context(&ctx->base);

	std::destroy_at(&ctx->state);
	verbs_uninit_context(base);
	std::free(base);
}

void free_context(ibv_context *ctx) noexcept
{
	destroy(to_context(ctx));
}

/* What is not here, libibverbs refuses with EOPNOTSUPP. */
constexpr void set_wq_ops(pabi_context_ops &ops) noexcept
{
	ops.create_rwq_ind_table = create_rwq_ind_table;
	ops.create_wq = create_wq;
	ops.destroy_rwq_ind_table = destroy_rwq_ind_table;
	ops.destroy_wq = destroy_wq;
	ops.modify_wq = modify_wq;
}

constexpr pabi_context_ops make_ops() noexcept
{
	pabi_context_ops ops{};

	ops.advise_mr = ibv_cmd_advise_mr;
	ops.alloc_dm = alloc_dm;
	ops.alloc_mw = alloc_mw;
	ops.alloc_null_mr = alloc_null_mr;
	ops.alloc_parent_domain = alloc_parent_domain;
	ops.alloc_pd = alloc_pd;
	ops.alloc_td = alloc_td;
	ops.attach_mcast = ibv_cmd_attach_mcast;
	ops.bind_mw = bind_mw;
	ops.close_xrcd = close_xrcd;
	ops.create_ah = create_ah;
	ops.create_comp_cntr = create_comp_cntr;
	ops.create_cq = create_cq;
	ops.create_cq_ex = create_cq_ex;
	ops.create_flow = create_flow;
	ops.create_qp = create_qp;
	ops.create_qp_ex = create_qp_ex;
	ops.create_srq = create_srq;
	ops.create_srq_ex = create_srq_ex;
	ops.dealloc_mw = dealloc_mw;
	ops.dealloc_pd = dealloc_pd;
	ops.dealloc_td = dealloc_td;
	ops.dereg_mr = dereg_mr;
	ops.destroy_ah = destroy_ah;
	ops.destroy_comp_cntr = destroy_comp_cntr;
	ops.destroy_cq = destroy_cq;
	ops.destroy_flow = destroy_flow;
	ops.destroy_qp = destroy_qp;
	ops.destroy_srq = destroy_srq;
	ops.detach_mcast = ibv_cmd_detach_mcast;
	ops.dm_export_dmabuf_fd = dm_export_dmabuf_fd;
	ops.free_context = free_context;
	ops.free_dm = free_dm;
	ops.get_srq_num = get_srq_num;
	ops.import_dm = import_dm;
	ops.import_mr = import_mr;
	ops.import_pd = import_pd;
	ops.inc_comp_cntr = ibv_cmd_inc_comp_cntr;
	ops.inc_err_comp_cntr = ibv_cmd_inc_err_comp_cntr;
	ops.modify_cq = modify_cq;
	ops.modify_qp = modify_qp;
	ops.modify_qp_rate_limit = modify_qp_rate_limit;
	ops.modify_srq = modify_srq;
	ops.open_qp = open_qp;
	ops.open_xrcd = open_xrcd;
	ops.poll_cq = poll_cq;
	ops.post_recv = post_recv;
	ops.post_send = post_send;
	ops.post_srq_ops = post_srq_ops;
	ops.post_srq_recv = post_srq_recv;
	ops.qp_attach_comp_cntr = qp_attach_comp_cntr;
	ops.query_comp_cntr_caps = query_comp_cntr_caps;
	ops.query_device_ex = query_device;
	ops.query_ece = query_ece;
	ops.query_port = query_port;
	ops.query_port_speed = query_port_speed;
	ops.query_qp = query_qp;
	ops.query_rt_values = query_rt_values;
	ops.query_srq = query_srq;
	ops.read_comp_cntr = read_comp_cntr;
	ops.read_err_comp_cntr = read_err_comp_cntr;
	ops.reg_dm_mr = reg_dm_mr;
	ops.reg_dmabuf_mr = reg_dmabuf_mr;
	ops.reg_mr = reg_mr;
	ops.reg_mr_ex = reg_mr_ex;
	ops.req_notify_cq = req_notify_cq;
	ops.rereg_mr = rereg_mr;
	ops.resize_cq = resize_cq;
	ops.set_comp_cntr = ibv_cmd_set_comp_cntr;
	ops.set_ece = set_ece;
	ops.set_err_comp_cntr = ibv_cmd_set_err_comp_cntr;
	ops.unimport_dm = unimport_dm;
	ops.unimport_mr = unimport_mr;
	ops.unimport_pd = unimport_pd;
	set_wq_ops(ops);
	return ops;
}

constinit const pabi_context_ops context_ops = make_ops();

/* Can we drive what the kernel describes? 0, or an errno. */
int set_up(context &ctx, const ornic_alloc_ucontext_resp &answer) noexcept
{
	ibv_context &base = ctx.base;
	ibv_device_attr_ex attr{};

	if (answer.hw_version != ORNIC_HW_VERSION) {
		log_error(
			&base,
			"ornic: %s: device interface version %u, expected %d\n",
			answer.hw_version, ORNIC_HW_VERSION);
		return EPROTO;
	}
	if (int ret = query_device(&base, nullptr, &attr, sizeof(attr)))
		return ret;
	// The device has more than an ib_core of before 6.2 can have.
	ctx.state.placement = placement_ops(attr.device_cap_flags_ex);
	ctx.state.ece_offer = answer.ece_options;
	ctx.state.null_lkey = answer.null_lkey;
	ctx.state.rate_limit_min = answer.rate_limit_min;
	ctx.state.rate_limit_max = answer.rate_limit_max;
	ctx.state.tag_sge = attr.tm_caps.max_sge;
	int ret = open_doorbell(base, answer, ctx.state.bell);
	if (ret)
		log_error(&base, "ornic: %s: cannot open doorbell: %d\n", ret);
	return ret;
}

/* Open the device. 0, or an errno. */
int connect(context &ctx) noexcept
{
	request<ib_uverbs_get_context> cmd;
	response<ib_uverbs_get_context_resp, ornic_alloc_ucontext_resp> resp;

	if (int ret = cmd_get_context(to_verbs_context(&ctx.base), cmd.data(),
				      cmd.size(), resp.data(), resp.size()))
		return ret;

	return set_up(ctx, resp.driver());
}

/* Use what another process has opened. 0, or an errno. */
int join(context &ctx) noexcept
{
	ibv_context &base = ctx.base;
	context_info info{};

	if (int ret = query_context(base.cmd_fd, info))
		return ret;
	base.num_comp_vectors = static_cast<int>(info.num_comp_vectors);
	reinterpret_cast<pabi_device *>(base.device)->core_support =
		info.core_support;
	return set_up(ctx, info.answer);
}

/* A context on which @begin has worked, or null with errno. */
verbs_context *make_context(ibv_device *device, int cmd_fd,
			    int (*begin)(context &) noexcept) noexcept
{
	static_assert(offsetof(context, base) == 0);
	auto *base = static_cast<verbs_context *>(_verbs_init_and_alloc_context(
		device, cmd_fd, library->context + sizeof(context), nullptr,
		driver_id));

	if (!base)
		return nullptr;
	context *ctx = to_context(base);
	std::construct_at(&ctx->state);
	if (int ret = begin(*ctx)) {
		destroy(ctx);
		return fail(ret);
	}
	verbs_set_ops(base, place(context_ops, *library).data());
	return base;
}

} // namespace

verbs_context *alloc_context(ibv_device *device, int cmd_fd,
			     void * /* for devices with options */) noexcept
{
	return make_context(device, cmd_fd, connect);
}

verbs_context *import_context(ibv_device *device, int cmd_fd) noexcept
{
	return make_context(device, cmd_fd, join);
}

} // namespace ornic
