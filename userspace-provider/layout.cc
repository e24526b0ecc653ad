// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What the provider takes for granted about structures that others define.

#include <rdma/ib_user_verbs.h>
#include <rdma/ornic-layout.h>

#include "pabi.h"

static_assert(sizeof(pabi_device_ops) == 72);
static_assert(sizeof(pabi_match_ent) == 24);
static_assert(offsetof(pabi_sysfs_dev, match) == 24);
static_assert(offsetof(pabi_sysfs_dev, ibdev_path) == 176);
static_assert(sizeof(pabi_device) == 712 && offsetof(pabi_device, ops) == 664);
static_assert(sizeof(pabi_cq) == 288);
static_assert(sizeof(pabi_mr) == 56 && offsetof(pabi_mr, mr_type) == 48);
static_assert(sizeof(verbs_context) == 648 &&
	      offsetof(verbs_context, context) == 320);
#if ORNIC_RDMA_CORE == 34
static_assert(sizeof(pabi_context_ops) == 73 * sizeof(void *));
#elif ORNIC_RDMA_CORE == 35
static_assert(sizeof(pabi_context_ops) == 75 * sizeof(void *));
#else
static_assert(sizeof(pabi_context_ops) == 76 * sizeof(void *));
#endif

// The driver's part of a command follows the core's part without a gap.
static_assert(sizeof(ib_uverbs_cmd_hdr) == 8);
static_assert(sizeof(ib_uverbs_get_context_resp) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_cq) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_cq_resp) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_qp) % 8 == 0);
static_assert(sizeof(ib_uverbs_create_qp_resp) % 8 == 0);
static_assert(sizeof(ib_uverbs_alloc_pd_resp) == 4);
static_assert(sizeof(ib_uverbs_create_ah_resp) == 4);
