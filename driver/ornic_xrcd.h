/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_XRCD_H
#define ORNIC_XRCD_H

#include <rdma/ib_verbs.h>

/**
 * struct ornic_ib_xrcd - an XRC domain; the device knows only its number
 * @ibxrcd: the domain as ib_core knows it; ib_core shares it among processes
 * @xrcdn: its number, not 0
 */
struct ornic_ib_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

static inline struct ornic_ib_xrcd *to_oxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct ornic_ib_xrcd, ibxrcd);
}

#endif /* ORNIC_XRCD_H */
