// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* XRC: initiators of the client, targets and SRQs of the server. */

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests.h"

namespace
{

class xrc : public verify {};

constexpr uint64_t depth = 16;
constexpr size_t slot = 8192;

using xrcd_ptr = owned<ibv_xrcd, ibv_close_xrcd>;

void need_xrc(const ports &on)
{
	for (const port *p : { &on.client, &on.server })
		if (!(p->limits.device_cap_flags & IBV_DEVICE_XRC))
			skip(p->name + " has no XRC");
}

xrcd_ptr open_domain(port &p, int fd = -1)
{
	ibv_xrcd_init_attr attr{};

	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = fd;
	attr.oflags = O_CREAT;
	xrcd_ptr xrcd(ibv_open_xrcd(p.context.get(), &attr));
	check(xrcd != nullptr,
	      "ibv_open_xrcd: " + std::string(std::strerror(errno)));
	return xrcd;
}

/* Memory of one side, with a pattern or without one. */
struct region {
	explicit region(port &p)
		: bytes(4 * depth * slot)
		, mr(ibv_reg_mr(p.pd.get(), bytes.bytes().data(),
				bytes.bytes().size(), all_access))
	{
		check(mr != nullptr, "MR on " + p.name);
	}
	[[nodiscard]] std::span<std::byte> at(uint64_t n, size_t size) const
	{
		return bytes.bytes().subspan(n % (4 * depth) * slot, size);
	}
	[[nodiscard]] ibv_sge sge(uint64_t n, size_t size) const
	{
		return { reinterpret_cast<uint64_t>(at(n, size).data()),
			 static_cast<uint32_t>(size), mr->lkey };
	}

	memory bytes;
	mr_ptr mr;
};

/* An SRQ of a domain with the CQ of what is taken from it. */
struct xsrq {
	xsrq(port &p, ibv_xrcd *xrcd)
		: cq(ibv_create_cq(p.context.get(), 8 * depth, nullptr, nullptr,
				   0))
	{
		ibv_srq_init_attr_ex attr{};

		attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				 IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		attr.srq_type = IBV_SRQT_XRC;
		attr.pd = p.pd.get();
		attr.xrcd = xrcd;
		attr.cq = cq.get();
		attr.attr.max_wr = depth;
		attr.attr.max_sge = 2;
		srq.reset(ibv_create_srq_ex(p.context.get(), &attr));
		check(srq != nullptr,
		      "ibv_create_srq_ex: " +
			      std::string(std::strerror(errno)));
		check_equal(ibv_get_srq_num(srq.get(), &number), 0,
			    "ibv_get_srq_num");
		check(number != 0, "SRQ number");
	}
	void post(uint64_t id, ibv_sge sge)
	{
		ibv_recv_wr wr{}, *bad = nullptr;

		wr.wr_id = id;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		check_equal(ibv_post_srq_recv(srq.get(), &wr, &bad), 0,
			    "ibv_post_srq_recv");
	}

