// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sockets.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <vector>
#include <netdb.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace nic
{

namespace
{

// Retry while an address is in use, us: 31 * 20 ms in total.
constexpr useconds_t first_pause = 20000;
constexpr useconds_t last_pause = first_pause * 16;

socket_access access_rights;
std::vector<std::string> bound_paths;
pid_t owner_pid; // a worker must not remove them

bool bind_once(int fd, const address &addr, const std::string &where)
{
	mode_t old = umask(0177);
	int failed = bind(fd, sockaddr_of(addr), length_of(addr));
	int error = errno;

	umask(old);
	errno = error;
	if (failed)
		return false;
	if (family_of(addr) != AF_UNIX)
		return true;
	owner_pid = getpid();
	bound_paths.push_back(where);
	if (chown(where.c_str(), static_cast<uid_t>(-1), access_rights.group) ||
	    chmod(where.c_str(), access_rights.mode))
		die("%s: %s", where.c_str(), strerror(errno));
	return true;
}

// A path has a slash, or no colon.
bool is_path(const std::string &where)
{
	return where.find('/') != std::string::npos ||
	       where.find(':') == std::string::npos;
}

bool in_use(const std::string &path)
{
	address addr = unix_address(path);

	for (int type : { SOCK_STREAM, SOCK_DGRAM }) {
		unique_fd probe(socket(AF_UNIX,
				       type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

		if (!connect(probe.get(), sockaddr_of(addr), length_of(addr)) ||
		    errno == EAGAIN)
			return true;
	}
	return false;
}

// Remove the socket at @path if it is stale. False: it is in use.
bool remove_stale(const std::string &path)
{
	struct stat st;

	if (in_use(path))
		return false;
	if (!lstat(path.c_str(), &st) && !S_ISSOCK(st.st_mode))
		die("%s: not a socket", path.c_str());
	if (unlink(path.c_str()) && errno != ENOENT)
		die("%s: %s", path.c_str(), strerror(errno));
	return true;
}

} // namespace

void set_socket_access(const socket_access &access)
{
	access_rights = access;
}

void remove_sockets()
{
	if (owner_pid != getpid())
		return;
	for (const std::string &path : bound_paths)
		unlink(path.c_str());
	bound_paths.clear();
}

address address_of(const std::string &where)
{
	return is_path(where) ? unix_address(where) :
				inet_address(where, SOCK_STREAM);
}

address unix_address(const std::string &path)
{
	sockaddr_un un{};

	un.sun_family = AF_UNIX;
	if (path.size() >= sizeof(un.sun_path))
		die("%s: path too long for a socket", path.c_str());
	memcpy(un.sun_path, path.data(), path.size());
	return address(reinterpret_cast<char *>(&un), sizeof(un));
}

address inet_address(const std::string &text, int type)
{
	std::size_t colon = text.rfind(':');
	std::string host = text.substr(0, colon);
	addrinfo hints{}, *found;
	address addr;

	if (colon == std::string::npos)
		die("%s: HOST:PORT expected", text.c_str());
	if (host.size() > 2 && host.front() == '[' && host.back() == ']')
		host = host.substr(1, host.size() - 2);
	hints.ai_socktype = type;
	// A wildcard address must be given explicitly: 0.0.0.0 or [::].
	if (host.empty() ||
	    getaddrinfo(host.c_str(), text.c_str() + colon + 1, &hints, &found))
		die("%s: no such address", text.c_str());
	addr.assign(reinterpret_cast<char *>(found->ai_addr),
		    found->ai_addrlen);
	freeaddrinfo(found);
	return addr;
}

void bind_to(int fd, const address &addr, const std::string &where)
{
	useconds_t pause = first_pause;

	while (!bind_once(fd, addr, where)) {
		if (errno != EADDRINUSE)
			die("%s: %s", where.c_str(), strerror(errno));
		if (family_of(addr) == AF_UNIX && remove_stale(where))
			continue;
		if (pause > last_pause)
			die("%s: the socket is in use", where.c_str());
		usleep(pause);
		pause *= 2;
	}
}

unique_fd listen_at(const std::string &where)
{
	address addr = address_of(where);
	int one = 1;
	unique_fd fd(socket(family_of(addr),
			    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

	if (family_of(addr) != AF_UNIX)
		setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one,
			   sizeof(one));
	bind_to(fd.get(), addr, where);
	if (listen(fd.get(), 4))
		die("%s: %s", where.c_str(), strerror(errno));
	return fd;
}

unique_fd connect_to(const std::string &where)
{
	address addr = address_of(where);
	unique_fd fd(socket(family_of(addr), SOCK_STREAM | SOCK_CLOEXEC, 0));

	if (connect(fd.get(), sockaddr_of(addr), length_of(addr)))
		die("%s: %s", where.c_str(), strerror(errno));
	return fd;
}

unique_fd start_connect(const address &addr)
{
	unique_fd fd(socket(family_of(addr),
			    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

	if (connect(fd.get(), sockaddr_of(addr), length_of(addr)) &&
	    errno != EINPROGRESS)
		fd.reset();
	return fd;
}

void notify_ready()
{
	constexpr std::string_view ready = "READY=1";
	const std::string where = getenv("NOTIFY_SOCKET") ?: "";
	sockaddr_un un{};
	unique_fd fd;

	if (where.empty())
		return;
	fd.reset(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	un.sun_family = AF_UNIX;
	where.copy(un.sun_path, sizeof(un.sun_path));
	// An abstract name begins with NUL, and ends where the address ends.
	if (where[0] == '@')
		un.sun_path[0] = '\0';
	if (where.size() >= sizeof(un.sun_path) || !fd ||
	    sendto(fd.get(), ready.data(), ready.size(), MSG_NOSIGNAL,
		   reinterpret_cast<sockaddr *>(&un),
		   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
					  where.size())) < 0)
		warn("NOTIFY_SOCKET %s: %s", where.c_str(), strerror(errno));
}

bool send_with_fd(int sock, const void *data, std::size_t size, int fd)
{
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
	iovec iov = { const_cast<void *>(data), size };
	msghdr msg{};

	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	if (fd >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);

		cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       static_cast<ssize_t>(size);
}

bool receive_with_fd(int sock, void *data, std::size_t size, unique_fd &fd)
{
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
	iovec iov = { data, size };
	msghdr msg{};
	int got;

	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = control;
	msg.msg_controllen = sizeof(control);
	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(size))
		return false;
	fd.reset();
	for (cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&got, CMSG_DATA(c), sizeof(got));
		fd.reset(got);
	}
	return true;
}

} // namespace nic
