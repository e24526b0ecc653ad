/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Entries of ib_device_ops: ornic_ib_<operation>() each. Their contract is that
 * of <rdma/ib_verbs.h>.
 */
#ifndef ORNIC_VERBS_H
#define ORNIC_VERBS_H

#include <rdma/ib_verbs.h>

struct rdma_counter;
struct uverbs_attr_bundle;

/* Device, port and GIDs */
int ornic_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			  struct ib_udata *udata);
void ornic_ib_get_dev_fw_str(struct ib_device *ibdev, char *str);
int ornic_ib_query_port(struct ib_device *ibdev, u32 port,
			struct ib_port_attr *attr);
int ornic_ib_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed);
int ornic_ib_get_port_immutable(struct ib_device *ibdev, u32 port,
				struct ib_port_immutable *immutable);
enum rdma_link_layer ornic_ib_get_link_layer(struct ib_device *ibdev, u32 port);
int ornic_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			u16 *pkey);
int ornic_ib_add_gid(const struct ib_gid_attr *attr, void **context);
int ornic_ib_del_gid(const struct ib_gid_attr *attr, void **context);

/* User contexts */
int ornic_ib_alloc_ucontext(struct ib_ucontext *context,
			    struct ib_udata *udata);
int ornic_ib_query_ucontext(struct ib_ucontext *context,
			    struct uverbs_attr_bundle *attrs);
void ornic_ib_dealloc_ucontext(struct ib_ucontext *context);
void ornic_ib_disassociate_ucontext(struct ib_ucontext *context);
int ornic_ib_mmap(struct ib_ucontext *context, struct vm_area_struct *vma);
void ornic_ib_mmap_free(struct rdma_user_mmap_entry *rdma);

/* PDs and XRC domains */
int ornic_ib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int ornic_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int ornic_ib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int ornic_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* MRs and MWs */
struct ib_mr *ornic_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				   u64 iova, int flags, struct ib_udata *udata);
struct ib_mr *ornic_ib_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
					  u64 length, u64 iova, int fd,
					  int flags, struct ib_udata *udata);
struct ib_mr *ornic_ib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				     u64 length, u64 iova, int access,
				     struct ib_pd *ibpd,
				     struct ib_udata *udata);
struct ib_mr *ornic_ib_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
				 struct ib_dm_mr_attr *attr,
				 struct uverbs_attr_bundle *attrs);
struct ib_mr *ornic_ib_get_dma_mr(struct ib_pd *ibpd, int flags);
struct ib_mr *ornic_ib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
				u32 max_num_sg);
int ornic_ib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		       unsigned int *offset);
int ornic_ib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int ornic_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int ornic_ib_dealloc_mw(struct ib_mw *ibmw);

/* Device memory */
struct ib_dm *ornic_ib_alloc_dm(struct ib_device *ibdev,
				struct ib_ucontext *context,
				struct ib_dm_alloc_attr *attr,
				struct uverbs_attr_bundle *attrs);
int ornic_ib_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);

/* AHs */
int ornic_ib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		       struct ib_udata *udata);
int ornic_ib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int ornic_ib_destroy_ah(struct ib_ah *ibah, u32 flags);

/* CQs */
int ornic_ib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		       struct ib_udata *udata);
int ornic_ib_resize_cq(struct ib_cq *ibcq, unsigned int cqe,
		       struct ib_udata *udata);
int ornic_ib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int ornic_ib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int ornic_ib_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc);
int ornic_ib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* QPs */
int ornic_ib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		       struct ib_udata *udata);
int ornic_ib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata);
int ornic_ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_qp_init_attr *init);
int ornic_ib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int ornic_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int ornic_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* WQs, tables of them */
struct ib_wq *ornic_ib_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *init,
				 struct ib_udata *udata);
int ornic_ib_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		       struct ib_udata *udata);
int ornic_ib_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata);
int ornic_ib_create_rwq_ind_table(struct ib_rwq_ind_table *table,
				  struct ib_rwq_ind_table_init_attr *init,
				  struct ib_udata *udata);
int ornic_ib_destroy_rwq_ind_table(struct ib_rwq_ind_table *table);

/* Flow rules */
struct ib_flow *ornic_ib_create_flow(struct ib_qp *ibqp,
				     struct ib_flow_attr *attr,
				     struct ib_udata *udata);
int ornic_ib_destroy_flow(struct ib_flow *ibflow);

/* SRQs */
int ornic_ib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
			struct ib_udata *udata);
int ornic_ib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
			enum ib_srq_attr_mask mask, struct ib_udata *udata);
int ornic_ib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int ornic_ib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);

/* Posting by kernel users */
int ornic_ib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr);
int ornic_ib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);
int ornic_ib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr);

/* Statistics */
struct rdma_hw_stats *ornic_ib_alloc_hw_port_stats(struct ib_device *ibdev,
						   u32 port);
int ornic_ib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
			  u32 port, int index);
int ornic_ib_modify_hw_stat(struct ib_device *ibdev, u32 port,
			    unsigned int index, bool enable);
struct rdma_hw_stats *
ornic_ib_counter_alloc_stats(struct rdma_counter *counter);
int ornic_ib_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int ornic_ib_counter_unbind_qp(struct ib_qp *ibqp);
int ornic_ib_counter_update_stats(struct rdma_counter *counter);
int ornic_ib_counter_dealloc(struct rdma_counter *counter);

/* Details of `rdma resource show` */
int ornic_ib_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int ornic_ib_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int ornic_ib_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);
int ornic_ib_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* ORNIC_VERBS_H */
