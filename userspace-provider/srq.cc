// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Shared receive queues: creation, limit, size, posting.

#include "srq.h"

#include <bit>
#include <cerrno>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ornic-abi.h>
#include <utility>

#include "command.h"
#include "context.h"
#include "domain.h"
#include "ioctl.h"
#include "qp.h"
#include "verbs.h"

namespace ornic
{
namespace
{

constexpr std::uint8_t max_log_depth = 24;
constexpr std::uint8_t min_log_stride = 5;
constexpr std::uint8_t max_log_stride = 10;

[[nodiscard]] bool plausible(const ornic_create_srq_resp &answer) noexcept
{
	std::uint64_t size = answer.mmap_size;

	return answer.log_depth <= max_log_depth &&
	       answer.log_stride >= min_log_stride &&
	       answer.log_stride <= max_log_stride &&
	       size >= ORNIC_RING_OFFSET &&
	       std::uint64_t{ 1 } << (answer.log_depth + answer.log_stride) <=
		       size - ORNIC_RING_OFFSET;
}

[[nodiscard]] ring_layout layout_of(const mapping &memory,
				    std::uint32_t log_depth,
				    std::uint32_t log_stride,
				    std::uint16_t max_sge) noexcept
{
	return {
		.ring = memory.data() + ORNIC_RING_OFFSET,
		.record = reinterpret_cast<ornic_wq_record *>(memory.data()),
		.log_depth = static_cast<std::uint8_t>(log_depth),
		.log_stride = static_cast<std::uint8_t>(log_stride),
		.max_sge = max_sge,
		.present = true,
	};
}

/* Map what the kernel made. 0, or an errno. */
int set_up(ibv_context *ctx, ibv_pd *pd, shared_receive_queue &srq,
	   const ornic_create_srq_resp &answer) noexcept
{
	if (!plausible(answer))
		return EPROTO;
	srq.memory = mapping(ctx->cmd_fd, answer.mmap_offset, answer.mmap_size);
	if (!srq.memory)
		return errno;
	srq.number = answer.srqn;
	srq.log_stride = answer.log_stride;
	srq.max_sge = answer.max_sge;
	srq.queue.init(layout_of(srq.memory, answer.log_depth,
				 answer.log_stride, answer.max_sge),
		       single_threaded(pd));
	return 0;
}

/* Finish what the kernel has made, or take it back. */
ibv_srq *finish(ibv_context *ctx, ibv_pd *pd,
		unique_object<shared_receive_queue> srq,
		const ornic_create_srq_resp &answer) noexcept
{
	if (int ret = set_up(ctx, pd, *srq, answer)) {
		log_error(ctx, "ornic: %s: cannot map SRQ %u: %d\n",
			  answer.srqn, ret);
		ibv_cmd_destroy_srq(&srq->base.srq);
		return fail(ret);
	}
	srq->pd = pd;
	use(pd);
	return &srq.release()->base.srq;
}

/* An SRQ that matches tags is one with a queue for their list. */
ibv_srq *finish_tags(ibv_context *ctx, ibv_srq *ibsrq,
		     const ibv_srq_init_attr_ex &attr) noexcept
{
	if (!ibsrq)
		return nullptr;
	if (int ret = make_tag_queue(*to_context(ctx), to_srq(ibsrq), attr)) {
		destroy_srq(ibsrq);
		return fail(ret);
	}
	return ibsrq;
}

/* What the kernel makes of @max_wr WQEs: record page, then whole pages. */
[[nodiscard]] std::size_t size_for(std::uint32_t max_wr,
				   std::uint32_t log_stride) noexcept
{
	std::size_t ring = std::bit_ceil(std::size_t{ max_wr }) << log_stride;

	return whole_pages(ORNIC_RING_OFFSET + ring);
}

/*
 * Posters wait until it is done: the device takes over what is posted, so
 * nothing may be posted meanwhile. Messages are received all the time.
 */
int resize(shared_receive_queue &srq, std::uint32_t max_wr) noexcept
{
	ioctl_command<3> cmd(UVERBS_OBJECT_SRQ, ORNIC_METHOD_SRQ_RESIZE);
	ornic_resize_srq_resp answer{};
	ibv_srq *base = &srq.base.srq;

	if (!max_wr || max_wr > 1U << max_log_depth)
		return EINVAL;
	cmd.object(0, ORNIC_ATTR_SRQ_RESIZE_HANDLE, base->handle);
	cmd.in(1, ORNIC_ATTR_SRQ_RESIZE_MAX_WR, max_wr);
	cmd.out(2, ORNIC_ATTR_SRQ_RESIZE_RESP, answer);
	// Once the device has moved there is no way back: have the place ready.
	mapping memory = mapping::reserve(size_for(max_wr, srq.log_stride));
	if (!memory)
		return ENOMEM;
	lock_guard guard(srq.queue.lock());
	if (int ret = cmd.run(base->context->cmd_fd))
		return ret;
	if (answer.log_depth > max_log_depth ||
	    size_for(1U << answer.log_depth, srq.log_stride) !=
		    answer.mmap_size ||
	    !memory.map_here(base->context->cmd_fd, answer.mmap_offset,
			     answer.mmap_size)) {
		log_error(base->context,
			  "ornic: %s: cannot map resized SRQ %u, %u WRs\n",
			  srq.number, max_wr);
		return EPROTO;
	}
	srq.memory = std::move(memory);
	srq.queue.move(layout_of(srq.memory, answer.log_depth, srq.log_stride,
				 srq.max_sge));
	return 0;
}

/* 0 if this provider can make the SRQ that is asked for. */
int check(const ibv_srq_init_attr_ex &attr) noexcept
{
	constexpr std::uint32_t known =
		IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
		IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ |
		IBV_SRQ_INIT_ATTR_TM;
	constexpr std::uint32_t tm = IBV_SRQ_INIT_ATTR_CQ |
				     IBV_SRQ_INIT_ATTR_TM;
	constexpr std::uint32_t xrc = IBV_SRQ_INIT_ATTR_XRCD |
				      IBV_SRQ_INIT_ATTR_CQ;

	if (attr.comp_mask & ~known)
		return EOPNOTSUPP;
	if (!(attr.comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr.pd)
		return EINVAL;
	if (!(attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) ||
	    raw(attr.srq_type) == IBV_SRQT_BASIC)
		return 0;
	if (raw(attr.srq_type) == IBV_SRQT_TM)
		return (attr.comp_mask & tm) == tm && attr.cq ? 0 : EINVAL;
	if (raw(attr.srq_type) != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	if ((attr.comp_mask & xrc) != xrc || !attr.xrcd || !attr.cq)
		return EINVAL;
	return 0;
}

} // namespace

ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr) noexcept
{
	request<ib_uverbs_create_srq, ornic_create_srq_req> cmd;
	response<ib_uverbs_create_srq_resp, ornic_create_srq_resp> resp;
	auto srq = make_object<shared_receive_queue>();

	if (!srq)
		return nullptr;
	if (int ret = ibv_cmd_create_srq(pd, &srq->base.srq, attr, cmd.data(),
					 cmd.size(), resp.data(), resp.size()))
		return fail(ret);
	return finish(pd->context, pd, std::move(srq), resp.driver());
}

/** Also XRC SRQs, from which targets take, and those that match tags. */
ibv_srq *create_srq_ex(ibv_context *ctx, ibv_srq_init_attr_ex *attr) noexcept
{
	request<ib_uverbs_create_xsrq, ornic_create_srq_req> cmd;
	response<ib_uverbs_create_srq_resp, ornic_create_srq_resp> resp;

	if (int ret = check(*attr))
		return fail(ret);
	auto srq = make_object<shared_receive_queue>();
	if (!srq)
		return nullptr;
	if (int ret = ibv_cmd_create_srq_ex(ctx, &srq->base, attr, cmd.data(),
					    cmd.size(), resp.data(),
					    resp.size()))
		return fail(ret);
	bool tags = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE &&
		    raw(attr->srq_type) == IBV_SRQT_TM;
	ibv_srq *made = finish(ctx, attr->pd, std::move(srq), resp.driver());

	return tags ? finish_tags(ctx, made, *attr) : made;
}

/** The number that an initiator names; only XRC SRQs have one to tell. */
int get_srq_num(ibv_srq *srq, std::uint32_t *number) noexcept
{
	if (to_srq(srq).base.srq_type != IBV_SRQT_XRC)
		return EINVAL;
	*number = to_srq(srq).number;
	return 0;
}

int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int mask) noexcept
{
	request<ib_uverbs_modify_srq> cmd;

	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EOPNOTSUPP;
	if (mask & IBV_SRQ_MAX_WR) {
		if (mask & IBV_SRQ_LIMIT && attr->srq_limit > attr->max_wr)
			return EINVAL;
		if (int ret = resize(to_srq(srq), attr->max_wr))
			return ret;
		mask &= ~IBV_SRQ_MAX_WR;
	}
	if (!mask)
		return 0;
	return ibv_cmd_modify_srq(srq, attr, mask, cmd.data(), cmd.size());
}

int query_srq(ibv_srq *srq, ibv_srq_attr *attr) noexcept
{
	request<ib_uverbs_query_srq> cmd;

	return ibv_cmd_query_srq(srq, attr, cmd.data(), cmd.size());
}

/*
 * EBUSY while a QP takes from it. To the kernel the queue of a tag list is such a QP,
 * so that goes first; nothing may be in the way of the rest then.
 */
int destroy_srq(ibv_srq *srq) noexcept
{
	if (to_srq(srq).takers.load(std::memory_order_acquire))
		return EBUSY;
	if (queue_pair *tags = to_srq(srq).tags) {
		if (int ret = destroy_qp(&tags->base.qp))
			return ret;
		to_srq(srq).tags = nullptr;
	}
	if (int ret = ibv_cmd_destroy_srq(srq))
		return ret;
	unuse(to_srq(srq).pd);
	object_deleter()(&to_srq(srq));
	return 0;
}

int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept
{
	return to_srq(srq).queue.post(wr, bad_wr);
}

} // namespace ornic
