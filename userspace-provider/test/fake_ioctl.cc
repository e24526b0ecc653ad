// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "fake_ioctl.h"

#include <cerrno>
#include <cstdarg>
#include <map>

namespace ornic::test
{

static std::map<std::uint16_t, method_handler> handlers;

void answer_methods(std::uint16_t object, method_handler handler)
{
	handlers[object] = handler;
}

extern "C" int ioctl(int, unsigned long, ...) noexcept
{
	va_list args;

	va_start(args, 0);
	auto *bytes = va_arg(args, unsigned char *);
	va_end(args);
	auto hdr = read_at<ib_uverbs_ioctl_hdr>(bytes, 0);
	method_handler handler = handlers[hdr.object_id];
	int error = handler ? handler(hdr, bytes) : ENOTTY;

	if (!error)
		return 0;
	errno = error;
	return -1;
}

} // namespace ornic::test
