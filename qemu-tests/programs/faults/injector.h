/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of the kernel's fault injection: the nth allocation, or copy from or to
 * user memory, that this thread's system calls make fails.
 */
#pragma once

#include <array>
#include <cstddef>
#include <string>

enum class fault { none, slab, page, usercopy };

constexpr std::size_t fault_kinds = 3;

class injector {
public:
	injector();
	~injector();
	injector(const injector &) = delete;
	injector &operator=(const injector &) = delete;

	void arm(unsigned int nth);
	/* What has failed since arm(). */
	fault disarm();
	/* Whether the kernel logs a stack trace for each fault. */
	void set_verbose(bool on);

private:
	struct kind {
		fault what;
		std::string times; /* empty if the kernel lacks this kind */
		long left;
	};

	int nth_;
	std::array<kind, fault_kinds> kinds_;
};

const char *fault_name(fault what);
