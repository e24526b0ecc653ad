/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_CMD_H
#define ORNIC_CMD_H

#include <linux/types.h>

#include "ornic_pack.h"

struct ornic_caps;
struct ornic_ib_dev;
struct ornic_mem;
struct ornic_ring_geom;
union ornic_req;
union ornic_rsp;

/**
 * struct ornic_dma_mem - memory handed to the device
 * @addr: DMA address of the run (levels 0) or of the root list page
 * @npages: pages of 2^page_shift bytes
 * @page_shift: log2 of the page size in bytes
 * @levels: depth of the page list
 */
struct ornic_dma_mem {
	u64 addr;
	u32 npages;
	u8 page_shift;
	u8 levels;
};

/**
 * struct ornic_set_gid_params - an entry of the GID table
 * @index: of the entry
 * @valid: false: empty the slot
 * @gid: in wire order
 * @smac: source MAC
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 */
struct ornic_set_gid_params {
	u32 index;
	bool valid;
	u8 gid[16];
	u8 smac[6];
	u16 vlan;
};

/**
 * struct ornic_create_cq_params - a new CQ
 * @mem: record page and ring
 * @log_depth: log2 of the CQEs
 * @vector: completion vector
 */
struct ornic_create_cq_params {
	struct ornic_dma_mem mem;
	u8 log_depth;
	u8 vector;
};

/**
 * struct ornic_create_qp_params - a new QP
 * @mem: record page and rings
 * @rings: their geometry
 * @pdn: protection domain
 * @send_cqn: CQ of the SQ
 * @recv_cqn: CQ of the RQ
 * @qp_type: enum ornic_qp_type
 * @sig_all: every send WQE is signalled
 * @has_srq: receives come from @srqn
 * @srqn: SRQ
 * @xrcdn: XRC targets: their domain
 * @wqe_av: UD: send WQEs carry address vectors
 * @gsi: UD: QP 1
 * @no_self_mcast: UD: gets nothing that it sent to a group itself
 * @fast_reg: RC: send WQEs may register memory
 */
struct ornic_create_qp_params {
	struct ornic_dma_mem mem;
	const struct ornic_qp_rings *rings;
	u32 pdn;
	u32 send_cqn;
	u32 recv_cqn;
	u8 qp_type;
	bool sig_all;
	bool has_srq;
	u32 srqn;
	u32 xrcdn;
	bool wqe_av;
	bool gsi;
	bool no_self_mcast;
	bool fast_reg;
};

/**
 * struct ornic_create_srq_params - a new SRQ
 * @mem: record page and ring
 * @ring: its geometry
 * @pdn: protection domain
 * @is_xrc: it is for XRC targets, and the following count
 * @xrcdn: XRC domain
 * @cqn: CQ
 */
struct ornic_create_srq_params {
	struct ornic_dma_mem mem;
	const struct ornic_ring_geom *ring;
	u32 pdn;
	bool is_xrc;
	u32 xrcdn;
	u32 cqn;
};

/**
 * struct ornic_create_mkey_params - a new MR
 * @mem: its pages
 * @iova: address of its first byte in WQEs and packets
 * @length: bytes
 * @pdn: protection domain
 * @access: enum ornic_access
 * @dma: a key of all DMA memory; @mem, @iova and @length are 0
 * @fast: for fast registration; mem.npages is its room, all else is 0
 */
struct ornic_create_mkey_params {
	struct ornic_dma_mem mem;
	u64 iova;
	u64 length;
	u32 pdn;
	u8 access;
	bool dma;
	bool fast;
};

/**
 * struct ornic_srq_state - what an SRQ is doing
 * @limit: WQEs; 0: not armed
 * @waiting: WQEs that are posted and not taken
 * @broken: SRQ_ERR was raised
 */
struct ornic_srq_state {
	u32 limit;
	u32 waiting;
	bool broken;
};

int ornic_cmd_exec(struct ornic_ib_dev *dev, union ornic_req *req,
		   union ornic_rsp *rsp);
int ornic_cmd_exec_create(struct ornic_ib_dev *dev, union ornic_req *req,
			  u32 *obj);
int ornic_cmd_exec_destroy(struct ornic_ib_dev *dev, u8 opcode, u32 obj);

void ornic_cmd_pack_mem(const struct ornic_dma_mem *from, struct ornic_mem *to);
int ornic_cmd_query_device(struct ornic_ib_dev *dev, struct ornic_caps *caps);
int ornic_cmd_query_stats(struct ornic_ib_dev *dev, u32 set, u64 dma,
			  u32 count);
int ornic_cmd_set_gid(struct ornic_ib_dev *dev,
		      const struct ornic_set_gid_params *params);
int ornic_cmd_set_port(struct ornic_ib_dev *dev, u32 mtu, bool up);
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
int ornic_cmd_create_mw(struct ornic_ib_dev *dev, u32 pdn, u8 type, u32 *key);
int ornic_cmd_destroy_mw(struct ornic_ib_dev *dev, u32 key);
int ornic_cmd_create_ah(struct ornic_ib_dev *dev,
			const struct ornic_av_params *path, u32 pdn, u32 *ah);
int ornic_cmd_destroy_ah(struct ornic_ib_dev *dev, u32 ah);
int ornic_cmd_attach_mcast(struct ornic_ib_dev *dev, u32 qpn, const u8 *mgid);
int ornic_cmd_detach_mcast(struct ornic_ib_dev *dev, u32 qpn, const u8 *mgid);

/* ornic_cmd_srq.c */
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

/* ornic_cmd_observe.c */
int ornic_cmd_modify_stats(struct ornic_ib_dev *dev, u64 optional);
int ornic_cmd_create_counters(struct ornic_ib_dev *dev, u32 *set);
int ornic_cmd_destroy_counters(struct ornic_ib_dev *dev, u32 set);
int ornic_cmd_bind_counters(struct ornic_ib_dev *dev, u32 qpn, u32 set);
int ornic_cmd_inspect(struct ornic_ib_dev *dev, u8 kind, u32 obj,
		      union ornic_rsp *rsp);
int ornic_cmd_modify_cq(struct ornic_ib_dev *dev, u32 cqn, u16 count,
			u16 period);
int ornic_cmd_query_clock(struct ornic_ib_dev *dev, u64 *now);

#endif /* ORNIC_CMD_H */
