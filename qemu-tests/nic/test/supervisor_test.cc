// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// What a QEMU or a worker does to the supervisor, and so to the other guests.
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>

#include "nic_fixture.h"
#include "sockets.h"

using namespace test;

namespace
{

pid_t worker_of(nic_fixture &b)
{
	return static_cast<pid_t>(b.number("guests", "worker"));
}

bool readable(const nic::unique_fd &fd, int wait_ms)
{
	pollfd p = { fd.get(), POLLIN, 0 };

	return ::poll(&p, 1, wait_ms) == 1;
}

// The file description is also that of the NIC.
void make_blocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

} // namespace

// While the worker sleeps, it has the NIC of the guest that has gone.
TEST(supervisor, next_guest_waits_for_the_worker)
{
	nic_fixture b(1);
	pid_t worker = worker_of(b);
	std::atomic<bool> awake = false;

	ASSERT_GT(worker, 0);
	kill(worker, SIGSTOP);

	std::jthread waker([&] {
		usleep(200000);
		awake = true;
		kill(worker, SIGCONT);
	});

	b.replug(1);
	EXPECT_TRUE(awake);
	EXPECT_TRUE(b.guest(1).start());
}

// Nor does the next worker give it a BAR before it knows the guest. A reset that the
// guest before wanted is not done.
TEST(supervisor, next_guest_is_known_to_the_next_worker)
{
	nic_fixture b(1);
	pid_t worker = worker_of(b);
	ornic_pci_host_regs *regs = b.guest(1).host_regs();

	ASSERT_GT(worker, 0);
	kill(worker, SIGSTOP);
	WRITE_ONCE(regs->reset, regs->reset + 5);

	std::jthread killer([&] {
		usleep(200000);
		kill(worker, SIGKILL);
	});

	b.replug(1);
	EXPECT_NE(worker_of(b), worker);
	EXPECT_EQ(b.number("guests", "resets"), 0u);
	EXPECT_TRUE(b.guest(1).start());
}

// Its eventfds would count for the user of the NIC, who may have so many of them.
TEST(supervisor, next_guest_waits_for_one_that_does_not_read)
{
	nic_fixture b(1);

	b.unplug(1);

	nic::unique_fd first = nic::connect_to(b.path("s1"));

	ASSERT_TRUE(readable(first, 30000));
	ASSERT_EQ(send(first.get(), "x", 1, 0), 1);

	nic::unique_fd next = nic::connect_to(b.path("s1"));

	EXPECT_FALSE(readable(next, 1200));
	first.reset();
	EXPECT_TRUE(readable(next, 30000));
}

TEST(supervisor, does_not_wait_for_doorbells)
{
	nic_fixture b(2);

	for (int fd : b.guest(1).eventfds())
		make_blocking(fd);
	b.replug(1);
	EXPECT_TRUE(b.guest(1).start());
	b.replug(2);
	EXPECT_TRUE(b.guest(2).start());
}

// A message for which there is no room stops the worker, and so the other guests.
TEST(supervisor, refuses_a_guest_that_blocks)
{
	nic_fixture b(3);
	end x(b.guest(2)), y(b.guest(3));
	pid_t worker = worker_of(b);
	int fd = b.guest(1).eventfds()[2 + ORNIC_PCI_MSG_CONTROL];

	ASSERT_TRUE(join(x, 2, y, 3));
	b.guest(1).messages(ORNIC_PCI_MSG_CONTROL);
	ASSERT_EQ(eventfd_write(fd, ~0ull - 1), 0);
	make_blocking(fd);
	b.guest(1).make_cq();
	exchange(x, y, 1000);
	EXPECT_TRUE(eventually([&] {
		return b.ask("guests").find("\"connected\": false") !=
		       std::string::npos;
	}));
	EXPECT_EQ(worker_of(b), worker);
	b.unplug(1);

	nic::address addr = nic::unix_address(b.path("s1"));
	nic::unique_fd next(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

	EXPECT_EQ(connect(next.get(), nic::sockaddr_of(addr),
			  nic::length_of(addr)),
		  -1);
	exchange(x, y, 1000);
	EXPECT_EQ(b.nic().stop(SIGTERM), 0);
}

// By its epoll instance it could command the supervisor.
TEST(supervisor, keeps_its_files_from_the_worker)
{
	nic_fixture b(1);
	std::string folder = "/proc/" + std::to_string(worker_of(b)) + "/fd";
	std::map<std::string, int> count;

	std::error_code error;

	for (const auto &entry :
	     std::filesystem::directory_iterator(folder, error))
		count[std::filesystem::read_symlink(entry, error)]++;
	if (count.empty())
		GTEST_SKIP() << "only root sees the files of the worker";
	EXPECT_EQ(count["anon_inode:[eventpoll]"], 1);
	EXPECT_EQ(count["anon_inode:[signalfd]"], 0);
}

TEST(supervisor, ends_a_worker_that_hangs)
{
	nic_fixture b(1);
	pid_t worker = worker_of(b);

	ASSERT_GT(worker, 0);
	kill(worker, SIGSTOP);
	EXPECT_EQ(b.nic().stop(SIGTERM), 0);
	EXPECT_EQ(kill(worker, 0), -1);
}
