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
 * How long a program polls in vain. What it waits for is done on a CPU of this host
 * where the device is software: a program that spins on that CPU would wait for
 * itself. It gives the CPU to others then, if there are any; a wait of some
 * microseconds never gets there.
 */
class poll_patience {
public:
	/** @yields: the device is software. */
	void init(bool yields) noexcept
	{
		yields_ = yields;
	}

	/** After a poll. Return: whether to yield now, without any lock. */
	[[nodiscard]] bool is_over(bool found) noexcept
	{
		vain_ = found ? 0 : vain_ + 1;
		if (vain_ < limit) [[likely]]
			return false;
		vain_ = 0;
		return yields_;
	}

private:
	static constexpr std::uint32_t limit = 4096; // polls

	std::uint32_t vain_;
	bool yields_;
};

struct completion_queue {
	pabi_cq base;
	spin_lock lock; // ring, current and patience
	poll_patience patience;
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

/** L3 types of a datagram as other RoCE devices report them; 0 is RoCEv1. */
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
