// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "connection.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace replay
{

namespace
{

// Where things are in the memory of both sides, which is that large.
constexpr u32 memory = 32768;
constexpr u32 buffers = 0; // a message of SEND and READ has a piece
constexpr u32 written = 8192; // WRITEs, one over the other
constexpr u32 counter = 12288; // of atomics
constexpr u32 to_read = 16384; // a READ has a piece
constexpr u32 piece = 1024;
constexpr u32 mtu = 256;

constexpr u32 selective_byte = 46; // of a frame with IPv4
constexpr u64 step_ns = 1000; // between two packets
constexpr u64 late_ns = 50000; // of a NAK that is delayed
constexpr int max_steps = 2000;

enum packet_type { type_ack, type_nak, type_rnr, type_data, type_result };
enum error { error_none, error_retries, error_rnr };

int response_type(const ornic_pkt &pkt)
{
	if (pkt.op->flags & ORNIC_OPF_READ)
		return type_data;
	if (pkt.op->flags & ORNIC_OPF_ATOMIC)
		return type_result;
	switch (pkt.syndrome & ORNIC_AETH_TYPE_MASK) {
	case ORNIC_AETH_NAK:
		return type_nak;
	case ORNIC_AETH_RNR:
		return type_rnr;
	default:
		return type_ack;
	}
}

std::string name_of(const event &e)
{
	std::string type = e.type < 0 ? "" : std::to_string(e.type) + ".";

	return e.what + type + std::to_string(e.index);
}

u32 length_of(const message &m)
{
	return m.kind == kind_atomic ? 8 : static_cast<u32>(m.npkts) * mtu;
}

} // namespace

engines::~engines()
{
	destroy();
}

bool engines::make()
{
	if (ornic_th_pair_init(&pair, 42, false))
		return false;
	for (int i = 0; i < 4; i++)
		if (ornic_th_cq_init(i < 2 ? pair.a : pair.b, &cq[i], 6))
			return false;
	return !ornic_th_mr_init(pair.a, &am, memory, 0, 1,
				 ORNIC_ACCESS_MR_MASK) &&
	       !ornic_th_mr_init(pair.b, &bm, memory, 0, 1,
				 ORNIC_ACCESS_MR_MASK);
}

u32 engines::destroy()
{
	return pair.a ? ornic_th_pair_fini(&pair) : 0;
}

connection::~connection()
{
	for (ornic_th_qp *qp : { &a_, &b_ })
		if (qp->th && ornic_th_qp_fini(qp))
			abort();
	for (ornic_th_cq &cq : e_.cq)
		for (ornic_cqe cqe; ornic_th_poll(&cq, &cqe);)
			;
}

bool connection::make()
{
	ornic_th_qpinit init = {};

	init.type = ORNIC_QPT_RC;
	init.sq_log_depth = 3;
	init.rq_log_depth = 3;
	if (ornic_th_qp_init(e_.pair.a, &a_, &init, &e_.cq[0], &e_.cq[1]) ||
	    ornic_th_qp_init(e_.pair.b, &b_, &init, &e_.cq[2], &e_.cq[3]))
		return false;
	for (ornic_th_qp *qp : { &a_, &b_ }) {
		qp->conn.mtu = 1;
		qp->conn.retry_cnt = static_cast<u8>(t_.retries);
		qp->conn.rnr_retry = static_cast<u8>(t_.rnr_retries);
	}
	if (ornic_th_connect(&a_, &b_, ORNIC_TH_IPV4))
		return false;
	if (t_.nak_delay)
		ornic_peek_set_late(&b_, late_ns);
	ornic_peek_set_full(e_.pair.b, t_.standard == 1);
	return true;
}

void connection::fill()
{
	static const u8 zeroes[memory] = {};

	ornic_th_mr_write(&e_.am, 0, zeroes, memory);
	ornic_th_mr_write(&e_.bm, 0, zeroes, memory);
	for (u32 i = 0; i < t_.messages.size(); i++) {
		ornic_fix_fill(&e_.bm, to_read + i * piece, piece, 100 + i);
		if (t_.messages[i].kind < kind_read)
			ornic_fix_fill(&e_.am, buffers + i * piece, piece, i);
	}
}

void connection::post_send(u32 i)
{
	static const u8 opcodes[] = { ORNIC_WQE_SEND, ORNIC_WQE_WRITE,
				      ORNIC_WQE_READ, ORNIC_WQE_FAA };
	static const u32 places[] = { 0, written, to_read, counter };
	const message &m = t_.messages[i];
	const u32 place =
		places[m.kind] + (m.kind == kind_read ? i * piece : 0);
	ornic_lsge sge =
		ornic_fix_sge(&e_.am, buffers + i * piece, length_of(m));
	ornic_th_wr wr = {};

	wr.wr_id = i;
	wr.opcode = opcodes[m.kind];
	wr.flags = ORNIC_WQE_SIGNALED;
	wr.raddr = e_.bm.iova + place;
	wr.rkey = e_.bm.key;
	wr.swap_add = 1;
	wr.nsge = 1;
	wr.sge = &sge;
	if (ornic_th_post_send(&a_, &wr))
		fail("the SQ is full");
}

void connection::post_recv(int n)
{
	int sends = 0;

	for (const message &m : t_.messages)
		sends += m.kind == kind_send;
	for (; n > 0 && posted_ < sends; n--, posted_++)
		ornic_fix_recv(&b_, &e_.bm, static_cast<u64>(posted_),
			       buffers + static_cast<u32>(posted_) * piece,
			       piece);
}

void connection::post()
{
	u32 room = e_.pair.a->tx_window;

	post_recv(t_.posted);
	// Nothing is sent before all is posted.
	e_.pair.a->tx_window = 0;
	for (u32 i = 0; i < t_.messages.size(); i++)
		post_send(i);
	e_.pair.a->tx_window = room;
	ornic_th_kick(&a_);
	settle();
}

connection::packet connection::describe(const ornic_th_frame *f) const
{
	packet p{ bytes(f->data, f->data + f->len), -1, -1 };
	ornic_pkt pkt;
	ornic_rx rx;

	if (!ornic_th_decode(f, &rx, &pkt))
		return p;
	p.index = ornic_psn_diff(pkt.psn, a_.conn.sq_psn);
	if (pkt.op->flags & ORNIC_OPF_RESPONSE)
		p.type = response_type(pkt);
	return p;
}

void connection::collect(ornic_th *from)
{
	direction &way = from == e_.pair.a ? fwd_ : rev_;

	while (ornic_th_frame *f = ornic_th_pull(from)) {
		if (!cut_)
			way.queue.push_back(describe(f));
		ornic_th_put(from, f);
	}
}

void connection::settle()
{
	bool any;

	do {
		any = ornic_th_run(e_.pair.a);
		any |= ornic_th_run(e_.pair.b);
		collect(e_.pair.a);
		collect(e_.pair.b);
	} while (any);
	poll();
	check_window();
}

void connection::deliver(packet p, bool request)
{
	ornic_th *to = request ? e_.pair.b : e_.pair.a;

	// Neither side shows the other that it repeats selectively.
	if (t_.standard)
		p.frame[selective_byte] &= static_cast<u8>(~1u);
	e_.pair.a->now += step_ns;
	e_.pair.b->now += step_ns;
	ornic_th_rx(to, p.frame.data(), static_cast<u32>(p.frame.size()));
	settle();
}

bool connection::is_quiet() const
{
	return fwd_.queue.empty() && fwd_.late.empty() && rev_.queue.empty() &&
	       rev_.late.empty();
}

// Timers of both sides, at @when.
void connection::expire(u64 when)
{
	for (ornic_th *th : { e_.pair.a, e_.pair.b })
		th->now = std::max(th->now, when);
	ornic_th_expire(e_.pair.a);
	ornic_th_expire(e_.pair.b);
	settle();
}

void connection::timer(char what)
{
	ornic_peek at = ornic_peek_at(&a_, &b_);
	u64 when = at.deadline;

	if (what == 'n')
		when = at.nak_at;
	else if (what == 't')
		when = at.ack_at;
	// Only the model knows that all timers but these wait for the wire.
	if (!when || (std::strchr("prt", what) && !is_quiet())) {
		diverge(std::string("no timer for ") + what);
		return;
	}
	expire(when);
}

// Lower case, in @way: deliver, drop, copy, hold, or deliver what is late.
void connection::move_packet(const event &e, bool request)
{
	direction &way = request ? fwd_ : rev_;
	char what = static_cast<char>(std::tolower(e.what));
	std::deque<packet> &from = what == 'l' ? way.late : way.queue;

	if (from.empty()) {
		diverge("nothing for " + name_of(e));
		return;
	}

	packet p = std::move(from.front());

	from.pop_front();
	if (p.index != e.index || p.type != e.type)
		diverge(name_of({ e.what, p.type, p.index }) + " for " +
			name_of(e));
	if (what == 'd' || what == 'h')
		way.late.push_back(p);
	if (what == 'f' || what == 'd' || what == 'l')
		deliver(std::move(p), request);
}

void connection::replay(const event &e)
{
	if (std::strchr("fxdhl", std::tolower(e.what)))
		move_packet(e,
			    std::islower(static_cast<unsigned char>(e.what)));
	else if (std::strchr("nwoprt", e.what))
		timer(e.what);
	else if (e.what == 'v')
		post_recv(1);
	else if (e.what == 'k')
		ornic_peek_forget(&b_);
	else if (e.what == 'c')
		cut_ = true;
	else
		fail(std::string("an unknown event: ") + e.what);
	if (!cut_)
		return;
	for (direction *way : { &fwd_, &rev_ }) {
		way->queue.clear();
		way->late.clear();
	}
}

// ---- what must be true --------------------------------------------------------

int connection::first_of(u32 message) const
{
	int n = 0;

	for (u32 i = 0; i < message; i++)
		n += t_.messages[i].npkts;
	return n;
}

// The effect of a message is there when its completion is.
void connection::complete(const ornic_cqe &cqe)
{
	u32 i = static_cast<u32>(out_.complete + flushed_);

	if (i >= t_.messages.size() || le64_to_cpu(cqe.wr_id) != i) {
		fail("a completion out of order");
		return;
	}
	if (cqe.status != ORNIC_CQE_SUCCESS || flushed_) {
		if (!flushed_++)
			out_.error = cqe.status == ORNIC_CQE_RETRY_EXC_ERR ?
					     error_retries :
				     cqe.status == ORNIC_CQE_RNR_RETRY_EXC_ERR ?
					     error_rnr :
					     -1;
		else if (cqe.status != ORNIC_CQE_WR_FLUSH_ERR)
			fail("a success after an error");
		return;
	}
	out_.complete++;
	if (ornic_peek_at(&a_, &b_).epsn < first_of(i + 1))
		fail("a success of what is not executed");

	const message &m = t_.messages[i];

	if (m.kind == kind_read &&
	    ornic_fix_compare(&e_.am, buffers + i * piece, length_of(m),
			      100 + i) >= 0)
		fail("a READ returned wrong bytes");
	if (m.kind == kind_atomic) {
		u64 orig, before = 0;

		ornic_th_mr_read(&e_.am, buffers + i * piece, &orig, 8);
		for (u32 k = 0; k < i; k++)
			before += t_.messages[k].kind == kind_atomic;
		if (orig != before)
			fail("an atomic returned a wrong value");
	}
}

void connection::poll()
{
	ornic_cqe cqe;

	while (ornic_th_poll(&e_.cq[0], &cqe))
		complete(cqe);
	while (ornic_th_poll(&e_.cq[3], &cqe)) {
		if (cqe.status != ORNIC_CQE_SUCCESS)
			fail("a receive failed");
		if (le64_to_cpu(cqe.wr_id) != static_cast<u64>(received_++))
			fail("a receive out of order");
	}
}

void connection::check_window()
{
	ornic_peek at = ornic_peek_at(&a_, &b_);

	if (at.acked > at.psn || at.psn > at.max_psn)
		fail("acked <= psn <= max_psn is not true");
	if (at.acked > at.epsn || at.epsn > at.max_psn)
		fail("acked <= epsn <= max_psn is not true");
}

// Receives hold what was executed of the SENDs, and nothing else.
void connection::check_received(int executed)
{
	u32 slot = 0;
	int whole = 0;

	for (u32 i = 0; i < t_.messages.size(); i++) {
		const message &m = t_.messages[i];

		if (m.kind != kind_send)
			continue;

		int got = std::clamp(executed - first_of(i), 0, m.npkts);
		u32 at = buffers + slot++ * piece;
		u32 bytes = static_cast<u32>(got) * mtu;
		u8 rest[piece];

		whole += got == m.npkts;
		if (ornic_fix_compare(&e_.bm, at, bytes, i) >= 0)
			fail("a SEND with wrong bytes");
		ornic_th_mr_read(&e_.bm, at + bytes, rest, piece - bytes);
		if (std::any_of(rest, rest + piece - bytes,
				[](u8 b) { return b; }))
			fail("a SEND that is too long");
	}
	if (whole != received_)
		fail("receives do not match what was executed");
}

// All WRITEs go to the same place, so the last one in order is on top.
void connection::check_written(int executed)
{
	u8 want[piece] = {}, got[piece];

	for (u32 i = 0; i < t_.messages.size(); i++) {
		int npkts = std::clamp(executed - first_of(i), 0,
				       t_.messages[i].npkts);

		if (t_.messages[i].kind != kind_write)
			continue;
		for (u32 k = 0; k < static_cast<u32>(npkts) * mtu; k++)
			want[k] = ornic_fix_byte(i, k);
	}
	ornic_th_mr_read(&e_.bm, written, got, piece);
	if (std::memcmp(want, got, piece) != 0)
		fail("WRITEs out of order, or not all of them");
}

void connection::check_memory(int executed)
{
	u64 count, want = 0;

	for (u32 i = 0; i < t_.messages.size(); i++)
		want += t_.messages[i].kind == kind_atomic &&
			first_of(i) < executed;
	ornic_th_mr_read(&e_.bm, counter, &count, 8);
	if (count != want)
		fail("an atomic was not executed once");
	check_received(executed);
	check_written(executed);
}

// Is there a reason for an error? As in the model: more faults than retries.
bool connection::may_fail() const
{
	long faults = std::count_if(
		t_.events.begin(), t_.events.end(),
		[](const event &e) { return std::strchr("xdh", e.what | 32); });

	return out_.error == error_rnr ? t_.posted < 9 :
					 out_.error == error_retries &&
						 (cut_ || faults > t_.retries);
}

void connection::check_end()
{
	int all = static_cast<int>(t_.messages.size());

	if (out_.complete + flushed_ != all)
		fail("at rest before everything is complete");
	if (flushed_ && !may_fail())
		fail("an error without a cause");
	check_memory(ornic_peek_at(&a_, &b_).epsn);
	// The model ends when it is decided, we when the wire is empty.
	if (t_.ends && (out_.error != t_.error || out_.complete != t_.complete))
		diverge("another end");
}

// One thing more after the trace, without faults. False if nothing is left.
bool connection::finish_step()
{
	for (direction *way : { &fwd_, &rev_ }) {
		for (std::deque<packet> *from : { &way->queue, &way->late }) {
			if (from->empty())
				continue;

			packet p = std::move(from->front());

			from->pop_front();
			deliver(std::move(p), way == &fwd_);
			return true;
		}
	}

	u64 a = ornic_th_deadline(e_.pair.a), b = ornic_th_deadline(e_.pair.b);
	u64 when = !a || (b && b < a) ? b : a;

	if (!when)
		return false;
	expire(when);
	return true;
}

void connection::finish()
{
	int n = 0;

	post_recv(9);
	while (out_.failure.empty() && finish_step())
		if (++n == max_steps)
			fail("it does not come to rest");
}

result connection::run()
{
	if (!make()) {
		fail("no connection");
		return out_;
	}
	fill();
	post();
	for (const event &e : t_.events)
		if (out_.failure.empty())
			replay(e);
	finish();
	if (out_.failure.empty())
		check_end();
	return out_;
}

} // namespace replay
