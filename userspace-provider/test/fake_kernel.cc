// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Commands that the provider leaves to libibverbs, answered here.

#include "fake_kernel.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <utility>

#include "verbs.h"

namespace ornic::test
{
namespace
{

constexpr std::uint64_t queue_bytes = 8192 + ORNIC_RING_OFFSET;
constexpr std::uint64_t queues = 64;

static_assert(queue_bytes - ORNIC_RING_OFFSET >=
	      2U << (fake_kernel::log_depth + fake_kernel::log_stride));

} // namespace

static fake_kernel *kernel;

fake_kernel::fake_kernel()
	: memory_(memfd_create("queues", MFD_CLOEXEC))
{
	if (ftruncate(memory_.get(), queues * queue_bytes))
		std::abort();
	std::strcpy(device_.name, "fake");
	base()->cmd_fd = memory_.get();
	base()->device = &device_;
	pd_.base.context = base();
	kernel = this;
}

fake_kernel::~fake_kernel()
{
	kernel = nullptr;
}

std::uint64_t fake_kernel::allocate()
{
	return std::exchange(end_, end_ + queue_bytes);
}

ibv_cq *fake_kernel::make_cq()
{
	return create_cq(base(), 1 << log_depth, nullptr, 0);
}

ibv_qp *fake_kernel::make_qp(ibv_cq *cq, ibv_qp_type type)
{
	ibv_qp_init_attr_ex attr{};

	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.qp_type = type;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.pd = &pd_.base;
	return create_qp_ex(base(), &attr);
}

int fake_kernel::post(ibv_qp *qp)
{
	ibv_send_wr wr{};
	ibv_send_wr *bad = nullptr;

	wr.opcode = IBV_WR_SEND;
	return post_send(qp, &wr, &bad);
}

void fake_kernel::complete(ibv_cq *cq, std::uint32_t qpn, std::uint32_t index)
{
	std::uint32_t at = produced_[cq]++;
	std::byte *ring = to_cq(cq).memory.data() + ORNIC_RING_OFFSET;
	ornic_cqe cqe{};

	cqe.qpn = le<__le32>(qpn);
	cqe.wqe_index = le<__le32>(index);
	cqe.flags = at & 1U << log_depth ? 0 : ORNIC_CQE_PHASE;
	at &= (1U << log_depth) - 1;
	std::memcpy(ring + at * sizeof(cqe), &cqe, sizeof(cqe));
}

std::vector<std::uint32_t> fake_kernel::poll(ibv_cq *cq)
{
	std::array<ibv_wc, 1U << log_depth> wcs;
	std::vector<std::uint32_t> found;
	int count = poll_cq(cq, static_cast<int>(wcs.size()), wcs.data());

	found.reserve(wcs.size());
	for (int i = 0; i < count; ++i)
		found.push_back(wcs[static_cast<std::size_t>(i)].qp_num);
	return found;
}

int fake_kernel::answer_create_cq(ibv_cq &cq, ornic_create_cq_resp &answer)
{
	cq.context = base();
	answer.log_depth = log_depth;
	answer.mmap_offset = allocate();
	answer.mmap_size = queue_bytes;
	return 0;
}

int fake_kernel::answer_create_qp(pabi_qp &qp, const ibv_qp_init_attr_ex &attr,
				  ornic_create_qp_resp &answer)
{
	answer.qpn = next_qpn++;
	answer.mmap_offset = allocate();
	answer.mmap_size = queue_bytes;
	answer.sq_offset = ORNIC_RING_OFFSET;
	answer.rq_offset = ORNIC_RING_OFFSET + (1U << (log_depth + log_stride));
	answer.sq_log_depth = answer.rq_log_depth = log_depth;
	answer.sq_log_stride = answer.rq_log_stride = log_stride;
	answer.has_sq = answer.has_rq = 1;
	answer.sq_max_sge = answer.rq_max_sge = 1;
	if (twist)
		twist(answer);
	qp.qp.context = base();
	qp.qp.qp_num = answer.qpn;
	qp.qp.qp_type = attr.qp_type;
	qp.qp.send_cq = attr.send_cq;
	qp.qp.recv_cq = attr.recv_cq;
	qp.qp.state = IBV_QPS_RTS;
	return 0;
}

int fake_kernel::answer_destroy_qp()
{
	++destroyed;
	if (auto hook = std::exchange(on_destroy, nullptr))
		hook();
	return 0;
}

namespace
{

/** Let @fill write the driver's part of a response. */
template <typename Core, typename Driver, typename Fill>
int answer(void *resp, Fill fill)
{
	Driver part{};
	int ret = fill(part);

	std::memcpy(static_cast<std::byte *>(resp) + sizeof(Core), &part,
		    sizeof(part));
	return ret;
}

} // namespace

extern "C" {

int ibv_cmd_create_cq(ibv_context *, int, ibv_comp_channel *, int, ibv_cq *cq,
		      void *, size_t, void *resp, size_t)
{
	return answer<ib_uverbs_create_cq_resp, ornic_create_cq_resp>(
		resp, [&](auto &part) {
			return kernel->answer_create_cq(*cq, part);
		});
}

int ibv_cmd_destroy_cq(ibv_cq *)
{
	return 0;
}

int ibv_cmd_create_qp_ex(ibv_context *, pabi_qp *qp, ibv_qp_init_attr_ex *attr,
			 void *, size_t, void *resp, size_t)
{
	return answer<ib_uverbs_create_qp_resp, ornic_create_qp_resp>(
		resp, [&](auto &part) {
			return kernel->answer_create_qp(*qp, *attr, part);
		});
}

int ibv_cmd_destroy_qp(ibv_qp *)
{
	return kernel->answer_destroy_qp();
}

} // extern "C"

} // namespace ornic::test
