// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What differs between releases of rdma-core, against what is recorded of each.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "library.h"
#include "release.h"

namespace ornic::test
{
namespace
{

/** What a process finds out about the libibverbs of a release. */
library_traits traits_of(const facts &release)
{
	const std::pair<const char *, int> verbs[] = {
		{ "public ibv_create_comp_cntr", 65 },
		{ "public ibv_alloc_buf", 64 },
		{ "public ibv_query_port_speed", 62 },
		{ "public ibv_reg_mr_ex", 59 },
		{ "public ibv_query_qp_data_in_order", 36 },
		{ "public ibv_import_dm", 35 },
	};
	int newest = 34;

	for (const auto &[verb, since] : verbs) {
		if (release.contains(verb))
			newest = std::max(newest, since);
	}
	return { .pabi = std::stoi(release.at("pabi")),
		 .newest_verb = newest,
		 .operations = operations_of(release).size(),
		 .qp_comp_mask =
			 std::stoul(release.at("at verbs_qp.comp_mask")) };
}

/* verbs_set_ops() of a library that has @operations. */
template <std::size_t operations>
void set_ops(verbs_context *context, const void *ops)
{
	auto *const *from = static_cast<void *const *>(ops);
	// Where 36 has verbs_context.priv, and its operations in there
	auto **priv = reinterpret_cast<void ***>(context)[26] + 3;

	for (std::size_t i = 0; i < operations; ++i) {
		if (from[i])
			priv[i] = from[i];
	}
}

TEST(library, layouts_are_in_order_and_without_holes)
{
	int next = 34;

	for (const library_layout &known : library_layouts) {
		EXPECT_EQ(known.first, next);
		EXPECT_GE(known.last, known.first);
		EXPECT_EQ(layout_of(known.traits), &known);
		next = known.last + 1;
	}
	EXPECT_EQ(layout_of({ 34, 59, 76, 360 }), nullptr);
}

TEST(library, operations_are_counted)
{
	EXPECT_EQ(count_operations(set_ops<0>), 0U);
	EXPECT_EQ(count_operations(set_ops<73>), 73U);
	EXPECT_EQ(count_operations(set_ops<operation_count>), operation_count);
	EXPECT_EQ(count_operations(set_ops<operation_count + 2>),
		  operation_count + 2);
}

class release : public testing::TestWithParam<int> {
protected:
	const facts facts_ = read_facts(GetParam());
	const library_layout &layout_ = layout_of_release(GetParam());
};

INSTANTIATE_TEST_SUITE_P(all, release, testing::ValuesIn(recorded_releases()),
			 testing::PrintToStringParamName());

TEST_P(release, is_found_by_its_traits)
{
	EXPECT_EQ(layout_of(traits_of(facts_)), &layout_);
}

TEST_P(release, context_begins_there)
{
	EXPECT_EQ(std::to_string(layout_.context),
		  facts_.at("at verbs_context.context"));
}

TEST_P(release, qp_has_room)
{
	EXPECT_GE(sizeof(pabi_qp), std::stoul(facts_.at("size verbs_qp")));
}

TEST_P(release, operations_are_in_its_order)
{
	const std::vector<std::string> newest = operations_of(read_facts(65));
	const std::vector<std::string> own = operations_of(facts_);
	pabi_context_ops ops;
	char places[operation_count];
	operations all;

	ASSERT_EQ(newest.size(), all.size());
	for (std::size_t i = 0; i < all.size(); ++i)
		all[i] = reinterpret_cast<operation>(&places[i]);
	std::memcpy(&ops, &all, sizeof(ops));
	const operations placed = place(ops, layout_);
	for (std::size_t i = 0; i < placed.size(); ++i) {
		auto *place = reinterpret_cast<char *>(placed[i]);

		EXPECT_EQ(place != nullptr, i < own.size());
		if (place && i < own.size()) {
			auto at = static_cast<std::size_t>(place - places);

			EXPECT_EQ(newest.at(at), own[i]);
		}
	}
}

TEST_P(release, comp_mask_is_set_there)
{
	use_layout use(layout_);
	std::uint32_t mask;
	pabi_qp qp{};

	set_comp_mask(qp, 1);
	set_comp_mask(qp, PABI_QP_EX);
	std::memcpy(&mask,
		    reinterpret_cast<char *>(&qp) +
			    std::stoul(facts_.at("at verbs_qp.comp_mask")),
		    sizeof(mask));
	EXPECT_EQ(mask, PABI_QP_EX | 1U);
}

/* That of the library, of which fake_kernel.cc has one in this program. */
set_ops_function *installed_set_ops()
{
	const std::string version =
		"IBVERBS_PRIVATE_" + std::to_string(ORNIC_PABI);
	void *handle = dlopen("libibverbs.so.1", RTLD_NOW);

	return reinterpret_cast<set_ops_function *>(
		handle ? dlvsym(handle, "verbs_set_ops", version.c_str()) :
			 nullptr);
}

TEST(library, this_one_is_known)
{
	set_ops_function *installed = installed_set_ops();

	ASSERT_NE(installed, nullptr);
	EXPECT_NE(find_library(ORNIC_PABI, installed), nullptr);
	EXPECT_EQ(find_library(33, installed), nullptr);
}

TEST(library, one_of_more_operations_is_refused)
{
	EXPECT_EQ(find_library(ORNIC_PABI, set_ops<operation_count + 1>),
		  nullptr);
	EXPECT_EQ(find_library(ORNIC_PABI, set_ops<operation_count + 2>),
		  nullptr);
	EXPECT_EQ(find_library(ORNIC_PABI, set_ops<0>), nullptr);
}

class library_warning : public testing::Test {
protected:
	library_warning()
	{
		unsetenv("IBV_SHOW_WARNINGS");
		std::filesystem::create_directories(devices_ + "/rxe0/device");
	}

	~library_warning() override
	{
		unsetenv("IBV_SHOW_WARNINGS");
		std::filesystem::remove_all(devices_);
	}

	[[nodiscard]] bool is_given() const
	{
		testing::internal::CaptureStderr();
		warn_of_library(34, devices_.c_str());
		return !testing::internal::GetCapturedStderr().empty();
	}

	const std::string devices_ = testing::TempDir() + "ornic-devices-" +
				     std::to_string(getpid());
};

TEST_F(library_warning, is_for_those_who_ask)
{
	EXPECT_FALSE(is_given());
	setenv("IBV_SHOW_WARNINGS", "1", 1);
	EXPECT_TRUE(is_given());
}

TEST_F(library_warning, is_for_those_with_a_soft_device)
{
	std::ofstream modalias(devices_ + "/rxe0/device/modalias");

	modalias << "ornic:soft\n" << std::flush;
	EXPECT_TRUE(is_given());
}

TEST_F(library_warning, is_for_those_with_a_pci_device)
{
	std::filesystem::create_symlink("../drivers/rxe",
					devices_ + "/rxe0/device/driver");
	EXPECT_FALSE(is_given());
	std::filesystem::create_directories(devices_ + "/a/device");
	std::filesystem::create_symlink("../drivers/ornic",
					devices_ + "/a/device/driver");
	EXPECT_TRUE(is_given());
}

} // namespace
} // namespace ornic::test
