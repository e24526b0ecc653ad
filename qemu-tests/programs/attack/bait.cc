// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "bait.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <iterator>

namespace
{

mr_ptr reg(ibv_pd *pd, const field &f, field::which w, int access)
{
	mr_ptr mr(ibv_reg_mr(pd, f.bytes.bytes().data() + w * field::area,
			     field::area, access));

	check(mr != nullptr, "ibv_reg_mr");
	return mr;
}

} /* namespace */

field::field(port &p)
	: bytes(areas * area)
	, other_pd(ibv_alloc_pd(p.context.get()))
	, open_mr(reg(p.pd.get(), *this, open, all_access))
	, inner_mr(reg(p.pd.get(), *this, inner, IBV_ACCESS_LOCAL_WRITE))
	, foreign_mr(reg(other_pd.get(), *this, foreign, all_access))
	, received_mr(reg(p.pd.get(), *this, received, IBV_ACCESS_LOCAL_WRITE))
{
	clear(bytes.bytes());
}

uint64_t field::address(which w) const
{
	return reinterpret_cast<uint64_t>(bytes.bytes().data()) + w * area;
}

void field::check_guards() const
{
	constexpr size_t slot = 4096;

	check_clear(bytes.bytes().subspan(before * area, area), "before");
	check_clear(bytes.bytes().subspan(inner * area, area), "inner");
	check_clear(bytes.bytes().subspan(foreign * area, area), "foreign");
	for (size_t at = slot; at < area; at += 2 * slot)
		check_clear(bytes.bytes().subspan(received * area + at, slot),
			    "guard of a receive");
}

bait::bait(port &p, const field &f, ibv_qp_type type, const ibv_gid &peer)
	: on_(p)
	, field_(f)
	, type_(type)
	, peer_(peer)
	, cq_(ibv_create_cq(p.context.get(), 16 * depth, nullptr, nullptr, 0))
{
	ibv_qp_init_attr_ex attr{};

	check(cq_ != nullptr, "ibv_create_cq");
	attr.qp_type = type;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = p.pd.get();
	attr.send_cq = attr.recv_cq = cq_.get();
	attr.cap = { depth, depth, 1, 1, 0 };
	if (type == IBV_QPT_XRC_RECV) {
		make_srq();
		attr = {};
		attr.qp_type = type;
		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		attr.xrcd = xrcd_.get();
	} else if (type == IBV_QPT_XRC_SEND) {
		attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	}
	qp_.reset(ibv_create_qp_ex(p.context.get(), &attr));
	check(qp_ != nullptr,
	      std::string("ibv_create_qp_ex: ") + std::strerror(errno));
	connect();
}

void bait::make_srq()
{
	ibv_xrcd_init_attr domain{};
	ibv_srq_init_attr_ex attr{};

	domain.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	domain.fd = -1;
	domain.oflags = O_CREAT;
	xrcd_.reset(ibv_open_xrcd(on_.context.get(), &domain));
	check(xrcd_ != nullptr, "ibv_open_xrcd");
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			 IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	attr.srq_type = IBV_SRQT_XRC;
	attr.pd = on_.pd.get();
	attr.xrcd = xrcd_.get();
	attr.cq = cq_.get();
	attr.attr.max_wr = depth;
	attr.attr.max_sge = 1;
	srq_.reset(ibv_create_srq_ex(on_.context.get(), &attr));
	check(srq_ != nullptr, "ibv_create_srq_ex");
	check_equal(ibv_get_srq_num(srq_.get(), &srqn_), 0, "ibv_get_srq_num");
	for (uint64_t id = 0; id < depth; id++)
		post_recv(id);
}

void bait::modify(ibv_qp_attr &attr, int mask, const char *what)
{
	check_equal(ibv_modify_qp(qp_.get(), &attr, mask), 0, what);
}

