/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long the worker looks for more work before it sleeps. A busy guest must
 * find it awake, or each of its posts costs a kick; an idle guest must not cost
 * a CPU; and a worker that looks for work of a guest must not keep that very
 * guest from its CPU. Time is passed in, so the same times give the same answers.
 */
#ifndef ORNIC_NIC_BUSY_POLL_H
#define ORNIC_NIC_BUSY_POLL_H

#include <algorithm>

#include "base.h"

namespace nic
{

/**
 * How long one device is looked at in vain, ns. Too short a time is known by
 * the kick that soon follows: then it becomes four times as long, up to a
 * limit. After a kick that came late it is the least again.
 */
class poll_time {
public:
	poll_time(u64 least, u64 most)
		: least_(least)
		, most_(std::max(least, most))
		, limit_(least)
	{
	}

	u64 limit() const
	{
		return limit_;
	}
	/** From @now on it is not looked at. */
	void stop(u64 now)
	{
		stopped_ = now;
	}
	/** The guest has kicked. */
	void kick(u64 now)
	{
		if (!stopped_)
			return;
		limit_ = now - stopped_ < most_ ? std::min(limit_ * 4, most_) :
						  least_;
		stopped_ = 0;
	}

private:
	u64 least_;
	u64 most_;
	u64 limit_;
	u64 stopped_ = 0;
};

/** Whether others want the CPU that the worker looks for work on. */
class cpu_contention {
public:
	/** A round without work took from @before to @now. */
	void idle_round(u64 before, u64 now)
	{
		if (now - before < absence)
			return;
		until_ = now + memory;
		count_++;
	}
	bool is_present(u64 now) const
	{
		return now < until_;
	}
	u64 count() const
	{
		return count_;
	}

private:
	// A round takes a microsecond; a longer one was spent off the CPU.
	static constexpr u64 absence = 500 * us;
	static constexpr u64 memory = 100 * ms;

	u64 until_ = 0;
	u64 count_ = 0;
};

} // namespace nic

#endif // ORNIC_NIC_BUSY_POLL_H
