// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "packet.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../verify/verbs.h"

namespace
{

constexpr uint16_t roce_port = 4791, ether_roce_v1 = 0x8915;
constexpr uint8_t next_udp = 17, next_bth = 0x1b;
constexpr size_t udp_bytes = 8, icrc_bytes = 4;

/* The n low bytes of the value, in the order of the wire. */
void put(byte_string &to, uint64_t value, size_t n)
{
	while (n--)
		to.push_back(static_cast<uint8_t>(value >> 8 * n));
}

void append(byte_string &to, const uint8_t *from, size_t n)
{
	to.insert(to.end(), from, from + n);
}

/* IBTA table 38 by the low five bits: what follows the BTH, as letters. */
const char *extensions(uint8_t op)
{
	switch (op) {
	case 0x03: /* SEND Last with Immediate */
	case 0x05:
	case 0x09: /* WRITE Last with Immediate */
	case 0x16: /* SEND with Invalidate */
	case 0x17:
		return "i";
	case 0x06: /* WRITE First, Only */
	case 0x0a:
	case 0x0c: /* READ request */
	case 0x1d: /* ATOMIC WRITE */
		return "r";
	case 0x0b: /* WRITE Only with Immediate */
		return "ri";
	case 0x0d: /* READ responses, ACK */
	case 0x0f:
	case 0x10:
	case 0x11:
		return "a";
	case 0x12: /* ATOMIC Acknowledge */
		return "ao";
	case 0x13: /* CMP SWAP, FETCH ADD */
	case 0x14:
		return "t";
	case 0x1c: /* FLUSH */
		return "fr";
	default:
		return "";
	}
}

void put_extension(byte_string &to, const roce &p, char which)
{
	switch (which) {
	case 'i':
		put(to, p.imm, 4);
		break;
	case 'f':
		put(to, p.feth, 4);
		break;
	case 'r':
		put(to, p.va, 8);
		put(to, p.rkey, 4);
		put(to, p.length, 4);
		break;
	case 't':
		put(to, p.va, 8);
		put(to, p.rkey, 4);
		put(to, p.swap, 8);
		put(to, p.compare, 8);
		break;
	case 'a':
		put(to, p.syndrome, 1);
		put(to, p.msn, 3);
		break;
	case 'o':
		put(to, p.orig, 8);
		break;
	}
}

void put_transport(byte_string &to, const roce &p)
{
	const uint8_t op = p.opcode & 0x1f;

	switch (p.opcode & 0xe0) {
	case 0x60: /* UD */
		put(to, p.qkey, 4);
		put(to, p.src_qpn, 4);
		break;
	case 0xa0: /* XRC requests */
		if (op < 0x0d || op > 0x12)
			put(to, p.srqn, 4);
		break;
	}
}

/* The header of a MAD, IBTA 13.4.3: CM, method Send. */
void make_mad(uint8_t *to, uint16_t attribute)
{
	const uint8_t head[] = { 1, 7, 2, 3 };

	std::memcpy(to, head, sizeof(head));
	to[16] = static_cast<uint8_t>(attribute >> 8);
	to[17] = static_cast<uint8_t>(attribute);
}

uint32_t crc32(uint32_t crc, const uint8_t *p, size_t n)
{
	static const auto table = [] {
		std::array<uint32_t, 256> t{};

		for (uint32_t i = 0; i < t.size(); i++) {
			t[i] = i;
			for (int bit = 0; bit < 8; bit++)
				t[i] = t[i] >> 1 ^ (t[i] & 1 ? 0xedb88320 : 0);
		}
		return t;
	}();

	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}

/*
 * IBTA A17.3.3, 7.8.1: fields that change on the way count as ones. @ip: of @l3 bytes, with
 * UDP and the rest, or a GRH.
 */
uint32_t icrc(byte_string ip, const route &way, size_t l3)
{
	const size_t bth = l3 + (way.v1 ? 0 : udp_bytes);

	static const uint8_t lrh[8] = { 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff };

	if (way.ipv6 || way.v1) {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = 0xff;
		ip[7] = 0xff;
	} else {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	}
	if (!way.v1)
		ip[l3 + 6] = ip[l3 + 7] = 0xff;
	if (ip.size() > bth + 4)
		ip[bth + 4] = 0xff;
	return ~crc32(crc32(~0u, lrh, sizeof(lrh)), ip.data(), ip.size());
}

uint16_t ip_checksum(const byte_string &ip, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i += 2)
		sum += static_cast<uint32_t>(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return static_cast<uint16_t>(~sum);
}

/* Returns how long the header is. */
size_t put_ipv4(byte_string &to, const route &way, size_t udp_len,
		const damage &wrong)
{
	const size_t bytes = wrong.options ? 24 : 20;
	const size_t len = bytes + udp_len + static_cast<size_t>(wrong.ip_len);

	put(to, 0x40 | bytes / 4, 1);
	put(to, wrong.tos, 1);
	put(to, len, 2);
	put(to, wrong.fragment ? wrong.fragment_id : 0, 2);
	put(to, wrong.fragment ? wrong.fragment : 0x4000, 2);
	put(to, wrong.ttl, 1);
	put(to, IPPROTO_UDP, 1);
	put(to, 0, 2);
	append(to, way.from.data(), 4);
	append(to, way.to.data(), 4);
	if (wrong.options)
		put(to, 0x01010101, 4);
	const uint16_t sum = ip_checksum(to, bytes);

	to[10] = static_cast<uint8_t>(sum >> 8);
	to[11] = static_cast<uint8_t>(sum);
	return bytes;
}

/* IPv4 addresses in a GRH are mapped. */
void put_gid(byte_string &to, const byte_string &ip)
{
	if (ip.size() == 4) {
		put(to, 0, 10);
		put(to, 0xffff, 2);
	}
	append(to, ip.data(), ip.size());
}

/* Or a GRH, IBTA 8.3. */
size_t put_ipv6(byte_string &to, const route &way, size_t udp_len,
		const damage &wrong)
{
	const uint8_t next = way.v1 ? next_bth : next_udp;
	const size_t more = wrong.fragment ? 8u : 0u;
	const size_t len = more + udp_len + static_cast<size_t>(wrong.ip_len);

	put(to, 0x60000000 | static_cast<uint32_t>(wrong.tos) << 20, 4);
	put(to, len, 2);
	put(to, wrong.fragment ? 44 : next, 1);
	put(to, wrong.ttl, 1);
	put_gid(to, way.from);
	put_gid(to, way.to);
	if (more) {
		put(to, next << 8, 2);
		put(to, wrong.fragment, 2);
		put(to, wrong.fragment_id, 4);
	}
	return 40 + more;
}

} /* namespace */

