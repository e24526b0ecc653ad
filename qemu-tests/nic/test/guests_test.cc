// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Several guests, of one or two processes, also with a hostile guest.
#include "nic_fixture.h"

#include <csignal>
#include <sys/socket.h>
#include <sys/stat.h>

#include "sockets.h"

using namespace test;

namespace
{

struct generator {
	u64 state = 12345;
	u64 next()
	{
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		return state >> 16;
	}
};

/** Let the device of @g count this one of the optional counters. */
bool count_optional(fake_guest &g, ornic_stat stat)
{
	union ornic_req req {
	};

	req.hdr.opcode = ORNIC_CMD_MODIFY_STATS;
	req.modify_stats.optional = 1ull << stat;

	auto rsp = g.command(req);

	return rsp && !rsp->hdr.status;
}

} // namespace

TEST(guests, memory_to_memory)
{
	nic_fixture b(2);
	end x(b.guest(1)), y(b.guest(2));

	ASSERT_TRUE(join(x, 1, y, 2));
	for (u32 bytes : { 1u, 4096u, 65536u })
		exchange(x, y, bytes);
	exchange(y, x, 1000);
	EXPECT_EQ(b.number("stats", "roce_frames"), 0u);
}

TEST(guests, by_packets)
{
	nic_fixture b(2, { "--packets" });
	end x(b.guest(1)), y(b.guest(2));

	ASSERT_TRUE(join(x, 1, y, 2));
	for (u32 bytes : { 1u, 4096u, 65536u })
		exchange(x, y, bytes);
	EXPECT_GT(b.number("stats", "roce_frames"), 100u);
	EXPECT_EQ(b.number("stats", "rx_icrc_encapsulated"), 0u);
}

// IBTA A16; and a rule that has nothing to mark.
TEST(guests, roce_v1_by_packets)
{
	nic_fixture b(2, { "--packets", "--impair", "tx count=all ce" }, 1,
		      ",roce-v1=on");
	end x(b.guest(1)), y(b.guest(2));

	ASSERT_TRUE(x.guest.set_gid(ORNIC_GID_ROCE_V1));
	ASSERT_TRUE(y.guest.set_gid(ORNIC_GID_ROCE_V1));
	ASSERT_TRUE(join(x, 1, y, 2));
	for (u32 bytes : { 1u, 4096u, 65536u })
		exchange(x, y, bytes);
	EXPECT_GT(b.number("stats", "roce_frames"), 100u);
	EXPECT_EQ(b.number("stats", "rx_icrc_encapsulated"), 0u);
	EXPECT_EQ(b.number("impair", "hits"), 0u);
	EXPECT_GT(b.number("impair", "missed"), 100u);
}

TEST(guests, versions_are_apart)
{
	nic_fixture b(2, { "--packets" }, 1, ",roce-v1=on");
	end x(b.guest(1)), y(b.guest(2));

	ASSERT_TRUE(x.guest.set_gid(ORNIC_GID_ROCE_V1));
	ASSERT_TRUE(join(x, 1, y, 2));
	// Counters of guest 1 come first.
	y.guest.post(y.qp, ORNIC_WQE_WRITE, y.mr, x.mr.dma, x.mr.key, 64);
	EXPECT_TRUE(eventually(
		[&] { return b.number("stats", "rx_bad_addr") > 0; }));
}

// Its driver may try, and a device of the guest may use the virtio-net for it.
TEST(guests, nic_without_roce_v1)
{
	// A GRH with PayLen 16 and NxtHdr 0x1b, and what it announces.
	std::string f = ethernet(2, 1, "");

	f.replace(12, std::string::npos, "\x89\x15\x60");
	f += std::string(4, '\0') + "\x10\x1b\x40" + std::string(48, 'x');
	{
		nic_fixture b(2);
		netdev n1(b, 1), n2(b, 2);

		EXPECT_FALSE(b.guest(1).set_gid(ORNIC_GID_ROCE_V1));
		EXPECT_TRUE(b.guest(1).set_gid(ORNIC_GID_ROCE_V2));
		n1.send(f);
		EXPECT_EQ(n2.receive(), f);
		EXPECT_EQ(b.number("stats", "to_engines"), 0u);
	}
	nic_fixture b(2, {}, 1, ",roce-v1=on");
	netdev n1(b, 1), n2(b, 2);

	n1.send(f);
	EXPECT_TRUE(eventually(
		[&] { return b.number("stats", "to_engines") == 1; }));
	EXPECT_EQ(n2.receive(false), "");
}

