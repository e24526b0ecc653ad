/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_RESTRACK_H
#define ORNIC_RESTRACK_H

#include <rdma/ib_verbs.h>

int ornic_ib_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int ornic_ib_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int ornic_ib_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);
int ornic_ib_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* ORNIC_RESTRACK_H */
