// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Device memory, mapped from the moment that it is there: copies need no system call.

#include <cerrno>
#include <cstring>
#include <rdma/ornic-abi.h>

#include "context.h"
#include "import.h"
#include "resource.h"
#include "shared.h"
#include "verbs.h"

namespace ornic
{
namespace
{

struct device_memory {
	pabi_dm base;
	mapping memory;
	std::size_t length;
};

static_assert(std::is_standard_layout_v<device_memory>);

device_memory &to_dm(ibv_dm *dm) noexcept
{
	return *reinterpret_cast<device_memory *>(dm);
}

/** As memory of other devices, it is copied in words of 4 bytes. 0, or an errno. */
int check_copy(const device_memory &dm, std::uint64_t offset,
	       std::size_t length) noexcept
{
	constexpr std::uint64_t word = 4;

	if (offset % word || length % word)
		return EINVAL;
	if (offset > dm.length || length > dm.length - offset)
		return EFAULT;
	return 0;
}

int copy_to(ibv_dm *ibdm, std::uint64_t offset, const void *from,
	    std::size_t length) noexcept
{
	device_memory &dm = to_dm(ibdm);
	int ret = check_copy(dm, offset, length);

	if (!ret && length)
		std::memcpy(dm.memory.data() + offset, from, length);
	// It may be write-combined: before the next WQE.
	full_barrier();
	return ret;
}

int copy_from(void *to, ibv_dm *ibdm, std::uint64_t offset,
	      std::size_t length) noexcept
{
	device_memory &dm = to_dm(ibdm);
	int ret = check_copy(dm, offset, length);

	// Not before the last CQE that was polled.
	full_barrier();
	if (!ret && length)
		std::memcpy(to, dm.memory.data() + offset, length);
	return ret;
}

/** Map what @ctx has as @handle. 0, or an errno. */
int map(device_memory &dm, ibv_context *ctx, std::uint32_t handle) noexcept
{
	ornic_query_dm_resp answer{};

	if (int ret = query_dm(ctx->cmd_fd, handle, answer))
		return ret;
	if (answer.mmap_size < answer.length)
		return EPROTO;
	dm.memory = mapping(ctx->cmd_fd, answer.mmap_offset, answer.mmap_size);
	if (!dm.memory)
		return errno;
	dm.length = answer.length;
	dm.base.dm.memcpy_to_dm = copy_to;
	dm.base.dm.memcpy_from_dm = copy_from;
	return 0;
}

/** The public number, which releases before 35 do not have. */
void set_handle(pabi_dm &dm, std::uint32_t handle) noexcept
{
	dm.handle = handle;
	std::memcpy(reinterpret_cast<std::byte *>(&dm) + PABI_DM_HANDLE,
		    &handle, sizeof(handle));
	dm.dm.comp_mask = PABI_DM_MASK_HANDLE;
}

} // namespace

ibv_dm *alloc_dm(ibv_context *ctx, ibv_alloc_dm_attr *attr) noexcept
{
	auto dm = make_object<device_memory>();

	if (!dm)
		return nullptr;
	if (attr->comp_mask)
		return fail(EINVAL);
	if (int ret = ibv_cmd_alloc_dm(ctx, attr, &dm->base, nullptr))
		return fail(ret);
	if (int ret = map(*dm, ctx, dm->base.handle)) {
		log_error(ctx, "ornic: %s: cannot map device memory %u: %d\n",
			  dm->base.handle, ret);
		ibv_cmd_free_dm(&dm->base);
		return fail(ret);
	}
	return &dm.release()->base.dm;
}

/** EBUSY while MRs are in it. */
int free_dm(ibv_dm *ibdm) noexcept
{
	device_memory &dm = to_dm(ibdm);

	if (int ret = ibv_cmd_free_dm(&dm.base))
		return ret;
	object_deleter()(&dm);
	return 0;
}

ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *dm, std::uint64_t offset,
		  std::size_t length, unsigned int access) noexcept
{
	auto mr = make_object<pabi_mr>();

	if (!mr)
		return nullptr;
	if (int ret = ibv_cmd_reg_dm_mr(pd, &to_dm(dm).base, offset, length,
					access, mr.get(), nullptr))
		return fail(ret);
	return &mr.release()->ibv_mr;
}

/** ENOENT: the context has no such memory. */
ibv_dm *import_dm(ibv_context *ctx, std::uint32_t handle) noexcept
{
	auto dm = make_object<device_memory>();

	if (!dm)
		return nullptr;
	if (int ret = map(*dm, ctx, handle))
		return fail(ret);
	dm->base.dm.context = ctx;
	set_handle(dm->base, handle);
	return &dm.release()->base.dm;
}

void unimport_dm(ibv_dm *dm) noexcept
{
	object_deleter()(&to_dm(dm));
}

/** A new dma-buf with each call; -1 with errno. */
int dm_export_dmabuf_fd(ibv_dm *ibdm) noexcept
{
	const device_memory &dm = to_dm(ibdm);
	int fd = -1;

	if (int ret =
		    export_dm(dm.base.dm.context->cmd_fd, dm.base.handle, fd)) {
		errno = ret;
		return -1;
	}
	return fd;
}

} // namespace ornic
