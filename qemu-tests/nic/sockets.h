/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses and sockets. Failures end the program, unless noted. */
#ifndef ORNIC_NIC_SOCKETS_H
#define ORNIC_NIC_SOCKETS_H

#include <string>
#include <sys/socket.h>

#include "base.h"

namespace nic
{

/** A sockaddr, of its own length. */
using address = std::string;

inline const sockaddr *sockaddr_of(const address &a)
{
	return reinterpret_cast<const sockaddr *>(a.data());
}
inline socklen_t length_of(const address &a)
{
	return static_cast<socklen_t>(a.size());
}
inline int family_of(const address &a)
{
	return sockaddr_of(a)->sa_family;
}

/** Access rights of UNIX sockets. */
struct socket_access {
	mode_t mode = 0600;
	gid_t group = static_cast<gid_t>(-1); // unchanged
};
void set_socket_access(const socket_access &access);
/** At exit: remove UNIX sockets from their paths. */
void remove_sockets();

address unix_address(const std::string &path);
/** Address of a path or of HOST:PORT. */
address address_of(const std::string &where);
/** "HOST:PORT", or "[HOST]:PORT" */
address inet_address(const std::string &text, int type);

/**
 * Bind @fd to @addr; @where is for messages. A stale UNIX socket is removed. The
 * worker of a killed process dies a moment after its supervisor, so bind_to()
 * retries for a while if the address is in use.
 */
void bind_to(int fd, const address &addr, const std::string &where);

/** Listen at a path, or at HOST:PORT. */
unique_fd listen_at(const std::string &where);
/** Connect to a path, or to HOST:PORT. */
unique_fd connect_to(const std::string &where);
/** Connect without waiting. Empty fd on failure. */
unique_fd start_connect(const address &addr);

/** Tell the service manager, if it waits, that this process is ready: sd_notify(3),
 *  which would bring libsystemd for one datagram. Failures are warnings. */
void notify_ready();

/** Send @size bytes of @data with @fd (-1: none), without waiting. False: failed. */
bool send_with_fd(int sock, const void *data, std::size_t size, int fd);
/** Receive @size bytes and a file descriptor. False: failed. */
bool receive_with_fd(int sock, void *data, std::size_t size, unique_fd &fd);

} // namespace nic

#endif // ORNIC_NIC_SOCKETS_H
