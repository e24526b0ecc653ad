/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long the worker busy polls before it sleeps. While it polls, a busy guest
 * posts without kicks; it must neither burn a CPU for an idle guest nor take the
 * CPU that the polled guest runs on. The caller passes the time in, so that tests
 * are deterministic.
 */
#ifndef ORNIC_NIC_BUSY_POLL_H
#define ORNIC_NIC_BUSY_POLL_H

#include <algorithm>

#include "base.h"

namespace nic
{

/**
 * How long to poll an idle device, ns. A kick soon after polling has stopped
 * means that the time was too short: it is multiplied by four, up to @most. A
 * later kick resets it to @least.
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
	/** Polling stops @now. */
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

/** Detects other tasks on the CPU that the worker polls on. */
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
	// An idle round takes 1 us: in a longer one the worker was preempted.
	static constexpr u64 absence = 500 * us;
	static constexpr u64 memory = 100 * ms;

	u64 until_ = 0;
	u64 count_ = 0;
};

} // namespace nic

#endif // ORNIC_NIC_BUSY_POLL_H
