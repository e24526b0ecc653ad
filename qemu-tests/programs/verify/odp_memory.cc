// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging of memory that is unusual, or that goes while it is in use, and what
 * that costs the kernel.
 */

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "odp.h"
#include "other_process.h"

namespace
{

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/* On a kernel with KASAN and lockdep, rounds take a hundred times as long. */
class time_limit {
public:
	[[nodiscard]] bool reached() const
	{
		return clock::now() > end_;
	}

private:
	clock::time_point end_ = clock::now() + 10s;
};

/* Of the port: all memory of the process. */
mr_ptr all_memory(const port &p)
{
	if (!has_odp(p, IBV_ODP_SUPPORT_IMPLICIT))
		skip(p.name + " has no implicit MRs");
	mr_ptr mr(ibv_reg_mr(p.pd.get(), nullptr, SIZE_MAX, on_demand));
	check(mr != nullptr, "ibv_reg_mr of all memory");
	return mr;
}

/* Does something again and again, once at least before it exists, until it goes. */
class repeated {
public:
	template <typename F>
	explicit repeated(F what)
		: thread_([this, what] {
			while (!stop_) {
				const auto begin = clock::now();

				what();
				rounds_++;
				/*
				 * What runs meanwhile gets a turn, a longer one
				 * where all takes longer.
				 */
				std::this_thread::sleep_for(
					std::max<clock::duration>(
						200us,
						4 * (clock::now() - begin)));
			}
		})
	{
		while (!rounds_)
			std::this_thread::yield();
	}

	~repeated()
	{
		stop_ = true;
		thread_.join();
	}

	repeated(const repeated &) = delete;
	repeated &operator=(const repeated &) = delete;

private:
	std::atomic<bool> stop_ = false;
	std::atomic<uint64_t> rounds_ = 0;
	std::thread thread_;
};

/* Memory of memfd_secret(), which the kernel itself cannot touch. */
class secret {
public:
	secret()
	{
		const int fd = static_cast<int>(syscall(SYS_memfd_secret, 0));

		if (fd < 0)
			skip("the kernel has no secret memory");
		const bool sized = !ftruncate(fd, page);
		base_ = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
		close(fd);
		check(sized && base_ != MAP_FAILED, "memory of memfd_secret()");
	}

	~secret()
	{
		munmap(base_, page);
	}

	secret(const secret &) = delete;
	secret &operator=(const secret &) = delete;

	[[nodiscard]] void *data() const
	{
		return base_;
	}

private:
	void *base_;
};

TEST_F(odp, odp_secret_memory)
{
	const secret memory;
	const mr_ptr range(
		ibv_reg_mr(on.client.pd.get(), memory.data(), page, on_demand));
	const mr_ptr all = all_memory(on.client);

	check(range != nullptr, "ibv_reg_mr of secret memory");
	/* Also if the process has touched it. */
	for (int touched = 0; touched < 2; touched++) {
		for (const mr_ptr *mr : { &range, &all })
			for (ibv_wr_opcode opcode :
			     { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }) {
				pair p(on.client, on.server, opt);

				p.client.post(rdma(opcode, 1, p.server, 0),
					      { { reinterpret_cast<uint64_t>(
							  memory.data()),
						  8, (*mr)->lkey } });
				check_wc(p.client.wait_send(),
					 IBV_WC_LOC_PROT_ERR, "secret memory");
			}
		*static_cast<volatile char *>(memory.data()) = 1;
	}
}

/* An MR whose addresses are the last ones that there are. */
TEST_F(odp, odp_last_addresses)
{
	pair p(on.client, on.server, opt);
	const memory bytes(page);
	const uint64_t iova = 0 - uint64_t{ page };
	const uint32_t size = page - 1;
	const mr_ptr mr(ibv_reg_mr_iova(on.client.pd.get(),
					bytes.bytes().data(), size, iova,
					on_demand));

	check(mr != nullptr, "ibv_reg_mr_iova");
	for (uint32_t round = 0; round < 10; round++) {
		fill(bytes.bytes(), round);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
			      { { iova, size, mr->lkey } });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		check_fill(p.server.at(0, size), round, "WRITE");
		forget(bytes.bytes());
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
			      { { iova, size, mr->lkey } });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		check_zero(p.server.at(0, size), "WRITE of what has gone");
	}
}

/* Pages of both sides go while messages are under way: not one of them fails. */
TEST_F(odp, odp_goes_in_use)
{
	pair p(on.client, on.server, opt);
	constexpr size_t size = 64 << 10;

	{
		const repeated theirs([&] { forget(p.server, 0, size); });
		const repeated mine([&] { forget(p.client, page, 5 * page); });

		const time_limit end;
		for (int round = 0; round < 200 && !end.reached(); round++) {
			write_to(p, size, IBV_WC_SUCCESS, "WRITE");
			read_from(p, size, IBV_WC_SUCCESS, "READ");
		}
	}
	fill(p.client.at(0, size), 1);
	write_to(p, size, IBV_WC_SUCCESS, "WRITE");
	check_fill(p.server.at(0, size), 1, "WRITE");
}

/* Pages go that no device had; those that the server's has stay right. */
void others_go(pair &p, const remote_end &server)
{
	constexpr size_t rounds = 2, first = 16, pages = 512;

	for (uint32_t round = 0; round < rounds; round++) {
		fill(p.client.at(0, page), round);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, server, 0),
			      { p.client.sge(0, page) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		for (size_t i = first; i < pages; i++) {
			const auto other = p.server.at(i * page, page);

			other[0] = std::byte{ 1 };
			forget(other);
			check_zero(other.first(1), "a page that went");
		}
		check_fill(p.server.at(0, page), round, "WRITE");
	}
}

