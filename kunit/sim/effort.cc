// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "effort.h"

#include <algorithm>

#include "wire.h"

namespace sim
{

namespace
{

// A fault costs a packet, or what is under way if the requester goes back, and
// the shortest ACK timeout is 4 ms. Faults come together.
constexpr std::uint64_t frames_for_fault = 64;
constexpr std::uint64_t time_for_fault = 4000 * us;
constexpr std::uint64_t time_for_all = 50000 * us;

std::string too_much(const char *what, std::uint64_t got, std::uint64_t most)
{
	return std::to_string(got) + what + ", more than " +
	       std::to_string(most);
}

// A queue that overflows.
std::string excess_of_bottleneck(const outcome &run)
{
	std::uint64_t most = 20 * run.bytes + 1000000;

	if (run.sent > most)
		return too_much(" bytes sent", run.sent, most);
	if (run.ns > 20000000 * us)
		return too_much(" ns", run.ns, 20000000 * us);
	return "";
}

std::string excess_of_faults(const outcome &run)
{
	std::uint64_t frames =
		2 * run.needed + frames_for_fault * (run.troubles + 1);
	std::uint64_t ns = time_for_all + time_for_fault * run.troubles;

	if (run.frames > frames)
		return too_much(" frames sent", run.frames, frames);
	if (run.ns > ns && !run.paused)
		return too_much(" ns", run.ns, ns);
	return "";
}

} // namespace

std::string excess(kind what, const outcome &run)
{
	switch (what) {
	case kind::bottleneck:
		return excess_of_bottleneck(run);
	case kind::lossy:
	case kind::standard:
	case kind::like_rxe:
		return excess_of_faults(run);
	default:
		return "";
	}
}

void effort::add(const outcome &run)
{
	if (run.paused)
		return;
	runs++;
	frames += run.frames;
	needed += run.needed;
	ns += run.ns;
}

double effort::per_needed() const
{
	return static_cast<double>(frames) /
	       static_cast<double>(std::max<std::uint64_t>(needed, 1));
}

double effort::us() const
{
	return static_cast<double>(ns) / 1e3 /
	       static_cast<double>(std::max<std::uint64_t>(runs, 1));
}

} // namespace sim
