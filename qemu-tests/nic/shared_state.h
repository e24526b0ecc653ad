/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * State that the supervisor keeps for its workers. A worker inherits all of it by
 * fork(), except for listeners and the sockets of QEMUs, and receives changes through
 * its channel.
 */
#ifndef ORNIC_NIC_SHARED_STATE_H
#define ORNIC_NIC_SHARED_STATE_H

#include <algorithm>
#include <bit>
#include <vector>

#include "base.h"
#include "options.h"

namespace nic
{

/** Doorbells, by their vector. */
enum doorbell {
	DOORBELL_CONTROL,
	DOORBELL_KICK,
	DOORBELLS,
};

constexpr u32 device_peer = 0; // peer ids of ivshmem
constexpr u32 guest_peer = 1;

// Where device memory begins in BAR 2: at a page of any guest.
constexpr u64 dm_offset = 64 << 10;

/** One guest: what is shared with its QEMU. */
struct guest_state {
	guest_config config;
	u32 index = 0;
	unique_fd listener; // for QEMU's chardev
	unique_fd bar_fd;
	u8 *bar = nullptr; // shared memory
	unique_fd doorbell[DOORBELLS]; // eventfds, guest to device
	std::vector<unique_fd> message; // eventfds, device to guest
	unique_fd qemu; // connected
	unique_fd left; // no more, but has not read all eventfds that were sent
	bool plugging = false; // the worker has not yet confirmed its last QEMU
	u32 plug_checks = 0; // of the heartbeat, since then
	bool refused =
		false; // until this process ends: its QEMU filled an eventfd
	unique_fd ram;
	u32 *reset_done = nullptr; // shared memory: last completed reset

	/** Size of BAR 2: a power of two, as ivshmem requires. */
	u64 bar_bytes() const
	{
		constexpr u64 least = 1 << 20;

		return std::max(least, std::bit_ceil(dm_offset + config.dm));
	}
	/** @len bytes of device memory from byte @at on. NULL unless it has all
	 *  of them. */
	u8 *dm_at(u64 at, u64 len) const
	{
		if (at > config.dm || len > config.dm - at)
			return nullptr;
		return bar + dm_offset + at;
	}

	ornic_pci_device_regs *device_regs() const
	{
		return reinterpret_cast<ornic_pci_device_regs *>(
			bar + ORNIC_PCI_DEVICE_REGS);
	}
	const ornic_pci_host_regs *host_regs() const
	{
		return reinterpret_cast<const ornic_pci_host_regs *>(
			bar + ORNIC_PCI_HOST_REGS);
	}
};

/** One socket with Ethernet frames. */
struct port_state {
	port_config config;
	std::string peer; // address, config.kind == CONNECT
	unique_fd listener; // config.kind == LISTEN
	unique_fd fd; // datagrams, or the connection
};

struct shared_state {
	options opt;
	std::vector<guest_state> guests;
	std::vector<port_state> netdevs; // [guest]
	port_state wire;
	unique_fd control; // listener
	unique_fd capture;
	u32 *heartbeat = nullptr; // shared memory: written by the worker

	/** Whether the worker connects streams. */
	bool connects() const
	{
		for (const port_state &p : netdevs)
			if (p.config.kind == port_kind::CONNECT)
				return true;
		return wire.config.kind == port_kind::CONNECT;
	}
};

/** Message from supervisor to worker, with a file descriptor. */
struct change {
	enum kind : u32 {
		GUEST_CONNECTED, // its RAM
		GUEST_DISCONNECTED,
		NETDEV, // its connection
		WIRE,
	} what;
	u32 index;
};

/** Message from worker to supervisor. */
struct report {
	enum kind : u32 {
		CONFINED, // once, before anything else
		GUEST_PLUGGED, // after GUEST_CONNECTED, or the start of a worker
		GUEST_BLOCKS, // an eventfd that its QEMU has is full
	} what;
	u32 index;
};

} // namespace nic

#endif // ORNIC_NIC_SHARED_STATE_H
