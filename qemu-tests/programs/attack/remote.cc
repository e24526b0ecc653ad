// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_attack_remote NETDEV MAC FROM TO SPOOFED DEVICE GID-INDEX ROUNDS SHARE SEED
 * [QPN[:PSN]]...
 * sends packets from NETDEV to the MAC: from the address FROM, which is that of the
 * peer of some QPs of DEVICE that this process makes, and from the address SPOOFED
 * of an innocent host. QPNs are those of the victims, PSNs what they expect, about. The
 * QPs of this process may fail, its guards may not be written to. One of SHARE packets is
 * sent. Without rounds, strangers begin long messages, which no worker may see.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <random>

#include "bait.h"
#include "packet.h"

namespace
{

constexpr uint8_t ud_send = 0x64, rc_write_only = 0x0a;

/* What is known of a QP under attack. A bait is one that the attacker has lured. */
struct target {
	uint32_t qpn;
	bait *lured;
	uint32_t psn = 0; /* what a victim expects, about */
};

/* All PSNs; those from there on that a victim comes to meanwhile, or keeps. */
constexpr uint32_t psns = 1 << 24, near_psns = 1 << 22;

class attacker {
public:
	attacker(char **argv);

	void run(const char *rounds, const char *share, const char *seed);
	/* QPN[:PSN] */
	void add_victim(const char *text)
	{
		char *end;
		const auto qpn =
			static_cast<uint32_t>(std::strtoul(text, &end, 10));
		const auto psn = static_cast<uint32_t>(
			*end == ':' ? std::strtoul(end + 1, nullptr, 10) : 0);

		targets_.push_back({ qpn, nullptr, psn });
	}

private:
	uint32_t pick(std::initializer_list<uint32_t> of);
	uint64_t below(uint64_t limit)
	{
		return random_() % limit;
	}
	[[nodiscard]] roce fresh(uint8_t opcode, const target &t);
	void aim(roce &p, const target &t);
	void spoil(roce &p);
	void send(const roce &p, const damage &wrong = {});
	/* Is this packet one of those that are left out? */
	bool skipped()
	{
		return below(share_) != 0;
	}
	const target &any()
	{
		return targets_[below(targets_.size())];
	}
	roce valid_to(const target &t);
	roce fatal_to(bait &b);

	void opcodes();
	void fields();
	void syndromes();
	void lengths();
	void headers();
	void mutations();
	void spoofed();
	void impersonate();
	void expect_nothing(bait &b, const roce &p, const char *why);
	void other_version();
	void as_roce_v1();
	void guess_psns();
	void fragmented();
	void strangers();
	void steal();
	void groups();
	void flood();
	void one_round();
	void report() const;

	packet_socket out_;
	port on_;
	field field_;
	route way_;
	byte_string innocent_, group_;
	std::list<bait> baits_;
	bait stranger_; /* with an SRQ of another XRC domain */
	std::vector<target> targets_;
	std::mt19937_64 random_;
	uint64_t share_ = 1;
};

ibv_gid gid_of(const byte_string &ip)
{
	ibv_gid gid{};

	if (ip.size() == 4)
		gid.raw[10] = gid.raw[11] = 0xff;
	std::memcpy(gid.raw + 16 - ip.size(), ip.data(), ip.size());
	return gid;
}

/* RFC 1112 and 2464 */
mac_address group_mac(const byte_string &ip)
{
	const uint8_t *end = ip.data() + ip.size();

	if (ip.size() == 16)
		return { 0x33, 0x33, end[-4], end[-3], end[-2], end[-1] };
	return { 0x01,	  0x00,	  0x5e, static_cast<uint8_t>(end[-3] & 0x7f),
		 end[-2], end[-1] };
}

attacker::attacker(char **argv)
	: out_(argv[1])
	, on_(argv[6], std::atoi(argv[7]), "ornic")
	, field_(on_)
	, way_{ out_.mac(), parse_mac(argv[2]), false, parse_ip(argv[3]),
		parse_ip(argv[4]) }
	, innocent_(parse_ip(argv[5]))
	, stranger_(on_, field_, IBV_QPT_XRC_RECV, gid_of(way_.from))
{
	const ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
				      IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND };

	way_.ipv6 = way_.from.size() == 16;
	group_ = parse_ip(way_.ipv6 ? "ff0e::102:3" : "239.1.2.3");
	for (ibv_qp_type type : types) {
		baits_.emplace_back(on_, field_, type, gid_of(way_.from));
		targets_.push_back({ baits_.back().qpn(), &baits_.back() });
		if (type == IBV_QPT_UD)
			baits_.back().join(gid_of(group_));
	}
	for (uint32_t qpn : { 0u, 1u, 2u, 0x3ffffu, 0x40000u, 0xffffffu })
		targets_.push_back({ qpn, nullptr });
}

uint32_t attacker::pick(std::initializer_list<uint32_t> of)
{
	return *(of.begin() + below(of.size()));
}

/* As the victim's real peer might send it, but for what it cannot know. */
void attacker::aim(roce &p, const target &t)
{
	const bool response = (p.opcode & 0x1f) >= 0x0d &&
			      (p.opcode & 0x1f) <= 0x12;

	p.qpn = t.qpn;
	/* Far from what a victim expects: see spoofed(). */
	p.psn = static_cast<uint32_t>(t.psn + near_psns +
				      below(psns - near_psns)) %
		psns;
	/* Never that of the victims, which would be let in rightly. */
	p.qkey = t.lured ? bait_qkey : 0x22222222;
	if (!t.lured)
		return;
	t.lured->revive();
	p.psn = response ? t.lured->oldest() + pick({ 0, 0, 1, 2, 3, 4 }) :
			   t.lured->expected();
	p.psn &= 0xffffff;
	for (const bait &b : baits_)
		if (b.srqn())
			p.srqn = b.srqn();
}

roce attacker::fresh(uint8_t opcode, const target &t)
{
	roce p;

	p.opcode = opcode;
	p.payload = pick({ 0, 1, 8, 1000, 1024, 1024, 1025, 4000 });
	p.va = field_.address(field::open) + 8 * below(64);
	p.rkey = field_.open_mr->rkey;
	p.length = static_cast<uint32_t>(p.payload);
	p.src_qpn = 0x4242;
	p.msn = static_cast<uint32_t>(random_());
	p.imm = pick({ 0, p.rkey, field_.foreign_mr->rkey, 7 });
	aim(p, t);
	return p;
}

/* A request that the target executes, if it does so for its sender at all. */
roce attacker::valid_to(const target &t)
{
	static const uint8_t transports[] = { 0x00, 0x20, 0x60, 0xa0 };
	static const uint8_t requests[] = { 0x04, 0x05, 0x0a, 0x0b,
					    0x0c, 0x13, 0x1c, 0x1d };
	const ibv_qp_type type = t.lured ? t.lured->type() : IBV_QPT_RC;
	uint8_t transport = transports[below(4)];

	if (t.lured)
		transport = type == IBV_QPT_RC ? 0x00 :
			    type == IBV_QPT_UC ? 0x20 :
			    type == IBV_QPT_UD ? 0x60 :
						 0xa0;
	roce p = fresh(transport == 0x60 ? ud_send :
					   transport | requests[below(8)],
		       t);

	p.payload = (p.opcode & 0x1f) == 0x0c || (p.opcode & 0x1f) > 0x12 ?
			    (p.opcode & 0x1f) == 0x1d ? 8 : 0 :
			    below(1025);
	p.length = p.payload ? static_cast<uint32_t>(p.payload) : 64;
	return p;
}

/* The NAK that ends a requester. */
roce attacker::fatal_to(bait &b)
{
	constexpr uint8_t acknowledge = 0x11, nak_access = 0x62;
	const uint8_t xrc = b.type() == IBV_QPT_XRC_SEND ? 0xa0 : 0;
	roce p = fresh(xrc | acknowledge, { b.qpn(), &b });

	p.psn = b.oldest();
	p.syndrome = nak_access;
	return p;
}

void attacker::send(const roce &p, const damage &wrong)
{
	out_.send(frame(way_, encode(p), wrong));
}

/* Each opcode to each kind of QP, with a right and with a wrong ICRC. */
void attacker::opcodes()
{
	for (uint32_t opcode = 0; opcode < 256; opcode++)
		for (const target &t : targets_) {
			damage wrong;

			if (skipped())
				continue;
			send(fresh(static_cast<uint8_t>(opcode), t));
			wrong.icrc = true;
			send(fresh(static_cast<uint8_t>(opcode), t), wrong);
		}
}

