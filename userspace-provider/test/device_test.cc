// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A device through the table of operations, as libibverbs of each release uses it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "fake_kernel.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

template <typename Verb> operation any(Verb *verb)
{
	return reinterpret_cast<operation>(verb);
}

/** What has to be where the release has an operation of that name. */
const std::map<std::string, operation> verbs = {
	{ "advise_mr", any(ibv_cmd_advise_mr) },
	{ "alloc_dm", any(alloc_dm) },
	{ "alloc_mw", any(alloc_mw) },
	{ "alloc_null_mr", any(alloc_null_mr) },
	{ "alloc_parent_domain", any(alloc_parent_domain) },
	{ "alloc_pd", any(alloc_pd) },
	{ "alloc_td", any(alloc_td) },
	{ "attach_mcast", any(ibv_cmd_attach_mcast) },
	{ "bind_mw", any(bind_mw) },
	{ "close_xrcd", any(close_xrcd) },
	{ "create_ah", any(create_ah) },
	{ "create_comp_cntr", any(create_comp_cntr) },
	{ "create_cq", any(create_cq) },
	{ "create_cq_ex", any(create_cq_ex) },
	{ "create_flow", any(create_flow) },
	{ "create_qp", any(create_qp) },
	{ "create_qp_ex", any(create_qp_ex) },
	{ "create_rwq_ind_table", any(create_rwq_ind_table) },
	{ "create_srq", any(create_srq) },
	{ "create_srq_ex", any(create_srq_ex) },
	{ "create_wq", any(create_wq) },
	{ "dealloc_mw", any(dealloc_mw) },
	{ "dealloc_pd", any(dealloc_pd) },
	{ "dealloc_td", any(dealloc_td) },
	{ "dereg_mr", any(dereg_mr) },
	{ "destroy_ah", any(destroy_ah) },
	{ "destroy_comp_cntr", any(destroy_comp_cntr) },
	{ "destroy_cq", any(destroy_cq) },
	{ "destroy_flow", any(destroy_flow) },
	{ "destroy_qp", any(destroy_qp) },
	{ "destroy_rwq_ind_table", any(destroy_rwq_ind_table) },
	{ "destroy_srq", any(destroy_srq) },
	{ "destroy_wq", any(destroy_wq) },
	{ "detach_mcast", any(ibv_cmd_detach_mcast) },
	{ "dm_export_dmabuf_fd", any(dm_export_dmabuf_fd) },
	{ "free_dm", any(free_dm) },
	{ "get_srq_num", any(get_srq_num) },
	{ "import_dm", any(import_dm) },
	{ "import_mr", any(import_mr) },
	{ "import_pd", any(import_pd) },
	{ "inc_comp_cntr", any(ibv_cmd_inc_comp_cntr) },
	{ "inc_err_comp_cntr", any(ibv_cmd_inc_err_comp_cntr) },
	{ "modify_cq", any(modify_cq) },
	{ "modify_qp", any(modify_qp) },
	{ "modify_qp_rate_limit", any(modify_qp_rate_limit) },
	{ "modify_srq", any(modify_srq) },
	{ "modify_wq", any(modify_wq) },
	{ "open_qp", any(open_qp) },
	{ "open_xrcd", any(open_xrcd) },
	{ "poll_cq", any(poll_cq) },
	{ "post_recv", any(post_recv) },
	{ "post_send", any(post_send) },
	{ "post_srq_ops", any(post_srq_ops) },
	{ "post_srq_recv", any(post_srq_recv) },
	{ "qp_attach_comp_cntr", any(qp_attach_comp_cntr) },
	{ "query_comp_cntr_caps", any(query_comp_cntr_caps) },
	{ "query_device_ex", any(query_device) },
	{ "query_ece", any(query_ece) },
	{ "query_port", any(query_port) },
	{ "query_port_speed", any(query_port_speed) },
	{ "query_qp", any(query_qp) },
	{ "query_rt_values", any(query_rt_values) },
	{ "query_srq", any(query_srq) },
	{ "read_comp_cntr", any(read_comp_cntr) },
	{ "read_err_comp_cntr", any(read_err_comp_cntr) },
	{ "reg_dm_mr", any(reg_dm_mr) },
	{ "reg_dmabuf_mr", any(reg_dmabuf_mr) },
	{ "reg_mr", any(reg_mr) },
	{ "reg_mr_ex", any(reg_mr_ex) },
	{ "req_notify_cq", any(req_notify_cq) },
	{ "rereg_mr", any(rereg_mr) },
	{ "resize_cq", any(resize_cq) },
	{ "set_comp_cntr", any(ibv_cmd_set_comp_cntr) },
	{ "set_ece", any(set_ece) },
	{ "set_err_comp_cntr", any(ibv_cmd_set_err_comp_cntr) },
	{ "unimport_dm", any(unimport_dm) },
	{ "unimport_mr", any(unimport_mr) },
	{ "unimport_pd", any(unimport_pd) },
};

class device : public testing::TestWithParam<int> {
protected:
	fake_kernel kernel{ GetParam() };
};

