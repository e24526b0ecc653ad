// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What differs between releases of rdma-core, against what is recorded of each.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

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
		 .qp_comp_mask =
			 std::stoul(release.at("at verbs_qp.comp_mask")) };
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
	EXPECT_EQ(layout_of({ 66, 65, 360 }), nullptr);
	EXPECT_EQ(layout_of({ 34, 59, 360 }), nullptr);
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

TEST(library, this_one_is_known)
{
	EXPECT_NE(find_library(ORNIC_PABI), nullptr);
	EXPECT_EQ(find_library(33), nullptr);
}

TEST(library, warns_only_where_warnings_are_wanted)
{
	unsetenv("IBV_SHOW_WARNINGS");
	testing::internal::CaptureStderr();
	warn_of_library(34);
	EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

	setenv("IBV_SHOW_WARNINGS", "1", 1);
	testing::internal::CaptureStderr();
	warn_of_library(34);
	EXPECT_NE(testing::internal::GetCapturedStderr(), "");
	unsetenv("IBV_SHOW_WARNINGS");
}

} // namespace
} // namespace ornic::test
