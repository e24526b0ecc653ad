/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Extended commands by write(): the core's part, then the driver's. */
#pragma once

#include <rdma/ib_user_verbs.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

struct call;
struct world;

class extended_command {
public:
	explicit extended_command(int number)
		: number_(static_cast<uint32_t>(number))
	{
	}

	/* More of the core's part. What does not fit is left out. */
	void add(std::span<const std::byte> bytes);
	template <typename T>
	requires(!std::convertible_to<T, std::span<const std::byte>>) void add(
		const T &part)
	{
		add(std::as_bytes(std::span(&part, 1)));
	}
	/* The driver's part, after all of the core's. */
	template <typename T> void add_driver(const T &part)
	{
		core_size_ = used_;
		add(part);
	}
	/* Without the noise of the call. */
	void keep()
	{
		keep_ = true;
	}

	/* True if the kernel has taken it. @driver: what follows the answer. */
	template <typename Answer> bool run(world &w, const call &c, Answer &to)
	{
		return run(w, c, std::as_writable_bytes(std::span(&to, 1)), 0);
	}
	bool run(world &w, const call &c, std::span<std::byte> answer,
		 std::size_t driver);

private:
	static constexpr std::size_t heads =
		sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_ex_cmd_hdr);

	uint32_t number_;
	alignas(8) std::array<std::byte, heads + 512> bytes_{};
	std::size_t used_ = 0; /* after the heads */
	std::size_t core_size_ = 0; /* 0: all of it is the core's */
	bool keep_ = false;
};
