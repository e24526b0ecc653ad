/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory that its program writes to all the time, as memory is that a peer polls,
 * and the requests that meet it. What arrives may be torn; but it arrives, and no
 * packet is broken on the way.
 */
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <thread>

#include "verbs.h"

/* Of each buffer: what changes, and where requests put what they move. */
constexpr size_t live_source = 4096;
constexpr size_t live_target = 2 << 20;

constexpr uint64_t live_window = 16; /* requests on their way */

/* Writes to all words of a range, one after the other, while it exists. */
class live_writer {
public:
	explicit live_writer(std::span<std::byte> range);
	~live_writer();
	live_writer(const live_writer &) = delete;
	live_writer &operator=(const live_writer &) = delete;

private:
	void run();

	std::span<std::byte> range_;
	std::atomic<bool> stop_ = false;
	std::atomic<uint64_t> rounds_ = 0;
	std::thread thread_;
};

/* What a port has counted since this exists. rxe has retries by another name, and
 * no rx_icrc_encapsulated: always 0. */
class live_counter {
public:
	live_counter(const port &on, const std::string &name);

	[[nodiscard]] uint64_t more() const
	{
		return read() - before_;
	}

private:
	[[nodiscard]] uint64_t read() const;

	std::string path_; /* empty if there is none */
	uint64_t before_;
};

options live_options();
std::span<const size_t> live_sizes(ibv_wr_opcode opcode);

/* How many operations of a size, if @most are to be made of the short ones. */
uint64_t live_count(size_t size, uint64_t most);

/* Whether the memory that changes is that of the responder. */
bool is_live_at_peer(ibv_wr_opcode opcode);

void post_live(endpoint &from, const remote_end &to, ibv_wr_opcode opcode,
	       uint64_t id, size_t size);

/* @count times what @post posts to @from with the ids from 0, some at once. */
template <typename F> void keep_busy(endpoint &from, uint64_t count, F post)
{
	for (uint64_t done = 0, posted = 0; done < count; done++) {
		for (; posted < count && posted - done < live_window; posted++)
			post(posted);
		(void)from.sent(done);
	}
	from.nothing_more();
}
