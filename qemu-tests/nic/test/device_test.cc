// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// One guest: registers, commands, events and errors.
#include "nic_fixture.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <grp.h>
#include <poll.h>
#include <seccomp.h>
#include <set>
#include <utility>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "sockets.h"

using namespace test;

namespace
{

bool is_one_line(const outcome &o)
{
	return o.out.starts_with("ornic-nic: ") &&
	       o.out.find('\n') == o.out.size() - 1;
}

union ornic_req request(u8 opcode)
{
	union ornic_req req {
	};

	req.hdr.opcode = opcode;
	return req;
}

arguments one_guest(const std::string &socket, const std::string &ram)
{
	return { "--guest", "socket=" + socket + ",ram=" + ram };
}

// A guest can connect to @p, which exits with status 0.
void expect_serves(process &p, const std::string &socket,
		   const std::string &ram)
{
	fake_guest g(socket, ram, 1);

	EXPECT_TRUE(g.connected());
	EXPECT_EQ(p.stop(SIGTERM), 0);
}

// The heartbeat changes, so there is a worker.
bool has_worker(fake_guest &g)
{
	u32 health = READ_ONCE(g.device_regs()->health);

	return eventually(
		[&] { return READ_ONCE(g.device_regs()->health) != health; });
}

// Receives what a process under test sends to NOTIFY_SOCKET.
class service_manager {
public:
	service_manager(const std::string &where, bool abstract)
		: fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_un un{};

		un.sun_family = AF_UNIX;
		where.copy(un.sun_path + abstract, sizeof(un.sun_path) - 2);
		if (bind(fd_.get(), reinterpret_cast<sockaddr *>(&un),
			 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
						where.size() + abstract)))
			nic::die("%s: cannot be bound", where.c_str());
		setenv("NOTIFY_SOCKET", ((abstract ? "@" : "") + where).c_str(),
		       1);
	}

	~service_manager()
	{
		unsetenv("NOTIFY_SOCKET");
	}

	/** Wait up to @timeout ms. Empty: nothing was sent. */
	std::string receive(int timeout)
	{
		pollfd wait = { fd_.get(), POLLIN, 0 };
		char text[64] = {};

		if (poll(&wait, 1, timeout) == 1)
			recv(fd_.get(), text, sizeof(text) - 1, 0);
		return text;
	}

private:
	nic::unique_fd fd_;
};

// Which everybody could have made in /dev/shm
void give_away(const std::string &file, uid_t user, gid_t group)
{
	ASSERT_FALSE(chown(file.c_str(), user, group)) << strerror(errno);
	ASSERT_FALSE(chmod(file.c_str(), 0666));
}

void deny_capset()
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter ||
	    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(capset),
			     0) ||
	    seccomp_load(filter))
		_exit(127);
	seccomp_release(filter);
}

} // namespace

