// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "scenario.h"

#include <algorithm>
#include <memory>

extern "C" {
#include "engine/dev.h"
}

#include "effort.h"
#include "pager.h"
#include "stream.h"

namespace sim
{

namespace
{

constexpr u32 max_events = 400000;
constexpr u32 domain = 7; // of XRC
// However a connection ends, it has ended by then.
constexpr u64 longest_death = 1500000 * us;

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
	void make_rigs(u64 seed);
	void make_couple(u32 index);
	void make_qp(ornic_th *th, ornic_th_qp *qp, u8 type, u32 which,
		     ornic_th_srq *srq);
	ornic_th_srq *make_srq(couple &c, int side, u8 type);
	void make_stream(couple &c, u32 index, int way, u32 mtu);
	std::vector<stream *> streams() const;
	u32 make_ah(ornic_th_qp *from, const ornic_th_qp *to);
	void misaddress(couple &c);
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
	static void change_memory(ornic_th *r);
	bool poll(ornic_th_cq &cq);
	void wobble();
	bool all_done() const;
	std::string progress() const;
	void collect();
	void check_stats();
	void harm();
	void beat();
	void orphan();
	void make_again(ornic_th_qp *qp, u32 qpn);
	void drain_and_go();
	void stop_drains();
	void change_path(ornic_th_qp *qp);
	void destroy_qps();
	void deliver_late();
	void tear_down();
	void fail(const std::string &why);
	void fail_if(const std::string &why)
	{
		if (!why.empty())
			fail(why);
	}

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
	u64 done_at_ = 0; // when all messages had arrived
	u64 abort_at_ = 0;
	u64 harm_at_ = 0; // event
	u64 harmed_ = 0; // time
	bool drains_ = false; // QPs go to SQD and back
	bool one_way_ = false;
	u64 orphan_at_ = 0; // event
	ornic_th_qp beat_[2] = {}; // shows that the peer is alive
	u64 beat_at_ = 0;
	u32 refusals_ = 3;
	u64 longest_pause_ = 100 * us; // between receives
	pager pager_{ rng_ };
	outcome out_;
};

world::world(kind what, u64 seed, bool trace)
	: what_(what)
	, rng_(seed)
	, faults_(pick_faults(what, rng_))
	, trace_(trace)
	, wire_(faults_, rng_.next())
{
	bool clean = what == kind::perfect || what == kind::loopback;

	rules_.may_die = what == kind::broken || what == kind::refused ||
			 what == kind::orphaned;
	one_way_ = what == kind::refused || what == kind::orphaned;
	rules_.refuses = what == kind::refused;
	rules_.paged = what == kind::paged;
	rules_.longest = longest_message(what);
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
	if (what == kind::orphaned)
		orphan_at_ = rng_.in(1, 2);
	drains_ = what != kind::bottleneck && rng_.chance(0.2);
	if (what == kind::unready)
		longest_pause_ = 10000 * us;
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
	bool alone = what_ == kind::loopback || what_ == kind::orphaned ||
		     ((what_ == kind::refused || what_ == kind::paged) &&
		      rng_.chance(0.3));

	if (ornic_th_pair_init(&pair_, seed, alone)) {
		fail("no memory");
		return;
	}
	if (what_ == kind::direct || (!alone && rules_.paged))
		ornic_th_go_direct(&pair_, static_cast<u32>(rng_.in(2, 50)));
	gid_ = static_cast<ornic_th_gid>(rng_.in(0, ORNIC_TH_GIDS - 1));
	// RoCE v1 has one path.
	if (gid_ == ORNIC_TH_V1 && !faults_.routes.empty())
		gid_ = ORNIC_TH_IPV6;
	for (int side = 0; side < 2; side++) {
		ornic_th *r = th(side);

		r->tx_window = static_cast<u32>(rng_.in(1, 32));
		r->program = this;
		r->meanwhile = change_memory;
		r->budget = rng_.chance(0.5) ?
				    static_cast<u32>(rng_.in(1, 20000)) :
				    1 << 20;
		r->seg_bytes = rng_.chance(0.3) ?
				       static_cast<u32>(rng_.in(1, 2000)) :
				       0;
		r->lends = seed & 1;
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
	while (faults_.ascending && 128u << c.mtu != faults_.ascending)
		c.mtu = c.mtu % 5 + 1;
	c.sq_psn = rng_.chance(0.5) ? static_cast<u32>(rng_.in(0, 0xffffff)) :
				      0xfffff0;
	c.timeout = static_cast<u8>(rng_.in(10, 12));
	c.min_rnr_timer = static_cast<u8>(rng_.in(1, 12));
	c.max_rd_atomic = static_cast<u8>(rng_.in(1, 16));
	c.max_dest_rd_atomic = c.max_rd_atomic;
	c.qkey = static_cast<u32>(rng_.in(1, 0x7fffffff));
	// Its own choice, whatever that of the peer is.
	c.has_ece = c.qkey & 0x10 && qp->type != ORNIC_QPT_UC &&
		    qp->type != ORNIC_QPT_UD;
	c.ece = c.qkey & 0x20 ? ORNIC_ECE_OFFER : 0;
	if (what_ == kind::broken) {
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

// b's peer has the number of a, and another address.
void world::misaddress(couple &c)
{
	int other = (gid_ + 1) % ORNIC_TH_GIDS;

	ornic_th_to(&c.b, ORNIC_QPS_RESET);
	ornic_th_av(&c.b.conn.av, c.a.th->index,
		    static_cast<ornic_th_gid>(other));
	for (u8 state : { ORNIC_QPS_INIT, ORNIC_QPS_RTR, ORNIC_QPS_RTS })
		if (ornic_th_to(&c.b, state))
			fail("no connection");
	c.ab->expect_no_response();
}

void world::make_couple(u32 index)
{
	static const u8 types[] = { ORNIC_QPT_RC, ORNIC_QPT_RC,
				    ORNIC_QPT_RC, ORNIC_QPT_UC,
				    ORNIC_QPT_UD, ORNIC_QPT_XRC_INI };
	bool rc_only = what_ == kind::bottleneck || what_ == kind::direct ||
		       rules_.may_die || what_ == kind::swapped ||
		       what_ == kind::unready;
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
	for (int way = 0; way < (xrc || one_way_ ? 1 : 2); way++)
		make_stream(c, index, way,
			    type == ORNIC_QPT_UD ? 4096 : 128u << c.a.conn.mtu);
	if (rules_.refuses && rng_.chance(0.2))
		misaddress(c);
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

// What programs do while frames are made.
void world::change_memory(ornic_th *r)
{
	auto *w = static_cast<world *>(r->program);

	for (const auto &c : w->couples_)
		for (stream *s : { c->ab.get(), c->ba.get() })
			if (s && s->recv_th() == r)
				s->change_live();
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

	for (int side = 0; rules_.paged && side < (loop() ? 1 : 2); side++)
		pager_.act(th(side), now);
	for (actor &a : actors_) {
		if (a.when > now || !a.when)
			continue;
		any = true;

		// Receives for messages that were lost need not be posted.
		bool more = a.recv ? a.who->post_recvs() && !a.who->done() :
				     a.who->post_sends();
		u64 most = a.recv ? longest_pause_ : 100 * us;

		a.when = more ? now + rng_.in(1, most) : 0;
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

	for (int side = 0; side < (loop() ? 1 : 2); side++)
		earlier(pager_.look(th(side), now_));
	for (const actor &a : actors_)
		earlier(a.when);
	earlier(beat_at_);
	earlier(ornic_th_deadline(pair_.a));
	earlier(ornic_th_deadline(pair_.b));
	return when;
}

// A port that refuses a frame now and then, which is sent again.
void world::wobble()
{
	if (!refusals_ || !rng_.chance(0.01))
		return;
	refusals_--;
	th(static_cast<int>(rng_.in(0, 1)))->xmit_fail = 1;
}

void world::stop_drains()
{
	if (!drains_)
		return;
	drains_ = false;
	for (stream *s : streams())
		ornic_th_modify(s->sender(), ORNIC_QPS_RTS, ORNIC_QPM_STATE);
}

// The network breaks, receivers do not post any more, or are gone while others of
// their host are not.
void world::harm()
{
	u64 how = rng_.in(0, 2);

	harmed_ = now_;
	stop_drains();
	if (how == 0)
		wire_.cut();
	for (actor &a : actors_)
		if (how == 1 && a.recv)
			a.when = 0;
	if (how != 2)
		return;
	for (auto &c : couples_)
		ornic_th_modify(&c->b, ORNIC_QPS_ERR, ORNIC_QPM_STATE);
	for (int side = 0; side < 2; side++)
		make_qp(th(side), &beat_[side], ORNIC_QPT_RC,
			static_cast<u32>(side) * 2, nullptr);
	if (ornic_th_connect(&beat_[0], &beat_[1], gid_))
		fail("no connection");
	beat_at_ = now_ + 1000 * us;
}

// A packet of another QP of the peer.
void world::beat()
{
	ornic_txinfo info = {};

	if (!beat_at_ || beat_at_ > now_)
		return;
	info.opcode = ORNIC_RC | ORNIC_OP_WRITE_ONLY;
	info.psn = ornic_th_rq_psn(&beat_[0]);
	ornic_th_inject(&beat_[0], &info, nullptr, 0);
	beat_at_ = all_done() ? 0 : now_ + 1000 * us;
}

// Another QP of the second side, with a number that is free again.
void world::make_again(ornic_th_qp *qp, u32 qpn)
{
	ornic_th_qpinit init = {};

	init.type = ORNIC_QPT_RC;
	ornic_th_next_qpn(pair_.b, qpn);
	if (ornic_th_qp_init(pair_.b, qp, &init, &cq_[2], &cq_[3]) ||
	    qp->qpn != qpn || ornic_th_connect(qp, nullptr, gid_))
		fail("no QP");
}

// In the middle of a message.
void world::orphan()
{
	couple &c = *couples_[0];
	u32 qpn = c.b.qpn;

	c.ab->post_sends();
	for (ornic_th_cq &cq : cq_)
		poll(cq);
	if (ornic_th_qp_fini(&c.b))
		fail("a QP cannot be destroyed");
	c.b = {};
	make_again(&c.b, qpn);
	c.ab->orphan();
}

// Not before the SQ is drained, IBTA 10.3.1.5.
void world::change_path(ornic_th_qp *qp)
{
	ornic_rsp_query_qp now = {};
	int status;

	if (qp->type == ORNIC_QPT_UD || ornic_th_query(qp, &now))
		return;
	status = ornic_th_modify(qp, ORNIC_QPS_SQD,
				 ORNIC_QPM_STATE | ORNIC_QPM_AV);
	if (status != (now.sq_draining ? ORNIC_BAD_STATE : ORNIC_OK))
		fail("new path: status " + std::to_string(status));
}

// An SQ that drains, or is drained, goes on later.
void world::drain_and_go()
{
	if (!drains_ || !rng_.chance(0.02))
		return;

	std::vector<stream *> list = streams();
	ornic_th_qp *qp = list[rng_.in(0, list.size() - 1)]->sender();
	u8 state = ornic_th_state(qp);

	out_.paused |= state == ORNIC_QPS_RTS;
	if (state == ORNIC_QPS_RTS)
		ornic_th_modify(qp, ORNIC_QPS_SQD, ORNIC_QPM_STATE);
	else if (state == ORNIC_QPS_SQD && rng_.chance(0.5))
		change_path(qp);
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
			stop_drains();
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
		if (orphan_at_ && n == orphan_at_)
			orphan();
		beat();
		if (harmed_ && now_ - harmed_ > longest_death)
			fail("does not die: " + progress());
		act(now_);
		wire_.work(now_);
		ornic_th_expire(pair_.a);
		if (!loop())
			ornic_th_expire(pair_.b);
		settle();
		collect();
		// Timers that are set still run out, and mean nothing.
		if (!done_at_ && all_done())
			done_at_ = now_;
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
	static const ornic_stat lossless[] = {
		ORNIC_STAT_TIMEOUTS,
		ORNIC_STAT_SEQ_NAK_SENT,
	};
	static const ornic_stat clean[] = {
		ORNIC_STAT_RX_ICRC_ERRORS,
		ORNIC_STAT_RX_MALFORMED,
	};

	for (int side = 0; side < 2; side++) {
		ornic_engine *eng = th(side)->eng;

		for (ornic_stat s : lossless)
			if (what_ == kind::perfect && ornic_engine_stat(eng, s))
				fail("counter " + std::to_string(s) +
				     " is not 0 on a wire that loses nothing");
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

void world::destroy_qps()
{
	if (orphan_at_ && ornic_th_state(&couples_[0]->b) > ORNIC_QPS_RTS)
		fail("the end of another QP");
	for (ornic_th_qp &qp : beat_)
		if (qp.th && ornic_th_qp_fini(&qp))
			fail("a QP cannot be destroyed");
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
	ornic_th_qp other = {};
	ornic_cqe cqe;
	u8 state = static_cast<u8>(rng_.in(0, 3));

	make_again(&other, couples_[0]->b.qpn);
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
		out_.needed += s->frames();
	}
	out_.sent = wire_.bytes();
	out_.frames = wire_.frames();
	out_.lost = wire_.lost();
	out_.troubles = wire_.troubles();
	out_.ns = (done_at_ ? done_at_ : now_) - 1000000;
	out_.swapped = wire_.swapped();
	for (int side = 0; side < (loop() ? 1 : 2); side++) {
		ornic_engine *eng = th(side)->eng;

		out_.acks += ornic_engine_stat(eng, ORNIC_STAT_ACKS_SENT);
		out_.rnr_naks +=
			ornic_engine_stat(eng, ORNIC_STAT_RNR_NAK_SENT);
		out_.retries += ornic_engine_stat(eng, ORNIC_STAT_RETRIES);
	}
	if (out_.failure.empty() && !abort_at_) {
		for (stream *s : streams())
			s->check_end();
		collect();
		if (!rules_.may_die)
			check_stats();
		fail_if(excess(what_, out_));
	}
	if (out_.failure.empty())
		tear_down();
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
