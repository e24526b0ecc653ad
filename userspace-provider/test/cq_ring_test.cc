// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Completion queues: phases, order, arming, and the removal of a QP.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "fixture.h"

namespace ornic::test
{
namespace
{

/* A CQ of 8 and the device that fills it. */
struct cq_fixture {
	static constexpr std::uint32_t depth = 8;

	cq_fixture()
		: memory(depth * sizeof(ornic_cqe))
		, record(reinterpret_cast<ornic_cq_record *>(memory.data()))
	{
		ring.init(memory.data(), 3);
	}

	/* False if the ring is full: the device does not overwrite. */
	bool push(std::uint64_t wr_id, std::uint32_t qpn = 1)
	{
		if (produced - load_acquire(record->consumer) >= depth)
			return false;
		ornic_cqe *cqe = reinterpret_cast<ornic_cqe *>(memory.ring()) +
				 produced % depth;
		__u32 flags = produced / depth % 2 ? 0 : ORNIC_CQE_PHASE;

		cqe->wr_id = wr_id;
		cqe->qpn = qpn;
		store_release(*reinterpret_cast<__le32 *>(&cqe->opcode),
			      flags << 24);
		++produced;
		return true;
	}

	/* The wr_ids of all there is, consumed and published. */
	std::vector<std::uint64_t> drain()
	{
		std::vector<std::uint64_t> ids;

		while (const ornic_cqe *cqe = ring.next()) {
			ids.push_back(cqe->wr_id);
			ring.consume();
		}
		ring.publish();
		return ids;
	}

	/* The device answers what is armed. */
	void fire()
	{
		record->fired = record->arm;
	}
	unsigned int mode() const
	{
		return record->arm & ORNIC_ARM_MODE_MASK;
	}

