// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Send queues: the WQEs of each opcode, refusals, room, and the kick protocol.

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "fixture.h"

namespace ornic::test
{
namespace
{

struct opcode_row {
	ibv_wr_opcode opcode;
	std::uint8_t wqe_opcode;
	std::size_t data_offset; // RC, UC
	bool rc, uc, ud;
	bool may_inline;
	bool may_solicit;
};

constexpr opcode_row opcode_rows[] = {
	{ IBV_WR_SEND, ORNIC_WQE_SEND, 16, true, true, true, true, true },
	{ IBV_WR_SEND_WITH_IMM, ORNIC_WQE_SEND_IMM, 16, true, true, true, true,
	  true },
	{ IBV_WR_RDMA_WRITE, ORNIC_WQE_WRITE, 32, true, true, false, true,
	  false },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, ORNIC_WQE_WRITE_IMM, 32, true, true,
	  false, true, true },
	{ IBV_WR_RDMA_READ, ORNIC_WQE_READ, 32, true, false, false, false,
	  false },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, ORNIC_WQE_CAS, 48, true, false, false,
	  false, false },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, ORNIC_WQE_FAA, 48, true, false, false,
	  false, false },
};

class opcodes : public testing::TestWithParam<opcode_row> {};

INSTANTIATE_TEST_SUITE_P(all, opcodes, testing::ValuesIn(opcode_rows),
			 [](const auto &row) {
				 return "opcode" +
					std::to_string(row.param.opcode);
			 });

TEST_P(opcodes, header_and_data_are_in_place)
{
	const opcode_row &row = GetParam();
	send_fixture fix;
	ibv_sge sge{ .addr = 0x1122334455667788, .length = 8, .lkey = 0xabcd };
	ibv_send_wr wr = make_wr(row.opcode, 0xfeedfacecafebeef);
	ibv_send_wr *bad = nullptr;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.imm_data = 0x01020304;
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);

	auto hdr = fix.wqe<ornic_sq_hdr>(0);
	EXPECT_EQ(hdr.opcode, row.wqe_opcode);
	EXPECT_EQ(hdr.flags,
		  ORNIC_WQE_SIGNALED | ORNIC_WQE_FENCE |
			  (row.may_solicit ? ORNIC_WQE_SOLICITED : 0));
	EXPECT_EQ(hdr.payload, 1);
	EXPECT_EQ(hdr.imm, 0x01020304U);
	EXPECT_EQ(hdr.wr_id, 0xfeedfacecafebeef);
	auto data = fix.wqe<ornic_sge>(0, row.data_offset);
	EXPECT_EQ(data.addr, sge.addr);
	EXPECT_EQ(data.length, sge.length);
	EXPECT_EQ(data.lkey, sge.lkey);
	EXPECT_EQ(fix.record->producer, 1U);
}

TEST_P(opcodes, each_qp_type_takes_its_own)
{
	const opcode_row &row = GetParam();
	struct {
		ibv_qp_type type;
		bool taken;
	} types[] = { { IBV_QPT_RC, row.rc },
		      { IBV_QPT_XRC_SEND, row.rc },
		      { IBV_QPT_XRC_RECV, false },
		      { IBV_QPT_UC, row.uc },
		      { IBV_QPT_UD, row.ud } };
	address_handle ah{};

	for (auto [type, taken] : types) {
		send_fixture fix(type);
		ibv_send_wr wr = make_wr(row.opcode);
		ibv_send_wr *bad = nullptr;

		if (type == IBV_QPT_UD)
			wr.wr.ud.ah = &ah.base;
		EXPECT_EQ(fix.sq.post(&wr, &bad), taken ? 0 : EINVAL) << type;
		EXPECT_EQ(bad, taken ? nullptr : &wr);
		EXPECT_EQ(fix.record->producer, taken ? 1U : 0U);
	}
}

