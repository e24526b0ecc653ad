// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Runs scenarios for many seeds, or for one:
//
//	ornic_sim [--seeds=N] [--seed=N] [--trace] [--results=FILE] [gtest flags]
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

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

struct sums {
	std::uint64_t seeds, bytes, sent, ns;
	std::uint64_t acks, rnr_naks, retries, swapped;
};

// Runs seeds 1 to @count, or the one that was asked for.
sums run_seeds(sim::kind what, const char *test, std::uint64_t count)
{
	std::uint64_t first = opt.one ? opt.seed : 1;
	std::uint64_t last = opt.one ? opt.seed : count;
	std::uint64_t frames = 0, lost = 0, messages = 0;
	int reports = 0;
	sums all{};

	for (std::uint64_t seed = first; seed <= last; seed++) {
		sim::outcome out = sim::run(what, seed, opt.trace);

		frames += out.frames;
		lost += out.lost;
		messages += out.messages;
		all.seeds++;
		all.bytes += out.bytes;
		all.sent += out.sent;
		all.ns += out.ns;
		all.acks += out.acks;
		all.rnr_naks += out.rnr_naks;
		all.retries += out.retries;
		all.swapped += out.swapped;
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
		    test, uintmax_t{ last - first + 1 }, uintmax_t{ messages },
		    uintmax_t{ frames }, uintmax_t{ lost });
	return all;
}

TEST(sim, lossy)
{
	run_seeds(sim::kind::lossy, "lossy", opt.seeds);
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

TEST(sim, unready)
{
	sums all = run_seeds(sim::kind::unready, "unready", opt.seeds / 20 + 1);

	if (all.seeds < 50)
		return;
	EXPECT_LT(all.sent, all.bytes * 3 / 2);
	// Of a millisecond each, when it lasts.
	EXPECT_LT(all.rnr_naks, all.ns / 3000000);
}

TEST(sim, orphaned)
{
	run_seeds(sim::kind::orphaned, "orphaned", opt.seeds / 5 + 1);
}

TEST(sim, refused)
{
	run_seeds(sim::kind::refused, "refused", opt.seeds / 10 + 1);
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