/* One field, in a way that a responder could forget to check. */
void attacker::spoil(roce &p)
{
	const uint64_t end = field_.address(field::open) + field::area;
	const uint32_t far = static_cast<uint32_t>(1 << below(24));
	/* May be ~0u already, from another spoil(). */
	const uint64_t length = p.length;

	switch (below(16)) {
	case 0:
		p.flags ^= static_cast<uint8_t>(1 + below(15)); /* version */
		break;
	case 1:
		p.flags ^= static_cast<uint8_t>(0x40 << below(2));
		break;
	case 2:
		p.pad = static_cast<int>(1 + below(3));
		break;
	case 3:
		p.pkey = static_cast<uint16_t>(
			pick({ 0, 1, 0x7fff, 0x8000, 0x1234, 0x9234, 0xfffe }));
		break;
	case 4:
		p.psn = (p.psn + pick({ 1, far, ~far, ~0u })) & 0xffffff;
		break;
	case 5:
		p.qpn ^= static_cast<uint32_t>(1 << below(24));
		break;
	case 6:
		p.va = below(2) ? end - below(length + 1) : end;
		break;
	case 7:
		p.va = ~uint64_t{ 0 } - below(2 * length + 1);
		break;
	case 8:
		p.va = field_.address(below(2) ? field::inner : field::foreign);
		break;
	case 9:
		p.rkey = pick({ field_.inner_mr->rkey, field_.foreign_mr->rkey,
				field_.received_mr->rkey, 0, ~0u, 0x100 });
		p.va = p.rkey == field_.inner_mr->rkey ?
			       field_.address(field::inner) :
			       field_.address(field::foreign);
		break;
	case 10:
		p.rkey ^= static_cast<uint32_t>(1 << below(32));
		break;
	case 11:
		p.length = pick({ 0, 1, p.length + 1, 0x7fffffff, 0x80000000,
				  0x80000001, ~0u });
		break;
	case 12:
		p.va |= 1 + below(7);
		break;
	case 13:
		p.qkey = pick({ 0, ~0u, 0x80010000, p.qkey ^ 1 });
		break;
	case 14:
		p.srqn = below(2) ?
				 stranger_.srqn() :
				 p.srqn ^ static_cast<uint32_t>(1 << below(24));
		break;
	case 15:
		p.feth = static_cast<uint32_t>(random_());
		break;
	}
}

void attacker::fields()
{
	for (int i = 0; i < 512; i++) {
		roce p = valid_to(any());

		spoil(p);
		send(p);
		if (below(4) == 0) {
			spoil(p);
			send(p);
		}
	}
}

/* All syndromes, for responses of which some are due. */
void attacker::syndromes()
{
	for (uint32_t syndrome = 0; syndrome < 256; syndrome++)
		for (const target &t : targets_) {
			if (skipped() || (!t.lured && below(4)))
				continue;
			const bool xrc = t.lured &&
					 t.lured->type() == IBV_QPT_XRC_SEND;
			roce p = fresh((xrc ? 0xa0 : 0) |
					       pick({ 0x0d, 0x0f, 0x10, 0x11,
						      0x11, 0x12 }),
				       t);

			p.syndrome = static_cast<uint8_t>(syndrome);
			send(p);
		}
}

/* Each length from nothing at all on, with an ICRC where one has room. */
void attacker::lengths()
{
	for (uint8_t opcode :
	     { 0x04, 0x0a, 0x0c, 0x11, 0x13, 0x1c, 0x64, 0xaa })
		for (size_t length = 0; length <= 64; length++) {
			if (skipped())
				continue;
			roce p = fresh(opcode, any());

			p.payload = 64;
			byte_string body = encode(p);

			body.resize(length);
			damage wrong;

			if (below(4) == 0)
				wrong.udp_len =
					static_cast<int>(below(41)) - 20;
			if (below(4) == 0)
				wrong.ip_len = static_cast<int>(below(41)) - 20;
			out_.send(frame(way_, body, wrong));
		}
}

/* What lies around the RoCE headers. */
void attacker::headers()
{
	for (int i = 0; i < 256; i++) {
		const uint16_t vid =
			static_cast<uint16_t>(pick({ 0, 1, 66, 4095, 0xe001 }));
		const target &t = any();
		damage wrong;

		if (skipped())
			continue;
		switch (below(6)) {
		case 0:
			wrong.fragment = static_cast<uint16_t>(
				pick({ 0x2000, 1, 0x2001, 0x1fff, 8, 9 }));
			break;
		case 1:
			wrong.options = true;
			break;
		case 2:
			wrong.vlans.assign(1 + below(3), vid);
			break;
		case 3:
			wrong.ttl = static_cast<uint8_t>(below(2));
			break;
		case 4:
			wrong.tos = static_cast<uint8_t>(random_());
			break;
		case 5:
			wrong.udp_len = static_cast<int>(below(129)) - 64;
			break;
		}
		send(valid_to(t), wrong);
	}
}

