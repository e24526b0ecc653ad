// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "steps.h"

#include <fcntl.h>

#include <cerrno>

namespace
{

constexpr std::size_t buffer_size = 64 * std::size_t{ 4096 };

ibv_device *find(const std::string &name)
{
	int count = 0;
	/* Never freed: an open needs its device. */
	ibv_device **list = ibv_get_device_list(&count);

	for (int i = 0; list && i < count; i++)
		if (name == ibv_get_device_name(list[i]))
			return list[i];
	fail("no device " + name);
}

/* The same PD twice is fine: a call that failed may have changed it. */
int rereg(life &l, ibv_pd *pd)
{
	const int status = ibv_rereg_mr(
		l.mr,
		IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
			IBV_REREG_MR_CHANGE_ACCESS,
		pd, l.buffer.bytes().data(), buffer_size, all_access);

	return status ? errno : 0;
}

ibv_dm *alloc_dm(ibv_context *context)
{
	ibv_alloc_dm_attr attr = {};

	attr.length = 65536;
	return ibv_alloc_dm(context, &attr);
}

ibv_xrcd *open_domain(ibv_context *context)
{
	ibv_xrcd_init_attr attr = {};

	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = -1;
	attr.oflags = O_CREAT;
	return ibv_open_xrcd(context, &attr);
}

ibv_cq_ex *create_cq_ex(ibv_context *context)
{
	ibv_cq_init_attr_ex attr = {};

	attr.cqe = 100;
	attr.wc_flags = IBV_WC_STANDARD_FLAGS;
	return ibv_create_cq_ex(context, &attr);
}

} /* namespace */

life::life(const char *name, int gid, const char *peer, int peer_gid)
	: device(name)
	, far(peer, peer_gid, "ornic")
	, gid_index(gid)
	, found(find(name))
	, buffer(buffer_size)
{
	far_end = std::make_unique<endpoint>(far, options{});
	far_end->to_init();
	clear(buffer.bytes());
}

std::vector<step> object_steps(life &l)
{
	return {
		// Without faults: where ib_init_ucontext() fails, ib_core (6.12)
		// frees the context and keeps its reference to the task.
		{ "open_device",
		  [&] { return keep(l.context, ibv_open_device(l.found)); },
		  [&] { return ibv_close_device(l.context) ? errno : 0; }, 0 },
		{ "query_device",
		  [&] {
			  ibv_device_attr_ex attr;

			  return ibv_query_device_ex(l.context, nullptr, &attr);
		  },
		  {} },
		{ "query_port",
		  [&] {
			  ibv_port_attr attr;

			  return ibv_query_port(l.context, 1, &attr);
		  },
		  {} },
		{ "query_clock",
		  [&] {
			  ibv_values_ex values = {};

			  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
			  return ibv_query_rt_values_ex(l.context, &values);
		  },
		  {} },
		{ "alloc_pd",
		  [&] { return keep(l.pd, ibv_alloc_pd(l.context)); },
		  [&] { return ibv_dealloc_pd(l.pd); } },
		{ "second alloc_pd",
		  [&] { return keep(l.other_pd, ibv_alloc_pd(l.context)); },
		  [&] { return ibv_dealloc_pd(l.other_pd); } },
		{ "reg_mr",
		  [&] {
			  return keep(l.mr,
				      ibv_reg_mr(l.pd, l.buffer.bytes().data(),
						 buffer_size, all_access));
		  },
		  [&] { return ibv_dereg_mr(l.mr); } },
		{ "alloc_dm", [&] { return keep(l.dm, alloc_dm(l.context)); },
		  [&] { return ibv_free_dm(l.dm); } },
		{ "reg_dm_mr",
		  [&] {
			  return keep(
				  l.dm_mr,
				  ibv_reg_dm_mr(l.pd, l.dm, 8, 8192,
						all_access |
							IBV_ACCESS_ZERO_BASED));
		  },
		  [&] { return ibv_dereg_mr(l.dm_mr); } },
		{ "rereg_mr", [&] { return rereg(l, l.other_pd); }, {} },
		{ "rereg_mr back", [&] { return rereg(l, l.pd); }, {} },
		{ "alloc_mw",
		  [&] { return keep(l.mw, ibv_alloc_mw(l.pd, IBV_MW_TYPE_2)); },
		  [&] { return ibv_dealloc_mw(l.mw); } },
		{ "create_ah",
		  [&] {
			  ibv_ah_attr attr = path_to(l.far.gid, l.gid_index);

			  return keep(l.ah, ibv_create_ah(l.pd, &attr));
		  },
		  [&] { return ibv_destroy_ah(l.ah); },
		  1,
		  { ENOBUFS } },
	};
}

std::vector<step> cq_steps(life &l)
{
	return {
		{ "create_comp_channel",
		  [&] {
			  return keep(l.channel,
				      ibv_create_comp_channel(l.context));
		  },
		  [&] { return ibv_destroy_comp_channel(l.channel); } },
		{ "create_cq",
		  [&] {
			  return keep(l.cq, ibv_create_cq(l.context, 100, &l,
							  l.channel, 0));
		  },
		  [&] { return ibv_destroy_cq(l.cq); } },
		{ "create_cq_ex",
		  [&] { return keep(l.cq_ex, create_cq_ex(l.context)); },
		  [&] { return ibv_destroy_cq(ibv_cq_ex_to_cq(l.cq_ex)); } },
		{ "resize_cq",
		  [&] {
			  return ibv_resize_cq(l.cq,
					       l.cq->cqe > 200 ? 100 : 1000);
		  },
		  {} },
		{ "modify_cq",
		  [&] {
			  ibv_modify_cq_attr attr = {};

			  attr.attr_mask = IBV_CQ_ATTR_MODERATE;
			  attr.moderate = { 1, 1 };
			  return ibv_modify_cq(l.cq, &attr);
		  },
		  {} },
		{ "open_xrcd",
		  [&] { return keep(l.xrcd, open_domain(l.context)); },
		  [&] { return ibv_close_xrcd(l.xrcd); } },
	};
}
