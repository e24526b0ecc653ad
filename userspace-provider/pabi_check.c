/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pabi.h against rdma-core's own driver.h. Compiles only inside an rdma-core
 * tree, because driver.h is not installed; `make check-pabi RDMA_CORE_SRC=DIR`
 * does that. Nothing in here produces code.
 */
#include <infiniband/driver.h>

#include "pabi.h"

#define SAME_SIZE(ours, theirs) \
	static_assert(sizeof(struct ours) == sizeof(struct theirs), #ours)
#define SAME_AT(ours, theirs, field)                          \
	static_assert(offsetof(struct ours, field) ==         \
			      offsetof(struct theirs, field), \
		      #ours "." #field)
#define SAME_OP(field) SAME_AT(pabi_context_ops, verbs_context_ops, field)
#define SAME_DEV_OP(field) SAME_AT(pabi_device_ops, verbs_device_ops, field)

static_assert((int)PABI_MATCH_SENTINEL == (int)VERBS_MATCH_SENTINEL, "kind");
static_assert((int)PABI_MATCH_MODALIAS == (int)VERBS_MATCH_MODALIAS, "kind");
static_assert((int)PABI_QP_EX == (int)VERBS_QP_EX, "qp mask");
#if ORNIC_RDMA_CORE >= 37
static_assert((int)PABI_LOG_ERR == (int)VERBS_LOG_ERR, "log level");
#endif

SAME_SIZE(pabi_match_ent, verbs_match_ent);
SAME_AT(pabi_match_ent, verbs_match_ent, driver_data);
SAME_AT(pabi_match_ent, verbs_match_ent, u);
SAME_AT(pabi_match_ent, verbs_match_ent, vendor);
SAME_AT(pabi_match_ent, verbs_match_ent, device);
SAME_AT(pabi_match_ent, verbs_match_ent, kind);

SAME_AT(pabi_sysfs_dev, verbs_sysfs_dev, match);
SAME_AT(pabi_sysfs_dev, verbs_sysfs_dev, ibdev_path);

SAME_SIZE(pabi_device_ops, verbs_device_ops);
SAME_DEV_OP(name);
SAME_DEV_OP(match_min_abi_version);
SAME_DEV_OP(match_max_abi_version);
SAME_DEV_OP(match_table);
SAME_DEV_OP(static_providers);
SAME_DEV_OP(match_device);
SAME_DEV_OP(alloc_context);
SAME_DEV_OP(import_context);
SAME_DEV_OP(alloc_device);
SAME_DEV_OP(uninit_device);

SAME_SIZE(pabi_device, verbs_device);
SAME_AT(pabi_device, verbs_device, ops);
SAME_AT(pabi_device, verbs_device, refcount);
SAME_AT(pabi_device, verbs_device, entry);
SAME_AT(pabi_device, verbs_device, sysfs);
SAME_AT(pabi_device, verbs_device, core_support);

SAME_SIZE(pabi_cq, verbs_cq);
SAME_SIZE(pabi_xrcd, verbs_xrcd);
SAME_AT(pabi_xrcd, verbs_xrcd, comp_mask);
SAME_AT(pabi_xrcd, verbs_xrcd, handle);
SAME_SIZE(pabi_qp, verbs_qp);
SAME_AT(pabi_qp, verbs_qp, comp_mask);
SAME_AT(pabi_qp, verbs_qp, xrcd);
static_assert(offsetof(struct verbs_qp, comp_mask) == PABI_QP_COMP_MASK, "qp");
SAME_SIZE(pabi_srq, verbs_srq);
SAME_AT(pabi_srq, verbs_srq, srq_type);
SAME_AT(pabi_srq, verbs_srq, xrcd);
SAME_AT(pabi_srq, verbs_srq, cq);
SAME_AT(pabi_srq, verbs_srq, srq_num);
SAME_SIZE(pabi_mr, verbs_mr);
SAME_AT(pabi_mr, verbs_mr, mr_type);
SAME_AT(pabi_mr, verbs_mr, access);

SAME_SIZE(pabi_context_ops, verbs_context_ops);
SAME_OP(alloc_mw);
SAME_OP(alloc_parent_domain);
SAME_OP(alloc_pd);
SAME_OP(alloc_td);
SAME_OP(attach_mcast);
SAME_OP(bind_mw);
SAME_OP(close_xrcd);
SAME_OP(create_ah);
SAME_OP(create_cq);
SAME_OP(create_cq_ex);
SAME_OP(create_qp);
SAME_OP(create_qp_ex);
SAME_OP(create_srq);
SAME_OP(create_srq_ex);
SAME_OP(dealloc_mw);
SAME_OP(dealloc_pd);
SAME_OP(dealloc_td);
SAME_OP(dereg_mr);
SAME_OP(destroy_ah);
SAME_OP(destroy_cq);
SAME_OP(destroy_qp);
SAME_OP(destroy_srq);
SAME_OP(detach_mcast);
SAME_OP(free_context);
SAME_OP(get_srq_num);
SAME_OP(import_mr);
SAME_OP(import_pd);
SAME_OP(modify_qp);
SAME_OP(modify_srq);
SAME_OP(open_qp);
SAME_OP(open_xrcd);
SAME_OP(poll_cq);
SAME_OP(post_recv);
SAME_OP(post_send);
SAME_OP(post_srq_recv);
SAME_OP(query_device_ex);
SAME_OP(query_port);
SAME_OP(query_qp);
SAME_OP(query_srq);
SAME_OP(reg_mr);
SAME_OP(req_notify_cq);
SAME_OP(rereg_mr);
SAME_OP(resize_cq);
SAME_OP(unimport_mr);
SAME_OP(unimport_pd);
