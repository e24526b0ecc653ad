// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "workload.h"

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "engine/flow.h"
#include "raw_frames.h"
}

namespace bench
{

namespace
{

constexpr u8 mtu_4096 = 5;
constexpr u32 budget = 64 << 20; // bytes: all at once

bool takes_receive(u8 opcode)
{
	return opcode == ORNIC_WQE_SEND;
}

void check(int status, const char *what)
{
	if (status)
		die(std::string(what) + ": " + std::to_string(status));
}

// The harness's own host, and who measures what it is called for; null: nobody.
const ornic_engine_ops *th_host;
meter *running;

ornic_wq_record *sq_record(const ornic_th_qp &qp)
{
	return reinterpret_cast<ornic_wq_record *>(qp.mem + ORNIC_SQ_RECORD);
}

// An MR of memory on demand, with all of its pages.
void add_odp(ornic_th *th, ornic_th_mr &mr, u32 bytes)
{
	check(ornic_th_odp_init(th, &mr, bytes, 0, ORNIC_ACCESS_MASK),
	      "ODP MR");
	check(ornic_th_odp_set(&mr, 0, mr.npages, true), "pages");
}

ornic_th_qpinit shape(u8 log_depth)
{
	ornic_th_qpinit init = {};

	init.type = ORNIC_QPT_RC;
	init.sq_log_depth = log_depth;
	init.rq_log_depth = log_depth;
	init.max_sge = 1;
	return init;
}

} // namespace

void die(const std::string &why)
{
	std::fprintf(stderr, "bench: %s\n", why.c_str());
	std::exit(1);
}

// ---- Both ends ----------------------------------------------------------------

// What the harness does with a frame, others do not.
int qp_pair::tx_frame(void *host, ornic_tx *tx)
{
	meter *m = running;
	int err;

	if (m)
		m->pause();
	err = th_host->tx_frame(host, tx);
	if (m)
		m->resume();
	return err;
}

int qp_pair::xmit(void *host, const ornic_tx *tx)
{
	meter *m = running;
	int err;

	if (m)
		m->pause();
	err = th_host->xmit(host, tx);
	if (m)
		m->resume();
	return err;
}

void qp_pair::replace_host(ornic_th *th, ornic_engine_ops &ops)
{
	const ornic_engine_ops **used = &th->eng->dev.ops;

	if (*used == &ops)
		return;
	th_host = *used;
	ops = **used;
	ops.tx_frame = tx_frame;
	ops.xmit = xmit;
	ops.trace = nullptr;
	*used = &ops;
}

void qp_pair::look_at(meter &m, const std::function<void()> &part)
{
	running = &m;
	m.run(part);
	running = nullptr;
}

qp_pair::qp_pair(const work &w)
	: work_(w)
{
	check(ornic_th_pair_init(&pair_, 1, w.where == link::LOOP), "pair");
	replace_host(pair_.a, a_ops_);
	if (w.where == link::WIRE)
		replace_host(pair_.b, b_ops_);
	add_idle();
	open(pair_.a, a_);
	open(pair_.b, b_);
	a_.qp.conn.mtu = mtu_4096;
	b_.qp.conn.mtu = mtu_4096;
	a_.qp.conn.max_rd_atomic = ORNIC_MAX_RD_ATOMIC;
	b_.qp.conn.max_dest_rd_atomic = ORNIC_MAX_RD_ATOMIC;
	check(ornic_th_connect(&a_.qp, &b_.qp, ORNIC_TH_IPV4), "connect");
	if (w.what != part::POLL)
		return;
	ornic_engine_set_polling(pair_.a->eng, true);
	while (ornic_th_run(pair_.a))
		;
}

qp_pair::~qp_pair()
{
	if (ornic_th_pair_fini(&pair_))
		die("memory was written beside");
}

void qp_pair::open(ornic_th *th, end &e)
{
	ornic_th_qpinit init = shape(6);

	check(ornic_th_cq_init(th, &e.scq, 8), "CQ");
	check(ornic_th_cq_init(th, &e.rcq, 8), "CQ");
	check(ornic_th_qp_init(th, &e.qp, &init, &e.scq, &e.rcq), "QP");
	add_memory(th, e.mr);
}

void qp_pair::add_memory(ornic_th *th, ornic_th_mr &mr) const
{
	if (work_.odp)
		add_odp(th, mr, mr_bytes);
	else
		check(ornic_th_mr_init(th, &mr, mr_bytes, 0, 1,
				       ORNIC_ACCESS_MASK),
		      "MR");
}

// Made first: the harness looks for the last QP first.
void qp_pair::add_idle()
{
	ornic_th_qpinit init = shape(1);

	if (work_.idle)
		check(ornic_th_cq_init(pair_.a, &idle_cq_, 4), "CQ");
	for (u32 i = 0; i < work_.idle; i++) {
		ornic_th_qp &qp = idle_.emplace_back();

		check(ornic_th_qp_init(pair_.a, &qp, &init, &idle_cq_,
				       &idle_cq_),
		      "idle QP");
		check(ornic_th_connect(&qp, nullptr, ORNIC_TH_IPV4), "idle");
	}
}

// ---- A round ------------------------------------------------------------------

void qp_pair::post_list()
{
	ornic_lsge local = { a_.mr.iova, work_.bytes, a_.mr.key };
	ornic_lsge remote = { b_.mr.iova, work_.bytes, b_.mr.key };
	ornic_th_wr wr = {};

	wr.opcode = work_.opcode;
	wr.flags = ORNIC_WQE_SIGNALED;
	wr.raddr = b_.mr.iova;
	wr.rkey = b_.mr.key;
	wr.swap_add = 1;
	wr.sge = &local;
	wr.nsge = 1;
	// One kick for all of them, and that is measured.
	WRITE_ONCE(sq_record(a_.qp)->kick_wanted, 0);
	for (u32 i = 0; i < work_.list; i++) {
		if (takes_receive(work_.opcode))
			ornic_th_post_recv(&b_.qp, i, &remote, 1);
		wr.wr_id = i;
		check(ornic_th_post_send(&a_.qp, &wr), "post");
	}
}

// What @from has sent by now reaches @to. Returns the packets.
u64 qp_pair::deliver(ornic_th *from, ornic_th *to, meter &m)
{
	ornic_rx rx;

	frames_.clear();
	while (ornic_th_frame *f = ornic_th_pull(from))
		frames_.push_back(f);
	for (ornic_th_frame *f : frames_) {
		check(ornic_th_parse(f->data, f->len, &rx), "parse");
		look_at(m, [to, &rx] { ornic_engine_rx(to->eng, &rx); });
		ornic_th_put(from, f);
	}
	return frames_.size();
}

// Returns the packets of the part that is looked at.
u64 qp_pair::settle(meter &m)
{
	meter &request = work_.what == part::REQUEST ? m : none_;
	meter &response = work_.what == part::RESPONSE ? m : none_;
	u64 there, back, requests = 0, responses = 0;

	do {
		there = deliver(pair_.a, pair_.b, request);
		ornic_th_run(pair_.b);
		back = deliver(pair_.b, pair_.a, response);
		ornic_th_run(pair_.a);
		requests += there;
		responses += back;
	} while (there || back);
	return work_.what == part::RESPONSE ? responses : requests;
}

void qp_pair::drain(ornic_th_cq &cq, u32 expected)
{
	ornic_cqe cqe;

	while (ornic_th_poll(&cq, &cqe)) {
		expected--;
		check(cqe.status, "completion");
	}
	check(static_cast<int>(expected), "completions are missing");
}

void qp_pair::kick()
{
	ornic_engine_kick(pair_.a->eng, a_.qp.qpn, budget);
}

u64 qp_pair::round(meter &m)
{
	u64 packets = 0;

	post_list();
	if (work_.what == part::POLL)
		look_at(m, [this] {
			while (!ornic_engine_poll(pair_.a->eng, budget))
				;
		});
	else if (work_.what == part::KICK)
		look_at(m, [this] { kick(); });
	else
		kick();
	if (work_.where == link::WIRE)
		packets = settle(m);
	drain(a_.scq, work_.list);
	if (takes_receive(work_.opcode))
		drain(b_.rcq, work_.list);
	return work_.where == link::WIRE ? packets : work_.list;
}

// ---- Pieces -------------------------------------------------------------------

translation::translation(u32 pages, layout where)
	: rig_(ornic_th_create(1, 1))
	, frags_(pages)
{
	if (!rig_)
		die("no th");
	if (where == layout::ODP)
		add_odp(rig_, mr_, pages * 4096);
	else
		check(ornic_th_mr_init(rig_, &mr_, pages * 4096, 0,
				       where == layout::SCATTERED,
				       ORNIC_ACCESS_MASK),
		      "MR");
}

translation::~translation()
{
	ornic_th_destroy(rig_);
}

u32 translation::run()
{
	ornic_iov iov = { frags_.data(), static_cast<u32>(frags_.size()), 0,
			  0 };

	ornic_rcu_read_lock();
	ornic_iov_map(&iov, &rig_->eng->dev, mr_.key, rig_->pdn, mr_.iova,
		      mr_.length, ORNIC_ACCESS_LOCAL_WRITE);
	ornic_rcu_read_unlock();
	if (iov.bytes != mr_.length)
		die("translation");
	return iov.n;
}

flow_rules::flow_rules(u32 count)
	: count_(count)
	, rig_(ornic_th_create(1, 1))
{
	ornic_th_qpinit init = shape(1);
	u32 number;

	if (!rig_)
		die("no th");
	init.type = ORNIC_QPT_RAW;
	check(ornic_th_cq_init(rig_, &cq_, 4), "CQ");
	check(ornic_th_qp_init(rig_, &qp_, &init, &cq_, &cq_), "QP");
	for (u32 i = 0; i < count; i++) {
		const ornic_rf_rule rule =
			ornic_rf_port(&qp_, static_cast<u16>(i));

		check(ornic_rf_create(rig_, &rule, &number), "flow rule");
	}
}

flow_rules::~flow_rules()
{
	ornic_th_destroy(rig_);
}

void flow_rules::run()
{
	ornic_flow_hits hits;

	for (u32 i = 0; i < frames; i++) {
		ornic_rf_udp(frame_, 9, static_cast<u16>(i * 61 % count_),
			     sizeof(frame_));
		ornic_rcu_read_lock();
		ornic_engine_find_frame(rig_->eng, frame_, ORNIC_FLOW_HEAD,
					true, &hits);
		ornic_rcu_read_unlock();
		if (hits.n != 1)
			die("no rule");
	}
}

checksum::checksum(u32 bytes)
	: payload_(bytes)
{
	for (u32 i = 0; i < bytes; i++)
		payload_[i] = static_cast<u8>(i * 131);
}

u32 checksum::run() const
{
	u32 crc = ornic_icrc_start(header_, false, bth_, sizeof(bth_));

	crc = ornic_crc32(crc, payload_.data(), payload_.size());
	return le32_to_cpu(ornic_icrc_finish(crc));
}

// clang-format off
const std::vector<work> works = {
	{"loop/write/8", link::LOOP, ORNIC_WQE_WRITE, 8, 1, part::KICK},
	{"loop/write/64/list32", link::LOOP, ORNIC_WQE_WRITE, 64, 32, part::KICK},
	{"loop/write/4096", link::LOOP, ORNIC_WQE_WRITE, 4096, 1, part::KICK},
	{"loop/write/65536", link::LOOP, ORNIC_WQE_WRITE, 65536, 1, part::KICK},
	{"loop/write/1048576", link::LOOP, ORNIC_WQE_WRITE, 1048576, 1, part::KICK},
	{"loop/send/8", link::LOOP, ORNIC_WQE_SEND, 8, 1, part::KICK},
	{"loop/send/4096", link::LOOP, ORNIC_WQE_SEND, 4096, 1, part::KICK},
	{"loop/send/65536", link::LOOP, ORNIC_WQE_SEND, 65536, 1, part::KICK},
	{"loop/send/1048576", link::LOOP, ORNIC_WQE_SEND, 1048576, 1, part::KICK},
	{"loop/read/8", link::LOOP, ORNIC_WQE_READ, 8, 1, part::KICK},
	{"loop/read/4096", link::LOOP, ORNIC_WQE_READ, 4096, 1, part::KICK},
	{"loop/read/65536", link::LOOP, ORNIC_WQE_READ, 65536, 1, part::KICK},
	{"loop/read/1048576", link::LOOP, ORNIC_WQE_READ, 1048576, 1, part::KICK},
	{"loop/atomic/8", link::LOOP, ORNIC_WQE_FAA, 8, 1, part::KICK},
	{"wire/write/8/send", link::WIRE, ORNIC_WQE_WRITE, 8, 1, part::KICK},
	{"wire/write/8/request", link::WIRE, ORNIC_WQE_WRITE, 8, 1, part::REQUEST},
	{"wire/write/8/ack", link::WIRE, ORNIC_WQE_WRITE, 8, 1, part::RESPONSE},
	{"wire/write/64/list32/send", link::WIRE, ORNIC_WQE_WRITE, 64, 32, part::KICK},
	{"wire/write/64/list32/request", link::WIRE, ORNIC_WQE_WRITE, 64, 32, part::REQUEST},
	{"wire/write/65536/send", link::WIRE, ORNIC_WQE_WRITE, 65536, 1, part::KICK},
	{"wire/write/65536/request", link::WIRE, ORNIC_WQE_WRITE, 65536, 1, part::REQUEST},
	{"wire/send/8/request", link::WIRE, ORNIC_WQE_SEND, 8, 1, part::REQUEST},
	{"wire/read/8/request", link::WIRE, ORNIC_WQE_READ, 8, 1, part::REQUEST},
	{"wire/read/8/response", link::WIRE, ORNIC_WQE_READ, 8, 1, part::RESPONSE},
	{"wire/read/65536/response", link::WIRE, ORNIC_WQE_READ, 65536, 1, part::RESPONSE},
	{"wire/atomic/8/send", link::WIRE, ORNIC_WQE_FAA, 8, 1, part::KICK},
	{"wire/atomic/8/request", link::WIRE, ORNIC_WQE_FAA, 8, 1, part::REQUEST},
	{"wire/atomic/8/response", link::WIRE, ORNIC_WQE_FAA, 8, 1, part::RESPONSE},
	{"loop/write/8/odp", link::LOOP, ORNIC_WQE_WRITE, 8, 1, part::KICK, 0, true},
	{"loop/write/65536/odp", link::LOOP, ORNIC_WQE_WRITE, 65536, 1, part::KICK, 0, true},
	{"loop/send/65536/odp", link::LOOP, ORNIC_WQE_SEND, 65536, 1, part::KICK, 0, true},
	{"loop/read/8/odp", link::LOOP, ORNIC_WQE_READ, 8, 1, part::KICK, 0, true},
	{"loop/read/65536/odp", link::LOOP, ORNIC_WQE_READ, 65536, 1, part::KICK, 0, true},
	{"wire/write/65536/request/odp", link::WIRE, ORNIC_WQE_WRITE, 65536, 1, part::REQUEST, 0, true},
	{"poll/1 of 1", link::LOOP, ORNIC_WQE_WRITE, 8, 1, part::POLL},
	{"poll/1 of 64", link::LOOP, ORNIC_WQE_WRITE, 8, 1, part::POLL, 63},
	{"poll/1 of 1024", link::LOOP, ORNIC_WQE_WRITE, 8, 1, part::POLL, 1023},
};
// clang-format on

} // namespace bench
