// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Tag matching: the queue of a tag list, changes of the list, completions.

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include "fake_kernel.h"
#include "srq.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

constexpr std::uint32_t max_tags = 3;
constexpr std::uint32_t depth = 1U << fake_kernel::log_depth;

/* An SRQ with a tag list, and the device's end of it. */
struct tags_fixture {
	tags_fixture()
		: cq(kernel.make_cq())
		, srq(kernel.make_tm_srq(cq, max_tags, depth))
		, ring(to_srq(srq).tags->memory.data())
	{
	}

	ibv_ops_wr make(ibv_ops_wr_opcode opcode)
	{
		ibv_ops_wr wr{};

		wr.wr_id = 77;
		wr.opcode = opcode;
		wr.tm.add.recv_wr_id = 78;
		wr.tm.add.sg_list = &sge;
		wr.tm.add.num_sge = 1;
		wr.tm.add.tag = 0x1122334455667788;
		wr.tm.add.mask = 0xffff;
		return wr;
	}

	int post(ibv_ops_wr &wr)
	{
		ibv_ops_wr *bad = nullptr;
		int ret = post_srq_ops(srq, &wr, &bad);

		EXPECT_EQ(bad, ret ? &wr : nullptr);
		return ret;
	}

	int post(ibv_ops_wr_opcode opcode)
	{
		ibv_ops_wr wr = make(opcode);

		return post(wr);
	}

	/* What the device reads from slot @index. */
	template <typename T> T at(std::uint32_t index, std::size_t offset)
	{
		T value;

		std::memcpy(&value,
			    ring + ORNIC_RING_OFFSET +
				    (std::size_t{ index }
				     << fake_kernel::log_stride) +
				    offset,
			    sizeof(value));
		return value;
	}

	ornic_wq_record &record()
	{
		return *reinterpret_cast<ornic_wq_record *>(ring);
	}

	ornic_wq_record &srq_record()
	{
		return *reinterpret_cast<ornic_wq_record *>(
			to_srq(srq).memory.data());
	}

	fake_kernel kernel;
	ibv_sge sge{ 0x1000, 64, 5 };
	ibv_cq *cq;
	ibv_srq *srq;
	std::byte *ring;
};

TEST(tags, queue_comes_and_goes_with_the_srq)
{
	tags_fixture fix;
	const ibv_qp_init_attr_ex &qp = fix.kernel.last_qp;

	EXPECT_EQ(qp.qp_type, IBV_QPT_DRIVER);
	EXPECT_EQ(qp.srq, fix.srq);
	EXPECT_EQ(qp.send_cq, fix.cq);
	EXPECT_EQ(qp.recv_cq, fix.cq);
	EXPECT_EQ(qp.cap.max_send_wr, depth);
	EXPECT_EQ(qp.cap.max_send_sge, 4U);
	EXPECT_EQ(qp.cap.max_recv_wr, 0U);
	EXPECT_EQ(fix.kernel.last_srq.tm_cap.max_num_tags, max_tags);
	EXPECT_EQ(fix.kernel.destroyed, 0);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(fix.kernel.destroyed, 1);
	EXPECT_EQ(fix.kernel.destroyed_srqs, 1);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

TEST(tags, srq_without_its_queue_is_none)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();

	kernel.create_qp_result = ENOMEM;
	EXPECT_EQ(kernel.make_tm_srq(cq, 1, 1), nullptr);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(kernel.destroyed_srqs, 1);
	EXPECT_EQ(destroy_cq(cq), 0);
}

/* The kernel would refuse the SRQ when its queue is gone already. */
TEST(tags, srq_is_busy_while_a_qp_takes_from_it)
{
	tags_fixture fix;
	ibv_qp_init_attr attr{};

	attr.qp_type = IBV_QPT_RC;
	attr.send_cq = attr.recv_cq = fix.cq;
	attr.srq = fix.srq;
	protection_domain pd{};
	pd.base.context = fix.kernel.base();
	ibv_qp *qp = create_qp(&pd.base, &attr);
	ASSERT_NE(qp, nullptr);
	EXPECT_EQ(destroy_srq(fix.srq), EBUSY);
	EXPECT_EQ(fix.kernel.destroyed, 0);
	EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), 0);
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

