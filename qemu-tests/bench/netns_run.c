// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * netns_run SECONDS NAMESPACE COMMAND...: run COMMAND in that network namespace
 * ("-" for this one) and kill it by SIGALRM after SECONDS. nsenter and timeout do
 * the same in three times the time: under emulation their start takes as long as
 * what a run measures.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "netns_run: %s: %s\n", what, strerror(errno));
	return 127;
}

int main(int argc, char **argv)
{
	char path[256];
	int fd;

	if (argc < 4) {
		fprintf(stderr,
			"usage: netns_run SECONDS NAMESPACE COMMAND...\n");
		return 2;
	}
	if (strcmp(argv[2], "-")) {
		snprintf(path, sizeof(path), "/run/netns/%s", argv[2]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || setns(fd, CLONE_NEWNET))
			return fail(path);
	}
	alarm(atoi(argv[1]));
	execvp(argv[3], argv + 3);
	return fail(argv[3]);
}
