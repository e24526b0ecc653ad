// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory windows. Binding and taking back are WQEs, which the driver never sees. */
#include "ornic_verbs.h"

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_pd.h"
#include "ornic_udata.h"

/**
 * ornic_ib_alloc_mw - ib_device_ops.alloc_mw
 * @ibmw: new MW of type 1 or 2; its rkey is set
 * @udata: none
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for bad driver data; -EOPNOTSUPP for a device without
 * windows; -ENOMEM; -ENOSPC.
 */
int ornic_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibmw->device);
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_MW))
		return -EOPNOTSUPP;
	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	return ornic_cmd_create_mw(dev, to_opd(ibmw->pd)->pdn, ibmw->type,
				   &ibmw->rkey);
}

/**
 * ornic_ib_dealloc_mw - ib_device_ops.dealloc_mw
 * @ibmw: MW, bound or not
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device; the MW lives on then.
 */
int ornic_ib_dealloc_mw(struct ib_mw *ibmw)
{
	return ornic_cmd_destroy_mw(to_odev(ibmw->device), ibmw->rkey);
}
