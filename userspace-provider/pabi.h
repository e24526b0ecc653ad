/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The private interface between libibverbs and its providers, which rdma-core
 * does not install: the structures that both sides share, under names of our
 * own: scripts/rdma-core-abi compares them with rdma-core's driver.h.
 *
 * A library loads providers of its own private ABI alone (-rdmavNN.so, linked with
 * IBVERBS_PRIVATE_NN): 34, 57, 59, 64 or 65, which is ORNIC_PABI. That is all that
 * a build is for. The structures grow between releases of one ABI as well, and not
 * at their ends: library.h has what differs, for the library that is found.
 */
#ifndef ORNIC_PABI_H
#define ORNIC_PABI_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __SIZEOF_POINTER__ != 8 || !defined(__GLIBC__)
#error "the provider is for 64-bit machines with glibc: layouts, dlvsym()"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum pabi_match_kind {
	PABI_MATCH_SENTINEL = 0,
	PABI_MATCH_MODALIAS = 2,
};

enum pabi_qp_mask {
	PABI_QP_EX = 1 << 1,
};

enum pabi_log_level {
	PABI_LOG_ERR = 1,
};

struct pabi_list_node {
	struct pabi_list_node *next;
	struct pabi_list_node *prev;
};

struct pabi_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

/* How libibverbs describes a device that it has found; the head of it. */
struct pabi_sysfs_dev {
	struct pabi_list_node entry;
	void *provider_data;
	const struct pabi_match_ent *match;
	unsigned int flags;
	char sysfs_name[IBV_SYSFS_NAME_MAX];
	uint64_t sysfs_cdev;
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char ibdev_path[IBV_SYSFS_PATH_MAX];
};

struct pabi_device;

struct pabi_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct pabi_match_ent *match_table;
	const struct pabi_device_ops **static_providers;
	bool (*match_device)(struct pabi_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct pabi_device *(*alloc_device)(struct pabi_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct pabi_device *device);
};

struct pabi_device {
	struct ibv_device device;
	const struct pabi_device_ops *ops;
	int refcount;
	struct pabi_list_node entry;
	struct pabi_sysfs_dev *sysfs;
	uint64_t core_support;
};

struct pabi_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct pabi_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

/* What struct ibv_qp_ex begins with in each release, and what came in 44 and 45. */
#define PABI_QP_EX_SIZE \
	(offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void (*)(void)))

/* IBV_QP_EX_WITH_*, which older headers lack. */
enum qp_ex_later_ops {
	QP_EX_WITH_FLUSH = 1 << 11,
	QP_EX_WITH_ATOMIC_WRITE = 1 << 12,
};

/*
 * With room for that of any release. Its comp_mask and its XRCD come after the
 * operations that a release has (library_layout::qp_comp_mask).
 */
struct pabi_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
		struct {
			unsigned char qp_ex_34[PABI_QP_EX_SIZE];
			void (*wr_atomic_write)(struct ibv_qp_ex *qp,
						uint32_t rkey,
						uint64_t remote_addr,
						const void *value);
			void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey,
					 uint64_t remote_addr, size_t len,
					 uint8_t type, uint8_t level);
			uint32_t comp_mask;
			struct pabi_xrcd *xrcd;
		} last;
	};
};

struct pabi_srq {
	struct ibv_srq srq;
	int srq_type;
	struct pabi_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

/* Of MRs that no function of libibverbs has made. */
enum pabi_mr_type {
	PABI_MR_TYPE_NULL_MR = 1,
	PABI_MR_TYPE_DMABUF_MR = 3,
};

struct pabi_mr {
	struct ibv_mr ibv_mr;
	int mr_type;
	int access;
};

/*
 * Before 35 struct ibv_dm ends with comp_mask, and its size is the same. From then
 * on its handle comes next, and PABI_DM_MASK_HANDLE is IBV_DM_MASK_HANDLE.
 */
struct pabi_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

#define PABI_DM_HANDLE (offsetof(struct ibv_dm, comp_mask) + sizeof(uint32_t))
#define PABI_DM_MASK_HANDLE 1

/* IBV_REG_MR_MASK_*, which older headers lack. */
enum reg_mr_mask {
	REG_MR_MASK_IOVA = 1 << 0,
	REG_MR_MASK_ADDR = 1 << 1,
	REG_MR_MASK_FD = 1 << 2,
	REG_MR_MASK_FD_OFFSET = 1 << 3,
};

/* struct ibv_mr_init_attr, which they lack as well; the head of it. */
struct pabi_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
};

