// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A process that breaks whatever it can reach: its mapped rings and records while
 * they are in use, its doorbells, uverbs commands, the limits. Each attacker is a
 * child that is killed in the middle; one that breaks itself is replaced.
 */
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <list>
#include <optional>
#include <random>
#include <thread>

#include "../verify/dma_buffer.h"
#include "local.h"

namespace
{

using clock_type = std::chrono::steady_clock;
using generator = std::mt19937_64;

/* What a child tells its parent, in memory of both. */
class progress {
public:
	progress()
		: memory_(mmap(nullptr, sizeof(std::atomic<int>),
			       PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0))
	{
		check(memory_ != MAP_FAILED, "mmap");
		ready_ = new (memory_) std::atomic<int>(0);
	}
	~progress()
	{
		munmap(memory_, sizeof(*ready_));
	}
	progress(const progress &) = delete;
	progress &operator=(const progress &) = delete;

	/* All is set up: what fails from here on is the child's own misuse. */
	void ready()
	{
		++*ready_;
	}
	[[nodiscard]] int children() const
	{
		return *ready_;
	}

private:
	void *memory_;
	std::atomic<int> *ready_;
};

class misuse : public attack {
protected:
	/*
	 * Children that run @what with a seed of their own, for the time told. One
	 * that ends before it is ready fails the test.
	 */
	template <typename T> static void attack_by(T what)
	{
		const auto end =
			clock_type::now() + std::chrono::seconds(told.seconds);
		uint64_t seed = told.seed;
		progress all;

		do {
			const int before = all.children();
			const pid_t child = fork();

			check(child >= 0, "fork");
			if (!child) {
				run_child(what, all, seed);
				_exit(0);
			}
			reap(child, all, before);
			check(all.children() > before,
			      "a child ended before it attacked");
			seed += 0x9e3779b97f4a7c15;
		} while (clock_type::now() < end);
		std::printf("# %d children\n", all.children());
	}

private:
	template <typename T>
	static void run_child(T what, progress &all, uint64_t seed)
	{
		const int before = all.children();
		const rlimit no_core = {};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setrlimit(RLIMIT_CORE, &no_core);
		/* It ends in one way or another. */
		(void)!freopen("/dev/null", "w", stderr);
		try {
			port on = open();

			what(on, all, generator(seed));
		} catch (const failure &e) {
			/* A child that is ready has broken its own objects. */
			if (all.children() == before)
				dprintf(STDOUT_FILENO, "# %s\n", e.what());
		}
	}
	static void reap(pid_t child, const progress &all, int before)
	{
		using std::chrono::milliseconds;
		auto end = clock_type::now() + milliseconds(timeout_ms());
		bool is_ready = false;
		int status;

		do {
			if (waitpid(child, &status, WNOHANG) == child)
				return;
			/* Each gets a part, so that many are killed half way. */
			if (!is_ready && all.children() > before) {
				is_ready = true;
				end = clock_type::now() + milliseconds(500);
			}
			std::this_thread::sleep_for(milliseconds(10));
		} while (clock_type::now() < end);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
};

struct area {
	uintptr_t begin, end;
};

/* What this process has mapped of the device, and may write to. */
std::vector<area> device_mappings()
{
	std::ifstream maps("/proc/self/maps");
	std::vector<area> found;
	std::string line;

	while (std::getline(maps, line)) {
		uintptr_t begin, end;
		char rights[8];

		if (line.find("uverbs") != std::string::npos &&
		    std::sscanf(line.c_str(), "%zx-%zx %7s", &begin, &end,
				rights) == 3 &&
		    rights[1] == 'w')
			found.push_back({ begin, end });
	}
	return found;
}

std::vector<int> doorbells()
{
	std::vector<int> found;

	for (int fd = 3; fd < 64; fd++) {
		char path[32], name[64] = {};

		std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, name, sizeof(name) - 1) > 0 &&
		    std::strstr(name, "[ornic_doorbell]"))
			found.push_back(fd);
	}
	return found;
}

