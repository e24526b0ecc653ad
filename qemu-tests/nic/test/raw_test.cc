// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Raw packet QPs: flow rules, RSS, and frames that they send.
#include "raw_end.h"

#include <atomic>
#include <functional>
#include <set>
#include <thread>

using namespace test;

namespace
{

constexpr u16 port = 5000;
constexpr u16 roce_port = 4791;
constexpr u32 mtu = 1500;
constexpr u64 head_bytes = 14;

/** A frame of @bytes with @tags VLAN tags. */
std::string sized(u64 bytes, u32 tags)
{
	std::string f = ethernet(2, 1, ""), tag("\x81\0\0\5", 4);

	while (tags--)
		f.insert(12, tag);
	f.resize(bytes, 'y');
	return f;
}

bool end_raw(fake_guest &g)
{
	return g.destroy(ORNIC_CMD_END_RAW, 0);
}

bool destroy_flow(fake_guest &g, u32 number)
{
	return g.destroy(ORNIC_CMD_DESTROY_FLOW, number);
}

/** RoCE packets between @x and @y, guests 1 and 2, are copied to @s, of guest 1. */
void sniff(end &x, end &y, raw_end &s)
{
	ASSERT_TRUE(s.guest.make_default_flow(s.qp, ORNIC_FLOW_SNIFFER));
	ASSERT_TRUE(join(x, 1, y, 2));
	for (u32 bytes : { 1u, 4096u, 20000u })
		exchange(x, y, bytes);
	exchange(y, x, 4096);

	std::string f = s.receive(), own = ethernet(1, 2, "");

	EXPECT_EQ(f.substr(0, 12), own.substr(0, 12));
	EXPECT_EQ(udp_port_of(f), roce_port);
}

} // namespace

TEST(raw, rule_takes_what_it_names)
{
	nic_fixture b(2);
	netdev n1(b, 1), n2(b, 2);
	raw_end x(b.guest(1));
	std::string named, other;
	u32 flow = x.guest.make_flow(x.qp, to_port(port));

	ASSERT_TRUE(flow);
	EXPECT_EQ(b.number("guests", "flows"), 1u);
	for (int i = 0; i < 40; i++) {
		named = udp(1, 2, port, "named " + std::to_string(i));
		other = udp(1, 2, port + 1, "other " + std::to_string(i));
		n2.send(named);
		n2.send(other);
		ASSERT_EQ(x.receive(), named);
		ASSERT_EQ(n1.receive(), other);
	}
	EXPECT_FALSE(x.guest.destroy(ORNIC_CMD_DESTROY_QP, x.qp.number));
	EXPECT_TRUE(destroy_flow(x.guest, flow));
	EXPECT_EQ(b.number("guests", "flows"), 0u);
	n2.send(named);
	EXPECT_EQ(n1.receive(), named);
	EXPECT_EQ(x.receive(false), "");
	EXPECT_TRUE(x.guest.destroy(ORNIC_CMD_DESTROY_QP, x.qp.number));
}

TEST(raw, sniffer_gets_copies)
{
	nic_fixture b(2, { "--packets" });
	netdev n1(b, 1), n2(b, 2);
	end x(b.guest(1)), y(b.guest(2)), u(b.guest(1)), v(b.guest(1));
	raw_end s(b.guest(1));
	std::string f = udp(1, 2, port, "for both");

	sniff(x, y, s);
	// Of packets of a guest to itself as well
	ASSERT_TRUE(join(u, 1, v, 1));
	exchange(u, v, 4096);
	while (s.receive(false) != "")
		;
	n2.send(f);
	EXPECT_EQ(s.receive(), f);
	EXPECT_EQ(n1.receive(), f);
}

TEST(raw, sniffer_gets_copies_of_the_wire)
{
	wired_pair wired;
	end x(wired.p.guest(1)), y(wired.q.guest(1));
	raw_end s(wired.p.guest(1));

	sniff(x, y, s);
}