	cq_ptr cq;
	srq_ptr srq;
	uint32_t number = 0;
};

void modify(ibv_qp *qp, ibv_qp_attr &attr, int mask, const char *what)
{
	check_equal(ibv_modify_qp(qp, &attr, mask), 0, what);
}

/* Each end in each state has half of what RC has, IBTA A14.5. */
void to_rts(ibv_qp *qp, port &at, port &peer, uint32_t peer_qpn)
{
	const bool ini = qp->qp_type == IBV_QPT_XRC_SEND;
	ibv_qp_attr attr{};

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = ini ? 0 : all_access;
	modify(qp, attr,
	       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       IBV_QP_ACCESS_FLAGS,
	       "modify to INIT");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer_qpn;
	attr.rq_psn = 0xfffffe;
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 1;
	attr.ah_attr = path_to(peer.gid, at.gid_index);
	modify(qp, attr,
	       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN |
		       (ini ? 0 :
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	       "modify to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0xfffffe;
	attr.timeout = 17;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	modify(qp, attr,
	       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
		       (ini ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					IBV_QP_MAX_QP_RD_ATOMIC :
			      0),
	       "modify to RTS");
}

qp_ptr make_target(port &p, ibv_xrcd *xrcd)
{
	ibv_qp_init_attr_ex attr{};

	attr.qp_type = IBV_QPT_XRC_RECV;
	attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	attr.xrcd = xrcd;
	qp_ptr qp(ibv_create_qp_ex(p.context.get(), &attr));
	check(qp != nullptr, "target: " + std::string(std::strerror(errno)));
	return qp;
}

qp_ptr make_initiator(port &p, ibv_cq *cq)
{
	ibv_qp_init_attr_ex attr{};

	attr.qp_type = IBV_QPT_XRC_SEND;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	attr.pd = p.pd.get();
	attr.send_cq = cq;
	attr.cap.max_send_wr = 4 * depth;
	attr.cap.max_send_sge = 2;
	qp_ptr qp(ibv_create_qp_ex(p.context.get(), &attr));
	check(qp != nullptr, "initiator: " + std::string(std::strerror(errno)));
	return qp;
}

/* A connection, and two SRQs of the domain that it leads to. */
struct link {
	explicit link(const ports &p)
		: on(p)
		, domain(open_domain(p.server))
		, a(p.server, domain.get())
		, b(p.server, domain.get())
		, from(p.client)
		, to(p.server)
		, cq(ibv_create_cq(p.client.context.get(), 8 * depth, nullptr,
				   nullptr, 0))
		, initiator(make_initiator(p.client, cq.get()))
		, target(make_target(p.server, domain.get()))
	{
		to_rts(initiator.get(), on.client, on.server, target->qp_num);
		to_rts(target.get(), on.server, on.client, initiator->qp_num);
	}
	void post(ibv_wr_opcode opcode, uint64_t id, uint32_t srqn, size_t size)
	{
		ibv_send_wr wr = request(opcode, id), *bad = nullptr;
		ibv_sge sge = from.sge(id, size);

		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.imm_data = static_cast<uint32_t>(id);
		wr.qp_type.xrc.remote_srqn = srqn;
		wr.wr.rdma.remote_addr = to.sge(id, size).addr;
		wr.wr.rdma.rkey = to.mr->rkey;
		if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr.wr.atomic.remote_addr = to.sge(id, size).addr;
			wr.wr.atomic.rkey = to.mr->rkey;
			wr.wr.atomic.compare_add = id;
		}
		check_equal(ibv_post_send(initiator.get(), &wr, &bad), 0,
			    "ibv_post_send");
	}
	void sent(uint64_t id)
	{
		const ibv_wc wc = endpoint::wait(cq.get());

		check_wc(wc, IBV_WC_SUCCESS, "request");
		check_equal(wc.wr_id, id, "request");
	}
	void received(xsrq &at, uint64_t id, size_t size)
	{
		const ibv_wc wc = endpoint::wait(at.cq.get());

		check_wc(wc, IBV_WC_SUCCESS, "receive");
		check_equal(wc.wr_id, id, "receive");
		check_equal(wc.byte_len, size, "length");
		check_equal(wc.qp_num, target->qp_num, "QP");
	}

	const ports &on;
	xrcd_ptr domain;
	xsrq a, b;
	region from, to;
	cq_ptr cq;
	qp_ptr initiator, target;
};

/* Each message goes where it says, whatever went before. */
TEST_F(xrc, xrc_send)
{
	need_xrc(on);
	link l(on);

	for (uint64_t id = 0; id < 10 * depth; id++) {
		xsrq &at = id * 7 % 3 ? l.a : l.b;
		const size_t size = 1 + id * 97 % 5000;

		fill(l.from.at(id, size), static_cast<uint32_t>(id));
		clear(l.to.at(id, slot));
		at.post(id, l.to.sge(id, slot));
		l.post(IBV_WR_SEND, id, at.number, size);
		l.sent(id);
		l.received(at, id, size);
		check_fill(l.to.at(id, size), static_cast<uint32_t>(id),
			   "message");
	}
}

TEST_F(xrc, xrc_write)
{
	need_xrc(on);
	link l(on);

	for (uint64_t id = 0; id < 2 * depth; id++) {
		fill(l.from.at(id, slot), static_cast<uint32_t>(id));
		clear(l.to.at(id, slot));
		l.a.post(id, l.to.sge(0, 1));
		l.post(id & 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM,
		       id, l.a.number, slot);
		l.sent(id);
		check_fill(l.to.at(id, slot), static_cast<uint32_t>(id),
			   "WRITE");
		if (id & 1)
			continue;
		const ibv_wc wc = endpoint::wait(l.a.cq.get());
		check_equal(wc.imm_data, id, "immediate data");
		check_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM, "opcode");
	}
}

TEST_F(xrc, xrc_read_atomic)
{
	need_xrc(on);
	link l(on);
	uint64_t before = 0, value = 0;

	for (uint64_t id = 1; id < 2 * depth; id++) {
		fill(l.to.at(id, slot), static_cast<uint32_t>(id));
		clear(l.from.at(id, slot));
		l.post(IBV_WR_RDMA_READ, id, l.b.number, slot);
		l.sent(id);
		check_fill(l.from.at(id, slot), static_cast<uint32_t>(id),
			   "READ");
		clear(l.to.at(id, 8));
		std::memcpy(&before, l.to.at(id, 8).data(), 8);
		l.post(IBV_WR_ATOMIC_FETCH_AND_ADD, id, l.a.number, 8);
		l.sent(id);
		std::memcpy(&value, l.to.at(id, 8).data(), 8);
		check_equal(value, before + id, "sum");
	}
}

/* The same by ibv_wr_*, where the SRQ is set in a step of its own. */
TEST_F(xrc, xrc_by_steps)
{
	need_xrc(on);
	link l(on);
	ibv_qp_ex *qp = ibv_qp_to_qp_ex(l.initiator.get());

	for (uint64_t id = 0; id < depth; id++) {
		xsrq &at = id & 1 ? l.a : l.b;
		const ibv_sge sge = l.from.sge(id, 100);

		fill(l.from.at(id, 100), static_cast<uint32_t>(id));
		at.post(id, l.to.sge(id, slot));
		ibv_wr_start(qp);
		qp->wr_id = id;
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qp);
		ibv_wr_set_xrc_srqn(qp, at.number);
		ibv_wr_set_sge(qp, sge.lkey, sge.addr, sge.length);
		check_equal(ibv_wr_complete(qp), 0, "ibv_wr_complete");
		l.sent(id);
		l.received(at, id, 100);
		check_fill(l.to.at(id, 100), static_cast<uint32_t>(id),
			   "message");
	}
}

