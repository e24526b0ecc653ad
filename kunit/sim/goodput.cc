// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "goodput.h"

#include <algorithm>

namespace sim
{

namespace
{

constexpr u32 under_way = 64; // messages
constexpr size_t in_ring = size_t{ under_way } * goodput_message; // bytes
constexpr u64 longest = 600ull * 1000000 * us; // virtual time

class connection {
public:
	explicit connection(const transfer &t)
		: t_(t)
		, wire_(t.path, t.seed)
	{
		wire_.trace(t.trace);
	}
	~connection()
	{
		wire_.drop_all();
		if (ornic_th_pair_fini(&pair_))
			abort();
	}
	connection(const connection &) = delete;
	connection &operator=(const connection &) = delete;

	achieved run();

private:
	bool make();
	void fill();
	void post();
	void post_recv();
	bool poll();
	void settle();
	u64 next_time();
	void check_data();
	void fail(const char *why)
	{
		if (out_.failure.empty())
			out_.failure = why;
	}

	transfer t_;
	wire wire_;
	ornic_th_pair pair_ = {};
	ornic_th_cq cq_[4] = {}; // a send, a recv, b send, b recv
	ornic_th_qp a_ = {}, b_ = {};
	ornic_th_mr am_ = {}, bm_ = {};
	u64 now_ = 1000000;
	u64 posted_ = 0, done_ = 0, received_ = 0;
	achieved out_;
};

bool connection::make()
{
	ornic_th_qpinit init = {};
	u32 bytes = under_way * goodput_message;

	if (ornic_th_pair_init(&pair_, t_.seed, false))
		return false;
	for (ornic_th *th : { pair_.a, pair_.b })
		if (ornic_engine_spray_set(th->eng, t_.spray))
			return false;
	for (int i = 0; i < 4; i++)
		if (ornic_th_cq_init(i < 2 ? pair_.a : pair_.b, &cq_[i], 10))
			return false;
	if (ornic_th_mr_init(pair_.a, &am_, bytes, 0, 0,
			     ORNIC_ACCESS_MR_MASK) ||
	    ornic_th_mr_init(pair_.b, &bm_, bytes, 0, 0, ORNIC_ACCESS_MR_MASK))
		return false;
	init.type = ORNIC_QPT_RC;
	init.sq_log_depth = 7;
	init.rq_log_depth = 7;
	if (ornic_th_qp_init(pair_.a, &a_, &init, &cq_[0], &cq_[1]) ||
	    ornic_th_qp_init(pair_.b, &b_, &init, &cq_[2], &cq_[3]))
		return false;
	// The default of perftest: 67 ms.
	a_.conn.timeout = 14;
	a_.conn.max_rd_atomic = 16;
	b_.conn.max_dest_rd_atomic = 16;
	return !ornic_th_connect(&a_, &b_, ORNIC_TH_IPV4);
}

void connection::fill()
{
	std::vector<u8> data(in_ring);
	ornic_th_mr &from = t_.opcode == ORNIC_WQE_READ ? bm_ : am_;

	for (size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<u8>(i * 2654435761u >> 24);
	ornic_th_mr_write(&from, 0, data.data(), static_cast<u32>(data.size()));
}

void connection::check_data()
{
	std::vector<u8> a(in_ring), b(a.size());
	u64 n = std::min<u64>(t_.messages, under_way) * goodput_message;

	ornic_th_mr_read(&am_, 0, a.data(), static_cast<u32>(a.size()));
	ornic_th_mr_read(&bm_, 0, b.data(), static_cast<u32>(b.size()));
	if (!std::equal(a.begin(), a.begin() + static_cast<s64>(n), b.begin()))
		fail("wrong data");
}

void connection::post_recv()
{
	u32 off = static_cast<u32>(received_ % under_way) * goodput_message;
	ornic_lsge sge = { bm_.iova + off, goodput_message, bm_.key };

	ornic_th_post_recv(&b_, received_++, &sge, 1);
}

void connection::post()
{
	while (posted_ < t_.messages && posted_ - done_ < under_way) {
		u32 off =
			static_cast<u32>(posted_ % under_way) * goodput_message;
		ornic_lsge sge = { am_.iova + off, goodput_message, am_.key };
		ornic_th_wr wr = {};

		wr.wr_id = posted_++;
		wr.opcode = t_.opcode;
		wr.flags = ORNIC_WQE_SIGNALED;
		wr.raddr = bm_.iova + off;
		wr.rkey = bm_.key;
		wr.nsge = 1;
		wr.sge = &sge;
		if (ornic_th_post_send(&a_, &wr))
			fail("the SQ is full");
		ornic_th_kick(&a_);
	}
}

bool connection::poll()
{
	ornic_cqe cqe;
	bool any = false;

	while (ornic_th_poll(&cq_[0], &cqe)) {
		any = true;
		if (cqe.status || le64_to_cpu(cqe.wr_id) != done_)
			fail("a send has failed");
		done_++;
		out_.done.push_back(now_);
	}
	while (ornic_th_poll(&cq_[3], &cqe)) {
		any = true;
		if (cqe.status)
			fail("a receive has failed");
		post_recv();
	}
	return any;
}

void connection::settle()
{
	bool any;

	do {
		any = ornic_th_run(pair_.a);
		any |= ornic_th_run(pair_.b);
		wire_.take(pair_.a, pair_.b, now_);
		wire_.take(pair_.b, pair_.a, now_);
		any |= poll();
		if (any)
			post();
	} while (any);
}

u64 connection::next_time()
{
	u64 when = wire_.next();

	for (u64 t : { ornic_th_deadline(pair_.a), ornic_th_deadline(pair_.b) })
		if (t && (!when || t < when))
			when = t;
	return when;
}

achieved connection::run()
{
	if (!make()) {
		fail("no connection");
		return out_;
	}
	fill();
	for (u32 i = 0; i < 2 * under_way; i++)
		post_recv();
	post();
	settle();
	while (done_ < t_.messages && out_.failure.empty()) {
		u64 when = next_time();

		if (!when || now_ > longest) {
			fail("at rest before everything arrived");
			break;
		}
		now_ = std::max(now_, when);
		pair_.a->now = now_;
		pair_.b->now = now_;
		wire_.work(now_);
		ornic_th_expire(pair_.a);
		ornic_th_expire(pair_.b);
		settle();
	}
	if (out_.failure.empty())
		check_data();
	out_.ns = now_ - 1000000;
	out_.mb_per_s = static_cast<double>(done_ * goodput_message) * 1e3 /
			static_cast<double>(std::max<u64>(out_.ns, 1));
	out_.packets = wire_.frames();
	out_.data_packets = t_.messages * (goodput_message / goodput_mtu);
	out_.retries = ornic_engine_stat(pair_.a->eng, ORNIC_STAT_RETRIES);
	out_.early =
		ornic_engine_stat(pair_.a->eng, ORNIC_STAT_ROCE_ADP_RETRANS);
	out_.naks = ornic_engine_stat(pair_.a->eng, ORNIC_STAT_SEQ_NAK_RCVD);
	out_.duplicates =
		ornic_engine_stat(pair_.b->eng, ORNIC_STAT_DUPLICATES);
	out_.timeouts = ornic_engine_stat(pair_.a->eng, ORNIC_STAT_TIMEOUTS);
	return out_;
}

} // namespace

achieved measure(const transfer &t)
{
	return connection(t).run();
}

} // namespace sim