/* It has counted them, and the program is yet to. */
TEST(tags, completions_outlive_the_qp)
{
	tags_fixture fix;
	ibv_qp_init_attr attr{};
	using qpns = std::vector<std::uint32_t>;

	attr.qp_type = IBV_QPT_RC;
	attr.send_cq = attr.recv_cq = fix.cq;
	attr.srq = fix.srq;
	protection_domain pd{};
	pd.base.context = fix.kernel.base();
	ibv_qp *qp = create_qp(&pd.base, &attr);
	ASSERT_NE(qp, nullptr);
	std::uint32_t qpn = qp->qp_num;
	fix.kernel.complete(fix.cq, qpn, 0);
	ibv_qp_attr reset{};
	reset.qp_state = IBV_QPS_RESET;
	EXPECT_EQ(modify_qp(qp, &reset, IBV_QP_STATE), 0);
	EXPECT_EQ(fix.kernel.poll(fix.cq), (qpns{ qpn }));
	fix.kernel.complete(fix.cq, qpn, 0);
	EXPECT_EQ(destroy_qp(qp), 0);
	EXPECT_EQ(fix.kernel.poll(fix.cq), (qpns{ qpn }));
	// Those of the queue of the list go with it.
	fix.kernel.complete(fix.cq, to_srq(fix.srq).tags->base.qp.qp_num, 0);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(fix.kernel.poll(fix.cq), qpns());
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

TEST(tags, programs_make_no_such_queue)
{
	fake_kernel kernel;
	ibv_cq *cq = kernel.make_cq();

	EXPECT_EQ(kernel.make_qp(cq, IBV_QPT_DRIVER), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(destroy_cq(cq), 0);
}

TEST(tags, add_is_written_and_published)
{
	tags_fixture fix;
	ibv_ops_wr wr = fix.make(IBV_WR_TAG_ADD);

	wr.flags = IBV_OPS_SIGNALED;
	EXPECT_EQ(fix.post(wr), 0);
	auto hdr = fix.at<ornic_sq_hdr>(0, 0);
	EXPECT_EQ(hdr.opcode, ORNIC_WQE_TAG_ADD);
	EXPECT_EQ(hdr.flags, ORNIC_WQE_SIGNALED);
	EXPECT_EQ(le(hdr.payload), 1);
	EXPECT_EQ(le(hdr.wr_id), 77U);
	auto tag = fix.at<ornic_seg_tag>(0, sizeof(hdr));
	EXPECT_EQ(le(tag.recv_wr_id), 78U);
	EXPECT_EQ(le(tag.tag), 0x1122334455667788U);
	EXPECT_EQ(le(tag.mask), 0xffffU);
	EXPECT_EQ(le(tag.handle), wr.tm.handle);
	auto sge = fix.at<ornic_sge>(0, sizeof(hdr) + sizeof(tag));
	EXPECT_EQ(le(sge.addr), 0x1000U);
	EXPECT_EQ(le(sge.length), 64U);
	EXPECT_EQ(le(sge.lkey), 5U);
	EXPECT_EQ(le(fix.record().producer), 1U);

	ibv_ops_wr other = fix.make(IBV_WR_TAG_ADD);
	EXPECT_EQ(fix.post(other), 0);
	EXPECT_NE(other.tm.handle, wr.tm.handle);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

TEST(tags, del_and_sync_carry_handle_and_count)
{
	tags_fixture fix;
	ibv_ops_wr sync = fix.make(IBV_WR_TAG_SYNC);
	ibv_ops_wr del = fix.make(IBV_WR_TAG_DEL);
	ibv_ops_wr *bad = nullptr;

	del.tm.handle = 9;
	del.tm.unexpected_cnt = 4;
	del.flags = IBV_OPS_TM_SYNC;
	del.next = &sync;
	sync.tm.unexpected_cnt = 5;
	EXPECT_EQ(post_srq_ops(fix.srq, &del, &bad), 0);
	EXPECT_EQ(fix.at<ornic_sq_hdr>(0, 0).opcode, ORNIC_WQE_TAG_DEL);
	EXPECT_EQ(fix.at<ornic_sq_hdr>(0, 0).flags, ORNIC_WQE_UNEXPECTED);
	EXPECT_EQ(le(fix.at<ornic_sq_hdr>(0, 0).payload), 0);
	auto tag = fix.at<ornic_seg_tag>(0, sizeof(ornic_sq_hdr));
	EXPECT_EQ(le(tag.handle), 9U);
	EXPECT_EQ(le(tag.unexpected), 4U);
	EXPECT_EQ(tag.tag, 0U);
	EXPECT_EQ(fix.at<ornic_sq_hdr>(1, 0).opcode, ORNIC_WQE_TAG_SYNC);
	tag = fix.at<ornic_seg_tag>(1, sizeof(ornic_sq_hdr));
	EXPECT_EQ(le(tag.unexpected), 5U);
	EXPECT_EQ(le(fix.record().producer), 2U);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

TEST(tags, bad_changes_are_refused)
{
	tags_fixture fix;

	EXPECT_EQ(fix.post(static_cast<ibv_ops_wr_opcode>(3)), EINVAL);
	ibv_ops_wr wr = fix.make(IBV_WR_TAG_ADD);
	wr.flags = 1 << 2;
	EXPECT_EQ(fix.post(wr), EINVAL);
	wr = fix.make(IBV_WR_TAG_ADD);
	wr.tm.add.num_sge = -1;
	EXPECT_EQ(fix.post(wr), EINVAL);
	wr.tm.add.num_sge = 2; // the queue has one
	EXPECT_EQ(fix.post(wr), EINVAL);
	EXPECT_EQ(le(fix.record().producer), 0U);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

TEST(tags, list_is_full_until_one_has_gone)
{
	tags_fixture fix;

	for (std::uint32_t i = 0; i < max_tags; ++i)
		EXPECT_EQ(fix.post(IBV_WR_TAG_ADD), 0);
	EXPECT_EQ(fix.post(IBV_WR_TAG_ADD), ENOMEM);
	EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), 0);
	fix.srq_record().tags_gone = le<__le32>(1);
	EXPECT_EQ(fix.post(IBV_WR_TAG_ADD), 0);
	EXPECT_EQ(fix.post(IBV_WR_TAG_ADD), ENOMEM);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

/* Without a completion as well. */
TEST(tags, queue_is_full_until_one_is_executed)
{
	tags_fixture fix;

	for (std::uint32_t i = 0; i < depth; ++i)
		EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), 0);
	EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), ENOMEM);
	fix.record().taken = le<__le32>(1);
	EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), 0);
	EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), ENOMEM);
	fix.kernel.complete(fix.cq, to_srq(fix.srq).tags->base.qp.qp_num, 1);
	EXPECT_EQ(fix.kernel.poll(fix.cq).size(), 1U);
	EXPECT_EQ(fix.post(IBV_WR_TAG_SYNC), 0);
	EXPECT_EQ(destroy_srq(fix.srq), 0);
	EXPECT_EQ(destroy_cq(fix.cq), 0);
}

