/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The supervisor: owns what must outlive a worker (sockets, eventfds, BARs, RAM
 * files), serves QEMU's ivshmem, and restarts the worker when it dies or hangs. It
 * never reads memory that a guest can write.
 */
#ifndef ORNIC_NIC_SUPERVISOR_H
#define ORNIC_NIC_SUPERVISOR_H

#include "shared_state.h"

namespace nic
{

class supervisor {
public:
	/** Open all resources of @opt; die on failure. */
	explicit supervisor(options opt);
	~supervisor();

	/** Run until SIGTERM or SIGINT. Return: exit status. */
	int run();

private:
	enum class source : u32 { SIGNAL, WORKER, GUEST, QEMU, NETDEV, WIRE };

	void open_all();
	void open_guest(u32 index);
	void watch(int fd, source what, u32 index);
	void unwatch(int fd);
	void handle(u64 data);
	void handle_signal();
	void connect_guest(guest_state &g);
	void guest_plugged(guest_state &g);
	void disconnect_guest(guest_state &g);
	void refuse_guest(guest_state &g);
	void forget_left(guest_state &g);
	void accept_if_free(const guest_state &g);
	bool open_ram(guest_state &g);
	void check_ram();
	void accept_port(port_state &p, change c);
	bool notify_worker(change c, int fd);
	void kill_worker(const char *why);
	void drop_own_files();
	void start_worker();
	void run_worker(int channel);
	void worker_reports();
	void worker_died(int status);
	void check_worker();
	void end_worker();
	void end_messages();

	shared_state shared_;
	unique_fd epoll_;
	unique_fd signals_;
	unique_fd channel_;
	pid_t worker_ = -1;
	u64 started_ = 0; // start of the worker, ns
	u64 checked_at_ = 0; // last check of the heartbeat, ns
	u32 missed_ = 0; // checks since it changed
	u32 heartbeat_ = 0;
	bool failed_ = false;
	bool ready_ = false;
	bool ended_ = false;
};

} // namespace nic

#endif // ORNIC_NIC_SUPERVISOR_H
