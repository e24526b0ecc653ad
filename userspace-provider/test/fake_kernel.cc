// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Commands that the provider leaves to libibverbs, answered here.

#include "fake_kernel.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <rdma/ib_user_verbs.h>
#include <rdma/ornic-hw.h>
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

fake_kernel::fake_kernel(int release, std::uint64_t device_caps,
			 std::uint32_t ece)
	: release_(release)
	, device_caps_(device_caps)
	, ece_(ece)
	, facts_(read_facts(release))
	, context_offset_(std::stoul(facts_.at("at verbs_context.context")))
	, layout_(layout_of_release(release))
	, memory_(memfd_create("queues", MFD_CLOEXEC))
{
	if (ftruncate(memory_.get(), queues * queue_bytes))
		std::abort();
	std::strcpy(device_.name, "fake");
	kernel = this;
	if (alloc_context(&device_, memory_.get(), nullptr) != context_)
		std::abort();
	// That of software, for which programs give up the CPU.
	to_context(base())->state.bell = doorbell();
	pd_.base.context = base();
}

fake_kernel::~fake_kernel()
{
	op<void(ibv_context *)>("free_context")(base());
	if (context_)
		std::abort();
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

ibv_qp *fake_kernel::make_qp(ibv_cq *cq, ibv_qp_type type,
			     std::uint64_t send_ops, std::uint32_t flags)
{
	ibv_qp_init_attr_ex attr{};

	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.qp_type = type;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.pd = &pd_.base;
	if (send_ops)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = send_ops;
	if (flags)
		attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = flags;
	return create_qp_ex(base(), &attr);
}

ibv_srq *fake_kernel::make_tm_srq(ibv_cq *cq, std::uint32_t max_tags,
				  std::uint32_t max_ops)
{
	ibv_srq_init_attr_ex attr{};

	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			 IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
	attr.srq_type = IBV_SRQT_TM;
	attr.pd = &pd_.base;
	attr.cq = cq;
	attr.attr.max_wr = 1;
	attr.attr.max_sge = 1;
	attr.tm_cap.max_num_tags = max_tags;
	attr.tm_cap.max_ops = max_ops;
	return create_srq_ex(base(), &attr);
}

int fake_kernel::post(ibv_qp *qp)
{
	ibv_send_wr wr{};
	ibv_send_wr *bad = nullptr;

	wr.opcode = IBV_WR_SEND;
	return post_send(qp, &wr, &bad);
}

void fake_kernel::complete(ibv_cq *cq, std::uint32_t qpn, std::uint32_t index,
			   std::uint8_t opcode)
{
	std::uint32_t at = produced_[cq]++;
	std::byte *ring = to_cq(cq).memory.data() + ORNIC_RING_OFFSET;
	ornic_cqe cqe{};

	cqe.qpn = le<__le32>(qpn);
	cqe.wqe_index = le<__le32>(index);
	cqe.opcode = opcode;
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

void *fake_kernel::answer_alloc_context(ibv_device *device, int cmd_fd,
					std::size_t size)
{
	if (size < std::stoul(facts_.at("size verbs_context")))
		std::abort();
	context_ = static_cast<verbs_context *>(std::calloc(1, size));
	base()->device = device;
	base()->cmd_fd = cmd_fd;
	return context_;
}

int fake_kernel::answer_get_context(ornic_alloc_ucontext_resp &answer)
{
	answer.hw_version = ORNIC_HW_VERSION;
	answer.kick_mode = ORNIC_KICK_PAGE;
	answer.kick_mmap = allocate();
	answer.ece_options = ece_;
	if (ece_) {
		answer.rate_limit_min = ORNIC_RATE_LIMIT_MIN;
		answer.rate_limit_max = ORNIC_RATE_LIMIT_MAX;
	}
	return 0;
}

int fake_kernel::answer_query_device(ibv_device_attr_ex &attr,
				     std::size_t size) const
{
	if (size < sizeof(attr))
		return 0;
	attr.device_cap_flags_ex = device_caps_;
	attr.tm_caps.max_sge = 4;
	attr.rss_caps.supported_qpts = rss_qpts;
	return 0;
}

void fake_kernel::answer_set_ops(verbs_context *context, const void *ops)
{
	const auto *op = static_cast<const operation *>(ops);

	if (context != context_)
		std::abort();
	for (const std::string &name : operations_of(facts_)) {
		if (*op)
			ops_[name] = *op;
		++op;
	}
}

void fake_kernel::answer_uninit_context(verbs_context *context)
{
	if (context == context_)
		context_ = nullptr;
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
	last_qp = attr;
	if (create_qp_result)
		return std::exchange(create_qp_result, 0);
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

int fake_kernel::answer_create_srq(pabi_srq &srq,
				   const ibv_srq_init_attr_ex &attr,
				   ornic_create_srq_resp &answer)
{
	last_srq = attr;
	answer.mmap_offset = allocate();
	answer.mmap_size = queue_bytes;
	answer.log_depth = log_depth;
	answer.log_stride = log_stride;
	answer.max_sge = 1;
	srq.srq.context = base();
	return 0;
}

int fake_kernel::answer_destroy_srq()
{
	++destroyed_srqs;
	return 0;
}

/* libibverbs keeps the state. */
int fake_kernel::answer_modify_qp(ibv_qp &qp, const ibv_qp_attr &attr, int mask)
{
	int ret = std::exchange(modify_result, 0);

	if (!ret && mask & IBV_QP_STATE)
		qp.state = attr.qp_state;
	return ret;
}

/* A ring alone; the next one of all numbers. */
int fake_kernel::answer_create_wq(ibv_wq &wq, ornic_create_wq_resp &answer)
{
	if (wq_result)
		return wq_result;
	answer.wqn = next_qpn++;
	answer.mmap_offset = allocate();
	answer.mmap_size = queue_bytes;
	answer.rq_offset = ORNIC_RING_OFFSET;
	answer.log_depth = log_depth;
	answer.log_stride = log_stride;
	answer.max_sge = 1;
	if (twist_wq)
		twist_wq(answer);
	wq.context = base();
	wq.wq_num = answer.wqn;
	return 0;
}

int fake_kernel::answer_modify_wq(ibv_wq &wq, const ibv_wq_attr &attr)
{
	int ret = std::exchange(modify_result, 0);

	if (!ret && attr.attr_mask & IBV_WQ_ATTR_STATE)
		wq.state = attr.wq_state;
	return ret;
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

void *_verbs_init_and_alloc_context(ibv_device *device, int cmd_fd, size_t size,
				    verbs_context *, uint32_t)
{
	return kernel->answer_alloc_context(device, cmd_fd, size);
}

void verbs_uninit_context(verbs_context *context)
{
	kernel->answer_uninit_context(context);
}

void verbs_set_ops(verbs_context *context, const void *ops)
{
	kernel->answer_set_ops(context, ops);
}

// The declarations have no arguments: releases have other ones.

int fake_get_context(verbs_context *, void *, size_t, void *fds_or_resp,
		     void *resp, size_t) __asm__("ibv_cmd_get_context");
int fake_get_context(verbs_context *, void *, size_t, void *fds_or_resp,
		     void *resp, size_t)
{
	if (kernel->has(57) && fds_or_resp)
		return EFAULT;
	return answer<ib_uverbs_get_context_resp, ornic_alloc_ucontext_resp>(
		kernel->has(57) ? resp : fds_or_resp,
		[](auto &part) { return kernel->answer_get_context(part); });
}

int ibv_cmd_query_device_any(ibv_context *, const ibv_query_device_ex_input *,
			     ibv_device_attr_ex *attr, size_t size, void *,
			     size_t *)
{
	return kernel->answer_query_device(*attr, size);
}

int fake_create_qp_ex2(ibv_context *, pabi_qp *qp, ibv_qp_init_attr_ex *attr,
		       void *, size_t, void *resp, size_t,
		       void *driver) __asm__("ibv_cmd_create_qp_ex2");
int fake_create_qp_ex2(ibv_context *, pabi_qp *qp, ibv_qp_init_attr_ex *attr,
		       void *cmd, size_t cmd_size, void *resp, size_t,
		       void *driver)
{
	if (kernel->has(64) && driver)
		return EFAULT;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH) {
		std::memcpy(&kernel->rss,
			    static_cast<std::byte *>(cmd) + cmd_size -
				    sizeof(kernel->rss),
			    sizeof(kernel->rss));
		qp->qp.context = kernel->base();
		qp->qp.qp_num = kernel->next_qpn++;
		qp->qp.qp_type = attr->qp_type;
		return kernel->wq_result;
	}
	++kernel->made_with_flags;
	return answer<ib_uverbs_ex_create_qp_resp, ornic_create_qp_resp>(
		resp, [&](auto &part) {
			return kernel->answer_create_qp(*qp, *attr, part);
		});
}

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

int ibv_cmd_create_srq_ex(ibv_context *, pabi_srq *srq,
			  ibv_srq_init_attr_ex *attr, void *, size_t,
			  void *resp, size_t)
{
	return answer<ib_uverbs_create_srq_resp, ornic_create_srq_resp>(
		resp, [&](auto &part) {
			return kernel->answer_create_srq(*srq, *attr, part);
		});
}

int ibv_cmd_destroy_srq(ibv_srq *)
{
	return kernel->answer_destroy_srq();
}

int ibv_cmd_modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask, void *, size_t)
{
	if (mask & ~(IBV_QP_RATE_LIMIT - 1))
		return EOPNOTSUPP;
	return kernel->answer_modify_qp(*qp, *attr, mask);
}

int ibv_cmd_modify_qp_ex(ibv_qp *qp, ibv_qp_attr *attr, int mask, void *cmd,
			 size_t cmd_size, void *, size_t)
{
	ornic_modify_qp_req req;

	std::memcpy(&req,
		    static_cast<std::byte *>(cmd) + cmd_size - sizeof(req),
		    sizeof(req));
	if (req.comp_mask & ORNIC_MODIFY_QP_ECE)
		kernel->ece_options.push_back(req.ece_options);
	if (mask & IBV_QP_RATE_LIMIT)
		kernel->limits.push_back({ attr->rate_limit, req.max_burst });
	else if (req.comp_mask != ORNIC_MODIFY_QP_ECE)
		return EFAULT;
	if (!!(req.comp_mask & ORNIC_MODIFY_QP_BURST) != !!req.max_burst)
		return EFAULT;
	return kernel->answer_modify_qp(*qp, *attr, mask);
}

int ibv_cmd_destroy_qp(ibv_qp *)
{
	return kernel->answer_destroy_qp();
}

int ibv_cmd_create_wq(ibv_context *, ibv_wq_init_attr *, ibv_wq *wq, void *,
		      size_t, void *resp, size_t)
{
	return answer<ib_uverbs_ex_create_wq_resp, ornic_create_wq_resp>(
		resp, [&](auto &part) {
			return kernel->answer_create_wq(*wq, part);
		});
}

int ibv_cmd_modify_wq(ibv_wq *wq, ibv_wq_attr *attr, void *, size_t)
{
	return kernel->answer_modify_wq(*wq, *attr);
}

int ibv_cmd_destroy_wq(ibv_wq *)
{
	return kernel->wq_result ? kernel->wq_result :
				   kernel->answer_destroy_qp();
}

int ibv_cmd_create_rwq_ind_table(ibv_context *context,
				 ibv_rwq_ind_table_init_attr *,
				 ibv_rwq_ind_table *table, void *, size_t size)
{
	if (size != sizeof(ib_uverbs_ex_create_rwq_ind_table_resp))
		return EFAULT;
	table->context = context;
	table->ind_tbl_num = 77;
	return kernel->wq_result;
}

int ibv_cmd_destroy_rwq_ind_table(ibv_rwq_ind_table *)
{
	return kernel->wq_result;
}

} // extern "C"

} // namespace ornic::test
