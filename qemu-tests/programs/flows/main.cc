// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_flows [OPTION=VALUE...] SENDER...: RC connections that always have WRITEs in
 * flight, from each SENDER to one receiver. A device is DEVICE:GID-INDEX, in any network
 * namespace. SENDER@FROM-UNTIL sends between two times in seconds, others from "from" on.
 *
 *   to=RECEIVER
 *   qps=N         connections of each sender (1)
 *   window=N      WRITEs in flight of each (16), of 4 KiB with path MTU 1024
 *   from=S        when the senders begin (0)
 *   seconds=S     when all of it ends (5)
 *   ping=FROM,TO  a SEND of 64 bytes each 2 ms
 *   port=NETDEV   whose qdiscs tc reads
 *   tc=S:COMMAND  that tc executes at this time
 *
 * Prints what qemu-tests/bench/flow_figures.py reads, with the time in front: what each
 * flow has delivered, each 10 ms; CPU times; the round trip of each SEND. What tc reads at
 * the same time as the former goes to stderr. Each WRITE is compared when it completes. A
 * WRITE that fails and wrong data are errors.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "../verify/verbs.h"

namespace
{

using clock_type = std::chrono::steady_clock;

constexpr auto tick = std::chrono::milliseconds(1);
constexpr double sample_interval = 0.01, cpu_interval = 0.5; /* s */
constexpr auto ping_interval = std::chrono::milliseconds(2);
constexpr size_t write_bytes = 4096, ping_bytes = 64;
constexpr uint8_t ack_timeout = 14; /* 67 ms, the default of perftest */

class timer {
public:
	[[nodiscard]] double seconds() const
	{
		const std::chrono::duration<double> passed =
			clock_type::now() - begin_;

		return passed.count();
	}

private:
	clock_type::time_point begin_ = clock_type::now();
};

struct period {
	double from, until;

	[[nodiscard]] bool has(double s) const
	{
		return s >= from && s < until;
	}
};

/* What WRITE @n carries is in part n % (window + 1) of the client's buffer, and goes to
 * part n % window of the server's: each time a part gets other data than before.
 */
class flow {
public:
	flow(port &from, port &to, uint32_t window, uint32_t seed, period when)
		: window_(window)
		, when_(when)
		, pair_(from, to, options_of(window))
	{
		fill(pair_.client.buffer.bytes(), seed);
	}

	/* Takes completions and posts as many WRITEs. */
	void work(double now)
	{
		while (take_completions())
			;
		while (when_.has(now) && posted_ - done_ < window_)
			post();
	}
	[[nodiscard]] bool is_idle() const
	{
		return done_ == posted_;
	}
	[[nodiscard]] uint64_t bytes() const
	{
		return done_ * write_bytes;
	}
	[[nodiscard]] const period &when() const
	{
		return when_;
	}

private:
	static options options_of(uint32_t window)
	{
		options o;

		o.timeout = ack_timeout;
		o.depth = window;
		o.buffer = (window + 1) * write_bytes;
		return o;
	}
	[[nodiscard]] size_t source(uint64_t n) const
	{
		return n % (window_ + 1) * write_bytes;
	}
	[[nodiscard]] size_t target(uint64_t n) const
	{
		return n % window_ * write_bytes;
	}
	void post()
	{
		endpoint &client = pair_.client;

		client.post(rdma(IBV_WR_RDMA_WRITE, posted_, pair_.server,
				 target(posted_)),
			    { client.sge(source(posted_), write_bytes) });
		posted_++;
	}
	int take_completions()
	{
		ibv_wc wc[16];
		const int got = ibv_poll_cq(pair_.client.send_cq.get(), 16, wc);

		check(got >= 0, "ibv_poll_cq");
		for (int i = 0; i < got; i++, done_++) {
			check_wc(wc[i], IBV_WC_SUCCESS, "WRITE");
			check_equal(wc[i].wr_id, done_, "wr_id of a WRITE");
			check(std::ranges::equal(pair_.client.at(source(done_),
								 write_bytes),
						 pair_.server.at(target(done_),
								 write_bytes)),
			      "wrong data of WRITE " + std::to_string(done_));
		}
		return got;
	}

