/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ethernet frames: which are RoCE, and what the engine wants to know. */
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

enum class roce {
	NO, // for the netdev
	YES,
	BAD, // not even a netdev would take it
};

/** Is it RoCE? Then @rx is filled; it points into @f. A packet to the port of
 *  RoCE that is none is YES, with no content: the engine counts it. */
roce parse_roce(bytes f, ornic_rx &rx);

} // namespace nic

#endif // ORNIC_NIC_FRAME_H
