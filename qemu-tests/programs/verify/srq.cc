// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues: several QPs of the server take from one. */

#include <cerrno>

#include "tests.h"

namespace
{

class srq : public verify {};

constexpr uint64_t depth = 16;
constexpr size_t slot = 8192;

/* An SRQ of the server and the memory of its receives. */
struct shared {
	explicit shared(port &p)
		: on(p)
		, buffer(4 * depth * slot)
		, mr(ibv_reg_mr(p.pd.get(), buffer.bytes().data(),
				buffer.bytes().size(), all_access))
	{
		ibv_srq_init_attr init{};

		init.attr.max_wr = depth;
		init.attr.max_sge = 2;
		srq.reset(ibv_create_srq(p.pd.get(), &init));
		check(mr && srq, "ibv_create_srq on " + p.name);
		check(init.attr.max_wr >= depth && init.attr.max_sge >= 2,
		      "SRQ is smaller than asked for");
		max_wr = init.attr.max_wr;
	}

	int try_post(uint64_t id, int num_sge = 1)
	{
		ibv_sge list[64] = { sge_of(id) };
		ibv_recv_wr wr{}, *bad = nullptr;

		wr.wr_id = id;
		wr.sg_list = list;
		wr.num_sge = num_sge;
		const int status = ibv_post_srq_recv(srq.get(), &wr, &bad);
		check(!status || bad == &wr, "bad_wr is not the bad one");
		return status;
	}
	void post(uint64_t id)
	{
		check_equal(try_post(id), 0, "ibv_post_srq_recv");
	}
	void limit(uint32_t value)
	{
		ibv_srq_attr attr{};

		attr.srq_limit = value;
		check_equal(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_LIMIT), 0,
			    "ibv_modify_srq");
	}
	[[nodiscard]] ibv_srq_attr query() const
	{
		ibv_srq_attr attr{};

		check_equal(ibv_query_srq(srq.get(), &attr), 0,
			    "ibv_query_srq");
		return attr;
	}
	[[nodiscard]] std::span<std::byte> place(uint64_t id, size_t size) const
	{
		return buffer.bytes().subspan(id % (4 * depth) * slot, size);
	}
	[[nodiscard]] ibv_sge sge_of(uint64_t id) const
	{
		return { reinterpret_cast<uint64_t>(place(id, slot).data()),
			 slot, mr->lkey };
	}

	port &on;
	memory buffer;
	mr_ptr mr;
	srq_ptr srq;
	uint32_t max_wr;
};

options of(const shared &s, ibv_qp_type type = IBV_QPT_RC)
{
	options o;

	o.type = type;
	o.srq = s.srq.get();
	return o;
}

/* One message of @size bytes whose bytes say who sent it. */
void send(endpoint &from, uint64_t id, size_t size)
{
	fill(from.at(0, size), static_cast<uint32_t>(id));
	from.post(request(IBV_WR_SEND, id), { from.sge(0, size) });
	(void)from.sent(id);
}

void check_received(shared &s, endpoint &at, uint64_t id, size_t size)
{
	const ibv_wc wc = at.received(id);

	check_equal(wc.byte_len, size, "length");
	check_fill(s.place(id, size), static_cast<uint32_t>(id), "message");
}

/* WQEs are taken in the order in which they were posted, whoever takes them. */
TEST_F(srq, srq_in_order)
{
	shared s(on.server);
	pair a(on.client, on.server, of(s)), b(on.client, on.server, of(s));
	uint64_t posted = 0;

	while (posted < depth)
		s.post(posted++);
	for (uint64_t id = 0; id < 10 * depth; id++) {
		pair &p = id * 7 % 3 ? a : b;
		const size_t size = 1 + id * 97 % 5000;

		send(p.client, id, size);
		check_received(s, p.server, id, size);
		s.post(posted++);
	}
	a.server.nothing_more();
	b.server.nothing_more();
}

