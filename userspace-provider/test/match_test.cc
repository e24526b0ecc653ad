// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Whose device it is: the link to the parent's driver in a folder like sysfs.

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "match.h"

namespace ornic
{
namespace
{

class match : public testing::Test {
protected:
	match()
		: path_(std::filesystem::temp_directory_path() /
			"ornic-match-XXXXXX")
	{
		if (mkdtemp(path_.data()))
			std::filesystem::create_directory(path_ + "/device");
	}

	~match() override
	{
		std::filesystem::remove_all(path_);
	}

	void bind(const std::string &driver)
	{
		std::filesystem::create_symlink(driver,
						path_ + "/device/driver");
	}

	std::string path_;
};

TEST_F(match, takes_its_driver)
{
	bind("../../../bus/pci/drivers/ornic");
	EXPECT_TRUE(parent_has_driver(path_.c_str(), "ornic"));
}

TEST_F(match, leaves_other_drivers)
{
	bind("../../../bus/pci/drivers/ornic_else");
	EXPECT_FALSE(parent_has_driver(path_.c_str(), "ornic"));
}

TEST_F(match, leaves_what_has_no_driver)
{
	EXPECT_FALSE(parent_has_driver(path_.c_str(), "ornic"));
}

TEST_F(match, leaves_a_path_without_end)
{
	EXPECT_FALSE(
		parent_has_driver(std::string(PATH_MAX, 'x').c_str(), "ornic"));
}

} // namespace
} // namespace ornic
