// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Tag matching: changes of the tag list of an SRQ.

#include "tags.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <rdma/ornic-hw.h>
#include <span>

#include "context.h"
#include "qp.h"
#include "srq.h"
#include "verbs.h"

namespace ornic
{
namespace
{

constexpr unsigned int known_flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;

/* What a request becomes, or 0. */
[[nodiscard]] std::uint8_t wqe_opcode(unsigned int opcode) noexcept
{
	switch (opcode) {
	case IBV_WR_TAG_ADD:
		return ORNIC_WQE_TAG_ADD;
	case IBV_WR_TAG_DEL:
		return ORNIC_WQE_TAG_DEL;
	case IBV_WR_TAG_SYNC:
		return ORNIC_WQE_TAG_SYNC;
	default:
		return 0;
	}
}

[[nodiscard]] std::uint8_t wqe_flags(unsigned int flags) noexcept
{
	unsigned int out = 0;

	if (flags & IBV_OPS_SIGNALED)
		out |= ORNIC_WQE_SIGNALED;
	if (flags & IBV_OPS_TM_SYNC)
		out |= ORNIC_WQE_UNEXPECTED;
	return static_cast<std::uint8_t>(out);
}

void put_segment(std::byte *at, const ibv_ops_wr &wr) noexcept
{
	ornic_seg_tag segment{};

	segment.handle = le<__le32>(wr.tm.handle);
	segment.unexpected = le<__le32>(wr.tm.unexpected_cnt);
	if (raw(wr.opcode) == IBV_WR_TAG_ADD) {
		segment.recv_wr_id = le<__le64>(wr.tm.add.recv_wr_id);
		segment.tag = le<__le64>(wr.tm.add.tag);
		segment.mask = le<__le64>(wr.tm.add.mask);
	}
	std::memcpy(at, &segment, sizeof(segment));
}

} // namespace

/*
 * One that does not wait for a completion is possible any number of times, as the
 * device says what it has executed.
 */
int send_queue::write_tag(ibv_ops_wr &wr, tag_room &room) noexcept
{
	unsigned int opcode = raw(wr.opcode);
	bool is_add = opcode == IBV_WR_TAG_ADD;
	auto flags = static_cast<unsigned int>(wr.flags);

	if (!wqe_opcode(opcode) || (flags & ~known_flags) ||
	    (is_add && wr.tm.add.num_sge < 0))
		return EINVAL;
	if (ring_.full()) {
		ring_.retire_taken();
		if (ring_.full())
			return ENOMEM;
	}
	hdr_ = reinterpret_cast<ornic_sq_hdr *>(ring_.slot());
	hdr_->opcode = wqe_opcode(opcode);
	hdr_->flags = wqe_flags(flags);
	hdr_->payload = 0;
	hdr_->imm = 0;
	hdr_->wr_id = le<__le64>(wr.wr_id);
	data_ = ring_.slot() + sizeof(*hdr_) + sizeof(ornic_seg_tag);
	no_data_ = !is_add;
	if (is_add) {
		if (room.full())
			return ENOMEM;
		if (int ret = put_sges(
			    { wr.tm.add.sg_list,
			      static_cast<std::size_t>(wr.tm.add.num_sge) }))
			return ret;
		wr.tm.handle = room.add();
	}
	put_segment(ring_.slot() + sizeof(*hdr_), wr);
	return 0;
}

int send_queue::post_tags(ibv_ops_wr *wr, ibv_ops_wr **bad_wr,
			  tag_room &room) noexcept
{
	ibv_ops_wr *first = wr;
	int ret = 0;

	lock_.lock();
	for (; wr; wr = wr->next) {
		ret = write_tag(*wr, room);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		ring_.push();
	}
	if (int gone = submit_and_unlock()) [[unlikely]] {
		*bad_wr = first;
		return gone;
	}
	return ret;
}

int make_tag_queue(context &ctx, shared_receive_queue &srq,
		   const ibv_srq_init_attr_ex &attr) noexcept
{
	ibv_qp_init_attr_ex init{};

	init.send_cq = attr.cq;
	init.recv_cq = attr.cq;
	init.srq = &srq.base.srq;
	init.cap.max_send_wr = std::max(attr.tm_cap.max_ops, 1U);
	init.cap.max_send_sge = ctx.state.tag_sge;
	init.qp_type = IBV_QPT_DRIVER;
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.pd = attr.pd;
	srq.room.init(srq.queue, attr.tm_cap.max_num_tags);
	srq.tags = make_tags_qp(ctx, init);
	return srq.tags ? 0 : errno;
}

/** EINVAL of an SRQ that matches no tags. */
int post_srq_ops(ibv_srq *ibsrq, ibv_ops_wr *wr, ibv_ops_wr **bad_wr) noexcept
{
	shared_receive_queue &srq = to_srq(ibsrq);

	if (!srq.tags) {
		*bad_wr = wr;
		return EINVAL;
	}
	return srq.tags->sq.post_tags(wr, bad_wr, srq.room);
}

} // namespace ornic