TEST(tags, plain_srq_takes_no_changes)
{
	shared_receive_queue srq{};
	ibv_ops_wr wr{};
	ibv_ops_wr *bad = nullptr;

	EXPECT_EQ(post_srq_ops(&srq.base.srq, &wr, &bad), EINVAL);
	EXPECT_EQ(bad, &wr);
}

struct wc_row {
	std::uint8_t opcode;
	std::uint8_t tm_flags;
	ibv_wc_opcode wc;
	unsigned int flags;
};

const wc_row wc_rows[] = {
	{ ORNIC_CQE_TAG_ADD, 0, IBV_WC_TM_ADD, 0 },
	{ ORNIC_CQE_TAG_ADD, ORNIC_CQE_TM_SYNC_REQ, IBV_WC_TM_ADD,
	  IBV_WC_TM_SYNC_REQ },
	{ ORNIC_CQE_TAG_DEL, 0, IBV_WC_TM_DEL, 0 },
	{ ORNIC_CQE_TAG_SYNC, 0, IBV_WC_TM_SYNC, 0 },
	{ ORNIC_CQE_TM_RECV, 0, IBV_WC_TM_RECV, 0 },
	{ ORNIC_CQE_TM_RECV, ORNIC_CQE_TM_MATCH, IBV_WC_TM_RECV,
	  IBV_WC_TM_MATCH },
	{ ORNIC_CQE_TM_RECV, ORNIC_CQE_TM_DATA_VALID, IBV_WC_TM_RECV,
	  IBV_WC_TM_DATA_VALID },
	{ ORNIC_CQE_TM_NO_TAG, 0, IBV_WC_TM_NO_TAG, 0 },
	{ ORNIC_CQE_RECV, 0, IBV_WC_RECV, 0 },
	{ ORNIC_CQE_RECV_WRITE_IMM, 0, IBV_WC_RECV_RDMA_WITH_IMM, 0 },
};

TEST(tags, completions_as_libibverbs_spells_them)
{
	for (const wc_row &row : wc_rows) {
		ornic_cqe cqe{};

		cqe.opcode = row.opcode;
		cqe.tm_flags = row.tm_flags;
		EXPECT_EQ(wc_opcode(cqe), row.wc);
		EXPECT_EQ(wc_flags(cqe), row.flags);
	}
	EXPECT_EQ(static_cast<int>(ORNIC_CQE_TM_ERR), IBV_WC_TM_ERR);
	EXPECT_EQ(static_cast<int>(ORNIC_CQE_TM_RNDV_INCOMPLETE),
		  IBV_WC_TM_RNDV_INCOMPLETE);
}

TEST(tags, extended_cq_has_tag_and_context)
{
	completion_queue cq{};
	ibv_wc_tm_info info{};
	ornic_cqe cqe{};

	cqe.tag = le<__le64>(0x1122334455667788);
	cqe.app_ctx = le<__le32>(9);
	cq.current = &cqe;
	set_lazy_poll(cq.base.cq_ex, IBV_WC_EX_WITH_TM_INFO);
	ibv_wc_read_tm_info(&cq.base.cq_ex, &info);
	EXPECT_EQ(info.tag, 0x1122334455667788U);
	EXPECT_EQ(info.priv, 9U);
	set_lazy_poll(cq.base.cq_ex, 0);
}

} // namespace
} // namespace ornic::test
