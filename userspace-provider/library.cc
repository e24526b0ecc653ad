// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Neither the file name of libibverbs (it need not carry the release) nor a version
// function (there is none) tells which release it is, so we ask for what changed:
//  - the public symbols that came with new operations;
//  - how many operations verbs_set_ops() takes: releases add some without a new
//    private ABI, and a table that is too short would be read beyond its end;
//  - where ibv_qp_to_qp_ex() looks for comp_mask of struct verbs_qp.
// A library with another IBVERBS_PRIVATE_NN lacks the symbols that we link to.

#include "library.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include "match.h"

namespace ornic
{

constinit const library_layout *library = nullptr;

namespace
{

struct verb {
	const char *symbol;
	const char *version;
	int since;
};

constexpr verb verbs[] = {
	{ "ibv_create_comp_cntr", "IBVERBS_1.18", 65 },
	{ "ibv_alloc_buf", "IBVERBS_1.17", 64 },
	{ "ibv_query_port_speed", "IBVERBS_1.16", 62 },
	{ "ibv_reg_mr_ex", "IBVERBS_1.15", 59 },
	{ "ibv_query_qp_data_in_order", "IBVERBS_1.14", 36 },
	{ "ibv_import_dm", "IBVERBS_1.13", 35 },
};

[[nodiscard]] int find_newest_verb() noexcept
{
	for (const verb &verb : verbs) {
		if (dlvsym(RTLD_DEFAULT, verb.symbol, verb.version))
			return verb.since;
	}
	return 34;
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
	for (const library_layout &known : library_layouts) {
		if (is_qp_comp_mask(known.traits.qp_comp_mask))
			return known.traits.qp_comp_mask;
	}
	return 0;
}

/* The first release that has the operation at byte @at of pabi_context_ops. */
[[nodiscard]] int first_release_of(std::size_t at) noexcept
{
	for (const pabi_later_op &later : pabi_later_ops) {
		if (later.at == at)
			return later.since;
	}
	return 34;
}

} // namespace

/*
 * Of a table that is longer than that of any release, into a context that is nothing
 * but pointers to one private part: so it does not matter where the library has its
 * own, and the part ends up with as many operations as were taken.
 */
std::size_t count_operations(set_ops_function *set_ops) noexcept
{
	constexpr std::size_t most = 512;
	std::array<void *, most> ops, context;
	std::array<void *, most + 64> priv{};

	ops.fill(&ops);
	context.fill(&priv);
	set_ops(reinterpret_cast<verbs_context *>(&context), &ops);
	return static_cast<std::size_t>(
		std::count(priv.begin(), priv.end(), &ops));
}

const library_layout *find_library(int pabi, set_ops_function *set_ops) noexcept
{
	return layout_of({ .pabi = pabi,
			   .newest_verb = find_newest_verb(),
			   .operations = count_operations(set_ops),
			   .qp_comp_mask = find_qp_comp_mask() });
}

void warn_of_library(int pabi, const char *devices) noexcept
{
	if (std::getenv("IBV_SHOW_WARNINGS") || has_device(devices))
		std::fprintf(stderr,
			     "ornic: Warning: this libibverbs has the private "
			     "ABI %d, but is no release that the provider "
			     "knows; ornic devices are not listed\n",
			     pabi);
}

operations place(const pabi_context_ops &ops,
		 const library_layout &layout) noexcept
{
	const auto all = std::bit_cast<operations>(ops);
	operations placed{};
	std::size_t count = 0;

	for (std::size_t i = 0; i < all.size(); ++i) {
		if (layout.has(first_release_of(i * sizeof(operation))))
			placed[count++] = all[i];
	}
	return placed;
}

void set_comp_mask(pabi_qp &qp, std::uint32_t bit) noexcept
{
	auto *at = reinterpret_cast<unsigned char *>(&qp) +
		   library->traits.qp_comp_mask;
	std::uint32_t mask = 0;

	std::memcpy(&mask, at, sizeof(mask));
	mask |= bit;
	std::memcpy(at, &mask, sizeof(mask));
}

int cmd_get_context(verbs_context *context, void *cmd, std::size_t cmd_size,
		    void *resp, std::size_t resp_size) noexcept
{
	if (library->has(57))
		return reinterpret_cast<pabi_ibv_cmd_get_context_57 *>(
			ibv_cmd_get_context)(context, cmd, cmd_size, nullptr,
					     resp, resp_size);
	return reinterpret_cast<pabi_ibv_cmd_get_context_34 *>(
		ibv_cmd_get_context)(context, cmd, cmd_size, resp, resp_size);
}

int cmd_create_qp_ex2(ibv_context *context, pabi_qp *qp,
		      ibv_qp_init_attr_ex *attr, void *cmd,
		      std::size_t cmd_size, void *resp,
		      std::size_t resp_size) noexcept
{
	if (library->has(64))
		return reinterpret_cast<pabi_ibv_cmd_create_qp_ex2_64 *>(
			ibv_cmd_create_qp_ex2)(context, qp, attr, cmd, cmd_size,
					       resp, resp_size, nullptr);
	return reinterpret_cast<pabi_ibv_cmd_create_qp_ex2_34 *>(
		ibv_cmd_create_qp_ex2)(context, qp, attr, cmd, cmd_size, resp,
				       resp_size);
}

} // namespace ornic