TEST(guests, bad_wire)
{
	nic_fixture b(2, { "--packets", "--faults",
			   "loss=0.05,corrupt=0.05,delay=100us" });
	end x(b.guest(1)), y(b.guest(2));

	ASSERT_TRUE(join(x, 1, y, 2));
	for (int i = 0; i < 5; i++)
		exchange(x, y, 16384);
	EXPECT_GT(b.number("stats", "lost"), 0u);
	EXPECT_GT(b.number("stats", "corrupted"), 0u);
}

TEST(guests, third_packet_is_lost)
{
	nic_fixture b(2,
		      { "--packets", "--impair", "tx op=write psn=+2 drop" });
	end x(b.guest(1)), y(b.guest(2));

	ASSERT_TRUE(join(x, 1, y, 2));
	exchange(x, y, 16384);
	EXPECT_EQ(b.number("impair", "hits"), 1u);
	EXPECT_GE(b.number("stats", "packet_seq_err"), 1u);
	EXPECT_EQ(b.number("stats", "local_ack_timeout_err"), 0u);
}

// Of requests to guest 1, whose counters come first.
TEST(guests, single_packets_are_impaired)
{
	nic_fixture b(2, { "--packets" });
	end x(b.guest(1)), y(b.guest(2));
	const struct {
		const char *rule;
		u64 hits;
		const char *counter;
		u64 least;
	} rows[] = {
		{ "rx op=send psn=+1 duplicate", 1, "duplicate_request", 1 },
		{ "tx op=send psn=+1 duplicate", 1, "duplicate_request", 1 },
		{ "rx op=write nth=2 corrupt", 1, "rx_icrc_encapsulated", 1 },
		{ "tx op=write nth=2 corrupt", 1, "rx_icrc_encapsulated", 1 },
		{ "rx op=send psn=+1 swap", 1, "out_of_sequence", 1 },
		{ "tx op=send psn=+1 swap=2", 1, "out_of_sequence", 2 },
		{ "rx op=write nth=3 delay=1ms", 1, "out_of_sequence", 1 },
		{ "tx op=write nth=3 delay=1ms", 1, "out_of_sequence", 1 },
		// The ACK timeout expires, and the request comes again.
		{ "rx op=ack drop", 1, "duplicate_request", 1 },
		{ "tx op=request nth=2 every=3 count=4 ce", 4, "cc_rx_ce_pkts",
		  4 },
		{ "rx op=request nth=2 every=3 count=4 ce", 4, "cc_rx_ce_pkts",
		  4 },
	};
	u64 before;

	ASSERT_TRUE(join(x, 1, y, 2));
	ASSERT_TRUE(count_optional(x.guest, ORNIC_STAT_CC_RX_CE_PKTS));
	for (const auto &row : rows) {
		b.ask("impair clear");
		b.ask(std::string("impair ") + row.rule);
		before = b.number("stats", row.counter);
		exchange(y, x, 16384);
		EXPECT_EQ(b.number("impair", "hits"), row.hits) << row.rule;
		EXPECT_EQ(b.number("impair", "missed"), 0u) << row.rule;
		EXPECT_GE(b.number("stats", row.counter), before + row.least)
			<< row.rule;
	}
	b.ask("impair clear");
	EXPECT_EQ(b.ask("impair"), "{\"rules\": [], \"held\": 0}\n");
	EXPECT_NE(b.ask("impair tx").find("expected an action"),
		  std::string::npos);
}

/** Frames of a message are held. */
static void send_held(nic_fixture &b, end &x, end &y)
{
	ASSERT_TRUE(join(x, 1, y, 2));
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, y.mr.dma, y.mr.key, 16384);
	EXPECT_TRUE(eventually([&] { return b.number("impair", "held") > 2; }));
}

// Frames for a guest that goes while they are held are freed.
TEST(guests, held_frames_end_with_the_rule)
{
	nic_fixture b(2, { "--packets", "--impair", "rx count=all delay=10s" });
	end x(b.guest(1)), y(b.guest(2));

	send_held(b, x, y);
	b.unplug(2);
	EXPECT_GT(b.number("impair", "held"), 2u);
	b.ask("impair clear");
	EXPECT_TRUE(eventually([&] {
		return b.ask("impair") == "{\"rules\": [], \"held\": 0}\n";
	}));
}

