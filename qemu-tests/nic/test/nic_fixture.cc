// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "nic_fixture.h"

namespace test
{

nic_fixture::nic_fixture(u32 count, arguments more, u8 first,
			 const std::string &keys)
	: first_(first)
{
	arguments args{ "--debug", "--control", path("control") };

	for (u32 i = 1; i <= count; i++) {
		std::string n = std::to_string(i);
		u8 mac[6], gid[16];

		address_of(static_cast<u8>(first + i - 1), mac, gid);
		args.push_back("--guest");
		args.push_back("socket=" + path("s" + n) +
			       ",ram=" + folder_.file("ram" + n, ram_bytes) +
			       ",vectors=" + std::to_string(vectors) +
			       ",mac=" + ::nic::mac_text(mac) +
			       ",netdev=unix:" + path("n" + n) + ":" +
			       path("q" + n) + keys);
	}
	args.insert(args.end(), more.begin(), more.end());
	process_ = std::make_unique<process>(args);
	guests_.resize(count);
	for (u32 i = 1; i <= count; i++) {
		plug(i);
		EXPECT_TRUE(guest(i).start()) << "guest " << i;
	}
}

void nic_fixture::plug(u32 number)
{
	std::string n = std::to_string(number);

	guests_[number - 1] = std::make_unique<fake_guest>(
		path("s" + n), path("ram" + n),
		static_cast<u8>(first_ + number - 1));
	if (!guest(number).connected())
		::nic::die("guest %u finds no device", number);
}

void nic_fixture::replug(u32 number)
{
	unplug(number);
	plug(number);
}

std::string nic_fixture::ask(const std::string &what)
{
	return run({ "--ask", path("control"), what }).out;
}

u64 nic_fixture::number(const std::string &what, const std::string &key)
{
	std::string text = ask(what);
	std::size_t at = text.find("\"" + key + "\": ");

	if (at == std::string::npos)
		return 0;
	return strtoull(text.c_str() + at + key.size() + 4, nullptr, 10);
}

bool join(end &a, u8 number_a, end &b, u8 number_b)
{
	return a.guest.connect(a.qp, b.qp.number, number_b) &&
	       b.guest.connect(b.qp, a.qp.number, number_a);
}

void exchange(end &a, end &b, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		a.mr.ptr[i] = static_cast<u8>(i * 7 + 1);
	memset(b.mr.ptr, 0, bytes);
	a.guest.post(a.qp, ORNIC_WQE_WRITE, a.mr, b.mr.dma, b.mr.key, bytes);

	auto written = a.guest.poll(a.cq);

	ASSERT_TRUE(written);
	EXPECT_EQ(written->status, ORNIC_CQE_SUCCESS);
	EXPECT_EQ(memcmp(a.mr.ptr, b.mr.ptr, bytes), 0);

	memset(a.mr.ptr, 0, bytes);
	a.guest.post(a.qp, ORNIC_WQE_READ, a.mr, b.mr.dma, b.mr.key, bytes);

	auto read = a.guest.poll(a.cq);

	ASSERT_TRUE(read);
	EXPECT_EQ(read->status, ORNIC_CQE_SUCCESS);
	EXPECT_EQ(memcmp(a.mr.ptr, b.mr.ptr, bytes), 0);

	memset(b.mr.ptr, 0, bytes);
	b.guest.post_recv(b.qp, b.mr, bytes);
	a.guest.post(a.qp, ORNIC_WQE_SEND, a.mr, 0, 0, bytes);

	auto sent = a.guest.poll(a.cq);
	auto got = b.guest.poll(b.cq);

	ASSERT_TRUE(sent && got);
	EXPECT_EQ(sent->status, ORNIC_CQE_SUCCESS);
	EXPECT_EQ(got->status, ORNIC_CQE_SUCCESS);
	EXPECT_EQ(got->byte_len, bytes);
	EXPECT_EQ(memcmp(a.mr.ptr, b.mr.ptr, bytes), 0);
}

} // namespace test
