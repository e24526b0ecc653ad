// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Which registrations reach the kernel, and as what; the speed of a port.

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <rdma/ib_user_ioctl_cmds.h>

#include "fake_ioctl.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

struct registration {
	int calls;
	void *addr;
	std::size_t length;
	std::uint64_t iova;
	int access;
};

registration registered;
int answer;

extern "C" int ibv_cmd_reg_mr(ibv_pd *pd, void *addr, size_t length,
			      uint64_t iova, int access, pabi_mr *mr, void *,
			      size_t, void *, size_t)
{
	registered = { registered.calls + 1, addr, length, iova, access };
	mr->ibv_mr.pd = pd;
	return answer;
}

extern "C" int ibv_cmd_query_port_speed(ibv_context *, uint32_t port,
					uint64_t *speed)
{
	*speed = port * 100ULL;
	return answer;
}

class late_verbs : public testing::Test {
protected:
	late_verbs()
	{
		registered = {};
		answer = 0;
		errno = 0;
		attr.length = 64;
		attr.access = IBV_ACCESS_LOCAL_WRITE;
		attr.iova = 0x5000;
		attr.addr = memory;
	}
	/** Expect that attributes with @mask are registered at @iova. */
	void expect_iova(std::uint64_t mask, std::uint64_t iova)
	{
		attr.comp_mask = mask;
		ibv_mr *mr = reg_mr_ex(&pd, &attr);

		ASSERT_NE(mr, nullptr);
		EXPECT_EQ(mr->pd, &pd);
		EXPECT_EQ(registered.addr, memory);
		EXPECT_EQ(registered.length, attr.length);
		EXPECT_EQ(registered.iova, iova);
		EXPECT_EQ(registered.access, attr.access);
		unimport_mr(mr);
	}

	ibv_pd pd{};
	pabi_mr_init_attr attr{};
	unsigned char memory[64];
};

TEST_F(late_verbs, iova_is_the_address_or_another)
{
	expect_iova(REG_MR_MASK_ADDR, reinterpret_cast<std::uintptr_t>(memory));
	expect_iova(REG_MR_MASK_ADDR | REG_MR_MASK_IOVA, attr.iova);
	attr.iova = 0;
	expect_iova(REG_MR_MASK_ADDR | REG_MR_MASK_IOVA, 0);
	attr.length = std::numeric_limits<std::size_t>::max();
	attr.access = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_RELAXED_ORDERING;
	expect_iova(REG_MR_MASK_ADDR | REG_MR_MASK_IOVA, 0);
	EXPECT_EQ(registered.calls, 4);
}

/* What is contradictory, and what the device does not have. */
TEST_F(late_verbs, refused)
{
	constexpr std::uint64_t dmah = 1 << 4, buf = 1 << 5;
	constexpr std::uint64_t fd = REG_MR_MASK_FD,
				offset = REG_MR_MASK_FD_OFFSET;
	constexpr std::uint64_t addr = REG_MR_MASK_ADDR,
				iova = REG_MR_MASK_IOVA;
	const std::pair<std::uint64_t, int> masks[] = {
		{ 0, EINVAL },
		{ iova, EINVAL },
		{ addr | offset, EINVAL },
		{ addr | fd | offset | iova, EINVAL },
		{ fd | iova, EINVAL },
		{ fd | offset, EINVAL },
		{ fd | offset | iova | dmah, EOPNOTSUPP },
		{ addr | dmah, EOPNOTSUPP },
		{ addr | buf, EOPNOTSUPP },
		{ addr | 1ULL << 63, EOPNOTSUPP },
	};

	for (const auto &[mask, error] : masks) {
		attr.comp_mask = mask;
		errno = 0;
		EXPECT_EQ(reg_mr_ex(&pd, &attr), nullptr) << mask;
		EXPECT_EQ(errno, error) << mask;
	}
	EXPECT_EQ(registered.calls, 0);
}

TEST_F(late_verbs, kernel_refuses)
{
	answer = ENOMEM;
	attr.comp_mask = REG_MR_MASK_ADDR;
	EXPECT_EQ(reg_mr_ex(&pd, &attr), nullptr);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(registered.calls, 1);
}

/** What the kernel was asked to make an MR of. */
struct dmabuf_registration {
	int calls;
	std::uint64_t pd, offset, length, iova;
	int fd, access;
};

dmabuf_registration dmabuf;