TEST_P(opcodes, inline_data_only_where_it_goes_out)
{
	const opcode_row &row = GetParam();
	send_fixture fix;
	std::array<char, 5> first = { 'h', 'e', 'l', 'l', 'o' };
	std::array<char, 3> second = { 'y', 'o', 'u' };
	ibv_sge sges[] = {
		{ reinterpret_cast<std::uintptr_t>(first.data()), 5, 0 },
		{ 0, 0, 0 },
		{ reinterpret_cast<std::uintptr_t>(second.data()), 3, 0 }
	};
	ibv_send_wr wr = make_wr(row.opcode);
	ibv_send_wr *bad = nullptr;

	wr.sg_list = sges;
	wr.num_sge = 3;
	wr.send_flags = IBV_SEND_INLINE;
	ASSERT_EQ(fix.sq.post(&wr, &bad), row.may_inline ? 0 : EINVAL);
	if (!row.may_inline)
		return;
	auto hdr = fix.wqe<ornic_sq_hdr>(0);
	EXPECT_EQ(hdr.flags, ORNIC_WQE_INLINE);
	EXPECT_EQ(hdr.payload, 8);
	auto data = fix.wqe<std::array<char, 8>>(0, row.data_offset);
	EXPECT_EQ(std::string(data.data(), 8), "helloyou");
}

/* A raw packet QP sends frames: nothing stands between the header and them. */
TEST(send_queue, raw_packets)
{
	send_fixture fix(IBV_QPT_RAW_PACKET);
	ibv_send_wr wr = make_wr(IBV_WR_SEND, 7);
	ibv_sge sge = { 0x7000, 60, 6 };
	ibv_send_wr *bad = nullptr;
	std::string frame(60, 'f');

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).opcode, ORNIC_WQE_SEND);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).flags, ORNIC_WQE_SIGNALED);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 16).addr, 0x7000U);
	sge.addr = reinterpret_cast<std::uintptr_t>(frame.data());
	wr.send_flags = IBV_SEND_INLINE;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	auto data = fix.wqe<std::array<char, 60>>(1, 16);
	EXPECT_EQ(std::string(data.data(), 60), frame);
	// The device would have to write to the frame.
	wr.send_flags = IBV_SEND_IP_CSUM;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
	wr.send_flags = 0;
	for (ibv_wr_opcode opcode :
	     { IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	       IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_LOCAL_INV, IBV_WR_BIND_MW,
	       IBV_WR_SEND_WITH_INV, IBV_WR_TSO }) {
		wr.opcode = opcode;
		EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL) << opcode;
	}
	EXPECT_EQ(fix.record->producer, 2U);
}

/* On an XRC initiator the segment of the SRQ precedes all others. */
TEST(send_queue, xrc_segment)
{
	send_fixture fix(IBV_QPT_XRC_SEND);
	ibv_send_wr send = make_wr(IBV_WR_SEND);
	ibv_send_wr write = make_wr(IBV_WR_RDMA_WRITE);
	ibv_send_wr inv = make_wr(IBV_WR_LOCAL_INV);
	ibv_sge sge = { 0x7000, 5, 6 };
	ibv_send_wr *bad = nullptr;

	send.qp_type.xrc.remote_srqn = 0x1234;
	send.sg_list = &sge;
	send.num_sge = 1;
	send.next = &write;
	write.qp_type.xrc.remote_srqn = 0x5678;
	write.wr.rdma = { .remote_addr = 0x3000, .rkey = 0x66 };
	write.next = &inv;
	ASSERT_EQ(fix.sq.post(&send, &bad), 0);

	EXPECT_EQ(fix.wqe<ornic_seg_xrc>(0, 16).srqn, 0x1234U);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 32).addr, 0x7000U);
	EXPECT_EQ(fix.wqe<ornic_seg_xrc>(1, 16).srqn, 0x5678U);
	EXPECT_EQ(fix.wqe<ornic_seg_remote>(1, 32).raddr, 0x3000U);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(2).opcode, ORNIC_WQE_LOCAL_INV);
}

