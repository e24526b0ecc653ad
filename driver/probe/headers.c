// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Must compile with the headers of any kernel that ornic can be built for. */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
