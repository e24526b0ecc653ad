// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <rdma/ib_user_verbs.h>
#include <setjmp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "../verify/verbs.h"

namespace
{

namespace fs = std::filesystem;

thread_local sigjmp_buf fault_return;
thread_local volatile bool is_guarded;

void on_fault(int number)
{
	if (is_guarded)
		siglongjmp(fault_return, 1);
	signal(number, SIG_DFL);
}

void catch_faults()
{
	struct sigaction action = {};

	action.sa_handler = on_fault;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, nullptr);
	sigaction(SIGBUS, &action, nullptr);
}

std::string first_line(const fs::path &path)
{
	std::ifstream file(path);
	std::string line;

	std::getline(file, line);
	return line;
}

/* A netlink socket takes its rights from the thread that opens it. */
int netlink_without_rights()
{
	int fd = -1;

	std::thread([&] {
		syscall(SYS_setresuid, 65534, 65534, 65534);
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_RDMA);
	}).join();
	return fd;
}

std::array<uint8_t, 6> mac_of(const std::string &netdev)
{
	const std::string text =
		first_line(fs::path("/sys/class/net") / netdev / "address");
	std::array<unsigned int, 6> part = {};
	std::array<uint8_t, 6> mac = {};

	check(std::sscanf(text.c_str(), "%x:%x:%x:%x:%x:%x", &part[0], &part[1],
			  &part[2], &part[3], &part[4], &part[5]) == 6,
	      "no address of " + netdev);
	for (std::size_t i = 0; i < mac.size(); i++)
		mac[i] = static_cast<uint8_t>(part[i]);
	return mac;
}

int packet_socket(int index)
{
	const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
	sockaddr_ll address = {};

	address.sll_family = AF_PACKET;
	address.sll_ifindex = index;
	check(fd >= 0 && !bind(fd, reinterpret_cast<sockaddr *>(&address),
			       sizeof(address)),
	      "packet socket");
	return fd;
}

std::array<uint8_t, 16> gid_of(const std::string &device, int index)
{
	const std::string text =
		first_line("/sys/class/infiniband/" + device +
			   "/ports/1/gids/" + std::to_string(index));
	std::array<uint8_t, 16> gid = {};

	check(inet_pton(AF_INET6, text.c_str(), gid.data()) == 1,
	      "no GID: " + text);
	return gid;
}

/* Nothing of ours is near, so that the device has nothing else to write to. */
std::byte *lonely_memory()
{
	constexpr std::size_t around = std::size_t{ 1 } << 36;
	void *space = mmap(nullptr, 2 * around, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	check(space != MAP_FAILED, "mmap");
	auto *memory = static_cast<std::byte *>(space) + around;
	check(!mprotect(memory, memory_size, PROT_READ | PROT_WRITE),
	      "mprotect");
	return memory;
}

void close_file(std::atomic<int> &fd)
{
	const int old = fd.exchange(-1);

	if (old >= 0)
		close(old);
}

} /* namespace */

world::world(const std::string &device_name, const std::string &netdev_name,
	     const std::string &peer, int index)
	: device(device_name)
	, netdev(netdev_name)
	, peer_netdev(peer)
	, gid_index(index)
	, gid(gid_of(device_name, index))
	, netlink{ socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_RDMA),
		   netlink_without_rights() }
	, netdev_mac(mac_of(netdev_name))
	, peer_mac(mac_of(peer))
	, peer_index(static_cast<int>(if_nametoindex(peer.c_str())))
	, memory(lonely_memory())
	, dmabuf(exporter::udmabuf, memory_size)
{
	const fs::path folder = fs::path("/sys/class/infiniband") / device;
	const auto options = fs::directory_options::skip_permission_denied;

	if (!dmabuf)
		std::printf("# no dma-buf\n");
	wire = packet_socket(peer_index);
	catch_faults();
	for (const auto &entry :
	     fs::recursive_directory_iterator(folder, options))
		if (entry.is_regular_file() &&
		    entry.path().string().find("/gid") == std::string::npos)
			attributes.push_back(entry.path());
	std::sort(attributes.begin(), attributes.end());
}

