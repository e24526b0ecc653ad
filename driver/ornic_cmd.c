// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: parameters -> descriptor -> bus -> result. Descriptors do not leave
 * this file (and its pure part, ornic_pack.c).
 */
#include "ornic_cmd.h"

#include <linux/bits.h>
#include <linux/etherdevice.h>
#include <linux/kernel.h>

#include "ornic_bus.h"
#include "ornic_dev.h"
#include "ornic_ring.h"

/* Limits of ornic-hw.h; larger values would not fit our types. */
#define LOG_MAX_OBJECTS 24
#define LOG_MAX_RING 20

int ornic_cmd_broken(struct ornic_ib_dev *dev, const char *why)
{
	if (dev->bus->ops->broken)
		dev->bus->ops->broken(dev->bus, why);
	return -EIO;
}

/* Returns -errno of the bus if there is no response, else that of @rsp. */
static int cmd_exec_rsp(struct ornic_ib_dev *dev, union ornic_req *req,
			union ornic_rsp *rsp, bool *has_rsp)
{
	struct ib_device *ibdev = &dev->ibdev;
	u16 id = atomic_inc_return(&dev->cmd_id);
	int ret;

	req->hdr.id = cpu_to_le16(id);
	memset(rsp, 0, sizeof(*rsp));
	*has_rsp = false;

	ret = dev->bus->ops->cmd(dev->bus, req, rsp, ornic_raw_is_held(dev));
	if (ret) {
		/* The failure was logged already. */
		if (!ornic_is_dead(dev))
			ibdev_err_ratelimited(ibdev,
					      "command %#x on %#x failed: %d\n",
					      req->hdr.opcode,
					      le32_to_cpu(req->hdr.obj), ret);
		return ret;
	}
	if (rsp->hdr.opcode != req->hdr.opcode || rsp->hdr.id != req->hdr.id) {
		ibdev_err_ratelimited(ibdev,
				      "command %#x id %u: got %#x id %u\n",
				      req->hdr.opcode, id, rsp->hdr.opcode,
				      le16_to_cpu(rsp->hdr.id));
		return ornic_cmd_broken(dev,
					"sent the response of another command");
	}

	*has_rsp = true;
	ret = ornic_status_to_errno(rsp->hdr.status);
	if (ret)
		ibdev_dbg(ibdev, "command %#x on %#x: status %u\n",
			  req->hdr.opcode, le32_to_cpu(req->hdr.obj),
			  rsp->hdr.status);
	return ret;
}

static int cmd_exec(struct ornic_ib_dev *dev, union ornic_req *req,
		    union ornic_rsp *rsp)
{
	bool has_rsp;

	return cmd_exec_rsp(dev, req, rsp, &has_rsp);
}

int ornic_cmd_exec(struct ornic_ib_dev *dev, union ornic_req *req,
		   union ornic_rsp *rsp)
{
	return cmd_exec(dev, req, rsp);
}

/* Any number but 0 is a key; those of other objects have 24 bits. */
static int cmd_create_key(struct ornic_ib_dev *dev, union ornic_req *req,
			  u32 *key)
{
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, req, &rsp);
	if (ret)
		return ret;
	*key = le32_to_cpu(rsp.hdr.obj);
	if (*key)
		return 0;
	ibdev_err_ratelimited(&dev->ibdev,
			      "command %#x: new object has number 0\n",
			      req->hdr.opcode);
	return ornic_cmd_broken(dev, "returned number 0 for an object");
}

static int cmd_create(struct ornic_ib_dev *dev, union ornic_req *req, u32 *obj)
{
	int ret;

	ret = cmd_create_key(dev, req, obj);
	if (ret || *obj < BIT(LOG_MAX_OBJECTS))
		return ret;
	ibdev_err_ratelimited(&dev->ibdev,
			      "command %#x: number %#x exceeds %#lx\n",
			      req->hdr.opcode, *obj, BIT(LOG_MAX_OBJECTS));
	return ornic_cmd_broken(
		dev, "returned a number out of bounds for an object");
}

