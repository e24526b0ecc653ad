// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The ibv_wr_* interface: which functions a QP gets, what each of them writes,
// and FLUSH and ATOMIC WRITE in both interfaces.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>

#include "address_handle.h"
#include "fixture.h"

namespace ornic::test
{
namespace
{

constexpr std::uint32_t rkey = 0x12345678;
constexpr std::uint64_t raddr = 0xabcdef0123456780;
const std::uint64_t placement = placement_ops(UINT64_MAX);
constexpr std::uint64_t word = 0x1122334455667788;

struct wr_row {
	const char *name;
	std::uint8_t wqe_opcode;
	std::size_t data_offset; // RC, UC; 0: takes no data
	bool uc, ud;
	std::function<void(ibv_qp_ex *)> call;
};

ibv_mr bind_mr{};
ibv_mw bind_mw{};

void call_bind(ibv_qp_ex *qp)
{
	ibv_mw_bind_info info = { .mr = &bind_mr,
				  .addr = raddr,
				  .length = 0x200,
				  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };

	bind_mw.type = IBV_MW_TYPE_2;
	ibv_wr_bind_mw(qp, &bind_mw, rkey, &info);
}

const wr_row wr_rows[] = {
	{ "send", ORNIC_WQE_SEND, 16, true, true,
	  [](ibv_qp_ex *qp) { ibv_wr_send(qp); } },
	{ "send_imm", ORNIC_WQE_SEND_IMM, 16, true, true,
	  [](ibv_qp_ex *qp) { ibv_wr_send_imm(qp, 7); } },
	{ "send_inv", ORNIC_WQE_SEND_INV, 16, false, false,
	  [](ibv_qp_ex *qp) { ibv_wr_send_inv(qp, rkey); } },
	{ "write", ORNIC_WQE_WRITE, 32, true, false,
	  [](ibv_qp_ex *qp) { ibv_wr_rdma_write(qp, rkey, raddr); } },
	{ "write_imm", ORNIC_WQE_WRITE_IMM, 32, true, false,
	  [](ibv_qp_ex *qp) { ibv_wr_rdma_write_imm(qp, rkey, raddr, 7); } },
	{ "read", ORNIC_WQE_READ, 32, false, false,
	  [](ibv_qp_ex *qp) { ibv_wr_rdma_read(qp, rkey, raddr); } },
	{ "cmp_swp", ORNIC_WQE_CAS, 48, false, false,
	  [](ibv_qp_ex *qp) { ibv_wr_atomic_cmp_swp(qp, rkey, raddr, 1, 2); } },
	{ "fetch_add", ORNIC_WQE_FAA, 48, false, false,
	  [](ibv_qp_ex *qp) { ibv_wr_atomic_fetch_add(qp, rkey, raddr, 1); } },
	{ "bind_mw", ORNIC_WQE_BIND_MW, 0, true, false, call_bind },
	{ "local_inv", ORNIC_WQE_LOCAL_INV, 0, true, false,
	  [](ibv_qp_ex *qp) { ibv_wr_local_inv(qp, rkey); } },
	{ "flush", ORNIC_WQE_FLUSH, 0, false, false,
	  [](ibv_qp_ex *qp) {
		  to_qp(qp).base.last.wr_flush(qp, rkey, raddr, 4096,
					       ORNIC_FLUSH_GLOBAL,
					       ORNIC_FLUSH_RANGE);
	  } },
};

class wr : public testing::TestWithParam<wr_row> {};

INSTANTIATE_TEST_SUITE_P(all, wr, testing::ValuesIn(wr_rows),
			 [](const auto &row) { return row.param.name; });

void start(qp_fixture &fix, const wr_row &row, std::uint64_t wr_id)
{
	ibv_wr_start(fix.ex());
	fix.ex()->wr_id = wr_id;
	fix.ex()->wr_flags = IBV_SEND_SIGNALED;
	row.call(fix.ex());
}

TEST_P(wr, request_is_written)
{
	const wr_row &row = GetParam();

	for (ibv_qp_type type : { IBV_QPT_RC, IBV_QPT_UC }) {
		qp_fixture fix(type);

		if (type == IBV_QPT_UC && !row.uc)
			continue;
		start(fix, row, 5);
		if (row.data_offset)
			ibv_wr_set_sge(fix.ex(), 0xabc, 0x1000, 8);
		ASSERT_EQ(ibv_wr_complete(fix.ex()), 0);
		auto hdr = fix.wqe<ornic_sq_hdr>(0);
		EXPECT_EQ(hdr.opcode, row.wqe_opcode);
		EXPECT_EQ(hdr.flags, ORNIC_WQE_SIGNALED);
		EXPECT_EQ(hdr.wr_id, 5U);
		EXPECT_EQ(hdr.payload, row.data_offset ? 1 : 0);
		if (row.data_offset) {
			EXPECT_EQ(fix.wqe<ornic_sge>(0, row.data_offset).lkey,
				  0xabcU);
		}
		EXPECT_EQ(fix.record->producer, 1U);
	}
}

TEST_P(wr, data_for_a_request_without_data_is_refused)
{
	const wr_row &row = GetParam();
	qp_fixture fix(IBV_QPT_RC);

	start(fix, row, 5);
	ibv_wr_set_sge(fix.ex(), 0xabc, 0x1000, 8);
	EXPECT_EQ(ibv_wr_complete(fix.ex()), row.data_offset ? 0 : EINVAL);
}

TEST_P(wr, ud_takes_sends_with_an_address)
{
	const wr_row &row = GetParam();
	qp_fixture fix(IBV_QPT_UD);
	address_handle ah{};
	ibv_sge sges[2] = { { 0x1000, 8, 1 }, { 0x2000, 8, 2 } };

	if (!row.ud)
		return;
	ah.number = 77;
	start(fix, row, 5);
	ibv_wr_set_ud_addr(fix.ex(), &ah.base, 0x99, 0x11111111);
	ibv_wr_set_sge_list(fix.ex(), 2, sges);
	ASSERT_EQ(ibv_wr_complete(fix.ex()), 0);
	auto ud = fix.wqe<ornic_seg_ud>(0, 16);
	EXPECT_EQ(ud.ah, 77U);
	EXPECT_EQ(ud.dest_qpn, 0x99U);
	EXPECT_EQ(ud.dest_qkey, 0x11111111U);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 48).lkey, 2U);
}

