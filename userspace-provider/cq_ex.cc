// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The extended CQ: ibv_create_cq_ex and reading completions field by field.

#include <cerrno>
#include <cstdint>
#include <sched.h>

#include "context.h"
#include "cq.h"
#include "domain.h"
#include "verbs.h"

namespace ornic
{
namespace
{

constexpr std::uint64_t known_wc_flags =
	std::uint64_t{ IBV_WC_STANDARD_FLAGS } |
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_TM_INFO;

/* Make the next completion current. */
int advance(completion_queue &cq) noexcept
{
	const ornic_cqe *cqe = take_cqe(cq);

	if (!cqe)
		return ENOENT;
	cq.current = cqe;
	cq.base.cq_ex.wr_id = le(cqe->wr_id);
	cq.base.cq_ex.status = static_cast<ibv_wc_status>(cqe->status);
	return 0;
}

/* Locks the CQ until end_poll, unless there is nothing. */
int start_poll(ibv_cq_ex *ibcq, ibv_poll_cq_attr *attr) noexcept
{
	completion_queue &cq = to_cq(ibcq);

	if (attr && attr->comp_mask)
		return EINVAL;
	cq.lock.lock();
	int ret = advance(cq);
	bool yields = cq.backoff.must_yield(!ret);
	if (ret)
		cq.lock.unlock();
	else if (cq.wants_wall)
		// Old values are better than none.
		(void)cq.wall.refresh(*cq.base.cq.context);
	if (yields) [[unlikely]]
		sched_yield();
	return ret;
}

int next_poll(ibv_cq_ex *ibcq) noexcept
{
	return advance(to_cq(ibcq));
}

void end_poll(ibv_cq_ex *ibcq) noexcept
{
	completion_queue &cq = to_cq(ibcq);

	cq.ring.publish();
	cq.current = nullptr;
	cq.lock.unlock();
}

ibv_wc_opcode read_opcode(ibv_cq_ex *cq) noexcept
{
	return wc_opcode(*to_cq(cq).current);
}

std::uint32_t read_vendor_err(ibv_cq_ex *cq) noexcept
{
	return to_cq(cq).current->vendor_err;
}

std::uint32_t read_byte_len(ibv_cq_ex *cq) noexcept
{
	return le(to_cq(cq).current->byte_len);
}

__be32 read_imm_data(ibv_cq_ex *cq) noexcept
{
	return wc_imm(*to_cq(cq).current);
}

std::uint32_t read_qp_num(ibv_cq_ex *cq) noexcept
{
	return le(to_cq(cq).current->qpn);
}

std::uint32_t read_src_qp(ibv_cq_ex *cq) noexcept
{
	return le(to_cq(cq).current->src_qpn);
}

unsigned int read_wc_flags(ibv_cq_ex *cq) noexcept
{
	return wc_flags(*to_cq(cq).current);
}

std::uint32_t read_slid(ibv_cq_ex * /* RoCE has no LIDs */) noexcept
{
	return 0;
}

std::uint8_t read_sl(ibv_cq_ex *cq) noexcept
{
	return wc_sl(*to_cq(cq).current);
}

std::uint8_t read_dlid_path_bits(ibv_cq_ex * /* as above */) noexcept
{
	return 0;
}

std::uint64_t read_completion_ts(ibv_cq_ex *cq) noexcept
{
	return le(to_cq(cq).current->timestamp);
}

std::uint64_t read_completion_wallclock_ns(ibv_cq_ex *cq) noexcept
{
	completion_queue &own = to_cq(cq);

	return own.wall.at(le(own.current->timestamp));
}

/* Zero where the completion is of no TMH. */
void read_tm_info(ibv_cq_ex *cq, ibv_wc_tm_info *info) noexcept
{
	const ornic_cqe &cqe = *to_cq(cq).current;

	info->tag = le(cqe.tag);
	info->priv = le(cqe.app_ctx);
}

[[nodiscard]] bool asks_for_no_lock(const ibv_cq_init_attr_ex &attr) noexcept
{
	return (attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	       (attr.flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

/* 0 if this provider can make the CQ that is asked for. */
int check(const ibv_cq_init_attr_ex &attr) noexcept
{
	if (attr.wc_flags & ~known_wc_flags)
		return EOPNOTSUPP;
	constexpr std::uint32_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS |
					IBV_CQ_INIT_ATTR_MASK_PD;

	if (attr.comp_mask & ~known)
		return EOPNOTSUPP;
	if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    (!attr.parent_domain || !to_pd(attr.parent_domain).parent_of))
		return EINVAL;
	if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr.flags &
	     ~static_cast<std::uint32_t>(IBV_CREATE_CQ_ATTR_SINGLE_THREADED)))
		return EOPNOTSUPP;
	return 0;
}

} // namespace

void set_lazy_poll(ibv_cq_ex &cq, std::uint64_t wc_flags) noexcept
{
	cq.start_poll = start_poll;
	cq.next_poll = next_poll;
	cq.end_poll = end_poll;
	cq.read_opcode = read_opcode;
	cq.read_vendor_err = read_vendor_err;
	cq.read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq.read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq.read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq.read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq.read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq.read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq.read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq.read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq.read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq.read_completion_wallclock_ns = read_completion_wallclock_ns;
	if (wc_flags & IBV_WC_EX_WITH_TM_INFO)
		cq.read_tm_info = read_tm_info;
}

ibv_cq_ex *create_cq_ex(ibv_context *ctx, ibv_cq_init_attr_ex *attr) noexcept
{
	bool wants_wall = attr->wc_flags &
			  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	wall_clock wall;

	if (int ret = check(*attr))
		return fail(ret);
	if (int ret = wants_wall ? wall.refresh(*ctx) : 0)
		return fail(ret);
	completion_queue *cq = make_cq(ctx, attr->cqe, attr->channel,
				       static_cast<int>(attr->comp_vector));
	if (!cq)
		return nullptr;
	cq->wants_wall = wants_wall;
	cq->wall = wall;
	set_lazy_poll(cq->base.cq_ex, attr->wc_flags);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->parent_domain = attr->parent_domain;
		use(cq->parent_domain);
	}
	if (single_threaded(cq->parent_domain) || asks_for_no_lock(*attr))
		cq->lock.omit();
	return &cq->base.cq_ex;
}

} // namespace ornic
