// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging while the kernel takes memory for something else: what was written is
 * kept, and who needs pages pays for them.
 */

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include "odp.h"
#include "other_process.h"

namespace
{

void advise(std::span<std::byte> bytes, int advice)
{
	check(!madvise(bytes.data(), bytes.size(), advice), "madvise");
}

/* The kernel may drop what is in the page, and does so if nobody writes to it. */
void take_for_unused(std::span<std::byte> bytes)
{
	fill(bytes, 1);
	advise(bytes, MADV_FREE);
}

bool is_dropped(std::span<std::byte> bytes)
{
	advise(bytes, MADV_PAGEOUT);
	return bytes[0] == std::byte{ 0 } && bytes[1] == std::byte{ 0 };
}

/*
 * Each CPU has a list of pages that it has not sorted yet. One that is on the list of
 * another CPU is not paged out, so who asks for that stays where it used the page.
 */
class one_cpu {
public:
	one_cpu()
	{
		cpu_set_t here;

		check(!sched_getaffinity(0, sizeof(before_), &before_),
		      "sched_getaffinity");
		CPU_ZERO(&here);
		CPU_SET(sched_getcpu(), &here);
		check(!sched_setaffinity(0, sizeof(here), &here),
		      "sched_setaffinity");
	}

	~one_cpu()
	{
		sched_setaffinity(0, sizeof(before_), &before_);
	}

	one_cpu(const one_cpu &) = delete;
	one_cpu &operator=(const one_cpu &) = delete;

private:
	cpu_set_t before_;
};

/* A page of the server's that the kernel drops; without one the test is skipped. */
class unused_page {
public:
	explicit unused_page(const port &server)
		: mr_(ibv_reg_mr(server.pd.get(), bytes().data(), page,
				 on_demand))
	{
		check(mr_ != nullptr, "ibv_reg_mr");
		for (int i = 0; i < 20; i++) {
			take_for_unused(bytes());
			if (is_dropped(bytes()))
				return;
		}
		skip("the kernel keeps all pages");
	}

	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return memory_.bytes();
	}

	[[nodiscard]] remote_end end(const remote_end &like) const
	{
		remote_end peer = like;

		peer.rkey = mr_->rkey;
		peer.address = address_of(bytes());
		return peer;
	}

private:
	one_cpu one_cpu_;
	memory memory_{ page };
	mr_ptr mr_;
};

/* The kernel may drop a page that it takes for unused: not one that was written to. */
TEST_F(odp, odp_written_is_kept)
{
	pair p(on.client, on.server, opt);
	const unused_page unused(on.server);

	fill(p.client.at(0, page), 2);
	for (int round = 0; round < 10; round++) {
		take_for_unused(unused.bytes());
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, unused.end(p.server),
				   0),
			      { p.client.sge(0, page) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		advise(unused.bytes(), MADV_PAGEOUT);
		check_fill(unused.bytes(), 2,
			   "WRITE to a page that is dropped");
	}
}

