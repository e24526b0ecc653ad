// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "partitions.h"

#include <array>
#include <memory>
#include <vector>

#include "wire.h"

namespace sim
{

namespace
{

constexpr u32 entries = 5; // of each table that are used
constexpr u32 steps = 60;
constexpr u32 area = 4096; // bytes to send; as many to receive follow
constexpr u32 grh_bytes = 40;

bool valid(u16 key)
{
	return key & 0x7fff;
}

// IBTA 10.9.3
bool may_talk(u16 a, u16 b)
{
	return valid(a) && valid(b) && (a & 0x7fff) == (b & 0x7fff) &&
	       (a & 0x8000 || b & 0x8000);
}

// A QP, its CQs and its memory.
struct node {
	int side = 0;
	ornic_th *th = nullptr;
	ornic_th_qp qp = {};
	ornic_th_cq scq = {}, rcq = {};
	ornic_th_mr mr = {};
	node *peer = nullptr; // null: of datagrams
	bool gsi = false;
	bool has_recv = false; // one receive is posted
};

class town {
public:
	explicit town(u64 seed);
	~town();
	town(const town &) = delete;
	town &operator=(const town &) = delete;

	members run();

private:
	void add_node(int side, u8 type, u8 flags);
	void add_pair(u8 type);
	void connect(node &n);
	void restart(node &n);
	void change_table();
	void send();
	node &other_datagram_node(const node &from);
	u16 key_of(const node &n, u32 index) const;
	s32 entry_taking(const node &n, u16 key) const;
	void post(node &from, node &to, u8 opcode, u32 len, u32 index);
	void check(node &from, node &to, u8 opcode, u32 len, u32 index);
	void check_recv(node &from, node &to, u32 len, s32 entry);
	bool changed(node &from, node &to, u8 opcode, u32 len);
	u64 bad_pkeys();
	void fail(const std::string &why)
	{
		if (out_.failure.empty())
			out_.failure = why + ", step " + std::to_string(step_);
	}

