// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "steps.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace
{

ibv_qp *create_qp(life &l, ibv_qp_type type)
{
	ibv_qp_init_attr_ex attr = {};

	attr.qp_type = type;
	if (type == IBV_QPT_XRC_RECV) {
		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		attr.xrcd = l.xrcd;
	} else {
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.pd = l.pd;
		attr.cap = { 16, 16, 2, 2, 64 };
		attr.send_cq = attr.recv_cq = l.cq;
	}
	return ibv_create_qp_ex(l.context, &attr);
}

ibv_srq *create_srq(life &l, ibv_srq_type type)
{
	ibv_srq_init_attr_ex attr = {};

	attr.attr = { 20, 2, 0 };
	attr.srq_type = type;
	attr.pd = l.pd;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	if (type == IBV_SRQT_XRC) {
		attr.cq = l.cq;
		attr.xrcd = l.xrcd;
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	}
	return ibv_create_srq_ex(l.context, &attr);
}

step make_qp(life &l, const char *name, ibv_qp *&where, ibv_qp_type type,
	     unsigned int stride = 1)
{
	return { name,
		 [&l, &where, type] { return keep(where, create_qp(l, type)); },
		 [&where] { return ibv_destroy_qp(where); }, stride };
}

int modify_srq(life &l, uint32_t max_wr, int mask)
{
	ibv_srq_attr attr = {};

	attr.max_wr = max_wr;
	attr.srq_limit = 1;
	return ibv_modify_srq(l.srq, &attr, mask);
}

/* 239.1.2.3 */
ibv_gid group_gid()
{
	ibv_gid gid = {};

	gid.raw[10] = gid.raw[11] = 0xff;
	gid.raw[12] = 239;
	gid.raw[13] = 1;
	gid.raw[14] = 2;
	gid.raw[15] = 3;
	return gid;
}

int reset(ibv_qp *qp)
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_RESET;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int to_init(ibv_qp *qp, int last)
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qkey = ud_qkey;
	attr.qp_access_flags = all_access;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     last);
}

int to_rtr(life &l)
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = l.far_end->qp->qp_num;
	attr.rq_psn = l.far_end->psn;
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 1;
	attr.ah_attr = path_to(l.far.gid, l.gid_index);
	return ibv_modify_qp(l.rc, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

int to_rts(life &l)
{
	ibv_qp_attr attr = {};

	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = l.psn;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	return ibv_modify_qp(l.rc, &attr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_MAX_QP_RD_ATOMIC);
}

int connect_far(life &l)
{
	ibv_gid gid;

	if (ibv_query_gid(l.context, 1, l.gid_index, &gid))
		return EIO;
	l.far_end->to_rtr({ gid, l.rc->qp_num, l.psn, 0, 0 });
	l.far_end->to_rts();
	return 0;
}

int back_to_init(life &l)
{
	const int status = reset(l.rc);

	return status ? status : to_init(l.rc, IBV_QP_ACCESS_FLAGS);
}

int back_to_rtr(life &l)
{
	const int status = back_to_init(l);

	return status ? status : to_rtr(l);
}

int write_far(life &l, std::size_t size)
{
	ibv_sge sge = { reinterpret_cast<uint64_t>(l.buffer.bytes().data()),
			static_cast<uint32_t>(size), l.mr->lkey };
	ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, 1, *l.far_end, 0), *bad;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	return ibv_post_send(l.rc, &wr, &bad);
}

/*
 * A lost packet is sent again, so whatever failed, the message arrives. The clock
 * may be a system call, which a fault lets return nonsense: the case has a limit.
 */
int wait_sent(life &l)
{
	ibv_wc wc;
	int got;

	do
		got = ibv_poll_cq(l.cq, 1, &wc);
	while (!got);
	check(got > 0, "ibv_poll_cq");
	check_wc(wc, IBV_WC_SUCCESS, "write");
	return 0;
}

/*
 * Of all frames, which opens the filter of the netdev. It has no specs: of two arrays for
 * them ib_uverbs of Linux 6.12 keeps the second one if the first cannot be had.
 */
ibv_flow *create_flow(ibv_qp *qp)
{
	ibv_flow_attr attr = {};

	attr.type = IBV_FLOW_ATTR_SNIFFER;
	attr.size = sizeof(attr);
	attr.port = 1;
	return ibv_create_flow(qp, &attr);
}

ibv_wq *create_wq(const life &l)
{
	ibv_wq_init_attr attr = {};

	attr.wq_type = IBV_WQT_RQ;
	attr.max_wr = 16;
	attr.max_sge = 1;
	attr.pd = l.pd;
	attr.cq = l.cq;
	return ibv_create_wq(l.context, &attr);
}

int destroy_wq(ibv_wq *wq)
{
	const int status = ibv_destroy_wq(wq);

	/* If the response could not be copied, it is gone. Netlink shows no WQs. */
	return status == ENOENT ? 0 : status;
}

