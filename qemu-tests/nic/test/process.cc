// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "process.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>

namespace test
{

std::string program;

namespace
{

constexpr u64 max_wait = 30000 * nic::ms;

pid_t spawn(const arguments &args, int output, void (*prepare)())
{
	std::vector<char *> argv{ program.data() };
	pid_t pid;

	for (const std::string &arg : args)
		argv.push_back(const_cast<char *>(arg.c_str()));
	argv.push_back(nullptr);
	pid = fork();
	if (pid)
		return pid;
	if (output >= 0) {
		dup2(output, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
	}
	if (prepare)
		prepare();
	execv(program.c_str(), argv.data());
	_exit(127);
}

int decode(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace

scratch::scratch()
{
	char name[] = "/tmp/ornic-nic-XXXXXX";

	folder_ = mkdtemp(name);
}

scratch::~scratch()
{
	std::error_code ignored;

	std::filesystem::remove_all(folder_, ignored);
}

std::string scratch::file(const std::string &name, u64 size) const
{
	std::string where = path(name);
	nic::unique_fd fd(open(where.c_str(), O_RDWR | O_CREAT, 0600));

	if (!fd || ftruncate(fd.get(), static_cast<off_t>(size)))
		nic::die("%s: cannot be made", where.c_str());
	return where;
}

outcome run(const arguments &args)
{
	outcome result{};
	char buffer[4096];
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		nic::die("no pipe");
	pid = spawn(args, ends[1], nullptr);
	close(ends[1]);
	while ((n = read(ends[0], buffer, sizeof(buffer))) > 0)
		result.out.append(buffer, static_cast<std::size_t>(n));
	close(ends[0]);
	waitpid(pid, &status, 0);
	result.status = decode(status);
	return result;
}

process::process(const arguments &args, void (*prepare)())
	: pid_(spawn(args, -1, prepare))
{
}

process::~process()
{
	if (pid_ > 0)
		stop(SIGTERM);
}

bool process::alive()
{
	return pid_ > 0 && !kill(pid_, 0);
}

int process::stop(int signal)
{
	int status;

	kill(pid_, signal);
	waitpid(pid_, &status, 0);
	pid_ = -1;
	return decode(status);
}

bool eventually(const std::function<bool()> &what)
{
	u64 end = nic::now_ns() + max_wait;

	while (!what()) {
		if (nic::now_ns() > end)
			return false;
		usleep(50);
	}
	return true;
}

} // namespace test