void world::find_verbs()
{
	verbs_path.clear();
	for (const auto &entry :
	     fs::directory_iterator("/sys/class/infiniband_verbs"))
		if (first_line(entry.path() / "ibdev") == device)
			verbs_path =
				"/dev/infiniband" / entry.path().filename();
}

void world::begin()
{
	if (first_free_ < 0) {
		first_free_ = open("/dev/null", O_RDONLY);
		close(first_free_);
	}
	find_verbs();
	if (verbs_path.empty()) {
		links[0].send_add(device, netdev);
		links[0].answer();
		find_verbs();
	}
	cm = open("/dev/infiniband/rdma_cm", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	open_context(0);
}

/* What is mapped stays so until here: the queues outlive their objects. */
void world::end()
{
	for (std::size_t n = 0; n < num_contexts; n++) {
		close_context(n);
		for (auto &places : contexts[n].objects)
			for (object &o : places) {
				unmap(o);
				o.handle = o.number = 0;
				o.offset = o.size = 0;
			}
	}
	close_file(cm);
	for (auto &id : cm_ids)
		id = 0;
	exported = -1;
	close_range(static_cast<unsigned int>(first_free_), ~0U, 0);
}

void world::read_counters()
{
	const fs::path folder = fs::path("/sys/class/infiniband") / device /
				"ports/1/hw_counters";

	for (device_counter &c : counters) {
		std::ifstream file(folder / c.name);
		uint64_t value;

		if (!(file >> value))
			continue;
		c.has_grown |= value > c.last;
		c.last = value;
	}
}

void unmap(object &o)
{
	std::byte *ring = o.ring.exchange(nullptr);
	const uint64_t size = o.mapped.exchange(0);

	if (ring && size)
		munmap(ring, size);
}

void world::open_context(std::size_t n)
{
	context_files &files = contexts[n];
	struct {
		ib_uverbs_cmd_hdr head;
		uint64_t response;
	} command = {};
	uint32_t answer[24] = {};
	const int fd =
		open(verbs_path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	command.head.command = IB_USER_VERBS_CMD_GET_CONTEXT;
	command.head.in_words = sizeof(command) / 4;
	command.head.out_words = sizeof(answer) / 4;
	command.response = reinterpret_cast<uint64_t>(answer);
	if (write(fd, &command, sizeof(command)) == sizeof(command)) {
		files.async = static_cast<int>(answer[0]);
		fcntl(files.async, F_SETFL, O_NONBLOCK);
	}
	const int old = files.verbs.exchange(fd);

	if (old >= 0)
		close(old);
}

void world::close_context(std::size_t n)
{
	context_files &files = contexts[n];

	close_file(files.channel);
	close_file(files.doorbell);
	close_file(files.async);
	close_file(files.verbs);
}

void damage(std::span<std::byte> bytes, uint32_t noise)
{
	std::minstd_rand random(noise);

	if (!noise || bytes.empty())
		return;
	for (unsigned int n = 1 + random() % 3; n > 0; n--) {
		std::byte &one = bytes[random() % bytes.size()];

		switch (random() % 3) {
		case 0:
			one ^= static_cast<std::byte>(1 << random() % 8);
			break;
		case 1:
			one = std::byte{ 0xff };
			break;
		default:
			one = static_cast<std::byte>(random());
		}
	}
}

bool guarded(void (*access)(std::byte *at, uint64_t value), std::byte *at,
	     uint64_t value)
{
	bool done = false;

	if (!at)
		return false;
	if (!sigsetjmp(fault_return, 0)) {
		is_guarded = true;
		access(at, value);
		done = true;
	}
	is_guarded = false;
	return done;
}
