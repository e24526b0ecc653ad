// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ReDMArk: what a host hands out and a peer could guess. A number that is a
 * constant step away from the last one is no secret: the steps of many allocations
 * are counted, and the bits of the most frequent one are what a guess is worth.
 */
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "local.h"

namespace
{

class guess : public attack {
protected:
	static constexpr size_t count = 1000;

	/* @bits: what the numbers of that kind have, all in all. */
	static void measure(const char *what, unsigned int bits,
			    const std::function<uint32_t()> &next)
	{
		std::map<uint32_t, size_t> steps;
		std::set<uint32_t> seen;
		uint32_t last = next(), all_or = 0, all_and = ~0u;
		size_t most = 0;

		for (size_t i = 0; i < count; i++) {
			const uint32_t got = next();

			most = std::max(most, ++steps[got - last]);
			seen.insert(got);
			all_or |= got;
			all_and &= got;
			last = got;
		}
		const int varied = __builtin_popcount(all_or & ~all_and);

		std::printf("# %s: %zu different ones of %zu, %d bits vary, "
			    "most frequent step %zu times\n",
			    what, seen.size(), count, varied, most);
		check(varied >= static_cast<int>(bits),
		      std::string(what) + ": too few bits vary");
		/* By chance two are equal, rarely three. */
		check(most <= 4, std::string(what) + ": the next one is known");
	}
};

TEST_F(guess, guess_qpns)
{
	port on = open();
	const cq_ptr cq(
		ibv_create_cq(on.context.get(), 16, nullptr, nullptr, 0));

	measure("QPN", 18, [&] {
		ibv_qp_init_attr attr{};

		attr.send_cq = attr.recv_cq = cq.get();
		attr.qp_type = IBV_QPT_RC;
		attr.cap = { 1, 1, 1, 1, 0 };
		const qp_ptr qp(ibv_create_qp(on.pd.get(), &attr));

		check(qp != nullptr, "ibv_create_qp");
		return qp->qp_num;
	});
}

TEST_F(guess, guess_keys)
{
	port on = open();
	const memory bytes(4096);

	measure("R_Key of an MR", 28, [&] {
		const mr_ptr mr(ibv_reg_mr(on.pd.get(), bytes.bytes().data(),
					   4096, all_access));

		check(mr != nullptr, "ibv_reg_mr");
		return mr->rkey;
	});
}

/* Those that are alive at the same time, too. */
TEST_F(guess, guess_keys_of_many)
{
	port on = open();
	const memory bytes(4096);
	std::vector<mr_ptr> all;

	measure("R_Key of one MR of many", 28, [&] {
		all.emplace_back(ibv_reg_mr(on.pd.get(), bytes.bytes().data(),
					    4096, all_access));
		check(all.back() != nullptr, "ibv_reg_mr");
		return all.back()->rkey;
	});
}

TEST_F(guess, guess_windows)
{
	port on = open();

	measure("R_Key of a window", 28, [&] {
		const mw_ptr mw(ibv_alloc_mw(on.pd.get(), IBV_MW_TYPE_1));

		check(mw != nullptr, "ibv_alloc_mw");
		return mw->rkey;
	});
}

} /* namespace */
