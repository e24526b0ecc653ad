// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Protection domains, parent domains, thread domains; domains and MRs that
// another process has made.

#include "domain.h"

#include <cerrno>
#include <rdma/ornic-abi.h>

#include "command.h"
#include "context.h"
#include "import.h"
#include "resource.h"
#include "verbs.h"

namespace ornic
{
namespace
{

template <typename Domain>
[[nodiscard]] bool in_use(const Domain &domain) noexcept
{
	return domain.users.load(std::memory_order_relaxed) != 0;
}

/* By objects; an import counts as a user. */
[[nodiscard]] bool has_objects(const protection_domain &pd) noexcept
{
	return pd.users.load(std::memory_order_relaxed) > pd.imported;
}

} // namespace

ibv_pd *alloc_pd(ibv_context *ctx) noexcept
{
	request<ib_uverbs_alloc_pd> cmd;
	response<ib_uverbs_alloc_pd_resp, ornic_alloc_pd_resp> resp;
	auto pd = make_object<protection_domain>();

	if (!pd)
		return nullptr;
	if (int ret = ibv_cmd_alloc_pd(ctx, &pd->base, cmd.data(), cmd.size(),
				       resp.data(), resp.size()))
		return fail(ret);
	return &pd.release()->base;
}

/** EBUSY while a parent domain stands for it, or objects are in it. */
int dealloc_pd(ibv_pd *ibpd) noexcept
{
	protection_domain &pd = to_pd(ibpd);

	if (has_objects(pd))
		return EBUSY;
	if (pd.parent_of) {
		unuse(&pd.parent_of->base);
		if (pd.td)
			pd.td->users.fetch_sub(1, std::memory_order_relaxed);
	} else if (int ret = ibv_cmd_dealloc_pd(ibpd)) {
		return ret;
	}
	object_deleter()(&pd);
	return 0;
}

/**
 * The allocators are for buffers that a provider allocates. This one has none:
 * the memory of queues is the driver's, so they are accepted and never called.
 */
ibv_pd *alloc_parent_domain(ibv_context *ctx,
			    ibv_parent_domain_init_attr *attr) noexcept
{
	/*
	 * rdma-core 65: buffers may be in memory that an encrypted guest shares.
	 * Without IBV_DEVICE_CC_DMA_BOUNCE they need not be.
	 */
	constexpr std::uint32_t allow_cc_unprotected_alloc = 1U << 2;
	constexpr std::uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
					IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
					allow_cc_unprotected_alloc;

	if (!attr->pd || attr->pd->context != ctx || to_pd(attr->pd).parent_of)
		return fail(EINVAL);
	if (attr->comp_mask & ~known)
		return fail(EINVAL);
	if ((attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) &&
	    (!attr->alloc || !attr->free))
		return fail(EINVAL);
	auto parent = make_object<protection_domain>();
	if (!parent)
		return nullptr;
	parent->base.context = ctx;
	parent->base.handle = attr->pd->handle;
	parent->parent_of = &to_pd(attr->pd);
	use(attr->pd);
	if (attr->td) {
		parent->td = &to_td(attr->td);
		parent->td->users.fetch_add(1, std::memory_order_relaxed);
	}
	return &parent.release()->base;
}

ibv_td *alloc_td(ibv_context *ctx, ibv_td_init_attr *attr) noexcept
{
	if (attr->comp_mask)
		return fail(EINVAL);
	auto td = make_object<thread_domain>();
	if (!td)
		return nullptr;
	td->base.context = ctx;
	return &td.release()->base;
}

/** EBUSY while a parent domain has it. */
int dealloc_td(ibv_td *ibtd) noexcept
{
	thread_domain &td = to_td(ibtd);

	if (in_use(td))
		return EBUSY;
	object_deleter()(&td);
	return 0;
}

/** ENOENT: the context has no such PD. */
ibv_pd *import_pd(ibv_context *ctx, std::uint32_t handle) noexcept
{
	auto pd = make_object<protection_domain>();

	if (!pd)
		return nullptr;
	if (int ret = query_pd(ctx->cmd_fd, handle))
		return fail(ret);
	pd->base.context = ctx;
	pd->base.handle = handle;
	pd->imported = true;
	use(&pd->base);
	return &pd.release()->base;
}

void unimport_pd(ibv_pd *pd) noexcept
{
	unuse(pd);
}

/** Its address is not known here: ibv_import_mr says null. */
ibv_mr *import_mr(ibv_pd *pd, std::uint32_t handle) noexcept
{
	auto mr = make_object<pabi_mr>();

	if (!mr)
		return nullptr;
	if (int ret = ibv_cmd_query_mr(pd, mr.get(), handle))
		return fail(ret);
	return &mr.release()->ibv_mr;
}

void unimport_mr(ibv_mr *mr) noexcept
{
	object_deleter()(reinterpret_cast<pabi_mr *>(mr));
}

} // namespace ornic
