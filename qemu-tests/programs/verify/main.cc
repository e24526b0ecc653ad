// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_verify: checks bytes, statuses and states over plain libibverbs,
 * with both ends in one process, so that every byte can be seen at both.
 *
 *   ornic_verify --client DEV:GID_INDEX[:rxe] --server DEV:GID_INDEX[:rxe]
 *                [--list] [GROUP | TEST]...
 *
 * Where a side is rxe, tests allow for what it is known to do its own way.
 * Prints KTAP; exits 1 if a test failed or none ran.
 */

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests.h"

namespace
{

struct group {
	const char *name;
	std::span<const test> tests;
};

const group groups[] = {
	{ "transfer", transfer_tests },
	{ "order", order_tests },
	{ "datagram", datagram_tests },
	{ "errors", error_tests },
	{ "arguments", argument_tests },
	{ "srq", srq_tests },
	{ "xrc", xrc_tests },
	{ "cq", cq_tests },
	{ "events", event_tests },
	{ "keys", key_tests },
	{ "live", live_tests },
	{ "steady", steady_tests },
};

struct arguments {
	std::string client, server;
	bool list = false;
	std::vector<std::string> chosen;
};

[[noreturn]] void usage()
{
	std::fprintf(stderr, "usage: ornic_verify --client DEV:GID[:rxe]"
			     " --server DEV:GID[:rxe]"
			     " [--list] [GROUP|TEST]...\n");
	std::exit(2);
}

arguments parse(int argc, char **argv)
{
	arguments a;

	for (int i = 1; i < argc; i++) {
		const std::string arg = argv[i];
		const auto value = [&]() -> std::string {
			return ++i < argc ? argv[i] : (usage(), "");
		};

		if (arg == "--client")
			a.client = value();
		else if (arg == "--server")
			a.server = value();
		else if (arg == "--list")
			a.list = true;
		else if (arg.starts_with("-"))
			usage();
		else
			a.chosen.push_back(arg);
	}
	if (!a.list && (a.client.empty() || a.server.empty()))
		usage();
	return a;
}

port open_port(const std::string &spec)
{
	const size_t colon = spec.find(':');
	const size_t type = spec.rfind(':');

	if (colon == std::string::npos)
		usage();
	return { spec.substr(0, colon), std::atoi(spec.c_str() + colon + 1),
		 spec.substr(type + 1) };
}

bool is_chosen(const arguments &a, const group &g, const test &t)
{
	if (a.chosen.empty())
		return true;
	for (const std::string &name : a.chosen)
		if (name == g.name || name == t.name)
			return true;
	return false;
}

/* Returns whether the test failed. */
bool run_one(int number, const test &t, const ports &on)
{
	try {
		t.run(on);
		std::printf("ok %d %s\n", number, t.name);
	} catch (const skipped &why) {
		std::printf("ok %d %s # SKIP %s\n", number, t.name, why.what());
	} catch (const failure &why) {
		std::printf("# %s: %s\nnot ok %d %s\n", t.name, why.what(),
			    number, t.name);
		std::fflush(stdout);
		return true;
	}
	std::fflush(stdout);
	return false;
}

int run_chosen(const arguments &a)
{
	port client = open_port(a.client);
	port server = open_port(a.server);
	const ports on = { client, server };
	int ran = 0, failed = 0;

	std::printf("KTAP version 1\n");
	for (const group &g : groups)
		for (const test &t : g.tests)
			if (is_chosen(a, g, t))
				failed += run_one(++ran, t, on);
	std::printf("1..%d\n# %d tests, %d failed\n", ran, ran, failed);
	return failed || !ran;
}

} /* namespace */

int main(int argc, char **argv)
{
	const arguments a = parse(argc, argv);

	if (a.list) {
		for (const group &g : groups)
			for (const test &t : g.tests)
				std::printf("%s/%s\n", g.name, t.name);
		return 0;
	}
	try {
		return run_chosen(a);
	} catch (const failure &why) {
		std::fprintf(stderr, "ornic_verify: %s\n", why.what());
		return 1;
	}
}
