// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Tests of ornic-nic with simulated guests:
//
//	nic-test --program=FILE [--results=FILE] [gtest flags]
#include <gtest/gtest.h>

#include <cstring>

#include "process.h"

int main(int argc, char **argv)
{
	const char *results = nullptr;

	testing::InitGoogleTest(&argc, argv);
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--program=", 10))
			test::program = argv[i] + 10;
		else if (!strncmp(argv[i], "--results=", 10))
			results = argv[i] + 10;
		else
			nic::die("%s: what is that?", argv[i]);
	}
	if (test::program.empty())
		nic::die("--program= is needed");

	int status = RUN_ALL_TESTS();
	const testing::UnitTest &all = *testing::UnitTest::GetInstance();
	FILE *file = results ? fopen(results, "w") : nullptr;

	if (file) {
		fprintf(file, "%d passed, %d failed, %d skipped\n",
			all.successful_test_count(), all.failed_test_count(),
			all.skipped_test_count());
		fclose(file);
	}
	return status;
}
