/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The QPs of a context by QP number: two levels of 4096 entries for 24 bits.
 * Lookups take no lock; the caller sees to it that the QP it looks for is not
 * removed meanwhile (it holds the lock of a CQ of that QP, or owners()).
 */
#ifndef ORNIC_QP_TABLE_H
#define ORNIC_QP_TABLE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "shared.h"

namespace ornic
{

struct queue_pair;

class qp_table {
public:
	qp_table() noexcept = default;
	qp_table(const qp_table &) = delete;
	qp_table &operator=(const qp_table &) = delete;
	~qp_table()
	{
		for (auto &slot : leaves_)
			std::free(slot.load(std::memory_order_relaxed));
	}

	[[nodiscard]] queue_pair *find(std::uint32_t qpn) const noexcept
	{
		const leaf *page =
			leaves_[high(qpn)].load(std::memory_order_acquire);

		return page ? page->qps[low(qpn)].load(
				      std::memory_order_acquire) :
			      nullptr;
	}

	/** Held to insert and to remove. */
	[[nodiscard]] mutex &owners() noexcept
	{
		return owners_;
	}

	/** False if there is no memory. */
	[[nodiscard]] bool insert(std::uint32_t qpn, queue_pair *qp) noexcept
	{
		leaf *page = grow(high(qpn));

		if (!page)
			return false;
		page->qps[low(qpn)].store(qp, std::memory_order_release);
		return true;
	}

	void remove(std::uint32_t qpn) noexcept
	{
		leaf *page = leaves_[high(qpn)].load(std::memory_order_acquire);

		if (page)
			page->qps[low(qpn)].store(nullptr,
						  std::memory_order_release);
	}

private:
	static constexpr unsigned int bits = 12;
	static constexpr std::uint32_t entries = 1U << bits;

	struct leaf {
		std::array<std::atomic<queue_pair *>, entries> qps;
	};

	[[nodiscard]] static std::uint32_t high(std::uint32_t qpn) noexcept
	{
		return qpn >> bits & (entries - 1);
	}
	[[nodiscard]] static std::uint32_t low(std::uint32_t qpn) noexcept
	{
		return qpn & (entries - 1);
	}

	/* Leaves are kept until the end: a lookup may be reading one. */
	leaf *grow(std::uint32_t index) noexcept
	{
		leaf *page = leaves_[index].load(std::memory_order_relaxed);

		if (page)
			return page;
		page = static_cast<leaf *>(std::calloc(1, sizeof(leaf)));
		leaves_[index].store(page, std::memory_order_release);
		return page;
	}

	mutex owners_;
	std::array<std::atomic<leaf *>, entries> leaves_{};
};

} // namespace ornic

#endif // ORNIC_QP_TABLE_H
