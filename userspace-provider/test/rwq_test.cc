// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Work queues, tables of them, and QPs that spread frames over them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <vector>

#include "fake_kernel.h"
#include "rwq.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

using qpns = std::vector<std::uint32_t>;

constexpr std::uint32_t depth = 1U << fake_kernel::log_depth;

ibv_wq *make_wq(fake_kernel &kernel, ibv_cq *cq)
{
	ibv_wq_init_attr attr{};

	attr.wq_type = IBV_WQT_RQ;
	attr.max_wr = depth;
	attr.max_sge = 1;
	attr.pd = kernel.pd();
	attr.cq = cq;
	return create_wq(kernel.base(), &attr);
}

int to(ibv_wq *wq, int state)
{
	ibv_wq_attr attr{};

	attr.attr_mask = IBV_WQ_ATTR_STATE;
	attr.wq_state = static_cast<ibv_wq_state>(state);
	return modify_wq(wq, &attr);
}

int post(ibv_wq *wq)
{
	ibv_recv_wr wr{};
	ibv_recv_wr *bad = nullptr;
	int ret = wq->post_recv(wq, &wr, &bad);

	EXPECT_EQ(bad, ret ? &wr : nullptr);
	return ret;
}

TEST(rwq, is_posted_and_polled)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_wq *wq = make_wq(kernel, cq);

	ASSERT_NE(wq, nullptr);
	EXPECT_EQ(wq->wq_num, 0x100U);
	EXPECT_EQ(to_pd(kernel.pd()).users, 1U);
	EXPECT_EQ(post(wq), EINVAL);
	ASSERT_EQ(to(wq, IBV_WQS_RDY), 0);
	for (std::uint32_t i = 0; i < depth; ++i)
		ASSERT_EQ(post(wq), 0);
	EXPECT_EQ(post(wq), ENOMEM);
	kernel.complete(cq, wq->wq_num, 1, ORNIC_CQE_RECV);
	EXPECT_EQ(kernel.poll(cq), (qpns{ 0x100 }));
	EXPECT_EQ(post(wq), 0);
	EXPECT_EQ(post(wq), 0);
	EXPECT_EQ(post(wq), ENOMEM);
	EXPECT_EQ(destroy_wq(wq), 0);
	EXPECT_EQ(kernel.find(0x100), nullptr);
	EXPECT_EQ(to_pd(kernel.pd()).users, 0U);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* Its completions go, those of others stay, and all of its ring is free. */
