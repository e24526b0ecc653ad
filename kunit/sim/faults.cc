// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Which faults the wire of a scenario has.
#include "wire.h"

namespace sim
{

faults pick_faults(kind what, random &rng)
{
	faults f;

	f.ns_per_byte = rng.chance(0.5) ? 0.08 : 0.8;
	f.delay = rng.in(us / 2, 20 * us);
	if (what == kind::bottleneck) {
		f.ns_per_byte = 0.8;
		f.queue = rng.in(16, 64);
		return f;
	}
	if (what == kind::orphaned || what == kind::unready)
		return f;
	if (what == kind::perfect || what == kind::refused) {
		// A quarter of the shortest ACK timeout and more.
		if (rng.chance(0.3))
			f.delay = rng.in(100 * us, 900 * us);
		return f;
	}
	if (what == kind::swapped) {
		f.ns_per_byte = 0.8;
		f.swap = rng.log_in(0.001, 0.02);
		return f;
	}
	f.standard = rng.chance(0.3);
	if (what == kind::lossy)
		f.standard = false;
	if (what == kind::standard || what == kind::like_rxe)
		f.standard = true;
	if (what == kind::like_rxe)
		f.ascending = 128u << rng.in(1, 5);
	f.loss = rng.log_in(0.001, 0.1);
	if (rng.chance(0.5))
		f.duplicate = rng.log_in(0.001, 0.05);
	if (rng.chance(0.3))
		f.damage = rng.log_in(0.001, 0.02);
	if (rng.chance(0.5)) {
		f.reorder = rng.log_in(0.001, 0.1);
		f.reorder_delay = rng.in(us, 100 * us);
	}
	return f;
}

u32 longest_message(kind what)
{
	switch (what) {
	case kind::bottleneck:
	case kind::swapped:
		return 131072;
	case kind::orphaned:
	case kind::direct:
		// More than is done at once without packets.
		return 400000;
	default:
		return 16384;
	}
}

} // namespace sim