TEST_F(xrc, xrc_empty)
{
	need_xrc(on);
	link l(on);
	ibv_wc wc;

	fill(l.from.at(0, 3000), 0);
	l.post(IBV_WR_SEND, 0, l.a.number, 3000);
	check(!endpoint::wait_for(l.cq.get(), 20, wc),
	      "sent without a receive");
	l.a.post(0, l.to.sge(0, slot));
	l.sent(0);
	l.received(l.a, 0, 3000);
}

/* A number of no SRQ, and one of an SRQ in another domain, IBTA A14.3.4. */
TEST_F(xrc, xrc_foreign_srq)
{
	need_xrc(on);
	for (const bool exists : { false, true }) {
		link l(on);
		xrcd_ptr domain = open_domain(on.server);
		xsrq other(on.server, domain.get());

		other.post(0, l.to.sge(0, slot));
		l.post(IBV_WR_SEND, 0, exists ? other.number : 0xfffffe, 10);
		check_wc(endpoint::wait(l.cq.get()), IBV_WC_REM_INV_REQ_ERR,
			 "send to a foreign SRQ");
		check_equal(ibv_poll_cq(other.cq.get(), 1,
					std::vector<ibv_wc>(1).data()),
			    0, "receives of the other domain");
	}
}

/* A target lives as long as somebody has it open; domains by file are shared. */
TEST_F(xrc, xrc_opened)
{
	need_xrc(on);
	char name[] = "/tmp/ornic-xrcd-XXXXXX";
	const int fd = mkstemp(name);

	check(fd >= 0, "mkstemp");
	unlink(name);
	{
		link l(on);
		xrcd_ptr first = open_domain(on.server, fd);
		xrcd_ptr second = open_domain(on.server, fd);
		qp_ptr made = make_target(on.server, first.get());
		ibv_qp_open_attr attr{};

		attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
				 IBV_QP_OPEN_ATTR_TYPE;
		attr.qp_num = made->qp_num;
		attr.xrcd = second.get();
		attr.qp_type = IBV_QPT_XRC_RECV;
		qp_ptr again(ibv_open_qp(on.server.context.get(), &attr));
		check(again != nullptr,
		      "ibv_open_qp: " + std::string(std::strerror(errno)));
		made.reset();

		xsrq at(on.server, first.get());
		qp_ptr initiator = make_initiator(on.client, l.cq.get());
		to_rts(initiator.get(), on.client, on.server, again->qp_num);
		to_rts(again.get(), on.server, on.client, initiator->qp_num);
		l.initiator.swap(initiator);
		l.target.swap(again);
		fill(l.from.at(5, 100), 5);
		at.post(5, l.to.sge(5, slot));
		l.post(IBV_WR_SEND, 5, at.number, 100);
		l.sent(5);
		l.received(at, 5, 100);
		check_fill(l.to.at(5, 100), 5, "message");
		l.target.swap(again);
	}
	close(fd);
}

TEST_F(xrc, xrc_refusals)
{
	need_xrc(on);
	link l(on);
	ibv_recv_wr recv{}, *bad_recv = nullptr;
	ibv_send_wr send = request(IBV_WR_SEND, 0), *bad_send = nullptr;
	ibv_srq_init_attr init{};
	uint32_t number;

	check_equal(ibv_post_recv(l.initiator.get(), &recv, &bad_recv), EINVAL,
		    "ibv_post_recv to an initiator");
	check_equal(ibv_post_recv(l.target.get(), &recv, &bad_recv), EINVAL,
		    "ibv_post_recv to a target");
	check_equal(ibv_post_send(l.target.get(), &send, &bad_send), EINVAL,
		    "ibv_post_send to a target");
	check_equal(ibv_destroy_cq(l.a.cq.get()), EBUSY, "CQ of an SRQ");
	check_equal(ibv_close_xrcd(l.domain.get()), EBUSY, "domain in use");
	init.attr = { 1, 1, 0 };
	srq_ptr plain(ibv_create_srq(on.server.pd.get(), &init));
	check(plain != nullptr, "ibv_create_srq");
	check(ibv_get_srq_num(plain.get(), &number) != 0,
	      "number of an SRQ that is not XRC");
}

} /* namespace */