/* One that was only read is as unused as before. */
TEST_F(odp, odp_read_is_dropped)
{
	pair p(on.client, on.server, opt);
	const unused_page unused(on.server);
	bool drops = false;

	for (int round = 0; round < 20 && !drops; round++) {
		take_for_unused(unused.bytes());
		p.client.post(rdma(IBV_WR_RDMA_READ, 1, unused.end(p.server),
				   0),
			      { p.client.sge(0, page) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
		drops = is_dropped(unused.bytes());
	}
	check(drops, "what was read is kept");
}

/* A page that processes could share. */
class shared_page {
public:
	shared_page()
		: base_(static_cast<std::byte *>(
			  mmap(nullptr, page, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
	{
		check(base_ != MAP_FAILED, "mmap");
	}

	~shared_page()
	{
		munmap(base_, page);
	}

	shared_page(const shared_page &) = delete;
	shared_page &operator=(const shared_page &) = delete;

	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return { base_, page };
	}

private:
	std::byte *base_;
};

/* False if the kernel keeps the page. */
bool page_out(std::span<std::byte> bytes)
{
	unsigned char there = 1;

	for (int i = 0; there & 1 && i < 20; i++) {
		if (i)
			usleep(1000);
		advise(bytes, MADV_PAGEOUT);
		check(!mincore(bytes.data(), page, &there), "mincore");
	}
	return !(there & 1);
}

/* Give the process a new page that is clean, although it may write to it. */
void look_at_new(std::span<std::byte> bytes)
{
	advise(bytes, MADV_REMOVE);
	check(*static_cast<volatile std::byte *>(bytes.data()) ==
		      std::byte{ 0 },
	      "a new page is not 0");
}

/* The client writes to a page of the server of its own, or reads from it. */
void move(pair &p, ibv_wr_opcode opcode, const mr_ptr &mr,
	  std::span<const std::byte> bytes)
{
	remote_end peer = p.server;

	check(mr != nullptr, "ibv_reg_mr");
	peer.rkey = mr->rkey;
	peer.address = address_of(bytes);
	p.client.post(rdma(opcode, 1, peer, 0), { p.client.sge(0, page) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE or READ");
}

/* Of shared memory the process may write to a page that is clean still. */
TEST_F(odp, odp_shared_is_kept)
{
	const one_cpu here;
	pair p(on.client, on.server, opt);
	const shared_page memory;
	const std::span<std::byte> bytes = memory.bytes();
	const mr_ptr mr(
		ibv_reg_mr(on.server.pd.get(), bytes.data(), page, on_demand));

	look_at_new(bytes);
	if (!page_out(bytes))
		skip("the kernel keeps all pages");
	for (uint32_t round = 0; round < 10; round++) {
		look_at_new(bytes);
		fill(p.client.at(0, page), round);
		move(p, IBV_WR_RDMA_WRITE, mr, bytes);
		(void)page_out(bytes);
		check_fill(bytes, round, "WRITE to a page that was clean");
	}
}

/* A page comes from swap space for a READ, and goes there again after a WRITE. */
TEST_F(odp, odp_swapped)
{
	const one_cpu here;
	pair p(on.client, on.server, opt);
	const memory anonymous(page);
	const std::span<std::byte> bytes = anonymous.bytes();
	const mr_ptr mr(
		ibv_reg_mr(on.server.pd.get(), bytes.data(), page, on_demand));
	int swapped = 0;

	for (uint32_t round = 0; round < 20; round++) {
		fill(bytes, round);
		swapped += page_out(bytes);
		move(p, IBV_WR_RDMA_READ, mr, bytes);
		check_fill(p.client.at(0, page), round, "READ");
		fill(p.client.at(0, page), round + 100);
		move(p, IBV_WR_RDMA_WRITE, mr, bytes);
		(void)page_out(bytes);
		check_fill(bytes, round + 100, "WRITE");
	}
	if (!swapped)
		skip("the kernel has no swap space, or keeps all pages");
}

/* A memory cgroup, for processes to enter. */
class memory_group {
public:
	memory_group()
	{
		std::ifstream all(root + "cgroup.controllers");
		std::string name;
		bool found = false;

		while (all >> name)
			found |= name == "memory";
		if (!found)
			skip("the kernel has no memory cgroup");
		check(put(root + "cgroup.subtree_control", "+memory") &&
			      !mkdir(folder.c_str(), 0700),
		      "a cgroup cannot be made");
	}

	~memory_group()
	{
		/* Whoever was in it has ended; the kernel may not have noticed yet. */
		for (int i = 0; rmdir(folder.c_str()) && i < 1000; i++)
			usleep(1000);
	}

	memory_group(const memory_group &) = delete;
	memory_group &operator=(const memory_group &) = delete;

	void enter() const
	{
		check(put(folder + "/cgroup.procs", "0"),
		      "the cgroup cannot be entered");
	}

	[[nodiscard]] uint64_t used() const
	{
		uint64_t bytes = 0;

		std::ifstream(folder + "/memory.current") >> bytes;
		return bytes;
	}

private:
	static bool put(const std::string &name, const char *what)
	{
		std::ofstream file(name);

		return bool(file << what << std::flush);
	}

	const std::string root = "/sys/fs/cgroup/";
	const std::string folder = root + "ornic-odp";
};

/* A peer, or a QP, makes the process have page tables: they are charged to it. */
TEST_F(odp, odp_pays_for_page_tables)
{
	constexpr uint32_t tables = 1024;
	constexpr size_t size = tables * part;

	if (page != 4096)
		skip("page tables are of more memory");
	const memory_group group;
	const other_process payer(on.client, [&](port &here, auto ready) {
		group.enter();
		pair p(here, here, opt);
		const std::span memory = map_small_pages(size);
		const mr_ptr mr(ibv_reg_mr(here.pd.get(), memory.data(), size,
					   on_demand));
		check(mr != nullptr, "ibv_reg_mr");
		const uint64_t before = group.used();
		for (size_t at = 0; at < size; at += part) {
			p.client.post(
				rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
				{ { address_of(memory) + at, 1, mr->lkey } });
			check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		}
		check(group.used() >= before + tables * page * 3 / 4,
		      "page tables are not charged");
		ready();
	});

	check(payer.is_ready(), "page tables are not charged to the process");
}

} /* namespace */
