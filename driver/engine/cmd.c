// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: the firmware of the device. A row of the table for each opcode.
 *
 * The request may lie in memory that its sender still writes to, so it is
 * copied once and only the copy is used. Every value is range-checked;
 * reserved fields are ignored. A command either happens completely or not at
 * all, and always gets a response.
 */
#include "comp_cntr.h"
#include "cq.h"
#include "dev.h"
#include "mcast.h"
#include "mkey.h"
#include "mw.h"
#include "odp.h"
#include "proto.h"
#include "qp.h"
#include "rss.h"
#include "srq.h"
#include "tm.h"

/* MRs may use any page size from 4 KiB up to the largest MR. */
#define PAGE_SIZES ((BIT_ULL(41) - 1) & ~(BIT_ULL(ORNIC_PAGE_SHIFT) - 1))

/* ---- The device ------------------------------------------------------------ */

/* What every device can do. */
#define DEVICE_CAPS                                                         \
	(ORNIC_CAP_RC | ORNIC_CAP_UC | ORNIC_CAP_UD | ORNIC_CAP_XRC |       \
	 ORNIC_CAP_ATOMICS | ORNIC_CAP_ATOMIC_WRITE | ORNIC_CAP_FLUSH |     \
	 ORNIC_CAP_SRQ | ORNIC_CAP_RESIZE_SRQ | ORNIC_CAP_RESIZE_CQ |       \
	 ORNIC_CAP_MODERATION | ORNIC_CAP_MODIFY_MKEY | ORNIC_CAP_MW |      \
	 ORNIC_CAP_FAST_REG | ORNIC_CAP_KERNEL | ORNIC_CAP_COUNTERS |       \
	 ORNIC_CAP_MCAST | ORNIC_CAP_INSPECT | ORNIC_CAP_QUERY_CLOCK |      \
	 ORNIC_CAP_COMP_CNTR | ORNIC_CAP_MKEY_OFFSET | ORNIC_CAP_NULL_KEY | \
	 ORNIC_CAP_TM | ORNIC_CAP_SG_GAPS | ORNIC_CAP_PKEY)

static int query_device(struct ornic_dev *dev, const union ornic_req *req,
			union ornic_rsp *rsp)
{
	struct ornic_rsp_query_device *r = &rsp->query_device;

	(void)req;
	r->caps = cpu_to_le64(DEVICE_CAPS);
	if (dev->roce_v1)
		r->caps |= cpu_to_le64(ORNIC_CAP_ROCE_V1);
	if (dev->ops->tx_drop) {
		r->caps |= cpu_to_le64(ORNIC_CAP_RAW | ORNIC_CAP_RSS |
				       ORNIC_CAP_RATE_LIMIT);
		r->log_max_flow = ORNIC_LOG_MAX_FLOW;
	}
	if (dev->ops->paging)
		r->caps |= cpu_to_le64(ORNIC_CAP_ODP);
	if (dev->ops->dm)
		r->caps |= cpu_to_le64(ORNIC_CAP_DM);
	r->page_sizes = cpu_to_le64(PAGE_SIZES);
	r->max_mr_size = cpu_to_le64(ornic_max_mem(dev));
	r->hw_version = ORNIC_HW_VERSION;
	r->log_max_qp = ORNIC_LOG_MAX_QP;
	r->log_max_cq = ORNIC_LOG_MAX_CQ;
	r->log_max_mkey = ORNIC_LOG_MAX_MKEY;
	r->log_max_ah = ORNIC_LOG_MAX_AH;
	r->log_max_srq = ORNIC_LOG_MAX_SRQ;
	r->log_max_counters = ORNIC_LOG_MAX_COUNTERS;
	r->log_max_wqe = ORNIC_LOG_MAX_WQE;
	r->log_max_cqe = ORNIC_LOG_MAX_CQE;
	r->max_sge = ORNIC_MAX_SGE;
	r->max_rd_atomic = ORNIC_MAX_INIT_RD_ATOMIC;
	r->max_dest_rd_atomic = ORNIC_MAX_RD_ATOMIC;
	r->num_vectors = (u8)min_t(u32, dev->ops->num_vectors, 255);
	r->max_inline = cpu_to_le16(ORNIC_MAX_INLINE);
	r->gid_table_len = cpu_to_le16(ORNIC_GID_TABLE_LEN);
	memcpy(r->mac, dev->mac, sizeof(r->mac));
	r->log_max_mcast = ORNIC_LOG_MAX_MCAST;
	r->log_max_mcast_qps = ORNIC_LOG_MAX_MCAST_QPS;
	r->log_max_comp_cntr = ORNIC_LOG_MAX_COMP_CNTR;
	r->pkey_table_len = ORNIC_PKEY_TABLE_LEN;
	r->ece_options = cpu_to_le32(ORNIC_ECE_OFFER);
	return ORNIC_OK;
}

