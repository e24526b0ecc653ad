// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains tie QPs, MRs and AHs together, XRC domains XRC targets and
 * XRC SRQs. The device knows only their numbers.
 */
#include "ornic_pd.h"

#include <rdma/ornic-abi.h>

#include "ornic_dev.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

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
		ibdev_dbg(ibpd->device, "all %u PDs in use: %d\n", ORNIC_MAX_PD,
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

int ornic_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibpd->device);

	ida_free(&dev->pdns, to_opd(ibpd)->pdn);
	return 0;
}

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
		ibdev_dbg(ibxrcd->device, "all %u XRC domains in use: %d\n",
			  ORNIC_MAX_XRCD, xrcdn);
		return xrcdn;
	}
	to_oxrcd(ibxrcd)->xrcdn = xrcdn;
	return 0;
}

int ornic_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibxrcd->device);

	ida_free(&dev->xrcdns, to_oxrcd(ibxrcd)->xrcdn);
	return 0;
}
