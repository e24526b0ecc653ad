/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libibverbs' commands for CQs and QPs without a kernel: the memory of queues is
 * that of a file, and the test is the device.
 */
#ifndef ORNIC_TEST_FAKE_KERNEL_H
#define ORNIC_TEST_FAKE_KERNEL_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <rdma/ornic-abi.h>

#include "context.h"
#include "cq.h"
#include "domain.h"
#include "qp.h"

namespace ornic::test
{

class fake_kernel {
public:
	static constexpr std::uint8_t log_depth = 4; // of all queues
	static constexpr std::uint8_t log_stride = 7; // of WQEs

	fake_kernel();
	~fake_kernel();
	fake_kernel(const fake_kernel &) = delete;
	fake_kernel &operator=(const fake_kernel &) = delete;

	ibv_cq *make_cq();
	/** A QP in RTS, or null with errno. */
	ibv_qp *make_qp(ibv_cq *cq, ibv_qp_type type = IBV_QPT_RC);

	/** Post a send of nothing. As ibv_post_send(). */
	int post(ibv_qp *qp);
	/** The device completes WQE @index of the send queue of @qpn. */
	void complete(ibv_cq *cq, std::uint32_t qpn, std::uint32_t index);
	/** The QPNs of the completions that are polled. */
	std::vector<std::uint32_t> poll(ibv_cq *cq);

	queue_pair *find(std::uint32_t qpn) const
	{
		return context_->state.qps.find(qpn);
	}

	std::uint32_t next_qpn = 0x100;
	/** Changes the answer to the creation of a QP. */
	std::function<void(ornic_create_qp_resp &)> twist;
	/** Runs when a QP is destroyed here, and its owner is yet to hear. */
	std::function<void()> on_destroy;
	int destroyed = 0;

	// What the commands do.
	int answer_create_cq(ibv_cq &cq, ornic_create_cq_resp &answer);
	int answer_create_qp(pabi_qp &qp, const ibv_qp_init_attr_ex &attr,
			     ornic_create_qp_resp &answer);
	int answer_destroy_qp();

private:
	ibv_context *base() const
	{
		return &context_->base.context;
	}
	std::uint64_t allocate();

	unique_object<context> context_ = make_object<context>();
	ibv_device device_{};
	file_descriptor memory_;
	protection_domain pd_{};
	std::uint64_t end_ = 0;
	std::map<ibv_cq *, std::uint32_t> produced_;
};

} // namespace ornic::test

#endif // ORNIC_TEST_FAKE_KERNEL_H