/*
 * A device that does not respond is gone, and its objects with it (the bus has
 * stopped its DMA, see ornic_bus_ops). One that responds may refuse only
 * because of windows bound to an MR, which ib_core does not count
 * (@may_refuse): neither kernel users nor ib_core, when a process ends, could
 * handle any other refusal.
 */
static int cmd_destroy(struct ornic_ib_dev *dev, u8 opcode, u32 obj,
		       bool may_refuse)
{
	union ornic_req req = {
		.hdr.opcode = opcode,
		.hdr.obj = cpu_to_le32(obj),
	};
	union ornic_rsp rsp;
	bool has_rsp;
	int ret;

	ret = cmd_exec_rsp(dev, &req, &rsp, &has_rsp);
	if (!has_rsp)
		return 0;
	if (!ret || (ret == -EBUSY && may_refuse))
		return ret;
	ibdev_err_ratelimited(&dev->ibdev, "command %#x on %#x refused: %d\n",
			      opcode, obj, ret);
	if (!dev->bus->ops->broken)
		return ret;
	ornic_cmd_broken(dev, "refused to destroy an object");
	return 0;
}

void ornic_cmd_pack_mem(const struct ornic_dma_mem *from, struct ornic_mem *to)
{
	to->addr = cpu_to_le64(from->addr);
	to->npages = cpu_to_le32(from->npages);
	to->page_shift = from->page_shift;
	to->levels = from->levels;
}

static bool device_is_sane(const struct ornic_rsp_query_device *rsp)
{
	bool has_pkeys = le64_to_cpu(rsp->caps) & ORNIC_CAP_PKEY;
	u16 gids = le16_to_cpu(rsp->gid_table_len);

	return rsp->hw_version == ORNIC_HW_VERSION &&
	       rsp->log_max_qp <= LOG_MAX_OBJECTS &&
	       rsp->log_max_cq <= LOG_MAX_OBJECTS &&
	       rsp->log_max_mkey <= LOG_MAX_OBJECTS &&
	       rsp->log_max_ah <= LOG_MAX_OBJECTS &&
	       rsp->log_max_srq <= LOG_MAX_OBJECTS &&
	       rsp->log_max_mcast <= LOG_MAX_OBJECTS &&
	       rsp->log_max_mcast_qps <= LOG_MAX_OBJECTS &&
	       rsp->log_max_comp_cntr <= LOG_MAX_OBJECTS &&
	       rsp->log_max_flow <= LOG_MAX_OBJECTS &&
	       rsp->log_max_wqe <= LOG_MAX_RING &&
	       rsp->log_max_cqe <= LOG_MAX_RING + 2 && rsp->max_sge &&
	       rsp->max_sge <= ORNIC_MAX_SGE &&
	       le16_to_cpu(rsp->max_inline) <= ORNIC_MAX_INLINE && gids &&
	       gids <= ORNIC_GID_TABLE_LEN && rsp->num_vectors &&
	       (!has_pkeys || (rsp->pkey_table_len &&
			       rsp->pkey_table_len <= ORNIC_MAX_PKEYS)) &&
	       le64_to_cpu(rsp->page_sizes) & BIT(PAGE_SHIFT) &&
	       is_valid_ether_addr(rsp->mac);
}

/* The number of objects, less those whose numbers are reserved. */
static u32 max_objects(u8 log_numbers, u32 reserved)
{
	u32 numbers = BIT(log_numbers);

	return numbers > reserved ? numbers - reserved : 0;
}

static int query_tags(struct ornic_ib_dev *dev, struct ornic_caps *caps)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_TAGS };
	const struct ornic_rsp_query_tags *q;
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;

	q = &rsp.query_tags;
	if (q->log_max_tags > LOG_MAX_RING || !q->max_sge ||
	    q->max_sge > ORNIC_MAX_SGE)
		return -EPROTO;
	caps->max_tags = BIT(q->log_max_tags);
	caps->max_tag_sge = q->max_sge;
	return 0;
}

