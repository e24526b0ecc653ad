/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A file in a file system of its own (FUSE), which gives no page of it. */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

class hung_file {
public:
	/* What becomes of a request for a page. */
	enum class reads { hang, fail };

	explicit hung_file(size_t size, reads how = reads::hang);
	~hung_file();
	hung_file(const hung_file &) = delete;
	hung_file &operator=(const hung_file &) = delete;

	/* Does the kernel have what it takes? */
	static bool is_possible();

	/* Whoever touches it gets SIGBUS; if reads hang, when this goes. */
	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return { base_, size_ };
	}

	/* How many requests for pages wait. */
	[[nodiscard]] uint64_t waiting() const
	{
		return waiting_;
	}

private:
	void map();
	void serve();
	void answer(std::span<const std::byte> request);

	size_t size_;
	reads how_;
	std::byte *base_ = nullptr;
	std::string folder_;
	int device_;
	std::atomic<uint64_t> waiting_ = 0;
	std::thread thread_;
};