INSTANTIATE_TEST_SUITE_P(release, device,
			 testing::ValuesIn(recorded_releases()),
			 testing::PrintToStringParamName());

TEST_P(device, has_its_operations_and_no_others)
{
	const auto names = operations_of(read_facts(GetParam()));

	for (const auto &[name, verb] : verbs) {
		if (std::ranges::find(names, name) == names.end())
			continue;
		EXPECT_EQ(kernel.op<void()>(name.c_str()), verb) << name;
	}
	for (const auto &[name, verb] : kernel.ops())
		EXPECT_TRUE(verbs.contains(name) || name == "free_context")
			<< name;
}

TEST_P(device, has_later_operations_from_their_release_on)
{
	EXPECT_EQ(kernel.ops().contains("import_dm"), GetParam() >= 35);
	EXPECT_EQ(kernel.ops().contains("reg_mr_ex"), GetParam() >= 59);
	EXPECT_EQ(kernel.ops().contains("query_port_speed"), GetParam() >= 62);
	for (const char *name :
	     { "create_comp_cntr", "destroy_comp_cntr", "inc_comp_cntr",
	       "inc_err_comp_cntr", "qp_attach_comp_cntr",
	       "query_comp_cntr_caps", "read_comp_cntr", "read_err_comp_cntr",
	       "set_comp_cntr", "set_err_comp_cntr" })
		EXPECT_EQ(kernel.ops().contains(name), GetParam() >= 65)
			<< name;
}

TEST_P(device, finds_its_state_from_both_ends)
{
	context *ctx = to_context(kernel.base());

	EXPECT_EQ(to_context(to_verbs_context(kernel.base())), ctx);
	EXPECT_EQ(ctx->base.device, kernel.base()->device);
}

TEST_P(device, runs_a_queue_pair)
{
	ibv_wc wc[2];
	ibv_send_wr wr{}, *bad = nullptr;
	auto *cq = kernel.op<decltype(create_cq)>("create_cq")(kernel.base(), 4,
							       nullptr, 0);
	ASSERT_NE(cq, nullptr);
	ibv_qp *qp = kernel.make_qp(cq);
	ASSERT_NE(qp, nullptr);

	wr.opcode = IBV_WR_SEND;
	EXPECT_EQ(kernel.op<decltype(post_send)>("post_send")(qp, &wr, &bad),
		  0);
	kernel.complete(cq, qp->qp_num, 0);
	ASSERT_EQ(kernel.op<decltype(poll_cq)>("poll_cq")(cq, 2, wc), 1);
	EXPECT_EQ(wc[0].qp_num, qp->qp_num);
	EXPECT_EQ(kernel.op<decltype(req_notify_cq)>("req_notify_cq")(cq, 0),
		  0);
	EXPECT_EQ(kernel.op<decltype(destroy_qp)>("destroy_qp")(qp), 0);
	EXPECT_EQ(kernel.op<decltype(destroy_cq)>("destroy_cq")(cq), 0);
}

/* Past what the release has come comp_mask and the XRCD, which are libibverbs'. */
TEST_P(device, offers_what_the_release_has_of_ibv_wr)
{
	std::uint64_t offered = send_ops_of(
		IBV_QPT_RC, to_context(kernel.base())->state.placement);
	std::size_t mask_at = library->traits.qp_comp_mask;
	std::uint64_t tail[2] = {};
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *qp = kernel.make_qp(cq, IBV_QPT_RC, offered);

	ASSERT_NE(qp, nullptr);
	EXPECT_EQ(!!(offered & QP_EX_WITH_ATOMIC_WRITE), GetParam() >= 44);
	EXPECT_EQ(!!(offered & QP_EX_WITH_FLUSH), GetParam() >= 45);
	std::memcpy(tail, reinterpret_cast<char *>(qp) + mask_at, sizeof(tail));
	EXPECT_EQ(tail[0], PABI_QP_EX);
	EXPECT_EQ(tail[1], 0U);
	destroy_qp(qp);
	destroy_cq(cq);
}

/* An ib_core of before 6.2 reports none of IBTA A19. */
TEST(device_caps, limit_what_is_offered_of_ibv_wr)
{
	for (int release : recorded_releases()) {
		fake_kernel kernel(release, 0);
		ibv_cq *cq = kernel.make_cq();

		for (auto op : { QP_EX_WITH_ATOMIC_WRITE, QP_EX_WITH_FLUSH }) {
			errno = 0;
			EXPECT_EQ(kernel.make_qp(cq, IBV_QPT_RC, op), nullptr);
			EXPECT_EQ(errno, EOPNOTSUPP);
		}
		destroy_cq(cq);
	}
}

TEST_P(device, makes_queue_pairs_with_flags)
{
	ibv_cq *cq = kernel.make_cq();
	ibv_qp *qp = kernel.make_qp(cq, IBV_QPT_UD, 0,
				    IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);

	ASSERT_NE(qp, nullptr);
	EXPECT_EQ(kernel.made_with_flags, 1);
	destroy_qp(qp);
	destroy_cq(cq);
}

} // namespace
} // namespace ornic::test
