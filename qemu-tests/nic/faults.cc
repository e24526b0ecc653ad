// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "faults.h"

namespace nic
{

bool fault_injector::corrupt(bytes f, frame &copy)
{
	if (config_.corrupt <= 0 || !chance(config_.corrupt))
		return false;
	copy.assign(f.begin(), f.end());
	// After the Ethernet header, so that the frame still reaches its receiver.
	copy[min_frame + rng_() % (copy.size() - min_frame)] ^=
		static_cast<u8>(1u << rng_() % 8);
	counts_.corrupted++;
	return true;
}

} // namespace nic
