/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ethernet frames and flow rules of the suites of raw packet QPs. */
#ifndef ORNIC_RAW_FRAMES_H
#define ORNIC_RAW_FRAMES_H

#include "harness.h"

#define ORNIC_RF_HEAD 42 /* Ethernet, IPv4 and UDP header */

/* A frame from 02:..:aa to 02:..:@host, UDP over IPv4 from port 1000 to @port. */
static inline void ornic_rf_udp(u8 *frame, u8 host, u16 port, u32 len)
{
	static const u8 head[ORNIC_RF_HEAD] = {
		2,    0,    0,	0, 0, 0, 2,    0,    0,	 0,  0, 0xaa, 8,  0,
		0x45, 0x28, 0,	0, 0, 7, 0x40, 0,    64, 17, 0, 0,    10, 1,
		1,    1,    10, 2, 2, 2, 3,    0xe8, 0,	 0,  0, 0,    0,  0,
	};
	u32 i;

	memcpy(frame, head, sizeof(head));
	frame[5] = host;
	frame[16] = (u8)((len - 14) >> 8);
	frame[17] = (len - 14) & 0xff;
	frame[36] = (u8)(port >> 8);
	frame[37] = port & 0xff;
	frame[38] = (u8)((len - 34) >> 8);
	frame[39] = (len - 34) & 0xff;
	for (i = sizeof(head); i < len; i++)
		frame[i] = (u8)(i * 7 + port);
}

/**
 * struct ornic_rf_rule - a rule to be made
 * @value, @mask: of NORMAL rules
 * @qp: who gets the frames
 */
struct ornic_rf_rule {
	struct ornic_flow_match match;
	const struct ornic_th_qp *qp;
	u16 priority;
	u8 type;
	u8 flags;
};

/* Frames to the address of @host. */
static inline struct ornic_rf_rule ornic_rf_to(const struct ornic_th_qp *qp,
					       u8 host)
{
	struct ornic_rf_rule rule = { .qp = qp };

	rule.match.value.dmac[0] = 2;
	rule.match.value.dmac[5] = host;
	memset(rule.match.mask.dmac, 0xff, 6);
	return rule;
}

/* UDP to @port. */
static inline struct ornic_rf_rule ornic_rf_port(const struct ornic_th_qp *qp,
						 u16 port)
{
	struct ornic_rf_rule rule = { .qp = qp };

	rule.match.value.layers = ORNIC_FLOW_UDP;
	rule.match.mask.layers = ORNIC_FLOW_UDP;
	rule.match.value.dst_port = cpu_to_be16(port);
	rule.match.mask.dst_port = cpu_to_be16(0xffff);
	return rule;
}

/* CREATE_FLOW. Return: enum ornic_status. */
static inline int ornic_rf_create(struct ornic_th *th,
				  const struct ornic_rf_rule *rule, u32 *number)
{
	struct ornic_flow_match *match = NULL;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_FLOW;
	req.create_flow.rule.qpn = cpu_to_le32(rule->qp->qpn);
	req.create_flow.rule.priority = cpu_to_le16(rule->priority);
	req.create_flow.rule.type = rule->type;
	req.create_flow.rule.flags = rule->flags;
	if (rule->type == ORNIC_FLOW_NORMAL) {
		match = (struct ornic_flow_match *)ornic_th_alloc(
			th, sizeof(*match));
		if (!match)
			return ORNIC_NO_RESOURCE;
		*match = rule->match;
		req.create_flow.rule.match = cpu_to_le64((u64)(uintptr_t)match);
	}
	ornic_th_cmd(th, &req, &rsp);
	if (match) {
		/* It was read during the command. */
		memset(match, 0, sizeof(*match));
		ornic_th_free(th, (u8 *)match);
	}
	*number = le32_to_cpu(rsp.hdr.obj);
	return rsp.hdr.status;
}

static inline int ornic_rf_destroy(struct ornic_th *th, u32 number)
{
	return ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_FLOW, number);
}

static inline int ornic_rf_end_all(struct ornic_th *th)
{
	return ornic_th_destroy_obj(th, ORNIC_CMD_END_RAW, 0);
}

/* A raw packet QP without any queue, for SET_RSS. Return: enum ornic_status. */
static inline int ornic_rf_make_spread(struct ornic_th *th,
				       struct ornic_th_qp *qp)
{
	union ornic_req req;
	union ornic_rsp rsp;

	qp->th = th;
	qp->mem = ornic_th_alloc(th, 4096);
	if (!qp->mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_QP;
	req.create_qp.mem.addr = cpu_to_le64((u64)(uintptr_t)qp->mem);
	req.create_qp.mem.npages = cpu_to_le32(1);
	req.create_qp.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_qp.qp_type = ORNIC_QPT_RAW;
	if (!ornic_th_cmd(th, &req, &rsp))
		qp->qpn = le32_to_cpu(rsp.hdr.obj);
	return rsp.hdr.status;
}

/* SET_RSS. Return: enum ornic_status. */
static inline int ornic_rf_set_rss(struct ornic_th *th, u32 qpn,
				   const struct ornic_rss *rss)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_SET_RSS;
	req.hdr.obj = cpu_to_le32(qpn);
	req.set_rss.rss = cpu_to_le64((u64)(uintptr_t)rss);
	return ornic_th_cmd(th, &req, &rsp);
}

#endif /* ORNIC_RAW_FRAMES_H */
