/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An Ethernet switch with MAC learning, whose ports are the netdevs of
 * the guests and the wire. A device shares the MAC of its guest's netdev:
 * RoCE frames for it go to the engine, all else to the netdev.
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
	u64 bad; // not even a netdev takes them
	u64 spoofed; // of a guest, and not from its MAC
	u64 overflows; // of what waits for engines
};

class eth_switch {
public:
	explicit eth_switch(const shared_state &s);

	/** The devices, [guest]; they outlive its last work. */
	void attach(std::vector<std::unique_ptr<device>> *devices)
	{
		devices_ = devices;
	}
	/** The ports: those of the guests in their order, then the wire. */
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
	/** Memory for the frame that an engine makes next. 0 or -errno. */
	int alloc_frame(ornic_tx &tx);
	/** It is made. 0 or -errno. */
	int transmit(const device &from, const ornic_tx &tx);
	/** The engine with this MAC, if memory to memory is allowed. */
	ornic_engine *peer_engine(const device &from, const u8 *mac) const;

	/** Take what has come to a port. Return: frames. */
	u32 input(u32 index);
	/** Deliver what waits and is due. Return: whether something was. */
	bool work(u64 now);
	/** When something that waits is due, ns; 0: nothing waits. */
	u64 next(u64 now) const;

	fault_injector &faults()
	{
		return faults_;
	}
	std::string json() const;

private:
	struct held {
		u64 when;
		u32 from;
		frame data;
	};
	struct arrival {
		device *to;
		u32 from;
		frame data;
	};

	/** A frame enters at port @from (of its guest, if from an engine). */
	void ingress(bytes f, u32 from);
	void route(bytes f, bool is_roce, u32 from);
	void flood(bytes f, bool is_roce, u32 from);
	void learn(const u8 *mac, u32 from);
	device *device_of(const u8 *mac) const;
	void to_engine(device &to, bytes f, u32 from);
	device &charged_device(const arrival &a) const;
	bool is_spoofed(bytes f, u32 index) const;
	bool deliver();

	std::vector<port> ports_;
	std::vector<std::unique_ptr<device>> *devices_ = nullptr;
	std::unordered_map<u64, u32> learned_;
	std::deque<arrival> arrivals_;
	std::deque<held> held_;
	frame made_; // of the engine that is at work
	fault_injector faults_;
	switch_counts counts_{};
	int capture_;
	bool packets_only_;
};

} // namespace nic

#endif // ORNIC_NIC_ETH_SWITCH_H
