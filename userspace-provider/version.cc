// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The layout class of the libibverbs at run time. rdma-core 34 to 56 all load
// providers called -rdmav34, although struct verbs_context_ops grew in 35 and
// 36 and struct verbs_qp in 44 and 45. Neither the file name (it need not
// carry the release) nor a version function (there is none) tells which one it
// is, so we ask for what changed:
//  - the public symbols that came with the new operations;
//  - where ibv_qp_to_qp_ex() looks for comp_mask of struct verbs_qp.

#include "version.h"

#include <cstdint>
#include <cstring>
#include <dlfcn.h>

#include "pabi.h"

namespace ornic
{

static_assert(offsetof(pabi_qp, comp_mask) == PABI_QP_COMP_MASK,
	      "the headers are not those of rdma-core ORNIC_RDMA_CORE");

namespace
{

[[nodiscard]] bool library_has(const char *symbol, const char *version) noexcept
{
	return dlvsym(RTLD_DEFAULT, symbol, version);
}

/*
 * A QP whose only bit is ours at comp_mask: a library with another idea of the
 * offset finds zero there and says that this is no extended QP.
 */
[[nodiscard]] bool same_qp_layout() noexcept
{
	alignas(pabi_qp) unsigned char bytes[sizeof(pabi_qp) + 64] = {};
	std::uint32_t bit = PABI_QP_EX;

	std::memcpy(bytes + PABI_QP_COMP_MASK, &bit, sizeof(bit));
	return ibv_qp_to_qp_ex(reinterpret_cast<ibv_qp *>(bytes));
}

} // namespace

bool library_fits() noexcept
{
	bool has_import_dm = library_has("ibv_import_dm", "IBVERBS_1.13");
	bool has_data_in_order =
		library_has("ibv_query_qp_data_in_order", "IBVERBS_1.14");

	return has_import_dm == (ORNIC_RDMA_CORE >= 35) &&
	       has_data_in_order == (ORNIC_RDMA_CORE >= 36) && same_qp_layout();
}

} // namespace ornic
