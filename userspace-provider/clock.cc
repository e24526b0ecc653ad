// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The device's clock: ibv_query_rt_values_ex, and timestamps as wall time.

#include "clock.h"

#include <ctime>
#include <rdma/ib_user_ioctl_cmds.h>

#include "ioctl.h"
#include "verbs.h"

namespace ornic
{
namespace
{

constexpr std::uint64_t max_age_ns = 100'000'000;

/* Cheap, and exact to a tick, which is enough to tell how old a value is. */
std::uint64_t coarse_now() noexcept
{
	timespec now{};

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
	       static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

int read_clocks(const ibv_context &ctx, ornic_query_clock &clocks) noexcept
{
	ioctl_command<1> cmd(UVERBS_OBJECT_DEVICE, ORNIC_METHOD_QUERY_CLOCK);

	cmd.out(0, ORNIC_ATTR_QUERY_CLOCK_VALUES, clocks);
	return cmd.run(ctx.cmd_fd);
}

int wall_clock::refresh(const ibv_context &ctx) noexcept
{
	std::uint64_t now = coarse_now();
	ornic_query_clock clocks{};

	if (read_at_ && now - read_at_ < max_age_ns)
		return 0;
	if (int ret = read_clocks(ctx, clocks))
		return ret;
	ahead_ = clocks.realtime_ns - clocks.device_ns;
	read_at_ = now;
	return 0;
}

/** As other providers do, the clock as it is in a CQE, all of it in tv_nsec. */
int query_rt_values(ibv_context *ctx, ibv_values_ex *values) noexcept
{
	ornic_query_clock clocks{};

	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		if (int ret = read_clocks(*ctx, clocks))
			return ret;
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec = static_cast<long>(clocks.device_ns);
	}
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

} // namespace ornic
