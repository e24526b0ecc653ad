// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_live DEVICE GID-INDEX TYPE COUNT [SERVER]: READs, WRITEs and atomics of
 * memory that its program writes to all the time, between two hosts: COUNT of
 * each kind and size up to 4 KiB, fewer of longer ones. Without SERVER it is the
 * server, of one client. First the client requests, then the server. All
 * operations succeed, no port counts rx_icrc_encapsulated, and what is written once the
 * memory is still arrives as it is. TYPE is that of the device, ornic or rxe.
 */
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "../verify/live_memory.h"

namespace
{

const char tcp_port[] = "18515"; /* of libibverbs' examples, too */

class descriptor {
public:
	explicit descriptor(int fd)
		: fd_(fd)
	{
		check(fd_ >= 0, std::string("socket: ") + std::strerror(errno));
	}
	~descriptor()
	{
		close(fd_);
	}
	descriptor(const descriptor &) = delete;
	descriptor &operator=(const descriptor &) = delete;

	[[nodiscard]] int get() const
	{
		return fd_;
	}

private:
	int fd_;
};

/* A socket that is connected to @host, or bound if it is null. */
int make_socket(const char *host)
{
	addrinfo hints{}, *found = nullptr;
	const int on = 1;

	hints.ai_socktype = SOCK_STREAM;
	hints.ai_family = host ? AF_UNSPEC : AF_INET6; /* of both families */
	hints.ai_flags = AI_PASSIVE;
	check(!getaddrinfo(host, tcp_port, &hints, &found), "getaddrinfo");
	const std::unique_ptr<addrinfo, destroyer<freeaddrinfo>> owner(found);
	const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	const auto attach = host ? connect : bind;
	check(!attach(fd, found->ai_addr, found->ai_addrlen),
	      std::string("connect or bind: ") + std::strerror(errno));
	return fd;
}

int make_connection(const char *host)
{
	if (host)
		return make_socket(host);
	const descriptor listener(make_socket(nullptr));

	check(!listen(listener.get(), 1), "listen");
	return accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
}

/* The two ends tell each other the same things at the same time. */
class tcp_link {
public:
	explicit tcp_link(const char *host)
		: fd_(make_connection(host))
	{
	}

	template <typename T> T swap(const T &mine)
	{
		T theirs;

		check(send(fd_.get(), &mine, sizeof(mine), MSG_NOSIGNAL) ==
			      sizeof(mine),
		      "send to the peer");
		check(recv(fd_.get(), &theirs, sizeof(theirs), MSG_WAITALL) ==
			      sizeof(theirs),
		      "the peer has ended");
		return theirs;
	}
	void meet()
	{
		(void)swap('.');
	}

private:
	descriptor fd_;
};

/* One side: its end of the QPs, and the other one's. */
struct side {
	side(port &on, uint64_t most, const char *host)
		: to_peer(host)
		, mine(on, live_options())
		, peer{}
		, most(most)
	{
		mine.to_init();
		peer = to_peer.swap(remote_end(mine));
		mine.to_rtr(peer);
		mine.to_rts();
		to_peer.meet();
	}

	tcp_link to_peer;
	endpoint mine;
	remote_end peer;
	uint64_t most; /* operations of a kind and size */
};

struct kind {
	const char *name;
	ibv_wr_opcode opcode;
};

const kind kinds[] = {
	{ "read", IBV_WR_RDMA_READ },
	{ "write", IBV_WR_RDMA_WRITE },
	{ "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP },
};

/* While the side that has the memory writes to it. */
void while_it_changes(side &s, const kind &k, size_t size, bool requests)
{
	std::optional<live_writer> busy;

	if (is_live_at_peer(k.opcode) != requests)
		busy.emplace(s.mine.at(live_source, size));
	s.to_peer.meet();
	if (requests)
		keep_busy(s.mine, live_count(size, s.most), [&](uint64_t id) {
			post_live(s.mine, s.peer, k.opcode, id, size);
		});
	s.to_peer.meet();
}

/* Once more, with memory that is still. An atomic has no bytes to compare. */
void once_it_is_still(side &s, const kind &k, size_t size, bool requests)
{
	const auto seed = static_cast<uint32_t>(size);

	fill(s.mine.at(live_source, size), seed);
	clear(s.mine.at(live_target, size));
	s.to_peer.meet();
	if (requests) {
		post_live(s.mine, s.peer, k.opcode, 0, size);
		(void)s.mine.sent(0);
	}
	s.to_peer.meet();
	if ((k.opcode == IBV_WR_RDMA_READ && requests) ||
	    (k.opcode == IBV_WR_RDMA_WRITE && !requests))
		check_fill(s.mine.at(live_target, size), seed, k.name);
}

void one_kind(side &s, const kind &k, bool requests)
{
	for (size_t size : live_sizes(k.opcode)) {
		const live_counter broken(s.mine.on, "rx_icrc_encapsulated");
		const live_counter retries(s.mine.on, "retries");
		const std::string what = std::string(k.name) + " of " +
					 std::to_string(size) + " bytes";

		while_it_changes(s, k, size, requests);
		once_it_is_still(s, k, size, requests);
		check_equal(broken.more(), 0, "rx_icrc_encapsulated, " + what);
		if (!requests)
			continue;
		std::printf("%s: %ju operations, %ju retries\n", what.c_str(),
			    uintmax_t(live_count(size, s.most)),
			    uintmax_t(retries.more()));
		std::fflush(stdout);
	}
}

void run(port &on, uint64_t most, const char *host)
{
	side s(on, most, host);

	for (const bool client_requests : { true, false })
		for (const kind &k : kinds)
			one_kind(s, k, client_requests == (host != nullptr));
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 5 && argc != 6) {
		std::fprintf(stderr, "usage: ornic_live DEVICE GID-INDEX"
				     " ornic|rxe COUNT [SERVER]\n");
		return 2;
	}
	try {
		port on(argv[1], std::atoi(argv[2]), argv[3]);

		run(on, std::strtoul(argv[4], nullptr, 10), argv[5]);
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