static int query_tags(struct ornic_dev *dev, const union ornic_req *req,
		      union ornic_rsp *rsp)
{
	struct ornic_rsp_query_tags *r = &rsp->query_tags;

	(void)dev;
	(void)req;
	r->log_max_tags = ORNIC_LOG_MAX_TAGS;
	r->max_sge = ORNIC_MAX_TAG_SGE;
	return ORNIC_OK;
}

static int query_stats(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_stats_query(dev, &req->query_stats);
}

static int modify_stats(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_stats_modify(dev, &req->modify_stats);
}

static int set_gid(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_gid_set(dev, &req->set_gid);
}

static int query_pkey(struct ornic_dev *dev, const union ornic_req *req,
		      union ornic_rsp *rsp)
{
	u32 index = le32_to_cpu(req->hdr.obj);
	u32 pkey = ornic_pkey_read(dev, index);

	if (index >= ORNIC_PKEY_TABLE_LEN)
		return ORNIC_BAD_PARAM;
	if (pkey != ORNIC_PKEY_NONE)
		rsp->query_pkey.pkey = cpu_to_le16((u16)pkey);
	return ORNIC_OK;
}

/* IBTA table 42 has the MTUs: powers of two from 256 to 4096. */
static int set_port(struct ornic_dev *dev, const union ornic_req *req)
{
	u32 mtu = le32_to_cpu(req->set_port.mtu);

	if (mtu < 256 || mtu > 4096 || (mtu & (mtu - 1)) ||
	    req->set_port.up > 1)
		return ORNIC_BAD_PARAM;
	WRITE_ONCE(dev->mtu, mtu);
	WRITE_ONCE(dev->netdev_mtu, le32_to_cpu(req->set_port.netdev_mtu));
	WRITE_ONCE(dev->up, req->set_port.up);
	return ORNIC_OK;
}

/* ---- Objects ---------------------------------------------------------------- */

static int put_created(union ornic_rsp *rsp, int status, u32 obj)
{
	if (status == ORNIC_OK)
		rsp->hdr.obj = cpu_to_le32(obj);
	return status;
}

static int create_cq(struct ornic_dev *dev, const union ornic_req *req,
		     union ornic_rsp *rsp)
{
	u32 cqn = 0;
	int status = ornic_cq_create(dev, &req->create_cq, &cqn);

	return put_created(rsp, status, cqn);
}

static int resize_cq(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_cq_resize(dev, &req->resize_cq);
}

static int modify_cq(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_cq_modify(dev, &req->modify_cq);
}

static int query_clock(struct ornic_dev *dev, const union ornic_req *req,
		       union ornic_rsp *rsp)
{
	(void)req;
	rsp->query_clock.now = cpu_to_le64(dev->ops->now(dev->host));
	return ORNIC_OK;
}

static int create_qp(struct ornic_dev *dev, const union ornic_req *req,
		     union ornic_rsp *rsp)
{
	u32 qpn = 0;
	int status = ornic_qp_create(dev, &req->create_qp, &qpn);

	return put_created(rsp, status, qpn);
}

static int modify_qp(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_qp_modify(dev, &req->modify_qp);
}

static int query_qp(struct ornic_dev *dev, const union ornic_req *req,
		    union ornic_rsp *rsp)
{
	return ornic_qp_query(dev, le32_to_cpu(req->hdr.obj), &rsp->query_qp);
}

static int create_mkey(struct ornic_dev *dev, const union ornic_req *req,
		       union ornic_rsp *rsp)
{
	u32 key = 0;
	int status = ornic_mkey_create(dev, &req->create_mkey, &key);

	return put_created(rsp, status, key);
}

static int modify_mkey(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_mkey_modify(dev, &req->modify_mkey);
}

static int set_key_pages(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_odp_set_pages(dev, &req->set_pages);
}

static int clear_key_pages(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_odp_clear_pages(dev, &req->clear_pages);
}

