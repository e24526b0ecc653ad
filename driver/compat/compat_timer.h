/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_TIMER_H
#define ORNIC_COMPAT_TIMER_H

#include <linux/hrtimer.h>

#include "compat_features.h"

#if !ORNIC_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* ORNIC_COMPAT_TIMER_H */