/* Many messages at once on both QPs: each WQE is used once, none is lost. */
TEST_F(srq, srq_crowd)
{
	shared s(on.server);
	pair a(on.client, on.server, of(s)), b(on.client, on.server, of(s));
	std::vector<int> seen(10 * depth);
	uint64_t posted = 0, sent = 0, done = 0, got = 0;
	ibv_wc wc;

	fill(a.client.at(0, slot), 1);
	fill(b.client.at(0, slot), 1);
	while (posted < depth / 2)
		s.post(posted++);
	while (got < seen.size() || done < seen.size()) {
		pair &p = sent & 1 ? a : b;

		if (sent < seen.size() && sent - done < 32) {
			p.client.post(request(IBV_WR_SEND, sent++),
				      { p.client.sge(0, 3000) });
		}
		for (pair *q : { &a, &b }) {
			if (ibv_poll_cq(q->client.send_cq.get(), 1, &wc) > 0) {
				check_wc(wc, IBV_WC_SUCCESS, "send");
				done++;
			}
			if (ibv_poll_cq(q->server.recv_cq.get(), 1, &wc) > 0) {
				check_wc(wc, IBV_WC_SUCCESS, "receive");
				check_equal(seen.at(wc.wr_id)++, 0, "twice");
				check_fill(s.place(wc.wr_id, 3000), 1, "bytes");
				got++;
				if (posted < seen.size())
					s.post(posted++);
			}
		}
	}
}

TEST_F(srq, srq_datagrams)
{
	shared s(on.server);
	pair p(on.client, on.server, of(s, IBV_QPT_UD));
	ibv_ah_attr attr = path_to(on.server.gid, on.client.gid_index);

	ah_ptr ah(ibv_create_ah(on.client.pd.get(), &attr));
	check(ah != nullptr, "ibv_create_ah");
	for (uint64_t id = 0; id < 3 * depth; id++) {
		ibv_send_wr wr = request(IBV_WR_SEND, id);

		s.post(id);
		fill(p.client.at(0, 500), static_cast<uint32_t>(id));
		wr.wr.ud.ah = ah.get();
		wr.wr.ud.remote_qpn = p.server.qp->qp_num;
		wr.wr.ud.remote_qkey = ud_qkey;
		p.client.post(wr, { p.client.sge(0, 500) });
		(void)p.client.sent(id);
		check_equal(p.server.received(id).byte_len, 540u, "length");
		check_fill(s.place(id, 540).subspan(40),
			   static_cast<uint32_t>(id), "datagram");
	}
}

/* WRITE with immediate data takes a WQE as well. */
TEST_F(srq, srq_write_imm)
{
	shared s(on.server);
	pair p(on.client, on.server, of(s));

	for (uint64_t id = 0; id < 2 * depth; id++) {
		ibv_send_wr wr =
			rdma(IBV_WR_RDMA_WRITE_WITH_IMM, id, p.server, 0);

		s.post(id);
		wr.imm_data = static_cast<uint32_t>(id);
		p.client.post(wr, { p.client.sge(0, 100) });
		(void)p.client.sent(id);
		const ibv_wc wc = p.server.received(id);
		check_equal(wc.imm_data, id, "immediate data");
		check_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM, "opcode");
	}
}

/* IBTA 9.7.5.2.8 */
TEST_F(srq, srq_empty)
{
	shared s(on.server);
	pair p(on.client, on.server, of(s));
	ibv_wc wc;

	fill(p.client.at(0, 3000), 0);
	p.client.post(request(IBV_WR_SEND, 0), { p.client.sge(0, 3000) });
	check(!endpoint::wait_for(p.client.send_cq.get(), 20, wc),
	      "sent without a receive");
	s.post(0);
	(void)p.client.sent(0);
	check_received(s, p.server, 0, 3000);
}

TEST_F(srq, srq_empty_exhausts_rnr)
{
	shared s(on.server);
	options o = of(s);

	o.rnr_retry = 1;
	pair p(on.client, on.server, o);
	p.client.post(request(IBV_WR_SEND, 0), { p.client.sge(0, 10) });
	check_wc(p.client.wait_send(), IBV_WC_RNR_RETRY_EXC_ERR, "send");
	p.client.wait_state(IBV_QPS_ERR);
}

TEST_F(srq, srq_limit)
{
	need_ornic_server(on);
	shared s(on.server);
	pair p(on.client, on.server, of(s));
	uint64_t id = 0;

	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 4; i++)
			s.post(id + i);
		s.limit(3);
		check_equal(s.query().srq_limit, 3u, "limit");
		send(p.client, id, 10);
		check_received(s, p.server, id++, 10);
		expect_no_event(on.server);
		send(p.client, id, 10);
		check_received(s, p.server, id++, 10);
		expect_event(on.server, IBV_EVENT_SRQ_LIMIT_REACHED,
			     s.srq.get());
		check_equal(s.query().srq_limit, 0u, "limit after the event");
		for (int i = 0; i < 2; i++) {
			send(p.client, id, 10);
			check_received(s, p.server, id++, 10);
		}
		expect_no_event(on.server);
	}
	/* Armed too late, which must not be missed. */
	s.limit(1);
	expect_event(on.server, IBV_EVENT_SRQ_LIMIT_REACHED, s.srq.get());
}

