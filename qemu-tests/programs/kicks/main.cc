// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_kicks DEVICE GID-INDEX ROUNDS: threads that kick the same QPs at the same
 * time, by the doorbell file itself, so that no lock of the provider orders them.
 * Between rounds they rest, long enough for the kernel to forget a busy QP, and
 * at the end each QP must still move a message.
 */
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../verify/verbs.h"

namespace
{

namespace fs = std::filesystem;

constexpr int threads = 2;
constexpr int pairs = 32;
constexpr int kicks = 64; /* of each QP in a round */
constexpr useconds_t rest_us = 40000;

/* The file of this process that kicks its QPs. */
int doorbell_fd()
{
	for (const auto &entry : fs::directory_iterator("/proc/self/fd")) {
		std::error_code gone;
		const auto name = fs::read_symlink(entry.path(), gone).string();

		if (name.find("[ornic_doorbell]") != std::string::npos)
			return std::stoi(entry.path().filename().string());
	}
	fail("no doorbell file");
}

/* All threads are here before one goes on. */
class meeting {
public:
	void wait()
	{
		const int lap = lap_.load();

		if (++here_ == threads) {
			here_ = 0;
			++lap_;
			return;
		}
		while (lap_.load() == lap)
			;
	}

private:
	std::atomic<int> here_{ 0 }, lap_{ 0 };
};

void kick_all(int fd, const std::vector<uint32_t> &qpns, meeting &start)
{
	std::array<uint32_t, kicks> same;

	for (const uint32_t qpn : qpns) {
		same.fill(qpn);
		start.wait();
		if (write(fd, same.data(), sizeof(same)) != sizeof(same))
			std::abort();
	}
}

void one_round(int fd, const std::vector<uint32_t> &qpns)
{
	std::vector<std::thread> others;
	meeting start;

	others.reserve(threads);
	for (int i = 0; i < threads; i++)
		others.emplace_back([&] { kick_all(fd, qpns, start); });
	for (auto &other : others)
		other.join();
	usleep(rest_us);
}

void still_moves(pair &p)
{
	p.server.post_recv(1, 0, 64);
	p.client.post(request(IBV_WR_SEND, 1), { p.client.sge(0, 64) });
	(void)p.client.sent(1);
	(void)p.server.received(1);
}

void run(port &on, int rounds)
{
	std::vector<std::unique_ptr<pair>> all;
	std::vector<uint32_t> qpns;
	options small;

	small.buffer = 4096;
	for (int i = 0; i < pairs; i++) {
		all.push_back(std::make_unique<pair>(on, on, small));
		qpns.push_back(all.back()->client.qp->qp_num);
	}
	const int fd = doorbell_fd();

	for (int round = 0; round < rounds; round++)
		one_round(fd, qpns);
	for (auto &p : all)
		still_moves(*p);
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::fprintf(stderr, "usage: ornic_kicks DEVICE GID ROUNDS\n");
		return 2;
	}
	try {
		port on(argv[1], std::atoi(argv[2]), "ornic");

		run(on, std::atoi(argv[3]));
		std::printf("%s rounds\n", argv[3]);
	} catch (const failure &what) {
		std::printf("%s\n", what.what());
		return 1;
	}
	return 0;
}
