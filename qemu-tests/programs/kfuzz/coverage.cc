// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "coverage.h"

#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace
{

constexpr std::size_t max_words = 1 << 16;

struct function {
	std::string module, name;
};

/* The functions of our modules by their address. */
std::map<uint64_t, function> our_functions()
{
	std::ifstream symbols("/proc/kallsyms");
	std::map<uint64_t, function> found;
	std::string line;

	while (std::getline(symbols, line)) {
		std::istringstream words(line);
		std::string type, name, module;
		uint64_t address = 0;

		if (line.find("[ornic") == std::string::npos)
			continue;
		words >> std::hex >> address >> type >> name >> module;
		if (type == "t" || type == "T")
			found[address] = { module.substr(1, module.size() - 2),
					   name };
	}
	return found;
}

} /* namespace */

coverage_trace::coverage_trace()
	: fd_(open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC))
{
	if (fd_ < 0 || ioctl(fd_, KCOV_INIT_TRACE, max_words))
		return;
	void *memory = mmap(nullptr, max_words * sizeof(uint64_t),
			    PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
	if (memory != MAP_FAILED)
		words_ = static_cast<uint64_t *>(memory);
}

coverage_trace::~coverage_trace()
{
	if (words_)
		munmap(words_, max_words * sizeof(uint64_t));
	if (fd_ >= 0)
		close(fd_);
}

void coverage_trace::start()
{
	if (!words_)
		return;
	ioctl(fd_, KCOV_ENABLE, KCOV_TRACE_PC);
	__atomic_store_n(words_, 0, __ATOMIC_RELAXED);
}

std::span<const uint64_t> coverage_trace::stop()
{
	if (!words_)
		return {};
	const uint64_t count = __atomic_load_n(words_, __ATOMIC_RELAXED);

	ioctl(fd_, KCOV_DISABLE, 0);
	return { words_ + 1, std::min<std::size_t>(count, max_words - 1) };
}

std::size_t coverage_set::add(std::span<const uint64_t> addresses)
{
	const std::lock_guard guard(lock_);
	const std::size_t before = seen_.size();

	for (const uint64_t address : addresses)
		seen_[address]++;
	return seen_.size() - before;
}

void coverage_set::print() const
{
	const auto functions = our_functions();
	std::map<std::string, std::map<uint64_t, bool>> reached;

	for (const auto &[address, count] : seen_) {
		auto at = functions.upper_bound(address);

		if (at == functions.begin())
			continue;
		--at;
		reached[at->second.module + ' ' + at->second.name]
		       [address - at->first] = true;
	}
	for (const auto &[name, offsets] : reached) {
		std::printf("cover: %s", name.c_str());
		for (const auto &[offset, unused] : offsets)
			std::printf(" %llx",
				    static_cast<unsigned long long>(offset));
		std::printf("\n");
	}
}