int ornic_cmd_query_device(struct ornic_ib_dev *dev, struct ornic_caps *caps)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_DEVICE };
	const struct ornic_rsp_query_device *q;
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;

	q = &rsp.query_device;
	if (!device_is_sane(q))
		return -EPROTO;
	caps->caps = le64_to_cpu(q->caps);
	if (!(caps->caps & ORNIC_CAP_RAW))
		caps->caps &= ~(u64)(ORNIC_CAP_RSS | ORNIC_CAP_RATE_LIMIT);
	caps->page_sizes = le64_to_cpu(q->page_sizes);
	caps->max_mr_size = le64_to_cpu(q->max_mr_size);
	caps->max_qp = max_objects(q->log_max_qp, ORNIC_RESERVED_QPNS);
	caps->max_cq = max_objects(q->log_max_cq, 1);
	caps->max_mr = max_objects(q->log_max_mkey, 1);
	caps->max_ah = max_objects(q->log_max_ah, 1);
	if (caps->caps & ORNIC_CAP_SRQ)
		caps->max_srq = max_objects(q->log_max_srq, 1);
	if (caps->caps & ORNIC_CAP_MCAST) {
		caps->max_mcast = BIT(q->log_max_mcast);
		caps->max_mcast_qps = BIT(q->log_max_mcast_qps);
	}
	if (caps->caps & ORNIC_CAP_COMP_CNTR)
		caps->max_comp_cntr = max_objects(q->log_max_comp_cntr, 1);
	caps->log_max_wqe = q->log_max_wqe;
	caps->log_max_cqe = q->log_max_cqe;
	caps->max_sge = q->max_sge;
	caps->max_rd_atomic = q->max_rd_atomic;
	caps->max_dest_rd_atomic = q->max_dest_rd_atomic;
	caps->num_vectors = q->num_vectors;
	caps->max_inline = le16_to_cpu(q->max_inline);
	caps->gid_table_len = le16_to_cpu(q->gid_table_len);
	caps->pkey_table_len = caps->caps & ORNIC_CAP_PKEY ? q->pkey_table_len :
							     1;
	caps->hw_version = q->hw_version;
	caps->ece_options = le32_to_cpu(q->ece_options);
	ether_addr_copy(caps->mac, q->mac);
	return caps->caps & ORNIC_CAP_TM ? query_tags(dev, caps) : 0;
}