TEST(send_queue, xrc_segment_in_steps)
{
	send_fixture fix(IBV_QPT_XRC_SEND);
	ibv_sge sge = { 0x7000, 5, 6 };

	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	fix.sq.batch_sges({ &sge, 1 });
	fix.sq.batch_srqn(0x4321);
	ASSERT_EQ(fix.sq.batch_complete(), 0);
	EXPECT_EQ(fix.wqe<ornic_seg_xrc>(0, 16).srqn, 0x4321U);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 32).addr, 0x7000U);

	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_LOCAL_INV });
	fix.sq.batch_srqn(1);
	EXPECT_EQ(fix.sq.batch_complete(), EINVAL);
	EXPECT_EQ(fix.record->producer, 1U);

	send_fixture other(IBV_QPT_RC);

	other.sq.batch_start();
	other.sq.batch_begin({ .opcode = IBV_WR_SEND });
	other.sq.batch_srqn(1);
	EXPECT_EQ(other.sq.batch_complete(), EINVAL);
}

TEST(send_queue, remote_and_atomic_segments)
{
	send_fixture fix;
	ibv_send_wr cas = make_wr(IBV_WR_ATOMIC_CMP_AND_SWP);
	ibv_send_wr faa = make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD);
	ibv_send_wr read = make_wr(IBV_WR_RDMA_READ);
	ibv_send_wr *bad = nullptr;

	cas.wr.atomic = {
		.remote_addr = 0x1000, .compare_add = 7, .swap = 9, .rkey = 0x55
	};
	faa.wr.atomic = {
		.remote_addr = 0x2000, .compare_add = 3, .swap = 4, .rkey = 0
	};
	read.wr.rdma = { .remote_addr = 0x3000, .rkey = 0x66 };
	cas.next = &faa;
	faa.next = &read;
	ASSERT_EQ(fix.sq.post(&cas, &bad), 0);

	EXPECT_EQ(fix.wqe<ornic_seg_remote>(0, 16).raddr, 0x1000U);
	EXPECT_EQ(fix.wqe<ornic_seg_remote>(0, 16).rkey, 0x55U);
	EXPECT_EQ(fix.wqe<ornic_seg_atomic>(0, 32).swap_add, 9U);
	EXPECT_EQ(fix.wqe<ornic_seg_atomic>(0, 32).compare, 7U);
	EXPECT_EQ(fix.wqe<ornic_seg_atomic>(1, 32).swap_add, 3U);
	EXPECT_EQ(fix.wqe<ornic_seg_atomic>(1, 32).compare, 0U);
	EXPECT_EQ(fix.wqe<ornic_seg_remote>(2, 16).raddr, 0x3000U);
	EXPECT_EQ(fix.wqe<ornic_seg_remote>(2, 16).rkey, 0x66U);
}

TEST(send_queue, ud_address)
{
	send_fixture fix(IBV_QPT_UD);
	address_handle ah{};
	ibv_sge sge{ .addr = 0x9000, .length = 4, .lkey = 2 };
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	ah.number = 77;
	wr.wr.ud.ah = &ah.base;
	wr.wr.ud.remote_qpn = 0x42;
	wr.wr.ud.remote_qkey = 0x11111111;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	// Fence has a meaning for RC only.
	wr.send_flags = IBV_SEND_FENCE;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	auto ud = fix.wqe<ornic_seg_ud>(0, 16);
	EXPECT_EQ(ud.ah, 77U);
	EXPECT_EQ(ud.dest_qpn, 0x42U);
	EXPECT_EQ(ud.dest_qkey, 0x11111111U);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 32).addr, 0x9000U);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).flags, 0);

	wr.wr.ud.ah = nullptr;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
}

