// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Device memory: what is asked of the kernel, what is mapped, and what is copied.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ornic-abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_ioctl.h"
#include "resource.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

constexpr std::uint32_t handle = 0x55;
constexpr std::size_t page = 4096;

/** What the kernel has, and what it was asked for. */
struct kernel_state {
	int error; // of commands
	int query_error;
	ornic_query_dm_resp memory;
	int allocations;
	std::uint32_t queried; // handle
	std::uint32_t freed;
	std::uint32_t exported;
	std::uint64_t offset; // of the last MR
	std::size_t length;
	unsigned int access;
};

kernel_state kernel;

constexpr __s32 exported_fd = 42;

/* ORNIC_METHOD_DM_EXPORT: the handle, and the descriptor. */
int export_dmabuf(unsigned char *bytes)
{
	auto object = attribute(bytes, 0);
	auto response = attribute(bytes, 1);

	if (kernel.error)
		return kernel.error;
	EXPECT_EQ(object.attr_id, ORNIC_ATTR_DM_EXPORT_HANDLE);
	EXPECT_EQ(response.attr_id, ORNIC_ATTR_DM_EXPORT_FD);
	EXPECT_EQ(response.len, sizeof(exported_fd));
	kernel.exported = static_cast<std::uint32_t>(object.data);
	std::memcpy(reinterpret_cast<void *>(response.data), &exported_fd,
		    sizeof(exported_fd));
	return 0;
}

/* ORNIC_METHOD_DM_QUERY: the handle, and the response. */
int answer(const ib_uverbs_ioctl_hdr &hdr, unsigned char *bytes)
{
	auto object = attribute(bytes, 0);
	auto response = attribute(bytes, 1);

	if (hdr.method_id == ORNIC_METHOD_DM_EXPORT)
		return export_dmabuf(bytes);
	if (kernel.query_error)
		return kernel.query_error;
	EXPECT_EQ(hdr.method_id, ORNIC_METHOD_DM_QUERY);
	EXPECT_EQ(hdr.num_attrs, 2U);
	EXPECT_EQ(object.attr_id, ORNIC_ATTR_DM_QUERY_HANDLE);
	EXPECT_EQ(response.attr_id, ORNIC_ATTR_DM_QUERY_RESP);
	EXPECT_EQ(response.len, sizeof(kernel.memory));
	kernel.queried = static_cast<std::uint32_t>(object.data);
	std::memcpy(reinterpret_cast<void *>(response.data), &kernel.memory,
		    sizeof(kernel.memory));
	return 0;
}

/** The public handle, wherever the header has it. */
std::uint32_t public_handle(const ibv_dm *dm)
{
	return read_at<std::uint32_t>(
		reinterpret_cast<const unsigned char *>(dm), PABI_DM_HANDLE);
}

} // namespace

extern "C" {

int ibv_cmd_alloc_dm(ibv_context *context, const ibv_alloc_dm_attr *,
		     pabi_dm *dm, void *link)
{
	if (link)
		return EFAULT;
	if (kernel.error)
		return kernel.error;
	++kernel.allocations;
	dm->handle = handle;
	dm->dm.context = context;
	return 0;
}

int ibv_cmd_free_dm(pabi_dm *dm)
{
	if (kernel.error)
		return kernel.error;
	kernel.freed = dm->handle;
	return 0;
}

int ibv_cmd_reg_dm_mr(ibv_pd *pd, pabi_dm *dm, uint64_t offset, size_t length,
		      unsigned int access, pabi_mr *mr, void *link)
{
	if (link || dm->handle != handle)
		return EFAULT;
	kernel.offset = offset;
	kernel.length = length;
	kernel.access = access;
	mr->ibv_mr.pd = pd;
	return kernel.error;
}

} // extern "C"