/* Values that fields of rings and records may trust. */
uint32_t odd_value(generator &random)
{
	const uint64_t r = random();

	switch (r % 6) {
	case 0:
		return static_cast<uint32_t>(r >> 8) % 64;
	case 1:
		return 1u << (r >> 8) % 32;
	case 2:
		return ~0u - static_cast<uint32_t>(r >> 8) % 64;
	case 3:
		return 0;
	default:
		return static_cast<uint32_t>(r >> 8);
	}
}

/* Some queues of each kind, with work of their own for the other ones to break. */
struct busy_queues {
	explicit busy_queues(port &on)
		: rc(on, on, of(IBV_QPT_RC))
		, uc(on, on, of(IBV_QPT_UC))
		, ud(on, on, of(IBV_QPT_UD))
	{
	}
	static options of(ibv_qp_type type)
	{
		options o;

		o.type = type;
		o.depth = 16;
		o.buffer = 1 << 16;
		o.inline_size = 64;
		return o;
	}
	void post(generator &random)
	{
		const ibv_wr_opcode opcodes[] = {
			IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
			IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM
		};
		pair &p = random() % 2 ? rc : uc;
		const size_t bytes = 1 + random() % 8192;

		drain(p.client);
		drain(p.server);
		post_recv(p.server, bytes);
		(void)p.client.try_post(rdma(opcodes[random() % 5], 1, p.server,
					     0),
					{ p.client.sge(0, bytes) });
	}
	static void drain(endpoint &e)
	{
		ibv_wc wc[4];

		(void)ibv_poll_cq(e.send_cq.get(), 4, wc);
		(void)ibv_poll_cq(e.recv_cq.get(), 4, wc);
	}
	static void post_recv(endpoint &e, size_t bytes)
	{
		ibv_sge sge = e.sge(0, bytes);
		ibv_recv_wr wr{}, *bad;

		wr.sg_list = &sge;
		wr.num_sge = 1;
		(void)ibv_post_recv(e.qp.get(), &wr, &bad);
	}

	pair rc, uc, ud;
};

void kick_all(const busy_queues &q, const std::vector<int> &files)
{
	const uint32_t qpns[] = { q.rc.client.qp->qp_num,
				  q.rc.server.qp->qp_num,
				  q.uc.client.qp->qp_num,
				  q.ud.client.qp->qp_num };

	for (int fd : files)
		(void)!write(fd, qpns, sizeof(qpns));
}

/* One thread posts, this one writes to all that is mapped, and kicks. */
void break_rings(port &on, progress &all, generator random)
{
	busy_queues q(on);
	const std::vector<area> areas = device_mappings();
	const std::vector<int> files = doorbells();

	check(!areas.empty(), "nothing is mapped");
	all.ready();
	std::thread poster([&q, seed = random()] {
		generator own(seed);

		for (;;)
			q.post(own);
	});
	for (;;) {
		for (int i = 0; i < 16; i++) {
			const area &a = areas[random() % areas.size()];
			/* Half of it to the head of a mapping, with the records. */
			const size_t bytes = random() % 2 ? a.end - a.begin :
							    256;
			auto *at = reinterpret_cast<volatile uint32_t *>(
				a.begin + random() % (bytes / 4) * 4);

			*at = odd_value(random);
		}
		kick_all(q, files);
	}
}

TEST_F(misuse, misuse_of_rings)
{
	attack_by(break_rings);
}

/* All kicks that a process can make, of QPs that have nothing to do. */
void ring_doorbells(port &on, progress &all, generator random)
{
	busy_queues q(on);
	const std::vector<int> files = doorbells();
	std::vector<uint32_t> qpns(1 << 16, q.rc.client.qp->qp_num);

	all.ready();
	for (;;) {
		q.post(random);
		for (int fd : files)
			(void)!write(fd, qpns.data(), 4 * qpns.size());
		if (random() % 8 == 0)
			qpns[random() % qpns.size()] =
				static_cast<uint32_t>(random());
	}
}