/* struct ibv_comp_cntr and its like, from 65 on. */
struct pabi_comp_cntr {
	struct ibv_context *context;
	uint32_t handle;
};

struct pabi_comp_cntr_init_attr {
	uint32_t comp_mask;
	int type; /* 0: counts work requests */
	uint32_t flags;
};

struct pabi_qp_attach_comp_cntr_attr {
	uint32_t comp_mask;
	uint32_t op_mask;
};

/* An operation that this provider leaves to libibverbs. */
typedef void (*pabi_unused)(void);

/* As in rdma-core 65: a release has these but for those of pabi_later_ops[]. */
struct pabi_context_ops {
	int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
			 uint32_t flags, struct ibv_sge *sg_list,
			 uint32_t num_sges);
	pabi_unused alloc_buf;
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context,
				   struct ibv_alloc_dm_attr *attr);
	pabi_unused alloc_dmah;
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_pd *(*alloc_parent_domain)(
		struct ibv_context *context,
		struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context,
				   struct ibv_td_init_attr *attr);
	pabi_unused async_event;
	pabi_unused attach_counters_point_flow;
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw,
		       struct ibv_mw_bind *bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	pabi_unused cq_event;
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd,
				    struct ibv_ah_attr *attr);
	struct pabi_comp_cntr *(*create_comp_cntr)(
		struct ibv_context *context,
		struct pabi_comp_cntr_init_attr *attr);
	pabi_unused create_counters;
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	struct ibv_flow *(*create_flow)(struct ibv_qp *qp,
					struct ibv_flow_attr *attr);
	pabi_unused create_flow_action_esp;
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	struct ibv_rwq_ind_table *(*create_rwq_ind_table)(
		struct ibv_context *context,
		struct ibv_rwq_ind_table_init_attr *attr);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	struct ibv_wq *(*create_wq)(struct ibv_context *context,
				    struct ibv_wq_init_attr *attr);
	pabi_unused dealloc_dmah;
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct pabi_mr *mr);
	int (*destroy_ah)(struct ibv_ah *ah);
	int (*destroy_comp_cntr)(struct pabi_comp_cntr *cntr);
	pabi_unused destroy_counters;
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_flow)(struct ibv_flow *flow);
	pabi_unused destroy_flow_action;
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *table);
	int (*destroy_srq)(struct ibv_srq *srq);
	int (*destroy_wq)(struct ibv_wq *wq);
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	int (*dm_export_dmabuf_fd)(struct ibv_dm *dm);
	pabi_unused free_buf;
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	struct ibv_dm *(*import_dm)(struct ibv_context *context,
				    uint32_t dm_handle);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t mr_handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context,
				    uint32_t pd_handle);
	int (*inc_comp_cntr)(struct pabi_comp_cntr *cntr, uint64_t amount);
	int (*inc_err_comp_cntr)(struct pabi_comp_cntr *cntr, uint64_t amount);
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	pabi_unused modify_flow_action_esp;
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp,
				    struct ibv_qp_rate_limit_attr *attr);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			  int attr_mask);
	int (*modify_wq)(struct ibv_wq *wq, struct ibv_wq_attr *attr);
	struct ibv_qp *(*open_qp)(struct ibv_context *context,
				  struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *op,
			    struct ibv_ops_wr **bad_op);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr);
	int (*qp_attach_comp_cntr)(struct ibv_qp *qp,
				   struct pabi_comp_cntr *cntr,
				   struct pabi_qp_attach_comp_cntr_attr *attr);
	int (*query_comp_cntr_caps)(struct ibv_context *context, void *caps,
				    size_t caps_size);
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *port_attr);
	int (*query_port_speed)(struct ibv_context *context, uint32_t port_num,
				uint64_t *port_speed);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	pabi_unused query_qp_data_in_order;
	int (*query_rt_values)(struct ibv_context *context,
			       struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
	int (*read_comp_cntr)(struct pabi_comp_cntr *cntr, uint64_t *value);
	pabi_unused read_counters;
	int (*read_err_comp_cntr)(struct pabi_comp_cntr *cntr, uint64_t *value);
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm,
				    uint64_t dm_offset, size_t length,
				    unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t iova, int fd,
					int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t hca_va, int access);
	struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd,
				    struct pabi_mr_init_attr *attr);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct pabi_mr *mr, int flags, struct ibv_pd *pd,
			void *addr, size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	int (*set_comp_cntr)(struct pabi_comp_cntr *cntr, uint64_t value);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*set_err_comp_cntr)(struct pabi_comp_cntr *cntr, uint64_t value);
	void (*unimport_dm)(struct ibv_dm *dm);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