TEST(raw, sends)
{
	scratch dir;
	nic_fixture b(2, { "--wire",
			   "unix:" + dir.path("p") + ":" + dir.path("q") });
	netdev n1(b, 1), n2(b, 2), wire(dir.path("q"), dir.path("p"));
	raw_end x(b.guest(1)), own(b.guest(1));
	std::string f = udp(2, 1, port, "to guest 2");

	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(n2.receive(), f);
	f = udp(9, 1, port, "to an unknown address");
	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(wire.receive(), f);
	EXPECT_EQ(n2.receive(), f);
	// To itself it does not leave, with a rule or without.
	f = udp(1, 1, port, "to itself");
	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	ASSERT_TRUE(own.guest.make_flow(own.qp, to_port(port)));
	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(own.receive(), f);
	// The sender gets none of its own.
	ASSERT_TRUE(x.guest.make_flow(x.qp, to_port(port)));
	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(own.receive(), f);
	f = udp(0, 1, port + 1, "to all");
	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(wire.receive(), f);
	EXPECT_EQ(n2.receive(), f);
	EXPECT_EQ(n1.receive(false), "");
	EXPECT_EQ(own.receive(false), "");
}

TEST(raw, sends_from_another_address)
{
	for (bool spoof : { false, true }) {
		nic_fixture b(2, {}, 1, spoof ? ",spoof=on" : "");
		netdev n2(b, 2);
		raw_end x(b.guest(1));
		std::string f = udp(2, 9, port, "from another");
		std::string good = udp(2, 1, port, "from its own");

		EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
		EXPECT_EQ(x.send(good), ORNIC_CQE_SUCCESS);
		if (spoof) {
			EXPECT_EQ(n2.receive(), f);
		}
		EXPECT_EQ(n2.receive(), good);
		EXPECT_EQ(b.number("stats", "spoofed_frames"), !spoof);
	}
}

