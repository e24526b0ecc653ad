/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RoCE packets as an attacker makes them: each field can be wrong, and the ICRC
 * is right for whatever is sent. They leave through a packet socket.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using byte_string = std::vector<uint8_t>;
using mac_address = std::array<uint8_t, 6>;

/* Where frames come from and go to. */
struct route {
	mac_address smac, dmac;
	bool ipv6;
	byte_string from, to; /* of 4 or 16 bytes */
	uint16_t udp_sport = 0xd123;
	bool v1 = false; /* RoCE v1: a GRH, and no UDP */
};

byte_string parse_ip(const std::string &text);
mac_address parse_mac(const std::string &text);

/* The RoCE headers. An opcode takes those that it has. */
struct roce {
	uint8_t opcode = 0;
	uint8_t flags = 0x40; /* SE, MigReq, version; pad is added */
	uint16_t pkey = 0xffff;
	uint8_t reserved = 0; /* with FECN and BECN */
	uint32_t qpn = 0;
	uint8_t ack = 0x80; /* AckReq and reserved bits */
	uint32_t psn = 0;
	uint32_t srqn = 0;
	uint32_t qkey = 0;
	uint32_t src_qpn = 0;
	uint32_t feth = 1;
	uint64_t va = 0;
	uint32_t rkey = 0;
	uint32_t length = 0;
	uint64_t swap = 0, compare = 0;
	uint8_t syndrome = 0;
	uint32_t msn = 0;
	uint64_t orig = 0;
	uint32_t imm = 0;
	size_t payload = 0; /* bytes */
	uint16_t mad = 0; /* the payload is a MAD of CM, with this attribute */
	int pad = 0; /* added to the right number of pad bytes */
};

/* BTH to pad, without ICRC. Unknown opcodes have a BTH only. */
byte_string encode(const roce &packet);

/* What is wrong with the headers around. */
struct damage {
	bool icrc = false;
	int udp_len = 0; /* added to the right one */
	int ip_len = 0;
	uint16_t fragment =
		0; /* IPv4: flags and offset, IPv6: a header with it */
	uint16_t fragment_id = 0x77;
	bool options = false; /* IPv4: 4 bytes of them */
	std::vector<uint16_t> vlans;
	uint8_t ttl = 64;
	uint8_t tos = 0;
};

/* An Ethernet frame with @body after the UDP header or GRH, and the ICRC after it. */
byte_string frame(const route &way, const byte_string &body,
		  const damage &wrong = {});

/* The same frame in two fragments, the first one with 16 bytes after the IP header. */
std::array<byte_string, 2> fragments(const route &way, const byte_string &body);

class packet_socket {
public:
	explicit packet_socket(const std::string &netdev);
	~packet_socket();
	packet_socket(const packet_socket &) = delete;
	packet_socket &operator=(const packet_socket &) = delete;

	/* Frames that the netdev refuses are lost. */
	void send(const byte_string &frame);

	[[nodiscard]] const mac_address &mac() const
	{
		return mac_;
	}
	[[nodiscard]] uint64_t sent() const
	{
		return sent_;
	}

private:
	int fd_;
	mac_address mac_{};
	uint64_t sent_ = 0;
};
