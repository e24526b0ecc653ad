// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: incompatible */
#include <linux/device.h>

static int uevent(const struct device *dev, struct kobj_uevent_env *env);

static const struct bus_type bus = { .uevent = uevent };
