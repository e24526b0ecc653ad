/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_CMD_H
#define ORNIC_CMD_H

#include <linux/types.h>

#include "ornic_pack.h"

struct ornic_caps;
struct ornic_ib_dev;
struct ornic_mem;
struct ornic_port_state;
struct ornic_ring_geom;
union ornic_req;
union ornic_rsp;

/* Memory handed to the device. */
struct ornic_dma_mem {
	/* DMA address of the run (levels 0) or of the root list page */
	u64 addr;
	u32 npages; /* pages of 2^page_shift bytes */
	u8 page_shift; /* log2 of the page size in bytes */
	u8 levels; /* depth of the page list */
};

/* An entry of the GID table. */
struct ornic_set_gid_params {
	u32 index; /* of the entry */
	bool valid; /* false: empty the slot */
	u8 gid[16]; /* in wire order */
	u8 smac[6]; /* source MAC */
	u16 vlan; /* VLAN id or ORNIC_VLAN_NONE */
	u8 type; /* enum ornic_gid_type */
};

/* A new CQ. */
struct ornic_create_cq_params {
	struct ornic_dma_mem mem; /* record page and ring */
	u8 log_depth; /* log2 of the CQEs */
	u8 vector; /* completion vector */
};

/* A new QP. */
struct ornic_create_qp_params {
	struct ornic_dma_mem mem; /* record page and rings */
	const struct ornic_qp_rings *rings; /* their geometry */
	u32 pdn; /* protection domain */
	u32 send_cqn; /* CQ of the SQ */
	u32 recv_cqn; /* CQ of the RQ */
	u8 qp_type; /* enum ornic_qp_type */
	bool sig_all; /* every send WQE is signalled */
	bool has_srq; /* receives come from srqn */
	u32 srqn; /* SRQ; ORNIC_QPT_TAGS: whose list it changes */
	u32 xrcdn; /* XRC targets: their domain */
	bool wqe_av; /* UD: send WQEs carry address vectors */
	bool gsi; /* UD: QP 1 */
	/* UD: gets nothing that it sent to a group itself */
	bool no_self_mcast;
	bool fast_reg; /* RC: send WQEs may register memory */
};

/* A new flow rule. */
struct ornic_create_flow_params {
	u64 match; /* DMA address of a struct ornic_flow_match, 0: none */
	u32 qpn; /* raw packet QP */
	u16 priority; /* 0 is the first */
	u8 type; /* enum ornic_flow_type */
	u8 flags; /* enum ornic_flow_flags */
};

/* A new SRQ. */
struct ornic_create_srq_params {
	struct ornic_dma_mem mem; /* record page and ring */
	const struct ornic_ring_geom *ring; /* its geometry */
	u32 pdn; /* protection domain */
	u8 flags; /* enum ornic_srq_flags; without any the following do not count */
	u32 xrcdn; /* XRC domain */
	u32 max_tags; /* tagged receives */
	u32 cqn; /* CQ */
};

/* A new MR. */
struct ornic_create_mkey_params {
	struct ornic_dma_mem mem; /* its pages */
	u64 iova; /* address of its first byte in WQEs and packets */
	u64 length; /* bytes */
	u32 pdn; /* protection domain */
	u8 access; /* enum ornic_access */
	bool dma; /* a key of all DMA memory; mem, iova and length are 0 */
	/* For fast registration; mem.npages is its room, all else is 0 */
	bool fast;
	bool odp; /* pages come on demand; of mem there is page_shift */
	bool sg_gaps; /* with fast: its room is for segments */
	bool dm; /* mem is a run of device memory */
	bool at_offset; /* it begins at byte offset of mem, whatever iova is */
	u64 offset;
};

/* A page fault of a queue. */
struct ornic_fault_params {
	u32 key; /* of the MR */
	u32 seq; /* number of the fault */
	u64 addr; /* of the key; the page of the first byte is absent */
	u64 length; /* bytes */
	bool write; /* they are going to be written to */
};

