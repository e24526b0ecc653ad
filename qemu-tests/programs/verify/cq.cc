// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues: another size under traffic, and overflow. */

#include <poll.h>

#include <cerrno>
#include <cstdlib>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests.h"

namespace
{

class cq : public verify {};

/* What rxe does with its CQs is not ours to judge. */
void resize(ibv_cq *cq, int cqe)
{
	check_equal(ibv_resize_cq(cq, cqe), 0, "ibv_resize_cq");
	check(cq->cqe >= cqe, "the CQ is smaller than asked for");
}

/* Sends until @until, @ahead of what has completed, checking each completion. */
class sender {
public:
	explicit sender(endpoint &from)
		: from_(from)
	{
	}

	void step(uint64_t until, uint64_t ahead)
	{
		ibv_wc wc;

		if (sent_ < until && sent_ - done_ < ahead)
			from_.post(request(IBV_WR_RDMA_WRITE, sent_++), {});
		if (ibv_poll_cq(from_.send_cq.get(), 1, &wc) > 0) {
			check_wc(wc, IBV_WC_SUCCESS, "write");
			check_equal(wc.wr_id, done_++, "order of completions");
		}
	}
	[[nodiscard]] uint64_t done() const
	{
		return done_;
	}

private:
	endpoint &from_;
	uint64_t sent_ = 0, done_ = 0;
};

/* Each CQE comes once and in order, whatever size the CQ has meanwhile. */
TEST_F(cq, cq_resize_under_traffic)
{
	need_ornic(on);
	static constexpr int sizes[] = { 64, 200, 65, 1000, 64, 128 };
	options o;
	pair p(on.client, on.server, o);
	sender s(p.client);
	uint64_t until = 0;

	for (int round = 0; round < 60; round++) {
		until += 40;
		while (s.done() + 20 < until)
			s.step(until, 32);
		resize(p.client.send_cq.get(), sizes[round % 6]);
	}
	while (s.done() < until)
		s.step(until, 32);
	p.client.nothing_more();
}

/* The same with another thread that resizes while this one polls. */
TEST_F(cq, cq_resize_beside_a_poller)
{
	need_ornic(on);
	pair p(on.client, on.server);
	sender s(p.client);
	std::atomic<bool> stop{ false };
	std::atomic<int> failed{ 0 }, resized{ 0 };
	std::thread resizer([&] {
		for (int i = 0; !stop; i++) {
			if (ibv_resize_cq(p.client.send_cq.get(),
					  i & 1 ? 64 : 500))
				failed++;
			resized++;
			std::this_thread::yield();
		}
	});

	try {
		while (s.done() < 3000 || resized < 20)
			s.step(UINT64_MAX, 32);
	} catch (...) {
		stop = true;
		resizer.join();
		throw;
	}
	stop = true;
	resizer.join();
	check_equal(failed.load(), 0, "failed ibv_resize_cq");
}

/* An armed CQ stays armed, and its event comes from the new memory. */
TEST_F(cq, cq_resize_keeps_arming)
{
	need_ornic(on);
	options o;
	o.channel = true;
	pair p(on.client, on.server, o);
	ibv_cq *cq = p.server.recv_cq.get();
	ibv_cq *from = nullptr;
	void *context = nullptr;

	for (uint64_t id = 0; id < 4; id++) {
		p.server.post_recv(id, 0, 100);
		check_equal(ibv_req_notify_cq(cq, 0), 0, "ibv_req_notify_cq");
		resize(cq, id & 1 ? 128 : 1000);
		p.client.post(request(IBV_WR_SEND, id),
			      { p.client.sge(0, 10) });
		check(!ibv_get_cq_event(p.server.channel.get(), &from,
					&context) &&
			      from == cq,
		      "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		(void)p.server.received(id);
		(void)p.client.sent(id);
	}
}

TEST_F(cq, cq_resize_refusals)
{
	need_ornic(on);
	pair p(on.client, on.server);
	ibv_cq *cq = p.client.send_cq.get();

	for (uint64_t id = 0; id < 5; id++)
		p.client.post(rdma(IBV_WR_RDMA_WRITE, id, p.server, 0),
			      { p.client.sge(0, 10) });
	p.server.post_recv(0, 0, 10);
	p.client.post_recv(0, 0, 10);
	p.client.post(request(IBV_WR_SEND, 5), { p.client.sge(0, 10) });
	(void)p.server.received(0);
	/* What the server sends now comes behind its acknowledgements. */
	p.server.post(request(IBV_WR_SEND, 0), { p.server.sge(0, 10) });
	(void)p.client.received(0);
	check_equal(ibv_resize_cq(cq, 4), EINVAL, "too small for what waits");
	check_equal(ibv_resize_cq(cq, 0), EINVAL, "no CQEs");
	check_equal(ibv_resize_cq(cq, on.client.limits.max_cqe + 1), EINVAL,
		    "more than the device has");
	for (uint64_t id = 0; id < 6; id++)
		(void)p.client.sent(id);
	p.client.nothing_more();
}

/*
 * A CQ of as many CQEs as the device says there can be. FULL=1 goes round it
 * once; else the first ones do.
 */
TEST_F(cq, cq_deepest)
{
	need_ornic(on);
	pair p(on.client, on.server);
	ibv_cq *cq = p.client.send_cq.get();
	const char *full = std::getenv("FULL");
	const uint64_t depth = static_cast<uint64_t>(on.client.limits.max_cqe);
	const uint64_t count = full && *full == '1' ? depth + 1000 : 1000;
	const uint64_t batch = p.client.opt.depth / 2;

	check(depth >= 4194303, "max_cqe is below mlx5's");
	check_equal(ibv_resize_cq(cq, on.client.limits.max_cqe), 0,
		    "ibv_resize_cq");
	check(static_cast<uint64_t>(cq->cqe) >= depth, "cqe");
	for (uint64_t id = 0; id < count; id += batch) {
		for (uint64_t i = id; i < id + batch; i++)
			p.client.post(rdma(IBV_WR_RDMA_WRITE, i, p.server, 0),
				      { p.client.sge(0, 0) });
		for (uint64_t i = id; i < id + batch; i++)
			(void)p.client.sent(i);
	}
	p.client.nothing_more();
	check_equal(ibv_resize_cq(cq, 16), 0, "ibv_resize_cq to 16");
}

/*
 * What does not fit is lost, says CQ_ERR once, and overwrites nothing; the QP
 * does not outlive its CQ.
 */
TEST_F(cq, cq_overflow)
{
	need_ornic(on);
	options o;
	o.depth = 16;
	pair p(on.client, on.server, o);
	ibv_wc wc;

	resize(p.client.send_cq.get(), 4);
	for (uint64_t id = 0; id < 16; id++)
		p.client.post(rdma(IBV_WR_RDMA_WRITE, id, p.server, 0),
			      { p.client.sge(0, 10) });
	expect_event(on.client, IBV_EVENT_CQ_ERR, p.client.send_cq.get());
	expect_event(on.client, IBV_EVENT_QP_FATAL, p.client.qp.get());
	p.client.wait_state(IBV_QPS_ERR);
	for (uint64_t id = 0; id < 4; id++)
		(void)p.client.sent(id);
	check_equal(ibv_poll_cq(p.client.send_cq.get(), 1, &wc), 0,
		    "completions after the overflow");
	expect_no_event(on.client);
	check_equal(ibv_resize_cq(p.client.send_cq.get(), 64), EINVAL,
		    "ibv_resize_cq after the overflow");
}

bool has_event(endpoint &at, int ms)
{
	pollfd fd = { at.channel->fd, POLLIN, 0 };

	return poll(&fd, 1, ms) == 1;
}

void take_event(endpoint &at)
{
	ibv_cq *cq = nullptr;
	void *context = nullptr;

	check(has_event(at, timeout_ms()), "no completion event");
	check(!ibv_get_cq_event(at.channel.get(), &cq, &context) &&
		      cq == at.recv_cq.get(),
	      "event of another CQ");
	ibv_ack_cq_events(cq, 1);
}

void moderate(ibv_cq *cq, uint16_t count, uint16_t period)
{
	ibv_modify_cq_attr attr{};

	attr.attr_mask = IBV_CQ_ATTR_MODERATE;
	attr.moderate.cq_count = count;
	attr.moderate.cq_period = period;
	check_equal(ibv_modify_cq(cq, &attr), 0, "ibv_modify_cq");
}

void send_to(pair &p, uint64_t id)
{
	p.server.post_recv(id, 0, 100);
	p.client.post(request(IBV_WR_SEND, id), { p.client.sge(0, 10) });
	(void)p.client.sent(id);
	(void)p.server.received(id);
}

/* An event for each so many completions, or when the period is over. */
TEST_F(cq, cq_moderation)
{
	need_ornic(on);
	options o;
	o.channel = true;
	pair p(on.client, on.server, o);
	ibv_cq *cq = p.server.recv_cq.get();

	moderate(cq, 4, 0);
	for (int round = 0; round < 3; round++) {
		check_equal(ibv_req_notify_cq(cq, 0), 0, "arm");
		for (uint64_t id = 0; id < 3; id++)
			send_to(p, id);
		check(!has_event(p.server, 0), "event before the count");
		send_to(p, 3);
		take_event(p.server);
	}
	moderate(cq, 1000, 50000);
	check_equal(ibv_req_notify_cq(cq, 0), 0, "arm");
	send_to(p, 0);
	take_event(p.server);
	moderate(cq, 1000, 0);
	check_equal(ibv_req_notify_cq(cq, 0), 0, "arm");
	send_to(p, 0);
	check(!has_event(p.server, 0), "event before the count");
	moderate(cq, 0, 0);
	take_event(p.server);
}

/* A CQ on each vector; each channel gets the events of its own. */
TEST_F(cq, cq_vectors)
{
	need_ornic(on);
	const int count = on.server.context->num_comp_vectors;
	std::vector<std::unique_ptr<pair>> pairs;

	/* There is one for each CPU. */
	if (count < 2)
		skip("one completion vector only");
	for (int v = 0; v < count && v < 4; v++) {
		options o;
		o.channel = true;
		o.vector = v;
		pairs.push_back(
			std::make_unique<pair>(on.client, on.server, o));
	}
	for (auto &p : pairs)
		check_equal(ibv_req_notify_cq(p->server.recv_cq.get(), 0), 0,
			    "arm");
	for (auto &p : pairs) {
		send_to(*p, 7);
		take_event(p->server);
		for (auto &other : pairs)
			check(!has_event(other->server, 0),
			      "event of another CQ");
	}
	check(!ibv_create_cq(on.server.context.get(), 10, nullptr, nullptr,
			     count),
	      "a CQ on a vector that does not exist");
}

/* The clock that makes timestamps can be read, and does not go back. */
TEST_F(cq, cq_clock)
{
	need_ornic(on);
	ibv_values_ex before{}, after{};

	before.comp_mask = after.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	check_equal(ibv_query_rt_values_ex(on.client.context.get(), &before), 0,
		    "ibv_query_rt_values_ex");
	check_equal(ibv_query_rt_values_ex(on.client.context.get(), &after), 0,
		    "ibv_query_rt_values_ex");
	check(before.raw_clock.tv_nsec > 0 &&
		      after.raw_clock.tv_nsec >= before.raw_clock.tv_nsec,
	      "the clock");
}

} /* namespace */
