// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// One simulated life: two engines (or one with itself), some QP pairs, a wire
// with faults, and messages of all kinds. Everything follows from one seed.
#pragma once

#include <cstdint>
#include <string>

namespace sim
{

enum class kind {
	lossy, // loss of 0.1 to 10 %, reordering, duplication, damage
	standard, // the same; either end takes the other for no ornic
	like_rxe, // the same, and responders refuse some READs again, as rxe does
	perfect, // a wire without faults: everything arrives
	loopback, // one engine: no wire at all
	aborted, // lossy, and torn down in the middle
	broken, // lossy, and then nothing arrives, or nobody is ready
	bottleneck, // a short queue before a slow link
	swapped, // frames swap their places, none is lost
	unready, // receives come late
	orphaned, // one engine; a peer goes, and another QP gets its number
	direct, // lossy, and some messages go without packets
	paged, // memory whose pages come and go: lossy, or one engine
	refused, // a message names a bad key, or QPs do not fit each other
};

struct outcome {
	std::string failure; // empty: all is well
	std::uint64_t hash = 0; // of everything that happened
	std::uint64_t frames = 0;
	std::uint64_t lost = 0;
	std::uint64_t troubles =
		0; // frames lost, damaged, late, doubled, refused
	std::uint64_t needed = 0; // frames, on a wire without faults
	std::uint64_t messages = 0;
	std::uint64_t bytes = 0; // of messages
	std::uint64_t sent = 0; // bytes of frames
	std::uint64_t ns = 0; // virtual time
	bool paused = false; // a program stopped an SQ meanwhile
	std::uint64_t acks = 0; // and NAKs
	std::uint64_t rnr_naks = 0;
	std::uint64_t retries = 0;
	std::uint64_t swapped = 0; // frames
};

outcome run(kind what, std::uint64_t seed, bool trace = false);

} // namespace sim