TEST_F(odp, odp_others_go)
{
	pair p(on.client, on.server, opt);
	const mr_ptr all = all_memory(on.server);
	remote_end server = p.server;

	others_go(p, server);
	server.rkey = all->rkey;
	others_go(p, server);
}

/* Parts of an MR of all memory go while it is deregistered. */
TEST_F(odp, odp_parts_go)
{
	pair p(on.client, on.server, opt);
	const memory many(8 * part);
	const uint64_t first = (address_of(many.bytes()) + part - 1) / part;

	for (int round = 0; round < 50; round++) {
		mr_ptr all = all_memory(on.client);

		for (uint64_t i = 0; i < 7; i++) {
			p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
				      { { (first + i) * part, 8, all->lkey } });
			check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		}
		const repeated goes([&] { forget(many.bytes()); });
		all.reset();
	}
}

/* Kernel memory that cannot be reclaimed, bytes. */
uint64_t kernel_memory()
{
	std::ifstream file("/proc/meminfo");
	std::string name;
	uint64_t kib = 0;

	while (file >> name)
		if (name == "SUnreclaim:" && file >> kib)
			return kib << 10;
	fail("/proc/meminfo has no SUnreclaim");
}

/* Advice about addresses where nothing is leaves nothing behind. */
TEST_F(odp, odp_advice_about_nothing)
{
	constexpr uint64_t nowhere = uint64_t{ 1 } << 40;
	/* Each would keep 8 KiB or more. KASAN keeps what was freed, up to 1/32 of memory. */
	const uint64_t most =
		(48 << 20) +
		static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page / 32;
	const mr_ptr all = all_memory(on.client);
	const auto advise = [&](ibv_advise_mr_advice advice, uint64_t address) {
		ibv_sge sge{ address, 1, all->lkey };

		return ibv_advise_mr(on.client.pd.get(), advice,
				     IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
	};

	check_equal(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, uint64_t{ 1 } << 63),
		    EFAULT, "beyond what a process may have");
	for (const auto &[advice, error] :
	     { std::pair(IBV_ADVISE_MR_ADVICE_PREFETCH, EFAULT),
	       std::pair(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0) }) {
		const uint64_t before = kernel_memory();

		const time_limit end;
		for (uint64_t i = 0; i < 30000 && !end.reached(); i++)
			check_equal(advise(advice, nowhere + i * part), error,
				    "advice about nothing");
		const uint64_t after = kernel_memory();
		check(after < before + most,
		      "it costs " + std::to_string(after - before) + " bytes");
	}
}

void drop_ipc_lock()
{
	__user_cap_header_struct header{ _LINUX_CAPABILITY_VERSION_3, 0 };
	std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};

	check(!syscall(SYS_capget, &header, data.data()), "capget");
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	check(!syscall(SYS_capset, &header, data.data()), "capset");
}

void limit_locked(rlim_t bytes)
{
	const rlimit limit{ bytes, bytes };

	check(!setrlimit(RLIMIT_MEMLOCK, &limit), "RLIMIT_MEMLOCK");
}

/* READs of some QPs at a time; each needs a page in that many parts at once. */
void read_to_parts(port &on)
{
	constexpr uint32_t qps = 16;
	constexpr size_t sges = 16, bytes = 8;
	constexpr size_t size = (qps * sges + 1) * part;
	options opt;
	std::vector<std::unique_ptr<pair>> pairs;

	opt.sges = sges;
	opt.buffer = page;
	for (uint32_t i = 0; i < qps; i++)
		pairs.push_back(std::make_unique<pair>(on, on, opt));
	limit_locked(64 << 10);
	const mr_ptr all = all_memory(on);
	const std::span memory = map_small_pages(size);
	const time_limit end;
	for (uint32_t round = 0; round < 3 && !end.reached(); round++) {
		for (uint32_t i = 0; i < qps; i++) {
			std::vector<ibv_sge> list;

			fill(pairs[i]->server.at(0, sges * bytes), i + round);
			for (uint32_t k = 0; k < sges; k++)
				list.push_back({ address_of(memory) +
							 (i * sges + k) * part,
						 bytes, all->lkey });
			pairs[i]->client.post(rdma(IBV_WR_RDMA_READ, 1,
						   pairs[i]->server, 0),
					      list);
		}
		for (uint32_t i = 0; i < qps; i++) {
			check_wc(pairs[i]->client.wait_send(), IBV_WC_SUCCESS,
				 "READ");
			const auto want = pairs[i]->server.at(0, sges * bytes);
			for (uint32_t k = 0; k < sges; k++)
				check(std::ranges::equal(
					      memory.subspan((i * sges + k) *
								     part,
							     bytes),
					      want.subspan(k * bytes, bytes)),
				      "READ");
		}
	}
	munmap(memory.data(), size);
}

/* A process that may have few parts gets all that its requests need, by turns. */
TEST_F(odp, odp_parts_by_turns)
{
	const other_process limited(on.client, [&](port &, auto ready) {
		drop_ipc_lock();
		limit_locked(RLIM_INFINITY);
		port mine(on.client.name, on.client.gid_index, "ornic");
		read_to_parts(mine);
		ready();
	});

	check(limited.is_ready(), "READs to more parts than it may have");
}

} /* namespace */
