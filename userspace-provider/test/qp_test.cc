// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// QPs and their CQs from creation to destruction, with a kernel that does what
// the interface allows and no kernel has done yet.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "fake_kernel.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

using qpns = std::vector<std::uint32_t>;

TEST(qp, leaves_no_completion_behind)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *gone = kernel.make_qp(cq);
	ibv_qp *stays = kernel.make_qp(cq);

	kernel.complete(cq, gone->qp_num, 0);
	kernel.complete(cq, stays->qp_num, 0);
	kernel.complete(cq, gone->qp_num, 1);
	EXPECT_EQ(destroy_qp(gone), 0);
	EXPECT_EQ(kernel.find(0x100), nullptr);
	EXPECT_EQ(kernel.poll(cq), (qpns{ 0x101 }));
	EXPECT_EQ(destroy_qp(stays), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* The number is given out again before destroy_qp() is back in the provider. */
TEST(qp, number_may_be_reused_at_once)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *old = kernel.make_qp(cq);
	ibv_qp *reused = nullptr;

	ASSERT_EQ(kernel.post(old), 0);
	kernel.complete(cq, old->qp_num, 0);
	kernel.on_destroy = [&] {
		kernel.next_qpn = old->qp_num;
		reused = kernel.make_qp(cq);
		for (std::uint32_t i = 0; i < 1U << kernel.log_depth; ++i)
			ASSERT_EQ(kernel.post(reused), 0);
		ASSERT_EQ(kernel.post(reused), ENOMEM);
		kernel.complete(cq, reused->qp_num, 0);
	};
	EXPECT_EQ(destroy_qp(old), 0);
	ASSERT_NE(reused, nullptr);
	EXPECT_EQ(kernel.find(0x100), &to_qp(reused));
	// Its completion is still there, that of the old one is not, and it
	// frees a place.
	EXPECT_EQ(kernel.poll(cq), (qpns{ 0x100 }));
	EXPECT_EQ(kernel.post(reused), 0);
	EXPECT_EQ(destroy_qp(reused), 0);
	EXPECT_EQ(kernel.find(0x100), nullptr);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(qp, numbers_are_reused_by_many_threads)
{
	fake_kernel kernel;
	std::vector<std::thread> threads;
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *old = kernel.make_qp(cq);
	std::atomic<ibv_qp *> reused{ nullptr };

	for (int round = 0; round < 20; ++round) {
		kernel.on_destroy = [&] {
			kernel.next_qpn = 0x100;
			threads.emplace_back(
				[&] { reused = kernel.make_qp(cq); });
		};
		EXPECT_EQ(destroy_qp(old), 0);
		threads.back().join();
		threads.clear();
		old = reused;
		ASSERT_EQ(kernel.find(0x100), &to_qp(old));
	}
	EXPECT_EQ(destroy_qp(old), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* The lock of its own CQ keeps a QP alive, not that of any CQ. */
TEST(qp, completion_on_a_foreign_cq_retires_nothing)
{
	fake_kernel kernel;
	ibv_cq *own = kernel.make_cq(), *other = kernel.make_cq();
	ibv_qp *qp = kernel.make_qp(own);

	for (std::uint32_t i = 0; i < 1U << kernel.log_depth; ++i)
		ASSERT_EQ(kernel.post(qp), 0);
	kernel.complete(other, qp->qp_num, 0);
	kernel.complete(other, 0xffffffff, 0xffffffff);
	EXPECT_EQ(kernel.poll(other), (qpns{ 0x100, 0xffffffff }));
	EXPECT_EQ(kernel.post(qp), ENOMEM);
	kernel.complete(own, qp->qp_num, 0);
	EXPECT_EQ(kernel.poll(own), (qpns{ 0x100 }));
	EXPECT_EQ(kernel.post(qp), 0);
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(destroy_cq(own), 0);
	EXPECT_EQ(destroy_cq(other), 0);
}

/* Without address and peer; what a device may not have, the kernel refuses. */
TEST(qp, raw_packets)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *qp =
		kernel.make_qp(cq, IBV_QPT_RAW_PACKET, IBV_QP_EX_WITH_SEND);

	ASSERT_NE(qp, nullptr);
	EXPECT_EQ(kernel.post(qp), 0);
	kernel.complete(cq, qp->qp_num, 0);
	EXPECT_EQ(kernel.poll(cq), (qpns{ 0x100 }));
	EXPECT_EQ(destroy_qp(qp), 0);
	errno = 0;
	EXPECT_EQ(kernel.make_qp(cq, IBV_QPT_RAW_PACKET,
				 IBV_QP_EX_WITH_SEND_WITH_IMM),
		  nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* An index from nowhere may stop the queue, but no more than that. */
TEST(qp, completion_with_a_wild_index_stays_in_the_ring)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *qp = kernel.make_qp(cq);

	for (std::uint32_t index :
	     { 0U, 0x7fffffffU, 0xfffffffeU, 0xffffffffU }) {
		kernel.complete(cq, qp->qp_num, index);
		EXPECT_EQ(kernel.poll(cq).size(), 1U);
		for (int i = 0; i < 1000; ++i)
			static_cast<void>(kernel.post(qp));
	}
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(qp, memory_that_cannot_hold_its_queues_is_refused)
{
	using answer = ornic_create_qp_resp;
	const std::function<void(answer &)> twists[] = {
		[](answer &a) { a.mmap_size = 4095; },
		[](answer &a) { a.sq_log_stride = 5; },
		[](answer &a) { a.sq_log_stride = 11; },
		[](answer &a) { a.rq_log_stride = 4; },
		[](answer &a) { a.sq_log_depth = 255; },
		[](answer &a) { a.rq_log_depth = 6; },
		[](answer &a) { a.sq_offset = 0; },
		[](answer &a) { a.sq_offset += 1; },
		[](answer &a) { a.rq_offset = 0xffffffff; },
	};
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	int refused = 0;

	for (const auto &twist : twists) {
		kernel.twist = twist;
		errno = 0;
		EXPECT_EQ(kernel.make_qp(cq), nullptr);
		EXPECT_EQ(errno, EPROTO) << refused;
		EXPECT_EQ(kernel.destroyed, ++refused);
	}
	EXPECT_EQ(destroy_cq(cq), 0);
}

} // namespace
} // namespace ornic::test
