/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Found only if the kernel has no such header: its own come first. */
#include <linux/netdevice.h>