TEST(options, wrong_ones)
{
	scratch dir;
	std::string ram = dir.file("ram", ram_bytes);
	std::string good = "socket=" + dir.path("s") + ",ram=" + ram;
	const std::vector<arguments> wrong = {
		{},
		{ "--guest", "ram=" + ram },
		{ "--guest", "socket=" + dir.path("s") + ",ram=/nowhere" },
		{ "--guest", "socket=" + dir.path("s") + ",ram=/dev/zero" },
		{ "--guest", good + ",size=1G" },
		{ "--guest", good + ",size=1X" },
		{ "--guest", good + ",vectors=1" },
		{ "--guest", good + ",dm=4K" },
		{ "--guest", good + ",dm=2G" },
		{ "--guest", good + ",dm=none" },
		{ "--guest", good + ",pkey=1" },
		{ "--guest", good + ",pkey=1:x" },
		{ "--guest", good + ",pkey=1:0x8000" },
		{ "--guest", good + ",pkey=1:65536" },
		{ "--guest", good + ",pkey=16:0x8001" },
		{ "--guest", good + ",machine=microvm" },
		{ "--guest", good + ",roce-v1=yes" },
		{ "--guest", good + ",mac=01:00:00:00:00:00" },
		{ "--guest", good + ",mac=02:00:00:00:00" },
		{ "--guest", good + ",netdev=carrier:pigeon" },
		{ "--guest", good, "--guest", good },
		{ "--guest", good, "--faults", "loss=2" },
		{ "--guest", good, "--impair", "drop" },
		{ "--guest", good, "--impair", "tx\ndrop" },
		{ "--guest", good, "--spin", "50" },
		{ "--guest", good, "--spin", "50n" },
		{ "--guest", good + ",size=17179869185G" },
		{ "--guest", good + ",netdev=listen::4000" },
		{ "--guest", good, "--wire", "udp:[::1:4000:[::1]:4001" },
		{ "--guest", good, "--user", "nobody-here" },
		{ "--guest", good, "--mode", "rw" },
		{ "--guest", good, "--group", "nobody-here" },
		{ "--guest", good, "--capture", "/nowhere/file" },
		{ "--guest", good, "surplus" },
		{ "--guest", "socket=/nowhere/s,ram=" + ram },
	};

	for (const arguments &args : wrong) {
		outcome o = run(args);
		std::string line;

		for (const std::string &arg : args)
			line += " " + arg;
		EXPECT_EQ(o.status, 1) << line;
		EXPECT_TRUE(is_one_line(o)) << line << ": " << o.out;
	}
	EXPECT_EQ(run({ "--help" }).status, 0);
	EXPECT_EQ(run({ "--version" }).status, 0);
	EXPECT_EQ(run({ "-h" }).status, 0);
	EXPECT_EQ(run({ "-V" }).status, 0);
	// Including those created before the error.
	EXPECT_TRUE(access(dir.path("s").c_str(), F_OK));
}

TEST(options, paths_with_any_character)
{
	scratch dir;
	std::string ram = dir.file("r,a:m", ram_bytes);
	process p(one_guest(dir.path("s\\,o:c"), dir.path("r\\,a:m")));

	expect_serves(p, dir.path("s,o:c"), ram);
}

// crash, hang, faults and impair need --debug.
TEST(options, control_does_no_harm)
{
	scratch dir;
	std::string ram = dir.file("ram", ram_bytes);
	arguments args = one_guest(dir.path("s"), ram);

	args.insert(args.end(),
		    { "--control", dir.path("c"), "--mode", "0620" });

	process p(args);
	fake_guest g(dir.path("s"), ram, 1);
	struct stat st;

	ASSERT_TRUE(g.connected());
	EXPECT_TRUE(has_worker(g));
	for (const char *what :
	     { "crash", "hang", "faults loss=1", "impair tx drop" })
		EXPECT_EQ(run({ "--ask", dir.path("c"), what }).status, 1);
	EXPECT_EQ(run({ "--ask", dir.path("c"), "guests" }).status, 0);
	ASSERT_FALSE(stat(dir.path("s").c_str(), &st));
	EXPECT_EQ(st.st_mode & 0777, 0620u);
	// SIGHUP of a closed terminal is ignored.
	kill(p.pid(), SIGHUP);
	usleep(50000);
	EXPECT_TRUE(has_worker(g));
}

TEST(options, socket_in_use)
{
	nic_fixture b(1);
	scratch dir;
	outcome o = run(one_guest(b.path("s1"), dir.file("ram", ram_bytes)));

	EXPECT_EQ(o.status, 1);
	EXPECT_TRUE(is_one_line(o)) << o.out;
	EXPECT_NE(o.out.find("in use"), std::string::npos) << o.out;
}

