/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Methods of uverbs, those of the driver among them: one ioctl each. */
#ifndef ORNIC_IOCTL_H
#define ORNIC_IOCTL_H

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

namespace ornic
{

/** A method with @Count attributes, as the kernel reads it. */
template <std::size_t Count> class ioctl_command {
public:
	ioctl_command(std::uint16_t object, std::uint16_t method) noexcept
	{
		hdr_.length = sizeof(*this);
		hdr_.object_id = object;
		hdr_.method_id = method;
		hdr_.num_attrs = Count;
	}
	/** Where the kernel is to write an attribute. */
	template <typename T>
	void out(std::size_t i, std::uint16_t id, T &value) noexcept
	{
		attrs_[i].attr_id = id;
		attrs_[i].len = sizeof(value);
		attrs_[i].flags = UVERBS_ATTR_F_MANDATORY;
		attrs_[i].data = reinterpret_cast<std::uintptr_t>(&value);
	}
	/** A value of at most 8 bytes, which travels in the attribute itself. */
	template <typename T>
	void in(std::size_t i, std::uint16_t id, const T &value) noexcept
	{
		static_assert(sizeof(value) <= sizeof(attrs_[i].data));
		attrs_[i].attr_id = id;
		attrs_[i].len = sizeof(value);
		attrs_[i].flags = UVERBS_ATTR_F_MANDATORY;
		std::memcpy(&attrs_[i].data, &value, sizeof(value));
	}
	void object(std::size_t i, std::uint16_t id,
		    std::uint32_t handle) noexcept
	{
		attrs_[i].attr_id = id;
		attrs_[i].flags = UVERBS_ATTR_F_MANDATORY;
		attrs_[i].data = handle;
	}
	/** 0, or an errno. */
	[[nodiscard]] int run(int cmd_fd) noexcept
	{
		std::array<unsigned char, sizeof(hdr_) + sizeof(attrs_)> bytes;

		static_assert(sizeof(ioctl_command) == sizeof(bytes));
		std::memcpy(bytes.data(), &hdr_, sizeof(hdr_));
		std::memcpy(bytes.data() + sizeof(hdr_), attrs_.data(),
			    sizeof(attrs_));
		if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, bytes.data()))
			return errno;
		std::memcpy(attrs_.data(), bytes.data() + sizeof(hdr_),
			    sizeof(attrs_));
		return 0;
	}
	/** Of an object that the kernel has made, which was given as 0. */
	[[nodiscard]] std::uint32_t handle(std::size_t i) const noexcept
	{
		return static_cast<std::uint32_t>(attrs_[i].data);
	}

private:
	// Ends in a flexible array that attrs_ stands for.
	struct header {
		__u16 length;
		__u16 object_id;
		__u16 method_id;
		__u16 num_attrs;
		__aligned_u64 reserved1;
		__u32 driver_id;
		__u32 reserved2;
	};
	static_assert(sizeof(header) == sizeof(ib_uverbs_ioctl_hdr));

	header hdr_{};
	std::array<ib_uverbs_attr, Count> attrs_{};
};

/** The errno for a method that the kernel, or an older driver, does not have. */
[[nodiscard]] constexpr int unknown_to_unsupported(int error) noexcept
{
	return error == EPROTONOSUPPORT ? EOPNOTSUPP : error;
}

} // namespace ornic

#endif /* ORNIC_IOCTL_H */
