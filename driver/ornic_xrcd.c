// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* XRC domains: numbers that tie XRC targets and XRC SRQs together. */
#include "ornic_xrcd.h"

#include "ornic_dev.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/**
 * ornic_ib_alloc_xrcd - ib_device_ops.alloc_xrcd
 * @ibxrcd: new domain
 * @udata: none
 *
 * Context: process, may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no XRC; -EINVAL for bad driver
 * data; -ENOSPC if all numbers are taken; -ENOMEM.
 */
int ornic_ib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibxrcd->device);
	int xrcdn;
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_XRC))
		return -EOPNOTSUPP;
	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	xrcdn = ida_alloc_range(&dev->xrcdns, 1, ORNIC_MAX_XRCD, GFP_KERNEL);
	if (xrcdn < 0) {
		ibdev_dbg(ibxrcd->device, "no XRC domain left of %u: %d\n",
			  ORNIC_MAX_XRCD, xrcdn);
		return xrcdn;
	}
	to_oxrcd(ibxrcd)->xrcdn = xrcdn;
	return 0;
}

/**
 * ornic_ib_dealloc_xrcd - ib_device_ops.dealloc_xrcd
 * @ibxrcd: domain without objects
 * @udata: unused
 *
 * Context: process, may sleep.
 * Return: 0.
 */
int ornic_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibxrcd->device);

	ida_free(&dev->xrcdns, to_oxrcd(ibxrcd)->xrcdn);
	return 0;
}
