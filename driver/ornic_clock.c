// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The clock of the timestamps in CQEs, which counts ns from any moment on. It is not
 * disciplined: programs that want wall time get both clocks as they are at one moment
 * (ORNIC_METHOD_QUERY_CLOCK), and the PTP clock says what such a conversion gives.
 */
#include "ornic_clock.h"

#include <linux/err.h>
#include <linux/kconfig.h>
#include <linux/module.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <rdma/ornic-abi.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"

#define UVERBS_MODULE_NAME ornic_clock
#include <rdma/uverbs_named_ioctl.h>

/* Both clocks, as they were when the device has read its own. @sts may be NULL. */
static int read_clocks(struct ornic_ib_dev *dev, struct ornic_query_clock *both,
		       struct ptp_system_timestamp *sts)
{
	u64 before, after, now;
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_QUERY_CLOCK))
		return -EOPNOTSUPP;
	ptp_read_system_prets(sts);
	before = ktime_get_real_ns();
	ret = ornic_cmd_query_clock(dev, &now);
	if (ret)
		return ret;
	/* About half way through; the time may have been set back meanwhile. */
	after = ktime_get_real_ns();
	both->realtime_ns = before + (u64)((s64)(after - before) / 2);
	ptp_read_system_postts(sts);
	both->device_ns = now;
	return 0;
}

/* ---- For programs that poll CQs -------------------------------------------------- */

static int
UVERBS_HANDLER(ORNIC_METHOD_QUERY_CLOCK)(struct uverbs_attr_bundle *attrs)
{
	const size_t id = ORNIC_ATTR_QUERY_CLOCK_VALUES;
	struct ib_ucontext *context = ib_uverbs_get_ucontext(attrs);
	struct ornic_query_clock clock = {};
	int ret;

	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = read_clocks(to_odev(context->device), &clock, NULL);
	if (ret)
		return ret;
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

/* ---- The PTP clock --------------------------------------------------------------- */

/**
 * struct ornic_phc - the PTP clock of a device
 * @info: what the PTP core knows of it
 * @clock: what it has made of that
 * @dev: the device, which outlives it
 */
struct ornic_phc {
	struct ptp_clock_info info;
	struct ptp_clock *clock;
	struct ornic_ib_dev *dev;
};

static int phc_gettime(struct ptp_clock_info *info, struct timespec64 *ts,
		       struct ptp_system_timestamp *sts)
{
	const struct ornic_phc *phc =
		container_of(info, struct ornic_phc, info);
	struct ornic_query_clock both = {};
	int ret = read_clocks(phc->dev, &both, sts);

	if (!ret)
		*ts = ns_to_timespec64(both.realtime_ns);
	return ret;
}

/* The PTP core calls these without a look whether they exist. */

static int phc_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	return -EOPNOTSUPP;
}

static int phc_adjtime(struct ptp_clock_info *info, s64 delta)
{
	return -EOPNOTSUPP;
}

static int phc_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	return -EOPNOTSUPP;
}

static int phc_enable(struct ptp_clock_info *info,
		      struct ptp_clock_request *request, int on)
{
	return -EOPNOTSUPP;
}

static const struct ptp_clock_info phc_info = {
	.owner = THIS_MODULE,
	.name = "ornic",
	.gettimex64 = phc_gettime,
	.settime64 = phc_settime,
	.adjtime = phc_adjtime,
	.adjfine = phc_adjfine,
	.enable = phc_enable,
};

struct ornic_phc *ornic_phc_add(struct ornic_ib_dev *dev)
{
	struct ornic_phc *phc;

	if (!IS_REACHABLE(CONFIG_PTP_1588_CLOCK) ||
	    !(dev->caps.caps & ORNIC_CAP_QUERY_CLOCK))
		return NULL;
	phc = kzalloc(sizeof(*phc), GFP_KERNEL);
	if (!phc)
		return NULL;
	phc->info = phc_info;
	phc->dev = dev;
	phc->clock = ptp_clock_register(&phc->info, dev->bus->parent);
	if (!IS_ERR_OR_NULL(phc->clock))
		return phc;
	ibdev_dbg(&dev->ibdev, "no PTP clock: %ld\n", PTR_ERR(phc->clock));
	kfree(phc);
	return NULL;
}

void ornic_phc_remove(struct ornic_phc *phc)
{
	if (!IS_REACHABLE(CONFIG_PTP_1588_CLOCK) || !phc)
		return;
	ptp_clock_unregister(phc->clock);
	kfree(phc);
}
