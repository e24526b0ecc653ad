// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The commands behind ibv_import_device and ibv_import_pd.

#include "import.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

namespace ornic
{
namespace
{

/** A command of @Count attributes, as the kernel reads it. */
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
		return ioctl(cmd_fd, RDMA_VERBS_IOCTL, bytes.data()) ? errno :
								       0;
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

} // namespace

int query_context(int cmd_fd, context_info &info) noexcept
{
	ioctl_command<3> cmd(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);

	cmd.out(0, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
		info.num_comp_vectors);
	cmd.out(1, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, info.core_support);
	cmd.out(2, ORNIC_ATTR_QUERY_CONTEXT_RESP, info.answer);
	return cmd.run(cmd_fd);
}

int query_pd(int cmd_fd, std::uint32_t handle) noexcept
{
	ioctl_command<2> cmd(UVERBS_OBJECT_PD, ORNIC_METHOD_PD_QUERY);
	ornic_alloc_pd_resp answer{};

	cmd.object(0, ORNIC_ATTR_PD_QUERY_HANDLE, handle);
	cmd.out(1, ORNIC_ATTR_PD_QUERY_RESP, answer);
	return cmd.run(cmd_fd);
}

} // namespace ornic