TEST(send_queue, bad_requests_are_refused)
{
	std::array<char, 65> buffer{};
	ibv_sge sges[4] = { { reinterpret_cast<std::uintptr_t>(buffer.data()),
			      65, 0 } };
	struct {
		const char *what;
		int opcode;
		unsigned int flags;
		int num_sge;
	} rows[] = {
		{ "opcode after the last", IBV_WR_TSO, 0, 0 },
		{ "bind of no window", IBV_WR_BIND_MW, 0, 0 },
		{ "opcode out of range", 1000, 0, 0 },
		{ "negative opcode", -1, 0, 0 },
		{ "IP checksum", IBV_WR_SEND, IBV_SEND_IP_CSUM, 0 },
		{ "unknown flag", IBV_WR_SEND, 1U << 20, 0 },
		{ "too many SGEs", IBV_WR_SEND, 0, 4 },
		{ "negative SGE count", IBV_WR_SEND, 0, -1 },
		{ "inline too long", IBV_WR_SEND, IBV_SEND_INLINE, 1 },
	};

	for (const auto &row : rows) {
		send_fixture fix;
		ibv_send_wr wr = make_wr(static_cast<ibv_wr_opcode>(0));
		ibv_send_wr *bad = nullptr;

		// An out-of-range enum is what a careless C program passes.
		std::memcpy(&wr.opcode, &row.opcode, sizeof(row.opcode));
		wr.send_flags = row.flags;
		wr.sg_list = sges;
		wr.num_sge = row.num_sge;
		EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL) << row.what;
		EXPECT_EQ(bad, &wr) << row.what;
		EXPECT_EQ(fix.record->producer, 0U) << row.what;
	}
}

TEST(send_queue, what_precedes_the_bad_request_is_posted)
{
	send_fixture fix;
	ibv_send_wr good = make_wr(IBV_WR_SEND, 1);
	ibv_send_wr evil = make_wr(IBV_WR_BIND_MW, 2);
	ibv_send_wr never = make_wr(IBV_WR_SEND, 3);
	ibv_send_wr *bad = nullptr;

	fix.record->kick_wanted = 1;
	good.next = &evil;
	evil.next = &never;
	EXPECT_EQ(fix.sq.post(&good, &bad), EINVAL);
	EXPECT_EQ(bad, &evil);
	EXPECT_EQ(fix.record->producer, 1U);
	EXPECT_EQ(fix.kicks.take().size(), 1U);
}

TEST(send_queue, full_until_a_completion_retires)
{
	send_fixture fix;
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	for (int i = 0; i < 4; ++i)
		ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.sq.post(&wr, &bad), ENOMEM);
	EXPECT_EQ(bad, &wr);
	EXPECT_EQ(fix.record->producer, 4U);

	// One signalled completion frees the unsignalled ones before it.
	fix.sq.retire(2);
	wr.wr_id = 99;
	for (int i = 0; i < 3; ++i)
		ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.sq.post(&wr, &bad), ENOMEM);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(4).wr_id, 99U);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(3).wr_id, 1U);
}

TEST(send_queue, absent_ring_is_full)
{
	send_fixture fix;
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	fix.sq.init({ .layout = { .ring = fix.memory.ring(),
				  .record = fix.record,
				  .log_depth = 0,
				  .log_stride = 6,
				  .max_sge = 0,
				  .present = false },
		      .qpn = test_qpn,
		      .bell = &fix.kicks.bell,
		      .type = IBV_QPT_RC,
		      .signal_all = false,
		      .max_inline = 0 });
	EXPECT_EQ(fix.sq.post(&wr, &bad), ENOMEM);
}

TEST(send_queue, indices_run_on_for_ever)
{
	send_fixture fix;
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	for (std::uint32_t i = 0; i < 1000; ++i) {
		wr.wr_id = i;
		ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
		ASSERT_EQ(fix.record->producer, i + 1);
		ASSERT_EQ(fix.wqe<ornic_sq_hdr>(i).wr_id, i);
		fix.sq.retire(i);
	}
}

TEST(send_queue, signal_all)
{
	send_fixture fix(IBV_QPT_RC, true);
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).flags, ORNIC_WQE_SIGNALED);
}

TEST(send_queue, kicks_only_a_device_that_asks)
{
	send_fixture fix;
	ibv_send_wr wr[2] = { make_wr(IBV_WR_SEND), make_wr(IBV_WR_SEND) };
	ibv_send_wr *bad = nullptr;

	wr[0].next = &wr[1];
	ASSERT_EQ(fix.sq.post(&wr[0], &bad), 0);
	EXPECT_TRUE(fix.kicks.take().empty());
	fix.record->kick_wanted = 1;
	ASSERT_EQ(fix.sq.post(&wr[0], &bad), 0);
	EXPECT_EQ(fix.kicks.take(), std::vector<std::uint32_t>{ test_qpn });
}

