// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: messages from and to memory that is not there yet, that goes, and
 * that is given to something else in between.
 */

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "odp.h"

bool has_odp(const port &p, uint64_t bit)
{
	ibv_device_attr_ex attr{};

	return !ibv_query_device_ex(p.context.get(), nullptr, &attr) &&
	       attr.odp_caps.general_caps & bit;
}

/*
 * That of rxe ends some messages with wrong bytes, and its rxe_odp_map_range_and_lock() reads
 * beyond the pages of an MR.
 */
odp::odp()
{
	for (const port *p : { &on.client, &on.server })
		if (p->is_rxe || !has_odp(*p, IBV_ODP_SUPPORT))
			skip(p->name + " has no on-demand paging of ours");
	opt.access = on_demand;
	opt.qp_access = all_access;
}

void forget(std::span<std::byte> bytes)
{
	check(!madvise(bytes.data(), bytes.size(), MADV_DONTNEED), "madvise");
}

std::span<std::byte> map_small_pages(size_t size)
{
	void *base = mmap(nullptr, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	check(base != MAP_FAILED, "mmap");
	/* A kernel without transparent huge pages does not know this. */
	check(!madvise(base, size, MADV_NOHUGEPAGE) || errno == EINVAL,
	      "madvise");
	return { static_cast<std::byte *>(base), size };
}

void check_zero(std::span<const std::byte> bytes, const std::string &what)
{
	for (size_t i = 0; i < bytes.size(); i++)
		if (bytes[i] != std::byte{ 0 })
			fail(what + ": byte " + std::to_string(i) +
			     " is not 0");
}

void write_to(pair &p, size_t size, ibv_wc_status status, const char *what)
{
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
		      { p.client.sge(0, size) });
	check_wc(p.client.wait_send(), status, what);
}

void read_from(pair &p, size_t size, ibv_wc_status status, const char *what)
{
	p.client.post(rdma(IBV_WR_RDMA_READ, 1, p.server, 0),
		      { p.client.sge(0, size) });
	check_wc(p.client.wait_send(), status, what);
}

uint64_t page_faults(const port &p)
{
	uint64_t n = 0;

	usleep(20000);
	std::ifstream file("/sys/class/infiniband/" + p.name +
			   "/ports/1/hw_counters/page_faults");
	check(bool(file >> n), "cannot read page_faults of " + p.name);
	return n;
}