int ornic_cmd_query_stats(struct ornic_ib_dev *dev, u32 set, u64 dma, u32 count)
{
	union ornic_req req = {
		.query_stats = {
			.hdr.opcode = ORNIC_CMD_QUERY_STATS,
			.hdr.obj = cpu_to_le32(set),
			.addr = cpu_to_le64(dma),
			.count = cpu_to_le32(count),
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_set_gid(struct ornic_ib_dev *dev,
		      const struct ornic_set_gid_params *params)
{
	union ornic_req req = {
		.set_gid = {
			.hdr.opcode = ORNIC_CMD_SET_GID,
			.hdr.obj = cpu_to_le32(params->index),
			.vlan = cpu_to_le16(params->vlan),
			.valid = params->valid,
			.type = params->type,
		},
	};
	union ornic_rsp rsp;

	memcpy(req.set_gid.gid, params->gid, sizeof(req.set_gid.gid));
	memcpy(req.set_gid.smac, params->smac, sizeof(req.set_gid.smac));
	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_set_port(struct ornic_ib_dev *dev,
		       const struct ornic_port_state *port)
{
	union ornic_req req = {
		.set_port = {
			.hdr.opcode = ORNIC_CMD_SET_PORT,
			.mtu = cpu_to_le32(port->mtu),
			.up = port->up,
			.netdev_mtu = cpu_to_le32(port->netdev_mtu),
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_query_pkey(struct ornic_ib_dev *dev, u32 index, u16 *pkey)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_QUERY_PKEY,
		.hdr.obj = cpu_to_le32(index),
	};
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, &req, &rsp);
	if (!ret)
		*pkey = le16_to_cpu(rsp.query_pkey.pkey);
	return ret;
}

int ornic_cmd_create_cq(struct ornic_ib_dev *dev,
			const struct ornic_create_cq_params *params, u32 *cqn)
{
	union ornic_req req = {
		.create_cq = {
			.hdr.opcode = ORNIC_CMD_CREATE_CQ,
			.log_depth = params->log_depth,
			.vector = params->vector,
		},
	};

	ornic_cmd_pack_mem(&params->mem, &req.create_cq.mem);
	return cmd_create(dev, &req, cqn);
}

int ornic_cmd_resize_cq(struct ornic_ib_dev *dev, u32 cqn,
			const struct ornic_create_cq_params *params)
{
	union ornic_req req = {
		.resize_cq = {
			.hdr.opcode = ORNIC_CMD_RESIZE_CQ,
			.hdr.obj = cpu_to_le32(cqn),
			.log_depth = params->log_depth,
		},
	};
	union ornic_rsp rsp;

	ornic_cmd_pack_mem(&params->mem, &req.resize_cq.mem);
	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_destroy_cq(struct ornic_ib_dev *dev, u32 cqn)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_CQ, cqn, false);
}

static u8 qp_flags(const struct ornic_create_qp_params *params)
{
	return (params->sig_all ? ORNIC_QP_SIG_ALL : 0) |
	       (params->has_srq ? ORNIC_QP_SRQ : 0) |
	       (params->wqe_av ? ORNIC_QP_AV : 0) |
	       (params->gsi ? ORNIC_QP_GSI : 0) |
	       (params->no_self_mcast ? ORNIC_QP_NO_SELF_MCAST : 0) |
	       (params->fast_reg ? ORNIC_QP_FAST_REG : 0);
}

int ornic_cmd_create_qp(struct ornic_ib_dev *dev,
			const struct ornic_create_qp_params *params, u32 *qpn)
{
	const struct ornic_ring_geom *sq = &params->rings->sq;
	const struct ornic_ring_geom *rq = &params->rings->rq;
	union ornic_req req = {
		.create_qp = {
			.hdr.opcode = ORNIC_CMD_CREATE_QP,
			.pdn = cpu_to_le32(params->pdn),
			.send_cqn = cpu_to_le32(params->send_cqn),
			.recv_cqn = cpu_to_le32(params->recv_cqn),
			.qp_type = params->qp_type,
			.flags = qp_flags(params),
			.has_sq = sq->exists,
			.has_rq = rq->exists,
			.sq_log_depth = sq->log_depth,
			.sq_log_stride = sq->log_stride,
			.rq_log_depth = rq->log_depth,
			.rq_log_stride = rq->log_stride,
			.sq_max_sge = sq->max_sge,
			.rq_max_sge = rq->max_sge,
			.max_inline = cpu_to_le16(sq->max_inline),
			.srqn = cpu_to_le32(params->srqn),
			.xrcdn = cpu_to_le32(params->xrcdn),
		},
	};

	ornic_cmd_pack_mem(&params->mem, &req.create_qp.mem);
	return cmd_create(dev, &req, qpn);
}

int ornic_cmd_modify_qp(struct ornic_ib_dev *dev, u32 qpn,
			const struct ornic_qp_params *params)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_MODIFY_QP,
		.hdr.obj = cpu_to_le32(qpn),
	};
	union ornic_rsp rsp;

	ornic_pack_modify_qp(params, &req.modify_qp);
	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_query_qp(struct ornic_ib_dev *dev, u32 qpn,
		       struct ornic_qp_params *params)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_QUERY_QP,
		.hdr.obj = cpu_to_le32(qpn),
	};
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;
	ret = ornic_unpack_query_qp(&rsp.query_qp, params);
	if (ret)
		ibdev_err_ratelimited(&dev->ibdev,
				      "QP %#x: got bad state %u or MTU %u\n",
				      qpn, params->state, params->path_mtu);
	return ret;
}

