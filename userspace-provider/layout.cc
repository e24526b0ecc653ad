// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What the provider takes for granted about structures that others define.

#include <rdma/ib_user_verbs.h>
#include <rdma/ornic-layout.h>

#include "pabi.h"

static_assert(sizeof(pabi_device_ops) == 72);
static_assert(sizeof(pabi_match_ent) == 24);
static_assert(offsetof(pabi_sysfs_dev, match) == 24);
static_assert(offsetof(pabi_sysfs_dev, ibdev_path) == 176);
static_assert(sizeof(pabi_device) == 712 && offsetof(pabi_device, ops) == 664);
static_assert(sizeof(pabi_dm) == 40 && offsetof(pabi_dm, handle) == 32);
static_assert(PABI_DM_HANDLE == 28);
static_assert(sizeof(pabi_mr) == 56 && offsetof(pabi_mr, mr_type) == 48);
static_assert(sizeof(pabi_context_ops) == 93 * sizeof(void *));
#ifdef __x86_64__ // others have another pthread_mutex_t
static_assert(sizeof(pabi_cq) == 288);
static_assert(sizeof(pabi_srq) == 160 && offsetof(pabi_srq, srq_num) == 152);
static_assert(sizeof(pabi_qp) == 376 && PABI_QP_EX_SIZE == 344);
#endif

// The public headers are those of some release: what is the same in all of them.
static_assert(sizeof(verbs_context) ==
	      offsetof(verbs_context, context) + sizeof(ibv_context));

namespace
{

/* Does the header place the late operations where pabi_qp has them, or not at all? */
template <typename T> [[nodiscard]] consteval bool places_late_ops() noexcept
{
	bool right = true;

	if constexpr (requires { &T::wr_atomic_write; })
		right = offsetof(T, wr_atomic_write) ==
			offsetof(pabi_qp, last.wr_atomic_write);
	if constexpr (requires { &T::wr_flush; })
		right = right && offsetof(T, wr_flush) ==
					 offsetof(pabi_qp, last.wr_flush);
	return right;
}

/* If the header has the attributes of ibv_reg_mr_ex(), are they pabi_mr_init_attr? */
template <typename T> [[nodiscard]] consteval bool is_mr_init_attr() noexcept
{
	bool right = true;

	if constexpr (requires { sizeof(T); })
		right = offsetof(T, access) ==
				offsetof(pabi_mr_init_attr, access) &&
			offsetof(T, comp_mask) ==
				offsetof(pabi_mr_init_attr, comp_mask) &&
			offsetof(T, iova) ==
				offsetof(pabi_mr_init_attr, iova) &&
			offsetof(T, addr) ==
				offsetof(pabi_mr_init_attr, addr) &&
			offsetof(T, fd) == offsetof(pabi_mr_init_attr, fd) &&
			offsetof(T, fd_offset) ==
				offsetof(pabi_mr_init_attr, fd_offset);
	return right;
}

/* The same for completion counters. */
template <typename T> [[nodiscard]] consteval bool is_comp_cntr() noexcept
{
	bool right = true;

	if constexpr (requires { sizeof(T); })
		right = sizeof(T) == sizeof(pabi_comp_cntr) &&
			offsetof(T, handle) == offsetof(pabi_comp_cntr, handle);
	return right;
}

template <typename T> [[nodiscard]] consteval bool is_comp_cntr_attr() noexcept
{
	bool right = true;

	if constexpr (requires { sizeof(T); })
		right = sizeof(T) == sizeof(pabi_comp_cntr_init_attr) &&
			offsetof(T, flags) ==
				offsetof(pabi_comp_cntr_init_attr, flags);
	return right;
}

/* In a header that has it, is the handle of struct ibv_dm where it is set? */
template <typename T> [[nodiscard]] consteval bool places_dm_handle() noexcept
{
	bool right = true;

	if constexpr (requires { &T::handle; })
		right = offsetof(T, handle) == PABI_DM_HANDLE;
	return right;
}

} // namespace

static_assert(is_comp_cntr<struct ibv_comp_cntr>());
static_assert(is_comp_cntr_attr<struct ibv_comp_cntr_init_attr>());
static_assert(is_mr_init_attr<struct ibv_mr_init_attr>());
static_assert(places_dm_handle<ibv_dm>());
static_assert(places_late_ops<ibv_qp_ex>());
static_assert(offsetof(pabi_qp, last.wr_atomic_write) == PABI_QP_EX_SIZE);

// The driver's part of a command follows the core's part without a gap.
static_assert(sizeof(ib_uverbs_cmd_hdr) == 8);
static_assert(sizeof(ib_uverbs_get_context_resp) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_cq) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_cq_resp) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_qp) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_qp_resp) % 8 == 0);
static_assert(sizeof(ib_uverbs_alloc_pd_resp) == 4);
static_assert(sizeof(ib_uverbs_create_ah_resp) == 4);