namespace
{

/* Both sides have no page of it when the message begins. */
TEST_F(odp, odp_messages)
{
	pair p(on.client, on.server, opt);

	for (size_t size : { size_t{ 1 }, size_t{ page },
			     size_t{ 3 * page + 5 }, size_t{ 1 } << 20 }) {
		const std::string bytes = std::to_string(size) + " bytes";

		fill(p.client.at(0, size), 1);
		forget(p.server, 0, opt.buffer);
		write_to(p, size, IBV_WC_SUCCESS, "WRITE");
		check_fill(p.server.at(0, size), 1, "WRITE of " + bytes);

		forget(p.client, 0, opt.buffer);
		read_from(p, size, IBV_WC_SUCCESS, "READ");
		check_fill(p.client.at(0, size), 1, "READ of " + bytes);

		forget(p.server, 0, opt.buffer);
		p.server.post_recv(2, 0, size);
		p.client.post(request(IBV_WR_SEND, 1),
			      { p.client.sge(0, size) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "SEND");
		check_wc(p.server.wait_recv(), IBV_WC_SUCCESS, "receive");
		check_fill(p.server.at(0, size), 1, "SEND of " + bytes);
	}
	forget(p.client, 0, page);
	forget(p.server, 0, page);
	for (uint64_t i = 0; i < 3; i++) {
		p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, p.server,
				     0, 1),
			      { p.client.sge(8 * i, 8) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "FETCH_AND_ADD");
		uint64_t old;
		std::memcpy(&old, p.client.at(8 * i, 8).data(), sizeof(old));
		check_equal(old, i, "what was there");
	}
}

/* What a page held before it went is not seen any more. */
TEST_F(odp, odp_memory_changes)
{
	pair p(on.client, on.server, opt);
	const size_t size = 5 * page;
	std::byte *const at = p.server.at(0, size).data();

	for (uint32_t round = 0; round < 20; round++) {
		fill(p.server.at(0, size), round);
		read_from(p, size, IBV_WC_SUCCESS, "READ");
		check_fill(p.client.at(0, size), round, "READ");
		forget(p.server, 0, size);
		read_from(p, size, IBV_WC_SUCCESS, "READ of what has gone");
		check_zero(p.client.at(0, size), "READ of what has gone");

		/*
		 * Its pages go elsewhere, and others come to their place. The kernel
		 * looks at the last argument, too.
		 */
		fill(p.server.at(0, size), round + 100);
		void *elsewhere = mremap(at, size, size,
					 MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
					 nullptr);
		check(elsewhere != MAP_FAILED, "mremap");
		fill(p.client.at(0, size), round + 200);
		write_to(p, size, IBV_WC_SUCCESS, "WRITE after mremap");
		check_fill(p.server.at(0, size), round + 200,
			   "WRITE after mremap");
		check_fill({ static_cast<std::byte *>(elsewhere), size },
			   round + 100, "what has moved");
		munmap(elsewhere, size);
		check(mmap(at, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0) == at,
		      "mmap");
		read_from(p, size, IBV_WC_SUCCESS, "READ after mmap");
		check_zero(p.client.at(0, size), "READ after mmap");
	}
}

/* A child has what was there at the fork; the device works with the parent's. */
TEST_F(odp, odp_fork)
{
	pair p(on.client, on.server, opt);
	const size_t size = 3 * page;
	int go[2];

	fill(p.server.at(0, size), 1);
	read_from(p, size, IBV_WC_SUCCESS, "READ");
	check(!pipe(go), "pipe");
	const pid_t child = fork();
	check(child >= 0, "fork");
	if (!child) {
		char byte;
		bool same = read(go[0], &byte, 1) == 1;

		try {
			check_fill(p.server.at(0, size), 1, "the child's");
		} catch (const failure &) {
			same = false;
		}
		_exit(same ? 0 : 1);
	}
	fill(p.client.at(0, size), 2);
	write_to(p, size, IBV_WC_SUCCESS, "WRITE after fork");
	check_fill(p.server.at(0, size), 2, "WRITE after fork");
	fill(p.server.at(0, page), 3);
	read_from(p, page, IBV_WC_SUCCESS, "READ after fork");
	check_fill(p.client.at(0, page), 3, "READ after fork");
	check(write(go[1], "", 1) == 1, "write");
	int status = 1;
	check(waitpid(child, &status, 0) == child, "waitpid");
	check_equal(status, 0, "status of the child");
	close(go[0]);
	close(go[1]);
}

/* Pages that come for a READ: one that may be written to already still may. */
TEST_F(odp, odp_reader_beside_writer)
{
	pair p(on.client, on.server, opt);

	/* The kernel may move pages at any time, but not each time. */
	for (int i = 0; i < 5; i++) {
		write_to(p, 2 * page, IBV_WC_SUCCESS, "WRITE");
		forget(p.server, 0, page);
		read_from(p, 2 * page, IBV_WC_SUCCESS, "READ");
		const uint64_t before = page_faults(on.server);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, page),
			      { p.client.sge(0, page) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		if (page_faults(on.server) == before)
			return;
	}
	fail("each READ makes the next WRITE wait for its page");
}

/* Memory that may not be written to, or is no memory. */
TEST_F(odp, odp_protection)
{
	struct row {
		int protection; /* -1: unmapped */
		bool local, write;
		ibv_wc_status status;
	};
	constexpr row rows[] = {
		{ PROT_READ, false, true, IBV_WC_REM_ACCESS_ERR },
		{ PROT_READ, false, false, IBV_WC_SUCCESS },
		{ PROT_NONE, false, false, IBV_WC_REM_ACCESS_ERR },
		{ -1, false, true, IBV_WC_REM_ACCESS_ERR },
		{ PROT_READ, true, true, IBV_WC_SUCCESS },
		{ PROT_READ, true, false, IBV_WC_LOC_PROT_ERR },
		{ -1, true, true, IBV_WC_LOC_PROT_ERR },
	};

	for (const row &r : rows) {
		pair p(on.client, on.server, opt);
		endpoint &e = r.local ? p.client : p.server;
		std::byte *const at = e.at(0, page).data();

		fill(p.client.at(0, page), 1);
		fill(p.server.at(0, page), 1);
		if (r.protection < 0)
			check(!munmap(at, page), "munmap");
		else
			check(!mprotect(at, page, r.protection), "mprotect");
		const std::string what =
			std::string(r.local ? "local" : "remote") +
			" memory with protection " +
			std::to_string(r.protection) + " in a " +
			(r.write ? "WRITE" : "READ");
		if (r.write)
			write_to(p, page, r.status, what.c_str());
		else
			read_from(p, page, r.status, what.c_str());
		/* So that it can be given back. */
		check(mmap(at, page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0) == at,
		      "mmap");
		if (r.status == IBV_WC_REM_ACCESS_ERR)
			expect_event(on.server, IBV_EVENT_QP_ACCESS_ERR,
				     p.server.qp.get());
	}
}

/* The pages of the client come first, which takes long on a busy host. */
void await_fault(const port &server, uint64_t before)
{
	/* Each read of the counter takes 20 ms. */
	for (int i = 0; i < timeout_ms() / 20; i++)
		if (page_faults(server) != before)
			return;
	fail("no fault was under way");
}

/* QPs and MRs go while their pages are brought in; others notice nothing. */
TEST_F(odp, odp_ends)
{
	pair other(on.client, on.server, opt);

	for (uint32_t round = 0; round < 50; round++) {
		pair p(on.client, on.server, opt);
		const bool late = round % 10 == 0;
		const uint64_t faults = late ? page_faults(on.server) : 0;

		p.server.post_recv(2, 0, opt.buffer);
		for (ibv_wr_opcode opcode :
		     { IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ })
			p.client.post(rdma(opcode, 1, p.server, 0),
				      { p.client.sge(0, opt.buffer) });
		if (late)
			await_fault(on.server, faults);
		if (round % 2)
			p.server.mr.reset();
		if (round % 3)
			p.client.qp.reset();
		p.server.qp.reset();
		fill(other.client.at(0, page), round);
		forget(other.server, 0, page);
		write_to(other, page, IBV_WC_SUCCESS, "WRITE of another QP");
		check_fill(other.server.at(0, page), round,
			   "WRITE of another QP");
	}
}

/* An MR of all memory, whatever is mapped later. */
TEST_F(odp, odp_implicit)
{
	for (const port *p : { &on.client, &on.server })
		if (!has_odp(*p, IBV_ODP_SUPPORT_IMPLICIT))
			skip(p->name + " has no implicit MRs");
	pair p(on.client, on.server);
	const mr_ptr mine(
		ibv_reg_mr(on.client.pd.get(), nullptr, SIZE_MAX, on_demand));
	const mr_ptr theirs(
		ibv_reg_mr(on.server.pd.get(), nullptr, SIZE_MAX, on_demand));

	check(mine && theirs, "ibv_reg_mr of all memory");
	for (uint32_t round = 0; round < 3; round++) {
		/* More than 2 MiB each, anywhere. */
		const memory from(5 << 20), to(5 << 20);
		const size_t size = from.bytes().size() - page - 10;
		const auto local =
			reinterpret_cast<uint64_t>(from.bytes().data());
		remote_end peer = p.server;

		peer.rkey = theirs->rkey;
		peer.address = reinterpret_cast<uint64_t>(to.bytes().data());
		fill(from.bytes().first(size), round);
		p.client.post(
			rdma(IBV_WR_RDMA_WRITE, 1, peer, 10),
			{ { local, static_cast<uint32_t>(size), mine->lkey } });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		check_fill(to.bytes().subspan(10, size), round, "WRITE");
	}
	/* Where nothing is mapped. */
	p.client.post(request(IBV_WR_SEND, 1), { { 0, 8, mine->lkey } });
	check_wc(p.client.wait_send(), IBV_WC_LOC_PROT_ERR,
		 "SEND of address 0");
}

/* What was asked for in advance is there: no fault is left to a message from it. */
TEST_F(odp, odp_advise_brings)
{
	pair p(on.client, on.server, opt);
	ibv_sge sge = p.client.sge(0, opt.buffer);
	const auto faults_of_write = [&](bool advised) {
		forget(p.client, 0, opt.buffer);
		if (advised)
			check_equal(ibv_advise_mr(
					    on.client.pd.get(),
					    IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
					    IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
				    0, "ibv_advise_mr");
		const uint64_t before = page_faults(on.client);
		write_to(p, opt.buffer, IBV_WC_SUCCESS, "WRITE");
		check_zero(p.server.at(0, opt.buffer), "WRITE");
		return page_faults(on.client) - before;
	};

	write_to(p, opt.buffer, IBV_WC_SUCCESS, "WRITE");
	check(faults_of_write(false) > 0, "there are faults without advice");
	/* The kernel may move pages at any time, but not each time. */
	for (int i = 0; i < 5; i++)
		if (!faults_of_write(true))
			return;
	fail("pages are absent after they were asked for");
}

/* Pages may be asked for in advance. */
TEST_F(odp, odp_advise)
{
	pair p(on.client, on.server, opt);
	const mr_ptr reader(ibv_reg_mr(on.client.pd.get(),
				       p.client.buffer.bytes().data(), page,
				       IBV_ACCESS_ON_DEMAND));
	ibv_sge sge = p.client.sge(0, opt.buffer);
	const auto advise = [&](ibv_advise_mr_advice advice, uint32_t flags) {
		return ibv_advise_mr(on.client.pd.get(), advice, flags, &sge,
				     1);
	};

	check(reader != nullptr, "ibv_reg_mr for reading");
	for (ibv_advise_mr_advice advice :
	     { IBV_ADVISE_MR_ADVICE_PREFETCH,
	       IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
	       IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT })
		for (uint32_t flags :
		     { 0u, uint32_t{ IBV_ADVISE_MR_FLAG_FLUSH } }) {
			forget(p.client, 0, opt.buffer);
			check_equal(advise(advice, flags), 0, "ibv_advise_mr");
			fill(p.client.at(0, opt.buffer), advice + flags);
			write_to(p, opt.buffer, IBV_WC_SUCCESS, "WRITE");
			check_fill(p.server.at(0, opt.buffer), advice + flags,
				   "WRITE");
		}
	sge.length = page;
	sge.lkey = reader->lkey;
	check_equal(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			   IBV_ADVISE_MR_FLAG_FLUSH),
		    EPERM, "to write what is to be read");
	sge.length = page + 1;
	check_equal(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0), EINVAL,
		    "beyond the MR");
	sge.lkey ^= 1;
	check_equal(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0), ENOENT,
		    "of no MR");
}

} /* namespace */
