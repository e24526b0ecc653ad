// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The commands behind ibv_import_device, ibv_import_pd, ibv_import_dm and
// ibv_dm_export_dmabuf_fd.

#include "import.h"

#include <rdma/ib_user_ioctl_cmds.h>

#include "ioctl.h"

namespace ornic
{

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

int query_dm(int cmd_fd, std::uint32_t handle,
	     ornic_query_dm_resp &answer) noexcept
{
	ioctl_command<2> cmd(UVERBS_OBJECT_DM, ORNIC_METHOD_DM_QUERY);

	cmd.object(0, ORNIC_ATTR_DM_QUERY_HANDLE, handle);
	cmd.out(1, ORNIC_ATTR_DM_QUERY_RESP, answer);
	return cmd.run(cmd_fd);
}

int export_dm(int cmd_fd, std::uint32_t handle, int &fd) noexcept
{
	ioctl_command<2> cmd(UVERBS_OBJECT_DM, ORNIC_METHOD_DM_EXPORT);

	cmd.object(0, ORNIC_ATTR_DM_EXPORT_HANDLE, handle);
	cmd.out(1, ORNIC_ATTR_DM_EXPORT_FD, fd);
	return unknown_to_unsupported(cmd.run(cmd_fd));
}

} // namespace ornic
