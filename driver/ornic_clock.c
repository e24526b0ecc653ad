// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The clock of the timestamps in CQEs, for the provider. */
#include "ornic_clock.h"

#include <linux/timekeeping.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME ornic_clock
#include <rdma/uverbs_named_ioctl.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"

static int
UVERBS_HANDLER(ORNIC_METHOD_QUERY_CLOCK)(struct uverbs_attr_bundle *attrs)
{
	const size_t id = ORNIC_ATTR_QUERY_CLOCK_VALUES;
	struct ib_ucontext *context = ib_uverbs_get_ucontext(attrs);
	struct ornic_query_clock clock = {};
	struct ornic_ib_dev *dev;
	u64 before, now;
	int ret;

	if (IS_ERR(context))
		return PTR_ERR(context);
	dev = to_odev(context->device);
	if (!(dev->caps.caps & ORNIC_CAP_QUERY_CLOCK))
		return -EOPNOTSUPP;
	before = ktime_get_real_ns();
	ret = ornic_cmd_query_clock(dev, &now);
	if (ret)
		return ret;
	/* The device has looked at its clock about half way through. */
	clock.realtime_ns = before + (ktime_get_real_ns() - before) / 2;
	clock.device_ns = now;
	return uverbs_copy_to_struct_or_zero(attrs, id, &clock, sizeof(clock));
}

/* clang-format off */
DECLARE_UVERBS_NAMED_METHOD(ORNIC_METHOD_QUERY_CLOCK,
			    UVERBS_ATTR_PTR_OUT(ORNIC_ATTR_QUERY_CLOCK_VALUES,
						UVERBS_ATTR_STRUCT(struct ornic_query_clock,
								   realtime_ns),
						UA_MANDATORY));

ADD_UVERBS_METHODS(ornic_clock_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(ORNIC_METHOD_QUERY_CLOCK));
/* clang-format on */

const struct uapi_definition ornic_clock_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &ornic_clock_methods),
	{}
};
