// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RC: what completes, in which order, and who is told.
 */

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "tests.h"

namespace
{

class order : public verify {};

constexpr size_t slot = 3000;

/* IBTA C10-104: completions of a work queue come in the order of its posts. */
TEST_F(order, rc_mixed_in_order)
{
	constexpr uint32_t count = 300, depth = 48;
	pair p(on.client, on.server, { .depth = depth });
	uint32_t posted = 0, sent = 0, received = 0, expected_recvs = 0;

	fill(p.client.at(0, slot), 1);
	fill(p.server.at(slot, slot), 2);
	const auto post_next = [&](uint32_t i) {
		const ibv_sge data = p.client.sge(0, uint64_t{ i } * 37 % slot);

		switch (i % 4) {
		case 0:
			p.server.post_recv(expected_recvs++, 2 * slot, slot);
			p.client.post(request(IBV_WR_SEND, i), { data });
			break;
		case 1:
			p.client.post(rdma(IBV_WR_RDMA_WRITE, i, p.server,
					   3 * slot),
				      { data });
			break;
		case 2:
			p.client.post(rdma(IBV_WR_RDMA_READ, i, p.server, slot),
				      { p.client.sge(4 * slot, slot) });
			break;
		default:
			p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, i,
					     p.server, 1 << 20, 1),
				      { p.client.sge(6 * slot, 8) });
		}
	};
	while (sent < count) {
		while (posted < count && posted - sent < depth / 2)
			post_next(posted++);
		(void)p.client.sent(sent++);
		while (received < (sent + 3) / 4)
			(void)p.server.received(received++);
	}
	check_equal(received, expected_recvs, "receives");
	p.client.nothing_more();
	p.server.nothing_more();
}

TEST_F(order, rc_unsignalled)
{
	pair p(on.client, on.server);

	for (uint64_t i = 0; i < 31; i++)
		p.client.post(rdma(IBV_WR_RDMA_WRITE, i, p.server, i * 8, 0),
			      { p.client.sge(i * 8, 8) });
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 31, p.server, 0),
		      { p.client.sge(0, 8) });
	(void)p.client.sent(31);
	p.client.nothing_more();
}

/* The queue's slots of unsignalled requests come back, over many laps. */
TEST_F(order, rc_unsignalled_laps)
{
	pair p(on.client, on.server, { .depth = 16 });

	for (uint64_t i = 0; i < 2000; i++) {
		const bool last = i % 8 == 7;

		p.client.post(rdma(IBV_WR_RDMA_WRITE, i, p.server, 0,
				   last ? IBV_SEND_SIGNALED : 0),
			      { p.client.sge(0, 8) });
		if (last)
			(void)p.client.sent(i);
	}
	p.client.nothing_more();
}

TEST_F(order, rc_signal_all)
{
	pair p(on.client, on.server, { .sq_sig_all = true });

	for (uint64_t i = 0; i < 20; i++)
		p.client.post(rdma(IBV_WR_RDMA_WRITE, i, p.server, 0, 0),
			      { p.client.sge(0, 8) });
	for (uint64_t i = 0; i < 20; i++)
		(void)p.client.sent(i);
}

/* IBTA 10.8.3.3: a fenced request starts when all READs before it are done. */
TEST_F(order, rc_fence)
{
	pair p(on.client, on.server);

	for (uint32_t i = 1; i < 30; i++) {
		fill(p.server.at(0, 20000), i);
		clear(p.client.at(0, 20000));
		p.server.post_recv(i, 100000, 20000);
		p.client.post(rdma(IBV_WR_RDMA_READ, 1, p.server, 0),
			      { p.client.sge(0, 20000) });
		p.client.post(request(IBV_WR_SEND, 2,
				      IBV_SEND_SIGNALED | IBV_SEND_FENCE),
			      { p.client.sge(0, 20000) });
		(void)p.client.sent(1);
		(void)p.client.sent(2);
		(void)p.server.received(i);
		check_fill(p.server.at(100000, 20000), i, "read, then sent");
	}
}