int modify_wq(ibv_wq *wq, ibv_wq_state to)
{
	ibv_wq_attr attr = {};

	attr.attr_mask = IBV_WQ_ATTR_STATE;
	attr.wq_state = to;
	return ibv_modify_wq(wq, &attr);
}

ibv_rwq_ind_table *create_table(life &l)
{
	ibv_wq *wqs[] = { l.wq, l.wq };
	ibv_rwq_ind_table_init_attr attr = {};

	attr.log_ind_tbl_size = 1;
	attr.ind_tbl = wqs;
	return ibv_create_rwq_ind_table(l.context, &attr);
}

ibv_qp *create_rss(const life &l)
{
	static std::array<uint8_t, 40> key;
	ibv_qp_init_attr_ex attr = {};

	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			 IBV_QP_INIT_ATTR_RX_HASH;
	attr.qp_type = IBV_QPT_RAW_PACKET;
	attr.pd = l.pd;
	attr.rwq_ind_tbl = l.table;
	attr.rx_hash_conf.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
	attr.rx_hash_conf.rx_hash_key_len = key.size();
	attr.rx_hash_conf.rx_hash_key = key.data();
	attr.rx_hash_conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4;
	return ibv_create_qp_ex(l.context, &attr);
}

} /* namespace */

std::vector<step> queue_steps(life &l)
{
	return {
		{ "create_srq",
		  [&] { return keep(l.srq, create_srq(l, IBV_SRQT_BASIC)); },
		  [&] { return ibv_destroy_srq(l.srq); } },
		{ "create_srq of XRC",
		  [&] { return keep(l.xrc_srq, create_srq(l, IBV_SRQT_XRC)); },
		  [&] { return ibv_destroy_srq(l.xrc_srq); } },
		{ "modify_srq",
		  [&] { return modify_srq(l, 0, IBV_SRQ_LIMIT); },
		  {} },
		{ "resize SRQ",
		  [&] { return modify_srq(l, 200, IBV_SRQ_MAX_WR); },
		  {} },
		make_qp(l, "create_qp UC", l.uc, IBV_QPT_UC),
		make_qp(l, "create_qp XRC_SEND", l.xrc_send, IBV_QPT_XRC_SEND),
		// Without faults: where create_xrc_qp_user() fails, ib_core (6.12)
		// keeps its count of users of the XRC domain.
		make_qp(l, "create_qp XRC_RECV", l.xrc_recv, IBV_QPT_XRC_RECV,
			0),
		make_qp(l, "create_qp UD", l.ud, IBV_QPT_UD),
		{ "UD to INIT", [&] { return to_init(l.ud, IBV_QP_QKEY); },
		  [&] { return reset(l.ud); } },
		{ "attach_mcast",
		  [&] {
			  const ibv_gid gid = group_gid();

			  return ibv_attach_mcast(l.ud, &gid, 0);
		  },
		  [&] {
			  const ibv_gid gid = group_gid();

			  return ibv_detach_mcast(l.ud, &gid, 0);
		  },
		  1,
		  { ENOBUFS } },
		make_qp(l, "create_qp RAW_PACKET", l.raw, IBV_QPT_RAW_PACKET),
		{ "create_flow",
		  [&] { return keep(l.flow, create_flow(l.raw)); },
		  [&] { return ibv_destroy_flow(l.flow); } },
		{ "create_wq", [&] { return keep(l.wq, create_wq(l)); },
		  [&] { return destroy_wq(l.wq); } },
		{ "WQ to RDY", [&] { return modify_wq(l.wq, IBV_WQS_RDY); },
		  [&] { return modify_wq(l.wq, IBV_WQS_RESET); } },
		{ "create_rwq_ind_table",
		  [&] { return keep(l.table, create_table(l)); },
		  [&] { return ibv_destroy_rwq_ind_table(l.table); } },
		{ "create_qp RSS", [&] { return keep(l.rss, create_rss(l)); },
		  [&] { return ibv_destroy_qp(l.rss); } },
		make_qp(l, "create_qp RC", l.rc, IBV_QPT_RC),
		{ "RC to INIT",
		  [&] { return to_init(l.rc, IBV_QP_ACCESS_FLAGS); },
		  [&] { return reset(l.rc); } },
		{ "RC to RTR",
		  [&] { return to_rtr(l); },
		  [&] { return back_to_init(l); },
		  1,
		  { ENOBUFS } },
		{ "other end to RTS", [&] { return connect_far(l); }, {}, 0 },
		{ "RC to RTS",
		  [&] { return to_rts(l); },
		  [&] { return back_to_rtr(l); },
		  1,
		  { ENOBUFS } },
		{ "query_qp",
		  [&] {
			  ibv_qp_attr attr;
			  ibv_qp_init_attr init;

			  return ibv_query_qp(l.rc, &attr, IBV_QP_STATE, &init);
		  },
		  {} },
		{ "RDMA WRITE", [&] { return write_far(l, 5000); },
		  [&] { return wait_sent(l); } },
	};
}
