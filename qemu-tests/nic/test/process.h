/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An ornic-nic under test. */
#ifndef ORNIC_NIC_TEST_PROCESS_H
#define ORNIC_NIC_TEST_PROCESS_H

#include <functional>
#include <string>
#include <vector>

#include "base.h"

namespace test
{

using arguments = std::vector<std::string>;

/** Path of ornic-nic; set before the first test. */
extern std::string program;

/** A folder for sockets and RAM, removed by the destructor. */
class scratch {
public:
	scratch();
	~scratch();
	scratch(const scratch &) = delete;
	std::string path(const std::string &name) const
	{
		return folder_ + "/" + name;
	}
	/** A file of @size bytes, for RAM. */
	std::string file(const std::string &name, u64 size) const;

private:
	std::string folder_;
};

/** Run ornic-nic until it exits. */
struct outcome {
	int status;
	std::string out; // both streams
};
outcome run(const arguments &args);

/** An ornic-nic in the background, terminated by the destructor. */
class process {
public:
	/** @prepare: called in the new process before it executes ornic-nic. */
	explicit process(const arguments &args, void (*prepare)() = nullptr);
	~process();
	process(const process &) = delete;

	pid_t pid() const
	{
		return pid_;
	}
	bool alive();
	/** Send @signal and wait. Return: exit status, or -signal. */
	int stop(int signal);

private:
	pid_t pid_;
};

/** Wait up to five seconds until @what is true. */
bool eventually(const std::function<bool()> &what);

} // namespace test

#endif // ORNIC_NIC_TEST_PROCESS_H
