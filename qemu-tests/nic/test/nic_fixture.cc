// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "nic_fixture.h"

#include <sys/socket.h>

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

static arguments wire_to(const scratch &dir, const std::string &from,
			 const std::string &to, const arguments &more = {})
{
	arguments args{ "--wire",
			"unix:" + dir.path(from) + ":" + dir.path(to) };

	args.insert(args.end(), more.begin(), more.end());
	return args;
}

wired_pair::wired_pair(const arguments &more)
	: p(1, wire_to(dir, "p", "q"))
	, q(1, wire_to(dir, "q", "p", more), 2)
{
}

netdev::netdev(const nic_fixture &b, u32 number)
	: netdev(b.path("q" + std::to_string(number)),
		 b.path("n" + std::to_string(number)))
{
}

netdev::netdev(const std::string &own, const std::string &to)
	: fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))
	, to_(::nic::unix_address(to))
{
	timeval wait = { 30, 0 };

	::nic::bind_to(fd_.get(), ::nic::unix_address(own), own);
	setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
}

void netdev::send(const std::string &frame)
{
	sendto(fd_.get(), frame.data(), frame.size(), 0,
	       ::nic::sockaddr_of(to_), ::nic::length_of(to_));
}

std::string netdev::receive(bool wait)
{
	char buffer[4096];
	ssize_t n = recv(fd_.get(), buffer, sizeof(buffer),
			 wait ? 0 : MSG_DONTWAIT);

	return n < 0 ? "" : std::string(buffer, n);
}

std::string ethernet(u8 to, u8 from, const std::string &what)
{
	u8 mac[6], gid[16];
	std::string f;

	address_of(to, mac, gid);
	if (!to)
		memset(mac, 0xff, 6);
	f.assign(reinterpret_cast<char *>(mac), 6);
	address_of(from, mac, gid);
	f.append(reinterpret_cast<char *>(mac), 6);
	return f + "\x08\x06" + what + std::string(40, 'x');
}

bool stream_peer::send(const std::string &data)
{
	return ::send(fd_.get(), data.data(), data.size(), MSG_NOSIGNAL) ==
	       static_cast<ssize_t>(data.size());
}

void put16(std::string &f, u64 value)
{
	f += static_cast<char>(value >> 8);
	f += static_cast<char>(value);
}

std::string in_stream(const std::string &f)
{
	std::string head(2, '\0');

	put16(head, f.size());
	return head + f;
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
