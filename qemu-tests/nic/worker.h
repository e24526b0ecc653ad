/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The worker: runs all devices of the process in one thread. It polls for a while
 * after the last work (busy_poll.h), then requests kicks from the guests and
 * sleeps.
 */
#ifndef ORNIC_NIC_WORKER_H
#define ORNIC_NIC_WORKER_H

#include <memory>
#include <vector>

#include "busy_poll.h"
#include "control.h"
#include "device.h"
#include "eth_switch.h"
#include "shared_state.h"
#include "timers.h"

namespace nic
{

class worker {
public:
	/** @channel: changes from the supervisor; @failed: the previous worker
	 *  died. */
	worker(shared_state &s, int channel, bool failed);

	/** Run until the supervisor closes the channel. */
	void run();

private:
	enum class source : u32 { CHANNEL, CONTROL, DOORBELL, PORT };

	void watch(int fd, source what, u32 index, u32 part = 0);
	bool dispatch(u64 timeout);
	bool handle_doorbell(u32 index, u32 part);
	void receive_change();
	void apply_change(const change &c, unique_fd fd);
	void tell(const report &r);
	void tell_plugged();
	unique_fd &socket_of(u32 index);
	void drop_port(u32 index);
	bool receive_port(u32 index);
	bool receive_ports();
	void update_heartbeat(u64 now);
	void connect_ports();
	bool expire(u64 now);
	bool work(u64 now);
	bool poll_device(device &dev, bool commands);
	bool poll_devices(bool in_debt);
	void relax(device &busy);
	bool may_sleep(u64 now);
	u64 sleep_time(u64 now) const;
	u64 private_bytes() const;
	std::string change_rules(const std::string &what);
	std::string handle_command(const std::string &line);

	shared_state &shared_;
	unique_fd epoll_;
	int channel_;
	unique_fd statm_;
	timer_queue timers_;
	eth_switch switch_;
	std::vector<std::unique_ptr<device>> devices_;
	std::size_t first_ = 0; // of them that is polled first
	std::vector<poll_time> poll_times_; // [guest]
	cpu_contention contention_;
	control_server control_;
	u64 last_heartbeat_ = 0;
	u64 sleeps_ = 0;
	bool relaxing_ = false;
	bool ended_ = false;
};

} // namespace nic

#endif // ORNIC_NIC_WORKER_H