	uint32_t window_;
	period when_;
	pair pair_;
	uint64_t posted_ = 0, done_ = 0;
};

/* SENDs in a thread, since their time is to be measured more finely than by ticks. */
class pinger {
public:
	pinger(port &from, port &to, const timer &time)
		: pair_(from, to, options_of())
		, thread_([&](const std::stop_token &stop) { run(stop, time); })
	{
	}
	/* Ends it, and fails as it did. */
	void finish()
	{
		thread_.request_stop();
		thread_.join();
		check(failure_.empty(), "SEND: " + failure_);
	}

private:
	static options options_of()
	{
		options o;

		o.timeout = ack_timeout;
		o.buffer = ping_bytes;
		return o;
	}
	void run(const std::stop_token &stop, const timer &time)
	{
		try {
			for (uint64_t n = 0; !stop.stop_requested(); n++) {
				ping(n, time);
				std::this_thread::sleep_for(ping_interval);
			}
		} catch (const std::exception &e) {
			failure_ = e.what();
		}
	}
	void ping(uint64_t n, const timer &time)
	{
		endpoint &client = pair_.client;

		pair_.server.post_recv(n, 0, ping_bytes);

		const double begin = time.seconds();

		client.post(request(IBV_WR_SEND, n),
			    { client.sge(0, ping_bytes) });
		check_equal(client.sent(n).wr_id, n, "SEND");
		std::printf("%.6f ping %.1f\n", begin,
			    (time.seconds() - begin) * 1e6);
		check_equal(pair_.server.received(n).byte_len, ping_bytes,
			    "bytes received");
	}

	pair pair_;
	std::string failure_;
	std::jthread thread_;
};

/* One tc for all commands: to start one takes longer than a queue lasts. */
class tc_process {
public:
	tc_process()
		: pipe_(popen("exec tc -j -s -b - >&2", "w"))
	{
		check(pipe_, "tc");
	}
	~tc_process()
	{
		if (pipe_)
			pclose(pipe_);
	}
	tc_process(const tc_process &) = delete;
	tc_process &operator=(const tc_process &) = delete;

	void execute(const std::string &command)
	{
		check(std::fprintf(pipe_, "%s\n", command.c_str()) > 0 &&
			      !std::fflush(pipe_),
		      "tc does not take commands");
	}
	void finish()
	{
		check(!pclose(std::exchange(pipe_, nullptr)), "tc failed");
	}

private:
	FILE *pipe_;
};

class experiment {
public:
	explicit experiment(const std::vector<std::string> &words);

	void run();

private:
	[[nodiscard]] std::string text(const std::string &name,
				       const std::string &otherwise = "") const
	{
		const auto found = values_.find(name);

		return found == values_.end() ? otherwise : found->second;
	}
	[[nodiscard]] double number(const std::string &name,
				    double otherwise) const
	{
		return std::stod(text(name, std::to_string(otherwise)));
	}
	port &open(const std::string &name);
	void add_sender(const std::string &word);
	void add_pinger();
	void set_up();
	void work();
	void sample();
	void sample_cpu() const;
	void finish();

	std::map<std::string, std::string> values_;
	std::multimap<double, std::string> tc_commands_;
	std::vector<std::string> senders_;

