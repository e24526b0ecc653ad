// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Shared receive queues: creation, limit, posting.

#include "srq.h"

#include <cerrno>
#include <rdma/ornic-abi.h>

#include "command.h"
#include "context.h"
#include "domain.h"
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
	       std::uint64_t{1} << (answer.log_depth + answer.log_stride) <=
		       size - ORNIC_RING_OFFSET;
}

/* Map what the kernel made. 0, or an errno. */
int set_up(ibv_pd *pd, shared_receive_queue &srq,
	   const ornic_create_srq_resp &answer) noexcept
{
	if (!plausible(answer))
		return EPROTO;
	srq.memory = mapping(pd->context->cmd_fd, answer.mmap_offset,
			     answer.mmap_size);
	if (!srq.memory)
		return errno;
	std::byte *memory = srq.memory.data();
	srq.queue.init(
		{
			.ring = memory + ORNIC_RING_OFFSET,
			.record = reinterpret_cast<ornic_wq_record *>(memory),
			.log_depth = answer.log_depth,
			.log_stride = answer.log_stride,
			.max_sge = answer.max_sge,
			.present = true,
		},
		single_threaded(pd));
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
	if (int ret = set_up(pd, *srq, resp.driver())) {
		log_error(pd->context, "ornic: %s: memory of SRQ %u: %d\n",
			  resp.driver().srqn, ret);
		ibv_cmd_destroy_srq(&srq->base.srq);
		return fail(ret);
	}
	srq->pd = pd;
	use(pd);
	return &srq.release()->base.srq;
}

int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int mask) noexcept
{
	request<ib_uverbs_modify_srq> cmd;

	return ibv_cmd_modify_srq(srq, attr, mask, cmd.data(), cmd.size());
}

int query_srq(ibv_srq *srq, ibv_srq_attr *attr) noexcept
{
	request<ib_uverbs_query_srq> cmd;

	return ibv_cmd_query_srq(srq, attr, cmd.data(), cmd.size());
}

/* EBUSY while a QP takes from it. */
int destroy_srq(ibv_srq *srq) noexcept
{
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
