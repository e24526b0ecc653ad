/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Injected faults of the switch, reproducible by seed; and impairments of
 * single packets, by the rules of the engine.
 */
#ifndef ORNIC_NIC_FAULTS_H
#define ORNIC_NIC_FAULTS_H

#include <memory>
#include <random>
#include <string>

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

class device;

/** A RoCE frame on its way. */
struct arrival {
	device *to; // receives it; null: it enters the switch
	u32 from; // port, or guest of the engine that sends it
	packet_place place;
	frame data;
};

/** The rules of a process, and the frames that they hold. */
class impairments {
public:
	/** Empty, or why @text is no rule. */
	static std::string parse(const std::string &text,
				 ornic_impair_rule &rule);

	impairments();
	~impairments();
	impairments(const impairments &) = delete;

	/** Empty, or why the rule was not added. */
	std::string add(const std::string &text);
	/** Remove the rules; held frames are due now. */
	void clear();
	/** Whether frames have to pass them. */
	bool any() const
	{
		return table_->nrules || table_->nheld;
	}

	/** What happens to @a. It may be marked or damaged. If it is to be
	 *  held, a copy of it is. */
	ornic_impair_verdict apply(ornic_impair_dir dir, arrival &a);
	/** A frame has gone on. */
	void passed(const ornic_impair_verdict &verdict)
	{
		ornic_impair_passed(table_.get(), &verdict);
	}
	/** Take a frame that was held and may go on; null: none. */
	std::unique_ptr<arrival> take(ornic_impair_dir dir, u64 now);
	/** When one may go on, ns; 0: none is held. */
	u64 next() const;

	/** Frames that are held. */
	u64 held() const
	{
		return table_->nheld;
	}
	/** The rules as a JSON array. */
	std::string json() const;

private:
	bool hold(const ornic_impair_verdict &verdict, arrival &a);

	std::unique_ptr<ornic_impair> table_;
};

} // namespace nic

#endif // ORNIC_NIC_FAULTS_H
