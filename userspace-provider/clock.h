/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device's clock, which makes the timestamps in CQEs. */
#ifndef ORNIC_CLOCK_H
#define ORNIC_CLOCK_H

#include <cstdint>
#include <infiniband/verbs.h>
#include <rdma/ornic-abi.h>

namespace ornic
{

/** Read it together with the wall clock. 0, or an errno. */
[[nodiscard]] int read_clocks(const ibv_context &ctx,
			      ornic_query_clock &clocks) noexcept;

/**
 * From device time to wall clock time. The two run at the same rate but for
 * drift and steps, so what lies between them is read anew now and then.
 */
class wall_clock {
public:
	/** Be no more than a tenth of a second behind. 0, or an errno. */
	[[nodiscard]] int refresh(const ibv_context &ctx) noexcept;
	[[nodiscard]] std::uint64_t at(std::uint64_t device_ns) const noexcept
	{
		return device_ns + ahead_;
	}

private:
	std::uint64_t ahead_ = 0; // of the device, modulo 2^64
	std::uint64_t read_at_ = 0; // 0: never
};

} // namespace ornic

#endif // ORNIC_CLOCK_H
