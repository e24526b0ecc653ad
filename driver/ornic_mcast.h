/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_MCAST_H
#define ORNIC_MCAST_H

#include <rdma/ib_verbs.h>

int ornic_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int ornic_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* ORNIC_MCAST_H */
