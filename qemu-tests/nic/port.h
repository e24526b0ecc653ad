/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A socket with Ethernet frames, in the formats of QEMU's netdevs. */
#ifndef ORNIC_NIC_PORT_H
#define ORNIC_NIC_PORT_H

#include <array>
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

/**
 * Sends frames. While the socket is full it keeps a limited number of each maker, and
 * sends those in turn.
 */
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

	void send(bytes f, maker by);
	/** Try to send kept frames. Return: whether any was sent. */
	bool work();
	/** Frames of engines that wait. */
	std::size_t kept_of_engines() const
	{
		return queue_of(maker::ENGINE).frames.size();
	}
	bool keeps() const
	{
		return kept_of_engines() ||
		       !queue_of(maker::NETDEV).frames.empty();
	}

	/** Receive up to @limit frames. Return: their number. */
	u32 receive(u32 limit, const std::function<void(bytes)> &take);

	const port_counts &counts() const
	{
		return counts_;
	}

private:
	enum class sent { YES, LATER, NEVER };
	struct queue {
		std::deque<frame> frames;
		std::size_t bytes = 0;
	};

	queue &queue_of(maker by)
	{
		return kept_[static_cast<std::size_t>(by)];
	}
	const queue &queue_of(maker by) const
	{
		return kept_[static_cast<std::size_t>(by)];
	}
	queue &next_queue();
	void keep(bytes f, maker by);
	sent send_now(bytes f);
	bool finish_half();
	u32 receive_stream(u32 limit, const std::function<void(bytes)> &take);
	u32 cut_stream(const std::function<void(bytes)> &take);

	bool stream_;
	int fd_;
	std::string remote_; // for messages
	std::string to_; // sockaddr
	std::array<queue, makers> kept_;
	maker turn_ = maker::ENGINE; // whose frame is sent next
	frame half_; // of a stream: rest of a partially sent frame
	frame input_; // of a stream: not yet parsed
	port_counts counts_{};
	bool refused_ = false; // and reported
};

} // namespace nic

#endif // ORNIC_NIC_PORT_H
