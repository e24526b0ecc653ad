/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Commands to the kernel, as libibverbs wants them: header, the core's
 * structure, the driver's structure. The core's structures end in a flexible
 * array, so they cannot be members; the commands are byte buffers.
 */
#ifndef ORNIC_COMMAND_H
#define ORNIC_COMMAND_H

#include <array>
#include <cstddef>
#include <cstring>
#include <rdma/ib_user_verbs.h>
#include <type_traits>

namespace ornic
{

/** No driver data. */
using no_data = void;

template <typename T> [[nodiscard]] consteval std::size_t data_size() noexcept
{
	if constexpr (std::is_void_v<T>)
		return 0;
	else
		return sizeof(T);
}

/** A request: libibverbs fills header and core part, the rest stays zero. */
template <typename Core, typename Driver = no_data,
	  std::size_t Header = sizeof(ib_uverbs_cmd_hdr)>
class request {
public:
	[[nodiscard]] void *data() noexcept
	{
		return bytes_.data();
	}
	[[nodiscard]] static constexpr std::size_t size() noexcept
	{
		return Header + sizeof(Core) + data_size<Driver>();
	}
	/** What the driver is told. */
	void set_driver(const auto &part) noexcept requires
		std::is_same_v<std::decay_t<decltype(part)>, Driver>
	{
		std::memcpy(bytes_.data() + size() - sizeof(part), &part,
			    sizeof(part));
	}

private:
	alignas(8) std::array<std::byte, size()> bytes_{};
};

/** A request of an extended command. */
template <typename Core, typename Driver = no_data>
using ex_request =
	request<Core, Driver,
		sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_ex_cmd_hdr)>;

/** A response: the core's part, then the driver's. */
template <typename Core, typename Driver = no_data> class response {
public:
	[[nodiscard]] void *data() noexcept
	{
		return bytes_.data();
	}
	[[nodiscard]] static consteval std::size_t size() noexcept
	{
		return sizeof(Core) + data_size<Driver>();
	}
	/** What the driver answered. */
	[[nodiscard]] auto driver() const noexcept
		requires(!std::is_void_v<Driver>)
	{
		Driver copy;

		std::memcpy(&copy, bytes_.data() + sizeof(Core), sizeof(copy));
		return copy;
	}

private:
	alignas(8) std::array<std::byte, size()> bytes_{};
};

} // namespace ornic

#endif // ORNIC_COMMAND_H
