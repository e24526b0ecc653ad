/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The NIC of one guest: registers, command ring, event queues and its engine.
 * Guest memory is read once and validated.
 */
#ifndef ORNIC_NIC_DEVICE_H
#define ORNIC_NIC_DEVICE_H

#include <functional>
#include <string>
#include <vector>

#include "base.h"
#include "command_ring.h"
#include "event_queue.h"
#include "frame.h"
#include "inbox.h"
#include "memory.h"
#include "share.h"
#include "shared_state.h"
#include "timers.h"

namespace nic
{

class device;
class eth_switch;

/** Host state of a QP or CQ, allocated by the engine. */
struct queue_state {
	device *dev;
	u32 number;
	bool is_cq;
	bool queued; // in the run list
	bool stalled; // waits for room in a port
	timer clock;
	queue_state *next;
	queue_state *prev;
};

/** Reported along with the counters of the engine. */
struct device_counts {
	u64 kicks;
	u64 controls;
	u64 commands;
	u64 yields; // to other devices, during a command
	u64 resets;
	u64 messages;
};

class device {
public:
	/** Called during a long operation of a device. */
	using relaxer = std::function<void(device &)>;

	/** @failed: the previous worker died. */
	device(const guest_state &guest, eth_switch &net, timer_queue &timers,
	       bool failed, relaxer relax);
	device(const device &) = delete;
	device &operator=(const device &) = delete;
	~device();

	/** A QEMU with this RAM has connected; it has disconnected. */
	void plug(int ram_fd);
	void unplug();

	/** The guest stored doorbell_control, or doorbell_kick. */
	void control();
	void kick();

	/** Work for about a time slice from @now. False: there was nothing
	 *  to do. */
	bool poll(u64 now, bool commands = true);
	/** Time that other devices got during its work since the last call. */
	u64 yielded()
	{
		return std::exchange(yielded_, 0);
	}
	/** The longest time without a turn of other devices, ns. */
	u64 longest() const
	{
		return longest_;
	}
	time_share &share()
	{
		return share_;
	}
	/** When poll() last found something, ns. */
	u64 last_work() const
	{
		return last_work_;
	}
	/** Request kicks from the guest. */
	void stop_polling();
	bool has_work() const
	{
		return first_ || check_regs_ || kicked_ || !inbox_.empty();
	}
	bool polling() const
	{
		return polling_;
	}

	void update_heartbeat();
	/** Its QEMU has filled an eventfd: true once, and no messages until the next one. */
	bool has_blocked()
	{
		return blocked_ && !std::exchange(told_blocked_, true);
	}
	void expire(queue_state &f);
	void resume_stalled();
	/** A packet with validated headers. */
	void receive(const ornic_rx &rx);

	/** RoCE frames go to this device, not to the netdev. */
	bool takes_frames() const
	{
		return engine_ && ornic_engine_port_up(engine_);
	}
	bool takes(const packet_place &place) const
	{
		return takes_frames() &&
		       (!place.roce_v1 || guest_.config.roce_v1);
	}
	/** All frames for the guest go to its inbox: it has flow rules, or frames wait that
	 *  came when it had some, and are not to be overtaken. */
	bool uses_inbox() const
	{
		return has_rules() || !inbox_.empty();
	}
	inbox &frames()
	{
		return inbox_;
	}
	/** Empty the inbox for about a time slice, during a command of this device. */
	void relay();
	bool has_mac(const u8 *address) const
	{
		return !memcmp(mac(), address, 6);
	}
	/** A frame to its address, or to a group. */
	bool is_addressed(bytes f) const
	{
		return is_group(f.data()) || has_mac(f.data());
	}
	ornic_engine *engine() const
	{
		return engine_;
	}
	const guest_state &guest() const
	{
		return guest_;
	}
	const u8 *mac() const
	{
		return guest_.config.mac;
	}
	/** State as a JSON object; @all: with statistics. */
	std::string json(bool all) const;

private:
	bool has_rules() const
	{
		return has_rules_ && takes_frames();
	}
	static const ornic_engine_ops *make_ops(ornic_engine_ops &ops,
						u32 num_vectors);
	static device *self(void *host)
	{
		return static_cast<device *>(host);
	}
	static void op_resched(void *host, void *host_qp);
	static u32 op_tx_room(void *host, void *host_qp);
	static int op_init(device *dev, void *area, u32 number, bool is_cq);
	static void op_fini(void *host, void *area);
	static void op_relax(void *host);
	static int op_tx_frame(void *host, ornic_tx *tx);

	class charged;

	void identify();
	void message(u32 number);
	void set_status(ornic_pci_status status);
	void reset(u32 value);
	void drop_engine();
	void clear_dm();
	void fail(const char *why);
	bool handle_kick();
	bool poll_registers();
	void execute_next();
	bool restart();
	bool find_layout();
	void ignore_reset();
	void execute(const union ornic_req &req, union ornic_rsp &rsp);
	void forget_events(u8 opcode, u32 obj);
	bool has_cq(u32 cqn);
	int create_eq(const union ornic_req &req, union ornic_rsp &rsp);
	int destroy_eq(const union ornic_req &req);
	void event(const ornic_eqe &eqe);
	void enqueue(queue_state &f);
	void dequeue(queue_state &f);
	/** Run all QPs and poll them until stop_polling(). */
	void start_polling();
	/** Run each queued QP once, until @end. Without a deadline other
	 *  guests get their turns in between. */
	bool run_queue(u64 end);
	bool poll_queues();
	/** Frames of the inbox, one at least, until @end, go to raw packet QPs, or on. Return:
	 *  the time of it that others pay for, ns. */
	u64 empty_inbox(u64 end);
	bool is_taken(inbound &in);

	const guest_state &guest_;
	eth_switch &net_;
	timer_queue &timers_;
	relaxer relax_;
	ornic_engine_ops ops_{};
	struct ornic_account account_ {
	}; // memory of the engine and the event queues
	time_share share_;
	bool kicked_ = false;
	u64 busy_since_ = 0; // ns, start of the current operation
	u64 yielded_ = 0; // ns
	u64 longest_ = 0; // ns
	u32 polled_ = 0; // QPs with new WQEs in the last poll
	guest_memory memory_;
	ornic_pci_device_regs *regs_;
	const ornic_pci_host_regs *host_;
	ornic_engine *engine_ = nullptr;
	command_ring commands_;
	std::vector<event_queue> eqs_;
	device_counts counts_{};
	queue_state *first_ = nullptr;
	queue_state *last_ = nullptr;
	std::vector<queue_state *> stalled_;
	inbox inbox_;
	u32 health_ = 0;
	u32 status_ = ORNIC_PCI_ABSENT;
	u64 last_fail_ = 0;
	u64 last_work_ = 0;
	bool polling_ = false;
	bool check_regs_ = false; // poll registers and commands
	bool live_ = false; // reset since QEMU connected
	bool has_rules_ = false; // its engine has flow rules
	bool blocked_ = false;
	bool told_blocked_ = false;
};

} // namespace nic

#endif // ORNIC_NIC_DEVICE_H