/* The first release that has an operation, for those that came after 34. */
static const struct pabi_later_op {
	size_t at;
	int since;
} pabi_later_ops[] __attribute__((unused)) = {
	{ offsetof(struct pabi_context_ops, import_dm), 35 },
	{ offsetof(struct pabi_context_ops, unimport_dm), 35 },
	{ offsetof(struct pabi_context_ops, query_qp_data_in_order), 36 },
	{ offsetof(struct pabi_context_ops, alloc_dmah), 59 },
	{ offsetof(struct pabi_context_ops, dealloc_dmah), 59 },
	{ offsetof(struct pabi_context_ops, reg_mr_ex), 59 },
	{ offsetof(struct pabi_context_ops, dm_export_dmabuf_fd), 62 },
	{ offsetof(struct pabi_context_ops, query_port_speed), 62 },
	{ offsetof(struct pabi_context_ops, alloc_buf), 64 },
	{ offsetof(struct pabi_context_ops, free_buf), 64 },
	{ offsetof(struct pabi_context_ops, create_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, destroy_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, inc_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, inc_err_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, qp_attach_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, query_comp_cntr_caps), 65 },
	{ offsetof(struct pabi_context_ops, read_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, read_err_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, set_comp_cntr), 65 },
	{ offsetof(struct pabi_context_ops, set_err_comp_cntr), 65 },
};

/*
 * The functions of libibverbs@IBVERBS_PRIVATE_NN that this provider calls. The
 * commands are byte buffers here (command.h), so their type is void.
 *
 * Arguments were added to those without a prototype. pabi_NAME_NN is the type that
 * one of them has from release NN on; library.h calls it as that.
 */
#ifdef ORNIC_PABI
#define PABI_PASTE(name, pabi) name##pabi
#define PABI_NAME(name, pabi) PABI_PASTE(name, pabi)
#define PABI_REGISTER PABI_NAME(verbs_register_driver_, ORNIC_PABI)

void PABI_REGISTER(const struct pabi_device_ops *ops);
#endif

__attribute__((weak, format(printf, 3, 4))) void
__verbs_log(struct verbs_context *ctx, uint32_t level, const char *fmt, ...);
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id);
void verbs_uninit_context(struct verbs_context *context);
void verbs_set_ops(struct verbs_context *context, const void *ops);
void ibv_cmd_get_context(void);
typedef int pabi_ibv_cmd_get_context_34(struct verbs_context *context,
					void *cmd, size_t cmd_size, void *resp,
					size_t resp_size);
typedef int pabi_ibv_cmd_get_context_57(struct verbs_context *context,
					void *cmd, size_t cmd_size,
					void *fd_arr, void *resp,
					size_t resp_size);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     void *resp, size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *port_attr, void *cmd,
		       size_t cmd_size);
__attribute__((weak)) int ibv_cmd_query_port_speed(struct ibv_context *context,
						   uint32_t port_num,
						   uint64_t *port_speed);
__attribute__((weak)) int
ibv_cmd_query_comp_cntr_caps(struct ibv_context *context, void *caps,
			     size_t caps_size);
__attribute__((weak)) int
ibv_cmd_destroy_comp_cntr(struct pabi_comp_cntr *cntr);
__attribute__((weak)) int ibv_cmd_set_comp_cntr(struct pabi_comp_cntr *cntr,
						uint64_t value);
