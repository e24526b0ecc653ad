/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ethernet frames, and where the RoCE packet in one is. */
#ifndef ORNIC_NIC_FRAME_H
#define ORNIC_NIC_FRAME_H

#include <vector>

#include "base.h"

namespace nic
{

/** From the destination address to the last byte, without FCS. */
using frame = std::vector<u8>;

constexpr std::size_t min_frame = 14;
constexpr std::size_t max_frame = 65536 + 18;

/** Who makes a frame. */
enum class maker { ENGINE, NETDEV };
constexpr std::size_t makers = 2;

struct sender {
	u32 index; // of the port, or of the engine's guest
	maker by;
};

/** A MAC address as a number. */
inline u64 mac_key(const u8 *mac)
{
	u64 key = 0;

	memcpy(&key, mac, 6);
	return key;
}

inline bool is_group(const u8 *mac)
{
	return mac[0] & 1;
}

/** Where the RoCE packet of a frame is, so that a frame is parsed only once. */
struct packet_place {
	u32 ip = 0; // offset of the IP header or GRH
	u32 content = 0; // offset of the BTH
	u32 len = 0;
	u16 vlan = 0;
	u8 sl = 0;
	bool ipv6 = false;
	bool roce_v1 = false;
	bool valid = false; // it is one

	ornic_frame parse(bytes f, ornic_rx &rx)
	{
		ornic_frame kind = ornic_rx_from_frame(
			&rx, f.data(), static_cast<u32>(f.size()));

		valid = kind == ORNIC_FRAME_ROCE;
		if (!valid)
			return kind;
		ip = offset(f, rx.ip);
		content = offset(f, rx.seg[0].ptr);
		len = rx.len;
		vlan = rx.vlan;
		sl = rx.sl;
		ipv6 = rx.ipv6;
		roce_v1 = ornic_ip_is_grh(rx.ip, rx.ipv6);
		return kind;
	}

	/** The packet in @f, which is a copy of the frame that was parsed. */
	void fill(std::vector<u8> &f, ornic_rx &rx) const
	{
		memcpy(rx.smac, f.data() + 6, sizeof(rx.smac));
		rx.vlan = vlan;
		rx.sl = sl;
		rx.ipv6 = ipv6;
		rx.busy_here = false;
		rx.host_rx = nullptr;
		rx.ip = f.data() + ip;
		rx.len = len;
		rx.nsegs = len ? 1 : 0;
		rx.seg[0].ptr = f.data() + content;
		rx.seg[0].len = len;
	}

private:
	static u32 offset(bytes f, const void *p)
	{
		return static_cast<u32>(static_cast<const u8 *>(p) - f.data());
	}
};

} // namespace nic

#endif // ORNIC_NIC_FRAME_H