TEST_P(wr, is_refused_before_rts_and_aborts)
{
	const wr_row &row = GetParam();
	qp_fixture fix(IBV_QPT_RC);

	fix.qp.base.qp.state = IBV_QPS_RTR;
	start(fix, row, 5);
	EXPECT_EQ(ibv_wr_complete(fix.ex()), EINVAL);
	fix.qp.base.qp.state = IBV_QPS_RTS;
	start(fix, row, 6);
	ibv_wr_abort(fix.ex());
	EXPECT_EQ(fix.record->producer, 0U);
	// The lock is free again, and so is the place.
	start(fix, row, 7);
	EXPECT_EQ(ibv_wr_complete(fix.ex()), 0);
	EXPECT_EQ(fix.record->producer, 1U);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).wr_id, 7U);
}

TEST(wr_inline, data_comes_from_one_piece_or_several)
{
	qp_fixture fix(IBV_QPT_RC);
	std::array<char, 3> a = { 'a', 'b', 'c' };
	std::array<char, 2> b = { 'd', 'e' };
	ibv_data_buf pieces[] = { { a.data(), a.size() },
				  { b.data(), b.size() } };

	ibv_wr_start(fix.ex());
	fix.ex()->wr_flags = 0;
	ibv_wr_send(fix.ex());
	ibv_wr_set_inline_data(fix.ex(), a.data(), a.size());
	ibv_wr_send(fix.ex());
	ibv_wr_set_inline_data_list(fix.ex(), 2, pieces);
	ASSERT_EQ(ibv_wr_complete(fix.ex()), 0);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).payload, 3);
	EXPECT_EQ((fix.wqe<std::array<char, 3>>(0, 16)), a);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(1).payload, 5);
	EXPECT_EQ((fix.wqe<std::array<char, 5>>(1, 16)),
		  (std::array<char, 5>{ 'a', 'b', 'c', 'd', 'e' }));
}

TEST(wr_ops, each_type_has_its_own)
{
	constexpr std::uint64_t rc_only = IBV_QP_EX_WITH_RDMA_READ |
					  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
					  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
					  IBV_QP_EX_WITH_SEND_WITH_INV;
	constexpr std::uint64_t connected =
		IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	constexpr std::uint64_t sends = IBV_QP_EX_WITH_SEND |
					IBV_QP_EX_WITH_SEND_WITH_IMM;

	EXPECT_EQ(send_ops_of(IBV_QPT_RC, placement) &
			  (rc_only | connected | sends),
		  rc_only | connected | sends);
	EXPECT_EQ(send_ops_of(IBV_QPT_UC, placement), connected | sends);
	EXPECT_EQ(send_ops_of(IBV_QPT_UD, placement), sends);
	for (ibv_qp_type type : { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD })
		EXPECT_FALSE(send_ops_of(type, placement) & IBV_QP_EX_WITH_TSO);
	EXPECT_EQ(send_ops_of(IBV_QPT_RAW_PACKET, placement),
		  static_cast<std::uint64_t>(IBV_QP_EX_WITH_SEND));
}

TEST(wr_ops, what_was_not_asked_for_is_not_there)
{
	pabi_qp qp{};

	qp.qp.qp_type = IBV_QPT_RC;
	set_send_ops(qp, IBV_QP_EX_WITH_SEND);
	EXPECT_NE(qp.qp_ex.wr_send, nullptr);
	EXPECT_EQ(qp.qp_ex.wr_rdma_write, nullptr);
	EXPECT_EQ(qp.qp_ex.wr_set_ud_addr, nullptr);
	EXPECT_EQ(qp.last.wr_atomic_write, nullptr);
	EXPECT_EQ(qp.last.wr_flush, nullptr);
}

