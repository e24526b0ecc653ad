// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Completion counters: read from memory that the device writes, changed by commands.

#include <cerrno>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "context.h"
#include "ioctl.h"
#include "resource.h"
#include "shared.h"
#include "verbs.h"

namespace ornic
{
namespace
{

// Kernel headers may not have them yet.
constexpr std::uint16_t comp_cntr_object = 19;
constexpr std::uint16_t create_method = 0;
constexpr std::uint16_t create_handle = 0;

struct completion_counter {
	pabi_comp_cntr base;
	mapping memory;
	const ornic_comp_cntr_record *record;
};

static_assert(std::is_standard_layout_v<completion_counter>);

completion_counter &to_counter(pabi_comp_cntr *cntr) noexcept
{
	return *reinterpret_cast<completion_counter *>(cntr);
}

/* 0, or an errno. */
int map_record(completion_counter &cntr,
	       const ornic_create_comp_cntr_resp &answer) noexcept
{
	if (answer.mmap_size < sizeof(*cntr.record))
		return EPROTO;
	cntr.memory = mapping(cntr.base.context->cmd_fd, answer.mmap_offset,
			      answer.mmap_size, PROT_READ);
	if (!cntr.memory)
		return errno;
	cntr.record = reinterpret_cast<const ornic_comp_cntr_record *>(
		cntr.memory.data());
	return 0;
}

} // namespace

int query_comp_cntr_caps(ibv_context *ctx, void *caps,
			 std::size_t caps_size) noexcept
{
	return unknown_to_unsupported(
		ibv_cmd_query_comp_cntr_caps(ctx, caps, caps_size));
}

pabi_comp_cntr *create_comp_cntr(ibv_context *ctx,
				 pabi_comp_cntr_init_attr *attr) noexcept
{
	ioctl_command<2> cmd(comp_cntr_object, create_method);
	ornic_create_comp_cntr_resp answer{};

	if (attr->comp_mask || attr->type || attr->flags)
		return fail(EOPNOTSUPP);
	auto cntr = make_object<completion_counter>();
	if (!cntr)
		return nullptr;
	cmd.object(0, create_handle, 0);
	cmd.out(1, ORNIC_ATTR_CREATE_COMP_CNTR_RESP, answer);
	if (int ret = cmd.run(ctx->cmd_fd))
		return fail(unknown_to_unsupported(ret));
	cntr->base.context = ctx;
	cntr->base.handle = cmd.handle(0);
	if (int ret = map_record(*cntr, answer)) {
		log_error(ctx,
			  "ornic: %s: cannot map completion counter %u: %d\n",
			  answer.number, ret);
		ibv_cmd_destroy_comp_cntr(&cntr->base);
		return fail(ret);
	}
	return &cntr.release()->base;
}

/** EBUSY while a QP has it. */
int destroy_comp_cntr(pabi_comp_cntr *cntr) noexcept
{
	if (int ret = ibv_cmd_destroy_comp_cntr(cntr))
		return ret;
	object_deleter()(&to_counter(cntr));
	return 0;
}

/** What was counted is in memory. */
int read_comp_cntr(pabi_comp_cntr *cntr, std::uint64_t *value) noexcept
{
	*value = load_acquire(to_counter(cntr).record->completions);
	return 0;
}

int read_err_comp_cntr(pabi_comp_cntr *cntr, std::uint64_t *value) noexcept
{
	*value = load_acquire(to_counter(cntr).record->errors);
	return 0;
}

/** libibverbs passes on only those bits of the mask that it knows. */
int qp_attach_comp_cntr(ibv_qp *qp, pabi_comp_cntr *cntr,
			pabi_qp_attach_comp_cntr_attr *attr) noexcept
{
	if (attr->comp_mask || attr->op_mask >> ORNIC_CNTR_OPS)
		return EOPNOTSUPP;
	return ibv_cmd_qp_attach_comp_cntr(qp, cntr, attr);
}

} // namespace ornic
