// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What grows with the number and the size of verbs objects, on any device:
 *
 *   objects DEVICE GID-INDEX idle N
 *       opens N QPs, each connected to itself (of iWARP, which rdma_cm alone
 *       connects: not connected), says so, keeps them until its input ends
 *   objects DEVICE GID-INDEX memory N
 *       bytes that the system lacks for each of N QPs, of N CQs, of N MRs
 *   objects DEVICE GID-INDEX mr
 *       MRs registered and deregistered a second, by size
 *   objects DEVICE GID-INDEX odp CLIENT-DEVICE CLIENT-GID-INDEX
 *       the same of MRs on demand; latency of READs from the client of 4 KiB
 *       whose page is in memory, once the device has it and once it has not; and
 *       ACK timeouts meanwhile, also while both sides lack the page
 *   objects DEVICE GID-INDEX send CLIENT-DEVICE CLIENT-GID-INDEX N
 *       us from the post of a SEND of 4 KiB by the client to the event of its receive,
 *       one after the other, N times
 *
 * Prints lines "NAME VALUE". What fails is said, with its errno, and ends it.
 */
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace
{

constexpr uint32_t depth = 16; /* of each queue */
constexpr size_t page = 4096, most_bytes = 16 << 20;
constexpr size_t odp_pages = 512, odp_rounds = 4;

[[noreturn]] void fail(const std::string &what, int error)
{
	std::fprintf(stderr, "objects: %s: %s (%d)\n", what.c_str(),
		     std::strerror(error), error);
	std::exit(1);
}

/* For verbs that return an errno, and those that return an object or set it. */
void must(int error, const std::string &what)
{
	if (error)
		fail(what, error);
}

template <typename T> T *made(T *object, const std::string &what)
{
	if (!object)
		fail(what, errno);
	return object;
}

template <auto destroy> struct destroyer {
	void operator()(auto *object) const
	{
		must(destroy(object), "destroy");
	}
};

template <typename T, auto destroy>
using owned = std::unique_ptr<T, destroyer<destroy>>;

using context_ptr = owned<ibv_context, ibv_close_device>;
using pd_ptr = owned<ibv_pd, ibv_dealloc_pd>;
using mr_ptr = owned<ibv_mr, ibv_dereg_mr>;
using channel_ptr = owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using cq_ptr = owned<ibv_cq, ibv_destroy_cq>;
using qp_ptr = owned<ibv_qp, ibv_destroy_qp>;

context_ptr open_device(const std::string &name)
{
	int count = 0;
	ibv_device **list =
		made(ibv_get_device_list(&count), "list of devices");
	ibv_context *context = nullptr;

	for (int i = 0; i < count; i++) {
		if (name == ibv_get_device_name(list[i]))
			context =
				made(ibv_open_device(list[i]), "open " + name);
	}
	ibv_free_device_list(list);
	if (!context)
		fail(name, ENODEV);
	return context_ptr(context);
}

/* One port of one device, with one of its GIDs. */
struct port {
	port(const std::string &device, uint8_t gid_index)
		: name(device)
		, context(open_device(name))
		, pd(made(ibv_alloc_pd(context.get()), "alloc_pd"))
		, gid_index(gid_index)
	{
		must(ibv_query_port(context.get(), 1, &attr), "query_port");
		if (ibv_query_gid(context.get(), 1, gid_index, &gid))
			fail("query_gid", errno);
	}

	[[nodiscard]] bool is_iwarp() const
	{
		return context->device->transport_type == IBV_TRANSPORT_IWARP;
	}

	std::string name;
	context_ptr context;
	pd_ptr pd;
	uint8_t gid_index;
	ibv_gid gid = {};
	ibv_port_attr attr = {};
};

cq_ptr create_cq(const port &on, ibv_comp_channel *channel = nullptr)
{
	return cq_ptr(made(ibv_create_cq(on.context.get(), depth, nullptr,
					 channel, 0),
			   "create_cq"));
}

/* The message says how many there can be. */
qp_ptr create_qp(const port &on, ibv_cq *cq, size_t number)
{
	ibv_qp_init_attr init = {};

	init.send_cq = init.recv_cq = cq;
	init.cap = { depth, depth, 1, 1, 0 };
	init.qp_type = IBV_QPT_RC;
	return qp_ptr(made(ibv_create_qp(on.pd.get(), &init),
			   "create_qp, number " + std::to_string(number)));
}

mr_ptr register_mr(const port &on, void *bytes, size_t size)
{
	return mr_ptr(made(ibv_reg_mr(on.pd.get(), bytes, size,
				      IBV_ACCESS_LOCAL_WRITE |
					      IBV_ACCESS_REMOTE_WRITE),
			   "reg_mr of " + std::to_string(size)));
}

/* From RESET to RTS, with the QP @qpn of @peer. */
void connect(const port &on, ibv_qp *qp, const port &peer, uint32_t qpn)
{
	ibv_qp_attr init = {}, rtr = {}, rts = {};

	init.qp_state = IBV_QPS_INIT;
	init.port_num = 1;
	init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	must(ibv_modify_qp(qp, &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				   IBV_QP_ACCESS_FLAGS),
	     "modify_qp to INIT");
	rtr.qp_state = IBV_QPS_RTR;
	rtr.path_mtu = on.attr.active_mtu;
	rtr.dest_qp_num = qpn;
	rtr.max_dest_rd_atomic = 1;
	rtr.min_rnr_timer = 12;
	rtr.ah_attr.is_global = 1;
	rtr.ah_attr.port_num = 1;
	rtr.ah_attr.grh.dgid = peer.gid;
	rtr.ah_attr.grh.sgid_index = on.gid_index;
	rtr.ah_attr.grh.hop_limit = 1;
	must(ibv_modify_qp(qp, &rtr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER),
	     "modify_qp to RTR");
	rts.qp_state = IBV_QPS_RTS;
	rts.timeout = 14;
	rts.retry_cnt = 7;
	rts.rnr_retry = 7;
	rts.max_rd_atomic = 1;
	must(ibv_modify_qp(qp, &rts,
			   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				   IBV_QP_MAX_QP_RD_ATOMIC),
	     "modify_qp to RTS");
}

void keep_idle(const port &on, size_t count)
{
	const cq_ptr cq = create_cq(on);
	std::vector<qp_ptr> qps;

	while (qps.size() < count) {
		qps.push_back(create_qp(on, cq.get(), qps.size()));
		if (!on.is_iwarp())
			connect(on, qps.back().get(), on, qps.back()->qp_num);
	}
	std::printf("idle %zu\n", count);
	std::fflush(stdout);
	while (std::getchar() != EOF) {
	}
}

/* Of all zones, with those pages that each CPU has for itself, once each CPU has
 * told what it knows.
 */
long free_pages()
{
	std::ofstream("/proc/sys/vm/stat_refresh") << "1\n";
	std::ifstream file("/proc/zoneinfo");
	std::string last, word;
	long free = 0;

	while (file >> word) {
		long pages = 0;

		if (((last == "pages" && word == "free") || word == "count:") &&
		    file >> pages)
			free += pages;
		last = word;
	}
	if (!free)
		fail("free pages in /proc/zoneinfo", ENODATA);
	return free;
}

/* Once it rests: the kernel frees much in the background, after a grace
 * period, as what the program before this one had.
 */
double free_bytes()
{
	constexpr long still = 16;
	constexpr useconds_t pause_us = 30000;
	long before = free_pages();

	for (int tries = 0; tries < 30; tries++) {
		usleep(pause_us);
		const long now = free_pages();

		if (std::labs(now - before) < still)
			return static_cast<double>(now) * page;
		before = now;
	}
	fail("free memory does not rest", EAGAIN);
}

/* What each of count objects takes; as many as that before it fill caches. */
template <typename T>
void measure_memory(const char *name, size_t count,
		    const std::function<T(size_t number)> &create)
{
	std::vector<T> objects;

	objects.reserve(2 * count);
	while (objects.size() < count)
		objects.push_back(create(objects.size()));
	const double before = free_bytes();
	while (objects.size() < 2 * count)
		objects.push_back(create(objects.size()));
	const double each =
		(before - free_bytes()) / static_cast<double>(count);

	std::printf("%s %.0f\n", name, each);
}

void measure_memory(const port &on, size_t count)
{
	const cq_ptr cq = create_cq(on);
	alignas(page) static char bytes[page];

	measure_memory<qp_ptr>("memory-qp", count, [&](size_t number) {
		return create_qp(on, cq.get(), number);
	});
	measure_memory<cq_ptr>("memory-cq", count,
			       [&](size_t) { return create_cq(on); });
	measure_memory<mr_ptr>("memory-mr", count, [&](size_t) {
		return register_mr(on, bytes, sizeof(bytes));
	});
}

/* Both rates of what @create registers, each of the time that its own calls took. */
void measure_calls(const char *prefix, const char *name,
		   const std::function<mr_ptr()> &create)
{
	using clock = std::chrono::steady_clock;
	using seconds = std::chrono::duration<double>;
	constexpr seconds enough(0.05);
	constexpr int least = 5;
	seconds reg(0), dereg(0);
	int rounds = 0;

	while (rounds < least || reg + dereg < enough) {
		const auto begin = clock::now();
		mr_ptr mr = create();
		const auto middle = clock::now();

		mr.reset();
		reg += middle - begin;
		dereg += clock::now() - middle;
		rounds++;
	}
	std::printf("%s-reg-%s %.1f\n", prefix, name, rounds / reg.count());
	std::printf("%s-dereg-%s %.1f\n", prefix, name, rounds / dereg.count());
}

void measure_mr(const port &on, const char *name, void *bytes, size_t size)
{
	measure_calls("mr", name, [&] { return register_mr(on, bytes, size); });
}

void measure_mr(const port &on)
{
	void *bytes = mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (bytes == MAP_FAILED)
		fail("mmap", errno);
	measure_mr(on, "4k", bytes, page);
	measure_mr(on, "64k", bytes, 64 << 10);
	measure_mr(on, "1m", bytes, 1 << 20);
	measure_mr(on, "16m", bytes, most_bytes);
	munmap(bytes, most_bytes);
}

mr_ptr register_on_demand(const port &on, void *bytes, size_t size)
{
	return mr_ptr(made(ibv_reg_mr(on.pd.get(), bytes, size,
				      IBV_ACCESS_LOCAL_WRITE |
					      IBV_ACCESS_REMOTE_READ |
					      IBV_ACCESS_ON_DEMAND),
			   "reg_mr on demand of " + std::to_string(size)));
}

/* Pages that stay in memory when the process has them mapped no more. */
class file_in_memory {
public:
	file_in_memory()
		: fd_(memfd_create("odp", MFD_CLOEXEC))
	{
		if (fd_ < 0 || ftruncate(fd_, size))
			fail("memfd_create", errno);
		bytes_ = mmap(nullptr, size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_POPULATE, fd_, 0);
		if (bytes_ == MAP_FAILED)
			fail("mmap", errno);
	}
	~file_in_memory()
	{
		munmap(bytes_, size);
		close(fd_);
	}
	file_in_memory(const file_in_memory &) = delete;
	file_in_memory &operator=(const file_in_memory &) = delete;

	static constexpr size_t size = odp_pages * page;

	[[nodiscard]] void *bytes() const
	{
		return bytes_;
	}
	[[nodiscard]] uint64_t address(size_t number) const
	{
		return reinterpret_cast<uint64_t>(bytes_) + number * page;
	}
	void unmap_pages() const
	{
		if (madvise(bytes_, size, MADV_DONTNEED))
			fail("madvise", errno);
	}

private:
	int fd_;
	void *bytes_;
};

uint64_t counter(const port &on, const char *name)
{
	std::ifstream file("/sys/class/infiniband/" + on.name +
			   "/ports/1/hw_counters/" + name);
	uint64_t value;

	if (!(file >> value))
		fail(std::string("counter ") + name, ENODATA);
	return value;
}

/* Of both ends; values may be 10 ms old. */
uint64_t counters(const port &on, const port &peer, const char *name)
{
	usleep(20000);
	return counter(on, name) +
	       (on.name == peer.name ? 0 : counter(peer, name));
}

double us_since(std::chrono::steady_clock::time_point begin)
{
	return std::chrono::duration<double, std::micro>(
		       std::chrono::steady_clock::now() - begin)
		.count();
}

/* What ibv_poll_cq() has returned, which is not 0. */
void must_succeed(int got, const ibv_wc &wc)
{
	must(got < 0 ? EIO : 0, "poll_cq");
	must(wc.status, ibv_wc_status_str(wc.status));
}

/* READs by a QP of one port from memory of another. */
class reader {
public:
	reader(const port &server, const port &client)
		: server_mr_(register_on_demand(server, source.bytes(),
						file_in_memory::size))
		, client_mr_(register_on_demand(client, sink.bytes(),
						file_in_memory::size))
		, server_cq_(create_cq(server))
		, client_cq_(create_cq(client))
		, server_qp_(create_qp(server, server_cq_.get(), 0))
		, client_qp_(create_qp(client, client_cq_.get(), 0))
	{
		connect(server, server_qp_.get(), client, client_qp_->qp_num);
		connect(client, client_qp_.get(), server, server_qp_->qp_num);
	}

	file_in_memory source, sink;

	void post(size_t number)
	{
		ibv_sge sge = { sink.address(number), page, client_mr_->lkey };
		ibv_send_wr wr = {}, *bad;

		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_RDMA_READ;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr.rdma.remote_addr = source.address(number);
		wr.wr.rdma.rkey = server_mr_->rkey;
		must(ibv_post_send(client_qp_.get(), &wr, &bad), "post_send");
	}
	void wait()
	{
		ibv_wc wc;
		int got;

		while (!(got = ibv_poll_cq(client_cq_.get(), 1, &wc))) {
		}
		must_succeed(got, wc);
	}

private:
	mr_ptr server_mr_, client_mr_;
	cq_ptr server_cq_, client_cq_;
	qp_ptr server_qp_, client_qp_;
};

void read_all(reader &reads)
{
	for (size_t i = 0; i < odp_pages; i++) {
		reads.post(i);
		reads.wait();
	}
}

/* us that each READ takes; @prepare is called before each round of all pages. */
void measure_reads(reader &reads, const char *name,
		   const std::function<void()> &prepare)
{
	using clock = std::chrono::steady_clock;
	std::vector<double> all;

	for (size_t round = 0; round < odp_rounds; round++) {
		prepare();
		for (size_t i = 0; i < odp_pages; i++) {
			const auto begin = clock::now();

			reads.post(i);
			reads.wait();
			all.push_back(us_since(begin));
		}
	}
	std::sort(all.begin(), all.end());
	std::printf("odp-%s-p50 %.2f\n", name, all[all.size() / 2]);
	std::printf("odp-%s-p99 %.2f\n", name, all[all.size() * 99 / 100]);
}

/* Full queues of READs, of which both sides lack all pages. */
void measure_both(reader &reads)
{
	using clock = std::chrono::steady_clock;
	std::chrono::duration<double> taken(0);

	for (size_t round = 0; round < odp_rounds; round++) {
		reads.source.unmap_pages();
		reads.sink.unmap_pages();
		const auto begin = clock::now();
		for (size_t i = 0; i < odp_pages + depth; i++) {
			if (i >= depth)
				reads.wait();
			if (i < odp_pages)
				reads.post(i);
		}
		taken += clock::now() - begin;
	}
	std::printf("odp-both-reads %.1f\n",
		    odp_rounds * odp_pages / taken.count());
}

void measure_odp(const port &server, const port &client)
{
	const char *const timeouts = "local_ack_timeout_err";
	const uint64_t late = counters(server, client, timeouts);
	const uint64_t faults = counters(server, client, "page_faults");
	constexpr uint64_t least = 2 * odp_rounds * odp_pages;
	reader reads(server, client);
	const auto on_demand = [&](void *bytes, size_t size) {
		return [&server, bytes, size] {
			return register_on_demand(server, bytes, size);
		};
	};

	measure_calls("odp", "pinned-4k", [&] {
		return register_mr(server, reads.sink.bytes(), page);
	});
	measure_calls("odp", "4k", on_demand(reads.sink.bytes(), page));
	measure_calls("odp", "implicit", on_demand(nullptr, SIZE_MAX));
	read_all(reads);
	measure_reads(reads, "present", [] {});
	measure_reads(reads, "absent", [&] { reads.source.unmap_pages(); });
	measure_both(reads);
	std::printf("odp-timeouts %ju\n",
		    uintmax_t(counters(server, client, timeouts) - late));
	if (counters(server, client, "page_faults") - faults < least)
		fail("page faults are missing", ENODATA);
}

/* A CQ whose completions are waited for, without polling. */
struct sleeper {
	explicit sleeper(const port &on)
		: channel(made(ibv_create_comp_channel(on.context.get()),
			       "create_comp_channel"))
		, cq(create_cq(on, channel.get()))
	{
	}

	void wait() const
	{
		ibv_wc wc;
		ibv_cq *woken;
		void *context;
		int got;

		must(ibv_req_notify_cq(cq.get(), 0), "req_notify_cq");
		while (!(got = ibv_poll_cq(cq.get(), 1, &wc))) {
			must(ibv_get_cq_event(channel.get(), &woken, &context) ?
				     errno :
				     0,
			     "get_cq_event");
			ibv_ack_cq_events(woken, 1);
			must(ibv_req_notify_cq(cq.get(), 0), "req_notify_cq");
		}
		must_succeed(got, wc);
	}

	channel_ptr channel;
	cq_ptr cq;
};

void measure_sends(const port &server, const port &client, size_t count)
{
	using clock = std::chrono::steady_clock;
	file_in_memory memory;
	const mr_ptr from = register_mr(client, memory.bytes(), page);
	const mr_ptr to = register_mr(server, memory.bytes(), 2 * page);
	const sleeper receives(server), sends(client);
	const qp_ptr server_qp = create_qp(server, receives.cq.get(), 0);
	const qp_ptr client_qp = create_qp(client, sends.cq.get(), 0);
	ibv_sge source = { memory.address(0), page, from->lkey };
	ibv_sge sink = { memory.address(1), page, to->lkey };
	ibv_send_wr send = {}, *bad_send;
	ibv_recv_wr recv = {}, *bad_recv;
	std::vector<double> all;

	connect(server, server_qp.get(), client, client_qp->qp_num);
	connect(client, client_qp.get(), server, server_qp->qp_num);
	send.sg_list = &source;
	recv.sg_list = &sink;
	send.num_sge = recv.num_sge = 1;
	send.opcode = IBV_WR_SEND;
	send.send_flags = IBV_SEND_SIGNALED;
	for (size_t i = 0; i < count; i++) {
		must(ibv_post_recv(server_qp.get(), &recv, &bad_recv),
		     "post_recv");
		const auto begin = clock::now();
		must(ibv_post_send(client_qp.get(), &send, &bad_send),
		     "post_send");
		receives.wait();
		all.push_back(us_since(begin));
		sends.wait();
	}
	std::sort(all.begin(), all.end());
	std::printf("typical_us %.2f\n", all[all.size() / 2]);
	std::printf("p999_us %.2f\n", all[all.size() * 999 / 1000]);
}

} /* namespace */

int main(int argc, char **argv)
{
	const std::string_view what = argc > 3 ? argv[3] : "";
	const size_t count =
		argc > 4 ? std::strtoul(argv[argc - 1], nullptr, 10) : 0;

	if (what != "mr" && !(what == "odp" && argc == 6) &&
	    !(what == "send" && argc == 7 && count) &&
	    !((what == "idle" || what == "memory") && count)) {
		std::fprintf(stderr, "usage: objects DEVICE GID-INDEX "
				     "idle N | memory N | mr | odp DEVICE "
				     "GID-INDEX | send DEVICE GID-INDEX N\n");
		return 2;
	}
	const port on(argv[1], static_cast<uint8_t>(std::atoi(argv[2])));

	if (what == "odp" || what == "send") {
		const port client(argv[4],
				  static_cast<uint8_t>(std::atoi(argv[5])));

		if (what == "odp")
			measure_odp(on, client);
		else
			measure_sends(on, client, count);
	} else if (what == "mr") {
		measure_mr(on);
	} else if (what == "memory") {
		measure_memory(on, count);
	} else {
		keep_idle(on, count);
	}
	return 0;
}
