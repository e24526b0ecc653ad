/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queue pairs of a context. */
#ifndef ORNIC_QP_H
#define ORNIC_QP_H

#include <rdma/ornic-abi.h>
#include <type_traits>

#include "pabi.h"
#include "resource.h"
#include "work_queue.h"

namespace ornic
{

struct context;

/** The ECE options that both ends have; 0 if there are none. */
[[nodiscard]] std::uint32_t agree_on_ece(std::uint32_t a,
					 std::uint32_t b) noexcept;

/** ECE options of a QP. */
struct ece_state {
	std::uint32_t options; // what it offers, or has agreed on
	bool pending; // the kernel is told with the next ibv_modify_qp()
};

struct context;
struct shared_receive_queue;

struct queue_pair {
	pabi_qp base;
	send_queue sq;
	receive_queue rq;
	mapping memory;
	ibv_pd *pd;
	shared_receive_queue
		*tagged; // it takes from that one, which matches tags
	ece_state ece;
};

static_assert(std::is_standard_layout_v<queue_pair>);

/**
 * Map what the kernel has made, and let pollers find it by its number, which
 * qp.base has. Return: 0, EPROTO (the kernel's answer makes no sense), or an errno.
 */
[[nodiscard]] int set_up(context &ctx, queue_pair &qp,
			 const ibv_qp_init_attr_ex &attr,
			 const ornic_create_qp_resp &answer) noexcept;

/** The kernel has destroyed it: take it away from pollers, with its completions. */
void take_down(context &ctx, queue_pair &qp) noexcept;

/** Back to the state of a new QP, IBTA 10.3.1. */
void reset(queue_pair &qp) noexcept;

[[nodiscard]] inline queue_pair &to_qp(ibv_qp *qp) noexcept
{
	return *reinterpret_cast<queue_pair *>(qp);
}

[[nodiscard]] inline queue_pair &to_qp(ibv_qp_ex *qp) noexcept
{
	return *reinterpret_cast<queue_pair *>(qp);
}

/** The queue of the tag list of attr.srq. Null with an errno. */
[[nodiscard]] queue_pair *make_tags_qp(context &ctx,
				       ibv_qp_init_attr_ex &attr) noexcept;

/** Of device_cap_flags_ex: IBV_DEVICE_*, which older headers lack. */
constexpr std::uint64_t device_flush_global = 1ULL << 38;
constexpr std::uint64_t device_atomic_write = 1ULL << 40;

/** The operations of IBTA A19 that this libibverbs and a device with @device_caps
 *  (device_cap_flags_ex) have. */
[[nodiscard]] std::uint64_t placement_ops(std::uint64_t device_caps) noexcept;

/** The IBV_QP_EX_WITH_* that ibv_wr_* can do on a QP of @type of a device with
 *  these placement_ops(). */
[[nodiscard]] std::uint64_t send_ops_of(ibv_qp_type type,
					std::uint64_t placement) noexcept;

/** Fill in the ibv_wr_* interface for @send_ops, checked by send_ops_of(). */
void set_send_ops(pabi_qp &qp, std::uint64_t send_ops) noexcept;

} // namespace ornic

#endif // ORNIC_QP_H
