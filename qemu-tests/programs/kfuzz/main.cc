// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_kfuzz: a fuzzer of the kernel modules, guided by KCOV where they are built
 * for it. See Documentation/fuzzing.rst.
 */
#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "../verify/verbs.h"
#include "coverage.h"
#include "world.h"

namespace
{

using clock_type = std::chrono::steady_clock;

struct settings {
	std::string device, netdev, peer_netdev;
	int gid_index = 0;
	uint64_t seed = 1;
	int seconds = 20;
	std::string seeds; /* a file of programs */
	std::string replay; /* the text of one */
	int log = -1;
	bool print_cover = false;
};

/* A program at a time, its calls in the threads that they name. */
class executor {
public:
	explicit executor(world &w)
		: world_(w)
		, gate_(num_threads + 1)
	{
		for (unsigned int i = 0; i < num_threads; i++)
			threads_.emplace_back([this, i] { work(i); });
	}
	~executor()
	{
		program_ = nullptr;
		gate_.arrive_and_wait();
		for (std::thread &t : threads_)
			t.join();
	}
	/* How much of the code was new. */
	std::size_t run(const program &p)
	{
		const std::size_t before = cover.size();

		world_.begin();
		program_ = &p;
		gate_.arrive_and_wait();
		gate_.arrive_and_wait();
		world_.end();
		return cover.size() - before;
	}

	coverage_set cover;

private:
	void work(unsigned int number)
	{
		coverage_trace &trace = traces_[number];

		for (;;) {
			gate_.arrive_and_wait();
			if (!program_)
				return;
			trace.start();
			for (const call &c : *program_)
				if (c.thread == number)
					operations()[c.op].run(world_, c);
			cover.add(trace.stop());
			gate_.arrive_and_wait();
		}
	}

	world &world_;
	const program *program_ = nullptr;
	std::barrier<> gate_;
	std::array<coverage_trace, num_threads> traces_;
	std::vector<std::thread> threads_;
};

class fuzzer {
public:
	explicit fuzzer(const settings &s)
		: settings_(s)
		, random_(s.seed)
		, world_(s.device, s.netdev, s.peer_netdev, s.gid_index)
		, executor_(world_)
		, begin_(clock_type::now())
	{
		if (!s.seeds.empty())
			read_seeds();
	}
	void run();

private:
	void read_seeds();
	void check_seeds(const std::vector<program> &seeds) const;
	void run_one(const program &p, bool keep);
	void report();
	[[nodiscard]] std::size_t any(std::size_t limit)
	{
		return random_() % limit;
	}

	const settings &settings_;
	random_source random_;
	world world_;
	executor executor_;
	std::vector<program> corpus_;
	clock_type::time_point begin_;
	uint64_t programs_ = 0, calls_ = 0;
};

void fuzzer::read_seeds()
{
	std::ifstream file(settings_.seeds);
	std::string line;

	check(file.good(), "cannot read " + settings_.seeds);
	while (std::getline(file, line))
		if (!line.empty() && line[0] != '#')
			corpus_.push_back(to_program(line));
}

/*
 * Were all calls of the seeds refused, so would be all that is made from them. What
 * the second thread does may come too early.
 */
void fuzzer::check_seeds(const std::vector<program> &seeds) const
{
	for (const program &p : seeds)
		for (const call &c : p)
			check(c.thread || world_.done[c.op],
			      std::string("all refused: ") +
				      operations()[c.op].name);
	for (const device_counter &c : world_.counters)
		check(c.has_grown || seeds.empty(),
		      std::string("the seeds do not count in ") + c.name);
}

/* The log has it before it runs: what a dying guest ran is its last line. */
void fuzzer::run_one(const program &p, bool keep)
{
	if (settings_.log >= 0) {
		const std::string line = "# run: " + to_text(p) + '\n';

		(void)!write(settings_.log, line.data(), line.size());
	}
	const std::size_t reached = executor_.run(p);

	programs_++;
	calls_ += p.size();
	if (reached && keep)
		corpus_.push_back(p);
}

void fuzzer::report()
{
	const std::chrono::duration<double> time = clock_type::now() - begin_;

	std::printf("%llu programs, %llu calls, %zu kept, %zu blocks, %.0f s\n",
		    static_cast<unsigned long long>(programs_),
		    static_cast<unsigned long long>(calls_), corpus_.size(),
		    executor_.cover.size(), time.count());
	if (settings_.print_cover)
		executor_.cover.print();
}

void fuzzer::run()
{
	const auto end = begin_ + std::chrono::seconds(settings_.seconds);
	const std::vector<program> seeds = corpus_;

	if (!settings_.replay.empty()) {
		while (clock_type::now() < end)
			run_one(to_program(settings_.replay), false);
		report();
		return;
	}
	world_.read_counters();
	for (const program &p : seeds) {
		run_one(p, false);
		world_.read_counters();
	}
	check_seeds(seeds);
	if (corpus_.empty())
		corpus_.emplace_back();
	while (clock_type::now() < end)
		run_one(mutate(random_, corpus_[any(corpus_.size())],
			       corpus_[any(corpus_.size())]),
			true);
	report();
}

int usage()
{
	std::fprintf(
		stderr,
		"usage: ornic_kfuzz [--seed N] [--seconds N] [--seeds FILE]"
		" [--log FD] [--cover] [--replay PROGRAM]\n"
		"\tDEVICE GID-INDEX NETDEV PEER-NETDEV\n");
	return 2;
}

std::optional<settings> parse(int argc, char **argv)
{
	static const option options[] = {
		{ "seed", required_argument, nullptr, 's' },
		{ "seconds", required_argument, nullptr, 't' },
		{ "seeds", required_argument, nullptr, 'f' },
		{ "replay", required_argument, nullptr, 'r' },
		{ "log", required_argument, nullptr, 'l' },
		{ "cover", no_argument, nullptr, 'c' },
		{},
	};
	settings s;

	for (int o; (o = getopt_long(argc, argv, "", options, nullptr)) != -1;)
		switch (o) {
		case 's':
			s.seed = std::strtoull(optarg, nullptr, 0);
			break;
		case 't':
			s.seconds = std::atoi(optarg);
			break;
		case 'f':
			s.seeds = optarg;
			break;
		case 'r':
			s.replay = optarg;
			break;
		case 'l':
			s.log = std::atoi(optarg);
			break;
		case 'c':
			s.print_cover = true;
			break;
		default:
			return {};
		}
	if (argc - optind != 4)
		return {};
	s.device = argv[optind];
	s.gid_index = std::atoi(argv[optind + 1]);
	s.netdev = argv[optind + 2];
	s.peer_netdev = argv[optind + 3];
	return s;
}

} /* namespace */

int main(int argc, char **argv)
{
	const auto s = parse(argc, argv);

	if (!s)
		return usage();
	setvbuf(stdout, nullptr, _IOLBF, 0);
	try {
		fuzzer(*s).run();
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
