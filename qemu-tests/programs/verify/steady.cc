// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic that never pauses: SENDs of 4096 bytes with several on their way, or
 * datagrams, each checked where it arrives. It says how long the longest pause
 * between two messages was, and how long without the time in which this machine
 * itself stood still. In the environment: STEADY_UNTIL, a file whose appearance ends
 * it (else it ends after a second); STEADY_PAUSE_MS, the longest pause of the second
 * kind that is allowed.
 */

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

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

struct span {
	clock_type::time_point begin, end;

	clock_type::duration length() const
	{
		return end - begin;
	}
};

/*
 * When this machine itself stood still, as a machine does whose host runs others
 * instead: a thread that does nothing but sleep notes when it slept too long.
 */
class standstills {
public:
	standstills()
		: sleeper_([this](const std::stop_token &stop) { watch(stop); })
	{
	}
	/* What is left of @pause without them. Ends the watch. */
	clock_type::duration without(const span &pause)
	{
		auto left = pause.length();

		if (sleeper_.joinable()) {
			sleeper_.request_stop();
			sleeper_.join();
		}
		for (const span &s : seen_) {
			const auto begin = std::max(s.begin, pause.begin);
			const auto end = std::min(s.end, pause.end);

			if (begin < end)
				left -= end - begin;
		}
		return left;
	}

private:
	void watch(const std::stop_token &stop)
	{
		constexpr auto nap = std::chrono::milliseconds(5);
		auto woke = clock_type::now();

		while (!stop.stop_requested()) {
			std::this_thread::sleep_for(nap);
			const auto now = clock_type::now();

			if (now - woke > 2 * nap)
				seen_.push_back({ woke + nap, now });
			woke = now;
		}
	}

	std::vector<span> seen_; /* the thread's, until it is joined */
	std::jthread sleeper_;
};

class pauses {
public:
	void message(uint64_t id)
	{
		const auto now = clock_type::now();

		if (id && now - last_ > longest_.length()) {
			longest_ = { last_, now };
			at_ = id;
		}
		if (id && now - last_ > std::chrono::milliseconds(10))
			long_.push_back({ last_, now });
		last_ = now;
	}
	void report(uint64_t count)
	{
		const char *limit = std::getenv("STEADY_PAUSE_MS");
		const ms_type longest = longest_.length();
		ms_type ours{};

		for (const span &pause : long_)
			ours = std::max<ms_type>(ours, still_.without(pause));
		std::printf("# %llu messages, longest pause %.1f ms, before "
			    "message %llu; %.1f ms while the machine ran\n",
			    static_cast<unsigned long long>(count),
			    longest.count(),
			    static_cast<unsigned long long>(at_), ours.count());
		check(!limit || ours.count() <= std::atof(limit),
		      "a pause of more than STEADY_PAUSE_MS");
	}

private:
	standstills still_;
	clock_type::time_point last_;
	span longest_{};
	std::vector<span> long_;
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

ah_ptr way_to(port &from, const port &to)
{
	ibv_ah_attr attr = path_to(to.gid, from.gid_index);

	return ah_ptr(ibv_create_ah(from.pd.get(), &attr));
}

constexpr size_t datagram = 1024, grh = 40, guard = 64;

/* A datagram may be lost where the wire is full: it is sent until it arrives. */
uint64_t send_until_it_arrives(pair &p, ibv_ah *ah, uint32_t seed)
{
	constexpr int again_ms = 200;
	ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, seed);
	ibv_wc wc{};

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = p.server.qp->qp_num;
	wr.wr.ud.remote_qkey = ud_qkey;
	wr.imm_data = seed;
	for (uint64_t tries = 1;; tries++) {
		check(tries < 1000, "datagrams do not arrive");
		p.client.post(wr, { p.client.sge(0, datagram) });
		(void)p.client.sent(seed);
		while (endpoint::wait_for(p.server.recv_cq.get(), again_ms,
					  wc)) {
			check_wc(wc, IBV_WC_SUCCESS, "datagram");
			check_equal(wc.src_qp, p.client.qp->qp_num, "sender");
			check_equal(wc.byte_len, grh + datagram, "length");
			if (wc.imm_data == seed)
				return tries;
			/* An earlier one that was sent again too soon. */
			p.server.post_recv(seed, 0, grh + datagram);
		}
	}
}

TEST_F(steady, steady_datagram)
{
	options o;

	o.type = IBV_QPT_UD;
	pair p(on.client, on.server, o);
	const ah_ptr ah = way_to(on.client, on.server);
	const auto begin = clock_type::now();
	uint64_t done = 0, sends = 0;
	pauses seen;

	check(ah != nullptr, "ibv_create_ah");
	for (; !is_over(done, begin); done++) {
		const auto seed = static_cast<uint32_t>(done);

		fill(p.client.at(0, datagram), seed);
		clear(p.server.at(0, grh + datagram + guard));
		p.server.post_recv(seed, 0, grh + datagram);
		sends += send_until_it_arrives(p, ah.get(), seed);
		check_fill(p.server.at(grh, datagram), seed, "datagram");
		check_clear(p.server.at(grh + datagram, guard), "datagram");
		seen.message(done);
	}
	std::printf("# %ju datagrams were lost\n", uintmax_t(sends - done));
	seen.report(done);
}

} /* namespace */
