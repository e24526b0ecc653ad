// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "port.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>

extern "C" {
#include "engine/impair.h"
}

namespace sim
{

namespace
{

constexpr u32 mtu = 1024;
constexpr u32 small_message = 64; // of the victim
constexpr u64 hop = 5 * us;
constexpr double host_ns = 0.8; // for a byte
constexpr u32 ip_at = 14, dst_at = ip_at + 19;
constexpr u32 reserved_at = ip_at + 20 + 8 + 4; // byte 4 of the BTH
constexpr u32 qpn_at = reserved_at + 1;
constexpr u64 late_from = 100000 * us, late_to = 200000 * us;

u64 wire_ns(size_t len, double ns_per_byte)
{
	// With preamble, FCS and gap.
	return static_cast<u64>(static_cast<double>(len + 24) * ns_per_byte);
}

using bytes = std::vector<u8>;

struct flow {
	u32 host = 0;
	bool small = false;
	u64 posted = 0; // when, of one that has one message at a time
	ornic_th_qp leaf = {}, hub = {};
	ornic_th_mr at_leaf = {}, at_hub = {};
	u32 outstanding = 0;
	u64 done = 0;
	u64 sent = 0; // bytes through the port, measured
};

class network {
public:
	explicit network(const incast &t, bool trace)
		: t_(t)
		, trace_(trace)
	{
	}
	~network();
	network(const network &) = delete;
	network &operator=(const network &) = delete;

	shares run();

private:
	struct event {
		u64 when;
		u64 seq;
		std::function<void()> what;
		bool operator<(const event &o) const
		{
			return when != o.when ? when > o.when : seq > o.seq;
		}
	};

	void at(u64 when, std::function<void()> what)
	{
		events_.push({ when, seq_++, std::move(what) });
	}
	void fail(const char *why)
	{
		if (out_.failure.empty())
			out_.failure = why;
	}
	double port_ns() const // for a byte
	{
		return 8000.0 / t_.mbit;
	}
	bool make();
	bool make_flow(u32 i);
	void post(flow &f, u32 i);
	bool poll(ornic_th_cq &cq);
	void touch(u32 host);
	void leave(u32 host, ornic_th_frame *f);
	void at_switch(bytes data);
	void into_queue(bytes data);
	void out_of_port();
	void arrive(u32 host, const bytes &data);
	void note_length();
	void note_packet(const bytes &data, u64 took);
	void note_victim(const flow &f);
	void measure();
	void check_data();
	u64 next_time() const;
	bool measuring() const
	{
		return now_ >= start_;
	}