int ornic_cmd_destroy_qp(struct ornic_ib_dev *dev, u32 qpn)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_QP, qpn, false);
}

int ornic_cmd_create_mkey(struct ornic_ib_dev *dev,
			  const struct ornic_create_mkey_params *params,
			  u32 *key)
{
	union ornic_req req = {
		.create_mkey = {
			.hdr.opcode = ORNIC_CMD_CREATE_MKEY,
			.iova = cpu_to_le64(params->iova),
			.length = cpu_to_le64(params->length),
			.pdn = cpu_to_le32(params->pdn),
			.access = params->access,
			.flags = (params->dma ? ORNIC_MKEY_DMA : 0) |
				 (params->fast ? ORNIC_MKEY_FAST : 0) |
				 (params->odp ? ORNIC_MKEY_ODP : 0) |
				 (params->sg_gaps ? ORNIC_MKEY_SG_GAPS : 0) |
				 (params->dm ? ORNIC_MKEY_DM : 0) |
				 (params->at_offset ? ORNIC_MKEY_OFFSET : 0),
			.offset = cpu_to_le64(params->offset),
		},
	};

	ornic_cmd_pack_mem(&params->mem, &req.create_mkey.mem);
	return cmd_create_key(dev, &req, key);
}

int ornic_cmd_modify_mkey(struct ornic_ib_dev *dev, u32 key,
			  const struct ornic_create_mkey_params *params,
			  u8 mask)
{
	union ornic_req req = {
		.modify_mkey = {
			.hdr.opcode = ORNIC_CMD_MODIFY_MKEY,
			.hdr.obj = cpu_to_le32(key),
			.iova = cpu_to_le64(params->iova),
			.length = cpu_to_le64(params->length),
			.pdn = cpu_to_le32(params->pdn),
			.access = params->access,
			.mask = mask,
		},
	};
	union ornic_rsp rsp;

	ornic_cmd_pack_mem(&params->mem, &req.modify_mkey.mem);
	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_destroy_mkey(struct ornic_ib_dev *dev, u32 key,
			   bool may_have_windows)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_MKEY, key, may_have_windows);
}

int ornic_cmd_create_ah(struct ornic_ib_dev *dev,
			const struct ornic_av_params *path, u32 pdn, u32 *ah)
{
	union ornic_req req = {
		.create_ah = {
			.hdr.opcode = ORNIC_CMD_CREATE_AH,
			.pdn = cpu_to_le32(pdn),
		},
	};

	ornic_pack_av(path, &req.create_ah.av);
	return cmd_create(dev, &req, ah);
}

int ornic_cmd_destroy_ah(struct ornic_ib_dev *dev, u32 ah)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_AH, ah, false);
}

int ornic_cmd_create_mw(struct ornic_ib_dev *dev, u32 pdn, u8 type, u32 *key)
{
	union ornic_req req = {
		.create_mw = {
			.hdr.opcode = ORNIC_CMD_CREATE_MW,
			.pdn = cpu_to_le32(pdn),
			.type = type,
		},
	};

	return cmd_create_key(dev, &req, key);
}

int ornic_cmd_destroy_mw(struct ornic_ib_dev *dev, u32 key)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_MW, key, false);
}

