// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What another process needs to use an open context: the descriptor of the
 * context has come to it in a message, and with it the numbers of a PD and of
 * MRs. Of the context it asks what alloc_ucontext has told the first one; a PD
 * it names to find out whether there is one. MRs are the matter of ib_core.
 */
#include "ornic_import.h"

#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#define UVERBS_MODULE_NAME ornic
#include <rdma/uverbs_named_ioctl.h>

#include "ornic_pd.h"
#include "ornic_ucontext.h"
#include "ornic_verbs.h"

/**
 * ornic_ib_query_ucontext - ib_device_ops.query_ucontext
 * @context: context
 * @attrs: with room for struct ornic_alloc_ucontext_resp, or for the front of
 *	it, as older providers know it
 *
 * Context: process, may sleep.
 * Return: 0; -EFAULT.
 */
int ornic_ib_query_ucontext(struct ib_ucontext *context,
			    struct uverbs_attr_bundle *attrs)
{
	struct ornic_alloc_ucontext_resp resp =
		ornic_describe_ucontext(to_oucontext(context));
	const size_t id = ORNIC_ATTR_QUERY_CONTEXT_RESP;

	return uverbs_copy_to_struct_or_zero(attrs, id, &resp, sizeof(resp));
}

static int
UVERBS_HANDLER(ORNIC_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	const struct ib_pd *pd =
		uverbs_attr_get_obj(attrs, ORNIC_ATTR_PD_QUERY_HANDLE);
	struct ornic_alloc_pd_resp resp = {};

	resp.pdn = container_of(pd, struct ornic_ib_pd, ibpd)->pdn;
	return uverbs_copy_to_struct_or_zero(attrs, ORNIC_ATTR_PD_QUERY_RESP,
					     &resp, sizeof(resp));
}

/* clang-format off */
#define CONTEXT_RESP \
	UVERBS_ATTR_STRUCT(struct ornic_alloc_ucontext_resp, max_cqe)
#define PD_RESP UVERBS_ATTR_STRUCT(struct ornic_alloc_pd_resp, pdn)

ADD_UVERBS_ATTRIBUTES_SIMPLE(ornic_query_context, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_QUERY_CONTEXT_RESP,
						 CONTEXT_RESP, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(ORNIC_ATTR_PD_QUERY_HANDLE,
					    UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_PD_QUERY_RESP,
						PD_RESP, UA_MANDATORY));

ADD_UVERBS_METHODS(ornic_pd_query, UVERBS_OBJECT_PD,
		   &UVERBS_METHOD(ORNIC_METHOD_PD_QUERY));
/* clang-format on */

const struct uapi_definition ornic_import_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &ornic_query_context),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &ornic_pd_query),
	{}
};
