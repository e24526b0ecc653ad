// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Flow rules: what the kernel's command returns is what a program gets.

#include <gtest/gtest.h>

#include <cerrno>

#include "verbs.h"

namespace
{

struct answers {
	int error;
	unsigned int created, destroyed;
	std::uint32_t handle;
};

answers kernel;

} // namespace

extern "C" {

int ibv_cmd_create_flow(ibv_qp *qp, ibv_flow *flow, ibv_flow_attr *attr,
			void *ucmd, size_t ucmd_size)
{
	if (ucmd || ucmd_size || !attr)
		return EFAULT;
	if (kernel.error)
		return kernel.error;
	++kernel.created;
	flow->context = qp->context;
	flow->handle = 77;
	return 0;
}

int ibv_cmd_destroy_flow(ibv_flow *flow)
{
	if (kernel.error)
		return kernel.error;
	++kernel.destroyed;
	kernel.handle = flow->handle;
	return 0;
}

} // extern "C"

namespace ornic::test
{
namespace
{

TEST(flow, is_made_and_destroyed)
{
	ibv_context context{};
	ibv_flow_attr attr{};
	ibv_qp qp{};

	kernel = {};
	qp.context = &context;
	ibv_flow *flow = create_flow(&qp, &attr);
	ASSERT_NE(flow, nullptr);
	EXPECT_EQ(flow->context, &context);
	EXPECT_EQ(flow->comp_mask, 0U);
	EXPECT_EQ(kernel.created, 1U);
	// One that the kernel keeps is still there.
	kernel.error = EBUSY;
	EXPECT_EQ(destroy_flow(flow), EBUSY);
	EXPECT_EQ(flow->handle, 77U);
	kernel.error = 0;
	EXPECT_EQ(destroy_flow(flow), 0);
	EXPECT_EQ(kernel.handle, 77U);
	EXPECT_EQ(kernel.destroyed, 1U);
}

TEST(flow, refusals_are_those_of_the_kernel)
{
	ibv_flow_attr attr{};
	ibv_qp qp{};

	for (int error : { EPERM, EEXIST, EINVAL, EOPNOTSUPP, ENOSPC }) {
		kernel = {};
		kernel.error = error;
		errno = 0;
		EXPECT_EQ(create_flow(&qp, &attr), nullptr);
		EXPECT_EQ(errno, error);
	}
}

} // namespace
} // namespace ornic::test
