/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Methods of uverbs, by ioctl(), where libibverbs may not have the verb. */
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <span>

#include "verbs.h"

/* 0, or an errno. The kernel may change @attrs: handles of what it has made. */
int run_method(const port &on, uint16_t object, uint16_t method,
	       std::span<ib_uverbs_attr> attrs);
