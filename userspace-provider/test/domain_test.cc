// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Parent domains and thread domains: what is refused, and who waits for whom.

#include <gtest/gtest.h>

#include <cerrno>

#include "context.h"
#include "domain.h"
#include "verbs.h"

namespace ornic::test
{
namespace
{

class domains : public testing::Test {
protected:
	domains()
	{
		pd.base.context = &context;
		pd.base.handle = 77;
		attr.pd = &pd.base;
	}
	ibv_context context{};
	ibv_context other{};
	protection_domain pd{};
	ibv_parent_domain_init_attr attr{};
	ibv_td_init_attr td_attr{};
};

void *alloc(ibv_pd *, void *, std::size_t, std::size_t, std::uint64_t)
{
	return nullptr;
}

void release(ibv_pd *, void *, void *, std::uint64_t)
{
}

TEST_F(domains, parent_stands_for_its_pd)
{
	ibv_pd *parent = alloc_parent_domain(&context, &attr);

	ASSERT_NE(parent, nullptr);
	EXPECT_EQ(parent->handle, 77U);
	EXPECT_EQ(parent->context, &context);
	EXPECT_FALSE(single_threaded(parent));
	EXPECT_EQ(dealloc_pd(&pd.base), EBUSY);
	EXPECT_EQ(dealloc_pd(parent), 0);
	EXPECT_EQ(pd.users, 0U);
}

TEST_F(domains, everything_waits_for_its_users)
{
	attr.td = alloc_td(&context, &td_attr);
	ASSERT_NE(attr.td, nullptr);
	ibv_pd *parent = alloc_parent_domain(&context, &attr);
	ASSERT_NE(parent, nullptr);
	EXPECT_TRUE(single_threaded(parent));

	use(parent); // as a QP does
	EXPECT_EQ(dealloc_pd(parent), EBUSY);
	EXPECT_EQ(dealloc_td(attr.td), EBUSY);
	unuse(parent);
	EXPECT_EQ(dealloc_pd(parent), 0);
	EXPECT_EQ(dealloc_td(attr.td), 0);
}

/** On a device with a null key, or without one. */
ibv_mr *null_mr_of(context &ctx, protection_domain &pd, std::uint32_t lkey)
{
	ctx.state.null_lkey = lkey;
	pd.base.context = &ctx.base;
	errno = 0;
	return alloc_null_mr(&pd.base);
}

TEST_F(domains, null_MRs_are_in_them)
{
	ornic::context ctx{};
	ibv_mr *mr = null_mr_of(ctx, pd, 0xff);

	ASSERT_NE(mr, nullptr);
	EXPECT_EQ(mr->lkey, 0xffU);
	EXPECT_EQ(mr->rkey, 0U);
	EXPECT_EQ(mr->addr, nullptr);
	EXPECT_EQ(mr->length, SIZE_MAX);
	EXPECT_EQ(mr->pd, &pd.base);
	EXPECT_EQ(mr->context, &ctx.base);
	auto *own = reinterpret_cast<pabi_mr *>(mr);
	EXPECT_EQ(own->mr_type, PABI_MR_TYPE_NULL_MR);
	EXPECT_EQ(dealloc_pd(&pd.base), EBUSY);
	EXPECT_EQ(dereg_mr(own), 0);
	EXPECT_EQ(pd.users, 0U);
}

TEST_F(domains, null_MRs_need_a_null_key)
{
	ornic::context ctx{};

	EXPECT_EQ(null_mr_of(ctx, pd, 0), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	EXPECT_EQ(pd.users, 0U);
}

TEST_F(domains, allocators_are_accepted_as_a_pair)
{
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	attr.alloc = alloc;
	EXPECT_EQ(alloc_parent_domain(&context, &attr), nullptr);
	EXPECT_EQ(errno, EINVAL);
	attr.free = release;
	ibv_pd *parent = alloc_parent_domain(&context, &attr);
	ASSERT_NE(parent, nullptr);
	EXPECT_EQ(dealloc_pd(parent), 0);
}

/* IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC of rdma-core 65 */
TEST_F(domains, memory_may_be_shared_with_the_host)
{
	attr.comp_mask = 1U << 2;
	ibv_pd *parent = alloc_parent_domain(&context, &attr);
	ASSERT_NE(parent, nullptr);
	EXPECT_EQ(dealloc_pd(parent), 0);
}

TEST_F(domains, what_makes_no_sense_is_refused)
{
	auto refused = [&](ibv_context *ctx) {
		errno = 0;
		return !alloc_parent_domain(ctx, &attr) && errno == EINVAL;
	};

	EXPECT_TRUE(refused(&other));
	attr.comp_mask = 1U << 31;
	EXPECT_TRUE(refused(&context));
	attr.comp_mask = 0;
	attr.pd = nullptr;
	EXPECT_TRUE(refused(&context));

	attr.pd = &pd.base;
	ibv_pd *parent = alloc_parent_domain(&context, &attr);
	ASSERT_NE(parent, nullptr);
	attr.pd = parent;
	EXPECT_TRUE(refused(&context)); // no parent of a parent
	EXPECT_EQ(dealloc_pd(parent), 0);
	EXPECT_EQ(pd.users, 0U);

	td_attr.comp_mask = 1;
	EXPECT_EQ(alloc_td(&context, &td_attr), nullptr);
	EXPECT_EQ(errno, EINVAL);
}

/* What is in it goes later; ASan sees who frees it, and who does not. */
TEST_F(domains, import_is_given_back_before_its_objects)
{
	auto imported = make_object<protection_domain>();
	ibv_pd *ibpd = &imported->base;

	imported->imported = true;
	use(ibpd);
	use(ibpd); // a QP
	static_cast<void>(imported.release());
	EXPECT_EQ(dealloc_pd(ibpd), EBUSY);
	unimport_pd(ibpd);
	EXPECT_EQ(to_pd(ibpd).users, 1U);
	unuse(ibpd);
}

TEST_F(domains, no_pd_is_no_thread_domain)
{
	EXPECT_FALSE(single_threaded(nullptr));
	EXPECT_FALSE(single_threaded(&pd.base));
}

} // namespace
} // namespace ornic::test
