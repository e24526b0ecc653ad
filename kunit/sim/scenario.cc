// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "scenario.h"

#include <algorithm>
#include <memory>

#include "stream.h"

namespace sim
{

namespace
{

constexpr u64 us = 1000;
constexpr u32 max_events = 400000;

// Two QPs, and a stream each way.
struct couple {
	ornic_th_qp a = {}, b = {};
	std::unique_ptr<stream> ab, ba;
};

// Something that posts now and then.
struct actor {
	u64 when;
	stream *who;
	bool recv;
};

class world {
public:
	world(kind what, u64 seed, bool trace);
	~world();
	world(const world &) = delete;
	world &operator=(const world &) = delete;

	outcome run();

private:
	faults pick_faults();
	void make_rigs(u64 seed);
	void make_couple(u32 index);
	void make_qp(ornic_th *th, ornic_th_qp *qp, u8 type, u32 which);
	void make_streams(couple &c, u32 index, u32 mtu);
	u32 make_ah(ornic_th_qp *from, const ornic_th_qp *to);
	ornic_th *th(int side)
	{
		return side ? pair_.b : pair_.a;
	}
	bool loop() const
	{
		return pair_.a == pair_.b;
	}

	void loop_until_done();
	u64 next_time();
	bool act(u64 now);
	void settle();
	bool poll(ornic_th_cq &cq);
	void wobble();
	bool all_done() const;
	std::string progress() const;
	void collect();
	void check_stats();
	void tear_down();
	void fail(const std::string &why);

	kind what_;
	random rng_;
	faults faults_;
	rules rules_;
	bool trace_;
	wire wire_;
	ornic_th_pair pair_ = {};
	ornic_th_cq cq_[4] = {}; // a send, a recv, b send, b recv
	u32 ncqs_ = 0;
	ornic_th_gid gid_ = ORNIC_TH_IPV4;
	std::vector<std::unique_ptr<couple>> couples_;
	std::vector<actor> actors_;
	u64 now_ = 1000000;
	u64 abort_at_ = 0;
	u32 refusals_ = 3;
	outcome out_;
};

faults world::pick_faults()
{
	faults f;

	f.ns_per_byte = rng_.chance(0.5) ? 0.08 : 0.8;
	f.delay = rng_.in(us / 2, 20 * us);
	if (what_ == kind::perfect)
		return f;
	f.jitter = 0;
	f.loss = rng_.log_in(0.001, 0.1);
	if (rng_.chance(0.5))
		f.duplicate = rng_.log_in(0.001, 0.05);
	if (rng_.chance(0.3))
		f.damage = rng_.log_in(0.001, 0.02);
	if (rng_.chance(0.5)) {
		f.reorder = rng_.log_in(0.001, 0.1);
		f.reorder_delay = rng_.in(us, 100 * us);
	}
	return f;
}

world::world(kind what, u64 seed, bool trace)
	: what_(what)
	, rng_(seed)
	, faults_(pick_faults())
	, trace_(trace)
	, wire_(faults_, rng_.next())
{
	bool clean = what == kind::perfect || what == kind::loopback;

	rules_.all_arrive = clean;
	rules_.once = clean || faults_.duplicate == 0;
	rules_.in_order = clean ||
			  (faults_.duplicate == 0 && faults_.reorder == 0);
	wire_.trace(trace);
	make_rigs(rng_.next());
	if (!out_.failure.empty())
		return;
	for (u64 n = rng_.in(1, 3); n; n--)
		make_couple(static_cast<u32>(couples_.size()));
	if (what == kind::aborted)
		abort_at_ = rng_.in(1, 200);
}

world::~world()
{
	wire_.drop_all();
	if (ornic_th_pair_fini(&pair_))
		abort();
}

void world::fail(const std::string &why)
{
	if (out_.failure.empty())
		out_.failure = why;
}

void world::make_rigs(u64 seed)
{
	if (ornic_th_pair_init(&pair_, seed, what_ == kind::loopback)) {
		fail("no memory");
		return;
	}
	gid_ = static_cast<ornic_th_gid>(rng_.in(0, ORNIC_TH_GIDS - 1));
	for (int side = 0; side < 2; side++) {
		ornic_th *r = th(side);

		r->tx_window = static_cast<u32>(rng_.in(1, 32));
		r->budget = rng_.chance(0.5) ?
				    static_cast<u32>(rng_.in(1, 20000)) :
				    1 << 20;
		r->seg_bytes = rng_.chance(0.3) ?
				       static_cast<u32>(rng_.in(1, 2000)) :
				       0;
		for (int i = 0; i < 2; i++)
			if (ornic_th_cq_init(r, &cq_[ncqs_++], 9))
				fail("no CQ");
	}
}

void world::make_qp(ornic_th *r, ornic_th_qp *qp, u8 type, u32 which)
{
	ornic_th_qpinit init = {};

	init.type = type;
	init.flags = rng_.chance(0.2) ? ORNIC_QP_SIG_ALL : 0;
	init.sq_log_depth = static_cast<u8>(rng_.in(3, 5));
	// Unreliable ones drop what finds no receive.
	init.rq_log_depth = rules_.all_arrive ? 4 :
						static_cast<u8>(rng_.in(1, 4));
	init.max_inline = static_cast<u16>(rng_.in(1, 128));
	if (ornic_th_qp_init(r, qp, &init, &cq_[which], &cq_[which + 1])) {
		fail("no QP");
		return;
	}

	ornic_th_conn &c = qp->conn;

	c.mtu = static_cast<u8>(rng_.in(1, 5));
	c.sq_psn = rng_.chance(0.5) ? static_cast<u32>(rng_.in(0, 0xffffff)) :
				      0xfffff0;
	c.timeout = static_cast<u8>(rng_.in(10, 12));
	c.min_rnr_timer = static_cast<u8>(rng_.in(1, 12));
	c.max_rd_atomic = static_cast<u8>(rng_.in(1, 16));
	c.max_dest_rd_atomic = c.max_rd_atomic;
	c.qkey = static_cast<u32>(rng_.in(1, 0x7fffffff));
}

u32 world::make_ah(ornic_th_qp *from, const ornic_th_qp *to)
{
	ornic_av av;
	u32 ah = 0;

	if (from->type != ORNIC_QPT_UD)
		return 0;
	ornic_th_av(&av, to->th->index, gid_);
	if (ornic_th_ah(from->th, &av, &ah))
		fail("no AH");
	return ah;
}

void world::make_streams(couple &c, u32 index, u32 mtu)
{
	for (int way = 0; way < 2; way++) {
		ornic_th_qp *from = way ? &c.b : &c.a;
		ornic_th_qp *to = way ? &c.a : &c.b;
		std::unique_ptr<stream> &s = way ? c.ba : c.ab;

		s = std::make_unique<stream>(rng_, rules_, index * 2 + way);
		if (s->setup(from, to, mtu, make_ah(from, to), from->sig_all,
			     from->max_inline))
			fail("no MR");
		if (rules_.all_arrive && from->type != ORNIC_QPT_RC)
			s->post_all_recvs_first();
		if (s->post_recvs())
			actors_.push_back(
				{ now_ + rng_.in(0, 200 * us), s.get(), true });
		actors_.push_back(
			{ now_ + rng_.in(0, 50 * us), s.get(), false });
	}
}

void world::make_couple(u32 index)
{
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_RC, ORNIC_QPT_RC,
				    ORNIC_QPT_UC, ORNIC_QPT_UD };
	u8 type = types[rng_.in(0, sizeof(types) - 1)];

