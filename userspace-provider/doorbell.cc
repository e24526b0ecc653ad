// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Getting a doorbell from the kernel, and the system call that rings it.

#include "doorbell.h"

#include <cerrno>
#include <cstring>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

#include "shared.h"

namespace ornic
{

void doorbell::use_page(mapping page, std::uint32_t offset,
			std::uint32_t value) noexcept
{
	page_ = std::move(page);
	register_ = reinterpret_cast<std::uint32_t *>(page_.data() + offset);
	value_ = le(value);
}

int doorbell::ring_file(std::uint32_t qpn) const noexcept
{
	while (write(fd_.get(), &qpn, sizeof(qpn)) < 0) {
		// The kernel has destroyed the QP, or all of the context.
		if (errno != EINTR)
			return EIO;
	}
	return 0;
}

namespace
{

/* ORNIC_METHOD_DOORBELL_ALLOC. A descriptor, or -1 with errno set. */
int alloc_doorbell_file(int cmd_fd) noexcept
{
	alignas(8) unsigned char bytes[sizeof(ib_uverbs_ioctl_hdr) +
				       sizeof(ib_uverbs_attr)] = {};
	ib_uverbs_ioctl_hdr hdr = {};
	ib_uverbs_attr attr = {};

	hdr.length = sizeof(bytes);
	hdr.object_id = ORNIC_OBJECT_DOORBELL;
	hdr.method_id = ORNIC_METHOD_DOORBELL_ALLOC;
	hdr.num_attrs = 1;
	attr.attr_id = ORNIC_ATTR_DOORBELL_ALLOC_HANDLE;
	attr.flags = UVERBS_ATTR_F_MANDATORY;
	std::memcpy(bytes, &hdr, sizeof(hdr));
	std::memcpy(bytes + sizeof(hdr), &attr, sizeof(attr));
	if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, bytes))
		return -1;
	std::memcpy(&attr, bytes + sizeof(hdr), sizeof(attr));
	return static_cast<int>(attr.data_s64);
}

int open_file(const ibv_context &context, doorbell &bell) noexcept
{
	int fd = alloc_doorbell_file(context.cmd_fd);

	if (fd < 0)
		return errno;
	bell.use_file(file_descriptor(fd));
	return 0;
}

int open_page(const ibv_context &context,
	      const ornic_alloc_ucontext_resp &answer, doorbell &bell) noexcept
{
	auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

	if (answer.kick_offset > size - sizeof(std::uint32_t) ||
	    answer.kick_offset % sizeof(std::uint32_t))
		return EPROTO;
	mapping page(context.cmd_fd, answer.kick_mmap, size, PROT_WRITE);
	if (!page)
		return errno;
	bell.use_page(std::move(page), answer.kick_offset, answer.kick_value);
	return 0;
}

} // namespace

int open_doorbell(const ibv_context &context,
		  const ornic_alloc_ucontext_resp &answer,
		  doorbell &bell) noexcept
{
	switch (answer.kick_mode) {
	case ORNIC_KICK_FD:
		return open_file(context, bell);
	case ORNIC_KICK_PAGE:
		return open_page(context, answer, bell);
	default:
		return EPROTO;
	}
}

} // namespace ornic