static int take_fault(struct ornic_dev *dev, const union ornic_req *req,
		      union ornic_rsp *rsp)
{
	return ornic_fault_take(dev, le32_to_cpu(req->hdr.obj), req->hdr.param,
				&rsp->take_fault);
}

static int end_fault(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_fault_end(dev, &req->end_fault);
}

static int create_mw(struct ornic_dev *dev, const union ornic_req *req,
		     union ornic_rsp *rsp)
{
	u32 key = 0;
	int status = ornic_mw_create(dev, &req->create_mw, &key);

	return put_created(rsp, status, key);
}

static int create_ah(struct ornic_dev *dev, const union ornic_req *req,
		     union ornic_rsp *rsp)
{
	u32 ah = 0;
	int status = ornic_ah_create(dev, &req->create_ah, &ah);

	return put_created(rsp, status, ah);
}

static int create_srq(struct ornic_dev *dev, const union ornic_req *req,
		      union ornic_rsp *rsp)
{
	u32 srqn = 0;
	int status = ornic_srq_create(dev, &req->create_srq, &srqn);

	return put_created(rsp, status, srqn);
}

static int modify_srq(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_srq_modify(dev, &req->modify_srq);
}

static int resize_srq(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_srq_resize(dev, &req->resize_srq);
}

static int query_srq(struct ornic_dev *dev, const union ornic_req *req,
		     union ornic_rsp *rsp)
{
	return ornic_srq_query(dev, le32_to_cpu(req->hdr.obj), &rsp->query_srq);
}

static int attach_mcast(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_mcast_attach(dev, &req->mcast);
}

static int detach_mcast(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_mcast_detach(dev, &req->mcast);
}

static int create_counters(struct ornic_dev *dev, const union ornic_req *req,
			   union ornic_rsp *rsp)
{
	u32 number = 0;
	int status = ornic_counters_create(dev, &number);

	(void)req;
	return put_created(rsp, status, number);
}

static int bind_counters(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_counters_bind(dev, &req->bind_counters);
}

static int create_comp_cntr(struct ornic_dev *dev, const union ornic_req *req,
			    union ornic_rsp *rsp)
{
	u32 number = 0;
	int status =
		ornic_comp_cntr_create(dev, &req->create_comp_cntr, &number);

	return put_created(rsp, status, number);
}

static int modify_comp_cntr(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_comp_cntr_modify(dev, &req->modify_comp_cntr);
}

static int attach_comp_cntr(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_comp_cntr_attach(dev, &req->attach_comp_cntr);
}

static int create_flow(struct ornic_dev *dev, const union ornic_req *req,
		       union ornic_rsp *rsp)
{
	u32 number = 0;
	int status = ornic_flow_create(dev, &req->create_flow.rule, &number);

	return put_created(rsp, status, number);
}

static int end_raw(struct ornic_dev *dev, const union ornic_req *req)
{
	(void)req;
	return ornic_raw_end_all(dev);
}

static int set_rss(struct ornic_dev *dev, const union ornic_req *req)
{
	return ornic_rss_set(dev, &req->set_rss);
}

/* ---- Dispatch ---------------------------------------------------------------- */

