// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Completion counters: what is asked of the kernel, and what is read.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_ioctl.h"
#include "resource.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

constexpr std::uint32_t handle = 0x77;
constexpr std::uint16_t object = 19;

/** What the kernel has, and what it was asked for. */
struct kernel_state {
	int error; // of the next commands
	std::uint64_t mmap_offset;
	std::uint64_t mmap_size;
	int creations;
	std::uint32_t destroyed; // handle
	std::uint32_t op_mask; // of the last attachment
};

kernel_state kernel;

/* UVERBS_METHOD_COMP_CNTR_CREATE: the handle, and the response of the driver. */
int create(const ib_uverbs_ioctl_hdr &hdr, unsigned char *bytes)
{
	auto made = attribute(bytes, 0);
	auto response = attribute(bytes, 1);
	ornic_create_comp_cntr_resp answer{};

	if (kernel.error || hdr.method_id != 0 || hdr.num_attrs != 2)
		return kernel.error ? kernel.error : ENOTTY;
	++kernel.creations;
	EXPECT_EQ(made.attr_id, 0U);
	EXPECT_EQ(made.len, 0U);
	EXPECT_EQ(made.data, 0U);
	EXPECT_EQ(response.attr_id, ORNIC_ATTR_CREATE_COMP_CNTR_RESP);
	EXPECT_EQ(response.len, sizeof(answer));
	made.data = handle;
	std::memcpy(bytes + sizeof(hdr), &made, sizeof(made));
	answer.mmap_offset = kernel.mmap_offset;
	answer.mmap_size = kernel.mmap_size;
	std::memcpy(reinterpret_cast<void *>(response.data), &answer,
		    sizeof(answer));
	return 0;
}

} // namespace

extern "C" {

int ibv_cmd_query_comp_cntr_caps(ibv_context *, void *caps, size_t caps_size)
{
	std::memset(caps, 0x11, caps_size);
	return kernel.error;
}

int ibv_cmd_destroy_comp_cntr(pabi_comp_cntr *cntr)
{
	kernel.destroyed = cntr->handle;
	return kernel.error;
}

int ibv_cmd_qp_attach_comp_cntr(ibv_qp *, pabi_comp_cntr *,
				pabi_qp_attach_comp_cntr_attr *attr)
{
	kernel.op_mask = attr->op_mask;
	return kernel.error;
}

int ibv_cmd_set_comp_cntr(pabi_comp_cntr *, uint64_t)
{
	return 1;
}

int ibv_cmd_set_err_comp_cntr(pabi_comp_cntr *, uint64_t)
{
	return 2;
}

int ibv_cmd_inc_comp_cntr(pabi_comp_cntr *, uint64_t)
{
	return 3;
}

int ibv_cmd_inc_err_comp_cntr(pabi_comp_cntr *, uint64_t)
{
	return 4;
}

} // extern "C"

namespace
{

class comp_cntr : public testing::Test {
protected:
	comp_cntr()
	{
		kernel = {};
		answer_methods(object, create);
		kernel.mmap_offset = page;
		kernel.mmap_size = page;
		context.device = &device;
		context.cmd_fd = memory.get();
		EXPECT_EQ(ftruncate(memory.get(), 2 * page), 0);
		errno = 0;
	}
	~comp_cntr() override
	{
		answer_methods(object, nullptr);
		kernel = {};
	}
	/** The device stores the values. */
	void store(std::uint64_t completions, std::uint64_t errors)
	{
		ornic_comp_cntr_record record = { completions, errors };

		EXPECT_EQ(pwrite(memory.get(), &record, sizeof(record), page),
			  static_cast<ssize_t>(sizeof(record)));
	}

	static constexpr off_t page = 4096;

