/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What happens to the memory of zones while requests use it. */
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ends.h"
#include "zone.h"

/* Threads, each of which repeats something until all end. The first failure ends them, and
 * is kept. */
class loops {
public:
	void run(std::function<void()> what);
	[[nodiscard]] bool stops() const
	{
		return stop_;
	}
	/* Throws the failure, if there was one. */
	void end();
	~loops();

private:
	std::atomic<bool> stop_ = false;
	std::mutex lock_;
	std::string why_;
	std::vector<std::thread> threads_;
};

/* Fills pages of a zone when they are touched, some of them after some ms. */
class late_filler {
public:
	explicit late_filler(zone &z);
	~late_filler();
	late_filler(const late_filler &) = delete;
	late_filler &operator=(const late_filler &) = delete;

	/* Drop all pages. What is filled from now on is of the new event. */
	void forget();
	[[nodiscard]] uint64_t filled() const
	{
		return filled_;
	}

private:
	void serve();
	void fill(uint64_t address);

	zone &zone_;
	const size_t page_;
	memory page_bytes_;
	int fd_;
	std::mutex lock_; /* no page is filled while an event drops all */
	std::atomic<bool> stop_ = false;
	std::atomic<uint64_t> filled_ = 0;
	std::thread thread_;
};

/* One event, of the kind of the zone. @late is of that zone. */
void happen(zone &z, late_filler &late, random_numbers &random);

/* Memory compaction. */
void compact();
