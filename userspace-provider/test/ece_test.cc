// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Options of a connection: ibv_query_ece(), ibv_set_ece() and what modify_qp() passes on.

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "fake_kernel.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

using options = std::vector<std::uint32_t>;

constexpr std::uint32_t offer = fake_kernel::ece_offer;

constexpr std::uint32_t version(std::uint32_t n)
{
	return n << ORNIC_ECE_VERSION_SHIFT;
}

/** A QP on its way from RESET. */
struct ece_fixture {
	explicit ece_fixture(ibv_qp_type type = IBV_QPT_RC,
			     std::uint32_t offered = offer)
		: kernel(65, UINT64_MAX, offered)
		, cq(kernel.make_cq())
		, qp(kernel.make_qp(cq, type))
	{
		qp->state = IBV_QPS_RESET;
	}
	~ece_fixture()
	{
		EXPECT_EQ(destroy_qp(qp), 0);
		EXPECT_EQ(destroy_cq(cq), 0);
	}
	ece_fixture(const ece_fixture &) = delete;
	ece_fixture &operator=(const ece_fixture &) = delete;

	int to(ibv_qp_state state)
	{
		ibv_qp_attr attr{};

		attr.qp_state = state;
		return modify_qp(qp, &attr, IBV_QP_STATE);
	}
	int set(std::uint32_t value, std::uint32_t vendor = ORNIC_ECE_VENDOR_ID,
		std::uint32_t comp_mask = 0)
	{
		ece = { vendor, value, comp_mask };
		return set_ece(qp, &ece);
	}
	std::uint32_t query()
	{
		ibv_ece now = { 0, 0, ~0U };

		EXPECT_EQ(query_ece(qp, &now), 0);
		EXPECT_EQ(now.vendor_id, unsigned{ ORNIC_ECE_VENDOR_ID });
		EXPECT_EQ(now.comp_mask, 0U);
		return now.options;
	}

	fake_kernel kernel;
	ibv_cq *cq;
	ibv_qp *qp;
	ibv_ece ece{};
};

TEST(ece, peers_agree_on_what_both_have)
{
	static const struct {
		std::uint32_t a, b, both;
	} rows[] = {
		{ offer, offer, offer },
		{ offer, 0, 0 },
		{ offer, version(1) | 6, 0 },
		{ offer, version(1) | 7, offer },
		{ offer, version(15) | 1, offer },
		{ version(3) | 7, version(2) | 6, version(2) | 6 },
		{ offer, version(0) | 1, 0 },
		{ offer, ~0U, offer },
	};

	for (const auto &row : rows) {
		EXPECT_EQ(agree_on_ece(row.a, row.b), row.both);
		EXPECT_EQ(agree_on_ece(row.b, row.a), row.both);
	}
}

TEST(ece, is_told_with_the_next_change_once)
{
	ece_fixture f;

	EXPECT_EQ(f.query(), offer);
	EXPECT_EQ(f.to(IBV_QPS_INIT), 0);
	EXPECT_EQ(f.kernel.ece_options, options{});
	EXPECT_EQ(f.set(offer | 0x800), 0);
	EXPECT_EQ(f.ece.options, offer);
	EXPECT_EQ(f.query(), offer);
	f.kernel.modify_result = ENOMEM;
	EXPECT_EQ(f.to(IBV_QPS_RTR), ENOMEM);
	EXPECT_EQ(f.to(IBV_QPS_RTR), 0);
	EXPECT_EQ(f.to(IBV_QPS_RTS), 0);
	EXPECT_EQ(f.kernel.ece_options, (options{ offer, offer }));
}

TEST(ece, none_is_an_option_too)
{
	ece_fixture f;

	EXPECT_EQ(f.set(0), 0);
	EXPECT_EQ(f.query(), 0U);
	EXPECT_EQ(f.to(IBV_QPS_INIT), 0);
	EXPECT_EQ(f.kernel.ece_options, options{ 0 });
	/* A QP that is used anew begins anew. */
	EXPECT_EQ(f.to(IBV_QPS_RESET), 0);
	EXPECT_EQ(f.query(), offer);
	EXPECT_EQ(f.to(IBV_QPS_INIT), 0);
	EXPECT_EQ(f.kernel.ece_options, options{ 0 });
}

/* To RESET and ERR goes a QP without options, which the device would refuse. */
TEST(ece, does_not_hinder_the_end)
{
	ece_fixture f;

	EXPECT_EQ(f.to(IBV_QPS_INIT), 0);
	EXPECT_EQ(f.set(offer), 0);
	EXPECT_EQ(f.to(IBV_QPS_ERR), 0);
	EXPECT_EQ(f.to(IBV_QPS_RESET), 0);
	EXPECT_EQ(f.kernel.ece_options, options{});
}

TEST(ece, wrong_arguments)
{
	ece_fixture f;

	errno = 0;
	EXPECT_EQ(f.set(offer, 0x15b3), EINVAL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(f.set(offer, ORNIC_ECE_VENDOR_ID, 1), EINVAL);
	EXPECT_EQ(f.query(), offer);
	for (ibv_qp_state state :
	     { IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR }) {
		f.qp->state = state;
		EXPECT_EQ(f.set(offer), EINVAL);
	}
	f.qp->state = IBV_QPS_RTR;
	EXPECT_EQ(f.set(offer), 0);
}

/* rdma_cm asks for those of any QP. */
TEST(ece, qps_without_retransmission_have_none)
{
	for (ibv_qp_type type : { IBV_QPT_UC, IBV_QPT_UD }) {
		ece_fixture f(type);

		EXPECT_EQ(f.query(), 0U);
		EXPECT_EQ(f.set(offer), 0);
		EXPECT_EQ(f.ece.options, 0U);
		EXPECT_EQ(f.to(IBV_QPS_INIT), 0);
		EXPECT_EQ(f.kernel.ece_options, options{});
	}
}

TEST(ece, older_kernel)
{
	ece_fixture f(IBV_QPT_RC, 0);

	errno = 0;
	EXPECT_EQ(query_ece(f.qp, &f.ece), EOPNOTSUPP);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(f.set(offer), EOPNOTSUPP);
	EXPECT_EQ(f.to(IBV_QPS_INIT), 0);
	EXPECT_EQ(f.kernel.ece_options, options{});
}

} // namespace
} // namespace ornic::test