// The rule is there before the message: a QP whose peer is gone sends again
// for half a second only.
TEST(guests, held_frames_end_with_the_process)
{
	nic_fixture b(2, { "--packets", "--impair", "tx count=all delay=10s" });
	end x(b.guest(1)), y(b.guest(2));

	send_held(b, x, y);
}

TEST(guests, two_processes)
{
	wired_pair wired;
	nic_fixture &p = wired.p, &q = wired.q;
	end x(p.guest(1)), y(q.guest(1));

	ASSERT_TRUE(join(x, 1, y, 2));
	for (u32 bytes : { 1u, 4096u, 65536u })
		exchange(x, y, bytes);
	EXPECT_GT(p.number("stats", "wire_tx_frames"), 64u);
	EXPECT_EQ(q.number("stats", "rx_icrc_encapsulated"), 0u);
}

TEST(guests, two_processes_stream)
{
	scratch dir;
	nic_fixture p(1, { "--wire", "listen:" + dir.path("p") });
	nic_fixture q(1, { "--wire", "connect:" + dir.path("p") }, 2);
	end x(p.guest(1)), y(q.guest(1));

	ASSERT_TRUE(join(x, 1, y, 2));
	for (u32 bytes : { 1u, 4096u, 65536u })
		exchange(x, y, bytes);
}

// The host gives the CPU to somebody else while a response arrives.
TEST(guests, what_has_arrived_is_not_lost)
{
	constexpr u64 rounds = 20;
	wired_pair wired({ "--faults", "delay=10ms" });
	nic_fixture &p = wired.p, &q = wired.q;
	end x(p.guest(1)), y(q.guest(1));
	pid_t worker = static_cast<pid_t>(p.number("guests", "worker"));
	auto resends = [&] {
		return p.number("stats", "retries") +
		       p.number("stats", "roce_adp_retrans");
	};

	ASSERT_TRUE(join(x, 1, y, 2));
	for (int i = 0; i < 4; i++)
		exchange(x, y, 1);

	u64 before = resends();

	for (u64 i = 0; i < rounds; i++) {
		x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, y.mr.dma, y.mr.key,
			     1);
		usleep(3000);
		kill(worker, SIGSTOP);
		usleep(100000);
		kill(worker, SIGCONT);
		ASSERT_TRUE(x.guest.poll(x.cq));
	}
	EXPECT_LT(resends() - before, rounds / 2);
}

// The peer of a stream may connect later, and reconnect.
TEST(guests, stream_is_connected_again)
{
	scratch dir;
	nic_fixture q(1, { "--wire", "connect:" + dir.path("p") }, 2);

	for (int i = 0; i < 2; i++) {
		nic_fixture p(1, { "--wire", "listen:" + dir.path("p") });
		end x(p.guest(1)), y(q.guest(1));

		ASSERT_TRUE(join(x, 1, y, 2));
		exchange(x, y, 1000);
	}
}

// A UDP port drops frames of other senders.
TEST(guests, udp_from_its_peer_alone)
{
	nic_fixture b(1, { "--wire", "udp:127.0.0.1:17911:127.0.0.1:17912" });
	nic::address to = nic::inet_address("127.0.0.1:17911", SOCK_DGRAM);
	nic::unique_fd stranger(::socket(AF_INET, SOCK_DGRAM, 0));
	nic::unique_fd peer(::socket(AF_INET, SOCK_DGRAM, 0));
	std::string f = ethernet(0, 9, "hello");

	nic::bind_to(peer.get(),
		     nic::inet_address("127.0.0.1:17912", SOCK_DGRAM), "peer");
	for (int i = 0; i < 10; i++)
		sendto(stranger.get(), f.data(), f.size(), 0,
		       nic::sockaddr_of(to), nic::length_of(to));
	sendto(peer.get(), f.data(), f.size(), 0, nic::sockaddr_of(to),
	       nic::length_of(to));
	EXPECT_TRUE(eventually(
		[&] { return b.number("stats", "wire_rx_frames") > 0; }));
	EXPECT_EQ(b.number("stats", "wire_rx_frames"), 1u);
}

