/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The supervisor: owns what must outlive a worker (sockets, eventfds, BARs, files
 * of RAM), serves QEMU's ivshmem, and sees to it that there is a worker. It
 * never looks into what a guest can write.
 */
#ifndef ORNIC_NIC_SUPERVISOR_H
#define ORNIC_NIC_SUPERVISOR_H

#include "shared_state.h"

namespace nic
{

class supervisor {
public:
	/** Take all that @opt names; die when something cannot be had. */
	explicit supervisor(options opt);
	~supervisor();

	/** Until a signal comes. Return: exit status. */
	int run();

private:
	enum class source : u32 { SIGNAL, GUEST, QEMU, NETDEV, WIRE };

	void open_all();
	void open_guest(u32 index);
	void watch(int fd, source what, u32 index);
	void handle(u64 data);
	void handle_signal();
	void connect_guest(guest_state &g);
	void disconnect_guest(guest_state &g);
	bool open_ram(guest_state &g);
	void accept_port(port_state &p, change c);
	void notify_worker(change c, int fd);
	void drop_listeners();
	void start_worker();
	void worker_died(int status);
	void check_heartbeat();

	shared_state shared_;
	unique_fd epoll_;
	unique_fd signals_;
	unique_fd channel_;
	pid_t worker_ = -1;
	u64 started_ = 0; // the worker, ns
	u64 checked_at_ = 0; // its pulse, ns
	u32 missed_ = 0; // looks since that changed
	u32 heartbeat_ = 0;
	bool failed_ = false;
	bool ended_ = false;
};

} // namespace nic

#endif // ORNIC_NIC_SUPERVISOR_H
