// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "worker.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "json.h"
#include "sockets.h"

namespace nic
{

namespace
{

constexpr u64 heartbeat_interval = 250 * ms;
constexpr u32 dispatch_interval = 4; // rounds between polls of epoll

// A guest may have freed 10^6 blocks: malloc() must not merge them all, nor return
// them to the kernel, in one call while the other guests wait.
void bound_each_free()
{
	mallopt(M_MXFAST, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
}

u64 tag(u32 what, u32 index, u32 part)
{
	return static_cast<u64>(what) << 48 | static_cast<u64>(part) << 32 |
	       index;
}

} // namespace

worker::worker(shared_state &s, int channel, bool failed)
	: shared_(s)
	, epoll_(epoll_create1(EPOLL_CLOEXEC))
	, channel_(channel)
	, statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC))
	, switch_(s)
	, control_(s.control.get(), epoll_.get(),
		   tag(static_cast<u32>(source::CONTROL), 0, 0),
		   [this](const std::string &line) {
			   return handle_command(line);
		   })
{
	guest_memory::catch_faults();
	bound_each_free();
	switch_.attach(&devices_);
	poll_times_.assign(s.guests.size(), { s.opt.spin, s.opt.max_spin });
	for (guest_state &g : s.guests) {
		devices_.push_back(std::make_unique<device>(
			g, switch_, timers_, failed,
			[this](device &busy) { relax(busy); }));
		for (u32 bell = 0; bell < DOORBELLS; bell++)
			watch(g.doorbell[bell].get(), source::DOORBELL, g.index,
			      bell);
	}
	for (u32 i = 0; i <= switch_.wire(); i++)
		if (switch_.at(i).fd() >= 0)
			watch(switch_.at(i).fd(), source::PORT, i);
	watch(channel_, source::CHANNEL, 0);
}

void worker::watch(int fd, source what, u32 index, u32 part)
{
	epoll_event ev{};

	ev.events = EPOLLIN;
	ev.data.u64 = tag(static_cast<u32>(what), index, part);
	epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &ev);
}

// ---- Events ----------------------------------------------------------------------

bool worker::handle_doorbell(u32 index, u32 part)
{
	if (!take_event(shared_.guests[index].doorbell[part].get()))
		return false;
	if (part == DOORBELL_CONTROL) {
		devices_[index]->control();
	} else {
		poll_times_[index].kick(now_ns());
		devices_[index]->kick();
	}
	return true;
}

void worker::receive_change()
{
	unique_fd fd;
	change c;

	if (receive_with_fd(channel_, &c, sizeof(c), fd))
		apply_change(c, std::move(fd));
	else
		ended_ = true;
}

void worker::apply_change(const change &c, unique_fd fd)
{
	u32 index = c.what == change::WIRE ? switch_.wire() : c.index;

	switch (c.what) {
	case change::GUEST_CONNECTED:
		devices_[c.index]->plug(fd.get());
		tell({ report::GUEST_PLUGGED, c.index });
		break;
	case change::GUEST_DISCONNECTED:
		devices_[c.index]->unplug();
		// Inherited, if this worker started after QEMU connected.
		shared_.guests[c.index].ram.reset();
		break;
	case change::NETDEV:
	case change::WIRE:
		drop_port(index);
		switch_.at(index).connect(fd.get());
		watch(fd.get(), source::PORT, index);
		socket_of(index) = std::move(fd);
		break;
	}
}