// What a netdev sends keeps no QP from the wire, however much it is.
TEST(guests, netdev_and_qp_take_turns)
{
	constexpr u32 frames = 1000;
	scratch dir;
	nic::address at = nic::unix_address(dir.path("q"));
	nic::unique_fd peer(::socket(AF_UNIX, SOCK_DGRAM, 0));

	nic::bind_to(peer.get(), at, dir.path("q"));
	nic_fixture b(1, { "--wire",
			   "unix:" + dir.path("p") + ":" + dir.path("q") });
	netdev n(b, 1);
	end x(b.guest(1));
	char f[8192];
	u32 before = 0;

	ASSERT_TRUE(x.guest.connect(x.qp, 1, 2));
	for (u32 i = 0; i < frames; i++)
		n.send(ethernet(9, 1, "bulk"));
	ASSERT_TRUE(eventually(
		[&] { return b.number("stats", "port_rx_frames") == frames; }));
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, x.mr.dma, x.mr.key, 64);
	ASSERT_TRUE(eventually(
		[&] { return b.number("stats", "roce_frames") > 0; }));
	while (recv(peer.get(), f, sizeof(f), 0) > 14 && f[13] != 0)
		before++;
	EXPECT_LT(before, frames / 2);
}

TEST(guests, netdevs_have_a_switch)
{
	nic_fixture b(3, {}, 1, ",spoof=on");
	netdev n1(b, 1), n2(b, 2), n3(b, 3);
	std::string all = ethernet(0, 1, "who has"), one;

	n1.send(all);
	EXPECT_EQ(n2.receive(), all);
	EXPECT_EQ(n3.receive(), all);
	one = ethernet(1, 2, "I have");
	n2.send(one);
	EXPECT_EQ(n1.receive(), one);
	EXPECT_EQ(n3.receive(false), "");
	// The address of a bridge in guest 3.
	n3.send(ethernet(0, 77, "hello"));
	EXPECT_NE(n1.receive(), "");
	EXPECT_NE(n2.receive(), "");
	one = ethernet(77, 1, "welcome");
	n1.send(one);
	EXPECT_EQ(n3.receive(), one);
	EXPECT_EQ(n2.receive(false), "");
}

// Other guests cannot use a key.
TEST(guests, memory_is_apart)
{
	nic_fixture b(2);
	end x(b.guest(1)), z(b.guest(1)), y(b.guest(2));

	memset(y.mr.ptr, 0x5a, page);
	ASSERT_TRUE(join(x, 1, z, 1));
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, y.mr.dma, y.mr.key, 64);

	auto cqe = x.guest.poll(x.cq);

	ASSERT_TRUE(cqe);
	// Unless guest 1 has a key with the same number.
	if (y.mr.key != z.mr.key && y.mr.key != x.mr.key) {
		EXPECT_EQ(cqe->status, ORNIC_CQE_REM_ACCESS_ERR);
	}
	for (u32 i = 0; i < page; i++)
		ASSERT_EQ(y.mr.ptr[i], 0x5a);
}

TEST(guests, one_goes)
{
	nic_fixture b(3);
	end x(b.guest(1)), y(b.guest(2)), u(b.guest(1)), v(b.guest(3));

	ASSERT_TRUE(join(x, 1, y, 2));
	ASSERT_TRUE(join(u, 1, v, 3));
	exchange(x, y, 100);
	b.unplug(2);
	exchange(u, v, 1000);
	EXPECT_TRUE(eventually([&] {
		return b.ask("guests").find("\"connected\": false") !=
		       std::string::npos;
	}));
	x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, page, 1, 64);
	exchange(u, v, 1000);

	auto cqe = x.guest.poll(x.cq);

	ASSERT_TRUE(cqe);
	EXPECT_EQ(cqe->status, ORNIC_CQE_RETRY_EXC_ERR);
}