/* What an SRQ is doing. */
struct ornic_srq_state {
	u32 limit; /* WQEs; 0: not armed */
	u32 waiting; /* WQEs that are posted and not taken */
	bool broken; /* SRQ_ERR was raised */
	u32 tags; /* tagged receives in the list */
	u32 unexpected; /* messages that matched none of them */
};

/*
 * Commands of the device; ornic-hw.h describes them. All may sleep, and return
 * 0 or -errno of the bus or of the device's status.
 *
 * create_*	set the number of the new object, or the key; the number is
 *		checked to be one that an object can have
 * destroy_*	return 0 if the object is gone, if need be with the device; only
 *		a device that is part of the kernel can refuse
 * modify_*, resize_*
 *		change nothing on failure; the mask of the parameters names the
 *		fields that count
 *
 * query_device	-EPROTO if the limits of ornic-hw.h are not kept
 * query_stats	@count counters as __le64 at @dma, in the order of enum
 *		ornic_stat; of counter set @set, 0: the device's own
 * query_pkey	@pkey 0: the entry is empty
 * destroy_mkey	-EBUSY if windows are bound to the MR
 * destroy_mw	@key with any low byte
 * modify_srq	arms the limit event
 * resize_srq	the stride of the ring stays
 * detach_mcast	0 if the device is gone
 * modify_stats	@optional, bit n: counter n of enum ornic_stat counts
 * bind_counters
 *		@set 0: the device's own counters
 * modify_cq	@period in microseconds
 * modify_comp_cntr
 *		@entry and @change: enum ornic_cntr_entry, ornic_cntr_change
 * attach_comp_cntr
 *		@ops: bit n: enum ornic_cntr_op n; -EINVAL unless the QP is in
 *		RESET or INIT, -EBUSY if it has a counter for some of them
 */

void ornic_cmd_pack_mem(const struct ornic_dma_mem *from, struct ornic_mem *to);
int ornic_cmd_query_device(struct ornic_ib_dev *dev, struct ornic_caps *caps);
int ornic_cmd_query_stats(struct ornic_ib_dev *dev, u32 set, u64 dma,
			  u32 count);
int ornic_cmd_set_gid(struct ornic_ib_dev *dev,
		      const struct ornic_set_gid_params *params);
int ornic_cmd_set_port(struct ornic_ib_dev *dev,
		       const struct ornic_port_state *port);
int ornic_cmd_query_pkey(struct ornic_ib_dev *dev, u32 index, u16 *pkey);
int ornic_cmd_create_cq(struct ornic_ib_dev *dev,
			const struct ornic_create_cq_params *params, u32 *cqn);
int ornic_cmd_resize_cq(struct ornic_ib_dev *dev, u32 cqn,
			const struct ornic_create_cq_params *params);
int ornic_cmd_destroy_cq(struct ornic_ib_dev *dev, u32 cqn);
int ornic_cmd_create_qp(struct ornic_ib_dev *dev,
			const struct ornic_create_qp_params *params, u32 *qpn);
int ornic_cmd_modify_qp(struct ornic_ib_dev *dev, u32 qpn,
			const struct ornic_qp_params *params);
int ornic_cmd_query_qp(struct ornic_ib_dev *dev, u32 qpn,
		       struct ornic_qp_params *params);
int ornic_cmd_destroy_qp(struct ornic_ib_dev *dev, u32 qpn);
int ornic_cmd_create_mkey(struct ornic_ib_dev *dev,
			  const struct ornic_create_mkey_params *params,
			  u32 *key);
int ornic_cmd_modify_mkey(struct ornic_ib_dev *dev, u32 key,
			  const struct ornic_create_mkey_params *params,
			  u8 mask);
int ornic_cmd_destroy_mkey(struct ornic_ib_dev *dev, u32 key,
			   bool may_have_windows);
/*
 * For files of commands: the device did what it may not do, and @why completes "the device
 * ...". On return the memory that it has been given may be freed. Return: -EIO.
 */
