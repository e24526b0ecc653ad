// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Preloaded into perftest to make runs shorter:
 *
 * - The bandwidth programs sleep for a second after connecting, which takes longer
 *   than the measurement and is not needed: both ends synchronize over the socket.
 *
 * - Both ends are started at the same time, so the client retries to connect for
 *   five seconds.
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
