// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_verify: checks bytes, statuses and states over plain libibverbs,
 * with both ends in one process, so that every byte can be seen at both.
 *
 *   ornic_verify --client DEV:GID_INDEX[:rxe] --server DEV:GID_INDEX[:rxe]
 *                [--few-mtus] [GROUP | TEST]...
 *   ornic_verify --gtest_list_tests
 *
 * Where a side is rxe, tests allow for what it is known to do its own way.
 * Prints KTAP; exits 1 if a test failed or none ran.
 */

#include <cstdio>
#include <cstdlib>

#include "ktap.h"
#include "tests.h"

const ports *verify::opened;
bool verify::few_mtus;

void skip(const std::string &why)
{
	const auto type = testing::TestPartResult::kSkip;

	[&] { GTEST_SKIP() << why; }();
	/* GoogleTest catches this, and takes it as reported already. */
	throw testing::AssertionException(
		testing::TestPartResult(type, __FILE__, __LINE__, why.c_str()));
}

void need_ornic(const ports &on)
{
	if (on.client.is_rxe || on.server.is_rxe)
		skip("one side is rxe");
}

void need_ornic_server(const ports &on)
{
	if (on.server.is_rxe)
		skip("the server is rxe");
}

namespace
{

[[noreturn]] void usage()
{
	std::fprintf(stderr, "usage: ornic_verify --client DEV:GID[:rxe]"
			     " --server DEV:GID[:rxe] [--few-mtus]"
			     " [GROUP|TEST]...\n"
			     "       ornic_verify --gtest_list_tests\n");
	std::exit(2);
}

struct arguments {
	std::string client, server, filter;
};

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
		else if (arg == "--few-mtus")
			verify::few_mtus = true;
		else if (arg.starts_with("-"))
			usage();
		else
			a.filter += arg + ".*:*." + arg + ":";
	}
	if (a.client.empty() || a.server.empty())
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

int run_chosen(const arguments &a)
{
	port client = open_port(a.client);
	port server = open_port(a.server);
	const ports on = { client, server };

	verify::opened = &on;
	if (!a.filter.empty())
		testing::GTEST_FLAG(filter) = a.filter;
	report_as_ktap();
	return RUN_ALL_TESTS() ||
	       !testing::UnitTest::GetInstance()->test_to_run_count();
}

} /* namespace */

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	if (testing::GTEST_FLAG(list_tests))
		return RUN_ALL_TESTS();
	try {
		return run_chosen(parse(argc, argv));
	} catch (const failure &why) {
		std::fprintf(stderr, "ornic_verify: %s\n", why.what());
		return 1;
	}
}
