/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command line. */
#ifndef ORNIC_NIC_OPTIONS_H
#define ORNIC_NIC_OPTIONS_H

#include <array>
#include <string>
#include <vector>

#include "base.h"
#include "memory.h"
#include "sockets.h"

namespace nic
{

/** Transport of Ethernet frames, see ornic-nic(1). */
enum class port_kind {
	NONE,
	UNIX, // datagrams between two paths
	UDP, // datagrams between two addresses
	MCAST, // datagrams to a group
	LISTEN, // a stream, accepts connections
	CONNECT,
};

struct port_config {
	port_kind kind = port_kind::NONE;
	std::string local;
	std::string remote;
};

struct guest_config {
	std::string socket;
	std::string ram;
	u64 size = 0; // bytes, 0: that of the file
	u64 mem_limit =
		0; // bytes of ours, three quarters for its objects; 0: a part of its RAM
	u64 dm = 16 << 20; // bytes of device memory, 0: none
	nic::machine machine = machine::any;
	u8 mac[6] = {};
	u32 vectors = 5; // MSI-X messages
	bool spoof = false; // its netdev may send from any MAC
	bool roce_v1 = false; // the NIC has RoCE v1
	std::array<u16, ORNIC_PKEY_TABLE_LEN> pkeys = { 0xffff }; // 0: empty
	port_config netdev;
};

/** Faults injected into RoCE frames. */
struct fault_config {
	double loss = 0;
	double corrupt = 0;
	u64 delay = 0; // ns
	u64 seed = 1;

	/** "loss=0.01,delay=1ms"; false: invalid. */
	bool parse(const std::string &text);
};

struct options {
	std::vector<guest_config> guests;
	port_config wire;
	fault_config faults;
	std::vector<std::string> rules; // of impairments
	std::string control;
	std::string capture;
	u64 spin = 800; // ns, see busy_poll.h
	u64 max_spin = 4 * ms;
	bool packets = false; // no loopback between guests of this process
	bool debug = false; // allow harmful commands
	std::string user; // to become
	socket_access access;

	/** --ask: only send a command to a control socket. */
	std::string ask_path;
	std::string ask_what;
};

/** Parse, or die. Exits on --help and --version. */
options parse_options(int argc, char **argv);

} // namespace nic

#endif // ORNIC_NIC_OPTIONS_H
