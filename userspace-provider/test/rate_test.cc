// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Rate limits: by modify_qp(), by modify_qp_rate_limit(), and what a device offers.

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "fake_kernel.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

using limits = std::vector<fake_kernel::limit>;

/** A raw packet QP in RTR. */
struct rate_fixture {
	rate_fixture()
		: cq(kernel.make_cq())
		, qp(kernel.make_qp(cq, IBV_QPT_RAW_PACKET))
	{
		qp->state = IBV_QPS_RTR;
	}
	~rate_fixture()
	{
		EXPECT_EQ(destroy_qp(qp), 0);
		EXPECT_EQ(destroy_cq(cq), 0);
	}
	rate_fixture(const rate_fixture &) = delete;
	rate_fixture &operator=(const rate_fixture &) = delete;

	int limit(std::uint32_t rate, std::uint32_t burst = 0,
		  std::uint16_t packet = 0, std::uint32_t comp_mask = 0)
	{
		ibv_qp_rate_limit_attr attr{};

		attr.rate_limit = rate;
		attr.max_burst_sz = burst;
		attr.typical_pkt_sz = packet;
		attr.comp_mask = comp_mask;
		return modify_qp_rate_limit(qp, &attr);
	}

	fake_kernel kernel;
	ibv_cq *cq;
	ibv_qp *qp;
};

TEST(rate, comes_with_a_state)
{
	rate_fixture f;
	ibv_qp_attr attr{};

	attr.qp_state = IBV_QPS_RTS;
	attr.rate_limit = 5000;
	EXPECT_EQ(modify_qp(f.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT), 0);
	EXPECT_EQ(f.qp->state, IBV_QPS_RTS);
	EXPECT_EQ(f.kernel.limits, (limits{ { 5000, 0 } }));
	EXPECT_TRUE(f.kernel.ece_options.empty());
	/* Without its bit it does not count. */
	EXPECT_EQ(modify_qp(f.qp, &attr, IBV_QP_STATE), 0);
	EXPECT_EQ(f.kernel.limits.size(), 1U);
}

TEST(rate, comes_alone)
{
	rate_fixture f;

	EXPECT_EQ(f.limit(0), 0);
	EXPECT_EQ(f.limit(7000, 9000, 1500), 0);
	EXPECT_EQ(f.limit(8000, 0, 1500), 0);
	EXPECT_EQ(f.kernel.limits,
		  (limits{ { 0, 0 }, { 7000, 9000 }, { 8000, 0 } }));
}

TEST(rate, is_refused)
{
	rate_fixture f;

	EXPECT_EQ(f.limit(5000, 0, 0, 1), EINVAL);
	EXPECT_EQ(f.kernel.limits, limits{});
	f.kernel.modify_result = EOPNOTSUPP;
	EXPECT_EQ(f.limit(5000), EOPNOTSUPP);
}

TEST(rate, is_offered)
{
	static const struct {
		std::uint32_t ece, max, qpts;
	} rows[] = {
		{ fake_kernel::ece_offer, ORNIC_RATE_LIMIT_MAX,
		  1U << IBV_QPT_RAW_PACKET },
		/* A kernel before both. */
		{ 0, 0, 0 },
	};

	for (const auto &row : rows) {
		fake_kernel kernel(65, UINT64_MAX, row.ece);
		ibv_device_attr_ex attr{};

		EXPECT_EQ(query_device(kernel.base(), nullptr, &attr,
				       sizeof(attr)),
			  0);
		EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_min,
			  row.max ? unsigned{ ORNIC_RATE_LIMIT_MIN } : 0U);
		EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_max, row.max);
		EXPECT_EQ(attr.packet_pacing_caps.supported_qpts, row.qpts);
	}
}

/* A program that was built before there were such limits has no room for them. */
TEST(rate, does_not_exceed_an_old_structure)
{
	fake_kernel kernel;
	ibv_device_attr_ex attr{};

	EXPECT_EQ(
		query_device(kernel.base(), nullptr, &attr,
			     offsetof(ibv_device_attr_ex, packet_pacing_caps)),
		0);
	EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_max, 0U);
}

} // namespace
} // namespace ornic::test
