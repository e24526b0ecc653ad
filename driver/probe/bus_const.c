// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: discards */
#include <linux/device.h>

static int add(const struct bus_type *bus, struct device *dev)
{
	dev->bus = bus;
	return bus_register(bus);
}
