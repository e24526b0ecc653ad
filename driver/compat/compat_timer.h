/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_TIMER_H
#define ORNIC_COMPAT_TIMER_H

#include <linux/hrtimer.h>

#include "compat_features.h"

#if !ORNIC_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, fn, clock, mode) \
	(hrtimer_init(timer, clock, mode), (void)((timer)->function = (fn)))
#endif

#endif /* ORNIC_COMPAT_TIMER_H */
