// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Flow rules of raw packet QPs. The kernel's command has all that there is to say.

#include "context.h"
#include "resource.h"
#include "verbs.h"

namespace ornic
{

ibv_flow *create_flow(ibv_qp *qp, ibv_flow_attr *attr) noexcept
{
	auto flow = make_object<ibv_flow>();

	if (!flow)
		return nullptr;
	if (int ret = ibv_cmd_create_flow(qp, flow.get(), attr, nullptr, 0))
		return fail(ret);
	return flow.release();
}

int destroy_flow(ibv_flow *flow) noexcept
{
	if (int ret = ibv_cmd_destroy_flow(flow))
		return ret;
	object_deleter()(flow);
	return 0;
}

} // namespace ornic
