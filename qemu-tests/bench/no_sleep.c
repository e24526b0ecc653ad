// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Preloaded into perftest. Both ends of its bandwidth programs sleep for a
 * second once they are connected, before they exchange anything: longer than
 * what they measure then. They read from each other what they need, so nothing
 * waits for that second.
 */
unsigned int sleep(unsigned int seconds);

unsigned int sleep(unsigned int seconds)
{
	(void)seconds;
	return 0;
}