	queue_memory memory;
	ornic_cq_record *record;
	std::uint32_t produced = 0;
	cq_ring ring;
};

using ids = std::vector<std::uint64_t>;

TEST(cq_ring, empty_at_first)
{
	cq_fixture fix;

	EXPECT_EQ(fix.ring.next(), nullptr);
}

TEST(cq_ring, phase_toggles_with_each_pass)
{
	cq_fixture fix;
	std::uint64_t next = 0;

	for (int round = 0; round < 100; ++round) {
		ids expected;

		for (int i = 0; i < round % 9; ++i) {
			ASSERT_TRUE(fix.push(next));
			expected.push_back(next++);
		}
		ASSERT_EQ(fix.drain(), expected) << round;
		ASSERT_EQ(fix.ring.next(), nullptr);
		ASSERT_EQ(fix.record->consumer, next);
	}
}

TEST(cq_ring, full_ring_ends_after_one_pass)
{
	cq_fixture fix;

	for (std::uint64_t i = 0; i < cq_fixture::depth; ++i)
		ASSERT_TRUE(fix.push(i));
	EXPECT_FALSE(fix.push(8));
	EXPECT_EQ(fix.drain(), (ids{ 0, 1, 2, 3, 4, 5, 6, 7 }));
	EXPECT_TRUE(fix.push(8));
	EXPECT_EQ(fix.drain(), ids{ 8 });
}

TEST(cq_ring, slots_go_back_only_when_published)
{
	cq_fixture fix;

	ASSERT_TRUE(fix.push(1));
	const ornic_cqe *cqe = fix.ring.next();
	fix.ring.consume();
	EXPECT_EQ(fix.record->consumer, 0U);
	EXPECT_EQ(cqe->wr_id, 1U);
	fix.ring.publish();
	EXPECT_EQ(fix.record->consumer, 1U);
}

TEST(arm, each_is_a_new_sequence)
{
	cq_fixture fix;
	std::uint32_t last = fix.record->fired;

	for (int i = 0; i < 10; ++i) {
		fix.ring.arm(i % 2);
		EXPECT_NE(fix.record->arm, last);
		EXPECT_NE(fix.record->arm, fix.record->fired);
		last = fix.record->arm;
		fix.fire();
	}
}

TEST(arm, solicited_does_not_weaken_an_unanswered_next)
{
	cq_fixture fix;

	fix.ring.arm(true);
	EXPECT_EQ(fix.mode(), unsigned{ ORNIC_ARM_SOLICITED });
	fix.ring.arm(false);
	EXPECT_EQ(fix.mode(), unsigned{ ORNIC_ARM_NEXT });
	fix.ring.arm(true);
	EXPECT_EQ(fix.mode(), unsigned{ ORNIC_ARM_NEXT });
	fix.fire();
	fix.ring.arm(true);
	EXPECT_EQ(fix.mode(), unsigned{ ORNIC_ARM_SOLICITED });
}

/*
 * The event of an arming may reach the application before the device writes
 * `fired`. Arming again must then hold, whatever `fired` still says.
 */
TEST(arm, holds_when_fired_comes_late)
{
	cq_fixture fix;

	fix.ring.arm(false);
	std::uint32_t answered = fix.record->arm;
	fix.ring.arm(false);
	fix.record->fired = answered;
	EXPECT_NE(fix.record->arm, fix.record->fired);
}

struct remove_row {
	const char *name;
	std::vector<std::uint32_t> qpns; // wr_id is the position
	ids left;
};

class remove_qp
	: public testing::TestWithParam<std::tuple<remove_row, unsigned int>> {
};

INSTANTIATE_TEST_SUITE_P(
	cases, remove_qp,
	testing::Combine(
		testing::Values(
			remove_row{ "nothing_there", {}, {} },
			remove_row{ "none_of_it", { 2, 3, 2 }, { 0, 1, 2 } },
			remove_row{ "all", { 1, 1, 1 }, {} },
			remove_row{ "first", { 1, 2, 3 }, { 1, 2 } },
			remove_row{ "last", { 2, 3, 1 }, { 0, 1 } },
			remove_row{ "mixed",
				    { 1, 2, 1, 1, 3, 1, 2 },
				    { 1, 4, 6 } },
			remove_row{ "full_ring",
				    { 2, 1, 2, 1, 2, 1, 2, 1 },
				    { 0, 2, 4, 6 } }),
		testing::Range(0U, 18U)),
	[](const auto &row) {
		return std::string(std::get<0>(row.param).name) + "_at_" +
		       std::to_string(std::get<1>(row.param));
	});

/* Wherever the ring stands when the QP goes. */
TEST_P(remove_qp, keeps_the_others_in_order)
{
	const auto &[row, start] = GetParam();
	cq_fixture fix;

	for (unsigned int i = 0; i < start; ++i) {
		ASSERT_TRUE(fix.push(100));
		ASSERT_EQ(fix.drain(), ids{ 100 });
	}
	for (std::uint64_t i = 0; i < row.qpns.size(); ++i)
		ASSERT_TRUE(fix.push(i, row.qpns[i]));
	fix.ring.remove(1);
	EXPECT_EQ(fix.record->consumer,
		  start + row.qpns.size() - row.left.size());
	EXPECT_EQ(fix.drain(), row.left);

	// The device goes on where it was.
	for (std::uint64_t i = 0; i < cq_fixture::depth; ++i)
		ASSERT_TRUE(fix.push(200 + i));
	EXPECT_EQ(fix.drain(), (ids{ 200, 201, 202, 203, 204, 205, 206, 207 }));
}

/* A device in another thread: nothing is seen before it is complete. */
TEST(cq_ring, concurrent_device)
{
	constexpr std::uint64_t count = 50000;
	cq_fixture fix;
	std::thread device([&] {
		for (std::uint64_t i = 0; i < count;) {
			if (fix.push(i))
				++i;
			else
				std::this_thread::yield();
		}
	});

	for (std::uint64_t i = 0; i < count;) {
		const ornic_cqe *cqe = fix.ring.next();

		if (!cqe) {
			std::this_thread::yield();
			continue;
		}
		ASSERT_EQ(cqe->wr_id, i);
		fix.ring.consume();
		fix.ring.publish();
		++i;
	}
	device.join();
}

} // namespace
} // namespace ornic::test