TEST_F(misuse, misuse_of_doorbells)
{
	attack_by(ring_doorbells);
}

/* write() commands: headers that promise other lengths than there are. */
void write_command(int fd, generator &random)
{
	std::vector<uint32_t> body(2 + random() % 64);
	const auto words = static_cast<uint32_t>(body.size());

	for (uint32_t &word : body)
		word = random() % 2 ? static_cast<uint32_t>(random() % 8) :
				      odd_value(random);
	body[0] = static_cast<uint32_t>(random() % 64);
	if (random() % 4 == 0)
		body[0] |= 0x80000000; /* extended */
	body[1] = random() % 4 ? words : odd_value(random);
	body[1] |= static_cast<uint32_t>(random() % 32) << 16;
	(void)!write(fd, body.data(),
		     4 * (random() % 4 ? words : random() % (words + 1)));
}

/* An ioctl with some attributes: data, handles, files, of any length. */
void any_ioctl(int fd, generator &random)
{
	constexpr size_t most = 12;
	alignas(8) std::byte room[sizeof(ib_uverbs_ioctl_hdr) +
				  most * sizeof(ib_uverbs_attr)] = {};
	auto &hdr = *reinterpret_cast<ib_uverbs_ioctl_hdr *>(room);
	static uint64_t data[64];
	const size_t attrs = random() % (most + 1);

	for (uint64_t &word : data)
		word = odd_value(random);
	hdr.object_id = static_cast<uint16_t>(random() % 20);
	hdr.method_id = static_cast<uint16_t>(random() % 10);
	if (random() % 4 == 0)
		hdr.object_id |= 1 << 12;
	if (random() % 4 == 0)
		hdr.method_id |= 1 << 12;
	/* When it fails, ib_core of Linux 6.12 keeps a reference to this process. */
	if (hdr.object_id == UVERBS_OBJECT_DEVICE &&
	    hdr.method_id == UVERBS_METHOD_GET_CONTEXT)
		hdr.method_id = UVERBS_METHOD_QUERY_PORT;
	hdr.num_attrs = static_cast<uint16_t>(attrs);
	hdr.length = static_cast<uint16_t>(sizeof(hdr) +
					   attrs * sizeof(ib_uverbs_attr));
	for (size_t i = 0; i < attrs; i++) {
		ib_uverbs_attr &a = hdr.attrs[i];

		a.attr_id = static_cast<uint16_t>(random() % 16);
		if (random() % 4 == 0)
			a.attr_id |= 1 << 12;
		a.len = static_cast<uint16_t>(random() % 3 ? random() % 130 :
							     0);
		a.flags = random() % 2;
		a.data = random() % 2 ? reinterpret_cast<uint64_t>(data) :
					random() % 32;
	}
	(void)ioctl(fd, RDMA_VERBS_IOCTL, &hdr);
}

void break_commands(port &on, progress &all, generator random)
{
	busy_queues q(on);
	const int fd = on.context->cmd_fd;
	/* Events and files that they make are not waited for. */
	const int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	all.ready();
	for (;;) {
		q.post(random);
		for (int i = 0; i < 32; i++) {
			if (random() % 2)
				write_command(fd, random);
			else
				any_ioctl(fd, random);
		}
		/* Files that methods have returned. */
		for (int i = 32; i < 64; i++)
			close(i);
	}
}

TEST_F(misuse, misuse_of_commands)
{
	attack_by(break_commands);
}

/* What one thread has of device memory. */
struct dm_user {
	dm_ptr dms[8];
	mr_ptr mrs[8]; /* go first */
	std::vector<area> kept;
};

uint64_t odd_size(generator &random)
{
	const uint64_t r = random();

	return r % 4 ? 1 + r % (1 << 21) : ~uint64_t{ 0 } << (r >> 8) % 64;
}

