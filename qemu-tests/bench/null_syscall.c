// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What an empty system call takes: prints nanoseconds. */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void)
{
	const int calls = 100000;
	double start = now_ns();

	for (int i = 0; i < calls; i++)
		syscall(SYS_getppid);
	printf("%.0f\n", (now_ns() - start) / calls);
	return 0;
}
