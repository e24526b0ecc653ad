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
 *
 * Prints lines "NAME VALUE". What fails is said, with its errno, and ends it.
 */
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

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
	port(const std::string &name, uint8_t gid_index)
		: context(open_device(name))
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

	context_ptr context;
	pd_ptr pd;
	uint8_t gid_index;
	ibv_gid gid = {};
	ibv_port_attr attr = {};
};

cq_ptr create_cq(const port &on)
{
	return cq_ptr(made(ibv_create_cq(on.context.get(), depth, nullptr,
					 nullptr, 0),
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

/* From RESET to RTS, with itself as its peer. */
void connect_to_itself(const port &on, ibv_qp *qp)
{
	ibv_qp_attr init = {}, rtr = {}, rts = {};

	init.qp_state = IBV_QPS_INIT;
	init.port_num = 1;
	init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	must(ibv_modify_qp(qp, &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				   IBV_QP_ACCESS_FLAGS),
	     "modify_qp to INIT");
	rtr.qp_state = IBV_QPS_RTR;
	rtr.path_mtu = on.attr.active_mtu;
	rtr.dest_qp_num = qp->qp_num;
	rtr.max_dest_rd_atomic = 1;
	rtr.min_rnr_timer = 12;
	rtr.ah_attr.is_global = 1;
	rtr.ah_attr.port_num = 1;
	rtr.ah_attr.grh.dgid = on.gid;
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
			connect_to_itself(on, qps.back().get());
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

/* Both rates for one size, each of the time that its own calls took. */
void measure_mr(const port &on, const char *name, void *bytes, size_t size)
{
	using clock = std::chrono::steady_clock;
	using seconds = std::chrono::duration<double>;
	constexpr seconds enough(0.05);
	constexpr int least = 5;
	seconds reg(0), dereg(0);
	int rounds = 0;

	while (rounds < least || reg + dereg < enough) {
		const auto begin = clock::now();
		mr_ptr mr = register_mr(on, bytes, size);
		const auto middle = clock::now();

		mr.reset();
		reg += middle - begin;
		dereg += clock::now() - middle;
		rounds++;
	}
	std::printf("mr-reg-%s %.1f\n", name, rounds / reg.count());
	std::printf("mr-dereg-%s %.1f\n", name, rounds / dereg.count());
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

} /* namespace */

int main(int argc, char **argv)
{
	const std::string_view what = argc > 3 ? argv[3] : "";
	const size_t count = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0;

	if (what != "mr" && !((what == "idle" || what == "memory") && count)) {
		std::fprintf(stderr, "usage: objects DEVICE GID-INDEX "
				     "idle N | memory N | mr\n");
		return 2;
	}
	const port on(argv[1], static_cast<uint8_t>(std::atoi(argv[2])));

	if (what == "mr")
		measure_mr(on);
	else if (what == "memory")
		measure_memory(on, count);
	else
		keep_idle(on, count);
	return 0;
}
