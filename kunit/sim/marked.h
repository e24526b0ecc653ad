// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Connections that share a port whose queue marks packets, in virtual time.
#pragma once

#include <string>

#include "wire.h"

namespace sim
{

constexpr u32 marked_threshold = 64; // packets
constexpr u32 marked_limit = 4096; // packets; what comes then is dropped

// Hosts at 10 Gbit/s, of which all send to one through a port of 1 Gbit/s: they
// WRITE, or it READs from them, 64 KiB each time. 20 us for a round trip, path MTU
// 1024.
struct incast {
	const char *name = "";
	u8 opcode = 0; // ORNIC_WQE_WRITE or READ
	u32 flows = 1;
	bool late = false; // the last one begins in the middle of the warm-up
	bool standard = false; // the bit that only ornic knows is lost
	u64 warm_up = 0; // ns
	u64 ns = 0; // measured time, after it
};

struct shares {
	std::string failure; // empty: all is well
	double use = 0; // part of the time in which the port sends
	double jain = 0; // Jain's index of fairness
	u32 typical = 0; // packets in the queue: median, ...
	u32 p99 = 0; // ... 99 % of the time no more than this, ...
	u32 most = 0; // ... and at any time, also before
	u64 dropped = 0;
	u64 marked = 0;
	u64 cnps = 0; // that were handled
	u64 resent = 0;
};

shares share_port(const incast &t, bool trace = false);

} // namespace sim
