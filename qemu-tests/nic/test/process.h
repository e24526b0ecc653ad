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

/** Where the program is; set before the first test. */
extern std::string program;

/** A folder for sockets and RAM, gone with its owner. */
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

/** Run it to its end. */
struct outcome {
	int status;
	std::string out; // both streams
};
outcome run(const arguments &args);

/** A process in the background, terminated with its owner. */
class process {
public:
	explicit process(const arguments &args);
	~process();
	process(const process &) = delete;

	pid_t pid() const
	{
		return pid_;
	}
	bool alive();
	/** End it. Return: its exit status, -signal if that ended it. */
	int stop(int signal);

private:
	pid_t pid_;
};

/** Until @what is so, up to five seconds. */
bool eventually(const std::function<bool()> &what);

} // namespace test

#endif // ORNIC_NIC_TEST_PROCESS_H
