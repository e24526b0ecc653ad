// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <cstdio>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "ktap.h"

namespace
{

class ktap final : public testing::EmptyTestEventListener {
	void OnTestProgramStart(const testing::UnitTest &unit) override
	{
		std::printf("KTAP version 1\n1..%d\n",
			    unit.test_to_run_count());
	}
	void OnTestPartResult(const testing::TestPartResult &part) override
	{
		const std::string text = part.message();

		if (part.skipped())
			skipped_ = text;
		else
			std::printf("# %s\n",
				    text.substr(0, text.find('\n')).c_str());
	}
	void OnTestEnd(const testing::TestInfo &test) override
	{
		const testing::TestResult &result = *test.result();
		const auto ms = static_cast<long>(result.elapsed_time());

		/* Where the time of a run goes */
		if (ms >= 1000)
			std::printf("# %s: %ld ms\n", test.name(), ms);
		std::printf("%s %d %s%s\n", result.Failed() ? "not ok" : "ok",
			    ++number_, test.name(),
			    result.Skipped() ? (" # SKIP " + skipped_).c_str() :
					       "");
		std::fflush(stdout);
	}
	void OnTestProgramEnd(const testing::UnitTest &unit) override
	{
		std::printf("# %d tests, %d failed\n", number_,
			    unit.failed_test_count());
	}

	int number_ = 0;
	std::string skipped_;
};

} /* namespace */

void report_as_ktap()
{
	testing::TestEventListeners &to =
		testing::UnitTest::GetInstance()->listeners();

	delete to.Release(to.default_result_printer());
	to.Append(new ktap);
}
