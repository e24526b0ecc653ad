// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Runs scenarios for many seeds, or for one:
//
//	ornic_sim [--seeds=N] [--seed=N] [--trace] [--results=FILE] [gtest flags]
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "effort.h"
#include "goodput.h"
#include "partitions.h"
#include "port.h"
#include "scenario.h"

extern "C" {
#include "engine/crc32.h"
}

namespace
{

struct options {
	std::uint64_t seeds = 1000;
	std::uint64_t seed = 0;
	bool one = false;
	bool trace = false;
	const char *results = nullptr;
} opt;

std::uint64_t passed, failed;

constexpr int max_reports = 5;

// Speed and shares are looked at from so many seeds on: SEEDS of kunit.mk, not SAN_SEEDS.
constexpr std::uint64_t all_seeds = 5000;

struct sums {
	std::uint64_t seeds, messages, bytes, sent, ns;
	std::uint64_t acks, rnr_naks, retries, swapped;
	sim::effort effort;
};

// Runs seeds 1 to @count, or the one that was asked for.
sums run_seeds(sim::kind what, const char *test, std::uint64_t count)
{
	std::uint64_t first = opt.one ? opt.seed : 1;
	std::uint64_t last = opt.one ? opt.seed : count;
	std::uint64_t frames = 0, lost = 0;
	int reports = 0;
	sums all{};

	for (std::uint64_t seed = first; seed <= last; seed++) {
		sim::outcome out = sim::run(what, seed, opt.trace);

		frames += out.frames;
		lost += out.lost;
		all.seeds++;
		all.messages += out.messages;
		all.bytes += out.bytes;
		all.sent += out.sent;
		all.ns += out.ns;
		all.acks += out.acks;
		all.rnr_naks += out.rnr_naks;
		all.retries += out.retries;
		all.swapped += out.swapped;
		all.effort.add(out);
		if (out.failure.empty()) {
			passed++;
			continue;
		}
		failed++;
		ADD_FAILURE() << "seed " << seed << ": " << out.failure
			      << "\nreplay: build/sim/ornic_sim "
			      << "--gtest_filter=sim." << test
			      << " --seed=" << seed << " --trace";
		if (++reports == max_reports)
			break;
	}
	std::printf("# %s: %ju seeds, %ju messages, %ju frames, %ju lost\n",
		    test, uintmax_t{ last - first + 1 },
		    uintmax_t{ all.messages }, uintmax_t{ frames },
		    uintmax_t{ lost });
	return all;
}

// A third of the seeds for each kind of peers: what they send again and how long
// they take is bounded, for each run and on average.
void run_peers(sim::kind what, const char *test, double frames, double us)
{
	sums all = run_seeds(what, test, opt.seeds / 3 + 1);

	std::printf("# %s: %.3f frames for each that is needed, %.0f us\n",
		    test, all.effort.per_needed(), all.effort.us());
	if (all.seeds < 300)
		return;
	EXPECT_LT(all.effort.per_needed(), frames);
	EXPECT_LT(all.effort.us(), us);
}

TEST(sim, lossy)
{
	run_peers(sim::kind::lossy, "lossy", 0.96, 700);
}

TEST(sim, standard)
{
	run_peers(sim::kind::standard, "standard", 1.03, 700);
}

TEST(sim, like_rxe)
{
	// Both ends of a connection have the same QPN.
	constexpr std::uint64_t equal_qpns = 276596;

	run_peers(sim::kind::like_rxe, "like_rxe", 1.03, 700);
	EXPECT_EQ(sim::run(sim::kind::like_rxe, equal_qpns).failure, "");
}

TEST(sim, perfect)
{
	run_seeds(sim::kind::perfect, "perfect", opt.seeds / 10 + 1);
}

TEST(sim, loopback)
{
	run_seeds(sim::kind::loopback, "loopback", opt.seeds / 10 + 1);
}

TEST(sim, aborted)
{
	run_seeds(sim::kind::aborted, "aborted", opt.seeds / 10 + 1);
}

TEST(sim, broken)
{
	run_seeds(sim::kind::broken, "broken", opt.seeds / 10 + 1);
}

TEST(sim, swapped)
{
	sums all = run_seeds(sim::kind::swapped, "swapped", opt.seeds / 20 + 1);

	if (all.seeds < 50)
		return;
	EXPECT_LT(all.retries, all.swapped * 11 / 10);
	EXPECT_LT(all.acks, all.bytes / 8192);
}

TEST(sim, direct)
{
	run_seeds(sim::kind::direct, "direct", opt.seeds / 5 + 1);
}

TEST(sim, paged)
{
	run_seeds(sim::kind::paged, "paged", opt.seeds / 5 + 1);
}

TEST(sim, unready)
{
	sums all = run_seeds(sim::kind::unready, "unready", opt.seeds / 20 + 1);

	if (all.seeds < 50)
		return;
	EXPECT_LT(all.sent, all.bytes * 3 / 2);
	// A pause lasts up to 10 ms, but is asked about each millisecond only.
	EXPECT_LT(all.rnr_naks, all.messages / 2);
}

TEST(sim, orphaned)
{
	run_seeds(sim::kind::orphaned, "orphaned", opt.seeds / 5 + 1);
}

TEST(sim, refused)
{
	run_seeds(sim::kind::refused, "refused", opt.seeds / 10 + 1);
}

TEST(sim, partitions)
{
	std::uint64_t first = opt.one ? opt.seed : 1;
	std::uint64_t last = opt.one ? opt.seed : opt.seeds / 5 + 1;
	std::uint64_t arrived = 0, dropped = 0, without = 0;

	for (std::uint64_t seed = first; seed <= last; seed++) {
		sim::members out = sim::run_partitions(seed);

		arrived += out.arrived;
		dropped += out.dropped;
		without += out.failed;
		if (out.failure.empty()) {
			passed++;
			continue;
		}
		failed++;
		ADD_FAILURE() << "seed " << seed << ": " << out.failure;
	}
	std::printf(
		"# partitions: %ju seeds, %ju messages arrived, %ju dropped, "
		"%ju had no key\n",
		uintmax_t{ last - first + 1 }, uintmax_t{ arrived },
		uintmax_t{ dropped }, uintmax_t{ without });
	if (opt.one)
		return;
	EXPECT_GT(arrived, last);
	EXPECT_GT(dropped, last);
	EXPECT_GT(without, last);
}

TEST(sim, bottleneck)
{
	sums all = run_seeds(sim::kind::bottleneck, "bottleneck",
			     opt.seeds / 20 + 1);

	if (all.seeds < 50)
		return;
	EXPECT_LT(all.sent, all.bytes * 3 / 2);
	EXPECT_LT(all.ns / all.seeds, 150000000u);
}

// A path, and what must be reached of what the same delay allows without loss.
struct path {
	const char *name;
	std::uint64_t delay; // us
	double loss;
	double overtake;
	double duplicate;
	double least[3]; // of WRITE, SEND, READ
	bool standard;
};

// clang-format off
const path paths[] = {
	{ "20 us",		20,	0,	0,	0,	{ 1, 1, 1 } },
	{ "20 us, 0.1 % lost",	20,	0.001,	0,	0,	{ 0.98, 0.98, 0.98 } },
	{ "20 us, 1 % lost",	20,	0.01,	0,	0,	{ 0.95, 0.95, 0.95 } },
	{ "20 us, 5 % lost",	20,	0.05,	0,	0,	{ 0.9, 0.9, 0.85 } },
	{ "20 us, 10 % lost",	20,	0.1,	0,	0,	{ 0.65, 0.65, 0.65 } },
	{ "20 us, 5 % twice",	20,	0,	0,	0.05,	{ 0.98, 0.98, 0.98 } },
	{ "no ornic",		20,	0,	0,	0,	{ 1, 1, 1 }, true },
	{ "no ornic, 1 % lost",	20,	0.01,	0,	0,	{ 0.5, 0.5, 0.7 }, true },
	{ "no ornic, 5 % lost",	20,	0.05,	0,	0,	{ 0.25, 0.25, 0.3 }, true },
	{ "1 ms",		1000,	0,	0,	0,	{ 1, 1, 1 } },
	{ "1 ms, 0.1 % lost",	1000,	0.001,	0,	0,	{ 0.97, 0.97, 0.95 } },
	{ "1 ms, 1 % lost",	1000,	0.01,	0,	0,	{ 0.9, 0.9, 0.85 } },
	{ "1 ms, 5 % lost",	1000,	0.05,	0,	0,	{ 0.75, 0.75, 0.55 } },
	{ "1 ms, 10 % lost",	1000,	0.1,	0,	0,	{ 0.5, 0.5, 0.2 } },
	{ "1 ms, 25 % overtake", 1000,	0,	0.25,	0,	{ 0.95, 0.95, 0.9 } },
};
// clang-format on

sim::achieved measure(const path &p, u8 opcode, std::uint64_t messages)
{
	sim::transfer t;

	t.opcode = opcode;
	t.messages = messages;
	t.path.delay = p.delay * sim::us;
	t.path.loss = p.loss;
	t.path.overtake = p.overtake;
	t.path.duplicate = p.duplicate;
	t.path.reorder_delay = p.delay * sim::us;
	t.path.ns_per_byte = 2; // 4 Gbit/s
	t.path.max_harm = ~0u;
	t.path.standard = p.standard;
	t.path.ascending = p.standard ? sim::goodput_mtu : 0;
	t.seed = opt.one ? opt.seed : 1;
	t.trace = opt.trace && opt.one;
	return sim::measure(t);
}

// One line of the table: MB/s, packets for each one of data.
void show_path(const path &p, std::uint64_t messages, double clean[3])
{
	static const u8 opcodes[] = { ORNIC_WQE_WRITE, ORNIC_WQE_SEND,
				      ORNIC_WQE_READ };

	const bool clean_path = p.loss == 0 && p.overtake == 0 &&
				p.duplicate == 0;

	std::printf("# %-20s", p.name);
	for (int i = 0; i < 3; i++) {
		sim::achieved got = measure(p, opcodes[i], messages);

		if (clean_path)
			clean[i] = got.mb_per_s;

		double part = got.mb_per_s / clean[i];

		std::printf(" %7.1f %4.2f %5.2f |", got.mb_per_s, part,
			    static_cast<double>(got.packets) /
				    static_cast<double>(got.data_packets));
		if (opt.trace)
			std::printf(
				" %ju retries, %ju early, %ju NAKs, %ju twice |",
				uintmax_t{ got.retries },
				uintmax_t{ got.early }, uintmax_t{ got.naks },
				uintmax_t{ got.duplicates });
		EXPECT_EQ(got.failure, "") << p.name;
		if (messages >= 400) {
			EXPECT_GE(part, p.least[i]) << p.name << " " << i;
		}
	}
	std::printf("\n");
}

TEST(sim, goodput)
{
	// Few under sanitizers, where speed is not looked at.
	std::uint64_t messages = opt.seeds >= all_seeds ? 400 : 40;
	double clean[3] = {};

	std::printf("# 64 KiB, 4 Gbit/s: MB/s, part of that without loss, "
		    "packets per packet of data\n");
	std::printf("# %-20s %20s %21s %21s\n", "", "WRITE", "SEND", "READ");
	for (const path &p : paths)
		show_path(p, messages, clean);
}

// Bytes per ns of messages that were complete in [from, to).
double speed(const sim::achieved &got, std::uint64_t from, std::uint64_t to)
{
	auto in = [=](std::uint64_t t) { return t >= from && t < to; };
	auto n = std::count_if(got.done.begin(), got.done.end(), in);

	return static_cast<double>(n) * sim::goodput_message /
	       static_cast<double>(to - from);
}

// Paths of 1 Gbit/s each, the delays of which differ by @scale * 10 us and more.
std::vector<sim::route> some_routes(std::uint64_t scale)
{
	std::vector<sim::route> routes;

	for (std::uint64_t delay : { 20, 30, 45, 60 })
		routes.push_back({ delay * scale * sim::us, 8 });
	return routes;
}

// One connection over four paths, one of which dies after 50 ms.
void spray_over(std::uint8_t opcode, std::uint64_t scale, bool all)
{
	constexpr std::uint64_t ms = 1000 * sim::us, start = 20 * ms;
	constexpr std::uint64_t death = 50 * ms;
	std::vector<sim::route> routes = some_routes(scale);
	sim::transfer t;

	t.opcode = opcode;
	t.path.max_harm = ~0u;
	t.path.routes = { routes[0] };
	t.messages = all ? 150 : 20;
	sim::achieved one = sim::measure(t);

	routes[2].dies = all ? death : ms;
	t.path.routes = routes;
	t.spray = 4;
	t.messages = all ? 1000 : 80;
	sim::achieved four = sim::measure(t);

	double alone = speed(one, start, 2 * start);
	double before = speed(four, start, death);
	double after = speed(four, death + 50 * ms, death + 100 * ms);

	std::printf(
		"# %s, delays of up to %ju us: %.2f times one path, %.2f of "
		"that 50 ms after one has died; %ju twice\n",
		opcode == ORNIC_WQE_READ ? "READ" : "WRITE",
		uintmax_t{ 60 * scale }, before / alone, after / before,
		uintmax_t{ four.duplicates });
	EXPECT_EQ(one.failure, "");
	EXPECT_EQ(four.failure, "");
	if (!all)
		return;
	EXPECT_GE(before, 3.5 * alone);
	EXPECT_GE(after, 0.7 * before);
}

TEST(sim, sprayed)
{
	// Few under sanitizers, where speed is not looked at.
	bool all = opt.seeds >= all_seeds;

	for (std::uint64_t scale : { 1, 20 })
		for (std::uint8_t opcode : { ORNIC_WQE_WRITE, ORNIC_WQE_READ })
			spray_over(opcode, scale, all);
}

// Who shares the port, and what must be reached: use of the port, Jain's index,
// and packets in the queue 99 % of the time.
struct share {
	const char *name;
	std::uint8_t opcode;
	std::uint32_t flows;
	bool late;
	bool standard;
	double use;
	double jain;
	std::uint32_t p99;
};

// clang-format off
const share port_shares[] = {
	{ "16 WRITE",		ORNIC_WQE_WRITE, 16, false, false, 0.95, 0.98, 128 },
	{ "64 WRITE",		ORNIC_WQE_WRITE, 64, false, false, 0.95, 0.98, 256 },
	{ "16 READ",		ORNIC_WQE_READ,	 16, false, false, 0.95, 0.98, 192 },
	{ "16 WRITE, one late",	ORNIC_WQE_WRITE, 16, true,  false, 0.95, 0.98, 128 },
	{ "16 WRITE, standard",	ORNIC_WQE_WRITE, 16, false, true,  0.95, 0.98, 192 },
	{ "16 READ, standard",	ORNIC_WQE_READ,	 16, false, true,  0.95, 0.98, 192 },
	{ "same, one late",	ORNIC_WQE_WRITE, 16, true,  true,  0.95, 0.98, 192 },
};
// clang-format on

TEST(sim, marked)
{
	// Few under sanitizers, where shares are not looked at.
	bool all = opt.seeds >= all_seeds;

	std::printf(
		"# 1 Gbit/s, marks at 64 packets: use, Jain's index, queue: "
		"median, 99 %%, most\n");
	for (const share &s : port_shares) {
		sim::incast t;

		t.opcode = s.opcode;
		t.flows = s.flows;
		t.late = s.late;
		t.standard = s.standard;
		t.marks_at = 64;
		t.warm_up = (all ? 100000 : 4000) * sim::us;
		t.ns = (all ? 500000 : 4000) * sim::us;

		sim::shares got = sim::share_port(t, opt.trace && opt.one);

		std::printf("# %-20s %5.3f %5.3f %4u %4u %4u; %ju marks, "
			    "%ju CNPs, %ju resends\n",
			    s.name, got.use, got.jain, got.typical, got.p99,
			    got.most, uintmax_t{ got.marked },
			    uintmax_t{ got.cnps }, uintmax_t{ got.resent });
		EXPECT_EQ(got.failure, "") << s.name;
		EXPECT_EQ(got.dropped, 0u) << s.name;
		if (!all)
			continue;
		EXPECT_GE(got.use, s.use) << s.name;
		EXPECT_GE(got.jain, s.jain) << s.name;
		EXPECT_LE(got.p99, s.p99) << s.name;
	}
}

// Messages of 4 KiB through a port of 50 Mbit/s, whose queue makes the RTT several hundred
// times what it is at first. Copies must not fill it: that makes the RTT longer still.
struct slow {
	const char *name;
	std::uint32_t flows;
	std::uint32_t
		marks_at; // packets; 0: a queue of 256 drops what comes then
	bool standard;
	double useful;
	double jain;
	std::uint32_t p99;
};

// clang-format off
const slow slow_ports[] = {
	{ "8, marks",			8,  32, false, 0.98, 0.95, 64 },
	{ "16, marks",			16, 32, false, 0.98, 0.95, 64 },
	{ "17, marks",			17, 32, false, 0.98, 0.95, 64 },
	{ "64, marks",			64, 32, false, 0.98, 0.95, 128 },
	{ "16, marks, standard",	16, 32, true,  0.6,  0.9,  1500 },
	{ "16, drops",			16, 0,  false, 0.98, 0,    256 },
	{ "64, drops",			64, 0,  false, 0.98, 0,    256 },
};
// clang-format on

TEST(sim, slow_port)
{
	std::printf(
		"# 50 Mbit/s: use, part of it that is no copy, Jain's index, queue: "
		"median, 99 %%, most\n");
	for (const slow &s : slow_ports) {
		sim::incast t;

		t.opcode = ORNIC_WQE_WRITE;
		t.flows = s.flows;
		t.mbit = 50;
		t.message = 4096;
		t.under_way = 16;
		t.marks_at = s.marks_at;
		t.limit = s.marks_at ? 8000 : 256;
		t.by_rtt = false;
		t.standard = s.standard;
		t.warm_up = 2000000 * sim::us;
		t.ns = 1000000 * sim::us;

		sim::shares got = sim::share_port(t, opt.trace && opt.one);

		std::printf(
			"# %-20s %5.3f %5.3f %5.3f %4u %4u %4u; %ju dropped, "
			"%ju marks, %ju resends\n",
			s.name, got.use, got.useful, got.jain, got.typical,
			got.p99, got.most, uintmax_t{ got.dropped },
			uintmax_t{ got.marked }, uintmax_t{ got.resent });
		EXPECT_EQ(got.failure, "") << s.name;
		EXPECT_GE(got.use, 0.98) << s.name;
		EXPECT_GE(got.useful, s.useful) << s.name;
		EXPECT_GE(got.jain, s.jain) << s.name;
		EXPECT_LE(got.p99, s.p99) << s.name;
	}
}

// The same without marks: the queue drops what comes when it has 256 packets, and the
// RTT is what tells. A late one must have about its share 100 to 200 ms after it began.
struct dropping {
	const char *name;
	std::uint8_t opcode;
	std::uint32_t flows;
	std::uint32_t target; // of the RTT, us; 0: the initial value
	bool standard;
	bool late;
	bool victim;
	double use;
	double jain;
	std::uint32_t p99;
	double dropped; // part of the packets
	double times; // of the victim: p99, in times of that alone
};

// clang-format off
const dropping dropping_ports[] = {
	{ "1 WRITE",		ORNIC_WQE_WRITE, 1,  0, 0, 0, 0, 0.99, 1,    64,  0,     0 },
	{ "1 READ",		ORNIC_WQE_READ,  1,  0, 0, 0, 0, 0.99, 1,    64,  0,     0 },
	{ "16 WRITE",		ORNIC_WQE_WRITE, 16, 0, 0, 0, 0, 0.99, 0.99, 80,  0,     0 },
	{ "64 WRITE",		ORNIC_WQE_WRITE, 64, 0, 0, 0, 0, 0.99, 0.99, 80,  0,     0 },
	{ "16 READ",		ORNIC_WQE_READ,  16, 0, 0, 0, 0, 0.99, 0.98, 80,  0,     0 },
	{ "64 READ",		ORNIC_WQE_READ,  64, 0, 0, 0, 0, 0.99, 0.97, 128, 0.004, 0 },
	{ "16 WRITE, one late",	ORNIC_WQE_WRITE, 16, 0, 0, 1, 0, 0.99, 0.99, 80,  0,     0 },
	{ "16 READ, one late",	ORNIC_WQE_READ,  16, 0, 0, 1, 0, 0.99, 0.98, 80,  0,     0 },
	{ "16 WRITE, victim",	ORNIC_WQE_WRITE, 17, 0, 0, 0, 1, 0.99, 0.99, 80,  0,     30 },
	{ "16 WRITE, standard",	ORNIC_WQE_WRITE, 16, 0, 1, 0, 0, 0.99, 0.99, 80,  0,     0 },
	{ "64 WRITE, standard",	ORNIC_WQE_WRITE, 64, 0, 1, 0, 0, 0.99, 0.98, 80,  0.001, 0 },
	{ "16 READ, standard",	ORNIC_WQE_READ,  16, 0, 1, 0, 0, 0.99, 0.97, 96,  0.001, 0 },
	{ "1 WRITE, 60 us",	ORNIC_WQE_WRITE, 1,  60, 0, 0, 0, 0.99, 1,   8,   0,     0 },
	{ "16 WRITE, 100 us",	ORNIC_WQE_WRITE, 16, 100, 0, 0, 0, 0.98, 0.98, 20, 0,    0 },
	{ "64 WRITE, 100 us",	ORNIC_WQE_WRITE, 64, 100, 0, 0, 0, 0.98, 0.98, 40, 0,    0 },
	{ "late, 100 us",	ORNIC_WQE_WRITE, 16, 100, 0, 1, 0, 0.98, 0.98, 20, 0,    0 },
	{ "victim, 100 us",	ORNIC_WQE_WRITE, 17, 100, 0, 0, 1, 0.98, 0.98, 20, 0,    9 },
	{ "victim, 60 us",	ORNIC_WQE_WRITE, 17, 60, 0, 0, 1, 0.85, 0.98, 20, 0,     8 },
};
// clang-format on

void show_dropping(const dropping &s, bool all, std::uint64_t unloaded)
{
	sim::incast t;

	t.opcode = s.opcode;
	t.flows = s.flows;
	t.late = s.late;
	t.victim = s.victim;
	t.standard = s.standard;
	t.rtt_target = s.target;
	t.limit = 256;
	t.warm_up = (all ? 100000 : 4000) * sim::us;
	t.ns = (all ? 1000000 : 4000) * sim::us;

	sim::shares got = sim::share_port(t, opt.trace && opt.one);
	double dropped = static_cast<double>(got.dropped) /
			 static_cast<double>(std::max<u64>(got.packets, 1));
	double times = static_cast<double>(got.victim_p99) /
		       static_cast<double>(unloaded);

	std::printf("# %-20s %5.3f %5.3f %4u %4u %4u %7.5f", s.name, got.use,
		    got.jain, got.typical, got.p99, got.most, dropped);
	if (s.late)
		std::printf("; late: %4.2f of its share", got.late);
	if (s.victim)
		std::printf("; victim: %4.2f times", times);
	std::printf("; %ju resends\n", uintmax_t{ got.resent });
	EXPECT_EQ(got.failure, "") << s.name;
	if (!all)
		return;
	EXPECT_GE(got.use, s.use) << s.name;
	EXPECT_GE(got.jain, s.jain) << s.name;
	EXPECT_LE(got.p99, s.p99) << s.name;
	EXPECT_LE(dropped, s.dropped) << s.name;
	if (s.late) {
		EXPECT_GE(got.late, 0.75) << s.name;
		EXPECT_LE(got.late, 1.5) << s.name;
	}
	if (s.victim) {
		EXPECT_LE(times, s.times) << s.name;
	}
}

TEST(sim, unmarked)
{
	bool all = opt.seeds >= all_seeds;
	sim::incast alone;

	alone.opcode = ORNIC_WQE_WRITE;
	alone.victim = true;
	alone.ns = 10000 * sim::us;

	std::uint64_t unloaded = sim::share_port(alone).victim_p99;

	ASSERT_GT(unloaded, 0u);
	std::printf(
		"# 1 Gbit/s, queue of 256 packets: use, Jain's index, queue: "
		"median, 99 %%, most; part dropped\n");
	for (const dropping &s : dropping_ports)
		show_dropping(s, all, unloaded);
}

TEST(sim, same_seed_same_run)
{
	for (std::uint64_t seed = 1; seed <= 20; seed++) {
		sim::outcome a = sim::run(sim::kind::lossy, seed);
		sim::outcome b = sim::run(sim::kind::lossy, seed);

		EXPECT_EQ(a.hash, b.hash) << "seed " << seed;
		EXPECT_EQ(a.frames, b.frames) << "seed " << seed;
	}
}

bool parse(const char *arg)
{
	if (!std::strncmp(arg, "--seeds=", 8)) {
		opt.seeds = std::strtoull(arg + 8, nullptr, 0);
	} else if (!std::strncmp(arg, "--seed=", 7)) {
		opt.seed = std::strtoull(arg + 7, nullptr, 0);
		opt.one = true;
	} else if (!std::strcmp(arg, "--trace")) {
		opt.trace = true;
	} else if (!std::strncmp(arg, "--results=", 10)) {
		opt.results = arg + 10;
	} else {
		return false;
	}
	return true;
}

u64 steady_ns()
{
	using namespace std::chrono;

	return static_cast<u64>(
		nanoseconds(steady_clock::now().time_since_epoch()).count());
}

} // namespace

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	for (int i = 1; i < argc; i++) {
		if (!parse(argv[i])) {
			std::fprintf(stderr, "unknown option %s\n", argv[i]);
			return 2;
		}
	}

	// The result of a CRC does not depend on what computes it.
	ornic_crc32_select(steady_ns);

	int rc = RUN_ALL_TESTS();

	if (opt.results) {
		if (std::FILE *f = std::fopen(opt.results, "w")) {
			std::fprintf(f, "%llu passed, %llu failed, 0 skipped\n",
				     (unsigned long long)passed,
				     (unsigned long long)failed);
			std::fclose(f);
		}
	}
	return rc || !passed;
}
