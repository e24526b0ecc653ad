// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Connections that share a port, whose queue may mark packets, in virtual time.
#pragma once

#include <string>

#include "wire.h"

namespace sim
{

// Hosts at 10 Gbit/s, of which all send to one through a port: they WRITE, or it READs
// from them. 20 us for a round trip, path MTU 1024.
struct incast {
	u8 opcode = 0; // ORNIC_WQE_WRITE or READ
	u32 flows = 1;
	u32 mbit = 1000; // of the port
	u32 message = 65536; // bytes, ...
	u32 under_way = 4; // ... and how many of each flow
	u32 marks_at = 0; // packets in the queue; 0: none is marked
	bool by_rtt = true; // the RTT limits the windows if none is marked
	u32 rtt_target = 0; // us; 0: the initial value
	u32 limit = 4096; // packets in the queue; what comes then is dropped
	bool victim = false; // the last one has small messages, one at a time
	bool late = false; // the last one begins in the middle of the warm-up
	bool standard = false; // the bit that only ornic knows is lost
	u64 warm_up = 0; // ns
	u64 ns = 0; // measured time, after it
};

struct shares {
	std::string failure; // empty: all is well
	double use = 0; // part of the time in which the port sends
	double useful =
		0; // packets of complete messages, of those through the port
	double jain = 0; // Jain's index of fairness
	u32 typical = 0; // packets in the queue: median, ...
	u32 p99 = 0; // ... 99 % of the time no more than this, ...
	u32 most = 0; // ... and at any time, also before
	u64 dropped = 0; // in the measured time
	u64 packets = 0; // through the port, likewise
	double late = 0; // part of a fair share, 100 to 200 ms after it began
	u64 victim_p50 = 0; // ns until such a message is complete
	u64 victim_p99 = 0;
	u64 marked = 0;
	u64 cnps = 0; // that were handled
	u64 resent = 0;
};

shares share_port(const incast &t, bool trace = false);

} // namespace sim
