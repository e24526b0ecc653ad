// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "frame.h"

namespace nic
{

namespace
{

constexpr std::size_t ipv4_len = 20;
constexpr std::size_t ipv6_len = 40;
constexpr std::size_t udp_len = 8;
constexpr u32 type_vlan = 0x8100;
constexpr u32 type_ipv4 = 0x0800;
constexpr u32 type_ipv6 = 0x86dd;
constexpr u8 proto_udp = 17;

u32 be16_at(const u8 *p)
{
	return static_cast<u32>(p[0]) << 8 | p[1];
}

bool checksum_ok(const u8 *ip)
{
	u32 sum = 0;

	for (std::size_t i = 0; i < ipv4_len; i += 2)
		sum += be16_at(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/** The packet behind the Ethernet header. Sets its family. */
bytes strip_ethernet(bytes f, ornic_rx &rx)
{
	u32 type;

	rx.vlan = ORNIC_VLAN_NONE;
	rx.sl = 0;
	rx.busy_here = false;
	if (f.size() < min_frame + 4)
		return {};
	memcpy(rx.smac, f.data() + 6, sizeof(rx.smac));
	type = be16_at(f.data() + 12);
	f = f.subspan(min_frame);
	if (type == type_vlan) {
		rx.vlan = static_cast<u16>(be16_at(f.data()) & 0xfff);
		rx.sl = f[0] >> 5;
		type = be16_at(f.data() + 2);
		f = f.subspan(4);
		// A priority and no VLAN, IEEE 802.1Q.
		if (!rx.vlan)
			rx.vlan = ORNIC_VLAN_NONE;
	}
	if (type != type_ipv4 && type != type_ipv6)
		return {};
	rx.ipv6 = type == type_ipv6;
	return f;
}

/** UDP to our port, as far as its first bytes tell. */
bool is_for_us(bytes ip, bool ipv6)
{
	std::size_t len = ipv6_len;

	if (ipv6) {
		if (ip.size() < len + udp_len || ip[6] != proto_udp)
			return false;
	} else {
		len = ip.empty() ? 0 : (ip[0] & 15) * 4u;
		// Of a fragment that is not the first nobody knows.
		if (len < ipv4_len || ip.size() < len + udp_len ||
		    ip[9] != proto_udp || (be16_at(ip.data() + 6) & 0x1fff))
			return false;
	}
	return be16_at(ip.data() + len + 2) == ORNIC_UDP_PORT;
}

/** Bytes of UDP payload; 0 if the headers are not those of IBTA A17.4. */
std::size_t payload_of(bytes ip, bool ipv6)
{
	std::size_t head = ipv6 ? ipv6_len : ipv4_len, total;

	if (ipv6) {
		total = ipv6_len + be16_at(ip.data() + 4);
	} else {
		if (ip[0] != 0x45 || (be16_at(ip.data() + 6) & 0x2000))
			return 0;
		total = be16_at(ip.data() + 2);
	}
	// What follows is padding of Ethernet.
	if (total > ip.size() || total < head + udp_len ||
	    be16_at(ip.data() + head + 4) != total - head)
		return 0;
	return total - head - udp_len;
}

} // namespace

roce parse_roce(bytes f, ornic_rx &rx)
{
	bytes ip = strip_ethernet(f, rx);
	std::size_t head;

	if (ip.empty() || (ip[0] >> 4 != (rx.ipv6 ? 6 : 4)) ||
	    !is_for_us(ip, rx.ipv6))
		return roce::NO;
	if (!rx.ipv6 && (ip[0] & 15) == 5 && !checksum_ok(ip.data()))
		return roce::BAD;
	head = (rx.ipv6 ? ipv6_len : ipv4_len) + udp_len;
	rx.ip = ip.data();
	rx.len = static_cast<u32>(payload_of(ip, rx.ipv6));
	rx.nsegs = rx.len ? 1 : 0;
	rx.seg[0].ptr = const_cast<u8 *>(ip.data() + head);
	rx.seg[0].len = rx.len;
	return roce::YES;
}

} // namespace nic