/* One of the three: with a response, without one, or with a number alone. */
static const struct ornic_cmd_row {
	u8 opcode;
	int (*query)(struct ornic_dev *dev, const union ornic_req *req,
		     union ornic_rsp *rsp);
	int (*change)(struct ornic_dev *dev, const union ornic_req *req);
	int (*destroy)(struct ornic_dev *dev, u32 obj);
} commands[] = {
	{ ORNIC_CMD_QUERY_DEVICE, .query = query_device },
	{ ORNIC_CMD_QUERY_CLOCK, .query = query_clock },
	{ ORNIC_CMD_SET_GID, .change = set_gid },
	{ ORNIC_CMD_SET_PORT, .change = set_port },
	{ ORNIC_CMD_INSPECT, .query = ornic_inspect },
	{ ORNIC_CMD_QUERY_PKEY, .query = query_pkey },
	{ ORNIC_CMD_CREATE_CQ, .query = create_cq },
	{ ORNIC_CMD_DESTROY_CQ, .destroy = ornic_cq_destroy },
	{ ORNIC_CMD_MODIFY_CQ, .change = modify_cq },
	{ ORNIC_CMD_RESIZE_CQ, .change = resize_cq },
	{ ORNIC_CMD_CREATE_QP, .query = create_qp },
	{ ORNIC_CMD_DESTROY_QP, .destroy = ornic_qp_destroy },
	{ ORNIC_CMD_MODIFY_QP, .change = modify_qp },
	{ ORNIC_CMD_QUERY_QP, .query = query_qp },
	{ ORNIC_CMD_ATTACH_MCAST, .change = attach_mcast },
	{ ORNIC_CMD_DETACH_MCAST, .change = detach_mcast },
	{ ORNIC_CMD_TAKE_FAULT, .query = take_fault },
	{ ORNIC_CMD_END_FAULT, .change = end_fault },
	{ ORNIC_CMD_SET_RSS, .change = set_rss },
	{ ORNIC_CMD_CREATE_MKEY, .query = create_mkey },
	{ ORNIC_CMD_DESTROY_MKEY, .destroy = ornic_mkey_destroy },
	{ ORNIC_CMD_MODIFY_MKEY, .change = modify_mkey },
	{ ORNIC_CMD_SET_PAGES, .change = set_key_pages },
	{ ORNIC_CMD_CLEAR_PAGES, .change = clear_key_pages },
	{ ORNIC_CMD_CREATE_MW, .query = create_mw },
	{ ORNIC_CMD_DESTROY_MW, .destroy = ornic_mw_destroy },
	{ ORNIC_CMD_CREATE_AH, .query = create_ah },
	{ ORNIC_CMD_DESTROY_AH, .destroy = ornic_ah_destroy },
	{ ORNIC_CMD_CREATE_SRQ, .query = create_srq },
	{ ORNIC_CMD_DESTROY_SRQ, .destroy = ornic_srq_destroy },
	{ ORNIC_CMD_MODIFY_SRQ, .change = modify_srq },
	{ ORNIC_CMD_QUERY_SRQ, .query = query_srq },
	{ ORNIC_CMD_RESIZE_SRQ, .change = resize_srq },
	{ ORNIC_CMD_QUERY_TAGS, .query = query_tags },
	{ ORNIC_CMD_CREATE_COUNTERS, .query = create_counters },
	{ ORNIC_CMD_DESTROY_COUNTERS, .destroy = ornic_counters_destroy },
	{ ORNIC_CMD_BIND_COUNTERS, .change = bind_counters },
	{ ORNIC_CMD_QUERY_STATS, .change = query_stats },
	{ ORNIC_CMD_MODIFY_STATS, .change = modify_stats },
	{ ORNIC_CMD_CREATE_COMP_CNTR, .query = create_comp_cntr },
	{ ORNIC_CMD_DESTROY_COMP_CNTR, .destroy = ornic_comp_cntr_destroy },
	{ ORNIC_CMD_MODIFY_COMP_CNTR, .change = modify_comp_cntr },
	{ ORNIC_CMD_ATTACH_COMP_CNTR, .change = attach_comp_cntr },
	{ ORNIC_CMD_CREATE_FLOW, .query = create_flow },
	{ ORNIC_CMD_DESTROY_FLOW, .destroy = ornic_flow_destroy },
	{ ORNIC_CMD_END_RAW, .change = end_raw },
};

static int execute_cmd(struct ornic_dev *dev, const union ornic_req *req,
		       union ornic_rsp *rsp)
{
	const struct ornic_cmd_row *row;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		row = &commands[i];
		if (row->opcode != req->hdr.opcode)
			continue;
		if (row->query)
			return row->query(dev, req, rsp);
		if (row->change)
			return row->change(dev, req);
		return row->destroy(dev, le32_to_cpu(req->hdr.obj));
	}
	return ORNIC_BAD_OPCODE;
}

void ornic_engine_cmd(struct ornic_engine *eng, const union ornic_req *req,
		      union ornic_rsp *rsp)
{
	union ornic_req own = *req;
	int status;

	memset(rsp, 0, sizeof(*rsp));
	rsp->hdr.obj = own.hdr.obj;
	status = execute_cmd(&eng->dev, &own, rsp);
	/* Last: a handler that fills the whole response may clear the head. */
	rsp->hdr.opcode = own.hdr.opcode;
	rsp->hdr.id = own.hdr.id;
	rsp->hdr.status = (u8)(status < 0 ? ornic_errno_status(status) :
					    (enum ornic_status)status);
}