	random rng_;
	ornic_th_pair pair_ = {};
	bool alone_;
	std::array<std::array<u16, entries>, 2> table_ = {};
	std::vector<std::unique_ptr<node>> nodes_;
	std::vector<u8> data_;
	u32 step_ = 0;
	members out_;
};

town::town(u64 seed)
	: rng_(seed)
	, alone_(rng_.chance(0.3))
{
	if (ornic_th_pair_init(&pair_, rng_.next(), alone_)) {
		fail("no memory");
		return;
	}
	if (!alone_ && rng_.chance(0.3)) {
		pair_.a->peer = pair_.b;
		pair_.b->peer = pair_.a;
	}
	table_[0][0] = table_[1][0] = 0xffff;
	for (int side = 0; side < 2; side++) {
		for (u32 i = rng_.in(2, 3); i; i--)
			add_node(side, ORNIC_QPT_UD, 0);
		if (!side || !alone_)
			add_node(side, ORNIC_QPT_UD, ORNIC_QP_GSI);
	}
	for (u32 i = rng_.in(2, 4); i; i--)
		add_pair(rng_.chance(0.7) ? ORNIC_QPT_RC : ORNIC_QPT_UC);
	for (auto &n : nodes_)
		connect(*n);
	for (u32 i = 0; i < 3 * entries; i++)
		change_table();
}

town::~town()
{
	for (auto &n : nodes_) {
		if (n->qp.th && ornic_th_qp_fini(&n->qp))
			abort();
		if (ornic_th_cq_fini(&n->scq) || ornic_th_cq_fini(&n->rcq) ||
		    ornic_th_mr_fini(&n->mr))
			abort();
	}
	if (ornic_th_pair_fini(&pair_))
		abort();
}

void town::add_node(int side, u8 type, u8 flags)
{
	ornic_th_qpinit init = {};

	nodes_.push_back(std::make_unique<node>());

	node &n = *nodes_.back();

	n.side = alone_ ? 0 : side;
	n.th = side ? pair_.b : pair_.a;
	n.gsi = flags & ORNIC_QP_GSI;
	init.type = type;
	init.flags = flags;
	if (ornic_th_cq_init(n.th, &n.scq, 4) ||
	    ornic_th_cq_init(n.th, &n.rcq, 4) ||
	    ornic_th_mr_init(n.th, &n.mr, 2 * area, 0, 0, ORNIC_ACCESS_MASK) ||
	    ornic_th_qp_init(n.th, &n.qp, &init, &n.scq, &n.rcq))
		fail("no QP");
	n.qp.conn.pkey_index = static_cast<u8>(rng_.in(0, entries - 1));
}

void town::add_pair(u8 type)
{
	add_node(0, type, 0);
	add_node(1, type, 0);

	node &b = *nodes_.back(), &a = *nodes_[nodes_.size() - 2];

	a.peer = &b;
	b.peer = &a;
}

// A pair by the first of its nodes.
void town::connect(node &n)
{
	if (n.peer && n.peer < &n)
		return;
	if (ornic_th_connect(&n.qp, n.peer ? &n.peer->qp : nullptr,
			     ORNIC_TH_IPV4))
		fail("no connection");
}

// A message failed or is under way for ever; receives are gone.
void town::restart(node &n)
{
	ornic_cqe cqe;

	for (node *q : { &n, n.peer }) {
		if (!q)
			continue;
		if (ornic_th_to(&q->qp, ORNIC_QPS_RESET))
			fail("no reset");
		q->has_recv = false;
		while (ornic_th_poll(&q->scq, &cqe) ||
		       ornic_th_poll(&q->rcq, &cqe))
			;
	}
	connect(n.peer && n.peer < &n ? *n.peer : n);
}

void town::change_table()
{
	int side = alone_ ? 0 : static_cast<int>(rng_.in(0, 1));
	u32 i = static_cast<u32>(rng_.in(0, entries - 1));
	u16 key = static_cast<u16>(rng_.in(1, 3));

	if (rng_.chance(0.7))
		key |= 0x8000;
	if (rng_.chance(0.1))
		key = 0;
	table_[side][i] = key;
	if (ornic_engine_pkey_set((side ? pair_.b : pair_.a)->eng, i, key))
		fail("the table cannot be changed");
	ornic_th_settle(&pair_);
}

u16 town::key_of(const node &n, u32 index) const
{
	return table_[n.side][n.gsi ? index : n.qp.conn.pkey_index];
}

// The entry by which @n takes packets with @key, -1: it does not.
s32 town::entry_taking(const node &n, u16 key) const
{
	u32 i = n.qp.conn.pkey_index;

	if (!n.gsi)
		return may_talk(table_[n.side][i], key) ? static_cast<s32>(i) :
							  -1;
	for (i = 0; i < entries; i++)
		if (may_talk(table_[n.side][i], key))
			return static_cast<s32>(i);
	return -1;
}

// Of the other port, or of this one if there is no other.
node &town::other_datagram_node(const node &from)
{
	for (;;) {
		node &n = *nodes_[rng_.in(0, nodes_.size() - 1)];

		if (&n != &from && !n.peer && (alone_ || n.side != from.side))
			return n;
	}
}

void town::post(node &from, node &to, u8 opcode, u32 len, u32 index)
{
	ornic_lsge recv = { to.mr.iova + area, area, to.mr.key };
	ornic_lsge sge = { from.mr.iova, len, from.mr.key };
	ornic_th_wr wr = {};
	ornic_av av;

	data_.resize(len);
	for (u8 &byte : data_)
		byte = static_cast<u8>(rng_.next());
	ornic_th_mr_write(opcode == ORNIC_WQE_READ ? &to.mr : &from.mr, 0,
			  data_.data(), len);
	if (opcode == ORNIC_WQE_SEND && !to.has_recv) {
		ornic_th_post_recv(&to.qp, 1, &recv, 1);
		to.has_recv = true;
	}
	if (opcode == ORNIC_WQE_READ)
		sge.addr = from.mr.iova + area;
	wr.opcode = opcode;
	wr.flags = ORNIC_WQE_SIGNALED;
	wr.nsge = 1;
	wr.sge = &sge;
	wr.rkey = to.mr.key;
	wr.raddr = to.mr.iova + (opcode == ORNIC_WQE_WRITE ? area : 0);
	wr.dest_qpn = to.qp.qpn;
	wr.dest_qkey = to.qp.conn.qkey;
	wr.pkey_index = static_cast<u16>(index);
	if (!from.peer) {
		ornic_th_av(&av, to.th->index, ORNIC_TH_IPV4);
		if (ornic_th_ah(from.th, &av, &wr.ah))
			fail("no AH");
	}
	ornic_th_post_send(&from.qp, &wr);
	ornic_th_kick(&from.qp);
	ornic_th_settle(&pair_);
}

u64 town::bad_pkeys()
{
	u64 n = ornic_engine_stat(pair_.a->eng, ORNIC_STAT_RX_BAD_PKEY);

	if (!alone_)
		n += ornic_engine_stat(pair_.b->eng, ORNIC_STAT_RX_BAD_PKEY);
	return n;
}

// Did the bytes get to where @opcode brings them?
bool town::changed(node &from, node &to, u8 opcode, u32 len)
{
	node &at = opcode == ORNIC_WQE_READ ? from : to;
	u32 off = area + (from.peer ? 0 : grh_bytes);
	std::vector<u8> there(len);

	ornic_th_mr_read(&at.mr, off, there.data(), len);
	return there == data_;
}

void town::check_recv(node &from, node &to, u32 len, s32 entry)
{
	ornic_cqe cqe;

	if (!ornic_th_poll(&to.rcq, &cqe)) {
		fail("a message has not arrived");
		return;
	}
	to.has_recv = false;
	if (cqe.status ||
	    le32_to_cpu(cqe.byte_len) != len + (from.peer ? 0 : grh_bytes))
		fail("a receive failed");
	if (!from.peer && le16_to_cpu(cqe.pkey_index) != entry)
		fail("a receive by the wrong entry");
}

void town::check(node &from, node &to, u8 opcode, u32 len, u32 index)
{
	u16 key = key_of(from, index);
	s32 entry = entry_taking(to, key);
	bool completes = entry >= 0 || from.qp.type != ORNIC_QPT_RC;
	ornic_cqe cqe = {};
	bool done = ornic_th_poll(&from.scq, &cqe);

	if (!valid(key)) {
		if (!done || cqe.status != ORNIC_CQE_LOC_QP_OP_ERR ||
		    cqe.vendor_err != ORNIC_VERR_PKEY)
			fail("a message without a key did not fail");
		out_.failed++;
		restart(from);
		return;
	}
	if (done != completes || cqe.status)
		fail("the status of a message");
	if (changed(from, to, opcode, len) != (entry >= 0))
		fail(entry >= 0 ? "bytes have not arrived" :
				  "bytes of another partition");
	if (entry < 0) {
		out_.dropped++;
		if (ornic_th_poll(&to.rcq, &cqe))
			fail("a message of another partition");
		if (from.peer)
			restart(from);
		return;
	}
	out_.arrived++;
	if (opcode == ORNIC_WQE_SEND)
		check_recv(from, to, len, entry);
}

void town::send()
{
	static const u8 opcodes[] = { ORNIC_WQE_SEND, ORNIC_WQE_WRITE,
				      ORNIC_WQE_READ };
	node &from = *nodes_[rng_.in(0, nodes_.size() - 1)];
	node &to = from.peer ? *from.peer : other_datagram_node(from);
	u32 last = from.qp.type == ORNIC_QPT_RC ? 2 :
		   from.qp.type == ORNIC_QPT_UC ? 1 :
						  0;
	u8 opcode = opcodes[rng_.in(0, last)];
	u32 len = static_cast<u32>(rng_.in(16, from.peer ? 3000 : 200));
	u32 index = static_cast<u32>(rng_.in(0, entries - 1));
	u64 before = bad_pkeys(), arrived = out_.arrived;
	u64 dropped = out_.dropped;

	post(from, to, opcode, len, index);
	check(from, to, opcode, len, index);
	if (out_.dropped != dropped && bad_pkeys() == before)
		fail("a message was dropped and not counted");
	if (out_.arrived != arrived && bad_pkeys() != before)
		fail("a message was counted and not dropped");
}

members town::run()
{
	for (step_ = 1; step_ <= steps && out_.failure.empty(); step_++) {
		if (rng_.chance(0.3))
			change_table();
		else
			send();
	}
	return out_;
}

} // namespace

members run_partitions(u64 seed)
{
	town t(seed);

	return t.run();
}

} // namespace sim
