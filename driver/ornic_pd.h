/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PD_H
#define ORNIC_PD_H

#include <rdma/ib_verbs.h>

/**
 * struct ornic_ib_pd - a protection domain; the device knows only its number
 * @ibpd: the PD as ib_core knows it
 * @pdn: its number, not 0
 */
struct ornic_ib_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

static inline struct ornic_ib_pd *to_opd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct ornic_ib_pd, ibpd);
}

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

#endif /* ORNIC_PD_H */
