// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ivshmem.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "sockets.h"

namespace nic
{

namespace
{

constexpr s64 protocol_version = 0;
constexpr s64 shared_memory = -1;

unique_fd make_eventfd()
{
	unique_fd fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));

	if (!fd)
		die("cannot create an eventfd: %s", strerror(errno));
	return fd;
}

bool send_msg(int sock, s64 value, int fd = -1)
{
	__le64 le = cpu_to_le64(static_cast<u64>(value));

	return send_with_fd(sock, &le, sizeof(le), fd);
}

} // namespace

void make_bar(guest_state &g)
{
	u64 bytes = g.bar_bytes();
	void *p;

	g.bar_fd.reset(
		memfd_create("ornic-bar", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	// The file must not shrink while it is mapped.
	if (!g.bar_fd || ftruncate(g.bar_fd.get(), static_cast<off_t>(bytes)) ||
	    fcntl(g.bar_fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		die("cannot allocate a BAR: %s", strerror(errno));
	p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		 g.bar_fd.get(), 0);
	if (p == MAP_FAILED)
		die("cannot map a BAR: %s", strerror(errno));
	// What programs of the guest keep there.
	madvise(p, bytes, MADV_DONTDUMP);
	g.bar = static_cast<u8 *>(p);
	for (unique_fd &fd : g.doorbell)
		fd = make_eventfd();
	for (u32 i = 0; i < g.config.vectors; i++)
		g.message.push_back(make_eventfd());
}

bool send_setup(const guest_state &g, int sock)
{
	bool ok = send_msg(sock, protocol_version) &&
		  send_msg(sock, guest_peer) &&
		  send_msg(sock, shared_memory, g.bar_fd.get());

	for (const unique_fd &fd : g.doorbell)
		ok = ok && send_msg(sock, device_peer, fd.get());
	for (const unique_fd &fd : g.message)
		ok = ok && send_msg(sock, guest_peer, fd.get());
	return ok;
}

} // namespace nic
