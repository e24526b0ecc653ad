/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An open device. */
#ifndef ORNIC_CONTEXT_H
#define ORNIC_CONTEXT_H

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>

#include "doorbell.h"
#include "library.h"
#include "pabi.h"
#include "qp_table.h"

namespace ornic
{

/** What is ours in a context. */
struct context_state {
	doorbell bell;
	qp_table qps;
	std::uint64_t placement = 0; // placement_ops() of the device
	std::uint32_t ece_offer = 0; // enum ornic_ece; 0: the kernel has none
	std::uint32_t null_lkey = 0; // 0: there is none
	// Of raw packet QPs, kbit/s; 0: the kernel has none
	std::uint32_t rate_limit_min = 0;
	std::uint32_t rate_limit_max = 0;
	std::uint32_t tag_sge = 0; // SGEs of a tagged receive; 0: it has none
};

/*
 * The end of a verbs_context, of which releases have more or less before this
 * one, and what is ours after it.
 */
struct context {
	ibv_context base;
	context_state state;
};

[[nodiscard]] inline context *to_context(ibv_context *ctx) noexcept
{
	return reinterpret_cast<context *>(ctx);
}

[[nodiscard]] inline context *to_context(verbs_context *ctx) noexcept
{
	return reinterpret_cast<context *>(reinterpret_cast<char *>(ctx) +
					   library->context);
}

[[nodiscard]] inline verbs_context *to_verbs_context(ibv_context *ctx) noexcept
{
	return reinterpret_cast<verbs_context *>(reinterpret_cast<char *>(ctx) -
						 library->context);
}

/** Say what went wrong, if VERBS_LOG_LEVEL asks for it (rdma-core 37 on). */
template <typename... Values>
void log_error(ibv_context *ctx, const char *format, Values... values) noexcept
{
	int saved = errno;

	if (__verbs_log)
		__verbs_log(to_verbs_context(ctx), PABI_LOG_ERR, format,
			    ctx->device->name, values...);
	errno = saved;
}

/** Fail a verb that returns a pointer. */
[[nodiscard]] inline std::nullptr_t fail(int error) noexcept
{
	errno = error;
	return nullptr;
}

/** pabi_device_ops::alloc_context */
verbs_context *alloc_context(ibv_device *device, int cmd_fd,
			     void *private_data) noexcept;

/** pabi_device_ops::import_context */
verbs_context *import_context(ibv_device *device, int cmd_fd) noexcept;

} // namespace ornic

#endif // ORNIC_CONTEXT_H
