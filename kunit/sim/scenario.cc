// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "scenario.h"

#include <algorithm>
#include <memory>

extern "C" {
#include "engine/dev.h"
}

#include "stream.h"

namespace sim
{

namespace
{

constexpr u64 us = 1000;
constexpr u32 max_events = 400000;
constexpr u32 domain = 7; // of XRC
// However a connection ends, it has ended by then.
constexpr u64 longest_death = 60000000 * us;

// Two QPs, and a stream each way; of XRC there is one way.
struct couple {
	ornic_th_qp a = {}, b = {};
	ornic_th_srq srq[2] = {}; // of a and b, if it has one
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
	void make_qp(ornic_th *th, ornic_th_qp *qp, u8 type, u32 which,
		     ornic_th_srq *srq);
	ornic_th_srq *make_srq(couple &c, int side, u8 type);
	void make_stream(couple &c, u32 index, int way, u32 mtu);
	std::vector<stream *> streams() const;
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
	void check_effort();
	void harm();
	void drain_and_go();
	void destroy_qps();
	void deliver_late();
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
	u64 harm_at_ = 0; // event
	u64 harmed_ = 0; // time
	bool drains_ = false; // QPs go to SQD and back
	u32 refusals_ = 3;
	outcome out_;
};

faults world::pick_faults()
{
	faults f;

	f.ns_per_byte = rng_.chance(0.5) ? 0.08 : 0.8;
	f.delay = rng_.in(us / 2, 20 * us);
	if (what_ == kind::bottleneck) {
		f.ns_per_byte = 0.8;
		f.queue = rng_.in(16, 64);
		return f;
	}
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

	rules_.may_die = what == kind::broken;
	rules_.longest = what == kind::bottleneck ? 131072 : 16384;
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
	if (what == kind::broken)
		harm_at_ = rng_.in(1, 200);
	drains_ = what != kind::bottleneck && rng_.chance(0.2);
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

ornic_th_srq *world::make_srq(couple &c, int side, u8 type)
{
	ornic_th_srq *srq = &c.srq[side];
	ornic_th *r = th(side);
	int status;

	if (type == ORNIC_QPT_XRC_TGT)
		status = ornic_th_xsrq_init(r, srq, 4, domain,
					    &cq_[side * 2 + 1]);
	else if ((type == ORNIC_QPT_RC || type == ORNIC_QPT_UD) &&
		 rng_.chance(0.3))
		status = ornic_th_srq_init(r, srq, 4, 4);
	else
		return nullptr;
	if (status)
		fail("no SRQ");
	return srq;
}

void world::make_qp(ornic_th *r, ornic_th_qp *qp, u8 type, u32 which,
		    ornic_th_srq *srq)
{
	bool ini = type == ORNIC_QPT_XRC_INI, tgt = type == ORNIC_QPT_XRC_TGT;

	ornic_th_qpinit init = {};

	init.type = type;
	init.flags = rng_.chance(0.2) ? ORNIC_QP_SIG_ALL : 0;
	init.sq_log_depth = static_cast<u8>(rng_.in(3, 5));
	// Unreliable ones drop what finds no receive.
	init.rq_log_depth = rules_.all_arrive ? 4 :
						static_cast<u8>(rng_.in(1, 4));
	init.max_inline = static_cast<u16>(rng_.in(1, 128));
	init.xrcdn = domain;
	if (!tgt)
		init.srq = srq;
	if (ornic_th_qp_init(r, qp, &init, tgt ? nullptr : &cq_[which],
			     ini || tgt ? nullptr : &cq_[which + 1])) {
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
	if (rules_.may_die) {
		c.retry_cnt = static_cast<u8>(rng_.in(0, 7));
		c.rnr_retry = static_cast<u8>(rng_.in(0, 6));
	}
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

void world::make_stream(couple &c, u32 index, int way, u32 mtu)
{
	ornic_th_qp *from = way ? &c.b : &c.a;
	ornic_th_qp *to = way ? &c.a : &c.b;
	ornic_th_srq *srq = &c.srq[!way];
	std::unique_ptr<stream> &s = way ? c.ba : c.ab;

	s = std::make_unique<stream>(rng_, rules_, index * 2 + way);
	if (s->setup(from, to, srq->th ? srq : nullptr, mtu, make_ah(from, to)))
		fail("no MR");
	if (rules_.all_arrive && from->type != ORNIC_QPT_RC)
		s->post_all_recvs_first();
	if (s->post_recvs())
		actors_.push_back(
			{ now_ + rng_.in(0, 200 * us), s.get(), true });
	actors_.push_back({ now_ + rng_.in(0, 50 * us), s.get(), false });
}

void world::make_couple(u32 index)
{
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_RC,
				    ORNIC_QPT_RC, ORNIC_QPT_UC,
				    ORNIC_QPT_UD, ORNIC_QPT_XRC_INI };
	bool rc_only = what_ == kind::bottleneck || what_ == kind::broken;
	u8 type = types[rc_only ? 0 : rng_.in(0, sizeof(types) - 1)];
	bool xrc = type == ORNIC_QPT_XRC_INI;
	u8 peer = xrc ? u8{ ORNIC_QPT_XRC_TGT } : type;

	couples_.push_back(std::make_unique<couple>());

	couple &c = *couples_.back();

	make_qp(th(0), &c.a, type, 0, make_srq(c, 0, type));
	make_qp(th(1), &c.b, peer, 2, make_srq(c, 1, peer));
	if (!out_.failure.empty())
		return;
	c.b.conn.mtu = c.a.conn.mtu;
	c.b.conn.max_dest_rd_atomic = c.a.conn.max_rd_atomic;
	c.a.conn.max_dest_rd_atomic = c.b.conn.max_rd_atomic;
	if (ornic_th_connect(&c.a, &c.b, gid_)) {
		fail("no connection");
		return;
	}
	for (int way = 0; way < (xrc ? 1 : 2); way++)
		make_stream(c, index, way,
			    type == ORNIC_QPT_UD ? 4096 : 128u << c.a.conn.mtu);
}

std::vector<stream *> world::streams() const
{
	std::vector<stream *> list;

	for (const auto &c : couples_)
		for (stream *s : { c->ab.get(), c->ba.get() })
			if (s)
				list.push_back(s);
	return list;
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
		for (stream *s : streams()) {
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

// The network breaks, or receivers do not post any more.
void world::harm()
{
	harmed_ = now_;
	if (rng_.chance(0.5)) {
		wire_.cut();
		return;
	}
	for (actor &a : actors_)
		if (a.recv)
			a.when = 0;
}

// An SQ that drains, or is drained, goes on later.
void world::drain_and_go()
{
	if (!drains_ || !rng_.chance(0.02))
		return;

	std::vector<stream *> list = streams();
	ornic_th_qp *qp = list[rng_.in(0, list.size() - 1)]->sender();
	u8 state = ornic_th_state(qp);

	if (state == ORNIC_QPS_RTS)
		ornic_th_modify(qp, ORNIC_QPS_SQD, ORNIC_QPM_STATE);
	else if (state == ORNIC_QPS_SQD)
		ornic_th_modify(qp, ORNIC_QPS_RTS, ORNIC_QPM_STATE);
}

bool world::all_done() const
{
	for (const stream *s : streams())
		if (!s->done())
			return false;
	return true;
}

std::string world::progress() const
{
	std::string text;

	for (const stream *s : streams())
		text += "\n  " + s->progress();
	return text;
}

void world::collect()
{
	for (const stream *s : streams())
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
		if (!when && drains_) {
			drains_ = false;
			for (stream *s : streams())
				ornic_th_modify(s->sender(), ORNIC_QPS_RTS,
						ORNIC_QPM_STATE);
			settle();
			continue;
		}
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
		drain_and_go();
		if (harm_at_ && n == harm_at_)
			harm();
		if (harmed_ && now_ - harmed_ > longest_death)
			fail("does not die: " + progress());
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

// An unlucky run sends a lot again, but not without end. Sums over all seeds have
// closer bounds.
void world::check_effort()
{
	u64 payload = out_.bytes;

	if (out_.sent > 20 * payload + 1000000)
		fail("sent " + std::to_string(out_.sent) + " bytes for " +
		     std::to_string(payload));
	if (out_.ns > 20000000 * us)
		fail("took " + std::to_string(out_.ns) + " ns for " +
		     std::to_string(payload) + " bytes");
}

void world::destroy_qps()
{
	for (auto &c : couples_) {
		if (ornic_th_qp_fini(&c->a) || ornic_th_qp_fini(&c->b))
			fail("a QP cannot be destroyed");
		for (ornic_th_srq &srq : c->srq)
			if (srq.th && ornic_th_srq_fini(&srq))
				fail("an SRQ cannot be destroyed");
	}
	for (stream *s : streams())
		s->destroy();
}

// What is under way arrives where nothing is, or something with an old number
// and another peer. It has no effect.
void world::deliver_late()
{
	ornic_th_qpinit init = {};
	ornic_th_qp other = {};
	ornic_cqe cqe;
	u8 state = static_cast<u8>(rng_.in(0, 3));

	init.type = ORNIC_QPT_RC;
	pair_.b->eng->dev.qps.next = couples_[0]->b.qpn;
	if (ornic_th_qp_init(pair_.b, &other, &init, &cq_[2], &cq_[3]))
		fail("no QP");
	ornic_th_connect(&other, nullptr, gid_);
	if (state != ORNIC_QPS_RTS)
		ornic_th_to(&other, ORNIC_QPS_RESET);

	u32 psn = ornic_th_rq_psn(&other);

	while (u64 when = wire_.next()) {
		now_ = std::max(now_, when);
		pair_.a->now = now_;
		pair_.b->now = now_;
		wire_.work(now_);
		ornic_th_run(pair_.b);
	}
	for (ornic_th_cq &cq : cq_)
		while (ornic_th_poll(&cq, &cqe))
			if (le32_to_cpu(cqe.qpn) == other.qpn &&
			    cq.th == pair_.b)
				fail("a completion of the wrong QP");
	if (ornic_th_rq_psn(&other) != psn)
		fail("a packet for another QP");
	if (ornic_th_qp_fini(&other))
		fail("a QP cannot be destroyed");
}

void world::tear_down()
{
	destroy_qps();
	if (abort_at_ && !loop())
		deliver_late();
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
	for (const stream *s : streams()) {
		out_.messages += s->messages();
		out_.bytes += s->bytes();
	}
	out_.sent = wire_.bytes();
	out_.ns = now_ - 1000000;
	if (out_.failure.empty() && !abort_at_) {
		for (stream *s : streams())
			s->check_end();
		collect();
		if (what_ != kind::broken)
			check_stats();
		if (what_ == kind::bottleneck)
			check_effort();
	}
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
