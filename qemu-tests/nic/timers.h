/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Timers of QPs and CQs: a heap with back pointers. */
#ifndef ORNIC_NIC_TIMERS_H
#define ORNIC_NIC_TIMERS_H

#include <vector>

#include "base.h"

namespace nic
{

/** Embedded in the object that it belongs to. All zero: not set. */
struct timer {
	u64 when; // ns
	u32 place; // 1 + index in the heap, 0: not set
};

/** Setting and cancelling are O(log n), next() is O(1). A timer is in the heap at most
 *  once, so the number of objects limits its size. */
class timer_queue {
public:
	/** Set @t to @when; 0: cancel it. */
	void set(timer &t, u64 when);
	/** When the first timer is due; 0: none is set. */
	u64 next() const
	{
		return heap_.empty() ? 0 : heap_.front()->when;
	}
	/** Remove and return the first timer, if it is due at @now. */
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
