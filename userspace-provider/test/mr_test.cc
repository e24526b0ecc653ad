// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Which registrations reach the kernel, and as what; the speed of a port.

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

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

/* What a kernel without dma-bufs and DMA handles of the device would refuse. */
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
		{ fd | offset | iova, EOPNOTSUPP },
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
