// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Arming a CQ, and taking the completions of a destroyed QP out of it.

#include "cq_ring.h"

#include <cstring>

namespace ornic
{

static_assert(offsetof(ornic_cqe, flags) == offsetof(ornic_cqe, opcode) + 3 &&
		      offsetof(ornic_cqe, opcode) % 4 == 0,
	      "the phase bit is in the last byte of an aligned word");

void cq_ring::init(std::byte *memory, std::uint32_t log_depth) noexcept
{
	record_ = reinterpret_cast<ornic_cq_record *>(memory);
	ring_ = reinterpret_cast<ornic_cqe *>(memory + ORNIC_RING_OFFSET);
	mask_ = (1U << log_depth) - 1;
}

/* The device has taken what is armed along. */
void cq_ring::move(std::byte *memory, std::uint32_t log_depth) noexcept
{
	init(memory, log_depth);
	consumer_ = 0;
}

/*
 * Each arming is a new sequence, even when the last one looks unanswered: its
 * event may be on the way already, and the device reports it in `fired` at
 * some time of its own.
 */
void cq_ring::arm(bool solicited_only) noexcept
{
	bool pending = armed_ != load_relaxed(record_->fired);
	bool any =
		!solicited_only ||
		(pending && (armed_ & ORNIC_ARM_MODE_MASK) == ORNIC_ARM_NEXT);
	std::uint32_t sequence = (armed_ >> ORNIC_ARM_SEQ_SHIFT) + 1;

	armed_ = sequence << ORNIC_ARM_SEQ_SHIFT |
		 (any ? ORNIC_ARM_NEXT : ORNIC_ARM_SOLICITED);
	store_release(record_->arm, armed_);
	// Against the device's barrier between its CQE and its read of arm:
	// either it sees us armed or the caller's next poll sees its CQE.
	full_barrier();
}

/*
 * Walk from the newest CQE to the oldest and move those that stay up by the
 * number of those that go. The phase bit belongs to the slot.
 */
void cq_ring::remove(std::uint32_t qpn) noexcept
{
	std::uint32_t end = consumer_;
	std::uint32_t gone = 0;

	while (end - consumer_ < depth() && is_new(*at(end), end))
		++end;
	for (std::uint32_t index = end; index != consumer_;) {
		const ornic_cqe *from = at(--index);

		if (le(from->qpn) == qpn) {
			++gone;
		} else if (gone) {
			ornic_cqe *to = at(index + gone);
			auto phase =
				static_cast<__u8>(to->flags & ORNIC_CQE_PHASE);

			std::memcpy(to, from, sizeof(*to));
			to->flags = static_cast<__u8>(
				(to->flags & ~ORNIC_CQE_PHASE) | phase);
		}
	}
	if (!gone)
		return;
	consumer_ += gone;
	publish();
}

} // namespace ornic
