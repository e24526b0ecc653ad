// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "timers.h"

namespace nic
{

void timer_queue::up(std::size_t i)
{
	timer *t = heap_[i];

	while (i && heap_[(i - 1) / 2]->when > t->when) {
		put(i, heap_[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(i, t);
}

void timer_queue::down(std::size_t i)
{
	timer *t = heap_[i];
	std::size_t child;

	while ((child = 2 * i + 1) < heap_.size()) {
		if (child + 1 < heap_.size() &&
		    heap_[child + 1]->when < heap_[child]->when)
			child++;
		if (heap_[child]->when >= t->when)
			break;
		put(i, heap_[child]);
		i = child;
	}
	put(i, t);
}

void timer_queue::remove(timer &t)
{
	std::size_t i = t.place - 1;
	timer *last = heap_.back();

	t.place = 0;
	heap_.pop_back();
	if (last == &t)
		return;
	put(i, last);
	up(i);
	down(last->place - 1);
}

void timer_queue::set(timer &t, u64 when)
{
	if (!when) {
		if (t.place)
			remove(t);
		return;
	}
	t.when = when;
	if (!t.place) {
		heap_.push_back(&t);
		up(heap_.size() - 1);
		return;
	}
	up(t.place - 1);
	down(t.place - 1);
}

timer *timer_queue::due(u64 now)
{
	timer *first;

	if (heap_.empty() || heap_.front()->when > now)
		return nullptr;
	first = heap_.front();
	remove(*first);
	return first;
}

} // namespace nic
