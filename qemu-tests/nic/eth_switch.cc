// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "eth_switch.h"

#include "capture.h"
#include "json.h"

namespace nic
{

namespace
{

constexpr u32 window = 64; // frames that QPs may have waiting in a port
constexpr std::size_t max_arrivals = 4096;
constexpr std::size_t max_arrived_bytes = 32 << 20;
constexpr std::size_t max_held = 65536; // delayed frames
constexpr std::size_t max_learned = 4096;
constexpr u32 input_limit = 64;
constexpr u64 retry = 20 * us; // until a full socket is tried again

} // namespace

eth_switch::eth_switch(const shared_state &s)
	: faults_(s.opt.faults)
	, capture_(s.capture.get())
	, packets_only_(s.opt.packets)
{
	for (const port_state &p : s.netdevs)
		ports_.emplace_back(p);
	ports_.emplace_back(s.wire);
	for (const std::string &rule : s.opt.rules)
		rules_.add(rule);
}

device *eth_switch::device_of(const u8 *mac) const
{
	for (const auto &dev : *devices_)
		if (dev->has_mac(mac))
			return dev.get();
	return nullptr;
}

u32 eth_switch::room() const
{
	// Frames kept for guests, or by their netdevs, do not count: no guest stalls others.
	std::size_t waiting =
		arrivals_.size() + ports_.back().kept_of_engines();

	return waiting < window ? static_cast<u32>(window - waiting) : 0;
}

ornic_engine *eth_switch::peer_engine(const device &from, const u8 *mac) const
{
	device *to = packets_only_ ? nullptr : device_of(mac);

	if (!to || to == &from || !to->takes_frames())
		return nullptr;
	return to->engine();
}

int eth_switch::alloc_frame(ornic_tx &tx)
{
	made_.resize(tx.hdr_len + tx.body_len);
	tx.hdr = made_.data();
	tx.body = tx.hdr + tx.hdr_len;
	return 0;
}

int eth_switch::transmit(const device &from, const ornic_tx &tx)
{
	u32 index = from.guest().index;
	ornic_rx rx;

	if (arrivals_.size() >= max_arrivals)
		return -ENOBUFS;
	if (is_spoofed(made_, index)) {
		counts_.spoofed++;
		return -EPERM;
	}
	if (tx.raw)
		learn(made_.data() + 6, index);
	if (tx.raw || !rules_.any()) {
		ingress(made_, { index, maker::ENGINE });
		return 0;
	}
	arrival a{ nullptr, index, {}, made_ };

	a.place.parse(a.data, rx);
	impair(ORNIC_IMPAIR_TX, a);
	return 0;
}

// ---- Impairments -----------------------------------------------------------------

void eth_switch::pass(ornic_impair_dir dir, arrival &a)
{
	ornic_rx rx;

	if (dir == ORNIC_IMPAIR_TX) {
		ingress(a.data, { a.from, maker::ENGINE });
		return;
	}
	a.place.fill(a.data, rx);
	a.to->receive(rx);
}

void eth_switch::impair(ornic_impair_dir dir, arrival &a)
{
	ornic_impair_verdict verdict = rules_.apply(dir, a);

	switch (verdict.action) {
	case ORNIC_IMPAIR_DROP:
	case ORNIC_IMPAIR_DELAY:
	case ORNIC_IMPAIR_SWAP:
		return;
	case ORNIC_IMPAIR_DUPLICATE:
		pass(dir, a);
		break;
	default:
		break;
	}
	pass(dir, a);
	rules_.passed(verdict);
	// Those that it has overtaken; others wait for release().
	while (std::unique_ptr<arrival> next = rules_.take(dir, 0))
		pass(dir, *next);
}

bool eth_switch::release(ornic_impair_dir dir, u64 now)
{
	u64 begin = now;
	bool any = false;

	while (std::unique_ptr<arrival> a = rules_.take(dir, now)) {
		if (!any)
			begin = now_ns();
		pass(dir, *a);
		charge(a->from, a->to, begin);
		any = true;
	}
	return any;
}

// ---- Frames ----------------------------------------------------------------------

u32 eth_switch::input(u32 index)
{
	return ports_[index].receive(input_limit, [&](bytes f) {
		if (f.size() < min_frame)
			return;
		if (is_spoofed(f, index)) {
			counts_.spoofed++;
			return;
		}
		// Multicast sockets receive their own frames.
		if (index == wire() && device_of(f.data() + 6))
			return;
		learn(f.data() + 6, index);
		ingress(f, { index, maker::NETDEV });
	});
}

// Other source MACs are only allowed with spoof=on.
bool eth_switch::is_spoofed(bytes f, u32 index) const
{
	const device *dev = index == wire() ? nullptr :
					      (*devices_)[index].get();

	return dev && !dev->guest().config.spoof && !dev->has_mac(f.data() + 6);
}

void eth_switch::learn(const u8 *mac, u32 from)
{
	if (is_group(mac) || device_of(mac))
		return;
	if (learned_.size() >= max_learned)
		learned_.clear();
	learned_[mac_key(mac)] = from;
}

void eth_switch::ingress(bytes f, sender from)
{
	ornic_rx rx;
	packet_place place;
	ornic_frame kind = place.parse(f, rx);
	frame changed;

	if (kind == ORNIC_FRAME_BAD) {
		counts_.bad++;
		return;
	}
	if (capture_ >= 0)
		capture_frame(capture_, from.index, f);
	if (kind == ORNIC_FRAME_OTHER) {
		counts_.other_frames++;
		route(f, place, from);
		return;
	}
	counts_.roce_frames++;
	if (faults_.lose())
		return;
	if (faults_.corrupt(f, changed)) {
		f = changed;
		// It may not be what it was.
		place.parse(f, rx);
	}
	if (faults_.delay() && held_.size() >= max_held)
		counts_.overflows++;
	else if (faults_.delay())
		held_.push_back({ now_ns() + faults_.delay(),
				  { from, place, frame(f.begin(), f.end()) } });
	else
		route(f, place, from);
}

// Engines must not call each other: frames wait until the running engine has
// returned.
void eth_switch::to_engine(device &to, bytes f, const packet_place &place,
			   u32 from)
{
	if (arrivals_.size() >= max_arrivals ||
	    arrived_bytes_ + f.size() > max_arrived_bytes) {
		counts_.overflows++;
		return;
	}
	counts_.to_engines++;
	arrived_bytes_ += f.size();
	arrivals_.push_back({ &to, from, place, frame(f.begin(), f.end()) });
}

void eth_switch::route(bytes f, const packet_place &place, sender from)
{
	device *dev = device_of(f.data());

	if (dev) {
		to_guest(*dev, f, place, from);
		return;
	}

	auto known = learned_.find(mac_key(f.data()));

	if (is_group(f.data()) || known == learned_.end())
		flood(f, place, from);
	else if (known->second == from.index)
		return;
	else if (known->second == wire())
		ports_[wire()].send(f, from.by);
	else
		to_guest(*(*devices_)[known->second], f, place, from);
}

// What one guest sends to itself is a RoCE packet, or nothing.
void eth_switch::hand_over(device &to, bytes f, const packet_place &place,
			   sender from)
{
	u32 index = to.guest().index;

	if (place.valid && to.is_addressed(f) && to.takes(place))
		to_engine(to, f, place, from.index);
	else if (index != from.index)
		ports_[index].send(f, from.by);
}

void eth_switch::to_guest(device &to, bytes f, const packet_place &place,
			  sender from)
{
	if (!to.uses_inbox())
		hand_over(to, f, place, from);
	else if (!to.frames().put(f, place, from))
		counts_.overflows++;
}

u64 eth_switch::pass_on(device &to, const inbound &in)
{
	u64 begin = now_ns();

	hand_over(to, in.data, in.place, in.from);
	return charge(in.from.index, &to, begin);
}

void eth_switch::flood(bytes f, const packet_place &place, sender from)
{
	for (const auto &dev : *devices_) {
		u32 index = dev->guest().index;

		if (index != from.index)
			to_guest(*dev, f, place, from);
	}
	if (from.index != wire())
		ports_[wire()].send(f, from.by);
}

// The sender pays, so that a flood does not use up the turns of its victim.
u64 eth_switch::charge(u32 from, device *to, u64 &begin) const
{
	device &payer = from < devices_->size() ? *(*devices_)[from] : *to;
	u64 end = now_ns(), spent = end - begin;

	payer.share().spend(spent);
	begin = end;
	return spent;
}

bool eth_switch::deliver()
{
	std::size_t count = arrivals_.size();
	u64 begin = count ? now_ns() : 0;

	for (std::size_t i = 0; i < count; i++) {
		arrival a = std::move(arrivals_.front());

		arrivals_.pop_front();
		arrived_bytes_ -= a.data.size();
		if (a.place.valid && rules_.any())
			impair(ORNIC_IMPAIR_RX, a);
		else if (a.place.valid)
			pass(ORNIC_IMPAIR_RX, a);
		charge(a.from, a.to, begin);
	}
	return count;
}

bool eth_switch::work(u64 now)
{
	bool was_full = !room(), any = false;

	while (!held_.empty() && held_.front().when <= now) {
		held h = std::move(held_.front());

		held_.pop_front();
		route(h.in.data, h.in.place, h.in.from);
		any = true;
	}
	any |= release(ORNIC_IMPAIR_TX, now);
	any |= release(ORNIC_IMPAIR_RX, now);
	any |= deliver();
	for (port &p : ports_)
		if (p.keeps())
			any |= p.work();
	if ((any || was_full) && room())
		for (const auto &dev : *devices_)
			dev->resume_stalled();
	return any;
}

u64 eth_switch::next(u64 now) const
{
	u64 when = held_.empty() ? 0 : held_.front().when;
	u64 due = rules_.next();

	if (!arrivals_.empty())
		return 1;
	if (due && (!when || due < when))
		when = due;
	for (const port &p : ports_)
		if (p.keeps() && p.fd() >= 0 && (!when || now + retry < when))
			when = now + retry;
	return when;
}

std::string eth_switch::json() const
{
	json_object o;
	u64 tx = 0, rx = 0, dropped = 0;

	for (const port &p : ports_) {
		tx += p.counts().tx_frames;
		rx += p.counts().rx_frames;
		dropped += p.counts().tx_dropped;
	}
	o.add("roce_frames", counts_.roce_frames);
	o.add("other_frames", counts_.other_frames);
	o.add("to_engines", counts_.to_engines);
	o.add("bad_frames", counts_.bad);
	o.add("spoofed_frames", counts_.spoofed);
	o.add("overflows", counts_.overflows);
	o.add("port_tx_frames", tx);
	o.add("port_rx_frames", rx);
	o.add("port_tx_dropped", dropped);
	o.add("wire_tx_frames", ports_.back().counts().tx_frames);
	o.add("wire_rx_frames", ports_.back().counts().rx_frames);
	o.add("lost", faults_.counts().lost);
	o.add("corrupted", faults_.counts().corrupted);
	return o.text();
}

} // namespace nic
