// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_smc PORT BYTES [ADDRESS]: SMC-R, the kernel's stream sockets over RDMA. The client,
 * which has the IPv4 address of the server, sends bytes; the server sends them back.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

constexpr size_t piece = 60001;

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::exit(1);
}

/* Bytes of the stream from @at on, which are unlike those of any other place. */
void fill(std::vector<uint8_t> &buffer, size_t at)
{
	for (uint8_t &byte : buffer) {
		uint64_t x = at++ * 0x9e3779b97f4a7c15ull;

		x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
		byte = static_cast<uint8_t>(x >> 56);
	}
}

void send_all(int fd, size_t bytes)
{
	std::vector<uint8_t> buffer;

	for (size_t at = 0; at < bytes; at += buffer.size()) {
		buffer.resize(std::min(piece, bytes - at));
		fill(buffer, at);
		for (size_t sent = 0; sent < buffer.size();) {
			const ssize_t n = send(fd, buffer.data() + sent,
					       buffer.size() - sent, 0);

			if (n <= 0)
				die("send");
			sent += static_cast<size_t>(n);
		}
	}
}

/* How many bytes of @got are not those of the stream from @at on, and whose they are. */
[[noreturn]] void die_of_wrong(const std::vector<uint8_t> &got, size_t at)
{
	constexpr std::ptrdiff_t farthest = 1 << 20;
	std::vector<uint8_t> want(got.size());
	size_t first = 0, wrong = 0;

	fill(want, at);
	for (size_t i = got.size(); i-- > 0;) {
		if (got[i] != want[i]) {
			first = i;
			wrong++;
		}
	}
	std::printf("wrong bytes from %zu on, %zu of %zu", at + first, wrong,
		    got.size() - first);
	want.resize(std::min<size_t>(16, got.size() - first));
	for (std::ptrdiff_t by = -farthest; by <= farthest; by++) {
		fill(want, at + first + static_cast<size_t>(by));
		if (std::equal(want.begin(), want.end(), &got[first])) {
			std::printf(", the stream's %+td bytes from there", by);
			break;
		}
	}
	std::printf("\n");
	std::exit(1);
}

void receive_all(int fd, size_t bytes)
{
	std::vector<uint8_t> buffer, want;

	for (size_t at = 0; at < bytes; at += buffer.size()) {
		buffer.resize(std::min(piece, bytes - at));
		const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);

		if (n <= 0)
			die("recv");
		buffer.resize(static_cast<size_t>(n));
		want.resize(buffer.size());
		fill(want, at);
		if (buffer != want)
			die_of_wrong(buffer, at);
	}
}

sockaddr_in address_of(const char *port)
{
	sockaddr_in at{};

	at.sin_family = AF_INET;
	at.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
	return at;
}

int accept_one(int fd, const char *port)
{
	const sockaddr_in at = address_of(port);

	if (bind(fd, reinterpret_cast<const sockaddr *>(&at), sizeof(at)))
		die("bind");
	if (listen(fd, 1))
		die("listen");
	return accept(fd, nullptr, nullptr);
}

int connect_to(int fd, const char *port, const char *server)
{
	sockaddr_in at = address_of(port);

	if (inet_pton(AF_INET, server, &at.sin_addr) != 1)
		die(server);
	if (connect(fd, reinterpret_cast<const sockaddr *>(&at), sizeof(at)))
		die("connect");
	return fd;
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc < 3) {
		std::fprintf(stderr, "usage: ornic_smc PORT BYTES [ADDRESS]\n");
		return 2;
	}

	const size_t bytes = std::strtoull(argv[2], nullptr, 0);
	int fd = socket(AF_SMC, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	if (argc == 3) {
		fd = accept_one(fd, argv[1]);
		if (fd < 0)
			die("accept");
		receive_all(fd, bytes);
		send_all(fd, bytes);
	} else {
		connect_to(fd, argv[1], argv[3]);
		send_all(fd, bytes);
		receive_all(fd, bytes);
	}
	std::printf("%zu bytes\n", bytes);
	close(fd);
	return 0;
}
