/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a process asks of a context for the sake of another process or device. */
#ifndef ORNIC_IMPORT_H
#define ORNIC_IMPORT_H

#include <cstdint>
#include <rdma/ornic-abi.h>

namespace ornic
{

struct context_info {
	ornic_alloc_ucontext_resp answer;
	std::uint32_t num_comp_vectors;
	std::uint64_t core_support;
};

/**
 * What the kernel said when the context of @cmd_fd was opened.
 * Return: 0, or an errno: EIO when it has lost its device.
 */
[[nodiscard]] int query_context(int cmd_fd, context_info &info) noexcept;

/** Where a DM is mapped, and how long it is. Return: 0, or an errno: ENOENT. */
[[nodiscard]] int query_dm(int cmd_fd, std::uint32_t handle,
			   ornic_query_dm_resp &answer) noexcept;

/**
 * A dma-buf of a DM, for close(). Return: 0, or an errno: ENOENT, EMFILE, EOPNOTSUPP from
 * a kernel without dma-bufs.
 */
[[nodiscard]] int export_dm(int cmd_fd, std::uint32_t handle, int &fd) noexcept;

/** Is there a PD of this @handle? Return: 0, or an errno: ENOENT. */
[[nodiscard]] int query_pd(int cmd_fd, std::uint32_t handle) noexcept;

} // namespace ornic

#endif // ORNIC_IMPORT_H
