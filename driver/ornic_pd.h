/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PD_H
#define ORNIC_PD_H

#include <rdma/ib_verbs.h>

struct ornic_ib_pd {
	struct ib_pd ibpd;
	u32 pdn; /* not 0 */
};

static inline struct ornic_ib_pd *to_opd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct ornic_ib_pd, ibpd);
}

struct ornic_ib_xrcd {
	struct ib_xrcd ibxrcd; /* ib_core shares it among processes */
	u32 xrcdn; /* not 0 */
};

static inline struct ornic_ib_xrcd *to_oxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct ornic_ib_xrcd, ibxrcd);
}

#endif /* ORNIC_PD_H */
