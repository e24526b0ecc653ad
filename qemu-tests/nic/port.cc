// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "port.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include "sockets.h"

namespace nic
{

namespace
{

// Of each maker
constexpr std::size_t max_kept = 1024;
constexpr std::size_t max_kept_bytes = 8 << 20;
constexpr int socket_bytes = 1 << 20;
constexpr std::size_t stream_head = 4; // length, big endian

void enlarge(int fd)
{
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &socket_bytes,
		   sizeof(socket_bytes));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &socket_bytes,
		   sizeof(socket_bytes));
}

void join_group(int fd, const address &group, const std::string &text)
{
	const auto *in = reinterpret_cast<const sockaddr_in *>(group.data());
	ip_mreq mreq{};
	int one = 1;

	mreq.imr_multiaddr = in->sin_addr;
	if (in->sin_family != AF_INET ||
	    setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &mreq,
		       sizeof(mreq)) ||
	    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &one, sizeof(one)))
		die("%s: cannot join multicast group: %s", text.c_str(),
		    strerror(errno));
}

unique_fd open_datagrams(const port_config &p)
{
	bool group = p.kind == port_kind::MCAST;
	std::string local = group ? p.remote : p.local;
	address addr = p.kind == port_kind::UNIX ?
			       unix_address(local) :
			       inet_address(local, SOCK_DGRAM);
	int one = 1;
	unique_fd fd(socket(family_of(addr),
			    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

	if (group)
		setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one,
			   sizeof(one));
	bind_to(fd.get(), addr, local);
	if (group)
		join_group(fd.get(), addr, local);
	// Only receive from the peer. UNIX sockets have modes for this, and
	// their peer may be restarted.
	if (p.kind == port_kind::UDP) {
		addr = inet_address(p.remote, SOCK_DGRAM);
		if (connect(fd.get(), sockaddr_of(addr), length_of(addr)))
			die("%s: %s", p.remote.c_str(), strerror(errno));
	}
	enlarge(fd.get());
	return fd;
}

std::string destination(const port_config &p)
{
	switch (p.kind) {
	case port_kind::UNIX:
		return unix_address(p.remote);
	case port_kind::MCAST:
		return inet_address(p.remote, SOCK_DGRAM);
	default:
		return "";
	}
}

} // namespace

void open_port(port_state &p)
{
	switch (p.config.kind) {
	case port_kind::NONE:
		return;
	case port_kind::LISTEN:
		p.listener = listen_at(p.config.local);
		return;
	case port_kind::CONNECT:
		// The worker connects when the peer listens.
		p.peer = address_of(p.config.remote);
		break;
	default:
		p.fd = open_datagrams(p.config);
	}
}

port::port(const port_state &state)
	: stream_(state.config.kind == port_kind::LISTEN ||
		  state.config.kind == port_kind::CONNECT)
	, fd_(state.fd.get())
	, remote_(state.config.remote)
	, to_(destination(state.config))
{
}

void port::connect(int fd)
{
	fd_ = fd;
	kept_ = {};
	half_.clear();
	input_.clear();
}

void port::not_reached(int error)
{
	if (refused_ || (error != EACCES && error != EPERM))
		return;
	refused_ = true;
	warn("%s: the worker cannot send to it: %s", remote_.c_str(),
	     strerror(error));
}