int reg_dmabuf(const ib_uverbs_ioctl_hdr &hdr, unsigned char *bytes)
{
	auto made = attribute(bytes, 0);
	auto value = [&](std::size_t i, std::uint16_t id, std::size_t size) {
		ib_uverbs_attr attr = attribute(bytes, i);

		EXPECT_EQ(attr.attr_id, id);
		EXPECT_EQ(attr.len, size);
		EXPECT_EQ(attr.flags, UVERBS_ATTR_F_MANDATORY);
		return attr.data;
	};
	auto answer_key = [&](std::size_t i, std::uint16_t id,
			      std::uint32_t key) {
		std::memcpy(reinterpret_cast<void *>(value(i, id, sizeof(key))),
			    &key, sizeof(key));
	};

	EXPECT_EQ(hdr.method_id, UVERBS_METHOD_REG_DMABUF_MR);
	EXPECT_EQ(hdr.num_attrs, 9U);
	++dmabuf.calls;
	dmabuf.pd = value(1, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0);
	dmabuf.offset = value(2, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8);
	dmabuf.length = value(3, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8);
	dmabuf.iova = value(4, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8);
	dmabuf.fd = static_cast<int>(value(5, UVERBS_ATTR_REG_DMABUF_MR_FD, 4));
	dmabuf.access = static_cast<int>(
		value(6, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4));
	if (answer)
		return answer;
	answer_key(7, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 0x1100);
	answer_key(8, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 0x1101);
	made.data = 0x77;
	std::memcpy(bytes + sizeof(hdr), &made, sizeof(made));
	return 0;
}

class dmabufs : public late_verbs {
protected:
	dmabufs()
	{
		dmabuf = {};
		context.cmd_fd = -1;
		pd.context = &context;
		pd.handle = 0x99;
		answer_methods(UVERBS_OBJECT_MR, reg_dmabuf);
	}
	~dmabufs() override
	{
		answer_methods(UVERBS_OBJECT_MR, nullptr);
	}
	/** Expect that the kernel was asked for what the tests ask for. */
	void expect_registered(ibv_mr *mr)
	{
		ASSERT_NE(mr, nullptr);
		EXPECT_EQ(mr->context, &context);
		EXPECT_EQ(mr->pd, &pd);
		EXPECT_EQ(mr->handle, 0x77U);
		EXPECT_EQ(mr->lkey, 0x1100U);
		EXPECT_EQ(mr->rkey, 0x1101U);
		EXPECT_EQ(reinterpret_cast<pabi_mr *>(mr)->mr_type,
			  PABI_MR_TYPE_DMABUF_MR);
		EXPECT_EQ(dmabuf.pd, 0x99U);
		EXPECT_EQ(dmabuf.offset, offset);
		EXPECT_EQ(dmabuf.length, length);
		EXPECT_EQ(dmabuf.iova, iova);
		EXPECT_EQ(dmabuf.fd, fd);
		EXPECT_EQ(dmabuf.access, IBV_ACCESS_REMOTE_READ);
		unimport_mr(mr);
	}

	static constexpr std::uint64_t offset = 0x123456789abc;
	static constexpr std::uint64_t iova = 0xfedcba987abc;
	static constexpr std::size_t length = std::size_t{ 1 } << 40 | 1;
	static constexpr int fd = 0x7654321;

	ibv_context context{};
};

TEST_F(dmabufs, are_registered)
{
	expect_registered(reg_dmabuf_mr(&pd, offset, length, iova, fd,
					IBV_ACCESS_REMOTE_READ));
	EXPECT_EQ(registered.calls, 0);
}

TEST_F(dmabufs, are_registered_by_attributes)
{
	attr = { .length = length,
		 .access = IBV_ACCESS_REMOTE_READ,
		 .comp_mask = REG_MR_MASK_FD | REG_MR_MASK_FD_OFFSET |
			      REG_MR_MASK_IOVA,
		 .iova = iova,
		 .addr = nullptr,
		 .fd = fd,
		 .fd_offset = offset };
	expect_registered(reg_mr_ex(&pd, &attr));
	EXPECT_EQ(registered.calls, 0);
}

TEST_F(dmabufs, kernel_refuses)
{
	for (int error : { EBADF, EOPNOTSUPP }) {
		answer = error;
		EXPECT_EQ(reg_dmabuf_mr(&pd, 0, 1, 0, -1, 0), nullptr);
		EXPECT_EQ(errno, error);
		EXPECT_EQ(dmabuf.fd, -1);
	}
	EXPECT_EQ(dmabuf.calls, 2);
}

TEST_F(late_verbs, port_speed_is_what_the_kernel_says)
{
	ibv_context context{};
	std::uint64_t speed = 0;

	EXPECT_EQ(query_port_speed(&context, 1, &speed), 0);
	EXPECT_EQ(speed, 100U);
	answer = EINVAL;
	EXPECT_EQ(query_port_speed(&context, 2, &speed), EINVAL);
}

} // namespace
} // namespace ornic::test
