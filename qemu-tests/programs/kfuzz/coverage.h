/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * KCOV of one thread: the addresses of the instrumented code that its system
 * calls ran. Only our modules are instrumented (make modules-kcov). Softirqs
 * and workers are not seen.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

class coverage_trace {
public:
	coverage_trace();
	~coverage_trace();
	coverage_trace(const coverage_trace &) = delete;
	coverage_trace &operator=(const coverage_trace &) = delete;

	/* In the thread itself. Without KCOV there is nothing to see. */
	void start();
	std::span<const uint64_t> stop();

private:
	int fd_;
	uint64_t *words_ = nullptr;
};

/* What all threads together have reached. */
class coverage_set {
public:
	/* How many of them are new. */
	std::size_t add(std::span<const uint64_t> addresses);
	[[nodiscard]] std::size_t size() const
	{
		return seen_.size();
	}
	/* "cover: MODULE FUNCTION OFFSET...", a line for each function. */
	void print() const;

private:
	std::mutex lock_;
	std::unordered_map<uint64_t, uint32_t> seen_;
};
