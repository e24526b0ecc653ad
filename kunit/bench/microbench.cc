// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// How long the engine takes on this machine, with memcpy to compare it with.
//
// Of a message on one device that is all from the post to the completion; of a
// packet, or of a poll thread, it is the call into the engine alone. The columns
// that Google Benchmark makes are means, those after them medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "workload.h"

namespace bench
{

namespace
{

using steady = std::chrono::steady_clock;

// Other programs run on this machine as well: of many times the median counts.
class stopwatch final : public meter {
public:
	void run(const std::function<void()> &part) override
	{
		resume();
		part();
		pause();
	}
	void pause() override
	{
		sum_ += steady::now() - begun_;
		calls_++;
	}
	void resume() override
	{
		begun_ = steady::now();
	}
	// A sample is complete.
	void lap(benchmark::State &state)
	{
		double took =
			std::chrono::duration<double, std::nano>(sum_).count();

		took = std::max(0.0, took - calls_ * overhead());
		state.SetIterationTime(took * 1e-9);
		samples_.push_back(took);
		sum_ = {};
		calls_ = 0;
	}
	// Of what a sample has @n, and how many bytes.
	void report(benchmark::State &state, const char *unit, double n,
		    double bytes)
	{
		auto middle = samples_.begin() +
			      static_cast<ptrdiff_t>(samples_.size() / 2);

		std::nth_element(samples_.begin(), middle, samples_.end());
		state.counters[std::string("ns/") + unit] = *middle / n;
		if (bytes > 0)
			state.counters["B/ns"] = bytes / *middle;
	}

private:
	static double overhead();

	steady::time_point begun_;
	steady::duration sum_{};
	u32 calls_ = 0;
	std::vector<double> samples_;
};

// What it takes to read the clock, ns.
double stopwatch::overhead()
{
	static const double ns = [] {
		double least = 1e9;

		for (int i = 0; i < 10000; i++) {
			steady::time_point begun = steady::now();
			std::chrono::duration<double, std::nano> took =
				steady::now() - begun;

			least = std::min(least, took.count());
		}
		return least;
	}();

	return ns;
}

// A message as the program sees it that posts it.
void message(benchmark::State &state, work w)
{
	stopwatch watch;
	no_meter none;
	qp_pair b(w);

	for (auto _ : state) {
		watch.run([&] { b.round(none); });
		watch.lap(state);
	}
	watch.report(state, "message", w.list, double(w.bytes) * w.list);
}

// The part that is looked at.
void packets(benchmark::State &state, work w)
{
	const char *unit = w.what == part::POLL ? "message" : "packet";
	stopwatch watch;
	u64 n = 1;
	qp_pair b(w);

	for (auto _ : state) {
		n = b.round(watch);
		watch.lap(state);
	}
	watch.report(state, unit, double(n),
		     w.bytes < 4096 ? 0 : double(w.bytes) * w.list);
}

// Short things, some times in a row.
template <typename thing>
void pieces(benchmark::State &state, const char *unit, double n, double bytes,
	    thing &&t)
{
	constexpr int row = 16;
	stopwatch watch;

	for (auto _ : state) {
		watch.run([&] {
			for (int i = 0; i < row; i++)
				t();
		});
		watch.lap(state);
	}
	watch.report(state, unit, row * n, row * bytes);
}

struct alignas(4096) page {
	u8 bytes[4096];
};

void copy(benchmark::State &state)
{
	u64 bytes = state.range(0);
	// Pages, as what the engine copies.
	std::unique_ptr<page[]> from(new page[bytes / sizeof(page) + 1]());
	std::unique_ptr<page[]> to(new page[bytes / sizeof(page) + 1]());

	pieces(state, "copy", 1, double(bytes), [&] {
		memcpy(to.get(), from.get(), bytes);
		benchmark::DoNotOptimize(to.get());
		benchmark::ClobberMemory();
	});
}

void icrc(benchmark::State &state)
{
	checksum sum(state.range(0));

	pieces(state, "packet", 1, double(state.range(0)),
	       [&] { benchmark::DoNotOptimize(sum.run()); });
}

void translate(benchmark::State &state, layout where)
{
	translation t(static_cast<u32>(state.range(0)), where);

	pieces(state, "page", double(state.range(0)), 0,
	       [&] { benchmark::DoNotOptimize(t.run()); });
}

void flow(benchmark::State &state)
{
	flow_rules f(static_cast<u32>(state.range(0)));

	pieces(state, "frame", flow_rules::frames, 0, [&] { f.run(); });
}

const char *select_crc32()
{
	auto clock = [] {
		return static_cast<u64>(
			steady::now().time_since_epoch().count());
	};

	return ornic_crc32_select(clock)->algo->name;
}

void add(const work &w)
{
	if (w.where == link::LOOP && w.what == part::KICK)
		benchmark::RegisterBenchmark(w.name, message, w)
			->UseManualTime();
	else
		benchmark::RegisterBenchmark(w.name, packets, w)
			->UseManualTime();
}

void add_all()
{
	benchmark::RegisterBenchmark("memcpy", copy)
		->UseManualTime()
		->Arg(8)
		->Arg(4096)
		->Arg(65536)
		->Arg(1048576);
	for (const work &w : works)
		add(w);
	benchmark::RegisterBenchmark("icrc", icrc)
		->UseManualTime()
		->Arg(8)
		->Arg(256)
		->Arg(1024)
		->Arg(4096);
	for (auto [where, name] : translations)
		benchmark::RegisterBenchmark(name, translate, where)
			->UseManualTime()
			->Arg(1)
			->Arg(16)
			->Arg(256);
	benchmark::RegisterBenchmark("flow", flow)
		->UseManualTime()
		->Arg(1)
		->Arg(64)
		->Arg(4096);
}

} // namespace

} // namespace bench

int main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	benchmark::AddCustomContext("crc32", bench::select_crc32());
	bench::add_all();
	benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
	return 0;
}