// More often than there is room: each post fails alike.
TEST(send_queue, posts_to_a_device_that_is_gone_fail)
{
	send_fixture fix;
	ibv_send_wr wr[2] = { make_wr(IBV_WR_SEND), make_wr(IBV_WR_SEND) };
	ibv_send_wr *bad = nullptr;

	fix.kicks.break_off();
	fix.record->kick_wanted = 1;
	wr[0].next = &wr[1];
	for (int i = 0; i < 4; ++i) {
		bad = nullptr;
		EXPECT_EQ(fix.sq.post(&wr[0], &bad), EIO);
		EXPECT_EQ(bad, &wr[0]);
	}
}

TEST(send_queue, batches_for_a_device_that_is_gone_fail)
{
	send_fixture fix;

	fix.kicks.break_off();
	fix.record->kick_wanted = 1;
	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	EXPECT_EQ(fix.sq.batch_complete(), EIO);
	EXPECT_EQ(fix.sq.post_local({ .opcode = IBV_WR_LOCAL_INV }), EIO);
}

TEST(send_queue, page_doorbell_stores_its_value)
{
	int fd = memfd_create("page", 0);
	ASSERT_EQ(ftruncate(fd, 4096), 0);
	mapping device(fd, 0, 4096);
	doorbell bell;

	bell.use_page(mapping(fd, 0, 4096, PROT_WRITE), 12, 0x00010002);
	EXPECT_EQ(bell.ring(test_qpn), 0);
	std::uint32_t value = 0;
	std::memcpy(&value, device.data() + 12, sizeof(value));
	EXPECT_EQ(value, 0x00010002U);
	close(fd);
}

TEST(send_queue, reset_starts_over)
{
	send_fixture fix;
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	for (int i = 0; i < 4; ++i)
		ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	fix.sq.reset();
	EXPECT_EQ(fix.record->producer, 0U);
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.record->producer, 1U);
}

/* The data that fits behind two segments is less than max_sge promises. */
TEST(send_queue, atomic_stays_within_its_slot)
{
	send_fixture fix;
	ibv_sge sges[2] = {};
	ibv_send_wr wr = make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD);
	ibv_send_wr *bad = nullptr;

	fix.sq.init({ .layout = { .ring = fix.memory.ring(),
				  .record = fix.record,
				  .log_depth = 2,
				  .log_stride = 6,
				  .max_sge = 2,
				  .present = true },
		      .qpn = test_qpn,
		      .bell = &fix.kicks.bell,
		      .type = IBV_QPT_RC,
		      .signal_all = false,
		      .max_inline = 0 });
	wr.sg_list = sges;
	wr.num_sge = 1;
	EXPECT_EQ(fix.sq.post(&wr, &bad), 0);
	wr.num_sge = 2;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
}

TEST(batch, is_published_once_at_the_end)
{
	send_fixture fix;
	ibv_sge sge{ .addr = 0x1000, .length = 16, .lkey = 5 };
	ibv_data_buf pieces[] = { { const_cast<char *>("ab"), 2 },
				  { const_cast<char *>("cde"), 3 } };

	fix.record->kick_wanted = 1;
	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_RDMA_WRITE,
			     .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
			     .wr_id = 10,
			     .rkey = 8,
			     .raddr = 0x7000 });
	fix.sq.batch_sges({ &sge, 1 });
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND, .wr_id = 11 });
	fix.sq.batch_inline(pieces);
	EXPECT_EQ(fix.record->producer, 0U);
	EXPECT_TRUE(fix.kicks.take().empty());
	EXPECT_EQ(fix.sq.batch_complete(), 0);
	EXPECT_EQ(fix.record->producer, 2U);
	EXPECT_EQ(fix.kicks.take().size(), 1U);

	auto write = fix.wqe<ornic_sq_hdr>(0);
	EXPECT_EQ(write.wr_id, 10U);
	EXPECT_EQ(write.flags, ORNIC_WQE_SIGNALED);
	EXPECT_EQ(fix.wqe<ornic_seg_remote>(0, 16).raddr, 0x7000U);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 32).lkey, 5U);
	auto send = fix.wqe<ornic_sq_hdr>(1);
	EXPECT_EQ(send.flags, ORNIC_WQE_INLINE);
	EXPECT_EQ(send.payload, 5);
	EXPECT_EQ((fix.wqe<std::array<char, 5>>(1, 16)),
		  (std::array<char, 5>{ 'a', 'b', 'c', 'd', 'e' }));
}