	incast t_;
	bool trace_;
	std::vector<ornic_th *> hosts_; // the first is the hub
	std::vector<flow> flows_;
	std::map<u32, u32> flow_of_; // by QPN at the hub
	std::vector<u64> waits_; // of the victim, ns
	u64 late_at_ = ~0ull, late_bytes_ = 0;
	ornic_th_cq hub_cq_ = {};
	std::vector<ornic_th_cq> cqs_; // of the others
	std::vector<u64> link_free_;
	std::priority_queue<event> events_;
	std::deque<bytes> queue_;
	std::vector<u64> time_at_; // ns with so many in the queue
	u64 noted_ = 0, busy_ = 0, seq_ = 0, useful_ = 0;
	u64 now_ = 1000000, start_ = 0, end_ = 0;
	shares out_;
};

network::~network()
{
	events_ = {};
	for (ornic_th *th : hosts_) {
		while (ornic_th_frame *f = ornic_th_pull(th))
			ornic_th_put(th, f);
		ornic_th_destroy(th);
	}
}

bool network::make_flow(u32 i)
{
	flow &f = flows_[i];
	ornic_th *leaf = hosts_[i + 1], *hub = hosts_[0];
	ornic_th_qpinit init = {};
	bytes data(t_.message);

	f.host = i + 1;
	f.small = t_.victim && i + 1 == t_.flows;
	init.type = ORNIC_QPT_RC;
	while (1u << init.sq_log_depth <= t_.under_way)
		init.sq_log_depth++;
	ornic_th_cq *cq = &cqs_[f.host - 1];

	if (ornic_th_mr_init(leaf, &f.at_leaf, t_.message, 0, 1,
			     ORNIC_ACCESS_MR_MASK) ||
	    ornic_th_mr_init(hub, &f.at_hub, t_.message, 0, 1,
			     ORNIC_ACCESS_MR_MASK) ||
	    ornic_th_qp_init(leaf, &f.leaf, &init, cq, cq) ||
	    ornic_th_qp_init(hub, &f.hub, &init, &hub_cq_, &hub_cq_))
		return false;
	for (u32 k = 0; k < t_.message; k++)
		data[k] = static_cast<u8>((k + i) * 2654435761u >> 24);
	ornic_th_mr_write(&f.at_leaf, 0, data.data(), t_.message);
	f.leaf.conn.timeout = 14;
	f.hub.conn.timeout = 14;
	if (ornic_th_connect(&f.leaf, &f.hub, ORNIC_TH_IPV4))
		return false;
	flow_of_[f.hub.qpn] = i;
	return true;
}

bool network::make()
{
	for (u32 i = 0; i <= t_.flows; i++) {
		ornic_th *th = ornic_th_create(i + 1, static_cast<u8>(i + 1));

		if (!th)
			return false;
		if (!t_.marks_at && t_.by_rtt)
			ornic_engine_cc_set(th->eng, ORNIC_CC_RTT_ENABLE, 1);
		if (t_.rtt_target)
			ornic_engine_cc_set(th->eng, ORNIC_CC_RTT_TARGET,
					    t_.rtt_target);
		hosts_.push_back(th);
	}
	link_free_.resize(hosts_.size());
	flows_.resize(t_.flows);
	if (ornic_th_cq_init(hosts_[0], &hub_cq_, 13))
		return false;
	cqs_.resize(hosts_.size() - 1);
	for (size_t i = 0; i < cqs_.size(); i++)
		if (ornic_th_cq_init(hosts_[i + 1], &cqs_[i], 13))
			return false;
	for (u32 i = 0; i < t_.flows; i++)
		if (!make_flow(i))
			return false;
	return true;
}

void network::post(flow &f, u32 i)
{
	bool read = t_.opcode == ORNIC_WQE_READ;
	ornic_th_mr &local = read ? f.at_hub : f.at_leaf;
	ornic_th_mr &remote = read ? f.at_leaf : f.at_hub;
	ornic_th_qp &qp = read ? f.hub : f.leaf;

	u32 len = f.small ? small_message : t_.message;

	while (f.outstanding < (f.small ? 1 : t_.under_way)) {
		ornic_lsge sge = { local.iova, len, local.key };
		ornic_th_wr wr = {};

		wr.wr_id = i;
		wr.opcode = t_.opcode;
		wr.flags = ORNIC_WQE_SIGNALED;
		wr.raddr = remote.iova;
		wr.rkey = remote.key;
		wr.nsge = 1;
		wr.sge = &sge;
		if (ornic_th_post_send(&qp, &wr))
			fail("the SQ is full");
		f.posted = now_;
		ornic_th_kick(&qp);
		f.outstanding++;
	}
}

// True if messages were posted.
bool network::poll(ornic_th_cq &cq)
{
	bool any = false;
	ornic_cqe cqe;

	while (ornic_th_poll(&cq, &cqe)) {
		u32 i = static_cast<u32>(le64_to_cpu(cqe.wr_id));

		if (cqe.status) {
			fail("a request has failed");
			continue;
		}
		flows_[i].outstanding--;
		flows_[i].done++;
		if (measuring() && !flows_[i].small)
			useful_ += (t_.message + mtu - 1) / mtu;
		note_victim(flows_[i]);
		post(flows_[i], i);
		any = true;
	}
	return any;
}

// Something happened to @host: let it work, and take what it sends.
void network::touch(u32 host)
{
	ornic_th *th = hosts_[host];
	bool any;

	do {
		any = ornic_th_run(th);
		while (ornic_th_frame *f = ornic_th_pull(th)) {
			any = true;
			link_free_[host] = std::max(now_, link_free_[host]) +
					   wire_ns(f->len, host_ns);
			at(link_free_[host],
			   [this, host, f] { leave(host, f); });
		}
		any |= poll(host ? cqs_[host - 1] : hub_cq_);
	} while (any);
}

void network::leave(u32 host, ornic_th_frame *f)
{
	bytes data(f->data, f->data + f->len);

	ornic_th_put(hosts_[host], f);
	touch(host);
	if (t_.standard)
		data[reserved_at] &= 0xfe;
	at(now_ + hop, [this, data = std::move(data)]() mutable {
		at_switch(std::move(data));
	});
}

void network::at_switch(bytes data)
{
	u32 host = data[dst_at] - 1u;

	if (!host) {
		into_queue(std::move(data));
		return;
	}
	// It cuts through: the length took its time on the link of the sender.
	at(now_ + wire_ns(0, host_ns) + hop,
	   [this, host, data = std::move(data)] { arrive(host, data); });
}

void network::note_length()
{
	size_t n = queue_.size();

	if (time_at_.size() <= n)
		time_at_.resize(n + 1);
	if (measuring())
		time_at_[n] += now_ - std::max(noted_, start_);
	noted_ = now_;
}

void network::into_queue(bytes data)
{
	note_length();
	if (queue_.size() >= t_.limit) {
		out_.dropped += measuring();
		return;
	}
	if (t_.marks_at && queue_.size() >= t_.marks_at &&
	    data[ip_at + 1] & 3) {
		ornic_impair_mark_ce(&data[ip_at], false);
		out_.marked++;
	}
	queue_.push_back(std::move(data));
	out_.most = std::max(out_.most, static_cast<u32>(queue_.size()));
	if (queue_.size() == 1)
		at(now_ + wire_ns(queue_.front().size(), port_ns()),
		   [this] { out_of_port(); });
}

void network::note_packet(const bytes &data, u64 took)
{
	u32 qpn = static_cast<u32>(data[qpn_at] << 16 | data[qpn_at + 1] << 8 |
				   data[qpn_at + 2]);
	u32 i = flow_of_[qpn];

	if (i + 1 == flows_.size() && now_ >= late_at_ + late_from &&
	    now_ < late_at_ + late_to)
		late_bytes_ += data.size();
	if (!measuring())
		return;
	busy_ += took;
	out_.packets++;
	flows_[i].sent += data.size();
}

void network::note_victim(const flow &f)
{
	if (f.small && measuring())
		waits_.push_back(now_ - f.posted);
}

void network::out_of_port()
{
	bytes data = std::move(queue_.front());
	u64 took = wire_ns(data.size(), port_ns());

	note_length();
	queue_.pop_front();
	if (!queue_.empty())
		at(now_ + wire_ns(queue_.front().size(), port_ns()),
		   [this] { out_of_port(); });
	note_packet(data, took);
	at(now_ + hop, [this, data = std::move(data)] { arrive(0, data); });
}

void network::arrive(u32 host, const bytes &data)
{
	ornic_th_rx(hosts_[host], data.data(), static_cast<u32>(data.size()));
	touch(host);
}

u64 network::next_time() const
{
	u64 when = events_.empty() ? ~0ull : events_.top().when;

	for (ornic_th *th : hosts_)
		if (u64 t = ornic_th_deadline(th); t && t < when)
			when = t;
	return when;
}

// What was at the leaves has come to the hub, unless it has just begun.
void network::check_data()
{
	bytes a(t_.message), b(t_.message);

	for (flow &f : flows_) {
		ornic_th_mr_read(&f.at_leaf, 0, a.data(), t_.message);
		ornic_th_mr_read(&f.at_hub, 0, b.data(), t_.message);
		if (f.small)
			b.resize(small_message);
		a.resize(b.size());
		if (f.done && a != b)
			fail("wrong data");
		a.resize(t_.message);
		b.resize(t_.message);
	}
}

void network::measure()
{
	double sum = 0, squares = 0, n = 0;
	u64 total = 0, seen = 0;

	out_.use = static_cast<double>(busy_) / static_cast<double>(t_.ns);
	out_.useful = static_cast<double>(useful_) /
		      static_cast<double>(std::max<u64>(out_.packets, 1));
	for (const flow &f : flows_) {
		double x = static_cast<double>(f.sent);

		if (f.small)
			continue;
		sum += x;
		squares += x * x;
		n += 1;
	}
	out_.jain = n > 0 ? sum * sum / (squares * n) : 0;
	out_.late = static_cast<double>(late_bytes_) * port_ns() *
		    static_cast<double>(flows_.size()) /
		    static_cast<double>(late_to - late_from);
	std::sort(waits_.begin(), waits_.end());
	if (!waits_.empty()) {
		out_.victim_p50 = waits_[waits_.size() / 2];
		out_.victim_p99 = waits_[waits_.size() * 99 / 100];
	}
	for (u64 ns : time_at_)
		total += ns;
	for (u32 len = 0; len < time_at_.size(); len++) {
		seen += time_at_[len];
		if (seen * 2 <= total)
			out_.typical = len + 1;
		if (seen * 100 <= total * 99)
			out_.p99 = len + 1;
	}
	for (ornic_th *th : hosts_) {
		out_.cnps +=
			ornic_engine_stat(th->eng, ORNIC_STAT_RP_CNP_HANDLED);
		out_.resent +=
			ornic_engine_stat(th->eng, ORNIC_STAT_RETRIES) +
			ornic_engine_stat(th->eng, ORNIC_STAT_ROCE_ADP_RETRANS);
	}
}

shares network::run()
{
	if (!make()) {
		fail("no connections");
		return out_;
	}
	start_ = now_ + t_.warm_up;
	end_ = start_ + t_.ns;
	for (u32 i = 0; i < t_.flows; i++) {
		bool late = t_.late && i + 1 == t_.flows;
		u64 when = now_ + i * us;

		if (late)
			late_at_ = when = now_ + t_.warm_up / 2;
		at(when, [this, i] {
			post(flows_[i], i);
			touch(t_.opcode == ORNIC_WQE_READ ? 0 : flows_[i].host);
		});
	}
	for (u64 shown = 0; now_ < end_ && out_.failure.empty();) {
		now_ = std::max(now_, next_time());
		for (ornic_th *th : hosts_)
			th->now = now_;
		while (!events_.empty() && events_.top().when <= now_) {
			auto what = events_.top().what;

			events_.pop();
			what();
		}
		for (u32 i = 0; i < hosts_.size(); i++)
			if (ornic_th_expire(hosts_[i]))
				touch(i);
		if (trace_ && now_ - shown >= 2000 * us) {
			std::printf("# %6.1f ms: %zu in the queue\n",
				    static_cast<double>(now_) * 1e-6,
				    queue_.size());
			shown = now_;
		}
	}
	measure();
	check_data();
	return out_;
}

} // namespace

shares share_port(const incast &t, bool trace)
{
	return network(t, trace).run();
}

} // namespace sim
