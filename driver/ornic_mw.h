/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_MW_H
#define ORNIC_MW_H

#include <rdma/ib_verbs.h>

int ornic_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int ornic_ib_dealloc_mw(struct ib_mw *ibmw);

#endif /* ORNIC_MW_H */