port::sent port::send_now(bytes f)
{
	u32 head = htonl(static_cast<u32>(f.size()));
	iovec iov[] = { { &head, stream_head },
			{ const_cast<u8 *>(f.data()), f.size() } };
	msghdr msg{};
	ssize_t n;

	msg.msg_iov = stream_ ? iov : iov + 1;
	msg.msg_iovlen = stream_ ? 2 : 1;
	if (!to_.empty()) {
		msg.msg_name = to_.data();
		msg.msg_namelen = static_cast<socklen_t>(to_.size());
	}
	n = sendmsg(fd_, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
		return sent::LATER;
	if (n < 0) {
		not_reached(errno);
		return sent::NEVER;
	}
	// Partially sent: the rest must follow.
	if (stream_ && static_cast<std::size_t>(n) < stream_head + f.size()) {
		frame rest;

		if (n < static_cast<ssize_t>(stream_head))
			rest.assign(reinterpret_cast<u8 *>(&head) + n,
				    reinterpret_cast<u8 *>(&head) +
					    stream_head);
		else
			f = f.subspan(n - stream_head);
		rest.insert(rest.end(), f.begin(), f.end());
		half_ = std::move(rest);
	}
	return sent::YES;
}

// Send the rest of a partially sent frame first.
bool port::finish_half()
{
	ssize_t n;

	while (!half_.empty()) {
		n = ::send(fd_, half_.data(), half_.size(),
			   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		half_.erase(half_.begin(), half_.begin() + n);
	}
	return true;
}

void port::keep(bytes f, maker by)
{
	queue &q = queue_of(by);

	if (q.frames.size() >= max_kept ||
	    q.bytes + f.size() > max_kept_bytes) {
		counts_.tx_dropped++;
		return;
	}
	q.frames.emplace_back(f.begin(), f.end());
	q.bytes += f.size();
}

void port::send(bytes f, maker by)
{
	sent result = sent::LATER;

	if (fd_ < 0) {
		counts_.tx_dropped++;
		return;
	}
	if (!keeps() && finish_half())
		result = send_now(f);
	if (result == sent::YES)
		counts_.tx_frames++;
	else if (result == sent::LATER)
		keep(f, by);
	else
		counts_.tx_dropped++;
}

// One of them has frames.
port::queue &port::next_queue()
{
	maker other = turn_ == maker::ENGINE ? maker::NETDEV : maker::ENGINE;

	if (queue_of(turn_).frames.empty())
		return queue_of(other);
	return queue_of(std::exchange(turn_, other));
}

bool port::work()
{
	bool any = false;

	while (keeps() && fd_ >= 0 && finish_half()) {
		queue &q = next_queue();
		sent result = send_now(q.frames.front());

		if (result == sent::LATER)
			break;
		if (result == sent::YES)
			counts_.tx_frames++;
		else
			counts_.tx_dropped++;
		q.bytes -= q.frames.front().size();
		q.frames.pop_front();
		any = true;
	}
	return any;
}

u32 port::receive(u32 limit, const std::function<void(bytes)> &take)
{
	static u8 buffer[max_frame];
	u32 count = 0;
	ssize_t n;

	if (fd_ < 0)
		return 0;
	if (stream_)
		return receive_stream(limit, take);
	while (count < limit) {
		n = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
		// An earlier datagram to the UDP peer was refused.
		if (n < 0 && errno == ECONNREFUSED)
			continue;
		if (n < 0)
			break;
		count++;
		counts_.rx_frames++;
		take(bytes(buffer, static_cast<std::size_t>(n)));
	}
	return count;
}

// Deliver complete frames. An invalid length closes the stream.
u32 port::cut_stream(const std::function<void(bytes)> &take)
{
	std::size_t at = 0;
	u32 count = 0, len;

	while (input_.size() - at >= stream_head) {
		memcpy(&len, input_.data() + at, stream_head);
		len = ntohl(len);
		if (len > max_frame) {
			warn("invalid frame length in a stream: closing it");
			connect(-1);
			return count;
		}
		if (input_.size() - at - stream_head < len)
			break;
		take(bytes(input_.data() + at + stream_head, len));
		counts_.rx_frames++;
		count++;
		at += stream_head + len;
	}
	input_.erase(input_.begin(),
		     input_.begin() + static_cast<ptrdiff_t>(at));
	return count;
}

u32 port::receive_stream(u32 limit, const std::function<void(bytes)> &take)
{
	static u8 buffer[max_frame];
	u32 count = 0;
	ssize_t n;

	while (count < limit) {
		n = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
		if (!n || (n < 0 && errno != EAGAIN)) {
			connect(-1);
			break;
		}
		if (n < 0)
			break;
		input_.insert(input_.end(), buffer, buffer + n);
		count += cut_stream(take);
		if (fd_ < 0)
			break;
	}
	return count;
}

} // namespace nic
