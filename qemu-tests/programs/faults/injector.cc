// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "injector.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../verify/verbs.h"

namespace
{

constexpr const char *many = "1000000";

/* Without a copy that could fail, unlike std::ofstream: false on an error. */
bool put(int fd, long value)
{
	char text[24];
	const int size = std::snprintf(text, sizeof(text), "%ld", value);

	return pwrite(fd, text, static_cast<std::size_t>(size), 0) == size;
}

bool get(int fd, long &value)
{
	char text[24] = {};

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return false;
	value = std::strtol(text, nullptr, 0);
	return true;
}

void set(const std::string &path, const char *value)
{
	const int fd = open(path.c_str(), O_WRONLY);

	if (fd < 0)
		return;
	check(write(fd, value, std::strlen(value)) > 0, path);
	close(fd);
}

/* A file of debugfs cannot seek, and gives its value once. */
bool get(const std::string &path, long &value)
{
	const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	char text[24] = {};
	const bool done = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0;

	close(fd);
	if (done)
		value = std::strtol(text, nullptr, 0);
	return done;
}

/* The file "times", of which each fault takes one; none without this kind. */
std::string set_up(const char *name)
{
	const std::string folder = std::string("/sys/kernel/debug/") + name;

	if (access(folder.c_str(), F_OK))
		return {};
	/* Stack traces in the log would look like errors. */
	set(folder + "/verbose", "0");
	/* Allocations that may sleep fail, too. */
	set(folder + "/ignore-gfp-wait", "N");
	set(folder + "/ignore-gfp-highmem", "N");
	set(folder + "/min-order", "0");
	set(folder + "/times", many);
	return folder + "/times";
}

} /* namespace */

injector::injector()
	: nth_(open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC))
	, kinds_{ { { fault::slab, set_up("failslab"), 0 },
		    { fault::page, set_up("fail_page_alloc"), 0 },
		    { fault::usercopy, set_up("fail_usercopy"), 0 } } }
{
	check(nth_ >= 0 && !kinds_[0].times.empty(), "no fault injection");
	for (kind &k : kinds_)
		check(k.times.empty() || get(k.times, k.left), k.times);
}

injector::~injector()
{
	for (const kind &k : kinds_)
		if (!k.times.empty())
			set(k.times, "-1");
	close(nth_);
}

void injector::arm(unsigned int nth)
{
	check(put(nth_, nth), "fail-nth");
}

void injector::set_verbose(bool on)
{
	for (const kind &k : kinds_)
		if (!k.times.empty())
			set(k.times.substr(0, k.times.rfind('/')) + "/verbose",
			    on ? "2" : "0");
}

fault injector::disarm()
{
	fault found = fault::none;
	long left = 0;

	/*
	 * The file's own copies count. If one of them was the nth, nothing has
	 * failed before it.
	 */
	const bool in_step = get(nth_, left) && !left;
	while (!in_step && left && !put(nth_, 0))
		;
	for (kind &k : kinds_) {
		long now = k.left;

		check(k.times.empty() || get(k.times, now), k.times);
		if (now != k.left && in_step)
			found = k.what;
		k.left = now;
	}
	return found;
}

const char *fault_name(fault what)
{
	switch (what) {
	case fault::slab:
		return "failslab";
	case fault::page:
		return "fail_page_alloc";
	case fault::usercopy:
		return "fail_usercopy";
	default:
		return "no fault";
	}
}
