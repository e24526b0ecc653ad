/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kicking a send queue: a write() to the doorbell file, or a store to a page. */
#ifndef ORNIC_DOORBELL_H
#define ORNIC_DOORBELL_H

#include <cstdint>
#include <infiniband/verbs.h>
#include <rdma/ornic-abi.h>

#include "resource.h"

namespace ornic
{

class doorbell {
public:
	/** Kicks by write() of the QPN to @fd. */
	void use_file(file_descriptor fd) noexcept
	{
		fd_ = std::move(fd);
	}

	/** Kicks by a store of @value at byte @offset of @page. */
	void use_page(mapping page, std::uint32_t offset,
		      std::uint32_t value) noexcept;

	/**
	 * Tell the device that a queue of @qpn has news.
	 * Return: 0, or EIO: the QP is gone with its device. A page does not tell.
	 */
	[[nodiscard]] int ring(std::uint32_t qpn) const noexcept
	{
		if (!register_)
			return ring_file(qpn);
		__atomic_store_n(register_, value_, __ATOMIC_RELEASE);
		return 0;
	}

	/** Whether it is a file: the device is part of this kernel. */
	[[nodiscard]] bool is_file() const noexcept
	{
		return !register_;
	}

private:
	[[nodiscard]] int ring_file(std::uint32_t qpn) const noexcept;

	std::uint32_t *register_ = nullptr;
	std::uint32_t value_ = 0;
	file_descriptor fd_;
	mapping page_;
};

/**
 * Get ready to kick as the kernel said in @answer.
 * Return: 0, or the errno of what went wrong.
 */
[[nodiscard]] int open_doorbell(const ibv_context &context,
				const ornic_alloc_ucontext_resp &answer,
				doorbell &bell) noexcept;

} // namespace ornic

#endif // ORNIC_DOORBELL_H
