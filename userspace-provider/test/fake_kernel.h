/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What libibverbs of a release does for contexts, CQs and QPs, without a kernel: the
 * memory of queues is that of a file, and the test is the device.
 */
#ifndef ORNIC_TEST_FAKE_KERNEL_H
#define ORNIC_TEST_FAKE_KERNEL_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "context.h"
#include "cq.h"
#include "domain.h"
#include "qp.h"
#include "release.h"

namespace ornic::test
{

class fake_kernel {
public:
	static constexpr std::uint8_t log_depth = 4; // of all queues
	static constexpr std::uint8_t log_stride = 7; // of WQEs

	/** What RC and XRC QPs offer. */
	static constexpr std::uint32_t ece_offer =
		1U << ORNIC_ECE_VERSION_SHIFT | ORNIC_ECE_SELECTIVE;

	/** With @ece 0 it is a kernel before ECE. */
	explicit fake_kernel(int release = 65,
			     std::uint64_t device_caps = UINT64_MAX,
			     std::uint32_t ece = ece_offer);
	~fake_kernel();
	fake_kernel(const fake_kernel &) = delete;
	fake_kernel &operator=(const fake_kernel &) = delete;

	ibv_cq *make_cq();
	/** A QP in RTS, or null with errno. */
	ibv_qp *make_qp(ibv_cq *cq, ibv_qp_type type = IBV_QPT_RC,
			std::uint64_t send_ops = 0, std::uint32_t flags = 0);

	/** An SRQ with a list of @max_tags and @max_ops, or null with errno. */
	ibv_srq *make_tm_srq(ibv_cq *cq, std::uint32_t max_tags,
			     std::uint32_t max_ops);

	ibv_pd *pd()
	{
		return &pd_.base;
	}

	/** Post a send of nothing. As ibv_post_send(). */
	int post(ibv_qp *qp);
	/** The device completes WQE @index of the send queue of @qpn. */
	void complete(ibv_cq *cq, std::uint32_t qpn, std::uint32_t index,
		      std::uint8_t opcode = 0);
	/** The QPNs of the completions that are polled. */
	std::vector<std::uint32_t> poll(ibv_cq *cq);

	queue_pair *find(std::uint32_t qpn) const
	{
		return to_context(base())->state.qps.find(qpn);
	}

	/** Where this release has the ibv_context. */
	ibv_context *base() const
	{
		return reinterpret_cast<ibv_context *>(
			reinterpret_cast<char *>(context_) + context_offset_);
	}
	/** The operations that the provider has set, by this release's names. */
	const std::map<std::string, operation> &ops() const
	{
		return ops_;
	}
	/** The operation @name, which is an @Op. */
	template <typename Op> Op *op(const char *name) const
	{
		return reinterpret_cast<Op *>(ops_.at(name));
	}

	std::uint32_t next_qpn = 0x100;
	/** Changes the answer to the creation of a QP. */
	std::function<void(ornic_create_qp_resp &)> twist;
	/** Runs when a QP is destroyed here, and its owner is yet to hear. */
	std::function<void()> on_destroy;
	int destroyed = 0;
	/** Likewise SRQs, and what the last one was made from. */
	int destroyed_srqs = 0;
	ibv_srq_init_attr_ex last_srq{};
	/** What the last QP was made from. */
	ibv_qp_init_attr_ex last_qp{};
	/** What the next creation of a QP returns. */
	int create_qp_result = 0;
	/** QPs made by the command that takes flags. */
	int made_with_flags = 0;
	/** The ECE options that came with changes of QPs. */
	std::vector<std::uint32_t> ece_options;
	/** Rate limits that came with changes of QPs, and their bursts. */
	struct limit {
		std::uint32_t rate, burst;
		bool operator==(const limit &) const = default;
	};
	std::vector<limit> limits;
	/** What the next change of a QP returns. */
	int modify_result = 0;
	/** What the creation and the destruction of WQs and tables return. */
	int wq_result = 0;
	/** Changes the answer to the creation of a WQ. */
	std::function<void(ornic_create_wq_resp &)> twist_wq;
	/** The hash of the last QP that was made with one. */
	ornic_create_rss_qp_req rss{};
	/** QPs that can have one, by the kernel. */
	std::uint32_t rss_qpts = 0;

	// What the commands do.
	void *answer_alloc_context(ibv_device *device, int cmd_fd,
				   std::size_t size);
	int answer_query_device(ibv_device_attr_ex &attr,
				std::size_t size) const;
	int answer_get_context(ornic_alloc_ucontext_resp &answer);
	void answer_set_ops(verbs_context *context, const void *ops);
	void answer_uninit_context(verbs_context *context);
	/** Has a function the arguments that @release gave it? */
	bool has(int release) const
	{
		return release_ >= release;
	}
	int answer_create_cq(ibv_cq &cq, ornic_create_cq_resp &answer);
	int answer_create_qp(pabi_qp &qp, const ibv_qp_init_attr_ex &attr,
			     ornic_create_qp_resp &answer);
	int answer_create_srq(pabi_srq &srq, const ibv_srq_init_attr_ex &attr,
			      ornic_create_srq_resp &answer);
	int answer_destroy_srq();
	int answer_destroy_qp();
	int answer_create_wq(ibv_wq &wq, ornic_create_wq_resp &answer);
	int answer_modify_wq(ibv_wq &wq, const ibv_wq_attr &attr);
	int answer_modify_qp(ibv_qp &qp, const ibv_qp_attr &attr, int mask);

private:
	std::uint64_t allocate();

	const int release_;
	const std::uint64_t device_caps_;
	const std::uint32_t ece_;
	const facts facts_;
	const std::size_t context_offset_;
	const use_layout layout_;
	std::map<std::string, operation> ops_;
	verbs_context *context_ = nullptr;
	ibv_device device_{};
	file_descriptor memory_;
	protection_domain pd_{};
	std::uint64_t end_ = 0;
	std::map<ibv_cq *, std::uint32_t> produced_;
};

} // namespace ornic::test

#endif // ORNIC_TEST_FAKE_KERNEL_H
