// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// How much a connection carries over a bad path, in virtual time.
#pragma once

#include <vector>

#include "wire.h"

namespace sim
{

constexpr u32 goodput_message = 65536; // bytes
constexpr u32 goodput_mtu = 1024;

struct transfer {
	u8 opcode = 0; // enum ornic_wqe_opcode: SEND, WRITE or READ
	u64 messages = 0; // of goodput_message bytes
	faults path; // in both directions
	u32 spray = 0; // UDP source ports
	u64 seed = 1;
	bool trace = false;
};

struct achieved {
	std::string failure; // empty: all is well
	double mb_per_s = 0; // bytes of messages, 10^6
	u64 ns = 0; // virtual time
	u64 packets = 0; // that the requester's and responder's side sent
	u64 data_packets = 0; // that the messages have
	u64 retries = 0;
	u64 timeouts = 0;
	u64 early = 0; // resends before the ACK timeout
	u64 naks = 0;
	u64 duplicates = 0; // requests that the responder had
	std::vector<u64> done; // when each message was complete, ns
};

// One RC connection, path MTU 1024, 64 messages under way.
achieved measure(const transfer &t);

} // namespace sim