	file_descriptor memory{ memfd_create("record", MFD_CLOEXEC) };
	ibv_device device{};
	ibv_context context{};
	pabi_comp_cntr_init_attr attr{};
};

TEST_F(comp_cntr, reads_what_the_device_stores)
{
	std::uint64_t value = 0;
	pabi_comp_cntr *cntr = create_comp_cntr(&context, &attr);

	ASSERT_NE(cntr, nullptr);
	EXPECT_EQ(cntr->context, &context);
	EXPECT_EQ(cntr->handle, handle);
	EXPECT_EQ(read_comp_cntr(cntr, &value), 0);
	EXPECT_EQ(value, 0U);
	store(1ULL << 40, 7);
	EXPECT_EQ(read_comp_cntr(cntr, &value), 0);
	EXPECT_EQ(value, 1ULL << 40);
	EXPECT_EQ(read_err_comp_cntr(cntr, &value), 0);
	EXPECT_EQ(value, 7U);
	EXPECT_EQ(destroy_comp_cntr(cntr), 0);
	EXPECT_EQ(kernel.destroyed, handle);
}

TEST_F(comp_cntr, stays_while_the_kernel_refuses)
{
	std::uint64_t value = 0;
	pabi_comp_cntr *cntr = create_comp_cntr(&context, &attr);

	ASSERT_NE(cntr, nullptr);
	kernel.error = EBUSY;
	EXPECT_EQ(destroy_comp_cntr(cntr), EBUSY);
	store(3, 0);
	EXPECT_EQ(read_comp_cntr(cntr, &value), 0);
	EXPECT_EQ(value, 3U);
	kernel.error = 0;
	EXPECT_EQ(destroy_comp_cntr(cntr), 0);
}

TEST_F(comp_cntr, counts_work_requests_alone)
{
	pabi_comp_cntr_init_attr attrs[3] = {};

	attrs[0].comp_mask = 1;
	attrs[1].type = 1; // bytes
	attrs[2].flags = 1;
	for (pabi_comp_cntr_init_attr &wrong : attrs) {
		errno = 0;
		EXPECT_EQ(create_comp_cntr(&context, &wrong), nullptr);
		EXPECT_EQ(errno, EOPNOTSUPP);
	}
	EXPECT_EQ(kernel.creations, 0);
}

TEST_F(comp_cntr, kernel_refuses)
{
	const std::pair<int, int> errors[] = {
		{ ENOSPC, ENOSPC }, { EPROTONOSUPPORT, EOPNOTSUPP }
	};
	unsigned char caps[16];

	for (auto [theirs, ours] : errors) {
		kernel.error = theirs;
		EXPECT_EQ(create_comp_cntr(&context, &attr), nullptr);
		EXPECT_EQ(errno, ours);
		EXPECT_EQ(query_comp_cntr_caps(&context, caps, sizeof(caps)),
			  ours);
	}
	EXPECT_EQ(kernel.destroyed, 0U);
}

TEST_F(comp_cntr, memory_must_hold_the_record)
{
	kernel.mmap_size = 8;
	EXPECT_EQ(create_comp_cntr(&context, &attr), nullptr);
	EXPECT_EQ(errno, EPROTO);
	EXPECT_EQ(kernel.destroyed, handle);
}

TEST_F(comp_cntr, attaches_what_the_device_counts)
{
	pabi_comp_cntr cntr{};
	ibv_qp qp{};
	pabi_qp_attach_comp_cntr_attr ops = { .comp_mask = 0, .op_mask = 0x3f };

	EXPECT_EQ(qp_attach_comp_cntr(&qp, &cntr, &ops), 0);
	EXPECT_EQ(kernel.op_mask, 0x3fU);
	ops.op_mask = 0x41;
	EXPECT_EQ(qp_attach_comp_cntr(&qp, &cntr, &ops), EOPNOTSUPP);
	ops = { .comp_mask = 1, .op_mask = 1 };
	EXPECT_EQ(qp_attach_comp_cntr(&qp, &cntr, &ops), EOPNOTSUPP);
	EXPECT_EQ(kernel.op_mask, 0x3fU);
	kernel.error = EBUSY;
	ops.comp_mask = 0;
	EXPECT_EQ(qp_attach_comp_cntr(&qp, &cntr, &ops), EBUSY);
}

} // namespace
} // namespace ornic::test
