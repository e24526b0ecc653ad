/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A process and its guests, used by most tests. */
#ifndef ORNIC_NIC_TEST_NIC_FIXTURE_H
#define ORNIC_NIC_TEST_NIC_FIXTURE_H

#include <gtest/gtest.h>

#include <memory>

#include "fake_guest.h"
#include "process.h"

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

/** A QP of a guest, with its CQ and an MR. */
struct end {
	end(fake_guest &g)
		: guest(g)
		, cq(g.make_cq())
		, qp(g.make_qp(cq))
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
