// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "supervisor.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "capture.h"
#include "ivshmem.h"
#include "port.h"
#include "ram_file.h"
#include "sandbox.h"
#include "sockets.h"
#include "worker.h"

namespace nic
{

namespace
{

// Checks without a heartbeat, after which a worker is interrupted, and killed
constexpr u32 block_limit = 2;
constexpr u32 hang_limit = 10;
// Checks until it must have dropped a NIC, whatever its guest made of it, and plugged
// the next one
constexpr u32 plug_limit = 1200;
// Bytes of a socket, for the setup of the most vectors; each message counts for its
// struct sk_buff as well
constexpr int setup_room = 1 << 20;
constexpr u64 short_life = 100 * ms; // delay a restart after a shorter life
constexpr int tick = 500; // ms between checks of the heartbeat
constexpr u32 end_limit = 20; // checks whether a worker has ended, 50 ms apart

void set_status(const guest_state &g, ornic_pci_status status)
{
	smp_store_release(&g.device_regs()->status, cpu_to_le32(status));
}

// Whether its peer has yet to read what was sent.
bool has_unread(const unique_fd &sock)
{
	int bytes = 0;

	return sock && !ioctl(sock.get(), SIOCOUTQ, &bytes) && bytes > 0;
}

// Shared with the workers: a heartbeat, and the last reset of each guest.
u32 *map_shared(std::size_t words)
{
	void *p = mmap(nullptr, words * sizeof(u32), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("cannot allocate memory: %s", strerror(errno));
	return static_cast<u32 *>(p);
}

// If the file system gets full, QEMU or the NIC gets SIGBUS.
void warn_sparse_ram(const guest_state &g)
{
	struct statvfs fs;
	struct stat st;
	u64 have;

	if (fstat(g.ram.get(), &st) || fstatvfs(g.ram.get(), &fs))
		return;
	have = static_cast<u64>(st.st_blocks) * 512;
	if (have >= g.config.size)
		return;
	if (static_cast<u64>(fs.f_bavail) * fs.f_frsize < g.config.size - have)
		warn("guest %u: %s is sparse and its file system lacks space: "
		     "let QEMU allocate the RAM (prealloc=on)",
		     g.index, g.config.ram.c_str());
}

sigset_t our_signals()
{
	sigset_t set;

	sigemptyset(&set);
	for (int sig : { SIGTERM, SIGINT, SIGHUP, SIGCHLD })
		sigaddset(&set, sig);
	return set;
}

// Whether another QEMU may connect. File descriptors that are sent and not read count
// for the user of this process, who may have a certain number of them: each guest has
// those of one QEMU.
bool is_free(const guest_state &g)
{
	return !g.plugging && !g.left && !g.refused;
}

// They end a system call that waits, as SA_RESTART is not set; see send_event().
void catch_interrupts()
{
	struct sigaction action = {};

	action.sa_handler = [](int) {};
	sigaction(SIGUSR1, &action, nullptr);
	sigaction(SIGALRM, &action, nullptr);
}

} // namespace

// ---- Setup -------------------------------------------------------------------------

supervisor::supervisor(options opt)
	: epoll_(epoll_create1(EPOLL_CLOEXEC))
{
	sigset_t set = our_signals();

	shared_.opt = std::move(opt);
	set_socket_access(shared_.opt.access);
	// Also if the setup fails.
	atexit(remove_sockets);
	sigprocmask(SIG_BLOCK, &set, nullptr);
	catch_interrupts();
	signals_.reset(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
	watch(signals_.get(), source::SIGNAL, 0);
	open_all();
}

void supervisor::open_all()
{
	const options &opt = shared_.opt;
	std::size_t n = opt.guests.size();

	shared_.heartbeat = map_shared(1 + n);
	shared_.guests.resize(n);
	shared_.netdevs.resize(n);
	for (u32 i = 0; i < n; i++)
		open_guest(i);
	shared_.wire.config = opt.wire;
	open_port(shared_.wire);
	if (shared_.wire.listener)
		watch(shared_.wire.listener.get(), source::WIRE, 0);
	if (!opt.control.empty())
		shared_.control = listen_at(opt.control);
	if (!opt.capture.empty()) {
		shared_.capture = create_capture(opt.capture.c_str(),
						 static_cast<u32>(n));
		if (!shared_.capture)
			die("%s: %s", opt.capture.c_str(), strerror(errno));
	}
}

void supervisor::open_guest(u32 index)
{
	guest_state &g = shared_.guests[index];
	port_state &p = shared_.netdevs[index];

	g.config = shared_.opt.guests[index];
	g.index = index;
	g.reset_done = shared_.heartbeat + 1 + index;
	make_bar(g);
	g.listener = listen_at(g.config.socket);
	watch(g.listener.get(), source::GUEST, index);
	p.config = g.config.netdev;
	open_port(p);
	if (p.listener)
		watch(p.listener.get(), source::NETDEV, index);
}

supervisor::~supervisor()
{
	remove_sockets();
}

void supervisor::watch(int fd, source what, u32 index)
{
	epoll_event ev{};

	ev.events = EPOLLIN | EPOLLRDHUP;
	ev.data.u64 = static_cast<u64>(what) << 32 | index;
	epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &ev);
}

// Closing is not enough: a copy in the worker would keep it in epoll.
void supervisor::unwatch(int fd)
{
	epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

// ---- Guests and ports --------------------------------------------------------------

// Open it for each connection: QEMU may have recreated the file.
bool supervisor::open_ram(guest_state &g)
{
	std::string why =
		open_ram_file(g.config, shared_.opt.access.group, g.ram);

	if (!why.empty()) {
		warn("guest %u: %s", g.index, why.c_str());
		g.ram.reset();
		return false;
	}
	warn_sparse_ram(g);
	return true;
}

// A service that cannot open the RAM of its guests is not ready.
void supervisor::check_ram()
{
	for (const guest_state &g : shared_.guests) {
		unique_fd fd;
		std::string why =
			open_ram_file(g.config, shared_.opt.access.group, fd);

		if (!why.empty())
			die("%s", why.c_str());
	}
}

// The NIC of the previous QEMU still exists, and would take resets and commands of
// this one. Until the worker has dropped it, this QEMU gets no BAR, and the next one
// waits: there are at most three changes of a guest that the worker has not read.
void supervisor::connect_guest(guest_state &g)
{
	unique_fd sock;

	// An event that came with the one which changed that
	if (!is_free(g))
		return;
	sock.reset(accept4(g.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
	if (!sock)
		return;
	if (g.qemu) {
		warn("guest %u: a QEMU is already connected", g.index);
		return;
	}
	if (!open_ram(g))
		return;
	if (!notify_worker({ change::GUEST_CONNECTED, g.index }, g.ram.get())) {
		g.ram.reset();
		return;
	}
	setsockopt(sock.get(), SOL_SOCKET, SO_SNDBUF, &setup_room,
		   sizeof(setup_room));
	watch(sock.get(), source::QEMU, g.index);
	g.qemu = std::move(sock);
	g.plugging = true;
	g.plug_checks = 0;
	accept_if_free(g);
}

void supervisor::accept_if_free(const guest_state &g)
{
	epoll_event ev{};

	if (is_free(g))
		ev.events = EPOLLIN;
	ev.data.u64 = static_cast<u64>(source::GUEST) << 32 | g.index;
	epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, g.listener.get(), &ev);
}

void supervisor::guest_plugged(guest_state &g)
{
	if (!g.plugging)
		return;
	g.plugging = false;
	accept_if_free(g);
	if (!g.qemu)
		return;
	for (const unique_fd &fd : g.doorbell)
		take_event(fd.get());
	for (const unique_fd &fd : g.message)
		take_event(fd.get());
	if (!send_setup(g, g.qemu.get())) {
		warn("guest %u: cannot send the BAR: %s", g.index,
		     strerror(errno));
		disconnect_guest(g);
	}
}

void supervisor::disconnect_guest(guest_state &g)
{
	if (!g.qemu)
		return;
	unwatch(g.qemu.get());
	shutdown(g.qemu.get(), SHUT_RDWR);
	g.left = std::move(g.qemu);
	forget_left(g);
	g.ram.reset();
	if (!notify_worker({ change::GUEST_DISCONNECTED, g.index }, -1))
		kill_worker("the worker does not read");
}

void supervisor::forget_left(guest_state &g)
{
	if (!has_unread(g.left))
		g.left.reset();
	accept_if_free(g);
}

void supervisor::refuse_guest(guest_state &g)
{
	if (g.refused)
		return;
	warn("guest %u: refused from now on: its QEMU has filled an eventfd",
	     g.index);
	g.refused = true;
	disconnect_guest(g);
	// The next QEMU fails, instead of waiting for ever.
	unwatch(g.listener.get());
	g.listener.reset();
}

void supervisor::accept_port(port_state &p, change c)
{
	unique_fd fd(accept4(p.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));

	if (!fd)
		return;
	// Replaces the previous connection, whose peer may have died.
	if (notify_worker(c, fd.get()))
		p.fd = std::move(fd);
}

// False: the worker does not know, which was reported.
bool supervisor::notify_worker(change c, int fd)
{
	// The successor of a worker that has died gets all that there is.
	if (!channel_ || send_with_fd(channel_.get(), &c, sizeof(c), fd) ||
	    errno == EPIPE || errno == ECONNRESET)
		return true;
	warn("cannot send to the worker: %s", strerror(errno));
	return false;
}

// ---- The worker ----------------------------------------------------------------------

// In the worker, which may outlive the supervisor for a moment: new connections must
// fail then. By the epoll instance it could command the supervisor.
void supervisor::drop_own_files()
{
	epoll_.reset();
	signals_.reset();
	for (guest_state &g : shared_.guests) {
		g.listener.reset();
		g.qemu.reset();
		g.left.reset();
	}
	for (port_state &p : shared_.netdevs)
		p.listener.reset();
	shared_.wire.listener.reset();
}

void supervisor::start_worker()
{
	pid_t supervisor_pid = getpid();
	sigset_t none;
	int pair[2];

	// A copy in the worker would keep it in epoll.
	channel_.reset();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		die("cannot create a socket pair: %s", strerror(errno));
	worker_ = fork();
	if (worker_ < 0)
		die("cannot start a worker: %s", strerror(errno));
	if (worker_) {
		close(pair[1]);
		channel_.reset(pair[0]);
		watch(channel_.get(), source::WORKER, 0);
		started_ = checked_at_ = now_ns();
		missed_ = 0;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor_pid)
		_exit(EXIT_FAILURE);
	close(pair[0]);
	drop_own_files();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, nullptr);
	run_worker(pair[1]);
	_exit(EXIT_SUCCESS);
}

void supervisor::run_worker(int channel)
{
	const report confined = { report::CONFINED, 0 };

	drop_privileges();

	worker w(shared_, channel, failed_);

	confine(shared_.connects());
	send(channel, &confined, sizeof(confined), MSG_NOSIGNAL);
	w.run();
}

// Each worker keeps the channel until it ends.
void supervisor::worker_reports()
{
	report r;
	ssize_t n = recv(channel_.get(), &r, sizeof(r), MSG_DONTWAIT);

	if (n == 0 && worker_ > 0) {
		kill(worker_, SIGKILL);
		channel_.reset();
		return;
	}
	if (n != sizeof(r))
		return;
	if (r.what == report::CONFINED && !ready_) {
		ready_ = true;
		notify_ready();
	}
	if (r.index >= shared_.guests.size())
		return;
	if (r.what == report::GUEST_PLUGGED)
		guest_plugged(shared_.guests[r.index]);
	if (r.what == report::GUEST_BLOCKS)
		refuse_guest(shared_.guests[r.index]);
}

void supervisor::worker_died(int status)
{
	u64 now = now_ns();

	worker_ = -1;
	if (ended_)
		return;
	if (WIFSIGNALED(status))
		warn("worker killed by signal %d: restarting it",
		     WTERMSIG(status));
	else
		warn("worker exited with status %d: restarting it",
		     WEXITSTATUS(status));
	failed_ = true;
	for (const guest_state &g : shared_.guests)
		set_status(g, ORNIC_PCI_FAILED);
	if (now - started_ < short_life)
		usleep(static_cast<useconds_t>(short_life / us));
	start_worker();
}

void supervisor::kill_worker(const char *why)
{
	missed_ = 0;
	if (worker_ <= 0)
		return;
	warn("%s: killing it", why);
	kill(worker_, SIGKILL);
}

// Count checks instead of time: the supervisor may have been preempted, too.
void supervisor::check_worker()
{
	u32 heartbeat = READ_ONCE(*shared_.heartbeat);
	u64 now = now_ns();

	if (now - checked_at_ < tick * ms)
		return;
	checked_at_ = now;
	missed_ = heartbeat == heartbeat_ ? missed_ + 1 : 0;
	heartbeat_ = heartbeat;
	if (missed_ >= block_limit && worker_ > 0)
		kill(worker_, SIGUSR1);
	if (missed_ > hang_limit)
		kill_worker("the worker hangs");
	for (guest_state &g : shared_.guests) {
		if (g.left)
			forget_left(g);
		if (g.plugging && ++g.plug_checks > plug_limit) {
			g.plug_checks = 0;
			kill_worker("the worker plugs no guest");
		}
	}
}

// It exits when its channel is closed, unless it hangs.
void supervisor::end_worker()
{
	channel_.reset();
	for (u32 i = 0; i < end_limit; i++) {
		if (waitpid(worker_, nullptr, WNOHANG))
			return;
		usleep(50 * 1000);
	}
	kill(worker_, SIGKILL);
	waitpid(worker_, nullptr, 0);
}

void supervisor::end_messages()
{
	for (const guest_state &g : shared_.guests) {
		alarm(1);
		send_event(g.message[ORNIC_PCI_MSG_CONTROL].get());
	}
	alarm(0);
}

void supervisor::handle_signal()
{
	signalfd_siginfo info;
	int status;

	while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
		// No configuration to reload; sent by terminals.
		if (info.ssi_signo == SIGHUP)
			continue;
		if (info.ssi_signo != SIGCHLD)
			ended_ = true;
		else if (worker_ > 0 &&
			 waitpid(worker_, &status, WNOHANG) == worker_)
			worker_died(status);
	}
}

void supervisor::handle(u64 data)
{
	u32 index = static_cast<u32>(data);

	switch (static_cast<source>(data >> 32)) {
	case source::SIGNAL:
		handle_signal();
		break;
	case source::WORKER:
		worker_reports();
		break;
	case source::GUEST:
		connect_guest(shared_.guests[index]);
		break;
	case source::QEMU:
		// QEMU never sends, so this is its disconnection.
		disconnect_guest(shared_.guests[index]);
		break;
	case source::NETDEV:
		accept_port(shared_.netdevs[index], { change::NETDEV, index });
		break;
	case source::WIRE:
		accept_port(shared_.wire, { change::WIRE, 0 });
		break;
	}
}

int supervisor::run()
{
	epoll_event events[16];

	drop_user(shared_.opt.user);
	check_ram();
	start_worker();
	while (!ended_) {
		int n = epoll_wait(epoll_.get(), events, std::size(events),
				   tick);

		for (int i = 0; i < n; i++)
			handle(events[i].data.u64);
		check_worker();
	}
	end_worker();
	for (const guest_state &g : shared_.guests)
		set_status(g, ORNIC_PCI_REMOVED);
	end_messages();
	return EXIT_SUCCESS;
}

} // namespace nic
