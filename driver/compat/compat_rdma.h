/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_RDMA_H
#define ORNIC_COMPAT_RDMA_H

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "compat_features.h"
#include "ornic_pure.h"

/*
 * FLUSH and ATOMIC WRITE: an ib_core that does not have them refuses MRs with
 * FLUSH access, and the device does not report that it has them.
 */
#if !ORNIC_HAVE_IB_FLUSH
#define IB_DEVICE_ATOMIC_WRITE 0
#define IB_DEVICE_FLUSH_GLOBAL 0
#define IB_ACCESS_FLUSH_GLOBAL ORNIC_VERBS_FLUSH_GLOBAL
#define IB_WR_ATOMIC_WRITE ORNIC_VERBS_WR_ATOMIC_WRITE
#define IB_WR_FLUSH ORNIC_VERBS_WR_FLUSH
#define IB_WC_ATOMIC_WRITE ORNIC_VERBS_WC_ATOMIC_WRITE
#define IB_WC_FLUSH ORNIC_VERBS_WC_FLUSH
#endif

#if !ORNIC_HAVE_UMEM_GET_VA
#define ib_umem_get_va ib_umem_get
#endif

#endif /* ORNIC_COMPAT_RDMA_H */