/* Any byte of a good packet becomes any other, and the ICRC fits. */
void attacker::mutations()
{
	for (int i = 0; i < 1024; i++) {
		if (skipped())
			continue;
		const target &t = any();
		byte_string body = encode(valid_to(t));
		const uint64_t changes = 1 + below(4);

		for (uint64_t n = 0; n < changes; n++)
			body[below(std::min<size_t>(body.size(), 48))] =
				static_cast<uint8_t>(random_());
		if (below(8) == 0)
			body.resize(below(body.size() + 1));
		/* A victim's Q_Key must stay unknown: see aim(). */
		out_.send(frame(way_, body));
	}
}

/*
 * From the address of an innocent host. What has the QPN, too, lacks the PSN: a guess
 * would be one of those that are executed, or kept and executed in their turn, once in
 * 2^15 times. That is an end that RoCE allows, and not tried.
 */
void attacker::spoofed()
{
	const byte_string own = way_.from;

	way_.from = innocent_;
	for (uint32_t opcode = 0; opcode < 256; opcode++)
		for (const target &t : targets_) {
			if (skipped())
				continue;
			roce p = fresh(static_cast<uint8_t>(opcode), t);
			const uint8_t op = opcode & 0x1f;

			/* A NAK in the window is an end that RoCE allows. */
			if (t.lured || (op >= 0x0d && op <= 0x12))
				continue;
			p.rkey = static_cast<uint32_t>(random_());
			send(p);
		}
	way_.from = own;
}

void attacker::expect_nothing(bait &b, const roce &p, const char *why)
{
	const uint32_t before = b.expected();
	const uint64_t deaths = b.deaths();

	send(p);
	b.revive();
	check_equal(b.expected(), before,
		    std::string("PSN after a request ") + why);
	check_equal(b.deaths(), deaths,
		    std::string("deaths after a packet ") + why);
}

/* All is right but the address: nothing is executed, no QP fails. */
void attacker::impersonate()
{
	const byte_string own = way_.from;

	for (bait &b : baits_)
		for (int i = 0; b.type() != IBV_QPT_UD && i < 16; i++) {
			const bool response = b.has_requests() && i % 2;
			const roce p = response ? fatal_to(b) :
						  valid_to({ b.qpn(), &b });

			way_.from = innocent_;
			expect_nothing(b, p, "from elsewhere");
			way_.from = own;
		}
}

/* All is right but the version of RoCE, IBTA A17.9. */
void attacker::other_version()
{
	for (bait &b : baits_)
		for (int i = 0; b.type() != IBV_QPT_UD && i < 16; i++) {
			const bool response = b.has_requests() && i % 2;
			const roce p = response ? fatal_to(b) :
						  valid_to({ b.qpn(), &b });

			way_.v1 = true;
			expect_nothing(b, p, "of RoCE v1");
			way_.v1 = false;
		}
}

/* What UD QPs and QP 1 take of RoCE v1, and what lies around its headers. */
void attacker::as_roce_v1()
{
	way_.v1 = true;
	opcodes();
	lengths();
	headers();
	mutations();
	way_.v1 = false;
}

/* All is right but the PSN, which is far ahead, also that of a fatal NAK. */
void attacker::guess_psns()
{
	for (bait &b : baits_)
		for (int far = 17; b.type() != IBV_QPT_UD && far < 23; far++) {
			roce p = valid_to({ b.qpn(), &b });

			p.psn = (p.psn + (1u << far)) & 0xffffff;
			send(p);
			if (!b.has_requests())
				continue;
			p = fatal_to(b);
			const uint64_t deaths = b.deaths();

			p.psn = (p.psn + (1u << far)) & 0xffffff;
			send(p);
			b.revive();
			check_equal(b.deaths(), deaths,
				    "deaths after a NAK of another PSN");
		}
}