bool has_event(const endpoint &e, int timeout_ms)
{
	pollfd fd = { e.channel->fd, POLLIN, 0 };

	return poll(&fd, 1, timeout_ms) == 1;
}

void take_event(const endpoint &e)
{
	ibv_cq *cq;
	void *context;

	check(has_event(e, timeout_ms()), "no completion event");
	check(!ibv_get_cq_event(e.channel.get(), &cq, &context), "get event");
	check(cq == e.recv_cq.get(), "event of another CQ");
	ibv_ack_cq_events(cq, 1);
}

void send_one(pair &p, uint64_t id, unsigned int flags)
{
	p.server.post_recv(id, 0, 64);
	p.client.post(request(IBV_WR_SEND, id, IBV_SEND_SIGNALED | flags),
		      { p.client.sge(0, 64) });
	(void)p.client.sent(id);
	(void)p.server.received(id);
}

TEST_F(order, rc_events)
{
	pair p(on.client, on.server, { .channel = true });

	for (uint64_t i = 0; i < 20; i++) {
		check(!ibv_req_notify_cq(p.server.recv_cq.get(), 0), "arm");
		check(!has_event(p.server, 0), "event before its time");
		send_one(p, i, 0);
		take_event(p.server);
		send_one(p, i, 0);
		check(!has_event(p.server, 0), "event without arming");
	}
}

TEST_F(order, rc_solicited)
{
	pair p(on.client, on.server, { .channel = true });

	check(!ibv_req_notify_cq(p.server.recv_cq.get(), 1), "arm");
	send_one(p, 1, 0);
	check(!has_event(p.server, 0), "event for an unsolicited message");
	send_one(p, 2, IBV_SEND_SOLICITED);
	take_event(p.server);
}

/* An error is an event even for those who wait for solicited ones. */
TEST_F(order, rc_solicited_error)
{
	pair p(on.client, on.server, { .channel = true });

	if (on.server.is_rxe)
		skip("rxe signals solicited messages only");
	check(!ibv_req_notify_cq(p.server.recv_cq.get(), 1), "arm");
	p.server.post_recv(1, 0, 64);
	p.server.to_error();
	check_wc(p.server.wait_recv(), IBV_WC_WR_FLUSH_ERR, "flushed receive");
	take_event(p.server);
}

/* Both send at once: each side's requester and responder share one QP. */
TEST_F(order, rc_both_ways)
{
	pair p(on.client, on.server);

	for (uint32_t i = 0; i < 100; i++) {
		fill(p.client.at(0, 9000), i);
		fill(p.server.at(0, 9000), i + 1);
		p.client.post_recv(i, 10000, 9000);
		p.server.post_recv(i, 10000, 9000);
		p.client.post(request(IBV_WR_SEND, i),
			      { p.client.sge(0, 9000) });
		p.server.post(request(IBV_WR_SEND, i),
			      { p.server.sge(0, 9000) });
		(void)p.client.sent(i);
		(void)p.server.sent(i);
		(void)p.client.received(i);
		(void)p.server.received(i);
		check_fill(p.server.at(10000, 9000), i, "client to server");
		check_fill(p.client.at(10000, 9000), i + 1, "server to client");
	}
}

/* One post call with a list of requests is the same as many calls. */
TEST_F(order, rc_list_of_requests)
{
	pair p(on.client, on.server);
	ibv_send_wr wr[8], *bad;
	ibv_sge sge[8];

	for (uint64_t i = 0; i < 8; i++) {
		fill(p.client.at(i * 5000, 5000), static_cast<uint32_t>(i));
		sge[i] = p.client.sge(i * 5000, 5000);
		wr[i] = rdma(IBV_WR_RDMA_WRITE, i, p.server, i * 5000);
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].next = i < 7 ? &wr[i + 1] : nullptr;
	}
	check_equal(ibv_post_send(p.client.qp.get(), wr, &bad), 0, "post");
	for (uint64_t i = 0; i < 8; i++)
		(void)p.client.sent(i);
	for (uint64_t i = 0; i < 8; i++)
		check_fill(p.server.at(i * 5000, 5000),
			   static_cast<uint32_t>(i), "list");
}