byte_string parse_ip(const std::string &text)
{
	const bool ipv6 = text.find(':') != std::string::npos;
	byte_string ip(ipv6 ? 16 : 4);

	check(inet_pton(ipv6 ? AF_INET6 : AF_INET, text.c_str(), ip.data()) ==
		      1,
	      "no address: " + text);
	return ip;
}

mac_address parse_mac(const std::string &text)
{
	mac_address mac;
	unsigned int b[6];

	check(std::sscanf(text.c_str(), "%x:%x:%x:%x:%x:%x", b, b + 1, b + 2,
			  b + 3, b + 4, b + 5) == 6,
	      "no MAC: " + text);
	for (size_t i = 0; i < mac.size(); i++)
		mac[i] = static_cast<uint8_t>(b[i]);
	return mac;
}

byte_string encode(const roce &p)
{
	const size_t pad = (-p.payload + static_cast<size_t>(p.pad)) & 3;
	byte_string to;

	put(to, p.opcode, 1);
	put(to, p.flags | pad << 4, 1);
	put(to, p.pkey, 2);
	put(to, p.reserved, 1);
	put(to, p.qpn, 3);
	put(to, p.ack, 1);
	put(to, p.psn, 3);
	put_transport(to, p);
	for (const char *c = extensions(p.opcode & 0x1f); *c; c++)
		put_extension(to, p, *c);
	const size_t start = to.size();

	for (size_t i = 0; i < p.payload; i++)
		to.push_back(static_cast<uint8_t>(i * 7 + p.psn));
	if (p.mad && p.payload >= 24)
		make_mad(to.data() + start, p.mad);
	put(to, 0, pad);
	return to;
}

