// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Commands by which a device is observed: counters, state, clock, moderation. */
#include "ornic_cmd.h"

#include "ornic_dev.h"

int ornic_cmd_modify_stats(struct ornic_ib_dev *dev, u64 optional)
{
	union ornic_req req = {
		.modify_stats = {
			.hdr.opcode = ORNIC_CMD_MODIFY_STATS,
			.optional = cpu_to_le64(optional),
		},
	};
	union ornic_rsp rsp;

	return ornic_cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_create_counters(struct ornic_ib_dev *dev, u32 *set)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_COUNTERS };

	return ornic_cmd_exec_create(dev, &req, set);
}

int ornic_cmd_destroy_counters(struct ornic_ib_dev *dev, u32 set)
{
	return ornic_cmd_exec_destroy(dev, ORNIC_CMD_DESTROY_COUNTERS, set);
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

	return ornic_cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_inspect(struct ornic_ib_dev *dev, u8 kind, u32 obj,
		      union ornic_rsp *rsp)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_INSPECT,
		.hdr.param = kind,
		.hdr.obj = cpu_to_le32(obj),
	};

	return ornic_cmd_exec(dev, &req, rsp);
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

	return ornic_cmd_exec(dev, &req, &rsp);
}

int ornic_cmd_query_clock(struct ornic_ib_dev *dev, u64 *now)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_QUERY_CLOCK };
	union ornic_rsp rsp;
	int ret;

	ret = ornic_cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;
	*now = le64_to_cpu(rsp.query_clock.now);
	return 0;
}