// Where all users may write, RAM must be of root, of this user or of --group.
TEST(options, ram_of_another_user)
{
	constexpr uid_t other = 65534;
	scratch dir;
	std::string shared = dir.path("shared"), link = shared + "/link";
	std::string ram = dir.file("own", ram_bytes);
	arguments args = one_guest(dir.path("s"), shared + "/ram");
	outcome o;

	if (geteuid())
		GTEST_SKIP() << "chown needs root";
	ASSERT_FALSE(mkdir(shared.c_str(), 0700));
	ASSERT_FALSE(chmod(shared.c_str(), 01777));
	ASSERT_FALSE(symlink(ram.c_str(), link.c_str()));
	EXPECT_EQ(run(one_guest(dir.path("s"), link)).status, 1);
	ram = dir.file("shared/ram", ram_bytes);

	give_away(ram, other, other);
	o = run(args);
	EXPECT_EQ(o.status, 1);
	EXPECT_TRUE(is_one_line(o)) << o.out;
	EXPECT_NE(o.out.find("belongs to user 65534"), std::string::npos)
		<< o.out;

	{
		arguments group = args;

		group.insert(group.end(), { "--group", "daemon" });
		give_away(ram, other, getgrnam("daemon")->gr_gid);

		process p(group);

		expect_serves(p, dir.path("s"), ram);
	}
	{
		ASSERT_FALSE(chmod(shared.c_str(), 0755));

		process p(args);

		expect_serves(p, dir.path("s"), ram);
		ASSERT_FALSE(chmod(shared.c_str(), 01777));
	}
	give_away(ram, 0, other);

	process p(args);

	{
		fake_guest g(dir.path("s"), ram, 1);

		EXPECT_TRUE(g.connected());
	}
	// Replaced while it runs
	give_away(ram, other, other);

	fake_guest g(dir.path("s"), ram, 1);

	EXPECT_FALSE(g.connected());
	EXPECT_EQ(p.stop(SIGTERM), 0);
}

// The sockets of a killed process are stale.
TEST(options, stale_socket)
{
	scratch dir;
	std::string ram = dir.file("ram", ram_bytes);
	arguments args = one_guest(dir.path("s"), ram);

	{
		process first(args);
		fake_guest g(dir.path("s"), ram, 1);

		ASSERT_TRUE(g.connected());
		// Before it drops them, the worker has the listeners, too.
		EXPECT_TRUE(has_worker(g));
		first.stop(SIGKILL);
	}
	process second(args);

	expect_serves(second, dir.path("s"), ram);
}

