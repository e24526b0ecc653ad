/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The libibverbs of this process: which release it is, as far as that changes the
 * structures and functions of pabi.h.
 */
#ifndef ORNIC_LIBRARY_H
#define ORNIC_LIBRARY_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "pabi.h"

namespace ornic
{

/** What tells the layout of one libibverbs from that of another. */
struct library_traits {
	int pabi; // NN of IBVERBS_PRIVATE_NN
	int newest_verb; // the release that added it, see library.cc
	std::size_t operations; // that verbs_set_ops() takes
	std::size_t qp_comp_mask; // offset of verbs_qp.comp_mask

	friend constexpr bool operator==(const library_traits &,
					 const library_traits &) = default;
};

/** Releases of rdma-core that a provider need not tell apart. */
struct library_layout {
	int first;
	int last;
	library_traits traits;
	std::size_t context; // offset of verbs_context.context

	/** Does it have what came with @release, a first one? */
	[[nodiscard]] constexpr bool has(int release) const noexcept
	{
		return first >= release;
	}
};

/* Before what came in 44 and in 45, an operation each. */
constexpr std::size_t qp_ex_34 = PABI_QP_EX_SIZE;

inline constexpr std::array<library_layout, 10> library_layouts = { {
	{ 34, 34, { 34, 34, 73, qp_ex_34 }, 320 },
	{ 35, 35, { 34, 35, 75, qp_ex_34 }, 320 },
	{ 36, 43, { 34, 36, 76, qp_ex_34 }, 320 },
	{ 44, 44, { 34, 36, 76, qp_ex_34 + 8 }, 320 },
	{ 45, 56, { 34, 36, 76, qp_ex_34 + 16 }, 320 },
	{ 57, 58, { 57, 36, 76, qp_ex_34 + 16 }, 320 },
	{ 59, 61, { 59, 59, 79, qp_ex_34 + 16 }, 344 },
	{ 62, 63, { 59, 62, 81, qp_ex_34 + 16 }, 352 },
	{ 64, 64, { 64, 64, 83, qp_ex_34 + 16 }, 368 },
	{ 65, 65, { 65, 65, 93, qp_ex_34 + 16 }, 368 },
} };

/** The layout of a library of @traits, or null. */
[[nodiscard]] constexpr const library_layout *
layout_of(const library_traits &traits) noexcept
{
	for (const library_layout &known : library_layouts) {
		if (known.traits == traits)
			return &known;
	}
	return nullptr;
}

/** That of this process; null if the provider is not registered. */
extern const library_layout *library;

/** verbs_set_ops() */
using set_ops_function = void(verbs_context *context, const void *ops);

/** How many operations @set_ops takes. */
[[nodiscard]] std::size_t count_operations(set_ops_function *set_ops) noexcept;

/** The layout of the libibverbs that has @pabi and @set_ops; or null. */
[[nodiscard]] const library_layout *
find_library(int pabi, set_ops_function *set_ops) noexcept;

/**
 * Print why there is no provider, if there is an ornic device in the folder @devices or
 * IBV_SHOW_WARNINGS is set: all programs that use libibverbs load the provider.
 */
void warn_of_library(int pabi, const char *devices) noexcept;

using operation = void (*)();

constexpr std::size_t operation_count =
	sizeof(pabi_context_ops) / sizeof(operation);

using operations = std::array<operation, operation_count>;

/** The operations of @ops that @layout has, where it has them; then nulls. */
[[nodiscard]] operations place(const pabi_context_ops &ops,
			       const library_layout &layout) noexcept;

/** verbs_qp.comp_mask |= @bit */
void set_comp_mask(pabi_qp &qp, std::uint32_t bit) noexcept;

/** ibv_cmd_get_context(), without file descriptors to hand over. */
[[nodiscard]] int cmd_get_context(verbs_context *context, void *cmd,
				  std::size_t cmd_size, void *resp,
				  std::size_t resp_size) noexcept;

/** ibv_cmd_create_qp_ex2(), without attributes for the driver. */
[[nodiscard]] int cmd_create_qp_ex2(ibv_context *context, pabi_qp *qp,
				    ibv_qp_init_attr_ex *attr, void *cmd,
				    std::size_t cmd_size, void *resp,
				    std::size_t resp_size) noexcept;

} // namespace ornic

#endif // ORNIC_LIBRARY_H