TEST(rwq, reset_empties_it)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_wq *wq = make_wq(kernel, cq), *other = make_wq(kernel, cq);

	ASSERT_EQ(to(wq, IBV_WQS_RDY), 0);
	ASSERT_EQ(to(other, IBV_WQS_RDY), 0);
	for (std::uint32_t i = 0; i < depth; ++i)
		ASSERT_EQ(post(wq), 0);
	kernel.complete(cq, wq->wq_num, 0, ORNIC_CQE_RECV);
	kernel.complete(cq, other->wq_num, 0, ORNIC_CQE_RECV);
	ASSERT_EQ(to(wq, IBV_WQS_ERR), 0);
	EXPECT_EQ(post(wq), ENOMEM);
	kernel.modify_result = EINVAL;
	EXPECT_EQ(to(wq, IBV_WQS_RESET), EINVAL);
	EXPECT_EQ(post(wq), ENOMEM);
	ASSERT_EQ(to(wq, IBV_WQS_RESET), 0);
	EXPECT_EQ(post(wq), EINVAL);
	EXPECT_EQ(kernel.poll(cq), (qpns{ other->wq_num }));
	ASSERT_EQ(to(wq, IBV_WQS_RDY), 0);
	for (std::uint32_t i = 0; i < depth; ++i)
		ASSERT_EQ(post(wq), 0);
	EXPECT_EQ(destroy_wq(wq), 0);
	EXPECT_EQ(destroy_wq(other), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* QPs and WQs share the numbers, which are given out again before destroy is back. */
TEST(rwq, number_may_become_that_of_a_qp)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_wq *wq = make_wq(kernel, cq);
	ibv_qp *qp = nullptr;

	kernel.complete(cq, wq->wq_num, 0, ORNIC_CQE_RECV);
	kernel.on_destroy = [&] {
		kernel.next_qpn = wq->wq_num;
		qp = kernel.make_qp(cq);
		ASSERT_EQ(kernel.post(qp), 0);
		kernel.complete(cq, qp->qp_num, 0);
	};
	EXPECT_EQ(destroy_wq(wq), 0);
	ASSERT_NE(qp, nullptr);
	EXPECT_EQ(kernel.find(0x100), &to_qp(qp));
	EXPECT_EQ(kernel.poll(cq), (qpns{ 0x100 }));
	kernel.on_destroy = [&] {
		kernel.next_qpn = 0x100;
		wq = make_wq(kernel, cq);
	};
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(kernel.find(0x100), &to_wq(wq).qp);
	EXPECT_EQ(destroy_wq(wq), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(rwq, refuses_what_it_cannot_make)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	struct row {
		int error;
		std::function<void(ibv_wq_init_attr &)> change;
	};
	const std::vector<row> rows = {
		{ EINVAL, [](auto &a) { a.pd = nullptr; } },
		{ EINVAL, [](auto &a) { a.cq = nullptr; } },
		{ EINVAL,
		  [](auto &a) { a.wq_type = static_cast<ibv_wq_type>(1); } },
		{ EOPNOTSUPP,
		  [](auto &a) {
			  a.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
			  a.create_flags = IBV_WQ_FLAGS_SCATTER_FCS;
		  } },
		{ EOPNOTSUPP, [](auto &a) { a.comp_mask = 2; } },
	};

	for (const row &r : rows) {
		ibv_wq_init_attr attr{};

		attr.wq_type = IBV_WQT_RQ;
		attr.pd = kernel.pd();
		attr.cq = cq;
		r.change(attr);
		errno = 0;
		EXPECT_EQ(create_wq(kernel.base(), &attr), nullptr);
		EXPECT_EQ(errno, r.error);
	}
	for (int error : { EPERM, EOPNOTSUPP, ENOMEM }) {
		kernel.wq_result = error;
		errno = 0;
		EXPECT_EQ(make_wq(kernel, cq), nullptr);
		EXPECT_EQ(errno, error);
	}
	kernel.wq_result = 0;
	EXPECT_EQ(to_pd(kernel.pd()).users, 0U);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(rwq, believes_no_impossible_answer)
{
	const std::vector<std::function<void(ornic_create_wq_resp &)>> lies = {
		[](auto &a) { a.log_depth = 25; },
		[](auto &a) { a.log_stride = 4; },
		[](auto &a) { a.log_stride = 11; },
		[](auto &a) { a.rq_offset = 0; },
		[](auto &a) { a.rq_offset = 0xfffffff0; },
		[](auto &a) { a.mmap_size = ORNIC_RING_OFFSET; },
	};
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();

	for (const auto &lie : lies) {
		const int before = kernel.destroyed;

		kernel.twist_wq = lie;
		errno = 0;
		EXPECT_EQ(make_wq(kernel, cq), nullptr);
		EXPECT_EQ(errno, EPROTO);
		EXPECT_EQ(kernel.destroyed, before + 1);
	}
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* ib_core would keep the WQ locked. */
TEST(rwq, knows_the_last_state)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_wq *wq = make_wq(kernel, cq);
	ibv_wq_attr attr{};

	kernel.modify_result = EFAULT;
	EXPECT_EQ(to(wq, IBV_WQS_ERR + 1), EINVAL);
	attr.attr_mask = IBV_WQ_ATTR_CURR_STATE;
	attr.curr_wq_state = static_cast<ibv_wq_state>(IBV_WQS_ERR + 1);
	EXPECT_EQ(modify_wq(wq, &attr), EINVAL);
	EXPECT_EQ(kernel.modify_result, EFAULT);
	EXPECT_EQ(to(wq, IBV_WQS_RDY), EFAULT);
	EXPECT_EQ(destroy_wq(wq), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(rwq, table_is_made_and_destroyed)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_wq *wq = make_wq(kernel, cq);
	std::vector<ibv_wq *> wqs(128, wq);
	ibv_rwq_ind_table_init_attr attr{};

	attr.ind_tbl = wqs.data();
	for (std::uint32_t size : { 0U, 7U }) {
		attr.log_ind_tbl_size = size;
		ibv_rwq_ind_table *table =
			create_rwq_ind_table(kernel.base(), &attr);
		ASSERT_NE(table, nullptr);
		EXPECT_EQ(table->ind_tbl_num, 77);
		kernel.wq_result = EBUSY;
		EXPECT_EQ(destroy_rwq_ind_table(table), EBUSY);
		EXPECT_EQ(destroy_wq(wq), EBUSY);
		kernel.wq_result = 0;
		EXPECT_EQ(destroy_rwq_ind_table(table), 0);
	}
	for (std::uint32_t size : { 8U, 13U, 31U, 32U, 0xffffffffU }) {
		attr.log_ind_tbl_size = size;
		errno = 0;
		EXPECT_EQ(create_rwq_ind_table(kernel.base(), &attr), nullptr);
		EXPECT_EQ(errno, EINVAL);
	}
	attr.log_ind_tbl_size = 7;
	wqs[127] = nullptr;
	EXPECT_EQ(create_rwq_ind_table(kernel.base(), &attr), nullptr);
	EXPECT_EQ(errno, EINVAL);
	wqs[127] = wq;
	kernel.wq_result = ENOSPC;
	EXPECT_EQ(create_rwq_ind_table(kernel.base(), &attr), nullptr);
	EXPECT_EQ(errno, ENOSPC);
	kernel.wq_result = 0;
	EXPECT_EQ(destroy_wq(wq), 0);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* What a QP is made with that spreads over a table. */
struct spread {
	explicit spread(fake_kernel &kernel)
	{
		for (std::size_t i = 0; i < key.size(); ++i)
			key[i] = static_cast<std::uint8_t>(i + 1);
		attr.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
		attr.qp_type = IBV_QPT_RAW_PACKET;
		attr.pd = kernel.pd();
		attr.rwq_ind_tbl = &table;
		attr.rx_hash_conf.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
		attr.rx_hash_conf.rx_hash_key_len =
			static_cast<std::uint8_t>(key.size());
		attr.rx_hash_conf.rx_hash_key = key.data();
		attr.rx_hash_conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 |
							IBV_RX_HASH_DST_IPV4;
	}
	spread(const spread &) = delete;
	spread &operator=(const spread &) = delete;

	std::array<std::uint8_t, 40> key{};
	ibv_rwq_ind_table table{};
	ibv_qp_init_attr_ex attr{};
};

TEST(rss_qp, tells_the_kernel_its_hash)
{
	fake_kernel kernel;
	spread s(kernel);
	ibv_recv_wr wr{}, *bad = nullptr;
	ibv_qp *qp = create_qp_ex(kernel.base(), &s.attr);

	ASSERT_NE(qp, nullptr);
	EXPECT_EQ(kernel.rss.comp_mask, 0U);
	EXPECT_EQ(kernel.rss.hash_function, 1);
	EXPECT_EQ(kernel.rss.key_len, 40);
	EXPECT_EQ(kernel.rss.fields, 3U);
	EXPECT_TRUE(std::equal(s.key.begin(), s.key.end(), kernel.rss.key));
	// It has no queues, and is not among those that CQs complete.
	EXPECT_EQ(kernel.find(qp->qp_num), nullptr);
	EXPECT_EQ(post_recv(qp, &wr, &bad), EINVAL);
	EXPECT_EQ(kernel.post(qp), EINVAL);
	EXPECT_EQ(to_pd(kernel.pd()).users, 1U);
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(to_pd(kernel.pd()).users, 0U);
}

TEST(rss_qp, has_nothing_else)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();
	ibv_srq srq{};
	const std::vector<std::function<void(ibv_qp_init_attr_ex &)>> changes = {
		[](auto &a) { a.qp_type = IBV_QPT_UD; },
		[](auto &a) { a.pd = nullptr; },
		[](auto &a) { a.rwq_ind_tbl = nullptr; },
		[](auto &a) { a.comp_mask ^= IBV_QP_INIT_ATTR_IND_TABLE; },
		[](auto &a) { a.comp_mask ^= IBV_QP_INIT_ATTR_RX_HASH; },
		[&](auto &a) { a.send_cq = cq; },
		[&](auto &a) { a.recv_cq = cq; },
		[&](auto &a) { a.srq = &srq; },
		[](auto &a) { a.cap.max_send_wr = 1; },
		[](auto &a) { a.cap.max_recv_wr = 1; },
		[](auto &a) { a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS; },
		[](auto &a) { a.rx_hash_conf.rx_hash_key_len = 0; },
		[](auto &a) { a.rx_hash_conf.rx_hash_key_len = 39; },
		[](auto &a) { a.rx_hash_conf.rx_hash_key_len = 255; },
		[](auto &a) { a.rx_hash_conf.rx_hash_key = nullptr; },
	};

	for (std::size_t i = 0; i < changes.size(); ++i) {
		spread s(kernel);

		changes[i](s.attr);
		errno = 0;
		EXPECT_EQ(create_qp_ex(kernel.base(), &s.attr), nullptr) << i;
		EXPECT_EQ(errno, EINVAL) << i;
	}
	for (int error : { EPERM, EINVAL, EOPNOTSUPP }) {
		spread s(kernel);

		kernel.wq_result = error;
		errno = 0;
		EXPECT_EQ(create_qp_ex(kernel.base(), &s.attr), nullptr);
		EXPECT_EQ(errno, error);
	}
	EXPECT_EQ(to_pd(kernel.pd()).users, 0U);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* Neither in what is too short for it, nor of a device that has none. */
TEST(rss_qp, fields_are_told)
{
	fake_kernel kernel;
	ibv_device_attr_ex attr{};

	EXPECT_EQ(query_device(kernel.base(), nullptr, &attr, sizeof(attr)), 0);
	EXPECT_EQ(attr.rss_caps.rx_hash_fields_mask, 0U);
	kernel.rss_qpts = 1U << IBV_QPT_RAW_PACKET;
	EXPECT_EQ(query_device(kernel.base(), nullptr, &attr, sizeof(attr)), 0);
	EXPECT_EQ(attr.rss_caps.rx_hash_fields_mask, 0xffU);
	EXPECT_EQ(attr.rss_caps.rx_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ);
	attr.rss_caps.rx_hash_fields_mask = 0x55;
	EXPECT_EQ(query_device(kernel.base(), nullptr, &attr,
			       offsetof(ibv_device_attr_ex, rss_caps)),
		  0);
	EXPECT_EQ(attr.rss_caps.rx_hash_fields_mask, 0x55U);
}

} // namespace
} // namespace ornic::test
