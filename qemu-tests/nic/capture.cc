// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The format: draft-ietf-opsawg-pcapng.
#include "capture.h"

#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/uio.h>
#include <vector>

namespace nic
{

namespace
{

constexpr u32 block_section = 0x0a0d0d0a;
constexpr u32 block_interface = 1;
constexpr u32 block_packet = 6;
constexpr u32 byte_order = 0x1a2b3c4d;
constexpr u32 link_ethernet = 1;
constexpr u32 option_name = 2; // of the interface
constexpr u32 option_tsresol = 9 | 1 << 16; // one byte long
constexpr u32 nanoseconds = 9;

using words = std::vector<u32>;

void add_interface(words &head, const std::string &name)
{
	u32 chars = static_cast<u32>(name.size()), padded = (chars + 3) / 4;
	u32 total = 36 + 4 * padded;

	head.insert(head.end(), { block_interface, total, link_ethernet, 0,
				  option_name | chars << 16 });
	head.resize(head.size() + padded);
	memcpy(head.data() + head.size() - padded, name.data(), chars);
	head.insert(head.end(), { option_tsresol, nanoseconds, 0, total });
}

} // namespace

unique_fd create_capture(const char *path, u32 guests)
{
	unique_fd fd(open(path,
			  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
			  0644));
	// Version 1.0, a section of unknown length.
	words head = { block_section, 28, byte_order, 1, ~0u, ~0u, 28 };
	ssize_t len;

	for (u32 i = 1; i <= guests; i++)
		add_interface(head, "guest " + std::to_string(i));
	add_interface(head, "wire");
	len = static_cast<ssize_t>(head.size() * sizeof(head[0]));
	if (fd && write(fd.get(), head.data(), len) != len)
		fd.reset();
	return fd;
}

void capture_frame(int fd, u32 port, bytes f)
{
	u32 len = static_cast<u32>(f.size());
	u32 total = 32 + ((len + 3) & ~3u);
	u64 at = now_ns(CLOCK_REALTIME);
	static const u8 zero[4] = {};
	u32 head[] = {
		block_packet,	      total, port, static_cast<u32>(at >> 32),
		static_cast<u32>(at), len,   len
	};
	iovec iov[] = {
		{ head, sizeof(head) },
		{ const_cast<u8 *>(f.data()), len },
		{ const_cast<u8 *>(zero), -len & 3 },
		{ &total, sizeof(total) },
	};

	ssize_t n = writev(fd, iov, std::size(iov));

	// A partial block would make the rest unreadable: remove it.
	if (n >= 0 && n < static_cast<ssize_t>(total)) {
		off_t size = lseek(fd, 0, SEEK_END);

		if (ftruncate(fd, size - n))
			return;
	}
}

} // namespace nic
