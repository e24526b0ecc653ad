// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Receive queues: WQEs, refusals, room.

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fixture.h"

namespace ornic::test
{
namespace
{

/* 4 WQEs of 64 bytes, 2 SGEs. */
struct receive_fixture {
	receive_fixture()
		: memory(4UL * 64)
		, record(reinterpret_cast<ornic_wq_record *>(memory.data() +
							     ORNIC_RQ_RECORD))
	{
		rq.init({
			.layout = { .ring = memory.ring(),
				    .record = record,
				    .log_depth = 2,
				    .log_stride = 6,
				    .max_sge = 2,
				    .present = true },
			.qpn = test_qpn,
			.bell = &kicks.bell,
		});
	}

	template <typename T> T at(std::size_t offset)
	{
		T value;

		std::memcpy(&value, memory.ring() + offset, sizeof(value));
		return value;
	}

	queue_memory memory;
	ornic_wq_record *record;
	kick_counter kicks;
	receive_queue rq;
};

TEST(receive_queue, list_is_written_and_published)
{
	receive_fixture fix;
	ibv_sge sges[] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	ibv_recv_wr second = {
		.wr_id = 6, .next = nullptr, .sg_list = nullptr, .num_sge = 0
	};
	ibv_recv_wr first = {
		.wr_id = 5, .next = &second, .sg_list = sges, .num_sge = 2
	};
	ibv_recv_wr *bad = nullptr;

	ASSERT_EQ(fix.rq.post(&first, &bad), 0);
	EXPECT_EQ(fix.record->producer, 2U);
	EXPECT_EQ(fix.at<ornic_rq_hdr>(0).wr_id, 5U);
	EXPECT_EQ(fix.at<ornic_rq_hdr>(0).num_sge, 2);
	EXPECT_EQ(fix.at<ornic_sge>(16).addr, 0x1000U);
	EXPECT_EQ(fix.at<ornic_sge>(32).addr, 0x2000U);
	EXPECT_EQ(fix.at<ornic_sge>(32).length, 20U);
	EXPECT_EQ(fix.at<ornic_sge>(32).lkey, 2U);
	EXPECT_EQ(fix.at<ornic_rq_hdr>(64).wr_id, 6U);
	EXPECT_EQ(fix.at<ornic_rq_hdr>(64).num_sge, 0);
}

TEST(receive_queue, refusals)
{
	receive_fixture fix;
	ibv_sge sges[3] = {};
	ibv_recv_wr evil = {
		.wr_id = 2, .next = nullptr, .sg_list = sges, .num_sge = 3
	};
	ibv_recv_wr good = {
		.wr_id = 1, .next = &evil, .sg_list = sges, .num_sge = 1
	};
	ibv_recv_wr *bad = nullptr;

	EXPECT_EQ(fix.rq.post(&good, &bad), EINVAL);
	EXPECT_EQ(bad, &evil);
	EXPECT_EQ(fix.record->producer, 1U);
	evil.num_sge = -1;
	EXPECT_EQ(fix.rq.post(&evil, &bad), EINVAL);

	good.next = nullptr;
	for (int i = 0; i < 3; ++i)
		ASSERT_EQ(fix.rq.post(&good, &bad), 0);
	EXPECT_EQ(fix.rq.post(&good, &bad), ENOMEM);
	EXPECT_EQ(bad, &good);
	fix.rq.retire(0);
	EXPECT_EQ(fix.rq.post(&good, &bad), 0);
	EXPECT_EQ(fix.record->producer, 5U);
}

/* IBTA 10.3.1: the flush of a QP in error stops looking when it is done. */
TEST(receive_queue, kicks_only_a_flush_that_asks)
{
	receive_fixture fix;
	ibv_recv_wr wr = {};
	ibv_recv_wr *bad = nullptr;

	ASSERT_EQ(fix.rq.post(&wr, &bad), 0);
	EXPECT_TRUE(fix.kicks.take().empty());
	fix.record->kick_wanted = 1;
	ASSERT_EQ(fix.rq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.kicks.take(), std::vector<std::uint32_t>{ test_qpn });
}

TEST(receive_queue, posts_to_a_device_that_is_gone_fail)
{
	receive_fixture fix;
	ibv_recv_wr second = {};
	ibv_recv_wr first = {};
	ibv_recv_wr *bad = nullptr;

	first.next = &second;
	fix.kicks.break_off();
	fix.record->kick_wanted = 1;
	EXPECT_EQ(fix.rq.post(&first, &bad), EIO);
	EXPECT_EQ(bad, &first);
}

TEST(receive_queue, reset_starts_over)
{
	receive_fixture fix;
	ibv_recv_wr wr = {};
	ibv_recv_wr *bad = nullptr;

	for (int i = 0; i < 4; ++i)
		ASSERT_EQ(fix.rq.post(&wr, &bad), 0);
	fix.rq.reset();
	EXPECT_EQ(fix.record->producer, 0U);
	EXPECT_EQ(fix.rq.post(&wr, &bad), 0);
}

} // namespace
} // namespace ornic::test
