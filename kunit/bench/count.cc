// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The same work, a fixed number of times, for callgrind: it counts what runs
// between start and stop, and each work goes into a dump of its own, which the
// script beside this file reads. What a dump is divided by goes to stdout.
#include <valgrind/callgrind.h>

#include <cstdio>

#include "workload.h"

// What callgrind collects: see --toggle-collect.
extern "C" noinline void bench_counted(const std::function<void()> &part)
{
	part();
	// No jump to it in place of a call.
	asm volatile("");
}

namespace bench
{

namespace
{

constexpr u32 warm_up = 8;
constexpr u32 rounds = 64;

class counter final : public meter {
public:
	void run(const std::function<void()> &part) override
	{
		bench_counted(part);
	}
	void pause() override
	{
		CALLGRIND_TOGGLE_COLLECT;
	}
	void resume() override
	{
		CALLGRIND_TOGGLE_COLLECT;
	}
};

void dump(const std::string &name, const char *unit, u64 units)
{
	CALLGRIND_DUMP_STATS_AT(name.c_str());
	std::printf("%s\t%s\t%llu\n", name.c_str(), unit,
		    static_cast<unsigned long long>(units));
}

const char *unit_of(const work &w)
{
	return w.where == link::WIRE ? "packet" : "message";
}

void count(const work &w)
{
	no_meter none;
	counter meter;
	u64 units = 0;
	qp_pair b(w);

	for (u32 i = 0; i < warm_up; i++)
		b.round(none);
	CALLGRIND_ZERO_STATS;
	for (u32 i = 0; i < rounds; i++)
		units += b.round(meter);
	dump(w.name, unit_of(w), units);
}

template <typename thing>
void count(const std::string &name, const char *unit, u64 units, thing &t)
{
	t.run();
	CALLGRIND_ZERO_STATS;
	bench_counted([&t] { t.run(); });
	dump(name, unit, units);
}

void count_pieces()
{
	for (u32 bytes : { 256, 4096 }) {
		checksum sum(bytes);

		count("icrc/" + std::to_string(bytes), "byte", bytes, sum);
	}
	for (auto [where, name] : translations) {
		for (u32 pages : { 1, 256 }) {
			translation t(pages, where);

			count(name + ("/" + std::to_string(pages)), "page",
			      pages, t);
		}
	}
}

// With what makes a frame, which does not depend on the rules.
void count_rules()
{
	for (u32 rules : { 1, 64, 4096 }) {
		flow_rules f(rules);

		count("flow/" + std::to_string(rules), "frame", f.frames, f);
	}
}

} // namespace

} // namespace bench

// CRCs are computed by ornic_crc32_portable(), on whatever CPU: without
// ornic_crc32_select() that is the choice.
int main()
{
	for (const bench::work &w : bench::works)
		bench::count(w);
	bench::count_pieces();
	bench::count_rules();
	return 0;
}
