// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The layout class of the libibverbs at run time. rdma-core 34 to 56 all load
// providers called -rdmav34, although struct verbs_context_ops grew in 35 and
// 36 and struct verbs_qp in 44 and 45. Neither the file name (it need not
// carry the release) nor a version function (there is none) tells which one it
// is, so we ask for what changed:
//  - the public symbols that came with the new operations;
//  - where ibv_qp_to_qp_ex() looks for comp_mask of struct verbs_qp.
// A library with another IBVERBS_PRIVATE_NN lacks the symbols that we link to.

#include "version.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include "pabi.h"

namespace ornic
{

static_assert(offsetof(pabi_qp, comp_mask) == PABI_QP_COMP_MASK,
	      "the headers are not those of rdma-core ORNIC_RDMA_CORE");
static_assert(class_of(ORNIC_RDMA_CORE)->traits.qp_comp_mask ==
	      PABI_QP_COMP_MASK);

namespace
{

[[nodiscard]] bool library_has(const char *symbol, const char *version) noexcept
{
	return dlvsym(RTLD_DEFAULT, symbol, version);
}

/*
 * A QP whose only bit is ours at @offset: a library that looks for comp_mask
 * elsewhere finds zero there and says that this is no extended QP.
 */
[[nodiscard]] bool is_qp_comp_mask(std::size_t offset) noexcept
{
	alignas(pabi_qp) unsigned char bytes[512] = {};
	std::uint32_t bit = PABI_QP_EX;

	std::memcpy(bytes + offset, &bit, sizeof(bit));
	return ibv_qp_to_qp_ex(reinterpret_cast<ibv_qp *>(bytes));
}

[[nodiscard]] std::size_t find_qp_comp_mask() noexcept
{
	for (const layout_class &known : layout_classes) {
		if (is_qp_comp_mask(known.traits.qp_comp_mask))
			return known.traits.qp_comp_mask;
	}
	return 0;
}

} // namespace

bool library_fits() noexcept
{
	return fits(
		ORNIC_RDMA_CORE,
		{ .pabi = ORNIC_RDMA_CORE <= 56 ? 34 : 57,
		  .has_import_dm = library_has("ibv_import_dm", "IBVERBS_1.13"),
		  .has_data_in_order = library_has("ibv_query_qp_data_in_order",
						   "IBVERBS_1.14"),
		  .qp_comp_mask = find_qp_comp_mask() });
}

/* Programs without an ornic device load this library, too: no word to them. */
void warn_of_library() noexcept
{
	constexpr const layout_class &built = *class_of(ORNIC_RDMA_CORE);

	if (std::getenv("IBV_SHOW_WARNINGS"))
		std::fprintf(stderr,
			     "ornic: Warning: provider built for rdma-core %d "
			     "to %d, which this libibverbs is not; not used\n",
			     built.first, built.last);
}

} // namespace ornic
