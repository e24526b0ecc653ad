// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: __assign_str|function-like macro */
/* __assign_str() finds the source by itself */
#include <linux/stringify.h>
#include <trace/stages/stage6_event_callback.h>

static const char text[] = __stringify(__assign_str(netdev));
