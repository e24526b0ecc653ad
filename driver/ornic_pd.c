// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Protection domains: numbers that tie QPs, MRs and AHs together. */
#include "ornic_pd.h"

#include <rdma/ornic-abi.h>

#include "ornic_dev.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/**
 * ornic_ib_alloc_pd - ib_device_ops.alloc_pd
 * @ibpd: new PD
 * @udata: struct ornic_alloc_pd_resp
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL, -EFAULT for bad driver data; -ENOSPC if all numbers are
 * taken; -ENOMEM.
 */
int ornic_ib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);
	struct ornic_alloc_pd_resp resp = {};
	int pdn;
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	pdn = ida_alloc_range(&dev->pdns, 1, ORNIC_MAX_PD, GFP_KERNEL);
	if (pdn < 0) {
		ibdev_dbg(ibpd->device, "no PD left of %u: %d\n", ORNIC_MAX_PD,
			  pdn);
		return pdn;
	}

	to_opd(ibpd)->pdn = pdn;
	if (udata) {
		resp.pdn = pdn;
		ret = ornic_udata_put(udata, &resp, sizeof(resp));
		if (ret)
			goto err_free_pdn;
	}
	return 0;

err_free_pdn:
	ida_free(&dev->pdns, pdn);
	return ret;
}

/**
 * ornic_ib_dealloc_pd - ib_device_ops.dealloc_pd
 * @ibpd: PD without objects
 * @udata: unused
 *
 * Context: process, may sleep.
 * Return: 0.
 */
int ornic_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);

	ida_free(&dev->pdns, to_opd(ibpd)->pdn);
	return 0;
}
