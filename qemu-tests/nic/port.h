/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A socket with Ethernet frames, in the formats of QEMU's netdevs. */
#ifndef ORNIC_NIC_PORT_H
#define ORNIC_NIC_PORT_H

#include <deque>
#include <functional>
#include <string>

#include "frame.h"
#include "shared_state.h"

namespace nic
{

/** Open the socket of @p, or its listener; die on failure. */
void open_port(port_state &p);

struct port_counts {
	u64 rx_frames;
	u64 tx_frames;
	u64 tx_dropped;
};

/** Sends frames; keeps a limited number while the socket is full. */
class port {
public:
	explicit port(const port_state &state);

	int fd() const
	{
		return fd_;
	}
	/** Set the connection of a stream; -1: none. */
	void connect(int fd);
	/** Connecting failed with @error. Permission errors are reported once. */
	void not_reached(int error);

	void send(bytes f);
	/** Try to send kept frames. Return: whether any was sent. */
	bool work();
	std::size_t kept() const
	{
		return kept_.size();
	}

	/** Receive up to @limit frames. Return: their number. */
	u32 receive(u32 limit, const std::function<void(bytes)> &take);

	const port_counts &counts() const
	{
		return counts_;
	}

private:
	enum class sent { YES, LATER, NEVER };
	sent send_now(bytes f);
	bool finish_half();
	u32 receive_stream(u32 limit, const std::function<void(bytes)> &take);
	u32 cut_stream(const std::function<void(bytes)> &take);

	bool stream_;
	int fd_;
	std::string remote_; // for messages
	std::string to_; // sockaddr
	std::deque<frame> kept_;
	frame half_; // of a stream: rest of a partially sent frame
	frame input_; // of a stream: not yet parsed
	port_counts counts_{};
	bool refused_ = false; // and reported
};

} // namespace nic

#endif // ORNIC_NIC_PORT_H