__attribute__((weak)) int ibv_cmd_set_err_comp_cntr(struct pabi_comp_cntr *cntr,
						    uint64_t value);
__attribute__((weak)) int ibv_cmd_inc_comp_cntr(struct pabi_comp_cntr *cntr,
						uint64_t amount);
__attribute__((weak)) int ibv_cmd_inc_err_comp_cntr(struct pabi_comp_cntr *cntr,
						    uint64_t amount);
__attribute__((weak)) int
ibv_cmd_qp_attach_comp_cntr(struct ibv_qp *qp, struct pabi_comp_cntr *cntr,
			    struct pabi_qp_attach_comp_cntr_attr *attr);
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, void *cmd,
		     size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_open_xrcd(struct ibv_context *context, struct pabi_xrcd *xrcd,
		      int xrcd_size, struct ibv_xrcd_init_attr *attr, void *cmd,
		      size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_close_xrcd(struct pabi_xrcd *xrcd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct pabi_mr *mr, void *cmd,
		   size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_rereg_mr(struct pabi_mr *mr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, void *cmd, size_t cmd_size, void *resp,
		     size_t resp_size);
int ibv_cmd_query_mr(struct ibv_pd *pd, struct pabi_mr *mr, uint32_t handle);
int ibv_cmd_dereg_mr(struct pabi_mr *mr);
int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		      uint32_t flags, struct ibv_sge *sg_list,
		      uint32_t num_sge);
int ibv_cmd_alloc_dm(struct ibv_context *context,
		     const struct ibv_alloc_dm_attr *attr, struct pabi_dm *dm,
		     void *link);
int ibv_cmd_free_dm(struct pabi_dm *dm);
int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct pabi_dm *dm, uint64_t offset,
		      size_t length, unsigned int access, struct pabi_mr *mr,
		      void *link);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type,
		     struct ibv_mw *mw, void *cmd, size_t cmd_size, void *resp,
		     size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr, void *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
int ibv_cmd_create_cq(struct ibv_context *context, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, void *cmd, size_t cmd_size, void *resp,
		      size_t resp_size);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, void *cmd, size_t cmd_size,
		      void *resp, size_t resp_size);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      void *cmd, size_t cmd_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct pabi_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, void *cmd,
			 size_t cmd_size, void *resp, size_t resp_size);
void ibv_cmd_create_qp_ex2(void);
typedef int pabi_ibv_cmd_create_qp_ex2_34(struct ibv_context *context,
					  struct pabi_qp *qp,
					  struct ibv_qp_init_attr_ex *attr,
					  void *cmd, size_t cmd_size,
					  void *resp, size_t resp_size);
typedef int pabi_ibv_cmd_create_qp_ex2_64(struct ibv_context *context,
					  struct pabi_qp *qp,
					  struct ibv_qp_init_attr_ex *attr,
					  void *cmd, size_t cmd_size,
					  void *resp, size_t resp_size,
					  void *driver);
int ibv_cmd_open_qp(struct ibv_context *context, struct pabi_qp *qp,
		    int qp_size, struct ibv_qp_open_attr *attr, void *cmd,
		    size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, void *cmd, size_t cmd_size);
int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask, void *cmd, size_t cmd_size, void *resp,
			 size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr, void *cmd,
		     size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr, void *cmd,
		       size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_create_srq_ex(struct ibv_context *context, struct pabi_srq *srq,
			  struct ibv_srq_init_attr_ex *attr, void *cmd,
			  size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, void *cmd, size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, void *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);
int ibv_cmd_create_flow(struct ibv_qp *qp, struct ibv_flow *flow,
			struct ibv_flow_attr *attr, void *ucmd,
			size_t ucmd_size);
int ibv_cmd_destroy_flow(struct ibv_flow *flow);
int ibv_cmd_create_wq(struct ibv_context *context,
		      struct ibv_wq_init_attr *attr, struct ibv_wq *wq,
		      void *cmd, size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr, void *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_wq(struct ibv_wq *wq);
int ibv_cmd_create_rwq_ind_table(struct ibv_context *context,
				 struct ibv_rwq_ind_table_init_attr *attr,
				 struct ibv_rwq_ind_table *table, void *resp,
				 size_t resp_size);
int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ORNIC_PABI_H */
