// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Commands for shared receive queues. */
#include "ornic_cmd.h"

#include "ornic_dev.h"
#include "ornic_ring.h"

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
			.flags = params->is_xrc ? ORNIC_SRQ_XRC : 0,
			.xrcdn = cpu_to_le32(params->xrcdn),
			.cqn = cpu_to_le32(params->cqn),
		},
	};

	ornic_cmd_pack_mem(&params->mem, &req.create_srq.mem);
	return ornic_cmd_exec_create(dev, &req, srqn);
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

	return ornic_cmd_exec(dev, &req, &rsp);
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
	return ornic_cmd_exec(dev, &req, &rsp);
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

	ret = ornic_cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;
	state->limit = le32_to_cpu(rsp.query_srq.limit);
	state->waiting = le32_to_cpu(rsp.query_srq.waiting);
	state->broken = rsp.query_srq.broken;
	return 0;
}

int ornic_cmd_destroy_srq(struct ornic_ib_dev *dev, u32 srqn)
{
	return ornic_cmd_exec_destroy(dev, ORNIC_CMD_DESTROY_SRQ, srqn);
}
