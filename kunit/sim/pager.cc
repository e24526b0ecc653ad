// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "pager.h"

#include <algorithm>

namespace sim
{

namespace
{

constexpr u64 page = 4096;
constexpr u64 longest_answer = 3000 * us;

} // namespace

u64 pager::look(ornic_th *th, u64 now)
{
	answer a = {};

	for (const ornic_th_qp *qp = th->qps; qp; qp = qp->next) {
		a.qp.th = th;
		a.qp.qpn = qp->qpn;
		while (ornic_th_fault_take(&a.qp, &a.fault)) {
			a.when = now + static_cast<u64>(
					       rng_.log_in(1, longest_answer));
			answers_.push_back(a);
		}
	}
	return next();
}

u64 pager::next() const
{
	u64 when = 0;

	for (const answer &a : answers_)
		if (!when || a.when < when)
			when = a.when;
	return when;
}

// The first page, and perhaps others.
void pager::give(const answer &a)
{
	const ornic_th_mr *mr = ornic_th_odp_find(a.qp.th, a.fault.key);
	u64 first, npages;

	if (mr) {
		u64 start = mr->iova - mr->off0;

		first = (a.fault.addr - start) / page;
		npages = (a.fault.addr + a.fault.length - 1 - start) / page -
			 first + 1;
		npages = rng_.in(1, npages);
		ornic_th_odp_set(mr, static_cast<u32>(first),
				 static_cast<u32>(npages),
				 a.fault.write || rng_.chance(0.5));
	}
	ornic_th_fault_end(&a.qp, &a.fault, !mr);
}

void pager::evict(ornic_th *th)
{
	u32 n = 0;

	for (const ornic_th_mr *mr = th->odps; mr; mr = mr->next)
		n++;
	if (!n)
		return;
	n = static_cast<u32>(rng_.in(0, n - 1));

	const ornic_th_mr *mr = th->odps;

	while (n--)
		mr = mr->next;

	auto first = static_cast<u32>(rng_.in(0, mr->npages - 1));

	ornic_th_odp_clear(mr, first,
			   static_cast<u32>(rng_.in(1, mr->npages - first)));
}

void pager::act(ornic_th *th, u64 now)
{
	for (std::size_t i = 0; i < answers_.size();) {
		if (answers_[i].when > now || answers_[i].qp.th != th) {
			i++;
			continue;
		}
		give(answers_[i]);
		answers_.erase(answers_.begin() +
			       static_cast<std::ptrdiff_t>(i));
	}
	if (rng_.chance(0.02))
		evict(th);
}

} // namespace sim
