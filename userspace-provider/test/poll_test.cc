// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A program that polls in vain gives its CPU to the device, if that is software.

#include <gtest/gtest.h>

#include <atomic>
#include <sched.h>

#include "cq.h"
#include "fake_kernel.h"
#include "verbs.h"

static std::atomic<int> yields;

// In the place of the C library's.
int sched_yield() noexcept
{
	++yields;
	return 0;
}

namespace ornic::test
{
namespace
{

constexpr int limit = 4096;

int yields_after(ibv_cq *cq, int polls)
{
	int before = yields;
	ibv_wc wc;

	for (int i = 0; i < polls; ++i)
		EXPECT_EQ(poll_cq(cq, 1, &wc), 0);
	return yields - before;
}

TEST(poll, yields_when_nothing_comes)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();

	EXPECT_EQ(yields_after(cq, limit - 1), 0);
	EXPECT_EQ(yields_after(cq, 1), 1);
	EXPECT_EQ(yields_after(cq, 3 * limit), 3);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(poll, a_completion_restarts_the_count)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *qp = kernel.make_qp(cq);

	EXPECT_EQ(yields_after(cq, limit - 1), 0);
	kernel.complete(cq, qp->qp_num, 0);
	EXPECT_EQ(kernel.poll(cq).size(), 1U);
	EXPECT_EQ(yields_after(cq, limit - 1), 0);
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* IBTA A17.4.5.1, and what other devices have for RoCE v1. */
TEST(poll, sl_of_a_datagram_is_its_l3_type)
{
	ornic_cqe cqe{};

	cqe.sl = 5;
	EXPECT_EQ(wc_sl(cqe), 5);
	cqe.flags = ORNIC_CQE_GRH;
	EXPECT_EQ(wc_sl(cqe), 1);
	cqe.flags = ORNIC_CQE_GRH | ORNIC_CQE_IPV4;
	EXPECT_EQ(wc_sl(cqe), 2);
	cqe.flags = ORNIC_CQE_GRH | ORNIC_CQE_ROCE_V1;
	EXPECT_EQ(wc_sl(cqe), 0);
}

TEST(poll, never_yields_to_hardware)
{
	poll_backoff hardware{};

	hardware.init(false);
	for (int i = 0; i < 3 * limit; ++i)
		ASSERT_FALSE(hardware.must_yield(false));
}

} // namespace
} // namespace ornic::test
