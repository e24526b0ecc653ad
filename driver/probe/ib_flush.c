// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: IB_DEVICE_FLUSH_GLOBAL */
/* FLUSH and ATOMIC WRITE of IBTA 1.5 */
#include <rdma/ib_verbs.h>

static const u64 bits = IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_ATOMIC_WRITE;
static const int work_requests = IB_WR_FLUSH + IB_WR_ATOMIC_WRITE;
static const int completions = IB_WC_FLUSH + IB_WC_ATOMIC_WRITE;
static const int access = IB_ACCESS_FLUSH_GLOBAL;
