/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tests of on-demand paging: the fixture, and memory that goes. */
#pragma once

#include "tests.h"

constexpr int on_demand = all_access | IBV_ACCESS_ON_DEMAND;
inline const auto page = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
constexpr size_t part = 2 << 20; /* of an MR of all memory */

bool has_odp(const port &p, uint64_t bit);

class odp : public verify {
protected:
	odp();

	options opt; /* of pairs whose memory is on demand */
};

inline uint64_t address_of(std::span<const std::byte> bytes)
{
	return reinterpret_cast<uint64_t>(bytes.data());
}

/* Private memory whose pages come one by one, when they are needed. */
std::span<std::byte> map_small_pages(size_t size);

/* Pages go, as if they were new: they read as zeros. */
void forget(std::span<std::byte> bytes);
inline void forget(const endpoint &e, size_t offset, size_t size)
{
	forget(e.at(offset, size));
}

void check_zero(std::span<const std::byte> bytes, const std::string &what);

/* The client writes to, or reads from, the start of the buffer of the server. */
void write_to(pair &p, size_t size, ibv_wc_status status, const char *what);
void read_from(pair &p, size_t size, ibv_wc_status status, const char *what);

/* Faults of QPs that a device has had; its counters may be 10 ms old. */
uint64_t page_faults(const port &p);
