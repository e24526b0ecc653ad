// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that its program writes to all the time, as memory is that a peer polls.
 * What arrives may be torn; but it arrives, and no packet is broken on the way:
 * rx_icrc_errors stays as it was. FULL=1 in the environment makes 100000
 * operations of each kind and size, as long as they are not more than 1 GiB.
 */

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests.hpp"

namespace
{

constexpr size_t source = 4096;
constexpr size_t target = 1 << 20;
constexpr uint64_t window = 16; /* requests on their way */

/* Writes to all words of a range, one after the other, while it exists. */
class writer {
public:
	explicit writer(std::span<std::byte> range)
		: range_(range), thread_([this] { run(); })
	{
		while (!rounds_)
			std::this_thread::yield();
	}
	~writer()
	{
		stop_ = true;
		thread_.join();
	}
	writer(const writer &) = delete;
	writer &operator=(const writer &) = delete;

private:
	void run()
	{
		auto *words = reinterpret_cast<volatile uint64_t *>(
			range_.data());

		for (uint64_t value = 1; !stop_; value++, rounds_++)
			for (size_t i = 0; i < range_.size() / 8; i++)
				words[i] = value * 0x9e3779b97f4a7c15;
	}

	std::span<std::byte> range_;
	std::atomic<bool> stop_ = false;
	std::atomic<uint64_t> rounds_ = 0;
	std::thread thread_;
};

/* Packets that came to a port broken; rxe counts them otherwise. */
uint64_t broken_packets(const port &on)
{
	uint64_t count = 0;

	if (on.is_rxe)
		return 0;
	std::ifstream file("/sys/class/infiniband/" + on.name +
			   "/ports/1/hw_counters/rx_icrc_errors");
	check(bool(file >> count), "no rx_icrc_errors of " + on.name);
	return count;
}

bool is_full()
{
	const char *full = std::getenv("FULL");

	return full && *full && *full != '0';
}

uint64_t count_of(size_t size)
{
	const uint64_t most = is_full() ? 100000 : 1000;
	const uint64_t bytes = is_full() ? 1 << 30 : 8 << 20;

	return std::clamp<uint64_t>(bytes / size, 8, most);
}

/* @count times what @post posts with the ids from 0, some of them at once. */
template <typename F> void keep_busy(pair &p, uint64_t count, F post)
{
	for (uint64_t done = 0, posted = 0; done < count; done++) {
		for (; posted < count && posted - done < window; posted++)
			post(posted);
		(void)p.client.sent(done);
	}
	p.client.nothing_more();
}

constexpr size_t sizes[] = { 8, 64, 1000, 4096, 65536, 1 << 20 };

options with_room()
{
	return { .buffer = 3 << 20 };
}

/* @opcode, with the memory that is read being written to. */
void every_size(const ports &on, ibv_wr_opcode opcode)
{
	const uint64_t before = broken_packets(on.client) +
				broken_packets(on.server);

	for (size_t size : sizes) {
		pair p(on.client, on.server, with_room());
		const bool reads = opcode == IBV_WR_RDMA_READ;
		const bool sends = opcode == IBV_WR_SEND;
		const endpoint &from = reads ? p.server : p.client;
		const size_t local = reads ? target : source;
		const writer busy(from.at(source, size));

		keep_busy(p, count_of(size), [&](uint64_t id) {
			if (sends)
				p.server.post_recv(id, target, size);
			p.client.post(rdma(opcode, id, p.server,
					   reads ? source : target),
				      { p.client.sge(local, size) });
			if (sends && id >= window)
				(void)p.server.received(id - window);
		});
		check_equal(broken_packets(on.client) +
				    broken_packets(on.server),
			    before, "rx_icrc_errors, size " +
					    std::to_string(size));
	}
}

template <ibv_wr_opcode opcode> void live(const ports &on)
{
	every_size(on, opcode);
}

/* A word that requests and its own program change. */
template <ibv_wr_opcode opcode> void live_atomic(const ports &on)
{
	const uint64_t before = broken_packets(on.client) +
				broken_packets(on.server);
	pair p(on.client, on.server);
	const writer busy(p.server.at(source, 8));

	keep_busy(p, count_of(8), [&](uint64_t id) {
		p.client.post(atomic(opcode, id, p.server, source, id, id + 1),
			      { p.client.sge(target, 8) });
	});
	check_equal(broken_packets(on.client) + broken_packets(on.server),
		    before, "rx_icrc_errors");
}

const test list[] = {
	{ "live_read", live<IBV_WR_RDMA_READ> },
	{ "live_write", live<IBV_WR_RDMA_WRITE> },
	{ "live_send", live<IBV_WR_SEND> },
	{ "live_fetch_and_add", live_atomic<IBV_WR_ATOMIC_FETCH_AND_ADD> },
	{ "live_compare_and_swap", live_atomic<IBV_WR_ATOMIC_CMP_AND_SWP> },
};

} /* namespace */

const std::span<const test> live_tests = list;
