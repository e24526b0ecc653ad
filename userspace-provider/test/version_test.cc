// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Which libibverbs a build fits: all builds against all recorded releases.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "version.h"

namespace ornic::test
{
namespace
{

using facts = std::map<std::string, std::string>;

facts read_facts(const std::filesystem::path &path)
{
	std::ifstream file(path);
	facts found;

	for (std::string line; std::getline(file, line);) {
		std::size_t colon = line.find(": ");

		if (colon != std::string::npos)
			found[line.substr(0, colon)] = line.substr(colon + 2);
	}
	return found;
}

/** What a process finds out about the libibverbs of a release. */
library_traits traits_of(const facts &release)
{
	return { .pabi = std::stoi(release.at("pabi")),
		 .has_import_dm = release.contains("public ibv_import_dm"),
		 .has_data_in_order =
			 release.contains("public ibv_query_qp_data_in_order"),
		 .qp_comp_mask =
			 std::stoul(release.at("at verbs_qp.comp_mask")) };
}

/** What has to be the same, or memory is taken for what it is not. */
std::string layout_of(const facts &release)
{
	std::string layout;

	for (const auto &[name, value] : release) {
		if (name.starts_with("op ") || name.starts_with("fn ") ||
		    name.starts_with("at verbs_qp."))
			layout += name + value + '\n';
	}
	return layout;
}

std::map<int, facts> recorded()
{
	std::map<int, facts> releases;

	for (const auto &entry :
	     std::filesystem::directory_iterator(ORNIC_ABI_RECORD))
		releases[std::stoi(entry.path().stem())] =
			read_facts(entry.path());
	return releases;
}

TEST(version, fits_libraries_of_its_class_and_no_other)
{
	const std::map<int, facts> releases = recorded();

	ASSERT_GE(releases.size(), 11U);
	for (const auto &[built, built_facts] : releases) {
		for (const auto &[found, found_facts] : releases) {
			bool same = layout_of(built_facts) ==
				    layout_of(found_facts);

			EXPECT_EQ(fits(built, traits_of(found_facts)),
				  same && class_of(built))
				<< "built for " << built << ", found " << found;
		}
	}
}

TEST(version, classes_are_in_order_and_without_holes)
{
	int next = 34;

	for (const layout_class &known : layout_classes) {
		EXPECT_EQ(known.first, next);
		EXPECT_GE(known.last, known.first);
		next = known.last + 1;
	}
	EXPECT_EQ(class_of(33), nullptr);
	EXPECT_EQ(class_of(next), nullptr);
}

TEST(version, this_library_fits)
{
	EXPECT_TRUE(library_fits());
}

TEST(version, warns_only_where_warnings_are_wanted)
{
	unsetenv("IBV_SHOW_WARNINGS");
	testing::internal::CaptureStderr();
	warn_of_library();
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

	setenv("IBV_SHOW_WARNINGS", "1", 1);
	testing::internal::CaptureStderr();
	warn_of_library();
	EXPECT_NE(testing::internal::GetCapturedStderr(), "");
	unsetenv("IBV_SHOW_WARNINGS");
}

} // namespace
} // namespace ornic::test