byte_string frame(const route &way, const byte_string &body,
		  const damage &wrong)
{
	const uint16_t type = way.v1   ? ether_roce_v1 :
			      way.ipv6 ? 0x86dd :
					 0x0800;
	const size_t len = (way.v1 ? 0 : udp_bytes) + body.size() + icrc_bytes +
			   static_cast<size_t>(wrong.udp_len);
	byte_string ip, out;

	const size_t l3 = way.v1 || way.ipv6 ? put_ipv6(ip, way, len, wrong) :
					       put_ipv4(ip, way, len, wrong);
	if (!way.v1) {
		put(ip, way.udp_sport, 2);
		put(ip, roce_port, 2);
		put(ip, len, 2);
		put(ip, 0, 2); /* no checksum */
	}
	append(ip, body.data(), body.size());
	const uint32_t crc = icrc(ip, way, l3) ^ (wrong.icrc ? 0x100 : 0);

	for (size_t i = 0; i < icrc_bytes; i++)
		put(ip, crc >> 8 * i, 1);
	append(out, way.dmac.data(), 6);
	append(out, way.smac.data(), 6);
	for (uint16_t vlan : wrong.vlans) {
		put(out, ETHERTYPE_VLAN, 2);
		put(out, vlan, 2);
	}
	put(out, type, 2);
	append(out, ip.data(), ip.size());
	return out;
}

/*
 * The ICRC is that of the whole packet. IPv4 fragments keep its DF and number, for
 * the packet that IP puts together has them.
 */
std::array<byte_string, 2> fragments(const route &way, const byte_string &body)
{
	constexpr size_t eth = 14, first = 16;
	constexpr uint16_t dont_fragment = 0x4000, more_of_ipv4 = 0x2000,
			   more_of_ipv6 = 1;
	const byte_string whole = frame(way, body);
	const size_t start = eth + (way.ipv6 ? 40 : 20);
	const size_t bytes[] = { first, whole.size() - start - first };
	std::array<byte_string, 2> parts;

	for (size_t i = 0; i < parts.size(); i++) {
		damage wrong;
		byte_string ip, &out = parts[i];

		wrong.fragment_id = 0;
		wrong.fragment = static_cast<uint16_t>(
			way.ipv6 ?
				(i ? first : more_of_ipv6) :
				dont_fragment | (i ? first / 8 : more_of_ipv4));
		if (way.ipv6)
			put_ipv6(ip, way, bytes[i], wrong);
		else
			put_ipv4(ip, way, bytes[i], wrong);
		out.assign(whole.begin(), whole.begin() + eth);
		append(out, ip.data(), ip.size());
		append(out, whole.data() + start + i * first, bytes[i]);
	}
	return parts;
}

packet_socket::packet_socket(const std::string &netdev)
	: fd_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0))
{
	sockaddr_ll at{};
	ifreq req{};

	check(fd_ >= 0, std::string("packet socket: ") + std::strerror(errno));
	netdev.copy(req.ifr_name, sizeof(req.ifr_name) - 1);
	check(!ioctl(fd_, SIOCGIFHWADDR, &req), "no netdev " + netdev);
	std::memcpy(mac_.data(), req.ifr_hwaddr.sa_data, mac_.size());
	at.sll_family = AF_PACKET;
	at.sll_ifindex = static_cast<int>(if_nametoindex(netdev.c_str()));
	check(!bind(fd_, reinterpret_cast<sockaddr *>(&at), sizeof(at)),
	      "bind to " + netdev);
}

packet_socket::~packet_socket()
{
	close(fd_);
}

void packet_socket::send(const byte_string &frame)
{
	if (::send(fd_, frame.data(), frame.size(), 0) >= 0)
		sent_++;
}
