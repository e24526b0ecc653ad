/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A socket with Ethernet frames, as QEMU's netdevs have them. */
#ifndef ORNIC_NIC_PORT_H
#define ORNIC_NIC_PORT_H

#include <deque>
#include <functional>
#include <string>

#include "frame.h"
#include "shared_state.h"

namespace nic
{

/** Open the socket of @p, or make it listen; die when that fails. */
void open_port(port_state &p);

struct port_counts {
	u64 rx_frames;
	u64 tx_frames;
	u64 tx_dropped;
};

/** Sends what fits, keeps what does not, up to a limit. */
class port {
public:
	explicit port(const port_state &state);

	int fd() const
	{
		return fd_;
	}
	/** A stream has (another) connection, or none: -1. */
	void connect(int fd);
	/** Its peer is not reached with @error; those that last are said once. */
	void not_reached(int error);

	void send(bytes f);
	/** Try to send what was kept; true when something went. */
	bool work();
	std::size_t kept() const
	{
		return kept_.size();
	}

	/** Take up to @limit frames that are there. Return: how many. */
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
	std::string remote_; // for people
	std::string to_; // sockaddr
	std::deque<frame> kept_;
	frame half_; // of a stream: the rest of a frame that went in part
	frame input_; // of a stream, not yet cut
	port_counts counts_{};
	bool refused_ = false; // and has said so
};

} // namespace nic

#endif // ORNIC_NIC_PORT_H