/* ---- IBTA A19 ------------------------------------------------------------------ */

// IBTA A19.4.2; the 8 bytes travel in the WQE, whatever max_inline is.
TEST(atomic_write, takes_its_value_along)
{
	for (std::uint16_t max_inline :
	     std::array<std::uint16_t, 3>{ 0, 4, 64 }) {
		qp_fixture fix(IBV_QPT_RC, max_inline);

		ibv_wr_start(fix.ex());
		fix.ex()->wr_id = 5;
		fix.ex()->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
		fix.qp.base.last.wr_atomic_write(fix.ex(), rkey, raddr, &word);
		ASSERT_EQ(ibv_wr_complete(fix.ex()), 0);
		auto hdr = fix.wqe<ornic_sq_hdr>(0);
		EXPECT_EQ(hdr.opcode, ORNIC_WQE_ATOMIC_WRITE);
		EXPECT_EQ(hdr.flags, ORNIC_WQE_SIGNALED | ORNIC_WQE_INLINE |
					     ORNIC_WQE_FENCE);
		EXPECT_EQ(hdr.payload, 8);
		auto remote = fix.wqe<ornic_seg_remote>(0, 16);
		EXPECT_EQ(remote.raddr, raddr);
		EXPECT_EQ(remote.rkey, rkey);
		EXPECT_EQ(fix.wqe<std::uint64_t>(0, 32), word);
	}
}

TEST(atomic_write, is_for_rc)
{
	EXPECT_TRUE(send_ops_of(IBV_QPT_RC, placement) &
		    QP_EX_WITH_ATOMIC_WRITE);
	EXPECT_FALSE(send_ops_of(IBV_QPT_UC, placement) &
		     QP_EX_WITH_ATOMIC_WRITE);
}

ibv_send_wr placement_wr(unsigned int opcode)
{
	ibv_send_wr wr{};

	std::memcpy(&wr.opcode, &opcode, sizeof(wr.opcode));
	wr.wr.rdma.remote_addr = raddr;
	wr.wr.rdma.rkey = rkey;
	return wr;
}

TEST(atomic_write, is_posted_from_memory_or_inline)
{
	send_fixture fix;
	ibv_sge sge = { reinterpret_cast<std::uintptr_t>(&word), 8, 0xabc };
	ibv_send_wr wr = placement_wr(verbs_wr_atomic_write);
	ibv_send_wr *bad = nullptr;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.wqe<ornic_sq_hdr>(0).opcode, ORNIC_WQE_ATOMIC_WRITE);
	EXPECT_EQ(fix.wqe<ornic_sge>(0, 32).lkey, 0xabcU);
	wr.send_flags = IBV_SEND_INLINE;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	EXPECT_EQ(fix.wqe<std::uint64_t>(1, 32), word);
	sge.length = 9;
	EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
}

// IBTA A19.4.1.
TEST(flush, is_posted_for_a_range_or_an_mr)
{
	send_fixture fix;
	ibv_sge sges[] = { { 0, 4096, 0 }, { 0, 100, 0 } };
	ibv_send_wr wr = placement_wr(verbs_wr_flush);
	ibv_send_wr *bad = nullptr;

	wr.sg_list = sges;
	wr.num_sge = 2;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);
	wr.num_sge = 0;
	ASSERT_EQ(fix.sq.post(&wr, &bad), 0);

	auto hdr = fix.wqe<ornic_sq_hdr>(0);
	EXPECT_EQ(hdr.opcode, ORNIC_WQE_FLUSH);
	EXPECT_EQ(hdr.payload, 0);
	EXPECT_EQ(fix.wqe<ornic_seg_remote>(0, 16).raddr, raddr);
	auto range = fix.wqe<ornic_seg_flush>(0, 32);
	EXPECT_EQ(range.length, 4196U);
	EXPECT_EQ(range.type, ORNIC_FLUSH_GLOBAL);
	EXPECT_EQ(range.level, ORNIC_FLUSH_RANGE);
	auto all = fix.wqe<ornic_seg_flush>(1, 32);
	EXPECT_EQ(all.length, 0U);
	EXPECT_EQ(all.level, ORNIC_FLUSH_MR);
}

TEST(flush, is_for_rc)
{
	ibv_send_wr wr = placement_wr(verbs_wr_flush);
	ibv_send_wr *bad = nullptr;

	for (ibv_qp_type type : { IBV_QPT_UC, IBV_QPT_UD }) {
		send_fixture fix(type);

		EXPECT_EQ(fix.sq.post(&wr, &bad), EINVAL);
	}
}

} // namespace
} // namespace ornic::test
