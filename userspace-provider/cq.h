/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues of a context. */
#ifndef ORNIC_CQ_H
#define ORNIC_CQ_H

#include <type_traits>

#include "clock.h"
#include "cq_ring.h"
#include "pabi.h"
#include "qp_table.h"
#include "resource.h"
#include "shared.h"

namespace ornic
{

/**
 * Empty polls before the CPU is yielded. A software device completes work on a CPU of
 * this host, and a program that spins there delays its own completions. Waits of some
 * microseconds never reach the limit.
 */
class poll_backoff {
public:
	/** @yields: the device is software. */
	void init(bool yields) noexcept
	{
		yields_ = yields;
	}

	/** Call after each poll. True: call sched_yield() after unlocking. */
	[[nodiscard]] bool must_yield(bool found) noexcept
	{
		empty_ = found ? 0 : empty_ + 1;
		if (empty_ < limit) [[likely]]
			return false;
		empty_ = 0;
		return yields_;
	}

private:
	static constexpr std::uint32_t limit = 4096; // polls

	std::uint32_t empty_;
	bool yields_;
};

struct completion_queue {
	pabi_cq base;
	spin_lock lock; // ring, current and backoff
	poll_backoff backoff;
	cq_ring ring;
	const ornic_cqe *current; // between ibv_start_poll and ibv_end_poll
	const qp_table *qps;
	bool wants_wall; // timestamps as wall clock time
	wall_clock wall;
	mapping memory;
	ibv_pd *parent_domain; // or null
};

static_assert(std::is_standard_layout_v<completion_queue>);

[[nodiscard]] inline completion_queue &to_cq(ibv_cq *cq) noexcept
{
	return *reinterpret_cast<completion_queue *>(cq);
}

[[nodiscard]] inline completion_queue &to_cq(ibv_cq_ex *cq) noexcept
{
	return *reinterpret_cast<completion_queue *>(cq);
}

/**
 * Make a CQ of at least @cqe entries.
 * Return: null with errno = EINVAL, ENOMEM, EPROTO (the kernel's answer makes
 * no sense) or the kernel's.
 */
[[nodiscard]] completion_queue *make_cq(ibv_context *ctx, std::uint32_t cqe,
					ibv_comp_channel *channel,
					int vector) noexcept;

/** Consume the next CQE and free the WQE slots that it reports; or null. */
[[nodiscard]] const ornic_cqe *take_cqe(completion_queue &cq) noexcept;

/** Fill in the ibv_start_poll interface for IBV_WC_EX_WITH_* of @wc_flags. */
void set_lazy_poll(ibv_cq_ex &cq, std::uint64_t wc_flags) noexcept;

/** How libibverbs spells the opcode and the flags of a completion. */
[[nodiscard]] ibv_wc_opcode wc_opcode(const ornic_cqe &cqe) noexcept;
[[nodiscard]] unsigned int wc_flags(const ornic_cqe &cqe) noexcept;

/** L3 types of a datagram as other RoCE devices report them. */
constexpr std::uint8_t l3_roce_v1 = 0;
constexpr std::uint8_t l3_ipv6 = 1;
constexpr std::uint8_t l3_ipv4 = 2;

/**
 * The service level; of a datagram its L3 type. IBTA A17.4.5.1 wants that in
 * the completion, struct ibv_wc has no field of its own for it, and mlx5,
 * bnxt_re and hns use this one. Programs read it there: UCX finds the sender's
 * address in the GRH by it.
 */
[[nodiscard]] std::uint8_t wc_sl(const ornic_cqe &cqe) noexcept;

/** Immediate data in wire order, or the key that was invalidated. */
[[nodiscard]] __be32 wc_imm(const ornic_cqe &cqe) noexcept;

} // namespace ornic

#endif // ORNIC_CQ_H