// The worker of a killed process exits a moment later.
TEST(options, socket_in_use_for_a_moment)
{
	scratch dir;
	std::string ram = dir.file("ram", ram_bytes);
	nic::address addr = nic::unix_address(dir.path("s"));
	nic::unique_fd old(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

	ASSERT_FALSE(
		bind(old.get(), nic::sockaddr_of(addr), nic::length_of(addr)));
	ASSERT_FALSE(listen(old.get(), 64));

	process p(one_guest(dir.path("s"), ram));

	usleep(100000);
	old.reset();
	expect_serves(p, dir.path("s"), ram);
}

TEST(options, no_socket_there)
{
	scratch dir;
	std::string ram = dir.file("ram", ram_bytes);
	outcome o = run(one_guest(ram, ram));

	EXPECT_EQ(o.status, 1);
	EXPECT_TRUE(is_one_line(o)) << o.out;
	EXPECT_FALSE(access(ram.c_str(), F_OK));
}

// As systemd has it told: by a path, or in the abstract namespace.
TEST(options, ready_when_sockets_are_there)
{
	for (bool abstract : { false, true }) {
		scratch dir;
		std::string ram = dir.file("ram", ram_bytes);
		std::string socket = dir.path("s");
		service_manager manager(dir.path("notify"), abstract);
		process p(one_guest(socket, ram));

		EXPECT_EQ(manager.receive(30000), "READY=1");
		EXPECT_TRUE(std::filesystem::is_socket(socket));
		expect_serves(p, socket, ram);
	}
}

// Guests must not reach a worker with privileges: this one cannot drop them.
TEST(options, not_ready_before_the_worker_is_confined)
{
	scratch dir;
	std::string socket = dir.path("s");
	std::error_code none;
	service_manager manager(dir.path("notify"), false);
	process p(one_guest(socket, dir.file("ram", ram_bytes)), deny_capset);

	// Before that it has no worker, and SIGTERM would kill it.
	ASSERT_TRUE(eventually(
		[&] { return std::filesystem::is_socket(socket, none); }));
	EXPECT_EQ(manager.receive(300), "");
	EXPECT_TRUE(p.alive());
	EXPECT_EQ(p.stop(SIGTERM), 0);
}

TEST(device, registers)
{
	nic_fixture b(1);
	fake_guest &g = b.guest(1);
	ornic_pci_device_regs *r = g.device_regs();

	EXPECT_EQ(r->magic, ORNIC_PCI_MAGIC);
	EXPECT_EQ(r->version, static_cast<u32>(ORNIC_HW_VERSION));
	EXPECT_EQ(r->status, static_cast<u32>(ORNIC_PCI_READY));
	EXPECT_EQ(r->num_msgs, vectors);
	EXPECT_EQ(r->doorbell_bar, 0);
	EXPECT_EQ(r->doorbell_offset, 12u);
	EXPECT_NE(r->doorbell_control, r->doorbell_kick);
	EXPECT_TRUE(has_worker(g));
}

TEST(device, query)
{
	nic_fixture b(1);
	auto rsp = b.guest(1).command(request(ORNIC_CMD_QUERY_DEVICE));

	ASSERT_TRUE(rsp);
	EXPECT_EQ(rsp->hdr.status, ORNIC_OK);
	EXPECT_EQ(rsp->query_device.num_vectors, vectors - 1);
	EXPECT_EQ(memcmp(rsp->query_device.mac, b.guest(1).mac(), 6), 0);
}

// Those of the command line, after a reset as well.
TEST(device, pkeys)
{
	nic_fixture b(1, {}, 1, ",pkey=0:0x7fff,pkey=3:0x8001");
	ornic_req req = request(ORNIC_CMD_QUERY_PKEY);

	for (int round = 0; round < 2; round++) {
		for (u32 i : { 0u, 1u, 3u }) {
			req.hdr.obj = cpu_to_le32(i);
			auto rsp = b.guest(1).command(req);

			ASSERT_TRUE(rsp);
			EXPECT_EQ(rsp->hdr.status, ORNIC_OK);
			EXPECT_EQ(rsp->query_pkey.pkey, !i     ? 0x7fff :
							i == 3 ? 0x8001 :
								 0);
		}
		ASSERT_TRUE(b.guest(1).start());
	}
}

// Each command gets a response, in every pass over the rings.
TEST(device, command_ring_wraps)
{
	nic_fixture b(1);

	for (int i = 0; i < 50; i++) {
		auto rsp = b.guest(1).command(request(i % 3 ? 0x7f : 0x01));

		ASSERT_TRUE(rsp) << i;
		EXPECT_EQ(rsp->hdr.status, i % 3 ? ORNIC_BAD_OPCODE : ORNIC_OK);
	}
}

// Of one guest; the others do not notice.
TEST(device, command_ring_is_checked)
{
	nic_fixture b(2);
	fake_guest &g = b.guest(1);

	for (u32 log_depth : { 7u, 64u, ~0u }) {
		ASSERT_TRUE(g.reset());
		g.host_regs()->cmd_log_depth = log_depth;
		g.host_regs()->cmd_producer = 1;
		g.ring_control();
		EXPECT_TRUE(eventually(
			[&] { return g.status() == ORNIC_PCI_FAILED; }));
		EXPECT_TRUE(b.guest(2).command(request(0x01)));
		EXPECT_EQ(b.guest(2).status(), ORNIC_PCI_READY);
	}
}

TEST(device, events)
{
	nic_fixture b(1);
	fake_guest &g = b.guest(1);
	queue eq = g.make_eq(2), cq = g.make_cq(6, 1), qp = g.make_qp(cq);
	buffer mr = g.make_mr(page);

	ASSERT_TRUE(eq.number && cq.number && qp.number && mr.key);
	ASSERT_TRUE(g.connect(qp, qp.number, 1));
	for (int i = 0; i < 40; i++) {
		g.arm(cq);
		g.post(qp, ORNIC_WQE_WRITE, mr, mr.dma, mr.key, 8);
		ASSERT_TRUE(g.poll(cq));
		EXPECT_EQ(g.messages(2), 1u) << i;

		auto eqe = g.poll_eq(eq);

		ASSERT_TRUE(eqe) << i;
		EXPECT_EQ(eqe->obj, cq.number);
		EXPECT_EQ(eqe->type, ORNIC_EVENT_COMP);
		EXPECT_FALSE(g.poll_eq(eq));
	}
}

// Events without room are delivered later, once per object.
TEST(device, full_event_queue)
{
	constexpr u32 count = 24;
	nic_fixture b(1);
	fake_guest &g = b.guest(1);
	queue eq = g.make_eq(1, 4);
	std::vector<queue> cqs, qps;
	buffer mr = g.make_mr(page);
	u32 seen = 0;

	for (u32 i = 0; i < count; i++) {
		cqs.push_back(g.make_cq(4));
		qps.push_back(g.make_qp(cqs[i]));
		ASSERT_TRUE(g.connect(qps[i], qps[i].number, 1));
		g.arm(cqs[i]);
		g.post(qps[i], ORNIC_WQE_WRITE, mr, mr.dma, mr.key, 8);
		ASSERT_TRUE(g.poll(cqs[i]));
	}
	EXPECT_TRUE(eventually([&] {
		seen += g.poll_eq(eq).has_value();
		return seen == count;
	})) << seen;
}

// Both queues of a QP may wait for a page. Neither event replaces the other.
TEST(device, page_faults_wait_for_room)
{
	constexpr u32 count = 12;
	nic_fixture b(1);
	fake_guest &g = b.guest(1);
	queue eq = g.make_eq(0, 4);
	buffer mr = g.make_mr(page), absent = g.make_odp_mr(page);
	std::vector<queue> qps;
	std::set<std::pair<u32, u8>> seen;

	ASSERT_TRUE(eq.number && absent.key);
	for (u32 i = 0; i < count; i++) {
		queue cq = g.make_cq(4);
		queue there = g.make_qp(cq), qp = g.make_qp(cq);

		ASSERT_TRUE(g.connect(qp, there.number, 1));
		ASSERT_TRUE(g.connect(there, qp.number, 1));
		g.post(there, ORNIC_WQE_WRITE, mr, absent.dma, absent.key, 8);
		g.post(qp, ORNIC_WQE_WRITE, absent, mr.dma, mr.key, 8);
		qps.push_back(qp);
	}
	EXPECT_TRUE(eventually([&] {
		auto eqe = g.poll_eq(eq);

		if (eqe && eqe->type == ORNIC_EVENT_PAGE_FAULT)
			seen.emplace(le32_to_cpu(eqe->obj), eqe->vector);
		return seen.size() == 2 * count;
	})) << seen.size();
	for (const queue &qp : qps) {
		EXPECT_TRUE(seen.contains({ qp.number, ORNIC_FAULT_SQ }));
		EXPECT_TRUE(seen.contains({ qp.number, ORNIC_FAULT_RQ }));
	}
}

// Those of objects that are gone do not wait for room.
TEST(device, events_go_with_their_object)
{
	constexpr u32 count = 40, room = 16;
	nic_fixture b(1);
	fake_guest &g = b.guest(1);
	queue eq = g.make_eq(1, 4);
	buffer mr = g.make_mr(page);
	u32 seen = 0;

	for (u32 i = 0; i < count; i++) {
		queue cq = g.make_cq(4), qp = g.make_qp(cq);

		ASSERT_TRUE(g.connect(qp, qp.number, 1));
		g.arm(cq);
		g.post(qp, ORNIC_WQE_WRITE, mr, mr.dma, mr.key, 8);
		ASSERT_TRUE(g.poll(cq));
		ASSERT_TRUE(g.destroy(ORNIC_CMD_DESTROY_QP, qp.number));
		ASSERT_TRUE(g.destroy(ORNIC_CMD_DESTROY_CQ, cq.number));
	}
	while (g.poll_eq(eq))
		seen++;
	EXPECT_EQ(seen, room);
	// The device has written none since.
	EXPECT_TRUE(g.command(request(0x01)));
	EXPECT_FALSE(g.poll_eq(eq));
}

TEST(device, event_queues_are_checked)
{
	nic_fixture b(1);
	fake_guest &g = b.guest(1);
	ornic_req_create_eq create{};
	union ornic_req req {
	};
	auto status = [&] {
		memcpy(&req, &create, sizeof(create));
		return g.command(req)->hdr.status;
	};

	create.hdr.opcode = ORNIC_CMD_CREATE_EQ;
	create.mem.addr = page * 100;
	create.mem.npages = 2;
	create.mem.page_shift = 12;
	create.log_depth = 4;
	create.msg = vectors;
	EXPECT_EQ(status(), ORNIC_BAD_PARAM);
	create.msg = 0;
	create.log_depth = 17;
	EXPECT_EQ(status(), ORNIC_BAD_PARAM);
	create.log_depth = 9; // does not fit
	EXPECT_EQ(status(), ORNIC_BAD_PARAM);
	create.log_depth = 8;
	create.mem.addr = ram_bytes - page;
	EXPECT_EQ(status(), ORNIC_BAD_ADDR);
	create.mem.addr = page * 100 + 16;
	EXPECT_EQ(status(), ORNIC_BAD_PARAM);
	create.mem.addr = page * 100;
	EXPECT_EQ(status(), ORNIC_OK);
	EXPECT_EQ(status(), ORNIC_BUSY);
	EXPECT_FALSE(g.destroy(ORNIC_CMD_DESTROY_EQ, 2));
	EXPECT_FALSE(g.destroy(ORNIC_CMD_DESTROY_EQ, 0));
	EXPECT_FALSE(g.destroy(ORNIC_CMD_DESTROY_EQ, ~0u));
	EXPECT_TRUE(g.destroy(ORNIC_CMD_DESTROY_EQ, 1));
}

TEST(device, loop)
{
	nic_fixture b(1);
	end x(b.guest(1)), y(b.guest(1));

	ASSERT_TRUE(join(x, 1, y, 1));
	for (u32 bytes : { 1u, 8u, 4096u, 65536u })
		exchange(x, y, bytes);
}

// No kicks are needed while the device polls.
TEST(device, busy_queue_needs_no_kicks)
{
	constexpr u32 count = 2000;
	nic_fixture b(1, { "--spin", "100ms" });
	end x(b.guest(1)), y(b.guest(1));
	u64 before;

	ASSERT_TRUE(join(x, 1, y, 1));
	exchange(x, y, 8);
	before = b.guest(1).kicks();
	for (u32 i = 0; i < count; i++) {
		x.guest.post(x.qp, ORNIC_WQE_WRITE, x.mr, y.mr.dma, y.mr.key,
			     8);
		ASSERT_TRUE(x.guest.poll(x.cq));
	}
	EXPECT_LT(b.guest(1).kicks() - before, count / 100);
}

TEST(device, reset_forgets)
{
	nic_fixture b(1);

	for (int i = 0; i < 4; i++) {
		end x(b.guest(1)), y(b.guest(1));

		ASSERT_TRUE(join(x, 1, y, 1));
		exchange(x, y, 100);
		ASSERT_TRUE(b.guest(1).reset());
		EXPECT_EQ(b.number("guests", "qps"), 0u);
		// Like a reboot, and like a new QEMU.
		b.replug(1);
		ASSERT_TRUE(b.guest(1).start());
	}
}

TEST(device, worker_dies)
{
	nic_fixture b(1);

	for (int i = 0; i < 5; i++) {
		fake_guest &g = b.guest(1);
		u64 worker = b.number("guests", "worker");
		end x(g), y(g);

		ASSERT_TRUE(join(x, 1, y, 1));
		exchange(x, y, 1000);
		while (g.messages(0, 0))
			;
		kill(static_cast<pid_t>(worker), SIGKILL);
		EXPECT_TRUE(eventually(
			[&] { return g.status() == ORNIC_PCI_FAILED; }));
		EXPECT_GE(g.messages(0), 1u);
		EXPECT_TRUE(b.nic().alive());
		// Nothing works before a reset.
		EXPECT_TRUE(eventually([&] {
			return b.number("guests", "worker") != worker;
		}));
		EXPECT_EQ(g.status(), ORNIC_PCI_FAILED);
		b.replug(1);
		ASSERT_TRUE(b.guest(1).start());
		EXPECT_EQ(b.guest(1).status(), ORNIC_PCI_READY);
	}
}

// If the supervisor was stopped, too, a missing heartbeat is ignored.
TEST(device, all_pause)
{
	nic_fixture b(1);
	pid_t worker = static_cast<pid_t>(b.number("guests", "worker"));

	kill(worker, SIGSTOP);
	kill(b.nic().pid(), SIGSTOP);
	sleep(6);
	kill(b.nic().pid(), SIGCONT);
	usleep(200000);
	kill(worker, SIGCONT);
	usleep(200000);
	EXPECT_EQ(b.number("guests", "worker"), static_cast<u64>(worker));
}

TEST(device, worker_hangs)
{
	nic_fixture b(1);
	u64 worker = b.number("guests", "worker");

	std::string none = run({ "--ask", b.path("control"), "hang" }).out;

	EXPECT_EQ(none, "");
	EXPECT_NE(b.number("guests", "worker"), worker);
}

// A worker without its channel is of no use, and the supervisor must not spin on the end
// of it.
TEST(device, worker_closes_its_channel)
{
	nic_fixture b(1);
	pid_t worker = static_cast<pid_t>(b.number("guests", "worker"));
	nic::unique_fd process(
		static_cast<int>(syscall(SYS_pidfd_open, worker, 0)));
	bool closed = false;

	ASSERT_GE(process.get(), 0);
	for (int number = 0; number < 64; number++) {
		nic::unique_fd fd(static_cast<int>(
			syscall(SYS_pidfd_getfd, process.get(), number, 0)));
		int type = 0;
		socklen_t size = sizeof(type);

		if (getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size) ||
		    type != SOCK_SEQPACKET)
			continue;
		EXPECT_EQ(shutdown(fd.get(), SHUT_WR), 0);
		closed = true;
	}
	ASSERT_TRUE(closed) << "no channel, or no right to its descriptor";
	EXPECT_TRUE(eventually([&] {
		return b.number("guests", "worker") != static_cast<u64>(worker);
	}));
}

