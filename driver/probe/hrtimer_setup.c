// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: hrtimer_setup */
#include <linux/hrtimer.h>

static void set(struct hrtimer *timer,
		enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}