/* All is right, but it comes in two fragments: nothing is executed. */
void attacker::fragmented()
{
	for (bait &b : baits_)
		for (int i = 0; i < 4; i++) {
			const roce p = valid_to({ b.qpn(), &b });
			const uint32_t before = b.expected();
			const uint64_t receives = b.receives();

			for (const byte_string &part :
			     fragments(way_, encode(p)))
				out_.send(part);
			b.revive();
			check_equal(b.expected(), before,
				    "PSN after a request in fragments");
			check_equal(b.receives(), receives,
				    "receives after a request in fragments");
		}
}

/* Long messages begin at all QPs, at the PSN that is expected, from elsewhere. */
void attacker::strangers()
{
	const byte_string own = way_.from;

	for (int i = 0; i < 64; i++)
		for (const target &t : targets_)
			for (uint8_t opcode : { 0x00, 0x01, 0x20, 0xa0 }) {
				const roce p = fresh(opcode, t);

				way_.from = innocent_;
				send(p);
				way_.from = own;
			}
}

/* All is right but the PD or the rights of the key: see the guards. */
void attacker::steal()
{
	for (bait &b : baits_)
		for (field::which w : { field::inner, field::foreign })
			for (uint8_t op : { 0x0a, 0x14, 0x1d }) {
				roce p = valid_to({ b.qpn(), &b });

				p.opcode = (p.opcode & 0xe0) | op;
				p.payload = op == 0x14 ? 0 : 8;
				p.length = 8;
				p.va = field_.address(w);
				p.rkey = w == field::inner ?
						 field_.inner_mr->rkey :
						 field_.foreign_mr->rkey;
				p.swap = 1;
				send(p);
			}
}

/* To a group with a member: what is not for it, and each opcode to its Q_Key. */
void attacker::groups()
{
	const route one = way_;

	way_.to = group_;
	way_.dmac = group_mac(group_);
	for (uint32_t opcode = 0; opcode < 256; opcode++)
		for (uint32_t qpn : { 0xffffffu, 1u, targets_.back().qpn }) {
			if (skipped())
				continue;
			roce p = fresh(static_cast<uint8_t>(opcode),
				       { qpn, nullptr });

			send(p);
			if (qpn != 0xffffff)
				continue;
			p.qkey = bait_qkey;
			send(p);
		}
	way_ = one;
}

/* Bursts for the victims, and messages of CM, as fast as they go. */
void attacker::flood()
{
	for (const target &t : targets_) {
		const bool cm = t.qpn == 1;

		for (int i = 0; i < 256; i++) {
			if (skipped())
				continue;
			roce p = fresh(cm ? ud_send : rc_write_only, t);

			p.payload = p.length = cm ? 256 : 1024;
			if (cm) {
				p.qkey = 0x80010000;
				p.mad = static_cast<uint16_t>(0x10 + below(12));
			}
			send(p);
		}
	}
}

void attacker::one_round()
{
	opcodes();
	fields();
	syndromes();
	lengths();
	headers();
	mutations();
	spoofed();
	impersonate();
	other_version();
	as_roce_v1();
	guess_psns();
	fragmented();
	steal();
	groups();
	flood();
	field_.check_guards();
	stranger_.revive();
	check_equal(stranger_.receives(), 0, "SRQ of another domain");
}

void attacker::report() const
{
	static const char *const names[] = { "RC", "UC", "UD", "XRC target",
					     "XRC initiator" };
	size_t i = 0;

	std::printf("%ju packets\n", uintmax_t(out_.sent()));
	for (const bait &b : baits_)
		std::printf("%s: connected anew %ju times, %ju receives\n",
			    names[i++], uintmax_t(b.deaths()),
			    uintmax_t(b.receives()));
}

void attacker::run(const char *rounds, const char *share, const char *seed)
{
	share_ = std::strtoull(share, nullptr, 0);
	random_.seed(std::strtoull(seed, nullptr, 0));
	if (!std::atoi(rounds))
		strangers();
	for (int left = std::atoi(rounds); left; left--)
		one_round();
	report();
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc < 11) {
		std::fprintf(
			stderr,
			"usage: ornic_attack_remote NETDEV MAC FROM TO SPOOFED"
			" DEVICE GID ROUNDS SHARE SEED [QPN[:PSN]]...\n");
		return 2;
	}
	try {
		attacker evil(argv);

		for (int i = 11; i < argc; i++)
			evil.add_victim(argv[i]);
		evil.run(argv[8], argv[9], argv[10]);
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
