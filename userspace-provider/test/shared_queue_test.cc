// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Shared receive queues: WQEs, refusals, room.

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
struct shared_fixture {
	shared_fixture()
		: memory(4UL * 64)
		, record(reinterpret_cast<ornic_wq_record *>(memory.data()))
	{
		srq.init({ .ring = memory.ring(),
			   .record = record,
			   .log_depth = 2,
			   .log_stride = 6,
			   .max_sge = 2,
			   .present = true });
	}

	int post(std::uint64_t wr_id, int num_sge = 1)
	{
		ibv_sge sges[3] = { { wr_id << 12, 10, 1 }, {}, {} };
		ibv_recv_wr wr = { .wr_id = wr_id,
				   .next = nullptr,
				   .sg_list = sges,
				   .num_sge = num_sge };
		ibv_recv_wr *bad = nullptr;
		int ret = srq.post(&wr, &bad);

		EXPECT_EQ(bad, ret ? &wr : nullptr);
		return ret;
	}

	std::uint64_t wr_id_at(std::uint32_t slot)
	{
		ornic_rq_hdr hdr;

		std::memcpy(&hdr, memory.ring() + slot * std::size_t{ 64 },
			    sizeof(hdr));
		return hdr.wr_id;
	}

	queue_memory memory;
	ornic_wq_record *record;
	shared_queue srq;
};

TEST(shared_queue, receive_is_written_and_published)
{
	shared_fixture fix;

	ASSERT_EQ(fix.post(7, 2), 0);
	EXPECT_EQ(fix.record->producer, 1U);
	EXPECT_EQ(fix.wr_id_at(0), 7U);
}

TEST(shared_queue, what_is_taken_makes_room)
{
	shared_fixture fix;

	for (std::uint64_t i = 0; i < 4; ++i)
		ASSERT_EQ(fix.post(i), 0);
	EXPECT_EQ(fix.post(4), ENOMEM);
	EXPECT_EQ(fix.record->producer, 4U);
	fix.record->taken = 2;
	EXPECT_EQ(fix.post(4), 0);
	EXPECT_EQ(fix.post(5), 0);
	EXPECT_EQ(fix.post(6), ENOMEM);
	EXPECT_EQ(fix.wr_id_at(0), 4U);
	EXPECT_EQ(fix.wr_id_at(1), 5U);
	EXPECT_EQ(fix.wr_id_at(2), 2U);
}

/* The device has put what it has not taken at the start of the new ring. */
TEST(shared_queue, goes_on_in_other_memory)
{
	shared_fixture fix;
	queue_memory larger(std::size_t{ 8 } * 64);
	auto *record = reinterpret_cast<ornic_wq_record *>(larger.data());

	for (std::uint64_t i = 0; i < 4; ++i)
		ASSERT_EQ(fix.post(i), 0);
	record->producer = 3;
	{
		lock_guard guard(fix.srq.lock());

		fix.srq.move({ .ring = larger.ring(),
			       .record = record,
			       .log_depth = 3,
			       .log_stride = 6,
			       .max_sge = 2,
			       .present = true });
	}
	for (std::uint64_t i = 4; i < 9; ++i)
		ASSERT_EQ(fix.post(i), 0);
	EXPECT_EQ(fix.post(9), ENOMEM);
	EXPECT_EQ(record->producer, 8U);
	EXPECT_EQ(fix.record->producer, 4U);
	record->taken = 1;
	EXPECT_EQ(fix.post(9), 0);
}

TEST(shared_queue, refusals)
{
	shared_fixture fix;

	EXPECT_EQ(fix.post(1, 3), EINVAL);
	EXPECT_EQ(fix.post(1, -1), EINVAL);
	EXPECT_EQ(fix.record->producer, 0U);
	EXPECT_EQ(fix.post(1, 0), 0);
}

TEST(shared_queue, list_stops_at_the_bad_one)
{
	shared_fixture fix;
	ibv_sge sges[3] = {};
	ibv_recv_wr evil = {
		.wr_id = 2, .next = nullptr, .sg_list = sges, .num_sge = 3
	};
	ibv_recv_wr good = {
		.wr_id = 1, .next = &evil, .sg_list = sges, .num_sge = 1
	};
	ibv_recv_wr *bad = nullptr;

	EXPECT_EQ(fix.srq.post(&good, &bad), EINVAL);
	EXPECT_EQ(bad, &evil);
	EXPECT_EQ(fix.record->producer, 1U);
}

/* A receive queue that is not there: its QP has an SRQ. */
TEST(receive_queue, absent_queue_refuses)
{
	shared_fixture fix;
	receive_queue rq;
	ibv_recv_wr wr = {
		.wr_id = 1, .next = nullptr, .sg_list = nullptr, .num_sge = 0
	};
	ibv_recv_wr *bad = nullptr;

	rq.init({ .layout = { .ring = fix.memory.ring(),
			      .record = fix.record,
			      .log_depth = 0,
			      .log_stride = 0,
			      .max_sge = 0,
			      .present = false },
		  .qpn = test_qpn,
		  .bell = nullptr });
	EXPECT_EQ(rq.post(&wr, &bad), EINVAL);
	EXPECT_EQ(bad, &wr);
}

} // namespace
} // namespace ornic::test
