/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Injected faults of the switch, reproducible by seed. */
#ifndef ORNIC_NIC_FAULTS_H
#define ORNIC_NIC_FAULTS_H

#include <random>

#include "frame.h"
#include "options.h"

namespace nic
{

struct fault_counts {
	u64 lost;
	u64 corrupted;
};

class fault_injector {
public:
	explicit fault_injector(const fault_config &config)
	{
		set(config);
	}

	void set(const fault_config &config)
	{
		config_ = config;
		rng_.seed(config.seed);
	}
	/** Whether to drop this frame. */
	bool lose()
	{
		return config_.loss > 0 && chance(config_.loss) &&
		       ++counts_.lost;
	}
	/** Put a corrupted copy of @f into @copy. False: do not corrupt it. */
	bool corrupt(bytes f, frame &copy);
	/** Delay of each frame, ns. */
	u64 delay() const
	{
		return config_.delay;
	}
	const fault_counts &counts() const
	{
		return counts_;
	}

private:
	bool chance(double p)
	{
		return std::uniform_real_distribution<>()(rng_) < p;
	}

	fault_config config_;
	std::mt19937_64 rng_;
	fault_counts counts_{};
};

} // namespace nic

#endif // ORNIC_NIC_FAULTS_H
