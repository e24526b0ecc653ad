// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Replays runs of the model in the engine, a line each from stdin (trace.h):
//
//	ornic_replay [-v] [--results=FILE]
//
// In step are those in which the engine sent what the model sent, to the end. The
// others count as well: what must be true does not depend on it.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "connection.h"

namespace
{

constexpr unsigned max_reports = 10;

struct sums {
	unsigned long passed = 0, failed = 0, in_step = 0, errors = 0;
};

void replay_line(replay::engines &e, const std::string &line, bool verbose,
		 sums &all)
{
	std::optional<replay::trace> t = replay::parse(line);

	if (!t) {
		if (line.empty() || line[0] != 'T')
			return;
		all.failed++;
		std::cout << "not ok: not a trace: " << line << "\n";
		return;
	}

	replay::result r = replay::connection(e, *t).run();

	all.in_step += r.diverged.empty();
	all.errors += r.error != 0;
	if (verbose && !r.diverged.empty())
		std::cout << "# " << r.diverged << ": " << line << "\n";
	if (r.failure.empty()) {
		all.passed++;
	} else if (++all.failed <= max_reports) {
		std::cout << "not ok: " << r.failure << ": " << line << "\n";
	}
}

} // namespace

int main(int argc, char **argv)
{
	const char *results = nullptr;
	bool verbose = false;
	replay::engines e;
	std::string line;
	sums all;

	for (int i = 1; i < argc; i++) {
		if (!std::strcmp(argv[i], "-v"))
			verbose = true;
		else if (!std::strncmp(argv[i], "--results=", 10))
			results = argv[i] + 10;
		else
			return 2;
	}
	if (!e.make())
		return 1;
	while (std::getline(std::cin, line))
		replay_line(e, line, verbose, all);
	if (e.destroy()) {
		all.failed++;
		std::cout << "not ok: memory was written beside\n";
	}
	std::cout << "# " << all.passed + all.failed << " traces, "
		  << all.in_step << " in step, " << all.errors
		  << " end in an error\n";
	if (results)
		std::ofstream(results) << all.passed << " passed, "
				       << all.failed << " failed, 0 skipped\n";
	return all.failed || !all.passed;
}