/* IBTA 10.3.1: the QP that ends says so; the others go on. */
TEST_F(srq, srq_last_wqe)
{
	need_ornic_server(on);
	shared s(on.server);
	pair a(on.client, on.server, of(s)), b(on.client, on.server, of(s));

	for (uint64_t id = 0; id < depth; id++)
		s.post(id);
	send(a.client, 0, 10);
	check_received(s, a.server, 0, 10);
	a.server.to_error();
	expect_event(on.server, IBV_EVENT_QP_LAST_WQE_REACHED,
		     a.server.qp.get());
	a.server.nothing_more();
	for (uint64_t id = 1; id < depth; id++) {
		send(b.client, id, 10);
		check_received(s, b.server, id, 10);
	}
}

/* A message too long ends its QP, takes one WQE, and no other QP sees it. */
TEST_F(srq, srq_too_long)
{
	need_ornic_server(on);
	shared s(on.server);
	pair a(on.client, on.server, of(s)), b(on.client, on.server, of(s));

	s.post(0);
	s.post(1);
	a.client.post(request(IBV_WR_SEND, 0), { a.client.sge(0, slot + 1) });
	check_wc(a.client.wait_send(), IBV_WC_REM_INV_REQ_ERR, "send");
	check_wc(a.server.wait_recv(), IBV_WC_LOC_LEN_ERR, "receive");
	expect_event(on.server, IBV_EVENT_QP_LAST_WQE_REACHED,
		     a.server.qp.get());
	send(b.client, 1, 10);
	check_received(s, b.server, 1, 10);
}

/* QPs come and go in the middle of messages: no slot of the ring is lost. */
TEST_F(srq, srq_qps_come_and_go)
{
	need_ornic_server(on);
	shared s(on.server);

	for (uint64_t round = 0; round < 3 * depth; round++) {
		pair p(on.client, on.server, of(s));

		while (s.try_post(round) == 0)
			;
		p.client.post(request(IBV_WR_SEND, 0),
			      { p.client.sge(0, slot) });
		p.server.qp.reset();
	}
	pair p(on.client, on.server, of(s));
	while (s.try_post(1) == 0)
		;
	send(p.client, 1, 10);
	check_wc(p.server.wait_recv(), IBV_WC_SUCCESS, "receive");
	check_equal(s.try_post(1), 0, "room for one");
	check_equal(s.try_post(1), ENOMEM, "room for two");
}

int resize(const shared &s, uint32_t max_wr)
{
	ibv_srq_attr attr{};

	attr.max_wr = max_wr;
	return ibv_modify_srq(s.srq.get(), &attr, IBV_SRQ_MAX_WR);
}

/* IBTA 11.2.3.3: while messages come, and nothing that was posted is lost. */
TEST_F(srq, srq_resized)
{
	need_ornic_server(on);
	shared s(on.server);
	pair p(on.client, on.server, of(s));
	uint64_t posted = 0, sent = 0, done = 0, got = 0;
	const uint64_t all = 40 * depth;
	ibv_wc wc;

	fill(p.client.at(0, slot), 1);
	while (got < all || done < all) {
		while (posted < all && posted - got < depth)
			s.post(posted++);
		if (posted % (3 * depth) == 0)
			check_equal(resize(s, posted / (3 * depth) % 2 ?
						      2 * depth :
						      depth),
				    0, "resize");
		if (sent < all && sent - done < 32) {
			p.client.post(request(IBV_WR_SEND, sent++),
				      { p.client.sge(0, 2000) });
		}
		if (ibv_poll_cq(p.client.send_cq.get(), 1, &wc) > 0) {
			check_wc(wc, IBV_WC_SUCCESS, "send");
			done++;
		}
		if (ibv_poll_cq(p.server.recv_cq.get(), 1, &wc) > 0) {
			check_wc(wc, IBV_WC_SUCCESS, "receive");
			check_equal(wc.wr_id, got++, "order");
			check_fill(s.place(wc.wr_id, 2000), 1, "bytes");
		}
	}
}