/* Mappings of any offset and size; parts of them go again. */
void misuse_mappings(int fd, dm_user &u, generator &random)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	const size_t bytes = (1 + random() % 64) * page;
	const int rights = static_cast<int>(random() % 8);
	void *at = mmap(nullptr, bytes, rights, MAP_SHARED, fd,
			static_cast<off_t>(random() % 64 * page));

	if (at != MAP_FAILED) {
		const auto begin = reinterpret_cast<uintptr_t>(at);

		u.kept.push_back({ begin, begin + bytes });
	}
	if (u.kept.size() > 16) {
		area &a = u.kept[random() % u.kept.size()];

		munmap(reinterpret_cast<void *>(a.begin), page);
		a.begin += page;
		if (a.begin == a.end)
			a = u.kept.back(), u.kept.pop_back();
	}
}

void misuse_once(const port &on, dm_user &u, generator &random)
{
	dm_ptr &dm = u.dms[random() % 8];
	mr_ptr &mr = u.mrs[random() % 8];
	uint64_t word = random();

	switch (random() % 8) {
	case 0:
		mr.reset();
		break;
	case 1:
	case 2:
		if (dm)
			mr.reset(ibv_reg_dm_mr(
				on.pd.get(), dm.get(), odd_value(random),
				odd_size(random),
				static_cast<unsigned int>(random() % 64)));
		break;
	case 3:
		if (dm)
			(void)ibv_memcpy_to_dm(dm.get(), odd_value(random),
					       &word, sizeof(word));
		break;
	case 4:
	case 5:
		misuse_mappings(on.context->cmd_fd, u, random);
		break;
	default:
		/* If an MR is in it, it stays, and the owner loses sight of it. */
		dm = try_alloc_dm(on, odd_size(random),
				  random() % 16 ? 0 : odd_value(random));
	}
}

/* Sizes, parts and mappings of device memory, by two threads of a context. */
void break_device_memory(port &on, progress &all, generator random)
{
	dm_user u, v;

	u.dms[0] = try_alloc_dm(on, 4096);
	check(u.dms[0] || errno == ENOMEM, "ibv_alloc_dm");
	all.ready();
	std::thread other([&on, &v, seed = random()] {
		generator own(seed);

		for (;;)
			misuse_once(on, v, own);
	});
	for (;;)
		misuse_once(on, u, random);
}

TEST_F(misuse, misuse_of_device_memory)
{
	const port on = open();

	if (!max_dm_size(on))
		GTEST_SKIP() << "no device memory";
	attack_by(break_device_memory);
	wait_for_dm(on);
}

/* What one thread has of dma-bufs. */
struct dmabuf_user {
	std::optional<dma_buffer> buffers[4];
	mr_ptr mrs[8];
};

/* Traffic of @p to @mr and from it, of which nobody waits for the end. */
void use_mr(pair &p, const ibv_mr &mr, uint64_t iova, generator &random)
{
	const ibv_wr_opcode opcode = random() & 1 ? IBV_WR_RDMA_WRITE :
						    IBV_WR_RDMA_READ;
	const size_t size = 1 + random() % (1 << 18);
	ibv_send_wr wr = rdma(opcode, 0, p.server, 0);
	ibv_wc wc;

	wr.wr.rdma.rkey = mr.rkey;
	wr.wr.rdma.remote_addr = iova;
	(void)p.client.try_post(wr, { p.client.sge(0, size) });
	(void)p.client.try_post(
		rdma(opcode, 1, p.server, 0),
		{ { iova, static_cast<uint32_t>(size), mr.lkey } });
	while (ibv_poll_cq(p.client.send_cq.get(), 1, &wc) > 0)
		;
}

/* What several processes have. */
constexpr size_t shared_size = 256 << 10;

