// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// The bad wire: frames leave at the speed of the link and arrive late, twice,
// out of order, damaged or not at all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "scenario.h"

extern "C" {
#include "harness.h"
}

namespace sim
{

constexpr u64 us = 1000; // in ns

class random {
public:
	explicit random(u64 seed)
		: state_(seed)
	{
	}

	u64 next()
	{
		return ornic_th_random(&state_);
	}
	// In [lo, hi].
	u64 in(u64 lo, u64 hi)
	{
		return lo + next() % (hi - lo + 1);
	}
	bool chance(double p)
	{
		return static_cast<double>(next() >> 11) * 0x1p-53 < p;
	}
	// Log-uniform in [lo, hi].
	double log_in(double lo, double hi);

private:
	u64 state_;
};

// One of several paths, among which switches choose by UDP source ports.
struct route {
	u64 delay; // ns
	double ns_per_byte;
	u64 dies = 0; // when, ns; 0: never
};

struct faults {
	double loss = 0;
	double duplicate = 0;
	double damage = 0;
	double reorder = 0;
	double swap = 0; // with the next frame
	double overtake = 0; // arrives without delay
	u32 max_harm = 2; // how often the same packet may be lost or damaged
	u64 delay = 1000; // ns
	u64 jitter = 0;
	u64 reorder_delay = 0;
	double ns_per_byte = 0.1;
	size_t queue = 0; // frames before the link; 0: no limit
	bool standard = false; // either end takes the other for no ornic
	// Path MTU of a responder that answers to a READ again from no address
	// before the one that it was asked for last, as rxe does; 0: it does.
	u32 ascending = 0;
	// Instead of delay and ns_per_byte, in both directions. A port that is new takes
	// the next one.
	std::vector<route> routes;
};

faults pick_faults(kind what, random &rng);

// Bytes of the longest message of a scenario.
u32 longest_message(kind what);

// A frame that arrives at harness @to; bytes of exactly its length, so that the
// sanitizer sees every read beside it.
struct arrival {
	u64 when;
	u64 seq;
	ornic_th *to;
	u32 len;
	std::unique_ptr<u8[]> data;
};

class wire {
public:
	wire(const faults &f, u64 seed)
		: faults_(f)
		, rng_(seed)
	{
		for (auto &lanes : lanes_)
			lanes.resize(std::max<size_t>(f.routes.size(), 1));
	}

	// Takes all frames that @from has sent at @now, for @to.
	void take(ornic_th *from, ornic_th *to, u64 now);
	// When something happens next, 0 if nothing will.
	u64 next() const;
	// Does what is due at @now. Returns whether anything was.
	bool work(u64 now);
	// Gives frames that have not left back to their harnesses.
	void drop_all();
	// From now on nothing arrives.
	void cut()
	{
		cut_ = true;
	}

	u64 frames() const
	{
		return frames_;
	}
	u64 swapped() const
	{
		return swapped_;
	}
	u64 lost() const
	{
		return lost_;
	}
	// Frames that were lost, damaged, late or doubled.
	u64 troubles() const
	{
		return troubles_;
	}
	u64 bytes() const
	{
		return bytes_;
	}
	u64 hash() const
	{
		return hash_;
	}
	void trace(bool on)
	{
		trace_ = on;
	}

private:
	struct departure {
		u64 when;
		size_t lane;
		ornic_th *from;
		ornic_th *to;
		ornic_th_frame *frame;
	};
	struct later {
		bool operator()(const std::unique_ptr<arrival> &a,
				const std::unique_ptr<arrival> &b) const
		{
			return a->when != b->when ? a->when > b->when :
						    a->seq > b->seq;
		}
	};

	// What leaves on one path, in one direction.
	struct lane {
		std::queue<departure> leaving;
		u64 free = 0; // when the link is
	};

	size_t lane_of(int side, const ornic_th_frame *f);
	u64 delay_of(const departure &d) const;
	bool is_dead(const departure &d) const;
	void depart(const departure &d, const departure *next);
	void send_copy(const departure &d, u64 when, bool damaged);
	bool is_harmed_enough(const ornic_th_frame *f);
	void disguise(ornic_th_frame *f);
	bool is_refused(const departure &d);
	void note(const char *what, const departure &d);

	// A READ, as its responder remembers it. Both ends may have the same QPN.
	struct asked {
		const ornic_th *to;
		u32 qpn;
		u32 psn;
		u32 npkts;
		u64 va; // of the last request for it
	};

	faults faults_;
	random rng_;
	std::vector<asked> asked_;
	std::vector<lane> lanes_[2];
	std::map<u32, size_t> ports_[2]; // lanes of UDP source ports
	std::priority_queue<std::unique_ptr<arrival>,
			    std::vector<std::unique_ptr<arrival>>, later>
		arriving_;
	std::map<u64, u32> harmed_;
	u64 seq_ = 0;
	u64 frames_ = 0;
	u64 lost_ = 0;
	u64 troubles_ = 0;
	u64 swapped_ = 0;
	u64 bytes_ = 0;
	bool cut_ = false;
	u64 hash_ = 0xcbf29ce484222325ull;
	bool trace_ = false;
};

} // namespace sim
