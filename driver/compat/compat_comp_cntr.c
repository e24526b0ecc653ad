// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion counters as ib_core calls them, made of those of ornic_comp_cntr.h. */
#include "compat/compat_ops.h"

#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#define UVERBS_MODULE_NAME ornic
#include <rdma/uverbs_named_ioctl.h>

#include "compat_features.h"
#include "ornic_comp_cntr.h"
#include "ornic_dev.h"

#if ORNIC_HAVE_COMP_CNTR
struct ornic_ib_comp_cntr {
	struct ib_comp_cntr ibcc;
	struct ornic_ib_cntr cntr;
};

static struct ornic_ib_cntr *to_cntr(struct ib_comp_cntr *ibcc)
{
	return &container_of(ibcc, struct ornic_ib_comp_cntr, ibcc)->cntr;
}

static int create_comp_cntr(struct ib_comp_cntr *ibcc,
			    struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *context = ib_uverbs_get_ucontext(attrs);
	const size_t id = ORNIC_ATTR_CREATE_COMP_CNTR_RESP;
	struct ornic_create_comp_cntr_resp resp = {};
	int ret;

	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = ornic_ib_cntr_create(to_cntr(ibcc), context, &resp);
	if (ret)
		return ret;
	ret = uverbs_copy_to_struct_or_zero(attrs, id, &resp, sizeof(resp));
	if (IS_UVERBS_COPY_ERR(ret))
		goto err_destroy;
	return 0;

err_destroy:
	ornic_ib_cntr_destroy(to_cntr(ibcc), to_odev(ibcc->device));
	return ret;
}

static int destroy_comp_cntr(struct ib_comp_cntr *ibcc)
{
	return ornic_ib_cntr_destroy(to_cntr(ibcc), to_odev(ibcc->device));
}

static_assert((int)IB_COMP_CNTR_ENTRY_COMP == ORNIC_CNTR_COMPLETIONS);
static_assert((int)IB_COMP_CNTR_ENTRY_ERR == ORNIC_CNTR_ERRORS);
static_assert((int)IB_COMP_CNTR_MODIFY_OP_SET == ORNIC_CNTR_SET);
static_assert((int)IB_COMP_CNTR_MODIFY_OP_INC == ORNIC_CNTR_ADD);

static int modify_comp_cntr(struct ib_comp_cntr *ibcc,
			    enum ib_comp_cntr_entry entry,
			    enum ib_comp_cntr_modify_op op, u64 value)
{
	return ornic_ib_cntr_modify(to_cntr(ibcc), to_odev(ibcc->device), entry,
				    op, value);
}

static int read_comp_cntr(struct ib_comp_cntr *ibcc,
			  enum ib_comp_cntr_entry entry, u64 *value)
{
	return ornic_ib_cntr_read(to_cntr(ibcc), entry, value);
}

static int query_comp_cntr_caps(struct ib_device *ibdev,
				struct ib_comp_cntr_caps *caps,
				struct uverbs_attr_bundle *attrs)
{
	const struct ornic_ib_dev *dev = to_odev(ibdev);

	if (!dev->caps.max_comp_cntr)
		return -EOPNOTSUPP;
	caps->max_value = U64_MAX;
	caps->max_counters = dev->caps.max_comp_cntr;
	caps->supported_qp_attach_ops = BIT(ORNIC_CNTR_OPS) - 1;
	return 0;
}

static_assert((int)IB_QP_ATTACH_COMP_CNTR_OP_SEND == 1 << ORNIC_CNTR_SEND);
static_assert((int)IB_QP_ATTACH_COMP_CNTR_OP_RECV == 1 << ORNIC_CNTR_RECV);
static_assert((int)IB_QP_ATTACH_COMP_CNTR_OP_RDMA_READ == 1 << ORNIC_CNTR_READ);
static_assert((int)IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ ==
	      1 << ORNIC_CNTR_REMOTE_READ);
static_assert((int)IB_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE ==
	      1 << ORNIC_CNTR_WRITE);
static_assert((int)IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE ==
	      1 << ORNIC_CNTR_REMOTE_WRITE);

/* A process that opened the target of another has a handle of its own to it. */
static int qp_attach_comp_cntr(struct ib_qp *ibqp, struct ib_comp_cntr *ibcc,
			       struct ib_qp_attach_comp_cntr_attr *attr)
{
	if (ibqp->real_qp != ibqp)
		return -EINVAL;
	return ornic_ib_cntr_attach(to_cntr(ibcc), ibqp, attr->op_mask);
}

const struct ib_device_ops ornic_comp_cntr_ops = {
	.create_comp_cntr = create_comp_cntr,
	.destroy_comp_cntr = destroy_comp_cntr,
	.modify_comp_cntr = modify_comp_cntr,
	.qp_attach_comp_cntr = qp_attach_comp_cntr,
	.query_comp_cntr_caps = query_comp_cntr_caps,
	.read_comp_cntr = read_comp_cntr,
	INIT_RDMA_OBJ_SIZE(ib_comp_cntr, ornic_ib_comp_cntr, ibcc),
};

/* clang-format off */
#define COMP_CNTR_RESP \
	UVERBS_ATTR_STRUCT(struct ornic_create_comp_cntr_resp, mmap_size)

ADD_UVERBS_ATTRIBUTES_SIMPLE(ornic_create_comp_cntr, UVERBS_OBJECT_COMP_CNTR,
			     UVERBS_METHOD_COMP_CNTR_CREATE,
			     UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_CREATE_COMP_CNTR_RESP,
						 COMP_CNTR_RESP, UA_OPTIONAL));
/* clang-format on */

const struct uapi_definition ornic_comp_cntr_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_COMP_CNTR,
				&ornic_create_comp_cntr),
	{}
};
#else
const struct ib_device_ops ornic_comp_cntr_ops = {};
const struct uapi_definition ornic_comp_cntr_defs[] = { {} };
#endif