/* @shared is a dma-buf of the parent's. */
void misuse_dmabuf_once(const port &on, dmabuf_user &u, pair &p,
			const dma_buffer &shared, generator &random)
{
	constexpr size_t most = shared_size;
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	auto &buffer = u.buffers[random() % 4];
	mr_ptr &mr = u.mrs[random() % 8];
	const uint64_t offset = random() % 8 ? random() % most :
					       odd_size(random);
	const uint64_t iova = offset + (random() % 1024 << 16);
	const uint64_t size = random() % 4 ? random() % most : odd_size(random);
	const int access = random() % 2 ? all_access :
					  static_cast<int>(random() % 64);

	const int other = buffer ? buffer->fd() :
				   static_cast<int>(odd_value(random));

	switch (random() % 8) {
	case 0:
		buffer.emplace(exporter::udmabuf,
			       (1 + random() % (most / page)) * page);
		break;
	case 1:
		mr.reset();
		break;
	case 2:
		buffer.reset();
		break;
	default:
		mr.reset(ibv_reg_dmabuf_mr(on.pd.get(), offset, size, iova,
					   random() % 4 ? shared.fd() : other,
					   access));
		if (mr)
			use_mr(p, *mr, iova, random);
	}
}

/* Parts, files and ends of dma-bufs, under traffic of the same process. */
void break_dmabufs(port &on, progress &all, const dma_buffer &shared,
		   generator random)
{
	dmabuf_user u;

	u.buffers[0].emplace(exporter::udmabuf, shared_size);
	all.ready();
	for (;;) {
		pair p(on, on);

		for (int i = 0; i < 64; i++)
			misuse_dmabuf_once(on, u, p, shared, random);
	}
}

TEST_F(misuse, misuse_of_dmabufs)
{
	const port on = open();
	const dma_buffer buffer(exporter::udmabuf, shared_size);

	if (!buffer)
		GTEST_SKIP() << "no dma-bufs for this process";
	const long users = buffer.users();
	{
		const mr_ptr mr(ibv_reg_dmabuf_mr(on.pd.get(), 0, shared_size,
						  0, buffer.fd(),
						  IBV_ACCESS_LOCAL_WRITE));
		check(mr != nullptr, "ibv_reg_dmabuf_mr");
		check_equal(buffer.users(), users + 1, "users with an MR");
	}
	attack_by([&](port &child, progress &all, generator random) {
		break_dmabufs(child, all, buffer, random);
	});
	/* What children had when they were killed has ended with them. */
	for (int ms = 0; ms < timeout_ms() && buffer.users() > users; ms++)
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	check_equal(buffer.users(), users, "users of a dma-buf");
}

/*
 * Many objects, and new ones for old ones, until the end of the process. What bounds
 * the memory of a user is its cgroup (lifecycle/cgroup), not this.
 */
void exhaust(port &on, progress &all, generator random)
{
	constexpr size_t most = 32; /* or the end takes long */
	std::vector<mr_ptr> mrs(most);
	std::vector<cq_ptr> cqs(most);
	std::vector<qp_ptr> qps(most);
	const memory bytes(1 << 20);

	for (uint64_t round = 0;; round++) {
		const size_t i = random() % most;
		ibv_qp_init_attr attr{};

		mrs[random() % most].reset(ibv_reg_mr(on.pd.get(),
						      bytes.bytes().data(),
						      1 << 20, all_access));
		qps[i].reset();
		cqs[i].reset(ibv_create_cq(on.context.get(), 1 << 10, nullptr,
					   nullptr, 0));
		check(cqs[i] != nullptr, "ibv_create_cq");
		attr.send_cq = attr.recv_cq = cqs[i].get();
		attr.qp_type = IBV_QPT_RC;
		attr.cap = { 64, 64, 4, 4, 64 };
		qps[i].reset(ibv_create_qp(on.pd.get(), &attr));
		check(qps[i] != nullptr, "ibv_create_qp");
		if (!round)
			all.ready();
	}
}

TEST_F(misuse, misuse_of_limits)
{
	attack_by(exhaust);
}

} /* namespace */