	couples_.push_back(std::make_unique<couple>());

	couple &c = *couples_.back();

	make_qp(th(0), &c.a, type, 0);
	make_qp(th(1), &c.b, type, 2);
	if (!out_.failure.empty())
		return;
	c.b.conn.mtu = c.a.conn.mtu;
	c.b.conn.max_dest_rd_atomic = c.a.conn.max_rd_atomic;
	c.a.conn.max_dest_rd_atomic = c.b.conn.max_rd_atomic;
	if (ornic_th_connect(&c.a, &c.b, gid_)) {
		fail("no connection");
		return;
	}
	make_streams(c, index,
		     type == ORNIC_QPT_UD ? 4096 : 128u << c.a.conn.mtu);
}

// ---- life ---------------------------------------------------------------------

bool world::poll(ornic_th_cq &cq)
{
	ornic_cqe cqe;
	bool any = false;

	while (ornic_th_poll(&cq, &cqe)) {
		u32 qpn = le32_to_cpu(cqe.qpn);
		bool recv = cqe.opcode & ORNIC_CQE_IS_RECV, found = false;

		any = true;
		for (auto &c : couples_) {
			for (stream *s : { c->ab.get(), c->ba.get() }) {
				if (recv && s->recv_th() == cq.th &&
				    s->recv_qpn() == qpn) {
					s->on_recv(cqe);
					found = true;
				} else if (!recv && s->send_th() == cq.th &&
					   s->send_qpn() == qpn) {
					s->on_send(cqe);
					found = true;
				}
			}
		}
		if (!found)
			fail("a completion of QP " + std::to_string(qpn));
	}
	return any;
}

// Everything that can be done without time passing.
void world::settle()
{
	bool any;
	u32 steps = 0;

	do {
		any = ornic_th_run(pair_.a);
		if (!loop())
			any |= ornic_th_run(pair_.b);
		wire_.take(pair_.a, pair_.b, now_);
		if (!loop())
			wire_.take(pair_.b, pair_.a, now_);
		for (ornic_th_cq &cq : cq_)
			any |= poll(cq);
		if (++steps > 100000) {
			fail("the engines do not come to rest");
			return;
		}
	} while (any);
}

bool world::act(u64 now)
{
	bool any = false;

	for (actor &a : actors_) {
		if (a.when > now || !a.when)
			continue;
		any = true;

		bool more = a.recv ? a.who->post_recvs() : a.who->post_sends();

		// Receives for messages that were lost need not be posted.
		if (a.recv && a.who->done())
			more = false;
		a.when = more ? now + rng_.in(1, 100 * us) : 0;
	}
	return any;
}

u64 world::next_time()
{
	u64 when = wire_.next();
	auto earlier = [&](u64 t) {
		if (t && (!when || t < when))
			when = t;
	};

	for (const actor &a : actors_)
		earlier(a.when);
	earlier(ornic_th_deadline(pair_.a));
	earlier(ornic_th_deadline(pair_.b));
	return when;
}

// A port that refuses a frame now and then; to the engine that is loss, and
// no retry counter may run out of it.
void world::wobble()
{
	if (rules_.all_arrive || !refusals_ || !rng_.chance(0.01))
		return;
	refusals_--;
	th(static_cast<int>(rng_.in(0, 1)))->xmit_fail = 1;
}

bool world::all_done() const
{
	for (const auto &c : couples_)
		if (!c->ab->done() || !c->ba->done())
			return false;
	return true;
}

std::string world::progress() const
{
	std::string text;

	for (const auto &c : couples_)
		for (const stream *s : { c->ab.get(), c->ba.get() })
			text += "\n  " + s->progress();
	return text;
}

void world::collect()
{
	for (const auto &c : couples_)
		for (const stream *s : { c->ab.get(), c->ba.get() })
			if (!s->failure().empty())
				fail(s->failure());
}

void world::loop_until_done()
{
	for (u32 n = 0; n < max_events; n++) {
		u64 when = next_time();

		if (abort_at_ && n == abort_at_)
			return;
		// What is still on the wire must do no harm either.
		if (!when) {
			if (!all_done() && !abort_at_)
				fail("at rest before everything arrived: " +
				     progress());
			return;
		}
		now_ = std::max(now_, when);
		pair_.a->now = now_;
		pair_.b->now = now_;
		wobble();
		act(now_);
		wire_.work(now_);
		ornic_th_expire(pair_.a);
		if (!loop())
			ornic_th_expire(pair_.b);
		settle();
		collect();
		if (!out_.failure.empty())
			return;
	}
	fail("does not end: " + progress());
}

void world::check_stats()
{
	static const ornic_stat never[] = {
		ORNIC_STAT_RX_NO_QP,	 ORNIC_STAT_RX_BAD_ADDR,
		ORNIC_STAT_RX_BAD_QKEY,	 ORNIC_STAT_RX_BAD_PKEY,
		ORNIC_STAT_ERR_NAK_SENT, ORNIC_STAT_ERR_NAK_RCVD,
	};
	static const ornic_stat clean[] = {
		ORNIC_STAT_RX_ICRC_ERRORS,
		ORNIC_STAT_RX_MALFORMED,
	};

	for (int side = 0; side < 2; side++) {
		ornic_engine *eng = th(side)->eng;

		for (ornic_stat s : never)
			if (ornic_engine_stat(eng, s))
				fail("counter " + std::to_string(s) +
				     " is not 0");
		for (ornic_stat s : clean)
			if (faults_.damage == 0 && ornic_engine_stat(eng, s))
				fail("counter " + std::to_string(s) +
				     " is not 0 on a wire without damage");
		for (int type :
		     { ORNIC_EVENT_CQ_ERR, ORNIC_EVENT_QP_FATAL,
		       ORNIC_EVENT_QP_REQ_ERR, ORNIC_EVENT_QP_ACCESS_ERR })
			if (th(side)->event_count[type])
				fail("event " + std::to_string(type));
	}
}

void world::tear_down()
{
	for (auto &c : couples_) {
		if (ornic_th_qp_fini(&c->a) || ornic_th_qp_fini(&c->b))
			fail("a QP cannot be destroyed");
		c->ab->destroy();
		c->ba->destroy();
	}
	collect();
	for (u32 i = 0; i < ncqs_; i++)
		if (ornic_th_cq_fini(&cq_[i]))
			fail("a CQ cannot be destroyed");
	if (pair_.a->hqps || pair_.b->hqps)
		fail("a QP was not given back");
}

outcome world::run()
{
	if (out_.failure.empty())
		loop_until_done();
	if (out_.failure.empty() && !abort_at_) {
		for (auto &c : couples_) {
			c->ab->check_end();
			c->ba->check_end();
		}
		collect();
		check_stats();
	}
	for (const auto &c : couples_)
		for (const stream *s : { c->ab.get(), c->ba.get() })
			if (s)
				out_.messages += s->messages();
	if (out_.failure.empty())
		tear_down();
	out_.frames = wire_.frames();
	out_.lost = wire_.lost();
	out_.hash = wire_.hash();
	return out_;
}

} // namespace

outcome run(kind what, u64 seed, bool trace)
{
	world w(what, seed, trace);

	return w.run();
}

} // namespace sim
