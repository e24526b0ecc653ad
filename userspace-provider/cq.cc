// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Completion queues: creation, polling, arming.

#include "cq.h"

#include <array>
#include <bit>
#include <cerrno>
#include <rdma/ornic-abi.h>
#include <sched.h>

#include "command.h"
#include "context.h"
#include "domain.h"
#include "qp.h"
#include "verbs.h"

namespace ornic
{
namespace
{

constexpr std::uint32_t max_log_depth = 24;

[[nodiscard]] bool fits(std::uint64_t size, std::uint32_t log_depth) noexcept
{
	return log_depth <= max_log_depth &&
	       size >= ORNIC_RING_OFFSET + (sizeof(ornic_cqe) << log_depth);
}

/* What the kernel makes of @cqe entries: record page, then whole pages. */
[[nodiscard]] std::size_t size_for(int cqe) noexcept
{
	std::size_t ring = std::bit_ceil(static_cast<std::size_t>(cqe)) *
			   sizeof(ornic_cqe);

	return whole_pages(ORNIC_RING_OFFSET + ring);
}

void to_wc(const ornic_cqe &cqe, ibv_wc &wc) noexcept
{
	wc.wr_id = le(cqe.wr_id);
	wc.status = static_cast<ibv_wc_status>(cqe.status);
	wc.opcode = wc_opcode(cqe);
	wc.vendor_err = cqe.vendor_err;
	wc.byte_len = le(cqe.byte_len);
	wc.imm_data = wc_imm(cqe);
	wc.qp_num = le(cqe.qpn);
	wc.src_qp = le(cqe.src_qpn);
	wc.wc_flags = wc_flags(cqe);
	wc.pkey_index = cqe.pkey_index;
	wc.slid = 0;
	wc.sl = wc_sl(cqe);
	wc.dlid_path_bits = 0;
}

} // namespace

ibv_wc_opcode wc_opcode(const ornic_cqe &cqe) noexcept
{
	static constexpr std::array<ibv_wc_opcode, 16> send = {
		IBV_WC_SEND,
		IBV_WC_RDMA_WRITE,
		IBV_WC_RDMA_READ,
		IBV_WC_COMP_SWAP,
		IBV_WC_FETCH_ADD,
		IBV_WC_BIND_MW,
		IBV_WC_LOCAL_INV,
		IBV_WC_SEND, // no such completion
		static_cast<ibv_wc_opcode>(verbs_wc_atomic_write),
		static_cast<ibv_wc_opcode>(verbs_wc_flush),
		IBV_WC_TM_ADD,
		IBV_WC_TM_DEL,
		IBV_WC_TM_SYNC,
	};
	static constexpr std::array<ibv_wc_opcode, 4> recv = {
		IBV_WC_RECV,
		IBV_WC_RECV_RDMA_WITH_IMM,
		IBV_WC_TM_RECV,
		IBV_WC_TM_NO_TAG,
	};

	if (!(cqe.opcode & ORNIC_CQE_IS_RECV))
		return send[cqe.opcode & (send.size() - 1)];
	return recv[cqe.opcode & (recv.size() - 1)];
}

/* Of a device without tags there are none. */
static unsigned int tm_flags(std::uint8_t tm) noexcept
{
	unsigned int flags = 0;

	if (tm & ORNIC_CQE_TM_MATCH)
		flags |= IBV_WC_TM_MATCH;
	if (tm & ORNIC_CQE_TM_DATA_VALID)
		flags |= IBV_WC_TM_DATA_VALID;
	if (tm & ORNIC_CQE_TM_SYNC_REQ)
		flags |= IBV_WC_TM_SYNC_REQ;
	return flags;
}

unsigned int wc_flags(const ornic_cqe &cqe) noexcept
{
	unsigned int flags = 0;

	if (cqe.flags & ORNIC_CQE_GRH)
		flags |= IBV_WC_GRH;
	if (cqe.flags & ORNIC_CQE_WITH_IMM)
		flags |= IBV_WC_WITH_IMM;
	if (cqe.flags & ORNIC_CQE_WITH_INV)
		flags |= IBV_WC_WITH_INV;
	if (cqe.tm_flags) [[unlikely]]
		flags |= tm_flags(cqe.tm_flags);
	return flags;
}

std::uint8_t wc_sl(const ornic_cqe &cqe) noexcept
{
	if (!(cqe.flags & ORNIC_CQE_GRH))
		return cqe.sl;
	if (cqe.flags & ORNIC_CQE_ROCE_V1)
		return l3_roce_v1;
	return cqe.flags & ORNIC_CQE_IPV4 ? l3_ipv4 : l3_ipv6;
}

/* libibverbs reads both from one place, the key in host order. */
__be32 wc_imm(const ornic_cqe &cqe) noexcept
{
	return cqe.flags & ORNIC_CQE_WITH_INV ? big_endian(cqe.imm) : cqe.imm;
}

/*
 * The QP of a completion, or null. A device that names a QP of other CQs is not
 * believed: their locks, and not ours, keep that one alive.
 */
[[nodiscard]] static queue_pair *find_qp(const completion_queue &cq,
					 std::uint32_t qpn) noexcept
{
	queue_pair *qp = cq.qps->find(qpn);

	if (!qp || (qp->base.qp.send_cq != &cq.base.cq &&
		    qp->base.qp.recv_cq != &cq.base.cq)) [[unlikely]]
		return nullptr;
	return qp;
}

const ornic_cqe *take_cqe(completion_queue &cq) noexcept
{
	const ornic_cqe *cqe = cq.ring.next();

	if (!cqe)
		return nullptr;
	cq.ring.consume();

	queue_pair *qp = find_qp(cq, le(cqe->qpn));
	if (qp) [[likely]] {
		if (cqe->opcode & ORNIC_CQE_IS_RECV)
			qp->rq.retire(le(cqe->wqe_index));
		else
			qp->sq.retire(le(cqe->wqe_index));
	}
	return cqe;
}

completion_queue *make_cq(ibv_context *ctx, std::uint32_t cqe,
			  ibv_comp_channel *channel, int vector) noexcept
{
	request<ib_uverbs_create_cq, ornic_create_cq_req> cmd;
	response<ib_uverbs_create_cq_resp, ornic_create_cq_resp> resp;

	if (cqe < 1 || cqe > 1U << max_log_depth)
		return fail(EINVAL);
	auto cq = make_object<completion_queue>();
	if (!cq)
		return nullptr;
	if (int ret = ibv_cmd_create_cq(ctx, static_cast<int>(cqe), channel,
					vector, &cq->base.cq, cmd.data(),
					cmd.size(), resp.data(), resp.size()))
		return fail(ret);

	auto answer = resp.driver();
	int error = fits(answer.mmap_size, answer.log_depth) ? 0 : EPROTO;
	if (!error) {
		cq->memory = mapping(ctx->cmd_fd, answer.mmap_offset,
				     answer.mmap_size);
		error = cq->memory ? 0 : errno;
	}
	if (error) {
		log_error(ctx, "ornic: %s: cannot map CQ %u (%u entries): %d\n",
			  answer.cqn, cqe, error);
		ibv_cmd_destroy_cq(&cq->base.cq);
		return fail(error);
	}
	cq->ring.init(cq->memory.data(), answer.log_depth);
	cq->qps = &to_context(ctx)->state.qps;
	cq->backoff.init(to_context(ctx)->state.bell.is_file());
	return cq.release();
}

ibv_cq *create_cq(ibv_context *ctx, int cqe, ibv_comp_channel *channel,
		  int vector) noexcept
{
	if (cqe < 1)
		return fail(EINVAL);
	completion_queue *cq =
		make_cq(ctx, static_cast<std::uint32_t>(cqe), channel, vector);
	return cq ? &cq->base.cq : nullptr;
}

/*
 * Pollers and whoever arms wait until it is done: the device takes over what
 * is not consumed, so nothing may be consumed meanwhile.
 */
int resize_cq(ibv_cq *ibcq, int cqe) noexcept
{
	request<ib_uverbs_resize_cq, ornic_resize_cq_req> cmd;
	response<ib_uverbs_resize_cq_resp, ornic_resize_cq_resp> resp;
	completion_queue &cq = to_cq(ibcq);

	if (cqe < 1 || static_cast<std::uint32_t>(cqe) > 1U << max_log_depth)
		return EINVAL;
	// Once the device has moved there is no way back: have the place ready.
	mapping memory = mapping::reserve(size_for(cqe));
	if (!memory)
		return ENOMEM;
	lock_guard guard(cq.lock);
	if (int ret = ibv_cmd_resize_cq(ibcq, cqe, cmd.data(), cmd.size(),
					resp.data(), resp.size()))
		return ret;

	auto answer = resp.driver();
	if (!fits(answer.mmap_size, answer.log_depth) ||
	    !memory.map_here(ibcq->context->cmd_fd, answer.mmap_offset,
			     answer.mmap_size)) {
		log_error(ibcq->context,
			  "ornic: %s: cannot map resized CQ, %d entries\n",
			  cqe);
		return EPROTO;
	}
	cq.memory = std::move(memory);
	cq.ring.move(cq.memory.data(), answer.log_depth);
	return 0;
}

int modify_cq(ibv_cq *cq, ibv_modify_cq_attr *attr) noexcept
{
	ex_request<ib_uverbs_ex_modify_cq> cmd;

	return ibv_cmd_modify_cq(cq, attr, cmd.data(), cmd.size());
}

/*
 * Returns only when the application has acknowledged every event of this CQ:
 * libibverbs waits for that.
 */
int destroy_cq(ibv_cq *ibcq) noexcept
{
	if (int ret = ibv_cmd_destroy_cq(ibcq))
		return ret;
	if (ibv_pd *parent = to_cq(ibcq).parent_domain)
		unuse(parent);
	object_deleter()(&to_cq(ibcq));
	return 0;
}

[[gnu::flatten]] int poll_cq(ibv_cq *ibcq, int count, ibv_wc *wc) noexcept
{
	completion_queue &cq = to_cq(ibcq);
	int done = 0;

	cq.lock.lock();
	for (; done < count; ++done) {
		const ornic_cqe *cqe = take_cqe(cq);

		if (!cqe)
			break;
		to_wc(*cqe, wc[done]);
	}
	if (done)
		cq.ring.publish();
	bool yields = cq.backoff.must_yield(done);
	cq.lock.unlock();
	if (yields) [[unlikely]]
		sched_yield();
	return done;
}

int req_notify_cq(ibv_cq *ibcq, int solicited_only) noexcept
{
	completion_queue &cq = to_cq(ibcq);
	lock_guard guard(cq.lock);

	cq.ring.arm(solicited_only);
	return 0;
}

} // namespace ornic
