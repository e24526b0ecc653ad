// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_fork DEVICE GID-INDEX ROUNDS: a program that called ibv_fork_init,
 * and forks all the time. Its children scribble over what they inherit of the
 * registered memory, which must be a copy: the device keeps the parent's.
 * Some live on for a while, some leave at once, some by exec.
 */
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../verify/verbs.h"

namespace
{

constexpr size_t size = 256 << 10;
constexpr size_t source = 0, sink = 1 << 20;

pid_t fork_scribbler(const pair &p, int round)
{
	const pid_t pid = fork();

	check(pid >= 0, "fork");
	if (pid)
		return pid;
	clear(p.client.at(source, size));
	clear(p.server.at(sink, size));
	if (round % 3 == 1)
		execl("/bin/true", "true", nullptr);
	if (round % 3 == 2)
		pause();
	_exit(0);
}

void one_round(pair &p, int round)
{
	const auto id = static_cast<uint64_t>(round);
	const auto seed = static_cast<uint32_t>(round);

	fill(p.client.at(source, size), seed);
	clear(p.server.at(sink, size));
	const pid_t before = fork_scribbler(p, round);
	p.server.post_recv(id, sink, size);
	p.client.post(request(IBV_WR_SEND, id), { p.client.sge(source, size) });
	const pid_t amid = fork_scribbler(p, round + 1);
	(void)p.client.sent(id);
	(void)p.server.received(id);
	check_fill(p.server.at(sink, size), seed, "what was sent");
	for (const pid_t pid : { before, amid }) {
		kill(pid, SIGKILL);
		check(waitpid(pid, nullptr, 0) == pid, "waitpid");
	}
	check_fill(p.client.at(source, size), seed, "what was to be sent");
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::fprintf(stderr, "usage: ornic_fork DEVICE GID ROUNDS\n");
		return 2;
	}
	try {
		check(!ibv_fork_init(), "ibv_fork_init");
		port on(argv[1], std::atoi(argv[2]), "ornic");
		pair p(on, on);
		const int rounds = std::atoi(argv[3]);

		for (int round = 1; round <= rounds; round++)
			one_round(p, round);
		std::printf("%d rounds\n", rounds);
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
