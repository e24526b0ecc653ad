/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses and sockets. What fails ends the program with one line. */
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

/** Who may connect to the sockets that are made at paths. */
struct socket_access {
	mode_t mode = 0600;
	gid_t group = static_cast<gid_t>(-1); // as it is
};
void set_socket_access(const socket_access &access);
/** Remove the sockets that were made at paths: at exit. */
void remove_sockets();

address unix_address(const std::string &path);
/** That of a path, or of HOST:PORT; die if there is none. */
address address_of(const std::string &where);
/** "HOST:PORT", or "[HOST]:PORT" */
address inet_address(const std::string &text, int type);

/**
 * Bind @fd to @addr, which messages call @where. A socket that nobody has any
 * more is removed from its path. Whoever was killed may have it for a moment
 * yet: its worker dies after it, so this waits a little before it gives up.
 */
void bind_to(int fd, const address &addr, const std::string &where);

/** Listen at a path, or at HOST:PORT. */
unique_fd listen_at(const std::string &where);
/** Connect to a path, or to HOST:PORT. */
unique_fd connect_to(const std::string &where);
/** Begin to, without waiting; an empty fd when that cannot be. */
unique_fd start_connect(const address &addr);

/** Send @size bytes of @data with @fd (-1: none); false when it failed. */
bool send_with_fd(int sock, const void *data, std::size_t size, int fd);
/** Take as many bytes, and what came with them. */
bool receive_with_fd(int sock, void *data, std::size_t size, unique_fd &fd);

} // namespace nic

#endif // ORNIC_NIC_SOCKETS_H
