// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "base.h"

#include <cstdarg>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

namespace nic
{

namespace
{

// With a single write(): supervisor and worker share the stream.
void write_line(const char *format, va_list args)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "ornic-nic: ");

	n += vsnprintf(line + n, sizeof(line) - 1 - n, format, args);
	if (n > static_cast<int>(sizeof(line)) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}

} // namespace

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(format, args);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(format, args);
	va_end(args);
	exit(EXIT_FAILURE);
}

bool take_event(int fd)
{
	u64 count;
	iovec iov = { &count, sizeof(count) };

	return preadv2(fd, &iov, 1, -1, RWF_NOWAIT) == sizeof(count);
}

bool send_event(int fd)
{
	pollfd p = { fd, POLLOUT, 0 };

	return poll(&p, 1, 0) == 1 && p.revents & POLLOUT &&
	       !eventfd_write(fd, 1);
}

std::string mac_text(const u8 *mac)
{
	char text[18];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	return text;
}

} // namespace nic
