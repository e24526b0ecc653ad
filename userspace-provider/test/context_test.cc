// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The QP table, the owners and commands.

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>

#include "command.h"
#include "qp_table.h"
#include "resource.h"

namespace ornic::test
{
namespace
{

/* The table only hands pointers back. */
queue_pair *token(int &value)
{
	return reinterpret_cast<queue_pair *>(&value);
}

TEST(qp_table, finds_what_was_inserted)
{
	auto table = std::make_unique<qp_table>();
	constexpr std::uint32_t qpns[] = { 0,	   1,	     0xfff,
					   0x1000, 0x123456, 0xffffff };
	int values[std::size(qpns)] = {};

	for (std::size_t i = 0; i < std::size(qpns); ++i) {
		EXPECT_EQ(table->find(qpns[i]), nullptr);
		ASSERT_TRUE(table->insert(qpns[i], token(values[i])));
	}
	for (std::size_t i = 0; i < std::size(qpns); ++i)
		EXPECT_EQ(table->find(qpns[i]), token(values[i]));
	for (std::uint32_t qpn : qpns) {
		table->remove(qpn);
		EXPECT_EQ(table->find(qpn), nullptr);
	}
	table->remove(0x777777);
	EXPECT_EQ(table->find(0x777777), nullptr);
}

bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

TEST(file_descriptor, closes_once)
{
	int fd = open("/dev/null", O_RDONLY);
	{
		file_descriptor first(fd);
		file_descriptor second(std::move(first));

		EXPECT_TRUE(is_open(fd));
		EXPECT_EQ(second.get(), fd);
	}
	EXPECT_FALSE(is_open(fd));
}

TEST(mapping, says_why_it_failed)
{
	mapping none(-1, 0, 4096);

	EXPECT_EQ(errno, EBADF);
	EXPECT_FALSE(none);
}

TEST(mapping, space_that_stays_empty_is_given_up)
{
	mapping space = mapping::reserve(4096);

	ASSERT_TRUE(space);
	EXPECT_FALSE(space.map_here(-1, 0, 4096));
	EXPECT_EQ(errno, EBADF);
	EXPECT_FALSE(space);
}

struct driver_part {
	std::uint32_t number;
	std::uint32_t more;
};

TEST(command, driver_data_follows_the_core)
{
	response<ib_uverbs_create_ah_resp, driver_part> resp;
	request<ib_uverbs_alloc_pd> cmd;
	const std::uint32_t answer[] = { 1, 2, 3 };

	static_assert(resp.size() == sizeof(answer));
	static_assert(cmd.size() == 16);
	std::memcpy(resp.data(), answer, sizeof(answer));
	EXPECT_EQ(resp.driver().number, 2U);
	EXPECT_EQ(resp.driver().more, 3U);
}

} // namespace
} // namespace ornic::test
