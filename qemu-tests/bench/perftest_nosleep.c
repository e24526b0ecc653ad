// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Preloaded into perftest, so that less of a run is waiting:
 *
 * - Both ends of its bandwidth programs sleep for a second once they are
 *   connected, before they exchange anything: longer than what they measure
 *   then. They read from each other what they need, so nothing waits for that.
 *
 * - Both ends start at the same time, so a client may come before its server
 *   listens: it tries again, for five seconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

unsigned int sleep(unsigned int seconds)
{
	(void)seconds;
	return 0;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int tries = 0; tries < 1000; tries++) {
		if (!syscall(SYS_connect, fd, address, length))
			return 0;
		if (errno != ECONNREFUSED || address->sa_family == AF_UNIX)
			return -1;
		nanosleep(&pause, NULL);
	}
	errno = ECONNREFUSED;
	return -1;
}
