// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: dev_set_dma_coherent */
#include <linux/device.h>

static void set(struct device *dev)
{
	dev_set_dma_coherent(dev);
}
