// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_odp_chaos CLIENT-DEVICE:GID-INDEX SERVER-DEVICE:GID-INDEX SECONDS
 *
 * READs, WRITEs, SENDs and atomics of memory on demand, whose pages are unmapped, moved,
 * copied, merged, split, swapped, protected and late meanwhile; zone.h describes how each byte
 * is checked. Runs for so many seconds, and up to three minutes longer until each kind of event
 * and of request has happened; fails if one has not.
 *
 * Needs KSM that runs, and swap.
 */
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "events.h"
#include "traffic.h"

namespace
{

constexpr size_t qps = 4;
constexpr kind kinds[] = { kind::unmap,	   kind::move,	  kind::forget,
			   kind::fork,	   kind::merge,	  kind::huge,
			   kind::page_out, kind::protect, kind::late };
constexpr useconds_t event_pause_us = 5000, most_pause_us = 4000000,
		     compaction_pause_us = 100000;
/* Where requests take a second, some kinds of them are rare. */
constexpr std::chrono::minutes most_more{ 3 };

using zone_list = std::vector<std::unique_ptr<zone>>;

/* What the kernel has counted since this exists, of all processes. */
class vm_counter {
public:
	explicit vm_counter(const char *name)
		: name_(name)
		, before_(read())
	{
	}

	[[nodiscard]] const char *name() const
	{
		return name_;
	}
	[[nodiscard]] uint64_t more() const
	{
		return read() - before_;
	}

private:
	[[nodiscard]] uint64_t read() const
	{
		return number_in("/proc/vmstat", name_);
	}

	const char *name_;
	uint64_t before_;
};

struct count {
	std::string name;
	uint64_t value;
};

/* All that must have happened by the end. */
std::vector<count> counts_of(const zone_list &zones, const late_filler &late,
			     std::span<const vm_counter> kernel)
{
	std::vector<count> all{ { "pages that came late", late.filled() } };

	for (const auto &z : zones) {
		const std::string name = z->name();
		const bool has_numbers = z->look().ended > 1;

		all.push_back({ name + ": events", z->events });
		all.push_back(
			{ name + ": undisturbed takes", z->takes.undisturbed });
		all.push_back(
			{ name + ": undisturbed puts", z->puts.undisturbed });
		all.push_back({ name + ": undisturbed atomics",
				z->atomics.undisturbed });
		if (has_numbers)
			all.push_back({ name + ": disturbed requests",
					z->refused + z->takes.all -
						z->takes.undisturbed +
						z->puts.all -
						z->puts.undisturbed });
	}
	for (const vm_counter &counter : kernel)
		all.push_back({ counter.name(), counter.more() });
	return all;
}

bool has_all(const std::vector<count> &counts)
{
	for (const count &c : counts)
		if (!c.value)
			return false;
	return true;
}

/* @pause_us: what events pause for at most */
void start(loops &all, const zone_list &zones, late_filler &late,
	   const std::atomic<useconds_t> &pause_us)
{
	for (const auto &each : zones)
		all.run([&z = *each, &late, &pause_us,
			 random = random_numbers(
				 each->look().oldest +
				 static_cast<uint64_t>(each->what))]() mutable {
			happen(z, late, random);
			usleep(static_cast<useconds_t>(random.below(pause_us)));
		});
	all.run([] {
		compact();
		usleep(compaction_pause_us);
	});
}

void show(const zone_list &zones, const std::vector<count> &counts)
{
	for (const auto &z : zones)
		std::printf("%s: %ju events, %ju takes (%ju undisturbed), "
			    "%ju puts (%ju), %ju atomics (%ju), %ju refused\n",
			    z->name().c_str(), uintmax_t(z->events),
			    uintmax_t(z->takes.all),
			    uintmax_t(z->takes.undisturbed),
			    uintmax_t(z->puts.all),
			    uintmax_t(z->puts.undisturbed),
			    uintmax_t(z->atomics.all),
			    uintmax_t(z->atomics.undisturbed),
			    uintmax_t(z->refused));
	for (const count &c : counts)
		if (c.name.find(':') == std::string::npos)
			std::printf("%s: %ju\n", c.name.c_str(),
				    uintmax_t(c.value));
	for (const count &c : counts)
		check(c.value, c.name + ": none");
}

/* No event and no request is under way. */
void check_at_rest(const zone_list &zones)
{
	for (const auto &z : zones)
		z->check_taken({ z->look().base, zone_bytes }, 0, z->look(),
			       "in the end");
}

void run(port &client, port &server, std::chrono::seconds time)
{
	const both_ends timeouts(client, server, "local_ack_timeout_err");
	const both_ends faults(client, server, "page_faults");
	const vm_counter kernel[] = { vm_counter("pgmigrate_success"),
				      vm_counter("thp_split_page"),
				      vm_counter("pswpin"),
				      vm_counter("pswpout") };
	const auto begin = std::chrono::steady_clock::now();
	zone_list zones;

	for (kind k : kinds)
		zones.push_back(std::make_unique<zone>(k, zones.size()));
	const registered mrs(client, server, zones);
	std::vector<std::unique_ptr<traffic>> requests;
	for (size_t i = 0; i < qps; i++)
		requests.push_back(
			std::make_unique<traffic>(client, server, i, qps));
	late_filler late(*zones.back());
	std::atomic<useconds_t> pause_us = event_pause_us;
	loops all;

	start(all, zones, late, pause_us);
	for (const auto &each : requests)
		all.run([&, &r = *each] { r.one(zones, mrs); });
	for (;;) {
		const auto now = std::chrono::steady_clock::now() - begin;

		if (all.stops() || now > time + most_more ||
		    (now > time && has_all(counts_of(zones, late, kernel))))
			break;
		/* Where requests take longer than pauses, none is undisturbed. */
		if (now > time)
			pause_us = std::min(pause_us + pause_us / 10,
					    most_pause_us);
		usleep(100000);
	}
	all.end();
	check_at_rest(zones);
	show(zones, counts_of(zones, late, kernel));
	std::printf("page faults: %ju, ACK timeouts: %ju\n",
		    uintmax_t(faults.more()), uintmax_t(timeouts.more()));
	check(faults.more(), "no page fault");
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::fprintf(stderr, "usage: ornic_odp_chaos CLIENT:GID"
				     " SERVER:GID SECONDS\n");
		return 2;
	}
	try {
		port client = open_port(argv[1]);
		port server = open_port(argv[2]);

		run(client, server, std::chrono::seconds(std::atoi(argv[3])));
	} catch (const failure &what) {
		std::printf("FAILED: %s\n", what.what());
		return 1;
	}
	return 0;
}
