// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "wire.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sim
{

namespace
{

std::unique_ptr<u8[]> copy_of(const u8 *data, u32 len)
{
	std::unique_ptr<u8[]> copy(new u8[len]);

	memcpy(copy.get(), data, len);
	return copy;
}

} // namespace

double random::log_in(double lo, double hi)
{
	double u = static_cast<double>(next() >> 11) * 0x1p-53;

	return lo * std::pow(hi / lo, u);
}

void wire::take(ornic_th *from, ornic_th *to, u64 now)
{
	int side = from->index & 1;

	while (ornic_th_frame *f = ornic_th_pull(from)) {
		frames_++;
		bytes_ += f->len;
		size_t at = lane_of(side, f);
		lane &l = lanes_[side][at];

		if (faults_.queue && l.leaving.size() >= faults_.queue) {
			lost_++;
			note("QUEUE FULL", { now, at, from, to, f });
			ornic_th_put(from, f);
			continue;
		}
		if (faults_.standard)
			disguise(f);

		double ns_per_byte = faults_.routes.empty() ?
					     faults_.ns_per_byte :
					     faults_.routes[at].ns_per_byte;
		u64 start = std::max(now, l.free);
		u64 end = start + 1 + static_cast<u64>(f->len * ns_per_byte);

		l.free = end;
		l.leaving.push({ end, at, from, to, f });
	}
}

u64 wire::next() const
{
	u64 when = arriving_.empty() ? 0 : arriving_.top()->when;

	for (const auto &lanes : lanes_)
		for (const lane &l : lanes)
			if (!l.leaving.empty() &&
			    (!when || l.leaving.front().when < when))
				when = l.leaving.front().when;
	return when;
}

void wire::note(const char *what, const departure &d)
{
	ornic_pkt pkt;
	ornic_rx rx;

	for (u32 i = 0; i < d.frame->len; i++)
		hash_ = (hash_ ^ d.frame->data[i]) * 0x100000001b3ull;
	hash_ = (hash_ ^ d.when) * 0x100000001b3ull;
	if (!trace_)
		return;
	if (!ornic_th_decode(d.frame, &rx, &pkt)) {
		std::printf("%10llu th %u: not a packet\n",
			    (unsigned long long)d.when, d.from->index);
		return;
	}
	std::printf(
		"%10llu th %u to QP %06x: %-22s psn %06x%s syn %02x msn %u len %u dma %u %s\n",
		(unsigned long long)d.when, d.from->index, pkt.qpn,
		pkt.op->name, pkt.psn, pkt.ack_req ? " A" : "  ", pkt.syndrome,
		pkt.msn, pkt.payload_len, pkt.dma_len, what);
}

// The same request or response may be harmed only so many times: retry counters
// are finite, and a test that asks for completion must not let them run out by
// bad luck.
bool wire::is_harmed_enough(const ornic_th_frame *f)
{
	ornic_pkt pkt;
	ornic_rx rx;

	if (!ornic_th_decode(f, &rx, &pkt))
		return false;

	bool response = pkt.op->flags & ORNIC_OPF_RESPONSE;
	u64 id = static_cast<u64>(pkt.qpn) << 25 |
		 static_cast<u64>(response) << 24 | pkt.psn;

	return ++harmed_[id] > faults_.max_harm;
}

// Clears the bit by which two ornics know each other; the ICRC does not cover it.
void wire::disguise(ornic_th_frame *f)
{
	constexpr u32 reserved = 4; // byte of the BTH
	ornic_pkt pkt;
	ornic_rx rx;

	if (ornic_th_decode(f, &rx, &pkt))
		static_cast<u8 *>(
			const_cast<void *>(rx.seg[0].ptr))[reserved] &= ~1;
}

bool wire::is_refused(const departure &d)
{
	ornic_pkt pkt;
	ornic_rx rx;

	if (!faults_.ascending || !ornic_th_decode(d.frame, &rx, &pkt) ||
	    !(pkt.op->flags & ORNIC_OPF_REQUEST) ||
	    !(pkt.op->flags & ORNIC_OPF_READ))
		return false;
	for (asked &a : asked_) {
		if (a.to != d.to || a.qpn != pkt.qpn ||
		    ((pkt.psn - a.psn) & ORNIC_PSN_MASK) >= a.npkts)
			continue;
		if (pkt.va < a.va)
			return true;
		a.va = pkt.va;
		return false;
	}
	asked_.push_back(
		{ d.to, pkt.qpn, pkt.psn,
		  (pkt.dma_len + faults_.ascending - 1) / faults_.ascending,
		  pkt.va });
	if (asked_.size() > 16)
		asked_.erase(asked_.begin());
	return false;
}

void wire::send_copy(const departure &d, u64 when, bool damaged)
{
	auto a = std::make_unique<arrival>();

	a->when = when;
	a->seq = seq_++;
	a->to = d.to;
	a->len = d.frame->len;
	a->data = copy_of(d.frame->data, d.frame->len);
	if (damaged) {
		for (u64 n = rng_.in(1, 4); n; n--)
			a->data[rng_.in(0, a->len - 1)] ^= 1 << rng_.in(0, 7);
		if (rng_.chance(0.2))
			a->len = static_cast<u32>(rng_.in(1, a->len));
		a->data = copy_of(a->data.get(), a->len);
	}
	arriving_.push(std::move(a));
}

// As a switch with as many paths would choose, if no two ports met on one.
size_t wire::lane_of(int side, const ornic_th_frame *f)
{
	ornic_pkt pkt;
	ornic_rx rx;

	if (faults_.routes.empty() || !ornic_th_decode(f, &rx, &pkt) ||
	    ornic_ip_is_grh(rx.ip, rx.ipv6))
		return 0;

	const u8 *udp = static_cast<const u8 *>(rx.ip) + (rx.ipv6 ? 40 : 20);
	u32 port = u32{ udp[0] } << 8 | udp[1];
	auto found = ports_[side].emplace(port, ports_[side].size());

	return found.first->second % faults_.routes.size();
}

u64 wire::delay_of(const departure &d) const
{
	return faults_.routes.empty() ? faults_.delay :
					faults_.routes[d.lane].delay;
}

bool wire::is_dead(const departure &d) const
{
	return !faults_.routes.empty() && faults_.routes[d.lane].dies &&
	       d.when >= faults_.routes[d.lane].dies;
}

void wire::depart(const departure &d, const departure *next)
{
	u64 when = d.when + delay_of(d) + rng_.in(0, faults_.jitter);
	bool lose = rng_.chance(faults_.loss);
	bool damage = rng_.chance(faults_.damage);
	bool late = rng_.chance(faults_.reorder);
	const char *what = "";

	if ((lose || damage) && is_harmed_enough(d.frame))
		lose = damage = false;
	lose |= cut_ || is_dead(d) || is_refused(d);
	if (late)
		when += rng_.in(0, faults_.reorder_delay);
	if (faults_.overtake > 0 && rng_.chance(faults_.overtake))
		when = d.when;
	if (next && faults_.swap > 0 && rng_.chance(faults_.swap)) {
		when = next->when + delay_of(d) + 1;
		swapped_++;
	}
	if (lose || damage || late)
		troubles_++;
	if (lose) {
		lost_++;
		what = "LOST";
	} else {
		what = damage ? "DAMAGED" : late ? "LATE" : "";
		send_copy(d, when, damage);
	}
	if (rng_.chance(faults_.duplicate) && !cut_) {
		what = lose ? "LOST (its copy not)" : "TWICE";
		troubles_++;
		send_copy(d, when + rng_.in(0, faults_.reorder_delay), false);
	}
	note(what, d);
	ornic_th_put(d.from, d.frame);
}

bool wire::work(u64 now)
{
	bool any = false;

	for (auto &lanes : lanes_) {
		for (lane &l : lanes) {
			auto &q = l.leaving;

			while (!q.empty() && q.front().when <= now) {
				departure d = q.front();

				q.pop();
				depart(d, q.empty() ? nullptr : &q.front());
				any = true;
			}
		}
	}
	while (!arriving_.empty() && arriving_.top()->when <= now) {
		// priority_queue hands out const references only.
		auto a = std::move(const_cast<std::unique_ptr<arrival> &>(
			arriving_.top()));

		arriving_.pop();
		ornic_th_rx(a->to, a->data.get(), a->len);
		any = true;
	}
	return any;
}

void wire::drop_all()
{
	for (auto &lanes : lanes_) {
		for (lane &l : lanes)
			for (; !l.leaving.empty(); l.leaving.pop())
				ornic_th_put(l.leaving.front().from,
					     l.leaving.front().frame);
	}
	while (!arriving_.empty())
		arriving_.pop();
}

} // namespace sim
