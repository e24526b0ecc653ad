/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Protection domains, parent domains and thread domains.
 *
 * The kernel knows PDs alone. A parent domain stands for its PD wherever one is
 * asked for (libibverbs takes it for one), and says which thread domain the
 * objects made in it belong to. Those take no locks: the program sees to it
 * that no two threads use objects of one thread domain at a time.
 *
 * What is in use counts its users, and cannot go before them. The import of a PD
 * is given back even while objects are in it (ibv_unimport_pd cannot fail), so it
 * is a user itself, and the last one frees the memory.
 */
#ifndef ORNIC_DOMAIN_H
#define ORNIC_DOMAIN_H

#include <atomic>
#include <cstdint>
#include <infiniband/verbs.h>
#include <type_traits>

#include "resource.h"

namespace ornic
{

struct thread_domain {
	ibv_td base;
	std::atomic<std::uint32_t> users;
};

static_assert(std::is_standard_layout_v<thread_domain>);

struct protection_domain {
	ibv_pd base;
	std::atomic<std::uint32_t> users;
	protection_domain *parent_of; // of a parent domain: its PD
	thread_domain *td; // of a parent domain, or null
	bool imported;
};

static_assert(std::is_standard_layout_v<protection_domain>);

/** libibverbs only knows the first member. */
[[nodiscard]] inline protection_domain &to_pd(ibv_pd *pd) noexcept
{
	return *reinterpret_cast<protection_domain *>(pd);
}

[[nodiscard]] inline thread_domain &to_td(ibv_td *td) noexcept
{
	return *reinterpret_cast<thread_domain *>(td);
}

/** Are the objects of @pd, which may be null, used by one thread at a time? */
[[nodiscard]] inline bool single_threaded(ibv_pd *pd) noexcept
{
	return pd && to_pd(pd).td;
}

/** An object begins or ends to be in @pd; XRC targets are in none (null). */
inline void use(ibv_pd *pd) noexcept
{
	if (pd)
		to_pd(pd).users.fetch_add(1, std::memory_order_relaxed);
}

inline void unuse(ibv_pd *ibpd) noexcept
{
	if (!ibpd)
		return;
	protection_domain &pd = to_pd(ibpd);

	if (pd.users.fetch_sub(1, std::memory_order_acq_rel) == 1 &&
	    pd.imported)
		object_deleter()(&pd);
}

} // namespace ornic

#endif // ORNIC_DOMAIN_H
