// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "uverbs_method.h"

#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <vector>

int run_method(const port &on, uint16_t object, uint16_t method,
	       std::span<ib_uverbs_attr> attrs)
{
	ib_uverbs_ioctl_hdr hdr{};
	const size_t size = sizeof(hdr) + attrs.size_bytes();
	std::vector<uint64_t> words(size / sizeof(uint64_t));
	auto *const bytes = reinterpret_cast<std::byte *>(words.data());

	hdr.length = static_cast<uint16_t>(size);
	hdr.object_id = object;
	hdr.method_id = method;
	hdr.num_attrs = static_cast<uint16_t>(attrs.size());
	std::memcpy(bytes, &hdr, sizeof(hdr));
	std::memcpy(bytes + sizeof(hdr), attrs.data(), attrs.size_bytes());
	if (ioctl(on.context->cmd_fd, RDMA_VERBS_IOCTL, bytes))
		return errno;
	std::memcpy(attrs.data(), bytes + sizeof(hdr), attrs.size_bytes());
	return 0;
}