/* IBTA 10.3.1.5: RTS -> SQD drains, says so, and RTS goes on. */
TEST_F(order, rc_drain)
{
	pair p(on.client, on.server);
	ibv_qp_attr attr{};
	ibv_async_event event;
	pollfd fd = { on.client.context->async_fd, POLLIN, 0 };

	if (on.client.is_rxe)
		skip("rxe does not come back from SQD");
	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	check_equal(ibv_modify_qp(p.client.qp.get(), &attr,
				  IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		    0, "modify to SQD");
	check(poll(&fd, 1, timeout_ms()) == 1, "no IBV_EVENT_SQ_DRAINED");
	check(!ibv_get_async_event(on.client.context.get(), &event), "event");
	check_equal(event.event_type, IBV_EVENT_SQ_DRAINED, "event type");
	check(event.element.qp == p.client.qp.get(), "event of another QP");
	ibv_ack_async_event(&event);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
		      { p.client.sge(0, 8) });
	attr.qp_state = IBV_QPS_RTS;
	check_equal(ibv_modify_qp(p.client.qp.get(), &attr, IBV_QP_STATE), 0,
		    "modify SQD to RTS");
	(void)p.client.sent(1);
}

TEST_F(order, rc_query)
{
	pair p(on.client, on.server,
	       { .mtu = IBV_MTU_512,
		 .timeout = 11,
		 .retry = 5,
		 .rnr_retry = 3,
		 .min_rnr_timer = 9 });
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};

	check_equal(ibv_query_qp(p.client.qp.get(), &attr,
				 IBV_QP_STATE | IBV_QP_AV | IBV_QP_CAP, &init),
		    0, "ibv_query_qp");
	check_equal(attr.qp_state, IBV_QPS_RTS, "state");
	check_equal(attr.path_mtu, IBV_MTU_512, "path MTU");
	check_equal(attr.dest_qp_num, p.server.qp->qp_num, "destination QP");
	check_equal(attr.timeout, 11, "timeout");
	check_equal(attr.retry_cnt, 5, "retry count");
	check_equal(attr.rnr_retry, 3, "RNR retry count");
	check_equal(attr.min_rnr_timer, 9, "RNR timer");
	check_equal(attr.sq_psn, p.client.psn, "SQ PSN");
	check_equal(attr.rq_psn, p.server.psn, "RQ PSN");
	check(!std::memcmp(&attr.ah_attr.grh.dgid, &on.server.gid, 16),
	      "destination GID");
	check(init.cap.max_send_wr >= 64, "max_send_wr");
	check_equal(init.qp_type, IBV_QPT_RC, "QP type");
}

TEST_F(order, rc_many_qps)
{
	std::vector<std::unique_ptr<pair>> pairs;

	for (uint32_t i = 0; i < 64; i++)
		pairs.push_back(std::make_unique<pair>(
			on.client, on.server, options{ .buffer = 1 << 16 }));
	for (uint32_t lap = 0; lap < 4; lap++) {
		for (uint32_t i = 0; i < pairs.size(); i++) {
			pair &p = *pairs[i];

			fill(p.client.at(0, 5000), i + lap);
			p.server.post_recv(i, 8192, 5000);
			p.client.post(request(IBV_WR_SEND, i),
				      { p.client.sge(0, 5000) });
		}
		for (uint32_t i = 0; i < pairs.size(); i++) {
			(void)pairs[i]->client.sent(i);
			(void)pairs[i]->server.received(i);
			check_fill(pairs[i]->server.at(8192, 5000), i + lap,
				   "QP " + std::to_string(i));
		}
	}
}

} /* namespace */
