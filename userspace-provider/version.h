/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether the libibverbs of this process is one that this build fits. */
#ifndef ORNIC_VERSION_H
#define ORNIC_VERSION_H

#include <array>
#include <cstddef>

namespace ornic
{

/** What tells the layout of one libibverbs from that of another. */
struct library_traits {
	int pabi; // NN of IBVERBS_PRIVATE_NN
	bool has_import_dm;
	bool has_data_in_order;
	std::size_t qp_comp_mask; // offset of verbs_qp.comp_mask

	friend constexpr bool operator==(const library_traits &,
					 const library_traits &) = default;
};

/** Releases of rdma-core with one layout of the private structures. */
struct layout_class {
	int first;
	int last;
	library_traits traits;
};

constexpr std::array<layout_class, 6> layout_classes = { {
	{ 34, 34, { 34, false, false, 344 } },
	{ 35, 35, { 34, true, false, 344 } },
	{ 36, 43, { 34, true, true, 344 } },
	{ 44, 44, { 34, true, true, 352 } },
	{ 45, 56, { 34, true, true, 360 } },
	{ 57, 58, { 57, true, true, 360 } },
} };

/** The class of rdma-core @release, or null. */
[[nodiscard]] constexpr const layout_class *class_of(int release) noexcept
{
	for (const layout_class &known : layout_classes) {
		if (release >= known.first && release <= known.last)
			return &known;
	}
	return nullptr;
}

/** Does a provider built for rdma-core @release fit a library of @traits? */
[[nodiscard]] constexpr bool fits(int release,
				  const library_traits &traits) noexcept
{
	const layout_class *built = class_of(release);

	return built && built->traits == traits;
}

/** True if libibverbs' private structures are laid out as in pabi.h. */
[[nodiscard]] bool library_fits() noexcept;

/** Say why there is no provider, if IBV_SHOW_WARNINGS asks for that. */
void warn_of_library() noexcept;

} // namespace ornic

#endif // ORNIC_VERSION_H
