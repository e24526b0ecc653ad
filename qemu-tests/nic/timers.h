/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Timers of QPs and CQs: a heap that knows where each of them is. */
#ifndef ORNIC_NIC_TIMERS_H
#define ORNIC_NIC_TIMERS_H

#include <vector>

#include "base.h"

namespace nic
{

/** Part of what it belongs to; zeroes are a timer that is not set. */
struct timer {
	u64 when; // ns
	u32 place; // 1 + index in the heap, 0: not set
};

/** Set and forget are O(log n), the next one is O(1). No timer is in it
 *  twice, so a guest cannot make it grow beyond its objects. */
class timer_queue {
public:
	/** Set @t to @when, 0: not at all. */
	void set(timer &t, u64 when);
	/** When the first is due, 0: none is set. */
	u64 next() const
	{
		return heap_.empty() ? 0 : heap_.front()->when;
	}
	/** Take out the first one if it is due at @now. */
	timer *due(u64 now);

private:
	void put(std::size_t i, timer *t)
	{
		heap_[i] = t;
		t->place = static_cast<u32>(i + 1);
	}
	void up(std::size_t i);
	void down(std::size_t i);
	void remove(timer &t);

	std::vector<timer *> heap_;
};

} // namespace nic

#endif // ORNIC_NIC_TIMERS_H
