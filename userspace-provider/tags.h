/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tag list of an SRQ. Changes of it are posted to a queue pair that libibverbs
 * knows nothing of, and that is nothing but a send queue.
 */
#ifndef ORNIC_TAGS_H
#define ORNIC_TAGS_H

#include <cstdint>
#include <infiniband/verbs.h>

#include "work_queue.h"

namespace ornic
{

struct context;
struct queue_pair;
struct shared_receive_queue;

/** How many tagged receives may be added; by one poster at a time. */
class tag_room {
public:
	/** @srq says how many have gone, of @max that its list has room for. */
	void init(shared_queue &srq, std::uint32_t max) noexcept
	{
		srq_ = &srq;
		max_ = max;
	}

	[[nodiscard]] bool full() noexcept
	{
		if (added_ - gone_ < max_) [[likely]]
			return false;
		gone_ = srq_->tags_gone();
		return added_ - gone_ >= max_;
	}

	/** The handle of one more. */
	[[nodiscard]] std::uint32_t add() noexcept
	{
		return added_++;
	}

private:
	shared_queue *srq_ = nullptr;
	std::uint32_t max_ = 0;
	std::uint32_t added_ = 0;
	std::uint32_t gone_ = 0; // as read last
};

/** Make the queue of @srq, whose list is as @attr says. 0, or an errno. */
int make_tag_queue(context &ctx, shared_receive_queue &srq,
		   const ibv_srq_init_attr_ex &attr) noexcept;

} // namespace ornic

#endif // ORNIC_TAGS_H
