/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COUNTER_H
#define ORNIC_COUNTER_H

struct ib_qp;
struct rdma_counter;
struct rdma_hw_stats;

struct rdma_hw_stats *
ornic_ib_counter_alloc_stats(struct rdma_counter *counter);
int ornic_ib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int ornic_ib_counter_unbind_qp(struct ib_qp *ibqp);
int ornic_ib_counter_update_stats(struct rdma_counter *counter);
int ornic_ib_counter_dealloc(struct rdma_counter *counter);

#endif /* ORNIC_COUNTER_H */