TEST(batch, an_error_sticks_and_posts_nothing)
{
	send_fixture fix;
	ibv_sge sges[4] = {};

	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	fix.sq.batch_sges(sges);
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	EXPECT_EQ(fix.sq.batch_complete(), EINVAL);
	EXPECT_EQ(fix.record->producer, 0U);

	// The next batch starts where the failed one did.
	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND, .wr_id = 5 });
	EXPECT_EQ(fix.sq.batch_complete(), 0);
	EXPECT_EQ(fix.record->producer, 1U);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).wr_id, 5U);
}

TEST(batch, more_than_the_ring_holds)
{
	send_fixture fix;

	fix.sq.batch_start();
	for (int i = 0; i < 5; ++i)
		fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	EXPECT_EQ(fix.sq.batch_complete(), ENOMEM);
	fix.sq.batch_start();
	for (int i = 0; i < 4; ++i)
		fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	EXPECT_EQ(fix.sq.batch_complete(), 0);
	EXPECT_EQ(fix.record->producer, 4U);
}

TEST(batch, abort_forgets_and_setters_need_a_request)
{
	send_fixture fix;
	ibv_sge sge{};

	fix.sq.batch_start();
	fix.sq.batch_begin({ .opcode = IBV_WR_SEND });
	fix.sq.batch_abort();
	fix.sq.batch_start();
	fix.sq.batch_sges({ &sge, 1 });
	EXPECT_EQ(fix.sq.batch_complete(), EINVAL);
	fix.sq.batch_start();
	EXPECT_EQ(fix.sq.batch_complete(), 0);
	EXPECT_EQ(fix.record->producer, 0U);
}

/*
 * Two posters and a device: every WQE arrives once, and no kick is lost. Posters
 * sleep after each second WQE until the device has retired some, and the device
 * until it is kicked: after a lost kick all three sleep.
 */
TEST(send_queue, no_wakeup_is_lost)
{
	constexpr std::uint32_t posts = 20000;
	std::atomic<std::uint32_t> retired{ 0 };
	send_fixture fix;
	auto poster = [&] {
		for (std::uint32_t done = 0; done < posts;) {
			std::uint32_t before = retired.load();
			ibv_send_wr wr = make_wr(IBV_WR_SEND);
			ibv_send_wr *bad = nullptr;

			if (fix.sq.post(&wr, &bad) == 0 && ++done % 2)
				continue;
			retired.wait(before);
		}
	};
	std::thread first(poster);
	std::thread second(poster);

	// The device's half of the handshake.
	std::uint32_t seen = 0;
	while (seen < 2 * posts) {
		__atomic_store_n(&fix.record->kick_wanted, 1U,
				 __ATOMIC_RELAXED);
		full_barrier();
		if (load_acquire(fix.record->producer) == seen) {
			EXPECT_TRUE(fix.kicks.wait(HasFailure() ? 1 : 10000))
				<< "no kick after WQE " << seen;
		}
		__atomic_store_n(&fix.record->kick_wanted, 0U,
				 __ATOMIC_RELAXED);
		std::uint32_t producer = load_acquire(fix.record->producer);
		EXPECT_LE(producer - seen, 4U);
		seen = producer;
		if (seen)
			fix.sq.retire(seen - 1);
		retired.store(seen);
		retired.notify_all();
	}
	first.join();
	second.join();
	EXPECT_EQ(seen, 2 * posts);
}

