/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fair shares of the worker's time among the guests, by deficit round robin: each
 * guest gets a slice per round, and one that took more than its slice waits, as long
 * as others have work, until it has paid for it. Time is passed in.
 */
#ifndef ORNIC_NIC_SHARE_H
#define ORNIC_NIC_SHARE_H

#include <algorithm>

#include "base.h"

namespace nic
{

class time_share {
public:
	/** What a guest may take per round, ns. */
	static constexpr u64 slice = 50 * us;

	void begin_round()
	{
		credit_ = std::min(credit_ + full, full);
	}
	/** Nobody had work: nobody waits for it to pay. */
	void clear_debt()
	{
		credit_ = full;
	}
	bool has_turn() const
	{
		return credit_ > 0;
	}
	void spend(u64 ns)
	{
		spent_ += ns;
		credit_ = std::max(
			credit_ - static_cast<s64>(std::min(ns, max_debt)),
			-static_cast<s64>(max_debt));
	}

	/** All that it has taken, ns. */
	u64 spent() const
	{
		return spent_;
	}

private:
	static constexpr s64 full = slice;
	// The worker may have lost its CPU meanwhile, which is nobody's debt.
	static constexpr u64 max_debt = 10 * ms;

	s64 credit_ = full;
	u64 spent_ = 0;
};

} // namespace nic

#endif // ORNIC_NIC_SHARE_H
