/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shares the time of the worker among the guests by deficit round robin: each guest
 * gets a slice per round, and a guest that used more waits until its debt is paid,
 * while others have work. The caller passes the time in.
 */
#ifndef ORNIC_NIC_SHARE_H
#define ORNIC_NIC_SHARE_H

#include <algorithm>

#include "base.h"

namespace nic
{

class time_share {
public:
	/** Time per guest and round, ns. */
	static constexpr u64 slice = 50 * us;

	void begin_round()
	{
		credit_ = std::min(credit_ + full, full);
	}
	/** No guest had work, so no debt must be paid. */
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

	/** Total time used, ns. */
	u64 spent() const
	{
		return spent_;
	}

private:
	static constexpr s64 full = slice;
	// Limited, since the worker may have been preempted.
	static constexpr u64 max_debt = 10 * ms;

	s64 credit_ = full;
	u64 spent_ = 0;
};

} // namespace nic

#endif // ORNIC_NIC_SHARE_H
