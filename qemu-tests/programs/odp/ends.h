/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What programs about on-demand paging have in common: two ports, MRs, counters. */
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "../verify/live_memory.h"
#include "../verify/verbs.h"

/* "DEVICE:GID-INDEX", of an ornic. */
port open_port(const std::string &spec);

/* MRs on demand: of a range, and of all memory of the process. */
mr_ptr register_on_demand(const port &on, std::span<const std::byte> range);
mr_ptr register_all_memory(const port &on);

uint64_t address_of(std::span<const std::byte> bytes);

/* From RESET to RTS again, with PSNs that no packet on its way has. What was posted or
 * completed before is forgotten. */
void reconnect(pair &p);

/* A number in a file that has a line "NAME NUMBER", as /proc/vmstat. */
uint64_t number_in(const std::string &path, const std::string &name);

/* xorshift64*: quick, and the same in each run. */
class random_numbers {
public:
	explicit random_numbers(uint64_t seed)
		: state_(seed * 0x9e3779b97f4a7c15 + 1)
	{
	}

	uint64_t below(uint64_t limit)
	{
		state_ ^= state_ >> 12;
		state_ ^= state_ << 25;
		state_ ^= state_ >> 27;
		return (state_ * 0x2545f4914f6cdd1d >> 32) % limit;
	}

private:
	uint64_t state_;
};

/* What the devices of both ends have counted since this exists. */
class both_ends {
public:
	both_ends(const port &client, const port &server,
		  const std::string &name)
		: client_(client, name)
		, server_(server, name)
		, is_one_(client.name == server.name)
	{
	}

	[[nodiscard]] uint64_t more() const
	{
		return client_.more() + (is_one_ ? 0 : server_.more());
	}

private:
	live_counter client_, server_;
	bool is_one_;
};
