/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "verbs.h"

/* A process of its own with a device; it does something, and then waits to be killed. */
class other_process {
public:
	/* @what gets a port, and calls its second argument when the parent shall go on. */
	template <typename F> other_process(const port &p, F what)
	{
		int pipes[2];

		check(!pipe(pipes), "pipe");
		child_ = fork();
		if (!child_)
			run(p, pipes[1], what);
		close(pipes[1]);
		char byte;
		ready_ = child_ > 0 && read(pipes[0], &byte, 1) == 1;
		close(pipes[0]);
	}

	~other_process()
	{
		(void)end();
	}

	other_process(const other_process &) = delete;
	other_process &operator=(const other_process &) = delete;

	[[nodiscard]] bool is_ready() const
	{
		return ready_;
	}

	/* Kill it. False if it does not go, or went before. */
	bool end()
	{
		int status = 0;

		if (child_ <= 0)
			return false;
		kill(child_, SIGKILL);
		for (int i = 0; i < timeout_ms(); i++) {
			if (waitpid(child_, &status, WNOHANG) == child_) {
				child_ = 0;
				return WIFSIGNALED(status);
			}
			usleep(1000);
		}
		return false;
	}

private:
	template <typename F>
	[[noreturn]] static void run(const port &p, int done, F what)
	{
		try {
			port mine(p.name, p.gid_index, "ornic");

			what(mine,
			     [&] { check(write(done, "", 1) == 1, "write"); });
			for (;;)
				pause();
		} catch (const std::exception &why) {
			/* One that was killed says nothing. */
			printf("# child: %s\n", why.what());
			fflush(stdout);
			_exit(1);
		}
	}

	pid_t child_;
	bool ready_;
};
