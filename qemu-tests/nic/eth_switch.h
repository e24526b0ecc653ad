/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An Ethernet switch with MAC learning, whose ports are the netdevs of
 * the guests and the wire. A device shares the MAC of its guest's netdev:
 * RoCE frames for it go to the engine, all else to the netdev. A device with flow
 * rules sees both first.
 */
#ifndef ORNIC_NIC_ETH_SWITCH_H
#define ORNIC_NIC_ETH_SWITCH_H

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device.h"
#include "faults.h"
#include "frame.h"
#include "port.h"

namespace nic
{

struct switch_counts {
	u64 roce_frames;
	u64 other_frames;
	u64 to_engines;
	u64 bad; // invalid IP header checksum
	u64 spoofed; // sent by a guest with another MAC
	u64 overflows; // dropped: too many wait for engines, or rules
};

class eth_switch {
public:
	explicit eth_switch(const shared_state &s);

	/** Set the devices, [guest]. */
	void attach(std::vector<std::unique_ptr<device>> *devices)
	{
		devices_ = devices;
	}
	/** Ports: one per guest, then the wire. */
	port &at(u32 index)
	{
		return ports_[index];
	}
	u32 wire() const
	{
		return static_cast<u32>(ports_.size() - 1);
	}

	/** Frames that a QP may send now. */
	u32 room() const;
	/** Provide memory for the next frame of an engine. 0 or -errno. */
	int alloc_frame(ornic_tx &tx);
	/** Send that frame. 0 or -errno. */
	int transmit(const device &from, const ornic_tx &tx);
	/** The engine with this MAC, if loopback between guests is allowed. */
	ornic_engine *peer_engine(const device &from, const u8 *mac) const;

	/** Receive from a port. Return: number of frames. */
	u32 input(u32 index);
	/** Take a frame from the inbox of @to on, which no rule has taken. Return: the time
	 *  that took, ns, which its sender is charged. */
	u64 pass_on(device &to, const inbound &in);
	/** Deliver waiting frames that are due. Return: whether there were any. */
	bool work(u64 now);
	/** When the next waiting frame is due, ns; 0: none waits. */
	u64 next(u64 now) const;

	fault_injector &faults()
	{
		return faults_;
	}
	impairments &rules()
	{
		return rules_;
	}
	std::string json() const;

private:
	struct held {
		u64 when;
		inbound in;
	};
	void ingress(bytes f, sender from);
	/** @place: of its RoCE packet, not valid if it is none. */
	void route(bytes f, const packet_place &place, sender from);
	void flood(bytes f, const packet_place &place, sender from);
	void to_guest(device &to, bytes f, const packet_place &place,
		      sender from);
	void hand_over(device &to, bytes f, const packet_place &place,
		       sender from);
	void learn(const u8 *mac, u32 from);
	device *device_of(const u8 *mac) const;
	void to_engine(device &to, bytes f, const packet_place &place,
		       u32 from);
	/** The sender pays for the time since @begin, or @to, if that is no guest; @to may be
	 *  null if it is. Return: that time. @begin begins anew. */
	u64 charge(u32 from, device *to, u64 &begin) const;
	bool is_spoofed(bytes f, u32 index) const;
	bool deliver();
	void impair(ornic_impair_dir dir, arrival &a);
	void pass(ornic_impair_dir dir, arrival &a);
	bool release(ornic_impair_dir dir, u64 now);

	std::vector<port> ports_;
	std::vector<std::unique_ptr<device>> *devices_ = nullptr;
	std::unordered_map<u64, u32> learned_;
	std::deque<arrival> arrivals_;
	std::size_t arrived_bytes_ = 0; // of them
	std::deque<held> held_;
	frame made_; // being built by an engine
	fault_injector faults_;
	impairments rules_;
	switch_counts counts_{};
	int capture_;
	bool packets_only_;
};

} // namespace nic

#endif // ORNIC_NIC_ETH_SWITCH_H