// Guest 1 writes random data and rings doorbells; guests 2 and 3 have traffic.
TEST(guests, hostile)
{
	nic_fixture b(3);
	end x(b.guest(2)), y(b.guest(3));
	u64 worker = b.number("guests", "worker");
	generator random;

	ASSERT_TRUE(join(x, 2, y, 3));
	for (int round = 0; round < 40; round++) {
		b.replug(1);

		fake_guest &g = b.guest(1);

		ASSERT_TRUE(g.start());

		end u(g), v(g);

		EXPECT_TRUE(g.make_eq(1).number);
		u8 *bar = reinterpret_cast<u8 *>(g.device_regs());

		join(u, 1, v, 1);
		g.arm(u.cq);
		for (int i = 0; i < 300; i++) {
			u64 r = random.next();
			u64 at = r % (r & 1 ? 2ULL * ORNIC_RING_OFFSET :
					      u64{ 128 } * page);

			u8 *to = (r & 1 ? bar : g.ram()) + (at & ~7ull);
			u64 value = random.next() >> (r >> 8 & 31);

			memcpy(to, &value, sizeof(value));
			if (r & 6)
				g.ring_kick();
			if (r & 24)
				g.ring_control();
		}
		exchange(x, y, 512);
		if (HasFatalFailure())
			return;
	}
	EXPECT_EQ(b.number("guests", "worker"), worker);
}

const u8 opcodes[] = {
	ORNIC_CMD_QUERY_DEVICE,	     ORNIC_CMD_QUERY_CLOCK,
	ORNIC_CMD_SET_GID,	     ORNIC_CMD_SET_PORT,
	ORNIC_CMD_INSPECT,	     ORNIC_CMD_CREATE_CQ,
	ORNIC_CMD_DESTROY_CQ,	     ORNIC_CMD_MODIFY_CQ,
	ORNIC_CMD_RESIZE_CQ,	     ORNIC_CMD_CREATE_QP,
	ORNIC_CMD_DESTROY_QP,	     ORNIC_CMD_MODIFY_QP,
	ORNIC_CMD_QUERY_QP,	     ORNIC_CMD_ATTACH_MCAST,
	ORNIC_CMD_DETACH_MCAST,	     ORNIC_CMD_CREATE_MKEY,
	ORNIC_CMD_DESTROY_MKEY,	     ORNIC_CMD_MODIFY_MKEY,
	ORNIC_CMD_CREATE_MW,	     ORNIC_CMD_DESTROY_MW,
	ORNIC_CMD_CREATE_AH,	     ORNIC_CMD_DESTROY_AH,
	ORNIC_CMD_CREATE_SRQ,	     ORNIC_CMD_DESTROY_SRQ,
	ORNIC_CMD_MODIFY_SRQ,	     ORNIC_CMD_QUERY_SRQ,
	ORNIC_CMD_RESIZE_SRQ,	     ORNIC_CMD_QUERY_TAGS,
	ORNIC_CMD_CREATE_COUNTERS,   ORNIC_CMD_DESTROY_COUNTERS,
	ORNIC_CMD_BIND_COUNTERS,     ORNIC_CMD_QUERY_STATS,
	ORNIC_CMD_MODIFY_STATS,	     ORNIC_CMD_CREATE_COMP_CNTR,
	ORNIC_CMD_DESTROY_COMP_CNTR, ORNIC_CMD_MODIFY_COMP_CNTR,
	ORNIC_CMD_ATTACH_COMP_CNTR,  ORNIC_CMD_SET_RSS,
	ORNIC_CMD_CREATE_FLOW,	     ORNIC_CMD_DESTROY_FLOW,
	ORNIC_CMD_END_RAW,	     ORNIC_CMD_CREATE_EQ,
	ORNIC_CMD_DESTROY_EQ,	     0xff,
};

// The same, with almost valid commands.
TEST(guests, hostile_commands)
{
	nic_fixture b(2);
	fake_guest &g = b.guest(1);
	u64 worker = b.number("guests", "worker");
	generator random;

	for (int i = 0; i < 5000; i++) {
		union ornic_req req;
		ornic_mem mem{};

		for (u8 &byte : req.bytes)
			byte = random.next() & 3 ?
				       0 :
				       static_cast<u8>(random.next());
		mem.addr = random.next() % (ram_bytes / page) * page;
		mem.npages = 1 + random.next() % 64;
		mem.page_shift = 12;
		mem.levels = random.next() % 8 == 0;
		if (random.next() & 3)
			memcpy(req.bytes + 8, &mem, sizeof(mem));
		if (random.next() & 1)
			req.hdr.obj = random.next() % 64;
		req.hdr.opcode = opcodes[random.next() % sizeof(opcodes)];
		ASSERT_TRUE(g.command(req)) << i;
		if (i % 16 == 0)
			g.ring_kick();
	}
	EXPECT_EQ(b.number("guests", "worker"), worker);
}

