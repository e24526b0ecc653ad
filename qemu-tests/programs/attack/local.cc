// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_attack_local DEVICE GID-INDEX SECONDS SEED [GROUP | TEST]...: what a process
 * without privileges can do to others on its device. Theft uses their keys and
 * numbers, guess measures how well these can be guessed, misuse breaks whatever the
 * process itself may touch, for SECONDS each. Prints KTAP.
 */
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "../verify/ktap.h"
#include "local.h"

settings attack::told;

uint64_t counter(const std::string &device, const std::string &name)
{
	std::ifstream file("/sys/class/infiniband/" + device +
			   "/ports/1/hw_counters/" + name);
	uint64_t value = 0;

	check(static_cast<bool>(file >> value), "no counter " + name);
	return value;
}

int main(int argc, char **argv)
{
	std::string filter;

	testing::InitGoogleTest(&argc, argv);
	if (testing::GTEST_FLAG(list_tests))
		return RUN_ALL_TESTS();
	if (argc < 5) {
		std::fprintf(stderr, "usage: ornic_attack_local DEVICE GID"
				     " SECONDS SEED [GROUP|TEST]...\n");
		return 2;
	}
	attack::told = { argv[1], std::atoi(argv[2]),
			 static_cast<unsigned int>(std::atoi(argv[3])),
			 std::strtoull(argv[4], nullptr, 0) };
	for (int i = 5; i < argc; i++)
		filter += std::string(argv[i]) + ".*:*." + argv[i] + ":";
	if (!filter.empty())
		testing::GTEST_FLAG(filter) = filter;
	report_as_ktap();
	return RUN_ALL_TESTS() ||
	       !testing::UnitTest::GetInstance()->test_to_run_count();
}