static int group_cmd(struct ornic_ib_dev *dev, u8 opcode, u32 qpn,
		     const u8 *mgid)
{
	union ornic_req req = {
		.hdr.opcode = opcode,
		.hdr.obj = cpu_to_le32(qpn),
	};
	union ornic_rsp rsp;
	bool has_rsp;
	int ret;

	memcpy(req.mcast.mgid, mgid, sizeof(req.mcast.mgid));
	ret = cmd_exec_rsp(dev, &req, &rsp, &has_rsp);
	if (opcode == ORNIC_CMD_DETACH_MCAST && !has_rsp)
		return 0;
	return ret;
}

int ornic_cmd_attach_mcast(struct ornic_ib_dev *dev, u32 qpn, const u8 *mgid)
{
	return group_cmd(dev, ORNIC_CMD_ATTACH_MCAST, qpn, mgid);
}

int ornic_cmd_detach_mcast(struct ornic_ib_dev *dev, u32 qpn, const u8 *mgid)
{
	return group_cmd(dev, ORNIC_CMD_DETACH_MCAST, qpn, mgid);
}

/* ---- Counters, state, clock, moderation ---------------------------------- */

int ornic_cmd_modify_stats(struct ornic_ib_dev *dev, u64 optional)
{
	union ornic_req req = {
		.modify_stats = {
			.hdr.opcode = ORNIC_CMD_MODIFY_STATS,
			.optional = cpu_to_le64(optional),
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_create_counters(struct ornic_ib_dev *dev, u32 *set)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_COUNTERS };

	return cmd_create(dev, &req, set);
}

int ornic_cmd_destroy_counters(struct ornic_ib_dev *dev, u32 set)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_COUNTERS, set, false);
}

int ornic_cmd_bind_counters(struct ornic_ib_dev *dev, u32 qpn, u32 set)
{
	union ornic_req req = {
		.bind_counters = {
			.hdr.opcode = ORNIC_CMD_BIND_COUNTERS,
			.hdr.obj = cpu_to_le32(qpn),
			.counters = cpu_to_le32(set),
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_create_comp_cntr(struct ornic_ib_dev *dev,
			       const struct ornic_dma_mem *mem, u32 *cntr)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_COMP_CNTR };

	ornic_cmd_pack_mem(mem, &req.create_comp_cntr.mem);
	return cmd_create(dev, &req, cntr);
}

int ornic_cmd_destroy_comp_cntr(struct ornic_ib_dev *dev, u32 cntr)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_COMP_CNTR, cntr, false);
}

