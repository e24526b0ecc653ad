// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests to and from memory that changes all the time: all of them succeed, and
 * rx_icrc_encapsulated stays as it was. FULL=1 in the environment makes 100000 of each
 * kind and size up to 4 KiB, on the debug kernel, which is slow, 10000.
 */

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "live_memory.h"
#include "tests.h"

namespace
{

class live : public verify {};

bool is_set(const char *name, const char *value)
{
	const char *set = std::getenv(name);

	return set && !std::strcmp(set, value);
}

uint64_t count_of(size_t size)
{
	const bool debug = is_set("KERNEL", "debug");
	uint64_t most = debug ? 250 : 1000;

	if (is_set("FULL", "1"))
		most = debug ? 10000 : 100000;
	return live_count(size, most);
}

void one_size(const ports &on, ibv_wr_opcode opcode, size_t size)
{
	pair p(on.client, on.server, live_options());
	const bool sends = opcode == IBV_WR_SEND;
	const endpoint &owner = is_live_at_peer(opcode) ? p.server : p.client;
	const live_writer busy(owner.at(live_source, size));

	keep_busy(p.client, count_of(size), [&](uint64_t id) {
		if (sends)
			p.server.post_recv(id, live_target, size);
		post_live(p.client, p.server, opcode, id, size);
		if (sends && id >= live_window)
			(void)p.server.received(id - live_window);
	});
}

template <ibv_wr_opcode opcode> void all_sizes(const ports &on)
{
	const live_counter retries(on.client, "retries");

	for (size_t size : live_sizes(opcode)) {
		const live_counter at_client(on.client, "rx_icrc_encapsulated");
		const live_counter at_server(on.server, "rx_icrc_encapsulated");
		const std::string what = "size " + std::to_string(size);

		one_size(on, opcode, size);
		check_equal(at_client.more(), 0,
			    "rx_icrc_encapsulated, " + what);
		check_equal(at_server.more(), 0,
			    "rx_icrc_encapsulated of the server, " + what);
		std::printf("# %s: %ju operations, %ju retries so far\n",
			    what.c_str(), uintmax_t(count_of(size)),
			    uintmax_t(retries.more()));
	}
}

TEST_F(live, live_read)
{
	all_sizes<IBV_WR_RDMA_READ>(on);
}

TEST_F(live, live_write)
{
	all_sizes<IBV_WR_RDMA_WRITE>(on);
}

TEST_F(live, live_send)
{
	all_sizes<IBV_WR_SEND>(on);
}

TEST_F(live, live_fetch_and_add)
{
	all_sizes<IBV_WR_ATOMIC_FETCH_AND_ADD>(on);
}

TEST_F(live, live_compare_and_swap)
{
	all_sizes<IBV_WR_ATOMIC_CMP_AND_SWP>(on);
}

} /* namespace */
