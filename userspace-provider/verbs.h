/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The verbs, as libibverbs calls them; semantics are those of the man pages. */
#ifndef ORNIC_VERBS_H
#define ORNIC_VERBS_H

#include "pabi.h"

namespace ornic
{

// objects.cc
int query_device(ibv_context *ctx, const ibv_query_device_ex_input *input,
		 ibv_device_attr_ex *attr, std::size_t attr_size) noexcept;
int query_port(ibv_context *ctx, std::uint8_t port,
	       ibv_port_attr *attr) noexcept;
int query_port_speed(ibv_context *ctx, std::uint32_t port,
		     std::uint64_t *speed) noexcept;
ibv_mr *reg_mr(ibv_pd *pd, void *addr, std::size_t length, std::uint64_t iova,
	       int access) noexcept;
ibv_mr *reg_dmabuf_mr(ibv_pd *pd, std::uint64_t offset, std::size_t length,
		      std::uint64_t iova, int fd, int access) noexcept;
ibv_mr *reg_mr_ex(ibv_pd *pd, pabi_mr_init_attr *attr) noexcept;
ibv_mr *alloc_null_mr(ibv_pd *pd) noexcept;
int rereg_mr(pabi_mr *mr, int flags, ibv_pd *pd, void *addr, std::size_t length,
	     int access) noexcept;
int dereg_mr(pabi_mr *mr) noexcept;
ibv_mw *alloc_mw(ibv_pd *pd, ibv_mw_type type) noexcept;
int dealloc_mw(ibv_mw *mw) noexcept;
ibv_xrcd *open_xrcd(ibv_context *ctx, ibv_xrcd_init_attr *attr) noexcept;
int close_xrcd(ibv_xrcd *xrcd) noexcept;
ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr) noexcept;
int destroy_ah(ibv_ah *ah) noexcept;

// comp_cntr.cc
int query_comp_cntr_caps(ibv_context *ctx, void *caps,
			 std::size_t caps_size) noexcept;
pabi_comp_cntr *create_comp_cntr(ibv_context *ctx,
				 pabi_comp_cntr_init_attr *attr) noexcept;
int destroy_comp_cntr(pabi_comp_cntr *cntr) noexcept;
int read_comp_cntr(pabi_comp_cntr *cntr, std::uint64_t *value) noexcept;
int read_err_comp_cntr(pabi_comp_cntr *cntr, std::uint64_t *value) noexcept;
int qp_attach_comp_cntr(ibv_qp *qp, pabi_comp_cntr *cntr,
			pabi_qp_attach_comp_cntr_attr *attr) noexcept;

// dm.cc
ibv_dm *alloc_dm(ibv_context *ctx, ibv_alloc_dm_attr *attr) noexcept;
int free_dm(ibv_dm *dm) noexcept;
ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *dm, std::uint64_t offset,
		  std::size_t length, unsigned int access) noexcept;
ibv_dm *import_dm(ibv_context *ctx, std::uint32_t handle) noexcept;
int dm_export_dmabuf_fd(ibv_dm *dm) noexcept;
void unimport_dm(ibv_dm *dm) noexcept;

// clock.cc
int query_rt_values(ibv_context *ctx, ibv_values_ex *values) noexcept;

// domain.cc
ibv_pd *alloc_pd(ibv_context *ctx) noexcept;
int dealloc_pd(ibv_pd *pd) noexcept;
ibv_pd *alloc_parent_domain(ibv_context *ctx,
			    ibv_parent_domain_init_attr *attr) noexcept;
ibv_td *alloc_td(ibv_context *ctx, ibv_td_init_attr *attr) noexcept;
int dealloc_td(ibv_td *td) noexcept;
ibv_pd *import_pd(ibv_context *ctx, std::uint32_t handle) noexcept;
void unimport_pd(ibv_pd *pd) noexcept;
ibv_mr *import_mr(ibv_pd *pd, std::uint32_t handle) noexcept;
void unimport_mr(ibv_mr *mr) noexcept;

// cq.cc, cq_ex.cc
ibv_cq *create_cq(ibv_context *ctx, int cqe, ibv_comp_channel *channel,
		  int vector) noexcept;
ibv_cq_ex *create_cq_ex(ibv_context *ctx, ibv_cq_init_attr_ex *attr) noexcept;
int destroy_cq(ibv_cq *cq) noexcept;
int resize_cq(ibv_cq *cq, int cqe) noexcept;
int modify_cq(ibv_cq *cq, ibv_modify_cq_attr *attr) noexcept;
int poll_cq(ibv_cq *cq, int count, ibv_wc *wc) noexcept;
int req_notify_cq(ibv_cq *cq, int solicited_only) noexcept;

// qp.cc
ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *attr) noexcept;
ibv_qp *create_qp_ex(ibv_context *ctx, ibv_qp_init_attr_ex *attr) noexcept;
ibv_qp *open_qp(ibv_context *ctx, ibv_qp_open_attr *attr) noexcept;
int modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask) noexcept;
int modify_qp_rate_limit(ibv_qp *qp, ibv_qp_rate_limit_attr *attr) noexcept;
int query_ece(ibv_qp *qp, ibv_ece *ece) noexcept;
int set_ece(ibv_qp *qp, ibv_ece *ece) noexcept;
int query_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask,
	     ibv_qp_init_attr *init) noexcept;
int destroy_qp(ibv_qp *qp) noexcept;
int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept;
int bind_mw(ibv_qp *qp, ibv_mw *mw, ibv_mw_bind *bind) noexcept;
int post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept;

// rwq.cc
ibv_wq *create_wq(ibv_context *ctx, ibv_wq_init_attr *attr) noexcept;
int modify_wq(ibv_wq *wq, ibv_wq_attr *attr) noexcept;
int destroy_wq(ibv_wq *wq) noexcept;
ibv_rwq_ind_table *
create_rwq_ind_table(ibv_context *ctx,
		     ibv_rwq_ind_table_init_attr *attr) noexcept;
int destroy_rwq_ind_table(ibv_rwq_ind_table *table) noexcept;

// flow.cc
ibv_flow *create_flow(ibv_qp *qp, ibv_flow_attr *attr) noexcept;
int destroy_flow(ibv_flow *flow) noexcept;

// srq.cc
ibv_srq *create_srq(ibv_pd *pd, ibv_srq_init_attr *attr) noexcept;
ibv_srq *create_srq_ex(ibv_context *ctx, ibv_srq_init_attr_ex *attr) noexcept;
int get_srq_num(ibv_srq *srq, std::uint32_t *number) noexcept;
int modify_srq(ibv_srq *srq, ibv_srq_attr *attr, int mask) noexcept;
int query_srq(ibv_srq *srq, ibv_srq_attr *attr) noexcept;
int destroy_srq(ibv_srq *srq) noexcept;
int post_srq_recv(ibv_srq *srq, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept;

// tags.cc
int post_srq_ops(ibv_srq *srq, ibv_ops_wr *wr, ibv_ops_wr **bad_wr) noexcept;

} // namespace ornic

#endif // ORNIC_VERBS_H
