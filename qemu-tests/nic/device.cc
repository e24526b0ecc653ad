// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "device.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "eth_switch.h"
#include "json.h"

namespace nic
{

namespace
{

constexpr u32 budget = 64 << 10; // bytes per run of a QP
constexpr u32 full_share_qps = 4; // get the whole budget in one poll
constexpr u64 no_deadline = ~0ull;
constexpr u64 dm_piece = 256 << 10; // bytes that are cleared at a time

u32 random_bits()
{
	static u32 pool[64];
	static std::size_t left;

	if (!left) {
		if (getrandom(pool, sizeof(pool), 0) != sizeof(pool))
			die("cannot get random numbers");
		left = std::size(pool);
	}
	return pool[--left];
}

queue_state *queue_of(void *area)
{
	return static_cast<queue_state *>(area);
}

} // namespace

/** Charges allocations to the guest while in scope. */
class device::charged {
public:
	explicit charged(device &dev)
		: outer_(std::exchange(ornic_account, &dev.account_))
	{
		dev.busy_since_ = now_ns();
	}
	~charged()
	{
		ornic_account = outer_;
	}
	charged(const charged &) = delete;

private:
	struct ornic_account *outer_;
};

// ---- Engine ops --------------------------------------------------------------

void device::op_resched(void *host, void *area)
{
	self(host)->enqueue(*queue_of(area));
}

u32 device::op_tx_room(void *host, void *area)
{
	device *dev = self(host);
	queue_state *f = queue_of(area);
	u32 room = dev->net_.room();

	if (!room && !f->stalled) {
		f->stalled = true;
		dev->stalled_.push_back(f);
	}
	return room;
}

int device::op_init(device *dev, void *area, u32 number, bool is_cq)
{
	queue_state *f = queue_of(area);

	f->dev = dev;
	f->number = number;
	f->is_cq = is_cq;
	return 0;
}

void device::op_fini(void *host, void *area)
{
	device *dev = self(host);
	queue_state *f = queue_of(area);

	dev->timers_.set(f->clock, 0);
	dev->dequeue(*f);
	if (f->stalled)
		std::erase(dev->stalled_, f);
}

// An operation exceeds the time slice of its guest: run the other devices, and charge
// neither their memory nor their time to this guest.
void device::op_relax(void *host)
{
	device *dev = self(host);
	struct ornic_account *account;
	u64 now = now_ns();

	if (now - dev->busy_since_ < time_share::slice)
		return;
	dev->counts_.yields++;
	dev->longest_ = std::max(dev->longest_, now - dev->busy_since_);
	account = std::exchange(::ornic_account, nullptr);
	dev->relax_(*dev);
	::ornic_account = account;
	dev->busy_since_ = now_ns();
	dev->yielded_ += dev->busy_since_ - now;
}

// Programs may make frames beyond the MTU of the netdev. Other QPs have a path MTU.
int device::op_tx_frame(void *host, ornic_tx *tx)
{
	device *dev = self(host);
	u32 mtu = tx->raw ? ornic_engine_netdev_mtu(dev->engine_) : 0;
	u32 len = tx->hdr_len + tx->body_len;

	if (len > max_frame || (mtu && len - tx->l3_offset > mtu))
		return -EMSGSIZE;
	if (tx->raw && !ornic_engine_port_up(dev->engine_))
		return -ENETDOWN;
	return dev->net_.alloc_frame(*tx);
}

const ornic_engine_ops *device::make_ops(ornic_engine_ops &ops, u32 vectors)
{
	ops.dma = [](void *host, u64 addr, u64 len) {
		return self(host)->memory_.at(addr, len);
	};
	ops.run = ops.dma;
	ops.dm = [](void *host, u64 at, u64 len) -> void * {
		return self(host)->guest_.dm_at(at, len);
	};
	ops.tx_room = op_tx_room;
	ops.tx_frame = op_tx_frame;
	// Its memory is that of the next frame as well.
	ops.tx_drop = [](void *, const ornic_tx *) {};
	ops.is_own = [](void *host, const u8 *mac) {
		return self(host)->has_mac(mac);
	};
	ops.raw_wanted = [](void *host, bool wanted) {
		self(host)->has_rules_ = wanted;
	};
	ops.xmit = [](void *host, const ornic_tx *tx) {
		device *dev = self(host);

		return dev->net_.transmit(*dev, *tx);
	};
	ops.deadline = [](void *host, void *area, u64 when) {
		self(host)->timers_.set(queue_of(area)->clock, when);
	};
	ops.resched = op_resched;
	ops.event = [](void *host, const ornic_eqe *eqe) {
		self(host)->event(*eqe);
	};
	ops.now = [](void *) { return now_ns(); };
	ops.random = [](void *) { return random_bits(); };
	ops.qp_init = [](void *host, void *area, u32 qpn) {
		return op_init(self(host), area, qpn, false);
	};
	ops.qp_fini = op_fini;
	ops.cq_init = [](void *host, void *area, u32 cqn) {
		op_init(self(host), area, cqn, true);
	};
	ops.cq_fini = op_fini;
	ops.cq_deadline = ops.deadline;
	ops.peer_engine = [](void *host, const u8 *mac) {
		return self(host)->net_.peer_engine(*self(host), mac);
	};
	ops.relax = op_relax;
	ops.paging = true;
	ops.host_qp_size = sizeof(queue_state);
	ops.host_cq_size = sizeof(queue_state);
	ops.num_vectors = vectors;
	return &ops;
}

// ---- Creation, reset, removal --------------------------------------------------

device::device(const guest_state &guest, eth_switch &net, timer_queue &timers,
	       bool failed, relaxer relax)
	: guest_(guest)
	, net_(net)
	, timers_(timers)
	, relax_(std::move(relax))
	, regs_(guest.device_regs())
	, host_(guest.host_regs())
	, eqs_(guest.config.vectors)
{
	make_ops(ops_, guest.config.vectors - 1);
	if (!guest.config.dm)
		ops_.dm = nullptr;
	// Page lists may contain a page twice, if it is mapped twice.
	ops_.max_mem = 2 * guest.config.size;
	ops_.max_spare = guest.config.mem_limit / 16;
	// What it frees leaves holes, which malloc() can only use for what fits. After
	// ten minutes of lists of 2 MiB the heap had 257 MB for 201 MB of objects.
	account_.limit = guest.config.mem_limit / 4 * 3;
	status_ = failed ? ORNIC_PCI_FAILED : ORNIC_PCI_READY;
	identify();
	if (guest.ram)
		memory_.map(guest.ram.get(), guest.config.size);
	if (guest.plugging)
		ignore_reset();
	if (failed && !guest.refused)
		message(ORNIC_PCI_MSG_CONTROL);
	// There may be a pending reset.
	check_regs_ = true;
}

device::~device()
{
	drop_engine();
}

// The guest can write to all registers: rewrite them on each reset.
void device::identify()
{
	u32 dm_pages = static_cast<u32>(guest_.config.dm >> ORNIC_PAGE_SHIFT);

	WRITE_ONCE(regs_->version, cpu_to_le32(ORNIC_HW_VERSION));
	WRITE_ONCE(regs_->num_msgs, cpu_to_le32(guest_.config.vectors));
	memcpy(regs_->mac, guest_.config.mac, sizeof(regs_->mac));
	regs_->doorbell_bar = 0;
	WRITE_ONCE(regs_->doorbell_offset, cpu_to_le32(12));
	WRITE_ONCE(regs_->doorbell_control,
		   cpu_to_le32(device_peer << 16 | DOORBELL_CONTROL));
	WRITE_ONCE(regs_->doorbell_kick,
		   cpu_to_le32(device_peer << 16 | DOORBELL_KICK));
	regs_->dm_bar = ORNIC_PCI_REG_BAR;
	WRITE_ONCE(regs_->dm_page, cpu_to_le32(dm_offset >> ORNIC_PAGE_SHIFT));
	WRITE_ONCE(regs_->dm_pages, cpu_to_le32(dm_pages));
	WRITE_ONCE(regs_->reset_done, cpu_to_le32(*guest_.reset_done));
	WRITE_ONCE(regs_->status, cpu_to_le32(status_));
	smp_store_release(&regs_->magic, cpu_to_le64(ORNIC_PCI_MAGIC));
}

void device::update_heartbeat()
{
	WRITE_ONCE(regs_->health, cpu_to_le32(++health_));
}

// An eventfd that is full, and blocks, is QEMU's doing. It can become so between the
// check and the write: the supervisor interrupts a worker that waits.
void device::message(u32 number)
{
	if (blocked_)
		return;
	blocked_ = !send_event(guest_.message[number].get());
	if (!blocked_)
		counts_.messages++;
}

void device::set_status(ornic_pci_status status)
{
	status_ = status;
	smp_store_release(&regs_->status, cpu_to_le32(status));
	message(ORNIC_PCI_MSG_CONTROL);
}

void device::drop_engine()
{
	// Other devices run during the destruction and must not find it.
	ornic_engine *engine = std::exchange(engine_, nullptr);

	polling_ = false;
	live_ = false;
	has_rules_ = false;
	if (engine) {
		charged c(*this);

		ornic_engine_destroy(engine);
	}
	for (event_queue &eq : eqs_)
		eq.close();
	commands_.reset();
}

// There is no engine that could write to it. The host gets its memory back, and that
// of the rest of the BAR, to which the guest can write as well. Other devices do not
// wait for all of it.
void device::clear_dm()
{
	const u64 end = guest_.bar_bytes();
	u64 len;

	busy_since_ = now_ns();
	for (u64 at = dm_offset; at < end; at += len) {
		u8 *p = guest_.bar + at;

		len = std::min(dm_piece, end - at);
		// If the kernel refuses, it stays ours.
		if (madvise(p, len, MADV_REMOVE))
			memset(p, 0, len);
		op_relax(this);
	}
}

void device::reset(u32 value)
{
	drop_engine();
	clear_dm();
	counts_.resets++;
	*guest_.reset_done = value;
	live_ = restart();
	status_ = live_ ? ORNIC_PCI_READY : ORNIC_PCI_FAILED;
	identify();
	message(ORNIC_PCI_MSG_CONTROL);
}

// False: failed and reported.
bool device::restart()
{
	if (memory_.lost() && !memory_.renew()) {
		fail("cannot map the guest's RAM");
		return false;
	}
	if (!find_layout())
		return false;

	charged c(*this);

	engine_ = ornic_engine_create(&ops_, this, guest_.config.mac);
	if (!engine_) {
		fail("mem-limit is too low for a NIC");
		return false;
	}
	ornic_engine_set_roce_v1(engine_, guest_.config.roce_v1);
	for (u32 i = 0; i < guest_.config.pkeys.size(); i++)
		ornic_engine_pkey_set(engine_, i, guest_.config.pkeys[i]);
	return true;
}

// False: failed and reported. Without a nonce no memory is accessible, which is
// enough for the last reset of a guest.
bool device::find_layout()
{
	ram_nonce nonce = {};

	nonce.addr = le64_to_cpu(READ_ONCE(host_->nonce_addr));
	for (u32 i = 0; i < std::size(nonce.words); i++)
		nonce.words[i] = READ_ONCE(host_->nonce[i]);
	memory_.forget_layout();
	if (!nonce.addr || memory_.locate(guest_.config.machine, nonce))
		return true;
	fail(guest_.config.machine == machine::any ?
		     "RAM layout is not that of machine=pc, q35 or virt" :
		     "RAM layout is not that of machine=");
	return false;
}

void device::fail(const char *why)
{
	u64 now = now_ns();

	// At most once a second: the guest decides how often it fails.
	if (now - last_fail_ > 1000 * ms)
		warn("guest %u: NIC failed until reset: %s", guest_.index, why);
	last_fail_ = now;
	drop_engine();
	set_status(ORNIC_PCI_FAILED);
}

void device::plug(int ram_fd)
{
	drop_engine();
	clear_dm();
	blocked_ = told_blocked_ = false;
	status_ = ORNIC_PCI_READY;
	ignore_reset();
	if (!memory_.map(ram_fd, guest_.config.size))
		fail("cannot map the guest's RAM");
}

// The guest has no BAR yet: this is a reset that the previous one wanted.
void device::ignore_reset()
{
	*guest_.reset_done = le32_to_cpu(READ_ONCE(host_->reset));
	identify();
}

void device::unplug()
{
	drop_engine();
	clear_dm();
	memory_.forget();
}

// ---- Commands -------------------------------------------------------------------

// One command at a time, so that other devices get their turns in between. False:
// there was nothing to do.
bool device::poll_registers()
{
	u32 want = le32_to_cpu(READ_ONCE(host_->reset));

	check_regs_ = false;
	if (!memory_.mapped())
		return false;
	if (want != *guest_.reset_done) {
		reset(want);
		check_regs_ = live_;
		return true;
	}
	if (!live_)
		return false;
	if (!commands_.poll(memory_, host_)) {
		fail("invalid command ring");
		return true;
	}
	if (!commands_.waiting())
		return false;
	execute_next();
	check_regs_ = live_ && commands_.waiting();
	return true;
}

void device::execute_next()
{
	union ornic_req req;
	union ornic_rsp rsp;

	if (!commands_.next(req))
		return;
	execute(req, rsp);
	commands_.respond(rsp);
	counts_.commands++;
	message(ORNIC_PCI_MSG_CONTROL);
}

void device::execute(const union ornic_req &req, union ornic_rsp &rsp)
{
	u8 opcode = req.hdr.opcode;
	charged c(*this);

	// The CQEs of posted WQEs must fit: execute these WQEs first.
	if (opcode == ORNIC_CMD_RESIZE_CQ && has_cq(le32_to_cpu(req.hdr.obj))) {
		start_polling();
		run_queue(no_deadline);
	}
	if (opcode != ORNIC_CMD_CREATE_EQ && opcode != ORNIC_CMD_DESTROY_EQ) {
		ornic_engine_cmd(engine_, &req, &rsp);
		if (rsp.hdr.status == ORNIC_OK)
			forget_events(opcode, le32_to_cpu(req.hdr.obj));
		return;
	}
	memset(&rsp, 0, sizeof(rsp));
	rsp.hdr.opcode = opcode;
	rsp.hdr.id = req.hdr.id;
	rsp.hdr.obj = req.hdr.obj;
	rsp.hdr.status = static_cast<u8>(opcode == ORNIC_CMD_CREATE_EQ ?
						 create_eq(req, rsp) :
						 destroy_eq(req));
}

// If the command has destroyed an object.
void device::forget_events(u8 opcode, u32 obj)
{
	static constexpr u8 of_cq[] = { ORNIC_EVENT_COMP, ORNIC_EVENT_CQ_ERR };
	static constexpr u8 of_qp[] = {
		ORNIC_EVENT_QP_FATAL,	   ORNIC_EVENT_QP_REQ_ERR,
		ORNIC_EVENT_QP_ACCESS_ERR, ORNIC_EVENT_COMM_EST,
		ORNIC_EVENT_SQ_DRAINED,	   ORNIC_EVENT_LAST_WQE,
		ORNIC_EVENT_PAGE_FAULT
	};
	static constexpr u8 of_srq[] = { ORNIC_EVENT_SRQ_LIMIT,
					 ORNIC_EVENT_SRQ_ERR };
	std::span<const u8> types;

	switch (opcode) {
	case ORNIC_CMD_DESTROY_CQ:
		types = of_cq;
		break;
	case ORNIC_CMD_DESTROY_QP:
		types = of_qp;
		break;
	case ORNIC_CMD_DESTROY_SRQ:
		types = of_srq;
		break;
	default:
		return;
	}
	for (event_queue &eq : eqs_)
		eq.forget(obj, types);
}

bool device::has_cq(u32 cqn)
{
	return ornic_engine_has_cq(engine_, cqn);
}

int device::create_eq(const union ornic_req &req, union ornic_rsp &rsp)
{
	ornic_req_create_eq create;
	u32 msg;
	int status;

	memcpy(&create, &req, sizeof(create));
	msg = le16_to_cpu(create.msg);
	if (msg >= eqs_.size())
		return ORNIC_BAD_PARAM;
	status = eqs_[msg].open(engine_, create);
	if (status == ORNIC_OK)
		rsp.hdr.obj = cpu_to_le32(msg + 1);
	return status;
}

int device::destroy_eq(const union ornic_req &req)
{
	u32 eqn = le32_to_cpu(req.hdr.obj);

	if (!eqn || eqn > eqs_.size() || !eqs_[eqn - 1].is_open())
		return ORNIC_NOT_FOUND;
	eqs_[eqn - 1].close();
	return ORNIC_OK;
}

void device::event(const ornic_eqe &eqe)
{
	u32 msg = eqe.type == ORNIC_EVENT_COMP ?
			  ORNIC_PCI_MSG_COMP + eqe.vector :
			  ORNIC_PCI_MSG_CONTROL;

	if (msg < eqs_.size() && eqs_[msg].post(eqe))
		message(msg);
}

void device::control()
{
	counts_.controls++;
	check_regs_ = true;
	for (u32 msg = 0; msg < eqs_.size(); msg++)
		if (eqs_[msg].flush())
			message(msg);
}

// ---- Queues ---------------------------------------------------------------------

void device::kick()
{
	counts_.kicks++;
	kicked_ = engine_;
}

// Takes time proportional to the number of QPs, so it waits for its turn.
bool device::handle_kick()
{
	kicked_ = false;
	if (!engine_)
		return false;
	ornic_engine_count_kick(engine_);
	start_polling();
	return true;
}

void device::start_polling()
{
	polling_ = true;
	last_work_ = now_ns();
	// Runs all QPs, also those kicked for their RQ.
	ornic_engine_set_polling(engine_, true);
}

void device::enqueue(queue_state &f)
{
	if (f.queued || f.is_cq)
		return;
	f.queued = true;
	f.next = nullptr;
	f.prev = last_;
	(last_ ? last_->next : first_) = &f;
	last_ = &f;
}

void device::dequeue(queue_state &f)
{
	if (!f.queued)
		return;
	f.queued = false;
	(f.prev ? f.prev->next : first_) = f.next;
	(f.next ? f.next->prev : last_) = f.prev;
}

bool device::run_queue(u64 end)
{
	queue_state *last = last_, *f;
	bool any = false, at_last;

	while (first_ && !(any && now_ns() >= end)) {
		f = first_;
		at_last = f == last;
		dequeue(*f);
		any = true;
		if (ornic_engine_run(engine_, f->number, budget) ==
		    ORNIC_RUN_MORE)
			enqueue(*f);
		if (at_last)
			break;
		// Other devices do not wait for a command of this guest.
		if (end == no_deadline)
			op_relax(this);
	}
	return any;
}

// The budget per QP shrinks with the number of active QPs.
bool device::poll_queues()
{
	u32 share = budget * full_share_qps / std::max(polled_, full_share_qps);

	polled_ = ornic_engine_poll(engine_, share);
	return polled_;
}

bool device::is_taken(inbound &in)
{
	ornic_frag seg{ in.data.data(), static_cast<u32>(in.data.size()) };
	ornic_flow_hits hits;

	ornic_rcu_read_lock();
	ornic_engine_find_frame(engine_, in.data.data(), seg.len,
				is_addressed(in.data), &hits);
	if (hits.n)
		ornic_engine_rx_frame(engine_, &hits, &seg, 1);
	ornic_rcu_read_unlock();
	return hits.taken;
}

// Its rules decide how long looking up takes, so this guest pays for that. For what follows
// the senders pay, as they do without rules.
u64 device::empty_inbox(u64 end)
{
	u64 others = 0;

	do {
		inbound in = inbox_.take();

		if (!has_rules() || !is_taken(in))
			others += net_.pass_on(*this, in);
	} while (!inbox_.empty() && now_ns() < end);
	return others;
}

void device::relay()
{
	u64 begin = now_ns(), others;

	if (inbox_.empty())
		return;
	others = empty_inbox(begin + time_share::slice);
	share_.spend(now_ns() - begin - others);
}

bool device::poll(u64 now, bool commands)
{
	bool any = false;

	busy_since_ = now;
	if (memory_.lost() && (engine_ || status_ != ORNIC_PCI_FAILED)) {
		fail("some of its RAM is not available");
		any = true;
	}
	if (kicked_)
		any |= handle_kick();
	if (check_regs_ && commands)
		any |= poll_registers();
	if (!inbox_.empty()) {
		yielded_ += empty_inbox(now_ns() + time_share::slice);
		any = true;
	}
	// A full slice: who sends to this guest does not stop its QPs.
	if (first_)
		any |= run_queue(now_ns() + time_share::slice);
	if (polling_)
		any |= poll_queues();
	if (!any)
		return false;
	last_work_ = now_ns();
	longest_ = std::max(longest_, last_work_ - busy_since_);
	return true;
}

void device::stop_polling()
{
	polling_ = false;
	// Runs all QPs once more. This is not counted as work of the guest, which
	// would make the worker poll again.
	ornic_engine_set_polling(engine_, false);
	run_queue(now_ns() + time_share::slice);
}

void device::expire(queue_state &f)
{
	if (!engine_)
		return;
	if (f.is_cq)
		ornic_engine_cq_expire(engine_, f.number);
	else
		ornic_engine_expire(engine_, f.number);
}

void device::resume_stalled()
{
	for (queue_state *f : stalled_) {
		f->stalled = false;
		enqueue(*f);
	}
	stalled_.clear();
}

void device::receive(const ornic_rx &rx)
{
	if (engine_)
		ornic_engine_rx(engine_, &rx);
}

// ---- Statistics --------------------------------------------------------------------

std::string device::json(bool all) const
{
	ornic_engine_counts objects{};
	json_object o;

	o.add("guest", guest_.index);
	o.add("socket", guest_.config.socket);
	o.add("mac", mac_text(guest_.config.mac));
	o.add("connected", memory_.mapped());
	o.add("status", status_ == ORNIC_PCI_READY ? "ready" : "failed");
	o.add("live", live_);
	o.add("machine", machine_name(memory_.layout()));
	o.add("mem_used", account_.used);
	o.add("mem_limit", guest_.config.mem_limit);
	o.add("dm", guest_.config.dm);
	o.add("spent_us", share_.spent() / us);
	o.add("polling", polling_);
	if (engine_)
		ornic_engine_count_objects(engine_, &objects);
	o.add("qps", objects.qps);
	o.add("cqs", objects.cqs);
	o.add("mkeys", objects.mkeys);
	o.add("flows", objects.flows);
	o.add("doorbell_kicks", counts_.kicks);
	o.add("doorbell_controls", counts_.controls);
	o.add("commands", counts_.commands);
	o.add("yields", counts_.yields);
	o.add("resets", counts_.resets);
	o.add("messages", counts_.messages);
	for (u32 i = 0; all && engine_ && i < ORNIC_STAT_COUNT; i++)
		o.add(stat_name(i),
		      ornic_engine_stat(engine_, static_cast<ornic_stat>(i)));
	return o.text();
}

} // namespace nic