namespace
{

class device_memories : public testing::Test {
protected:
	device_memories()
	{
		kernel = {};
		kernel.memory.length = length;
		kernel.memory.mmap_offset = page;
		kernel.memory.mmap_size = page;
		answer_methods(UVERBS_OBJECT_DM, answer);
		context.device = &device;
		context.cmd_fd = file.get();
		attr.length = length;
		EXPECT_EQ(ftruncate(file.get(), 2 * page), 0);
		errno = 0;
	}
	~device_memories() override
	{
		answer_methods(UVERBS_OBJECT_DM, nullptr);
		kernel = {};
	}

	static constexpr std::size_t length = 1002; // no whole words

	file_descriptor file{ memfd_create("dm", MFD_CLOEXEC) };
	ibv_device device{};
	ibv_context context{};
	ibv_alloc_dm_attr attr{};
};

TEST_F(device_memories, are_copied_without_the_kernel)
{
	std::array<char, 8> in = { 'd', 'e', 'v', 'i', 'c', 'e', '!', '!' };
	std::array<char, 8> out{};
	ibv_dm *dm = alloc_dm(&context, &attr);

	ASSERT_NE(dm, nullptr);
	EXPECT_EQ(dm->context, &context);
	EXPECT_EQ(kernel.queried, handle);
	EXPECT_EQ(dm->memcpy_to_dm(dm, 992, in.data(), in.size()), 0);
	// Where the device sees it.
	EXPECT_EQ(pread(file.get(), out.data(), out.size(), page + 992),
		  static_cast<ssize_t>(out.size()));
	EXPECT_EQ(in, out);
	in[0] = 'D';
	EXPECT_EQ(pwrite(file.get(), in.data(), in.size(), page),
		  static_cast<ssize_t>(in.size()));
	EXPECT_EQ(dm->memcpy_from_dm(out.data(), dm, 0, out.size()), 0);
	EXPECT_EQ(in, out);
	EXPECT_EQ(free_dm(dm), 0);
	EXPECT_EQ(kernel.freed, handle);
}

struct copy_row {
	const char *name;
	std::uint64_t offset;
	std::size_t length;
	int error;
};

class copies : public device_memories,
	       public testing::WithParamInterface<copy_row> {};

TEST_P(copies, are_checked)
{
	std::array<char, 2000> bytes{};
	ibv_dm *dm = alloc_dm(&context, &attr);

	ASSERT_NE(dm, nullptr);
	bytes.fill('x');
	EXPECT_EQ(dm->memcpy_to_dm(dm, GetParam().offset, bytes.data(),
				   GetParam().length),
		  GetParam().error);
	bytes.fill('y');
	EXPECT_EQ(dm->memcpy_from_dm(bytes.data(), dm, GetParam().offset,
				     GetParam().length),
		  GetParam().error);
	if (GetParam().error) {
		EXPECT_EQ(bytes[0], 'y');
	}
	EXPECT_EQ(free_dm(dm), 0);
}

INSTANTIATE_TEST_SUITE_P(
	rows, copies,
	testing::Values(copy_row{ "all_words", 0, 1000, 0 },
			copy_row{ "last_word", 996, 4, 0 },
			copy_row{ "nothing", 1000, 0, 0 },
			copy_row{ "odd_offset", 3, 4, EINVAL },
			copy_row{ "odd_length", 4, 3, EINVAL },
			copy_row{ "offset_outside", 1004, 4, EFAULT },
			copy_row{ "beyond_the_end", 0, 1004, EFAULT },
			copy_row{ "part_beyond", 1000, 4, EFAULT },
			copy_row{ "sum_that_wraps", UINT64_MAX - 3, 8, EFAULT },
			copy_row{ "length_that_wraps", 8, SIZE_MAX - 3,
				  EFAULT }),
	[](const auto &row) { return row.param.name; });

TEST_F(device_memories, unknown_attributes_are_refused)
{
	attr.comp_mask = 1;
	EXPECT_EQ(alloc_dm(&context, &attr), nullptr);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(kernel.allocations, 0);
}

TEST_F(device_memories, kernel_refuses)
{
	kernel.error = ENOMEM;
	EXPECT_EQ(alloc_dm(&context, &attr), nullptr);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(kernel.freed, 0U);
}

TEST_F(device_memories, what_cannot_be_mapped_is_freed)
{
	kernel.memory.mmap_size = 512;
	EXPECT_EQ(alloc_dm(&context, &attr), nullptr);
	EXPECT_EQ(errno, EPROTO);
	EXPECT_EQ(kernel.freed, handle);

	kernel.freed = 0;
	kernel.query_error = EIO;
	EXPECT_EQ(alloc_dm(&context, &attr), nullptr);
	EXPECT_EQ(errno, EIO);
	EXPECT_EQ(kernel.freed, handle);
}

TEST_F(device_memories, stay_while_MRs_are_in_them)
{
	ibv_pd pd{};
	std::array<char, 4> bytes = { 'a', 'b', 'c', 'd' };
	ibv_dm *dm = alloc_dm(&context, &attr);

	ASSERT_NE(dm, nullptr);
	ibv_mr *mr = reg_dm_mr(&pd, dm, 8, 16, IBV_ACCESS_ZERO_BASED);
	ASSERT_NE(mr, nullptr);
	EXPECT_EQ(mr->pd, &pd);
	EXPECT_EQ(kernel.offset, 8U);
	EXPECT_EQ(kernel.length, 16U);
	EXPECT_EQ(kernel.access, unsigned{ IBV_ACCESS_ZERO_BASED });
	kernel.error = EBUSY;
	EXPECT_EQ(free_dm(dm), EBUSY);
	EXPECT_EQ(dm->memcpy_to_dm(dm, 0, bytes.data(), bytes.size()), 0);
	EXPECT_EQ(reg_dm_mr(&pd, dm, 0, 16, 0), nullptr);
	EXPECT_EQ(errno, EBUSY);
	kernel.error = 0;
	unimport_mr(mr);
	EXPECT_EQ(free_dm(dm), 0);
}

TEST_F(device_memories, imports_are_the_same_memory)
{
	std::array<char, 4> in = { 'a', 'b', 'c', 'd' };
	std::array<char, 4> out{};
	ibv_context other{};

	other.device = &device;
	other.cmd_fd = file.get();
	ibv_dm *dm = alloc_dm(&context, &attr);
	ASSERT_NE(dm, nullptr);
	ibv_dm *imported = import_dm(&other, handle);
	ASSERT_NE(imported, nullptr);
	EXPECT_EQ(kernel.allocations, 1);
	EXPECT_EQ(imported->context, &other);
	EXPECT_EQ(imported->comp_mask, 1U); // IBV_DM_MASK_HANDLE
	EXPECT_EQ(public_handle(imported), handle);
	EXPECT_EQ(dm->memcpy_to_dm(dm, 4, in.data(), in.size()), 0);
	EXPECT_EQ(imported->memcpy_from_dm(out.data(), imported, 4, 4), 0);
	EXPECT_EQ(in, out);
	EXPECT_EQ(imported->memcpy_from_dm(out.data(), imported, 1000, 4),
		  EFAULT);
	unimport_dm(imported);
	EXPECT_EQ(kernel.freed, 0U);
	EXPECT_EQ(free_dm(dm), 0);
}

TEST_F(device_memories, are_exported)
{
	ibv_dm *dm = alloc_dm(&context, &attr);

	ASSERT_NE(dm, nullptr);
	EXPECT_EQ(dm_export_dmabuf_fd(dm), exported_fd);
	EXPECT_EQ(kernel.exported, handle);
	kernel.error = EMFILE;
	EXPECT_EQ(dm_export_dmabuf_fd(dm), -1);
	EXPECT_EQ(errno, EMFILE);
	kernel.error = EPROTONOSUPPORT;
	EXPECT_EQ(dm_export_dmabuf_fd(dm), -1);
	EXPECT_EQ(errno, EOPNOTSUPP);
	kernel.error = 0;
	EXPECT_EQ(free_dm(dm), 0);
}

TEST_F(device_memories, nothing_to_import)
{
	kernel.query_error = ENOENT;
	EXPECT_EQ(import_dm(&context, 99), nullptr);
	EXPECT_EQ(errno, ENOENT);
}

} // namespace
} // namespace ornic::test