TEST(device, says_when_it_goes)
{
	nic_fixture b(1);

	EXPECT_EQ(b.nic().stop(SIGTERM), 0);
	EXPECT_EQ(b.guest(1).status(), ORNIC_PCI_REMOVED);
	EXPECT_GE(b.guest(1).messages(0), 1u);
}

// The RAM is unmapped: the next QEMU may need its pages.
TEST(device, ram_is_closed_with_its_qemu)
{
	nic_fixture b(2);
	auto holds = [&](const std::string &name) {
		std::string self = std::to_string(b.number("guests", "worker"));
		std::error_code none;
		bool found = false;

		for (const auto &f : std::filesystem::directory_iterator(
			     "/proc/" + self + "/fd", none))
			found |= std::filesystem::read_symlink(f, none) ==
				 b.path(name);
		return found;
	};

	if (!holds("ram2"))
		GTEST_SKIP() << "the files of a process are root's to see";
	EXPECT_TRUE(holds("ram1"));
	b.unplug(1);
	EXPECT_TRUE(eventually([&] { return !holds("ram1"); }));
	EXPECT_TRUE(holds("ram2"));
	b.replug(1);
	EXPECT_TRUE(b.guest(1).start());
	// With a worker that inherited it.
	b.ask("crash");
	EXPECT_TRUE(eventually([&] { return holds("ram1"); }));
	b.unplug(1);
	EXPECT_TRUE(eventually([&] { return !holds("ram1"); }));
}
