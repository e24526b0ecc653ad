/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
// One execution of a litmus test, and whether the memory model allows it.
#pragma once

#include <vector>

#include "program.h"
#include "relation.h"

namespace litmus
{

struct event {
	enum kind { READ, WRITE, FENCE } what = FENCE;
	order how = order::ONCE;
	int thread = -1; // -1: initial value
	int loc = -1;
	int value = 0;
	int rmw_of = -1; // WRITE: the READ of the same operation
	// Reads of the thread that this depends on, by their place in it
	event_set data = 0;
	event_set ctrl = 0;
};

/** Who reads from which write, and the order of the writes of a location. */
struct execution {
	std::vector<event> events; // of a thread in program order
	relation rf;
	relation co;
};

/**
 * The kernel's memory model: coherence, atomicity, happens-before and propagation
 * (Alglave et al., "Frightening Small Children and Disconcerting Grown-ups", ASPLOS
 * 2018).
 */
bool is_allowed(const execution &x);

} // namespace litmus
