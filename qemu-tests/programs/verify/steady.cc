// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic that never pauses: SENDs of 4096 bytes with several on their way, each
 * checked where it arrives. It says how long the longest pause between two messages
 * was. In the environment: STEADY_UNTIL, a file whose appearance ends it (else it
 * ends after a second); STEADY_PAUSE_MS, the longest pause that is allowed.
 */

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests.h"

namespace
{

class steady : public verify {};

using clock_type = std::chrono::steady_clock;
using ms_type = std::chrono::duration<double, std::milli>;

constexpr size_t size = 4096;
constexpr uint64_t window = 16; /* messages on their way */
constexpr size_t target = window * size;

bool is_over(uint64_t done, clock_type::time_point begin)
{
	const char *file = std::getenv("STEADY_UNTIL");

	if (!file)
		return clock_type::now() - begin > std::chrono::seconds(1);
	return done % 64 == 0 && std::filesystem::exists(file);
}

class pauses {
public:
	void message(uint64_t id)
	{
		const auto now = clock_type::now();

		if (id && now - last_ > longest_) {
			longest_ = now - last_;
			at_ = id;
		}
		last_ = now;
	}
	void report(uint64_t count) const
	{
		const char *limit = std::getenv("STEADY_PAUSE_MS");
		const ms_type longest = longest_;

		std::printf("# %llu messages, longest pause %.1f ms, before "
			    "message %llu\n",
			    static_cast<unsigned long long>(count),
			    longest.count(),
			    static_cast<unsigned long long>(at_));
		check(!limit || longest.count() <= std::atof(limit),
		      "a pause of more than STEADY_PAUSE_MS");
	}

private:
	clock_type::time_point last_;
	clock_type::duration longest_{};
	uint64_t at_ = 0;
};

size_t slot(uint64_t id)
{
	return id % window * size;
}

void post(pair &p, uint64_t id)
{
	const auto seed = static_cast<uint32_t>(id);

	fill(p.client.at(slot(id), size), seed);
	clear(p.server.at(target + slot(id), size));
	p.server.post_recv(id, target + slot(id), size);
	p.client.post(request(IBV_WR_SEND, id),
		      { p.client.sge(slot(id), size) });
}

TEST_F(steady, steady_send)
{
	pair p(on.client, on.server);
	const auto begin = clock_type::now();
	uint64_t done = 0, posted = 0;
	pauses seen;

	for (bool over = false; !over || done < posted; done++) {
		over = over || is_over(done, begin);
		for (; !over && posted - done < window; posted++)
			post(p, posted);
		if (done == posted)
			break;
		(void)p.server.received(done);
		seen.message(done);
		check_fill(p.server.at(target + slot(done), size),
			   static_cast<uint32_t>(done), "message");
		(void)p.client.sent(done);
	}
	p.server.nothing_more();
	seen.report(done);
}

} /* namespace */
