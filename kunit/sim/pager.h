// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Hosts that answer page faults after a while, and take pages away.
#pragma once

#include <vector>

#include "wire.h"

namespace sim
{

class pager {
public:
	explicit pager(random &rng)
		: rng_(rng)
	{
	}

	// Take the faults that were raised. Returns when the next one is answered, 0 if
	// there is none.
	u64 look(ornic_th *th, u64 now);
	// Answer those that are due; now and then, take some pages away.
	void act(ornic_th *th, u64 now);

private:
	struct answer {
		u64 when;
		ornic_th_qp qp; // its number alone counts: it may be gone
		ornic_th_fault fault;
	};

	[[nodiscard]] u64 next() const;
	void give(const answer &a);
	void evict(ornic_th *th);

	random &rng_;
	std::vector<answer> answers_;
};

} // namespace sim