TEST_F(srq, srq_resize_refusals)
{
	need_ornic_server(on);
	shared s(on.server);
	const uint32_t most =
		static_cast<uint32_t>(on.server.limits.max_srq_wr);

	check(on.server.limits.device_cap_flags & IBV_DEVICE_SRQ_RESIZE,
	      "IBV_DEVICE_SRQ_RESIZE");
	for (uint64_t id = 0; id < depth; id++)
		s.post(id);
	check_equal(resize(s, 0), EINVAL, "no WRs");
	check_equal(resize(s, most + 1), EINVAL, "more than the device has");
	check_equal(resize(s, depth / 2), EINVAL, "less than is posted");
	check_equal(s.query().max_wr, s.max_wr, "max_wr");
	check_equal(resize(s, 4 * depth), 0, "four times as many");
	check_equal(s.query().max_wr, 4 * depth, "max_wr");
	for (uint64_t id = depth; id < 4 * depth; id++)
		s.post(id);
	check_equal(s.try_post(0), ENOMEM, "a full ring");
	s.limit(4 * depth);
}

TEST_F(srq, srq_resize_and_limit)
{
	need_ornic_server(on);
	shared s(on.server);
	const int both = IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT;
	ibv_srq_attr attr{};

	for (uint64_t id = 0; id < depth; id++)
		s.post(id);
	attr.max_wr = 2 * depth;
	attr.srq_limit = 2 * depth + 1;
	check_equal(ibv_modify_srq(s.srq.get(), &attr, both), EINVAL,
		    "limit above the new size");
	check_equal(ibv_modify_srq(s.srq.get(), &attr, both | 1 << 7),
		    EOPNOTSUPP, "unknown attribute");
	check_equal(s.query().max_wr, s.max_wr, "max_wr");
	attr.srq_limit = depth;
	check_equal(ibv_modify_srq(s.srq.get(), &attr, both), 0, "both");
	check_equal(s.query().max_wr, 2 * depth, "new max_wr");
	check_equal(s.query().srq_limit, depth, "limit");
}

TEST_F(srq, srq_refusals)
{
	need_ornic_server(on);
	shared s(on.server);
	const ibv_device_attr &most = on.server.limits;
	ibv_srq_init_attr init{};
	ibv_srq_attr attr{};

	check_equal(s.try_post(0, 65), EINVAL, "too many SGEs");
	for (uint64_t id = 0; id < s.max_wr; id++)
		s.post(id);
	check_equal(s.try_post(0), ENOMEM, "a full ring");
	attr.srq_limit = s.max_wr + 1;
	check_equal(ibv_modify_srq(s.srq.get(), &attr, IBV_SRQ_LIMIT), EINVAL,
		    "limit above the size");
	check_equal(s.query().max_wr, s.max_wr, "max_wr");
	init.attr = { static_cast<uint32_t>(most.max_srq_wr) + 1, 1, 0 };
	check(!ibv_create_srq(on.server.pd.get(), &init) && errno == EINVAL,
	      "more WRs than the device has");
	init.attr = { 1, static_cast<uint32_t>(most.max_srq_sge) + 1, 0 };
	check(!ibv_create_srq(on.server.pd.get(), &init) && errno == EINVAL,
	      "more SGEs than the device has");
	init.attr = { 0, 1, 0 };
	check(!ibv_create_srq(on.server.pd.get(), &init) && errno == EINVAL,
	      "no WRs");
}

TEST_F(srq, srq_busy)
{
	need_ornic_server(on);
	shared s(on.server);
	endpoint e(on.server, of(s));
	ibv_recv_wr wr{}, *bad = nullptr;

	check_equal(e.cap.max_recv_wr, 0u, "max_recv_wr of a QP with an SRQ");
	e.to_init();
	check_equal(ibv_post_recv(e.qp.get(), &wr, &bad), EINVAL,
		    "ibv_post_recv to a QP with an SRQ");
	check_equal(ibv_destroy_srq(s.srq.get()), EBUSY, "destroy in use");
	s.post(0);
	e.qp.reset();
	check_equal(ibv_destroy_srq(s.srq.release()), 0, "destroy");
}

} /* namespace */
