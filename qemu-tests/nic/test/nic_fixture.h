/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A process and its guests, used by most tests. */
#ifndef ORNIC_NIC_TEST_NIC_FIXTURE_H
#define ORNIC_NIC_TEST_NIC_FIXTURE_H

#include <gtest/gtest.h>

#include <memory>

#include "fake_guest.h"
#include "process.h"
#include "sockets.h"

namespace test
{

/** A process with the started guests 1 to @count. */
class nic_fixture {
public:
	/** @keys: appended to each --guest. */
	explicit nic_fixture(u32 count, arguments more = {}, u8 first = 1,
			     const std::string &keys = "");

	fake_guest &guest(u32 number)
	{
		return *guests_[number - 1];
	}
	process &nic()
	{
		return *process_;
	}
	std::string ask(const std::string &what);
	/** The number of @key in the response to command @what. */
	u64 number(const std::string &what, const std::string &key);
	/** Disconnect the QEMU of @number and connect another one. */
	void replug(u32 number);
	void unplug(u32 number)
	{
		guests_[number - 1].reset();
	}
	std::string path(const std::string &name) const
	{
		return folder_.path(name);
	}

private:
	void plug(u32 number);

	scratch folder_;
	u8 first_;
	std::unique_ptr<process> process_;
	std::vector<std::unique_ptr<fake_guest>> guests_;
};

/** Two processes and a wire between them. The guest of @p has number 1, that of @q 2. */
struct wired_pair {
	/** @more: options of @q. */
	explicit wired_pair(const arguments &more = {});
	scratch dir;
	nic_fixture p, q;
};

/** The socket of a guest's virtio-net, or of the peer of a wire. */
class netdev {
public:
	netdev(const nic_fixture &b, u32 number);
	/** Bound to @own; sends to @to. */
	netdev(const std::string &own, const std::string &to);
	void send(const std::string &frame);
	/** The next frame; @wait: up to 30 seconds. Empty: there is none. */
	std::string receive(bool wait = true);

private:
	::nic::unique_fd fd_;
	::nic::address to_;
};

/** An ARP frame between guests; @to 0: to all. */
std::string ethernet(u8 to, u8 from, const std::string &what);

/** The peer of a wire that is a stream: many frames arrive at a time. */
class stream_peer {
public:
	explicit stream_peer(const std::string &path)
		: fd_(::nic::connect_to(path))
	{
	}
	/** Send @data, frames of in_stream(); false: the wire was closed. */
	bool send(const std::string &data);

private:
	::nic::unique_fd fd_;
};

/** Append @value in the order of the wire. */
void put16(std::string &f, u64 value);
std::string in_stream(const std::string &f);

/** A QP of a guest, with its CQ and an MR. */
struct end {
	explicit end(fake_guest &g, u8 type = ORNIC_QPT_RC,
		     u8 queues = has_sq | has_rq)
		: guest(g)
		, cq(g.make_cq())
		, qp(g.make_qp(cq, type, 0, queues))
		, mr(g.make_mr(64 << 10))
	{
	}
	fake_guest &guest;
	queue cq;
	queue qp;
	buffer mr;
};

/** Connect the QPs of @a and @b, of guests with these numbers. */
bool join(end &a, u8 number_a, end &b, u8 number_b);

/** WRITE, READ and SEND @bytes from @a to @b, and check the results. */
void exchange(end &a, end &b, u32 bytes);

} // namespace test

#endif // ORNIC_NIC_TEST_NIC_FIXTURE_H