TEST(raw, mtu_of_the_netdev)
{
	nic_fixture b(2);
	netdev n2(b, 2);
	raw_end x(b.guest(1));
	const struct {
		u64 bytes;
		u32 tags;
		int status;
	} rows[] = {
		{ head_bytes - 1, 0, ORNIC_CQE_LOC_LEN_ERR },
		{ head_bytes, 0, ORNIC_CQE_SUCCESS },
		{ head_bytes + mtu, 0, ORNIC_CQE_SUCCESS },
		{ head_bytes + mtu + 1, 0, ORNIC_CQE_LOC_LEN_ERR },
		{ head_bytes + 4 + mtu, 1, ORNIC_CQE_SUCCESS },
		{ head_bytes + 4 + mtu + 1, 1, ORNIC_CQE_LOC_LEN_ERR },
		{ head_bytes + 8 + mtu, 2, ORNIC_CQE_LOC_LEN_ERR },
	};

	EXPECT_EQ(x.send(sized(page, 0)), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(n2.receive().size(), page);
	ASSERT_TRUE(x.guest.set_port(mtu));
	for (const auto &row : rows) {
		std::string f = sized(row.bytes, row.tags);

		EXPECT_EQ(x.send(f), row.status) << row.bytes;
		if (row.status)
			EXPECT_TRUE(x.guest.set_state(x.qp, ORNIC_QPS_RTS));
		else
			EXPECT_EQ(n2.receive(), f);
	}
}

TEST(raw, between_guests)
{
	nic_fixture b(2);
	netdev n2(b, 2);
	raw_end x(b.guest(1)), y(b.guest(2));
	std::string f = udp(2, 1, port, "raw to raw");
	u32 flow = y.guest.make_flow(y.qp, to_port(port));

	ASSERT_TRUE(flow);
	for (u32 i = 0; i < 2 * receives; i++) {
		f = udp(2, 1, port, std::to_string(i));
		ASSERT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
		ASSERT_EQ(y.receive(), f);
	}
	EXPECT_TRUE(destroy_flow(y.guest, flow));
	EXPECT_EQ(x.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_EQ(n2.receive(), f);
	EXPECT_EQ(y.receive(false), "");
}

// The host gets them as well, whichever rule names them.
TEST(raw, group_frames_reach_all)
{
	nic_fixture b(3);
	netdev n1(b, 1), n2(b, 2), n3(b, 3);
	raw_end x(b.guest(1)), y(b.guest(2)), z(b.guest(3));
	auto reaches_all = [&](const std::string &f) {
		return x.receive() == f && y.receive() == f &&
		       n1.receive() == f && n2.receive() == f;
	};
	std::string f = udp(0, 3, port, "to all");

	ASSERT_TRUE(x.guest.make_flow(x.qp, to_address(0)));
	ASSERT_TRUE(y.guest.make_default_flow(y.qp, ORNIC_FLOW_MC_DEFAULT));
	n3.send(f);
	EXPECT_TRUE(reaches_all(f));
	f = udp(0, 3, port, "of a raw packet QP");
	EXPECT_EQ(z.send(f), ORNIC_CQE_SUCCESS);
	EXPECT_TRUE(reaches_all(f));
	EXPECT_EQ(n3.receive(false), "");
}

// Addresses of a bridge in guest 1: unknown to the switch at first, then learned.
TEST(raw, other_addresses_of_a_guest)
{
	nic_fixture b(2, {}, 1, ",spoof=on");
	netdev n1(b, 1), n2(b, 2);
	raw_end x(b.guest(1)), y(b.guest(1));
	std::string f = udp(77, 2, port, "to the bridge");
	std::string other = udp(77, 2, port + 1, "likewise");

	ASSERT_TRUE(x.guest.make_flow(x.qp, to_port(port)));
	ASSERT_TRUE(y.guest.make_default_flow(y.qp, ORNIC_FLOW_ALL_DEFAULT));
	for (int known = 0; known < 2; known++) {
		n2.send(f);
		n2.send(other);
		EXPECT_EQ(x.receive(), f) << known;
		EXPECT_EQ(y.receive(), other) << known;
		EXPECT_EQ(n1.receive(), other) << known;
		n1.send(udp(2, 77, port, "of the bridge"));
		EXPECT_NE(n2.receive(), "");
	}
}

TEST(raw, end_raw)
{
	nic_fixture b(2);
	netdev n1(b, 1), n2(b, 2);
	fake_guest &g = b.guest(1);
	queue eq = g.make_eq(ORNIC_PCI_MSG_CONTROL);
	raw_end x(g);
	std::optional<ornic_eqe> eqe;
	std::string f = udp(1, 2, port, "for nobody");
	u32 flow = g.make_flow(x.qp, to_port(port));

	ASSERT_TRUE(flow);
	ASSERT_TRUE(end_raw(g));
	ASSERT_TRUE(eventually([&] {
		eqe = g.poll_eq(eq);
		return eqe.has_value();
	}));
	EXPECT_EQ(eqe->type, ORNIC_EVENT_QP_FATAL);
	EXPECT_EQ(eqe->obj, x.qp.number);
	for (u32 i = 0; i < receives; i++) {
		auto cqe = g.poll(x.cq);

		ASSERT_TRUE(cqe);
		EXPECT_EQ(cqe->status, ORNIC_CQE_WR_FLUSH_ERR);
	}
	EXPECT_EQ(x.send(udp(2, 1, port, "late")), ORNIC_CQE_WR_FLUSH_ERR);
	n2.send(f);
	EXPECT_EQ(n1.receive(), f);
	EXPECT_EQ(b.number("guests", "flows"), 1u);
	EXPECT_TRUE(end_raw(g));
	EXPECT_TRUE(destroy_flow(g, flow));
	EXPECT_TRUE(g.destroy(ORNIC_CMD_DESTROY_QP, x.qp.number));
	EXPECT_EQ(b.number("guests", "flows"), 0u);

	// What is made after that works.
	raw_end y(g);

	ASSERT_TRUE(g.make_flow(y.qp, to_port(port)));
	n2.send(f);
	EXPECT_EQ(y.receive(), f);
	EXPECT_EQ(y.send(udp(2, 1, port, "new")), ORNIC_CQE_SUCCESS);
	EXPECT_NE(n2.receive(), "");
}

// The netdev gets frames in order, also those that wait for a sniffer when it ends.
TEST(raw, rules_end_under_frames)
{
	constexpr u32 before = 900, after = 100;
	scratch dir;
	nic_fixture b(1, { "--wire", "listen:" + dir.path("p") });
	netdev n1(b, 1);
	stream_peer wire(dir.path("p"));
	u64 worker = b.number("guests", "worker");
	u32 flow = 0;
	auto to_guest = [](u32 i) {
		return udp(1, 9, port, std::to_string(i));
	};
	const std::function<bool()> ways[] = {
		[&] { return destroy_flow(b.guest(1), flow); },
		[&] { return end_raw(b.guest(1)); },
		[&] { return b.guest(1).reset(); },
		[&] {
			b.unplug(1);
			return true;
		},
	};

	for (const auto &end_rules : ways) {
		std::string frames;

		b.replug(1);
		ASSERT_TRUE(b.guest(1).start());

		raw_end s(b.guest(1));

		flow = s.guest.make_default_flow(s.qp, ORNIC_FLOW_SNIFFER);
		ASSERT_TRUE(flow);
		for (u32 i = 0; i < before; i++)
			frames += in_stream(to_guest(i));
		ASSERT_TRUE(wire.send(frames));
		EXPECT_TRUE(end_rules());
		for (u32 i = before; i < before + after; i++)
			ASSERT_TRUE(wire.send(in_stream(to_guest(i))));
		for (u32 i = 0; i < before + after; i++)
			ASSERT_EQ(n1.receive(), to_guest(i))
				<< &end_rules - ways;
	}
	EXPECT_EQ(b.number("guests", "worker"), worker);
}

TEST(raw, rss_spreads_ports)
{
	nic_fixture b(2);
	netdev n1(b, 1), n2(b, 2);
	fake_guest &g = b.guest(1);
	raw_end queues[] = { raw_end(g, has_rq), raw_end(g, has_rq) };
	raw_end sender(g);
	queue spread = g.make_qp(sender.cq, ORNIC_QPT_RAW, 0, 0);
	std::set<u16> ports[2];
	ornic_rss rss{};
	u32 count = 0;

	for (u32 i = 0; i < ORNIC_RSS_KEY_LEN; i++)
		rss.key[i] = static_cast<u8>(i * 73 + 41);
	rss.fields = ORNIC_RSS_DST_PORT_UDP;
	rss.log_size = 1;
	rss.qpn[0] = queues[0].qp.number;
	rss.qpn[1] = sender.qp.number;
	EXPECT_FALSE(g.set_rss(spread, rss));
	rss.qpn[1] = queues[1].qp.number;
	ASSERT_TRUE(g.set_rss(spread, rss));
	ASSERT_TRUE(g.make_flow(spread, to_port(0, 0)));
	for (u16 i = 0; i < 2 * receives; i++)
		n2.send(udp(1, 2, port + i % receives, "spread"));
	ASSERT_TRUE(eventually([&] {
		for (u32 i = 0; i < 2; i++) {
			std::string f = queues[i].receive(false);

			if (f.empty())
				continue;
			ports[i].insert(udp_port_of(f));
			count++;
		}
		return count == 2 * receives;
	}));
	for (const auto &list : ports)
		EXPECT_GT(list.size(), 0u);
	// No port is in both.
	EXPECT_EQ(ports[0].size() + ports[1].size(), receives);
	EXPECT_EQ(n1.receive(false), "");
}

// Each frame for guest 1 visits all its rules, as many as there may be of a match, and
// there are more frames than it has time for.
TEST(raw, hostile_rules)
{
	constexpr u32 masks = 64, priorities = 4, equal = 8;
	scratch dir;
	nic_fixture b(3, { "--wire", "listen:" + dir.path("p") });
	netdev n2(b, 2), n3(b, 3);
	stream_peer wire(dir.path("p"));
	fake_guest &g = b.guest(1);
	end x(b.guest(2)), y(b.guest(3));
	std::vector<raw_end> ends;
	std::string f = udp(2, 3, port, "of others"), flood;
	u64 worker = b.number("guests", "worker");
	std::atomic<bool> stop = false;

	ASSERT_TRUE(join(x, 2, y, 3));
	for (u32 i = 0; i < equal; i++)
		ends.emplace_back(g);
	for (u16 mask = 0; mask < masks; mask++)
		for (u16 priority = 0; priority < priorities; priority++)
			for (raw_end &e : ends)
				ASSERT_TRUE(
					g.make_flow(e.qp, to_port(port, mask),
						    ORNIC_FLOW_COPY, priority));
	EXPECT_EQ(b.number("guests", "flows"), masks * priorities * equal);
	EXPECT_FALSE(g.make_flow(ends[0].qp, to_port(port, masks)));
	for (u32 i = 0; i < 1000; i++)
		flood += in_stream(udp(1, 9, port, "flood"));

	std::thread sender([&] {
		while (!stop && wire.send(flood))
			;
	});

	EXPECT_TRUE(
		eventually([&] { return b.number("stats", "overflows") > 0; }));
	for (int i = 0; i < 20; i++) {
		exchange(x, y, 4096);
		n3.send(f);
		EXPECT_EQ(n2.receive(), f);
	}
	// Its commands have their turns, too.
	EXPECT_TRUE(end_raw(g));
	EXPECT_TRUE(g.reset());
	stop = true;
	sender.join();
	exchange(x, y, 4096);
	EXPECT_EQ(b.number("guests", "worker"), worker);
}