	std::map<std::string, std::unique_ptr<port>> devices_;
	std::vector<std::unique_ptr<flow>> flows_;
	std::optional<timer> time_;
	std::optional<tc_process> tc_;
	std::optional<pinger> pinger_;
};

experiment::experiment(const std::vector<std::string> &words)
{
	for (const std::string &word : words) {
		const size_t equals = word.find('=');
		const std::string name = word.substr(0, equals);

		if (equals == std::string::npos) {
			senders_.push_back(word);
		} else if (name == "tc") {
			size_t digits;
			const std::string value = word.substr(equals + 1);
			const double at = std::stod(value, &digits);

			tc_commands_.emplace(at, value.substr(digits + 1));
		} else {
			values_[name] = word.substr(equals + 1);
		}
	}
}

port &experiment::open(const std::string &name)
{
	std::unique_ptr<port> &device = devices_[name];
	const size_t colon = name.find(':');

	check(colon != std::string::npos, "not DEVICE:GID-INDEX: " + name);
	if (!device)
		device = std::make_unique<port>(
			name.substr(0, colon),
			std::stoi(name.substr(colon + 1)), "ornic");
	return *device;
}

void experiment::add_sender(const std::string &word)
{
	const size_t at = word.find('@');
	period when = { number("from", 0), number("seconds", 5) };

	if (at != std::string::npos)
		check(std::sscanf(word.c_str() + at, "@%lf-%lf", &when.from,
				  &when.until) == 2,
		      "not SENDER@FROM-UNTIL: " + word);
	for (auto n = static_cast<int>(number("qps", 1)); n > 0; n--) {
		std::printf("0 flow %.3f %.3f\n", when.from, when.until);
		flows_.push_back(std::make_unique<flow>(
			open(word.substr(0, at)), open(text("to")),
			static_cast<uint32_t>(number("window", 16)),
			static_cast<uint32_t>(flows_.size()), when));
	}
}

void experiment::add_pinger()
{
	const std::string ends = text("ping");
	const size_t comma = ends.find(',');

	if (ends.empty())
		return;
	check(comma != std::string::npos, "not FROM,TO: " + ends);
	pinger_.emplace(open(ends.substr(0, comma)),
			open(ends.substr(comma + 1)), *time_);
}

void experiment::set_up()
{
	for (const std::string &sender : senders_)
		add_sender(sender);
	if (!text("port").empty() || !tc_commands_.empty())
		tc_.emplace();
	time_.emplace();
	add_pinger();
}

void experiment::work()
{
	const double now = time_->seconds();

	for (const auto &f : flows_)
		f->work(now);
	while (!tc_commands_.empty() && tc_commands_.begin()->first <= now) {
		std::printf("%.6f tc\n", time_->seconds());
		tc_->execute(tc_commands_.begin()->second);
		tc_commands_.erase(tc_commands_.begin());
	}
}

void experiment::sample()
{
	std::string line;

	for (const auto &f : flows_)
		line += ' ' + std::to_string(f->bytes());
	std::printf("%.6f bytes%s\n", time_->seconds(), line.c_str());
	if (!text("port").empty())
		tc_->execute("qdisc show dev " + text("port"));
}

void experiment::sample_cpu() const
{
	std::ifstream file("/proc/stat");
	std::string line;

	check(static_cast<bool>(std::getline(file, line)), "/proc/stat");
	std::printf("%.6f %s\n", time_->seconds(), line.c_str());
}

void experiment::finish()
{
	const double deadline = time_->seconds() + timeout_ms() / 1e3;

	while (!std::ranges::all_of(flows_, [](const auto &f) {
		return f->is_idle();
	})) {
		check(time_->seconds() < deadline, "WRITEs do not complete");
		work();
		std::this_thread::sleep_for(tick);
	}
	if (pinger_)
		pinger_->finish();
	if (tc_)
		tc_->finish();
}

void experiment::run()
{
	double next_sample = 0, next_cpu = 0;

	set_up();
	for (double now = 0; now < number("seconds", 5);
	     now = time_->seconds()) {
		work();
		if (now >= next_sample) {
			sample();
			next_sample = now + sample_interval;
		}
		if (now >= next_cpu) {
			sample_cpu();
			next_cpu = now + cpu_interval;
		}
		std::this_thread::sleep_for(tick);
	}
	finish();
}

} // namespace

int main(int argc, char **argv)
{
	try {
		experiment({ argv + 1, argv + argc }).run();
	} catch (const std::exception &e) {
		std::printf("ornic_flows: %s\n", e.what());
		return 1;
	}
	return 0;
}
