/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Raw packet QPs of guests, and the frames of their tests. */
#ifndef ORNIC_NIC_TEST_RAW_END_H
#define ORNIC_NIC_TEST_RAW_END_H

#include "nic_fixture.h"

namespace test
{

/** Receives that a raw_end has posted. */
constexpr u32 receives = 16;

/** A UDP datagram between guests; @to 0: to all. */
std::string udp(u8 to, u8 from, u16 dst_port, const std::string &what);
/** The destination port of such a frame; 0: there is none. */
u16 udp_port_of(const std::string &f);

/** UDP to @dst_port, under @mask. */
ornic_flow_match to_port(u16 dst_port, u16 mask = 0xffff);
/** Frames to the address of @guest; 0: broadcast. */
ornic_flow_match to_address(u8 guest);

/** A raw packet QP in RTS; each receive has a page. */
struct raw_end : end {
	explicit raw_end(fake_guest &g, u8 queues = has_sq | has_rq);
	/** The next frame; empty: there is none. */
	std::string receive(bool wait = true);
	/** Send a frame; the status of its completion, -1: there is none. */
	int send(const std::string &f);
	buffer out;

private:
	buffer slot(u64 wr_id) const;
	void post_next();
};

} // namespace test

#endif // ORNIC_NIC_TEST_RAW_END_H
