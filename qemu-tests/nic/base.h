/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Used by all of ornic-nic: the engine, time, file descriptors. */
#ifndef ORNIC_NIC_BASE_H
#define ORNIC_NIC_BASE_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <time.h>
#include <unistd.h>
#include <utility>

extern "C" {
#include "engine/engine.h"
}
#include <rdma/ornic-hw-pci.h>

namespace nic
{

using bytes = std::span<const u8>;

/** Nanoseconds of a clock, never 0. */
inline u64 now_ns(clockid_t clock = CLOCK_MONOTONIC)
{
	timespec t;

	clock_gettime(clock, &t);
	return static_cast<u64>(t.tv_sec) * 1000000000u +
	       static_cast<u64>(t.tv_nsec);
}

/** Compute CRCs by what is fastest on this CPU. */
inline const ornic_crc32_choice &select_crc32()
{
	return *ornic_crc32_select([] { return now_ns(); });
}

constexpr u64 us = 1000;
constexpr u64 ms = 1000 * us;

/** Owns a file descriptor; -1: none. */
class unique_fd {
public:
	unique_fd() = default;
	explicit unique_fd(int fd)
		: fd_(fd)
	{
	}
	unique_fd(unique_fd &&other) noexcept
		: fd_(std::exchange(other.fd_, -1))
	{
	}
	unique_fd &operator=(unique_fd &&other) noexcept
	{
		reset(std::exchange(other.fd_, -1));
		return *this;
	}
	~unique_fd()
	{
		reset();
	}

	int get() const
	{
		return fd_;
	}
	explicit operator bool() const
	{
		return fd_ >= 0;
	}
	void reset(int fd = -1)
	{
		if (fd_ >= 0)
			close(fd_);
		fd_ = fd;
	}

private:
	int fd_ = -1;
};

/** Read an eventfd that a QEMU has as well, and may have made blocking: without waiting.
 *  False: nothing was there. */
bool take_event(int fd);
/** Increment one, unless that would wait. False: its counter is full; EINTR: a signal
 *  has ended the wait, as QEMU filled it just now. */
bool send_event(int fd);

/** Print one line to standard error, prefixed with the program name. */
[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...);

/** warn(), then exit with status 1. */
[[noreturn, gnu::format(printf, 1, 2)]] void die(const char *format, ...);

/** "02:00:00:00:00:01" */
std::string mac_text(const u8 *mac);

} // namespace nic

#endif // ORNIC_NIC_BASE_H
