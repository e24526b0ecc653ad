// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* On-demand paging: commands. */
#include <linux/minmax.h>
#include <rdma/ornic-hw.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"

int ornic_cmd_set_pages(struct ornic_ib_dev *dev, u32 key, u64 addr, u64 list,
			u32 npages)
{
	union ornic_req req = {
		.set_pages = {
			.hdr.opcode = ORNIC_CMD_SET_PAGES,
			.hdr.obj = cpu_to_le32(key),
			.addr = cpu_to_le64(addr),
			.list = cpu_to_le64(list),
			.npages = cpu_to_le32(npages),
		},
	};
	union ornic_rsp rsp;

	return ornic_cmd_exec(dev, &req, &rsp);
}

void ornic_cmd_clear_pages(struct ornic_ib_dev *dev, u32 key, u64 addr,
			   u64 length)
{
	union ornic_req req = {
		.clear_pages = {
			.hdr.opcode = ORNIC_CMD_CLEAR_PAGES,
			.hdr.obj = cpu_to_le32(key),
			.addr = cpu_to_le64(addr),
			.length = cpu_to_le64(length),
		},
	};
	union ornic_rsp rsp;
	int ret;

	ret = ornic_cmd_exec(dev, &req, &rsp);
	if (!ret || ornic_is_dead(dev))
		return;
	ibdev_err_ratelimited(&dev->ibdev, "pages of key %#x at %#llx: %d\n",
			      key, addr, ret);
	/* One that is part of the kernel would use them still. */
	WARN_ON_ONCE(!dev->bus->ops->broken);
	ornic_cmd_broken(dev, "refused to give pages back");
}

int ornic_cmd_take_fault(struct ornic_ib_dev *dev, u32 qpn, u8 queue,
			 struct ornic_fault_params *fault)
{
	union ornic_req req = {
		.hdr.opcode = ORNIC_CMD_TAKE_FAULT,
		.hdr.param = queue,
		.hdr.obj = cpu_to_le32(qpn),
	};
	const struct ornic_rsp_take_fault *r;
	union ornic_rsp rsp;
	int ret;

	ret = ornic_cmd_exec(dev, &req, &rsp);
	if (ret)
		return ret;
	r = &rsp.take_fault;
	fault->key = le32_to_cpu(r->key);
	fault->seq = le32_to_cpu(r->seq);
	fault->addr = le64_to_cpu(r->addr);
	fault->length = min_t(u64, le64_to_cpu(r->length), ORNIC_FAULT_BYTES);
	fault->write = r->write;
	return 0;
}

int ornic_cmd_end_fault(struct ornic_ib_dev *dev, u32 qpn, u8 queue, u32 seq,
			bool failed)
{
	union ornic_req req = {
		.end_fault = {
			.hdr.opcode = ORNIC_CMD_END_FAULT,
			.hdr.param = queue,
			.hdr.obj = cpu_to_le32(qpn),
			.seq = cpu_to_le32(seq),
			.failed = failed,
		},
	};
	union ornic_rsp rsp;

	return ornic_cmd_exec(dev, &req, &rsp);
}
