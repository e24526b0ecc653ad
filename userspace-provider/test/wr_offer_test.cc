// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What send_ops_flags offers for a type can be posted on a QP of that type,
// and what needs an address is not posted without one.

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "address_handle.h"
#include "fixture.h"

namespace ornic::test
{
namespace
{

constexpr std::uint32_t rkey = 0x12345678;
constexpr std::uint64_t raddr = 0xabcdef0123456780;
constexpr ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
				  IBV_QPT_XRC_SEND, IBV_QPT_RAW_PACKET };

struct addressed_qp : qp_fixture {
	using qp_fixture::qp_fixture;

	void set_address()
	{
		if (qp.base.qp.qp_type == IBV_QPT_UD)
			ibv_wr_set_ud_addr(ex(), &ah.base, 2, 3);
		else if (qp.base.qp.qp_type == IBV_QPT_XRC_SEND)
			ibv_wr_set_xrc_srqn(ex(), 4);
	}

	address_handle ah{};
};

struct offer {
	std::uint64_t bit;
	bool takes_data; // with an address, where the type has addresses
	std::function<void(ibv_qp_ex *)> call;
};

ibv_mr mr{};
ibv_mw mw{};

void call_bind(ibv_qp_ex *qp)
{
	ibv_mw_bind_info info = { .mr = &mr,
				  .addr = raddr,
				  .length = 0x200,
				  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };

	mw.type = IBV_MW_TYPE_2;
	ibv_wr_bind_mw(qp, &mw, rkey, &info);
}

const offer offers[] = {
	{ IBV_QP_EX_WITH_SEND, true, [](ibv_qp_ex *qp) { ibv_wr_send(qp); } },
	{ IBV_QP_EX_WITH_SEND_WITH_IMM, true,
	  [](ibv_qp_ex *qp) { ibv_wr_send_imm(qp, 7); } },
	{ IBV_QP_EX_WITH_SEND_WITH_INV, true,
	  [](ibv_qp_ex *qp) { ibv_wr_send_inv(qp, rkey); } },
	{ IBV_QP_EX_WITH_RDMA_WRITE, true,
	  [](ibv_qp_ex *qp) { ibv_wr_rdma_write(qp, rkey, raddr); } },
	{ IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, true,
	  [](ibv_qp_ex *qp) { ibv_wr_rdma_write_imm(qp, rkey, raddr, 7); } },
	{ IBV_QP_EX_WITH_RDMA_READ, true,
	  [](ibv_qp_ex *qp) { ibv_wr_rdma_read(qp, rkey, raddr); } },
	{ IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, true,
	  [](ibv_qp_ex *qp) { ibv_wr_atomic_cmp_swp(qp, rkey, raddr, 1, 2); } },
	{ IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, true,
	  [](ibv_qp_ex *qp) { ibv_wr_atomic_fetch_add(qp, rkey, raddr, 1); } },
	{ IBV_QP_EX_WITH_BIND_MW, false, call_bind },
	{ IBV_QP_EX_WITH_LOCAL_INV, false,
	  [](ibv_qp_ex *qp) { ibv_wr_local_inv(qp, rkey); } },
	{ QP_EX_WITH_ATOMIC_WRITE, false,
	  [](ibv_qp_ex *qp) {
		  to_qp(qp).base.last.wr_atomic_write(qp, rkey, raddr,
						      "1234567");
	  } },
	{ QP_EX_WITH_FLUSH, false,
	  [](ibv_qp_ex *qp) {
		  to_qp(qp).base.last.wr_flush(qp, rkey, raddr, 4096,
					       ORNIC_FLUSH_GLOBAL,
					       ORNIC_FLUSH_RANGE);
	  } },
};

TEST(wr_offer, each_operation_can_be_posted)
{
	for (ibv_qp_type type : types) {
		std::uint64_t left =
			send_ops_of(type, placement_ops(UINT64_MAX));

		for (const offer &offer : offers) {
			addressed_qp fix(type);

			if (!(left & offer.bit))
				continue;
			left &= ~offer.bit;
			ibv_wr_start(fix.ex());
			fix.ex()->wr_flags = 0;
			offer.call(fix.ex());
			if (offer.takes_data) {
				fix.set_address();
				ibv_wr_set_sge(fix.ex(), 1, 0x1000, 8);
			}
			EXPECT_EQ(ibv_wr_complete(fix.ex()), 0)
				<< "type " << type << ", bit " << offer.bit;
			EXPECT_EQ(fix.record->producer, 1U);
		}
		EXPECT_EQ(left, 0U) << "type " << type;
	}
}

bool is_addressed(ibv_qp_type type)
{
	return type == IBV_QPT_UD || type == IBV_QPT_XRC_SEND;
}

TEST(wr_offer, nothing_goes_to_the_address_of_an_older_request)
{
	for (ibv_qp_type type : types) {
		addressed_qp fix(type);

		// Each slot has had an address.
		for (int i = 0; i < 4; ++i) {
			ibv_wr_start(fix.ex());
			ibv_wr_send(fix.ex());
			fix.set_address();
			ASSERT_EQ(ibv_wr_complete(fix.ex()), 0);
		}
		fix.qp.sq.retire(3);
		ibv_wr_start(fix.ex());
		ibv_wr_send(fix.ex());
		EXPECT_EQ(ibv_wr_complete(fix.ex()),
			  is_addressed(type) ? EINVAL : 0);
		EXPECT_EQ(fix.record->producer, is_addressed(type) ? 4U : 5U);
	}
}

TEST(wr_offer, each_request_of_a_batch_needs_its_address)
{
	for (ibv_qp_type type : { IBV_QPT_UD, IBV_QPT_XRC_SEND }) {
		for (int without : { 0, 1, 2 }) {
			addressed_qp fix(type);

			ibv_wr_start(fix.ex());
			for (int i = 0; i < 3; ++i) {
				ibv_wr_send(fix.ex());
				if (i != without)
					fix.set_address();
			}
			EXPECT_EQ(ibv_wr_complete(fix.ex()), EINVAL);
			EXPECT_EQ(fix.record->producer, 0U);
		}
	}
}

TEST(wr_offer, a_flush_that_the_wire_cannot_say_is_refused)
{
	addressed_qp fix(IBV_QPT_RC);
	ibv_sge sges[] = { { 0, UINT32_MAX, 0 }, { 0, 1, 0 } };
	ibv_send_wr wr = make_wr(IBV_WR_SEND);
	ibv_send_wr *bad = nullptr;

	std::memcpy(&wr.opcode, &verbs_wr_flush, sizeof(wr.opcode));
	wr.sg_list = sges;
	wr.num_sge = 2;
	EXPECT_EQ(fix.qp.sq.post(&wr, &bad), EINVAL);
	wr.num_sge = 1;
	EXPECT_EQ(fix.qp.sq.post(&wr, &bad), 0);
}

} // namespace
} // namespace ornic::test