/* From RESET to RTS, of a target to RTR. */
void bait::connect()
{
	const bool ud = type_ == IBV_QPT_UD, uc = type_ == IBV_QPT_UC;
	const bool ini = type_ == IBV_QPT_XRC_SEND;
	const int access = uc ? IBV_ACCESS_REMOTE_WRITE : all_access;
	ibv_qp_attr attr{};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qkey = bait_qkey;
	attr.qp_access_flags = ini ? 0 : access;
	modify(attr,
	       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
	       "INIT");
	if (!srq_ && !ini)
		for (uint64_t id = 0; id < depth; id++)
			post_recv(id);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = 0x4242;
	attr.rq_psn = (0xfffff0 + qpn() % 32) & 0xffffff;
	attr.max_dest_rd_atomic = 4;
	attr.ah_attr = path_to(peer_, on_.gid_index);
	modify(attr,
	       IBV_QP_STATE |
		       (ud ? 0 :
			     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN) |
		       (ud || uc || ini ? 0 :
					  IBV_QP_MAX_DEST_RD_ATOMIC |
						  IBV_QP_MIN_RNR_TIMER),
	       "RTR");
	expected_ = attr.rq_psn;
	if (!has_sq())
		return;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = oldest_ = 0xfffffc;
	attr.timeout = 0; /* what is posted stays until a response comes */
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	modify(attr,
	       IBV_QP_STATE | IBV_QP_SQ_PSN |
		       (ud || uc ? 0 :
				   IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY |
					   IBV_QP_MAX_QP_RD_ATOMIC),
	       "RTS");
	if (has_requests())
		post_requests();
}

void bait::post_recv(uint64_t id)
{
	ibv_sge sge = { field_.address(field::received) + id * 2 * slot, slot,
			field_.received_mr->lkey };
	ibv_recv_wr wr{}, *bad;

	wr.wr_id = id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	check_equal(srq_ ? ibv_post_srq_recv(srq_.get(), &wr, &bad) :
			   ibv_post_recv(qp_.get(), &wr, &bad),
		    0, "post_recv");
}

/* Some that wait for responses, so that forged ones find something. */
void bait::post_requests()
{
	const ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_READ,
					  IBV_WR_ATOMIC_FETCH_AND_ADD,
					  IBV_WR_RDMA_WRITE };
	ibv_sge sge = { field_.address(field::open), 3000,
			field_.open_mr->lkey };

	for (ibv_wr_opcode opcode : opcodes) {
		ibv_send_wr wr{}, *bad;

		wr.wr_id = depth;
		wr.opcode = opcode;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.send_flags = IBV_SEND_SIGNALED;
		if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
			sge.length = 8;
		if (type_ == IBV_QPT_XRC_SEND)
			wr.qp_type.xrc.remote_srqn = 1;
		check_equal(ibv_post_send(qp_.get(), &wr, &bad), 0,
			    "ibv_post_send");
		sge.length = 3000;
	}
	pending_ = std::size(opcodes);
}

void bait::drain()
{
	ibv_wc wc;

	while (ibv_poll_cq(cq_.get(), 1, &wc) > 0) {
		if (wc.wr_id == depth) {
			pending_--;
		} else if (wc.status != IBV_WC_WR_FLUSH_ERR) {
			receives_++;
			post_recv(wc.wr_id);
		}
	}
}

void bait::revive()
{
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};

	drain();
	check_equal(ibv_query_qp(qp_.get(), &attr, IBV_QP_STATE, &init), 0,
		    "ibv_query_qp");
	expected_ = attr.rq_psn;
	if (attr.qp_state == (has_sq() ? IBV_QPS_RTS : IBV_QPS_RTR) &&
	    (!has_requests() || pending_))
		return;
	deaths_++;
	attr = {};
	attr.qp_state = IBV_QPS_RESET;
	modify(attr, IBV_QP_STATE, "RESET");
	drain();
	connect();
}

void bait::join(const ibv_gid &group)
{
	check_equal(ibv_attach_mcast(qp_.get(), &group, 0), 0,
		    "ibv_attach_mcast");
}