void worker::tell(const report &r)
{
	send(channel_, &r, sizeof(r), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Those that a worker found when it began.
void worker::tell_plugged()
{
	for (const guest_state &g : shared_.guests)
		if (g.plugging)
			tell({ report::GUEST_PLUGGED, g.index });
}

unique_fd &worker::socket_of(u32 index)
{
	return index == switch_.wire() ? shared_.wire.fd :
					 shared_.netdevs[index].fd;
}

// A copy in the supervisor would keep it in epoll.
void worker::drop_port(u32 index)
{
	unique_fd &fd = socket_of(index);

	if (fd)
		epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
	fd.reset();
}

bool worker::receive_port(u32 index)
{
	u64 begin = now_ns();
	bool any = switch_.input(index);

	if (any && index != switch_.wire())
		devices_[index]->share().spend(now_ns() - begin);
	// The stream was closed.
	if (switch_.at(index).fd() < 0)
		drop_port(index);
	return any;
}

bool worker::receive_ports()
{
	bool any = false;

	for (u32 i = 0; i <= switch_.wire(); i++)
		if (switch_.at(i).fd() >= 0)
			any |= receive_port(i);
	return any;
}

bool worker::dispatch(u64 timeout)
{
	timespec t = { static_cast<time_t>(timeout / 1000000000u),
		       static_cast<long>(timeout % 1000000000u) };
	epoll_event events[32];
	bool any = false;
	int n = epoll_pwait2(epoll_.get(), events, std::size(events), &t,
			     nullptr);

	for (int i = 0; i < n; i++) {
		u64 data = events[i].data.u64;
		u32 index = static_cast<u32>(data);
		u32 part = static_cast<u32>(data >> 32) & 0xffff;

		switch (static_cast<source>(data >> 48)) {
		case source::CHANNEL:
			receive_change();
			break;
		case source::CONTROL:
			control_.serve(events[i]);
			break;
		case source::DOORBELL:
			any |= handle_doorbell(index, part);
			break;
		case source::PORT:
			any |= receive_port(index);
			break;
		}
	}
	return any;
}

// ---- The loop ---------------------------------------------------------------------

void worker::update_heartbeat(u64 now)
{
	if (now - last_heartbeat_ < heartbeat_interval)
		return;
	last_heartbeat_ = now;
	WRITE_ONCE(*shared_.heartbeat, *shared_.heartbeat + 1);
	for (u32 i = 0; i < devices_.size(); i++) {
		devices_[i]->update_heartbeat();
		if (devices_[i]->has_blocked())
			tell({ report::GUEST_BLOCKS, i });
	}
	connect_ports();
}

// Retry streams that are not connected.
void worker::connect_ports()
{
	for (u32 i = 0; i <= switch_.wire(); i++) {
		const port_state &p = i == switch_.wire() ? shared_.wire :
							    shared_.netdevs[i];
		unique_fd fd;

		if (p.config.kind != port_kind::CONNECT || p.fd)
			continue;
		fd = start_connect(p.peer);
		if (!fd) {
			switch_.at(i).not_reached(errno);
			continue;
		}
		switch_.at(i).connect(fd.get());
		watch(fd.get(), source::PORT, i);
		socket_of(i) = std::move(fd);
	}
}

// For about a time slice: the rest expires in the next round.
bool worker::expire(u64 now)
{
	u64 start = now_ns(), begin = start, end;
	timer *t;

	while (begin - start < time_share::slice && (t = timers_.due(now))) {
		queue_state *f = container_of(t, queue_state, clock);
		device &dev = *f->dev;

		dev.expire(*f);
		end = now_ns();
		dev.share().spend(end - begin);
		begin = end;
	}
	return begin != start;
}

// It pays for its own time. False: there was nothing to do.
bool worker::poll_device(device &dev, bool commands)
{
	u64 begin, taken, yielded;

	// Discard what disconnect or relax() left.
	dev.yielded();
	begin = now_ns();
	if (!dev.poll(begin, commands))
		return false;
	taken = dev.last_work() - begin;
	yielded = dev.yielded();
	dev.share().spend(taken > yielded ? taken - yielded : 0);
	return true;
}

// Either the devices that have a turn, or those in debt.
bool worker::poll_devices(bool in_debt)
{
	bool any = false;

	// Another one is first each time: there may be room for few frames only.
	first_ = (first_ + 1) % devices_.size();
	for (std::size_t i = 0; i < devices_.size(); i++) {
		device &dev = *devices_[(first_ + i) % devices_.size()];

		if (dev.share().has_turn() != in_debt)
			any |= poll_device(dev, true);
	}
	return any;
}

bool worker::work(u64 now)
{
	bool any = false;

	// What has arrived is not lost, however long this process had no CPU. Between its own
	// guests that takes two rounds: of the request, and of the response to it.
	if (timers_.next() && timers_.next() <= now) {
		any |= receive_ports();
		any |= switch_.work(now);
	}
	any |= switch_.work(now);
	any |= expire(now);
	for (const auto &dev : devices_)
		dev->share().begin_round();
	// Devices in debt only wait while other devices have work.
	any |= poll_devices(false) || poll_devices(true);
	if (any)
		return true;
	for (const auto &dev : devices_)
		dev->share().clear_debt();
	return false;
}

// Called during a long operation of @busy: one round for all other devices, without
// commands, and frames for all. Changes from the supervisor wait: @busy itself could be
// unplugged.
void worker::relax(device &busy)
{
	u64 now = now_ns();

	if (relaxing_ || ended_)
		return;
	relaxing_ = true;
	update_heartbeat(now);
	for (u32 i = 0; i <= switch_.wire(); i++)
		switch_.input(i);
	switch_.work(now);
	expire(now);
	for (u32 i = 0; i < devices_.size(); i++) {
		device &dev = *devices_[i];

		dev.share().begin_round();
		if (&dev == &busy) {
			dev.relay();
			continue;
		}
		handle_doorbell(i, DOORBELL_KICK);
		if (dev.share().has_turn())
			poll_device(dev, false);
	}
	relaxing_ = false;
}

// Stops polling devices that were idle for their poll time.
bool worker::may_sleep(u64 now)
{
	bool asleep = true, contended = contention_.is_present(now);
	u64 begin;

	for (u32 i = 0; i < devices_.size(); i++) {
		device &dev = *devices_[i];
		u64 limit = contended ? shared_.opt.spin :
					poll_times_[i].limit();

		if (dev.polling() && dev.share().has_turn() &&
		    now - dev.last_work() > limit) {
			begin = now_ns();
			dev.stop_polling();
			dev.share().spend(now_ns() - begin);
			poll_times_[i].stop(now);
		}
		if (dev.polling() || dev.has_work())
			asleep = false;
	}
	return asleep;
}

u64 worker::sleep_time(u64 now) const
{
	u64 end = last_heartbeat_ + heartbeat_interval;

	for (u64 when : { timers_.next(), switch_.next(now) })
		if (when && when < end)
			end = when;
	return end > now ? end - now : 0;
}

void worker::run()
{
	u64 now = now_ns(), last = now, before;
	bool idle = false;

	tell_plugged();
	for (u32 round = 0; !ended_; round++) {
		before = now;
		now = now_ns();
		if (idle)
			contention_.idle_round(before, now);
		update_heartbeat(now);
		idle = !work(now);
		// After the work, which may take longer than the poll time.
		if (!idle)
			last = now = now_ns();
		if (may_sleep(now) && now - last > shared_.opt.spin) {
			sleeps_++;
			idle = false;
			if (dispatch(sleep_time(now)))
				last = now_ns();
		} else if (round % dispatch_interval == 0 && dispatch(0)) {
			last = now;
			idle = false;
		} else if (idle && now - last > shared_.opt.spin) {
			// A polled guest may be waiting for this CPU.
			sched_yield();
		}
	}
}

// ---- Control commands --------------------------------------------------------------

// Memory of this process alone, without that of the guests. mallinfo2() would visit
// each free block.
u64 worker::private_bytes() const
{
	unsigned long long size, resident, shared;
	char text[128];
	ssize_t n = -1;

	if (!lseek(statm_.get(), 0, SEEK_SET))
		n = read(statm_.get(), text, sizeof(text) - 1);
	if (n < 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 ||
	    resident < shared)
		return 0;
	return (resident - shared) * static_cast<u64>(sysconf(_SC_PAGESIZE));
}

// Empty, or why nothing has changed.
std::string worker::change_rules(const std::string &what)
{
	if (what == "clear")
		switch_.rules().clear();
	else if (!what.empty())
		return switch_.rules().add(what);
	return "";
}

std::string worker::handle_command(const std::string &line)
{
	std::string word = line.substr(0, line.find(' '));
	fault_config faults = shared_.opt.faults;
	json_object o;
	std::string list;
	u64 longest = 0;

	if (word == "guests" || word == "stats") {
		for (const auto &dev : devices_) {
			longest = std::max(longest, dev->longest());
			list += (list.empty() ? "" : ", ") +
				dev->json(word == "stats");
		}
		o.add_raw("guests", "[" + list + "]");
		o.add_raw("switch", switch_.json());
		o.add("sleeps", sleeps_);
		o.add("longest_turn_us", longest / us);
		o.add("private_bytes", private_bytes());
		o.add("cpu_contention", contention_.count());
		o.add("worker", static_cast<u64>(getpid()));
		return o.text();
	}
	if (!shared_.opt.debug) {
		o.add("error", "guests or stats; other commands need --debug");
		return o.text();
	}
	if (word == "impair") {
		std::string why =
			change_rules(line.size() > 7 ? line.substr(7) : "");

		if (why.empty()) {
			o.add_raw("rules", switch_.rules().json());
			o.add("held", switch_.rules().held());
		} else {
			o.add("error", why);
		}
		return o.text();
	}
	if (word == "faults" &&
	    faults.parse(line.size() > 7 ? line.substr(7) : "")) {
		switch_.faults().set(faults);
		o.add("ok", true);
		return o.text();
	}
	if (word == "crash")
		abort();
	while (word == "hang")
		sleep(1000);
	o.add("error",
	      "guests, stats, impair RULE, faults KEY=VALUE,..., crash or hang");
	return o.text();
}

} // namespace nic