int ornic_cmd_broken(struct ornic_ib_dev *dev, const char *why);
/* For files of commands: 0, -errno of the bus, or what @rsp says. */
int ornic_cmd_exec(struct ornic_ib_dev *dev, union ornic_req *req,
		   union ornic_rsp *rsp);
int ornic_cmd_set_pages(struct ornic_ib_dev *dev, u32 key, u64 addr, u64 list,
			u32 npages);
/*
 * On return the device does not use the pages, or it has failed and stopped its DMA, see
 * ornic_bus_ops. Locks that are taken to get memory may be held.
 */
void ornic_cmd_clear_pages(struct ornic_ib_dev *dev, u32 key, u64 addr,
			   u64 length);
int ornic_cmd_take_fault(struct ornic_ib_dev *dev, u32 qpn, u8 queue,
			 struct ornic_fault_params *fault);
int ornic_cmd_end_fault(struct ornic_ib_dev *dev, u32 qpn, u8 queue, u32 seq,
			bool failed);
int ornic_cmd_create_mw(struct ornic_ib_dev *dev, u32 pdn, u8 type, u32 *key);
int ornic_cmd_destroy_mw(struct ornic_ib_dev *dev, u32 key);
int ornic_cmd_create_ah(struct ornic_ib_dev *dev,
			const struct ornic_av_params *path, u32 pdn, u32 *ah);
int ornic_cmd_destroy_ah(struct ornic_ib_dev *dev, u32 ah);
int ornic_cmd_attach_mcast(struct ornic_ib_dev *dev, u32 qpn, const u8 *mgid);
int ornic_cmd_detach_mcast(struct ornic_ib_dev *dev, u32 qpn, const u8 *mgid);
int ornic_cmd_create_srq(struct ornic_ib_dev *dev,
			 const struct ornic_create_srq_params *params,
			 u32 *srqn);
int ornic_cmd_modify_srq(struct ornic_ib_dev *dev, u32 srqn, u32 limit);
int ornic_cmd_resize_srq(struct ornic_ib_dev *dev, u32 srqn,
			 const struct ornic_dma_mem *mem, u8 log_depth);
int ornic_cmd_query_srq(struct ornic_ib_dev *dev, u32 srqn, u32 *limit);
int ornic_cmd_srq_state(struct ornic_ib_dev *dev, u32 srqn,
			struct ornic_srq_state *state);
int ornic_cmd_destroy_srq(struct ornic_ib_dev *dev, u32 srqn);
int ornic_cmd_modify_stats(struct ornic_ib_dev *dev, u64 optional);
int ornic_cmd_create_counters(struct ornic_ib_dev *dev, u32 *set);
int ornic_cmd_destroy_counters(struct ornic_ib_dev *dev, u32 set);
int ornic_cmd_bind_counters(struct ornic_ib_dev *dev, u32 qpn, u32 set);
int ornic_cmd_create_comp_cntr(struct ornic_ib_dev *dev,
			       const struct ornic_dma_mem *mem, u32 *cntr);
int ornic_cmd_destroy_comp_cntr(struct ornic_ib_dev *dev, u32 cntr);
int ornic_cmd_modify_comp_cntr(struct ornic_ib_dev *dev, u32 cntr, u8 entry,
			       u8 change, u64 value);
int ornic_cmd_attach_comp_cntr(struct ornic_ib_dev *dev, u32 qpn, u32 cntr,
			       u8 ops);
int ornic_cmd_create_flow(struct ornic_ib_dev *dev,
			  const struct ornic_create_flow_params *params,
			  u32 *flow);
int ornic_cmd_destroy_flow(struct ornic_ib_dev *dev, u32 flow);
int ornic_cmd_inspect(struct ornic_ib_dev *dev, u8 kind, u32 obj,
		      union ornic_rsp *rsp);
int ornic_cmd_modify_cq(struct ornic_ib_dev *dev, u32 cqn, u16 count,
			u16 period);
int ornic_cmd_query_clock(struct ornic_ib_dev *dev, u64 *now);

#endif /* ORNIC_CMD_H */
