// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Three partitions on two ports whose P_Key tables change all the time: what arrives is
// what two members may send to each other, by the words of IBTA 10.9.3, and nothing else.
#pragma once

#include <cstdint>
#include <string>

namespace sim
{

struct members {
	std::string failure; // empty: all is well
	std::uint64_t arrived = 0; // messages
	std::uint64_t dropped =
		0; // of another partition, or between limited members
	std::uint64_t failed = 0; // for want of a key
};

members run_partitions(std::uint64_t seed);

} // namespace sim