int ornic_cmd_modify_comp_cntr(struct ornic_ib_dev *dev, u32 cntr, u8 entry,
			       u8 change, u64 value)
{
	union ornic_req req = {
		.modify_comp_cntr = {
			.hdr.opcode = ORNIC_CMD_MODIFY_COMP_CNTR,
			.hdr.obj = cpu_to_le32(cntr),
			.value = cpu_to_le64(value),
			.entry = entry,
			.change = change,
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_attach_comp_cntr(struct ornic_ib_dev *dev, u32 qpn, u32 cntr,
			       u8 ops)
{
	union ornic_req req = {
		.attach_comp_cntr = {
			.hdr.opcode = ORNIC_CMD_ATTACH_COMP_CNTR,
			.hdr.obj = cpu_to_le32(qpn),
			.cntr = cpu_to_le32(cntr),
			.ops = ops,
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_create_flow(struct ornic_ib_dev *dev,
			  const struct ornic_create_flow_params *params,
			  u32 *flow)
{
	union ornic_req req = {
		.create_flow = {
			.hdr.opcode = ORNIC_CMD_CREATE_FLOW,
			.rule.match = cpu_to_le64(params->match),
			.rule.qpn = cpu_to_le32(params->qpn),
			.rule.priority = cpu_to_le16(params->priority),
			.rule.type = params->type,
			.rule.flags = params->flags,
		},
	};

	return cmd_create(dev, &req, flow);
}

int ornic_cmd_destroy_flow(struct ornic_ib_dev *dev, u32 flow)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_FLOW, flow, false);
}

int ornic_cmd_inspect(struct ornic_ib_dev *dev, u8 kind, u32 obj,
		      union ornic_rsp *rsp)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_INSPECT,
		.hdr.param = kind,
		.hdr.obj = cpu_to_le32(obj),
	};

	return cmd_exec(dev, &req, rsp);
}

int ornic_cmd_modify_cq(struct ornic_ib_dev *dev, u32 cqn, u16 count,
			u16 period)
{
	union ornic_req req = {
		.modify_cq = {
			.hdr.opcode = ORNIC_CMD_MODIFY_CQ,
			.hdr.obj = cpu_to_le32(cqn),
			.count = cpu_to_le16(count),
			.period = cpu_to_le16(period),
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_query_clock(struct ornic_ib_dev *dev, u64 *now)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_CLOCK };
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;
	*now = le64_to_cpu(rsp.query_clock.now);
	return 0;
}

/* ---- SRQs ---------------------------------------------------------------- */

int ornic_cmd_create_srq(struct ornic_ib_dev *dev,
			 const struct ornic_create_srq_params *params,
			 u32 *srqn)
{
	union ornic_req req = {
		.create_srq = {
			.hdr.opcode = ORNIC_CMD_CREATE_SRQ,
			.pdn = cpu_to_le32(params->pdn),
			.log_depth = params->ring->log_depth,
			.log_stride = params->ring->log_stride,
			.max_sge = params->ring->max_sge,
			.flags = params->flags,
			.xrcdn = cpu_to_le32(params->xrcdn),
			.cqn = cpu_to_le32(params->cqn),
			.max_tags = cpu_to_le32(params->max_tags),
		},
	};

	ornic_cmd_pack_mem(&params->mem, &req.create_srq.mem);
	return cmd_create(dev, &req, srqn);
}

int ornic_cmd_modify_srq(struct ornic_ib_dev *dev, u32 srqn, u32 limit)
{
	union ornic_req req = {
		.modify_srq = {
			.hdr.opcode = ORNIC_CMD_MODIFY_SRQ,
			.hdr.obj = cpu_to_le32(srqn),
			.limit = cpu_to_le32(limit),
		},
	};
	union ornic_rsp rsp;

	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_resize_srq(struct ornic_ib_dev *dev, u32 srqn,
			 const struct ornic_dma_mem *mem, u8 log_depth)
{
	union ornic_req req = {
		.resize_srq = {
			.hdr.opcode = ORNIC_CMD_RESIZE_SRQ,
			.hdr.obj = cpu_to_le32(srqn),
			.log_depth = log_depth,
		},
	};
	union ornic_rsp rsp;

	ornic_cmd_pack_mem(mem, &req.resize_srq.mem);
	return cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_query_srq(struct ornic_ib_dev *dev, u32 srqn, u32 *limit)
{
	struct ornic_srq_state state;
	int ret;

	ret = ornic_cmd_srq_state(dev, srqn, &state);
	if (ret)
		return ret;
	*limit = state.limit;
	return 0;
}

int ornic_cmd_srq_state(struct ornic_ib_dev *dev, u32 srqn,
			struct ornic_srq_state *state)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_QUERY_SRQ,
		.hdr.obj = cpu_to_le32(srqn),
	};
	union ornic_rsp rsp;
	int ret;

	ret = cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;
	state->limit = le32_to_cpu(rsp.query_srq.limit);
	state->waiting = le32_to_cpu(rsp.query_srq.waiting);
	state->broken = rsp.query_srq.broken;
	state->tags = le32_to_cpu(rsp.query_srq.tags);
	state->unexpected = le32_to_cpu(rsp.query_srq.unexpected);
	return 0;
}

int ornic_cmd_destroy_srq(struct ornic_ib_dev *dev, u32 srqn)
{
	return cmd_destroy(dev, ORNIC_CMD_DESTROY_SRQ, srqn, false);
}
