// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// How much runs send again, and how long they take.
#pragma once

#include "scenario.h"

namespace sim
{

// What is too much about a run that has ended; empty if nothing is. An unlucky run
// sends a lot again, but not without end.
std::string excess(kind what, const outcome &run);

// Sums over many runs, which have closer bounds. Runs in which a program has
// stopped an SQ do not count: they take as long as it likes.
struct effort {
	std::uint64_t runs = 0;
	std::uint64_t frames = 0;
	std::uint64_t needed = 0;
	std::uint64_t ns = 0;

	void add(const outcome &run);
	// Frames for each one that a wire without faults needs.
	[[nodiscard]] double per_needed() const;
	// Mean virtual time of a run, in us.
	[[nodiscard]] double us() const;
};

} // namespace sim
