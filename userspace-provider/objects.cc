// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Device and port queries, XRC domains, memory regions and windows, address
// handles.

#include <cerrno>
#include <cstdio>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "address_handle.h"
#include "command.h"
#include "context.h"
#include "domain.h"
#include "ioctl.h"
#include "resource.h"
#include "verbs.h"

namespace ornic
{

/* What RSS QPs hash by: the kernel has no fields for it. */
void fill_rx_hash(ibv_rss_caps &caps) noexcept
{
	static_assert(
		int{ ORNIC_RSS_SRC_IPV4 } == IBV_RX_HASH_SRC_IPV4 &&
		int{ ORNIC_RSS_DST_IPV4 } == IBV_RX_HASH_DST_IPV4 &&
		int{ ORNIC_RSS_SRC_IPV6 } == IBV_RX_HASH_SRC_IPV6 &&
		int{ ORNIC_RSS_DST_IPV6 } == IBV_RX_HASH_DST_IPV6 &&
		int{ ORNIC_RSS_SRC_PORT_TCP } == IBV_RX_HASH_SRC_PORT_TCP &&
		int{ ORNIC_RSS_DST_PORT_TCP } == IBV_RX_HASH_DST_PORT_TCP &&
		int{ ORNIC_RSS_SRC_PORT_UDP } == IBV_RX_HASH_SRC_PORT_UDP &&
		int{ ORNIC_RSS_DST_PORT_UDP } == IBV_RX_HASH_DST_PORT_UDP);

	if (!caps.supported_qpts)
		return;
	caps.rx_hash_fields_mask = ORNIC_RSS_FIELDS;
	caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
}

/** The kernel has no field for them. */
void fill_packet_pacing(const context_state &ctx,
			ibv_packet_pacing_caps &caps) noexcept
{
	caps.qp_rate_limit_min = ctx.rate_limit_min;
	caps.qp_rate_limit_max = ctx.rate_limit_max;
	caps.supported_qpts = ctx.rate_limit_max ? 1U << IBV_QPT_RAW_PACKET : 0;
}

/** Device attributes; fw_ver is spelt from the kernel's 16-bit fields. */
int query_device(ibv_context *ctx, const ibv_query_device_ex_input *input,
		 ibv_device_attr_ex *attr, std::size_t attr_size) noexcept
{
	ib_uverbs_ex_query_device_resp resp{};
	std::size_t resp_size = sizeof(resp);

	if (int ret = ibv_cmd_query_device_any(ctx, input, attr, attr_size,
					       &resp, &resp_size))
		return ret;

	auto part = [&](int shift) {
		return static_cast<unsigned int>(resp.base.fw_ver >> shift &
						 0xffff);
	};
	std::snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		      "%u.%u.%u", part(32), part(16), part(0));
	if (attr_size >=
	    offsetof(ibv_device_attr_ex, rss_caps) + sizeof(attr->rss_caps))
		fill_rx_hash(attr->rss_caps);
	if (attr_size >= offsetof(ibv_device_attr_ex, packet_pacing_caps) +
				 sizeof(attr->packet_pacing_caps))
		fill_packet_pacing(to_context(ctx)->state,
				   attr->packet_pacing_caps);
	return 0;
}

int query_port(ibv_context *ctx, std::uint8_t port,
	       ibv_port_attr *attr) noexcept
{
	request<ib_uverbs_query_port> cmd;

	return ibv_cmd_query_port(ctx, port, attr, cmd.data(), cmd.size());
}

/** In units of 100 Mbit/s; by a function that came with the operation. */
int query_port_speed(ibv_context *ctx, std::uint32_t port,
		     std::uint64_t *speed) noexcept
{
	return ibv_cmd_query_port_speed(ctx, port, speed);
}

ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova,
	       int access) noexcept
{
	request<ib_uverbs_reg_mr> cmd;
	response<ib_uverbs_reg_mr_resp> resp;
	auto mr = make_object<pabi_mr>();

	if (!mr)
		return nullptr;
	if (int ret = ibv_cmd_reg_mr(pd, addr, length, iova, access, mr.get(),
				     cmd.data(), cmd.size(), resp.data(),
				     resp.size()))
		return fail(ret);
	return &mr.release()->ibv_mr;
}

/**
 * Not by ibv_cmd_reg_dmabuf_mr(), which has an argument more from 54 on, and nothing
 * tells 54 from 53.
 */