/* In a thread domain: a second start finds no lock to wait for. */
TEST(send_queue, thread_domain_takes_no_lock)
{
	queue_memory memory(4096);
	kick_counter kicks;
	send_queue sq;

	sq.init({ .layout = { .ring = memory.ring(),
			      .record = reinterpret_cast<ornic_wq_record *>(
				      memory.data()),
			      .log_depth = 2,
			      .log_stride = 7,
			      .max_sge = 3,
			      .present = true },
		  .qpn = test_qpn,
		  .bell = &kicks.bell,
		  .type = IBV_QPT_RC,
		  .signal_all = false,
		  .max_inline = 64,
		  .single_threaded = true });
	sq.batch_start();
	sq.batch_start();
	sq.batch_begin({ .opcode = IBV_WR_SEND });
	EXPECT_EQ(sq.batch_complete(), 0);
	EXPECT_EQ(reinterpret_cast<ornic_wq_record *>(memory.data())->producer,
		  1U);
}

TEST(spin_lock, omitted_lock_is_never_held)
{
	spin_lock lock;

	lock.omit();
	lock.lock();
	lock.lock();
	lock.unlock();
}

TEST(send_queue, bind_is_written)
{
	send_fixture fix;
	ibv_mr mr{};
	ibv_mw mw{};
	ibv_send_wr wr = make_wr(IBV_WR_BIND_MW, 9);
	ibv_send_wr *bad = nullptr;

	mr.lkey = 0x777;
	mw.type = IBV_MW_TYPE_2;
	wr.bind_mw.mw = &mw;
	wr.bind_mw.rkey = 0x12345678;
	wr.bind_mw.bind_info = { .mr = &mr,
				 .addr = 0x10000,
				 .length = 0x200,
				 .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	auto hdr = fix.wqe<ornic_sq_hdr>(0);
	EXPECT_EQ(hdr.opcode, ORNIC_WQE_BIND_MW);
	EXPECT_EQ(hdr.payload, 0);
	EXPECT_EQ(hdr.wr_id, 9U);
	auto remote = fix.wqe<ornic_seg_remote>(0, 16);
	EXPECT_EQ(remote.raddr, 0x10000U);
	EXPECT_EQ(remote.rkey, 0x12345678U);
	auto bind = fix.wqe<ornic_seg_bind>(0, 32);
	EXPECT_EQ(bind.length, 0x200U);
	EXPECT_EQ(bind.lkey, 0x777U);
	EXPECT_EQ(bind.access, ORNIC_ACCESS_REMOTE_WRITE);
}

TEST(send_queue, bad_binds_are_refused)
{
	send_fixture fix;
	ibv_mr mr{};
	ibv_mw mw{};
	ibv_send_wr wr = make_wr(IBV_WR_BIND_MW);
	ibv_send_wr *bad = nullptr;

	wr.bind_mw.mw = &mw;
	wr.bind_mw.bind_info = {
		.mr = &mr, .addr = 0, .length = 1, .mw_access_flags = 0
	};
	mw.type = IBV_MW_TYPE_1;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
	mw.type = IBV_MW_TYPE_2;
	wr.bind_mw.bind_info.mr = nullptr;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
	wr.bind_mw.bind_info.mr = &mr;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
	EXPECT_EQ(fix.record->producer, 0U);
}

/* The key travels where immediate data would, in the wire's order. */
TEST(send_queue, keys_to_invalidate_are_big_endian)
{
	send_fixture fix;
	ibv_send_wr wr = make_wr(IBV_WR_LOCAL_INV);
	ibv_send_wr *bad = nullptr;

	wr.invalidate_rkey = 0x01020304;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).opcode, ORNIC_WQE_LOCAL_INV);
	EXPECT_EQ(fix.wqe<std::uint8_t>(0, offsetof(ornic_sq_hdr, imm)), 1);
	wr.opcode = IBV_WR_SEND_WITH_INV;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(1).opcode, ORNIC_WQE_SEND_INV);
	EXPECT_EQ(fix.wqe<std::uint8_t>(1, offsetof(ornic_sq_hdr, imm)), 1);
}

} // namespace
} // namespace ornic::test
