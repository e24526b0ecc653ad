/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ring of a completion queue and its doorbell record, as ornic-hw.h lays
 * them out. Nothing here locks or knows where the memory comes from.
 */
#ifndef ORNIC_CQ_RING_H
#define ORNIC_CQ_RING_H

#include <cstddef>
#include <cstdint>
#include <rdma/ornic-hw.h>

#include "shared.h"

namespace ornic
{

class cq_ring {
public:
	/** @memory: record page, then 2^@log_depth CQEs. */
	void init(std::byte *memory, std::uint32_t log_depth) noexcept;

	/**
	 * Go on in other memory, where the device has put the CQEs that are not
	 * consumed at the start of the ring.
	 */
	void move(std::byte *memory, std::uint32_t log_depth) noexcept;

	/** The oldest CQE that is not consumed, or null. */
	[[nodiscard]] const ornic_cqe *next() const noexcept
	{
		const ornic_cqe *cqe = at(consumer_);

		return is_new(*cqe, consumer_) ? cqe : nullptr;
	}

	/** Step past next(). It stays readable until publish(). */
	void consume() noexcept
	{
		++consumer_;
	}

	/** Give the slots of all consumed CQEs back to the device. */
	void publish() noexcept
	{
		store_release(record_->consumer, consumer_);
	}

	/**
	 * Ask for an event at the next CQE, or the next solicited one. An
	 * unanswered request for any CQE is not weakened. The caller polls
	 * once more afterwards.
	 */
	void arm(bool solicited_only) noexcept;

	/** Take the CQEs of @qpn out; the others keep their order. */
	void remove(std::uint32_t qpn) noexcept;

private:
	[[nodiscard]] ornic_cqe *at(std::uint32_t index) const noexcept
	{
		return ring_ + (index & mask_);
	}

	/*
	 * The device stores the word with the phase bit last, so what precedes
	 * it is there once the phase is that of this pass.
	 */
	[[nodiscard]] bool is_new(const ornic_cqe &cqe,
				  std::uint32_t index) const noexcept
	{
		std::uint32_t phase = index & depth() ? 0 : ORNIC_CQE_PHASE;

		return (last_word(cqe) >> 24 & ORNIC_CQE_PHASE) == phase;
	}

	[[nodiscard]] static std::uint32_t
	last_word(const ornic_cqe &cqe) noexcept
	{
		return load_acquire(
			*reinterpret_cast<const __le32 *>(&cqe.opcode));
	}

	[[nodiscard]] std::uint32_t depth() const noexcept
	{
		return mask_ + 1;
	}

	ornic_cqe *ring_ = nullptr;
	ornic_cq_record *record_ = nullptr;
	std::uint32_t mask_ = 0;
	std::uint32_t consumer_ = 0;
	std::uint32_t armed_ = 0;
};

} // namespace ornic

#endif // ORNIC_CQ_RING_H