ibv_mr *reg_dmabuf_mr(ibv_pd *pd, std::uint64_t offset, std::size_t length,
		      std::uint64_t iova, int fd, int access) noexcept
{
	ioctl_command<9> cmd(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	auto mr = make_object<pabi_mr>();

	if (!mr)
		return nullptr;
	cmd.object(0, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0);
	cmd.object(1, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle);
	cmd.in(2, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset);
	cmd.in(3, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, std::uint64_t{ length });
	cmd.in(4, UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova);
	cmd.in(5, UVERBS_ATTR_REG_DMABUF_MR_FD, fd);
	cmd.in(6, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, access);
	cmd.out(7, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr->ibv_mr.lkey);
	cmd.out(8, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr->ibv_mr.rkey);
	if (int ret = cmd.run(pd->context->cmd_fd))
		return fail(ret);
	mr->ibv_mr.handle = cmd.handle(0);
	mr->ibv_mr.context = pd->context;
	mr->ibv_mr.pd = pd;
	mr->mr_type = PABI_MR_TYPE_DMABUF_MR;
	return &mr.release()->ibv_mr;
}

/**
 * Not by ibv_cmd_reg_mr_ex(), which before 64 fails on kernels before 6.17. What it
 * has besides are DMA handles, and the device has none.
 */
ibv_mr *reg_mr_ex(ibv_pd *pd, pabi_mr_init_attr *attr) noexcept
{
	constexpr std::uint64_t dmabuf =
		REG_MR_MASK_FD | REG_MR_MASK_FD_OFFSET | REG_MR_MASK_IOVA;
	std::uint64_t mask = attr->comp_mask;
	auto iova = reinterpret_cast<std::uintptr_t>(attr->addr);

	if (mask & ~(dmabuf | REG_MR_MASK_ADDR))
		return fail(EOPNOTSUPP);
	if (mask == dmabuf)
		return reg_dmabuf_mr(pd, attr->fd_offset, attr->length,
				     attr->iova, attr->fd, attr->access);
	if ((mask & ~std::uint64_t{ REG_MR_MASK_IOVA }) != REG_MR_MASK_ADDR)
		return fail(EINVAL);
	if (mask & REG_MR_MASK_IOVA)
		iova = attr->iova;
	return reg_mr(pd, attr->addr, attr->length, iova, attr->access);
}

/** No object of the kernel: all null MRs have the device's key. */
ibv_mr *alloc_null_mr(ibv_pd *pd) noexcept
{
	std::uint32_t lkey = to_context(pd->context)->state.null_lkey;

	if (!lkey)
		return fail(EOPNOTSUPP);
	auto mr = make_object<pabi_mr>();
	if (!mr)
		return nullptr;
	mr->ibv_mr.context = pd->context;
	mr->ibv_mr.pd = pd;
	mr->ibv_mr.length = SIZE_MAX;
	mr->ibv_mr.lkey = lkey;
	mr->mr_type = PABI_MR_TYPE_NULL_MR;
	use(pd);
	return &mr.release()->ibv_mr;
}

/** The keys stay; libibverbs notes the rest. */
int rereg_mr(pabi_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length,
	     int access) noexcept
{
	request<ib_uverbs_rereg_mr> cmd;
	response<ib_uverbs_rereg_mr_resp> resp;

	return ibv_cmd_rereg_mr(mr, static_cast<std::uint32_t>(flags), addr,
				length, reinterpret_cast<std::uintptr_t>(addr),
				access, pd, cmd.data(), cmd.size(), resp.data(),
				resp.size());
}

int dereg_mr(pabi_mr *mr) noexcept
{
	if (mr->mr_type == PABI_MR_TYPE_NULL_MR)
		unuse(mr->ibv_mr.pd);
	else if (int ret = ibv_cmd_dereg_mr(mr))
		return ret;
	object_deleter()(mr);
	return 0;
}

ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type) noexcept
{
	request<ib_uverbs_alloc_mw> cmd;
	response<ib_uverbs_alloc_mw_resp> resp;
	auto mw = make_object<ibv_mw>();

	if (!mw)
		return nullptr;
	if (int ret = ibv_cmd_alloc_mw(pd, type, mw.get(), cmd.data(),
				       cmd.size(), resp.data(), resp.size()))
		return fail(ret);
	return mw.release();
}

int dealloc_mw(ibv_mw *mw) noexcept
{
	if (int ret = ibv_cmd_dealloc_mw(mw))
		return ret;
	object_deleter()(mw);
	return 0;
}

/** Processes that open the same file share the domain; the kernel sees to it. */
ibv_xrcd *open_xrcd(ibv_context *ctx, ibv_xrcd_init_attr *attr) noexcept
{
	request<ib_uverbs_open_xrcd> cmd;
	response<ib_uverbs_open_xrcd_resp> resp;
	auto xrcd = make_object<pabi_xrcd>();

	if (!xrcd)
		return nullptr;
	if (int ret = ibv_cmd_open_xrcd(ctx, xrcd.get(), sizeof(*xrcd), attr,
					cmd.data(), cmd.size(), resp.data(),
					resp.size()))
		return fail(ret);
	return &xrcd.release()->xrcd;
}

/* EBUSY while SRQs and targets of this process are in it. */
int close_xrcd(ibv_xrcd *ibxrcd) noexcept
{
	auto *xrcd = reinterpret_cast<pabi_xrcd *>(ibxrcd);

	if (int ret = ibv_cmd_close_xrcd(xrcd))
		return ret;
	object_deleter()(xrcd);
	return 0;
}

ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr) noexcept
{
	response<ib_uverbs_create_ah_resp, ornic_create_ah_resp> resp;
	auto ah = make_object<address_handle>();

	if (!ah)
		return nullptr;
	if (int ret = ibv_cmd_create_ah(pd, &ah->base, attr, resp.data(),
					resp.size()))
		return fail(ret);
	ah->number = resp.driver().ah;
	return &ah.release()->base;
}

int destroy_ah(ibv_ah *ah) noexcept
{
	if (int ret = ibv_cmd_destroy_ah(ah))
		return ret;
	object_deleter()(to_ah(ah));
	return 0;
}

} // namespace ornic