TEST(guests, capture)
{
	scratch dir;
	std::string file = dir.path("frames.pcapng");

	{
		nic_fixture b(2, { "--packets", "--capture", file });
		end x(b.guest(1)), y(b.guest(2));

		ASSERT_TRUE(join(x, 1, y, 2));
		exchange(x, y, 4096);
	}
	FILE *f = fopen(file.c_str(), "rb");
	u32 head[2] = {}, packets = 0, interfaces = 0;
	long at = 0;

	ASSERT_NE(f, nullptr);
	while (fread(head, sizeof(head), 1, f) == 1) {
		ASSERT_EQ(head[1] % 4, 0u);
		ASSERT_GE(head[1], 12u);
		packets += head[0] == 6;
		interfaces += head[0] == 1;
		at += head[1];
		fseek(f, at, SEEK_SET);
	}
	fclose(f);
	EXPECT_GE(packets, 12u);
	// Of the guests and the wire.
	EXPECT_EQ(interfaces, 3u);
}

// The worker has no capabilities: it reports once that it cannot send.
TEST(guests, port_that_may_not_be_reached)
{
	testing::internal::CaptureStderr();
	std::string out, what = "the worker cannot send to it";
	{
		nic_fixture b(2);
		netdev n1(b, 1), n2(b, 2);

		ASSERT_FALSE(chmod(b.path("q2").c_str(), 0));
		n1.send(ethernet(0, 1, "who has"));
		n1.send(ethernet(0, 1, "who has"));
		EXPECT_TRUE(eventually([&] {
			return b.number("stats", "port_tx_dropped") >= 2;
		}));
		EXPECT_EQ(n2.receive(false), "");
	}
	out = testing::internal::GetCapturedStderr();
	EXPECT_NE(out.find(what), std::string::npos) << out;
	EXPECT_EQ(out.find(what), out.rfind(what)) << out;
}

// Frames are charged to their sender, so a flood is not charged to its victim.
TEST(guests, frames_are_paid_by_their_sender)
{
	nic_fixture b(2);
	netdev n1(b, 1), n2(b, 2);
	std::string f = ethernet(1, 2, "for you");
	u64 before;

	for (int i = 0; i < 50; i++) {
		n2.send(f);
		ASSERT_EQ(n1.receive(), f);
	}
	before = b.number("guests", "spent_us");
	for (int i = 0; i < 50; i++) {
		n2.send(f);
		ASSERT_EQ(n1.receive(), f);
	}
	EXPECT_EQ(b.number("guests", "spent_us"), before);
	f = ethernet(2, 1, "for you");
	for (int i = 0; i < 50; i++) {
		n1.send(f);
		ASSERT_EQ(n2.receive(), f);
	}
	EXPECT_GT(b.number("guests", "spent_us"), before);
}

TEST(guests, another_mac_is_dropped)
{
	std::string f = ethernet(2, 9, "from another");

	{
		nic_fixture b(2);
		netdev n1(b, 1), n2(b, 2);

		n1.send(f);
		EXPECT_TRUE(eventually([&] {
			return b.number("stats", "spoofed_frames") == 1;
		}));
		EXPECT_EQ(n2.receive(false), "");
	}
	nic_fixture b(2, {}, 1, ",spoof=on");
	netdev n1(b, 1), n2(b, 2);

	n1.send(f);
	EXPECT_EQ(n2.receive(), f);
}

// Nor does a QP send with another MAC.
TEST(guests, another_mac_of_a_gid_is_dropped)
{
	for (bool spoof : { false, true }) {
		nic_fixture b(2, { "--packets" }, 1, spoof ? ",spoof=on" : "");
		end x(b.guest(1)), y(b.guest(2));
		union ornic_req req {
		};

		req.hdr.opcode = ORNIC_CMD_SET_GID;
		address_of(1, req.set_gid.smac, req.set_gid.gid);
		req.set_gid.smac[5] = 77;
		req.set_gid.vlan = ORNIC_VLAN_NONE;
		req.set_gid.valid = 1;
		ASSERT_EQ(x.guest.command(req)->hdr.status, ORNIC_OK);
		ASSERT_TRUE(join(x, 1, y, 2));
		x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, y.mr.dma, y.mr.key,
			     64);
		if (spoof) {
			ASSERT_TRUE(x.guest.poll(x.cq));
			continue;
		}
		EXPECT_TRUE(eventually([&] {
			return b.number("stats", "spoofed_frames") > 0;
		}));
	}
}
