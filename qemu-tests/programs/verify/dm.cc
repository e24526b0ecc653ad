// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Device memory: messages, limits, and what its mappings keep alive. */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "dm.h"

dm_ptr alloc_dm(port &p, size_t size)
{
	dm_ptr dm = try_alloc_dm(p, size);

	check(dm != nullptr,
	      "ibv_alloc_dm: " + std::string(std::strerror(errno)));
	return dm;
}

void put(ibv_dm &dm, size_t offset, std::span<const std::byte> bytes)
{
	check_equal(ibv_memcpy_to_dm(&dm, offset, bytes.data(), bytes.size()),
		    0, "ibv_memcpy_to_dm");
}

void get(ibv_dm &dm, size_t offset, std::span<std::byte> bytes)
{
	check_equal(ibv_memcpy_from_dm(bytes.data(), &dm, offset, bytes.size()),
		    0, "ibv_memcpy_from_dm");
}

uint32_t word_at(ibv_dm &dm, size_t offset)
{
	uint32_t word;

	get(dm, offset, std::as_writable_bytes(std::span(&word, 1)));
	return word;
}

void set_word(ibv_dm &dm, size_t offset, uint32_t word)
{
	put(dm, offset, std::as_bytes(std::span(&word, 1)));
}

namespace
{

constexpr int zero_based = all_access | IBV_ACCESS_ZERO_BASED;
constexpr size_t dm_size = 100001; /* no whole words */
constexpr size_t mr_offset = 5000; /* in a page, and not at a word of 8 bytes */
constexpr size_t mr_size = 70000;

mr_ptr reg(port &p, ibv_dm &dm, size_t offset, size_t size,
	   unsigned int access = zero_based)
{
	errno = 0;
	return mr_ptr(ibv_reg_dm_mr(p.pd.get(), &dm, offset, size, access));
}

void check_zero(std::span<const std::byte> bytes, const std::string &what)
{
	for (size_t i = 0; i < bytes.size(); i++)
		if (bytes[i] != std::byte{ 0 })
			fail(what + ": byte " + std::to_string(i) +
			     " is not 0");
}

class dm : public verify {
protected:
	dm()
	{
		for (const port *p : { &on.client, &on.server })
			if (!max_dm_size(*p))
				skip(p->name + " has no device memory");
	}
};

/* Of one side, with an MR on a part of it. */
struct region {
	explicit region(port &p, int access = zero_based)
		: memory(alloc_dm(p, dm_size))
		, mr(reg(p, *memory, mr_offset, mr_size,
			 static_cast<unsigned int>(access)))
	{
		check(mr != nullptr, "ibv_reg_dm_mr");
		check(!mr->addr, "the address of its MR");
		check_equal(mr->length, mr_size, "the length of its MR");
	}
	/* As of a buffer of the peer. */
	[[nodiscard]] remote_end end(const endpoint &e) const
	{
		remote_end there = e;

		there.rkey = mr->rkey;
		there.address = 0;
		return there;
	}
	[[nodiscard]] ibv_sge sge(size_t offset, size_t size) const
	{
		return { offset, static_cast<uint32_t>(size), mr->lkey };
	}
	/* Nothing beside the MR was written to. */
	void check_guards() const
	{
		struct memory copy(dm_size);

		get(*memory, 0, copy.bytes().first(mr_offset));
		check_zero(copy.bytes().first(mr_offset), "before the MR");
		const size_t rest = (dm_size - mr_offset - mr_size) / 4 * 4;
		get(*memory, mr_offset + mr_size, copy.bytes().first(rest));
		check_zero(copy.bytes().first(rest), "after the MR");
	}

	dm_ptr memory;
	mr_ptr mr;
};

TEST_F(dm, dm_messages)
{
	pair p(on.client, on.server);
	region from(on.client), to(on.server);
	memory bytes(mr_size);

	fill(bytes.bytes(), 1);
	put(*from.memory, mr_offset, bytes.bytes());
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { from.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	clear(bytes.bytes());
	get(*to.memory, mr_offset, bytes.bytes());
	check_fill(bytes.bytes(), 1, "what was written");
	to.check_guards();

	/* Between device memory and others, in parts. */
	clear(p.client.at(0, mr_size));
	p.client.post(rdma(IBV_WR_RDMA_READ, 2, to.end(p.server), 0),
		      { p.client.sge(0, 33333),
			p.client.sge(33333, mr_size - 33333) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	check_fill(p.client.at(0, mr_size), 1, "what was read");

	fill(p.client.at(0, mr_size), 2);
	p.server.post_recv(3, { to.sge(0, 30001), to.sge(30001, 39999) });
	p.client.post(request(IBV_WR_SEND, 3), { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "SEND");
	check_wc(p.server.wait_recv(), IBV_WC_SUCCESS, "receive");
	get(*to.memory, mr_offset, bytes.bytes());
	check_fill(bytes.bytes(), 2, "what was received");
	to.check_guards();
}

TEST_F(dm, dm_atomics)
{
	constexpr size_t size = 8192;
	constexpr size_t at = 4088; /* of the MR, and of a page boundary */
	pair p(on.client, on.server);
	dm_ptr memory = alloc_dm(on.server, size);
	mr_ptr mr = reg(on.server, *memory, 8, size - 8);
	remote_end there = p.server;

	check(mr != nullptr, "ibv_reg_dm_mr");
	there.rkey = mr->rkey;
	there.address = 0;
	set_word(*memory, 8 + at, 40);
	p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, there, at, 2),
		      { p.client.sge(0, 8) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "fetch and add");
	check_equal(word_at(*memory, 8 + at), 42U, "sum");
	p.client.post(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 2, there, at, 42, 7),
		      { p.client.sge(8, 8) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "compare and swap");
	check_equal(word_at(*memory, 8 + at), 7U, "what was swapped in");
}

TEST_F(dm, dm_bounds)
{
	const struct {
		uint64_t address;
		size_t size;
	} rows[] = { { mr_size, 1 },	    { mr_size - 4, 5 },
		     { mr_size + 4096, 1 }, { 1ULL << 63, 8 },
		     { UINT64_MAX - 3, 8 }, { UINT64_MAX, 1 },
		     { 0, mr_size + 1 } };
	region to(on.server);

	for (const auto &row : rows) {
		pair p(on.client, on.server);
		remote_end there = to.end(p.server);

		fill(p.client.at(0, mr_size + 1), 1);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, there, row.address),
			      { p.client.sge(0, row.size) });
		check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR,
			 "WRITE at " + std::to_string(row.address));
		to.check_guards();
	}
}

TEST_F(dm, dm_rights)
{
	region read_only(on.server,
			 IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ);
	pair p(on.client, on.server);

	p.client.post(rdma(IBV_WR_RDMA_READ, 1, read_only.end(p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 2, read_only.end(p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR, "WRITE");
	check_equal(word_at(*read_only.memory, mr_offset), 0U, "memory");
}

TEST_F(dm, dm_window)
{
	pair p(on.client, on.server);
	region to(on.server, zero_based | IBV_ACCESS_MW_BIND);
	mw_ptr mw(ibv_alloc_mw(on.server.pd.get(), IBV_MW_TYPE_2));
	ibv_send_wr bind = request(IBV_WR_BIND_MW, 1);
	remote_end there = p.server;

	check(mw != nullptr, "ibv_alloc_mw");
	bind.bind_mw.mw = mw.get();
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	bind.bind_mw.bind_info = { to.mr.get(), 4096, 4096,
				   IBV_ACCESS_REMOTE_WRITE };
	p.server.post(bind, {});
	check_wc(p.server.wait_send(), IBV_WC_SUCCESS, "bind");
	check(ibv_dereg_mr(to.mr.get()) != 0, "MR with a window is gone");

	there.rkey = bind.bind_mw.rkey;
	there.address = 4096;
	fill(p.client.at(0, 4096), 1);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, there, 0),
		      { p.client.sge(0, 4096) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check(word_at(*to.memory, mr_offset + 4096) != 0, "nothing written");
	check_equal(word_at(*to.memory, mr_offset + 4092), 0U, "word before");
	check_equal(word_at(*to.memory, mr_offset + 8192), 0U, "word after");
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 2, there, 1),
		      { p.client.sge(0, 4096) });
	check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR, "WRITE beyond");
	mw.reset();
}

TEST_F(dm, dm_sizes)
{
	const size_t most = max_dm_size(on.server);
	const size_t wrong[] = { 0,
				 most + 1,
				 (size_t{ 1 } << 32) + 4096,
				 size_t{ 1 } << 63,
				 SIZE_MAX - 4094,
				 SIZE_MAX };

	check(most >= 1 << 20, "less than 1 MiB");
	for (size_t size : wrong) {
		check(!try_alloc_dm(on.server, size),
		      "allocated " + std::to_string(size));
		check_equal(errno, EINVAL, "errno");
	}
	for (uint32_t align : { 31U, 64U, 0x80000000U, ~0U }) {
		check(!try_alloc_dm(on.server, 4096, align),
		      "aligned to 2^" + std::to_string(align));
		check_equal(errno, EINVAL, "errno");
	}
	check(try_alloc_dm(on.server, most, 12) != nullptr, "no DM of all");
	check(try_alloc_dm(on.server, 1, 0) != nullptr, "no DM of a byte");
}

TEST_F(dm, dm_registrations)
{
	const struct {
		size_t offset, size;
		unsigned int access;
		int error;
	} rows[] = {
		{ 0, 4096, zero_based, 0 },
		{ 4096, 0, zero_based, 0 },
		{ 4095, 1, zero_based, 0 },
		{ 0, 4097, zero_based, EINVAL },
		{ 4097, 0, zero_based, EINVAL },
		{ 8, SIZE_MAX - 7, zero_based, EINVAL },
		{ SIZE_MAX, 1, zero_based, EINVAL },
		{ SIZE_MAX - 4095, 4096, zero_based, EINVAL },
		{ 0, 4096, all_access, EINVAL },
		{ 0, 4096, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE,
		  EINVAL },
		{ 0, 4096, zero_based | IBV_ACCESS_HUGETLB, EOPNOTSUPP },
	};
	dm_ptr memory = alloc_dm(on.server, 4096);

	for (const auto &row : rows) {
		const mr_ptr mr = reg(on.server, *memory, row.offset, row.size,
				      row.access);
		const std::string what = std::to_string(row.size) + " at " +
					 std::to_string(row.offset);

		check_equal(mr == nullptr, row.error != 0, what);
		if (!mr)
			check_equal(errno, row.error, what + ": errno");
	}
}

/* Only ib_core sees which memory an MR is on. */
TEST_F(dm, dm_rereg_is_refused)
{
	pair p(on.client, on.server);
	region to(on.server);
	memory other(4096);

	check(ibv_rereg_mr(to.mr.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr,
			   nullptr, 0, IBV_ACCESS_LOCAL_WRITE) != 0,
	      "rights were changed");
	check_equal(errno, EINVAL, "errno");
	check(ibv_rereg_mr(to.mr.get(), IBV_REREG_MR_CHANGE_TRANSLATION,
			   nullptr, other.bytes().data(), 4096, 0) != 0,
	      "memory was changed");
	check_equal(errno, EINVAL, "errno");
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
}

TEST_F(dm, dm_stays_under_its_mrs)
{
	pair p(on.client, on.server);
	region to(on.server);

	check_equal(ibv_free_dm(to.memory.get()), EBUSY, "ibv_free_dm");
	fill(p.client.at(0, 64), 1);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check(word_at(*to.memory, mr_offset) != 0, "nothing was written");
	to.mr.reset();
	check_equal(ibv_free_dm(to.memory.release()), 0, "ibv_free_dm");
	wait_for_dm(on.server);
}

/* The status of a process that leaves a DM and an MR to the kernel. */
int leave_objects(const port &like)
{
	try {
		port own(like.name, like.gid_index, "ornic");
		dm_ptr memory = alloc_dm(own, max_dm_size(own));
		mr_ptr mr = reg(own, *memory, 0, 4096);

		_exit(mr ? 0 : 1);
	} catch (const failure &) {
		return 1;
	}
}

TEST_F(dm, dm_ends_with_its_context)
{
	const pid_t child = fork();

	check(child >= 0, "fork");
	if (!child)
		_exit(leave_objects(on.server));
	int status;
	check_equal(waitpid(child, &status, 0), child, "waitpid");
	check_equal(status, 0, "the child");
	wait_for_dm(on.server);
}

TEST_F(dm, dm_budget_is_of_the_device)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	port other(on.server.name, on.server.gid_index, "ornic");
	const size_t most = max_dm_size(on.server);
	dm_ptr first = alloc_dm(on.server, most / 2 + 1);

	check(!try_alloc_dm(other, most / 2), "more than there is");
	check_equal(errno, ENOMEM, "errno");
	dm_ptr second = alloc_dm(other, most / 2 - page);
	check(!try_alloc_dm(on.server, 1), "one byte more");
	check_equal(errno, ENOMEM, "errno");
	first.reset();
	check(try_alloc_dm(other, most / 2) != nullptr, "not given back");
}

/* Of a device memory, as the kernel shows it. */
struct area {
	std::byte *begin = nullptr;
	size_t size = 0;
	off_t offset = 0;
};

/* The mapping with @size bytes, in pages of the kernel or in a BAR. */
area find_mapping(size_t size)
{
	std::ifstream maps("/proc/self/maps");
	std::string line;

	while (std::getline(maps, line)) {
		uintptr_t begin, end;
		unsigned long long offset;

		if ((line.find("[ornic_dm]") != std::string::npos ||
		     line.find("/uverbs") != std::string::npos) &&
		    std::sscanf(line.c_str(), "%zx-%zx %*s %llx", &begin, &end,
				&offset) == 3 &&
		    end - begin == size)
			return { reinterpret_cast<std::byte *>(begin),
				 end - begin, static_cast<off_t>(offset) };
	}
	throw failure("no mapping");
}

void *map(const port &p, const area &a, size_t size, int rights = PROT_READ,
	  int flags = MAP_SHARED)
{
	errno = 0;
	return mmap(nullptr, size, rights, flags, p.context->cmd_fd, a.offset);
}

void refused(void *mapped, int error, const std::string &what)
{
	check(mapped == MAP_FAILED, what);
	check_equal(errno, error, what + ": errno");
}

TEST_F(dm, dm_mappings_are_whole)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	port other(on.server.name, on.server.gid_index, "ornic");
	dm_ptr memory = alloc_dm(on.server, 4 * page);
	const area a = find_mapping(4 * page);

	refused(map(on.server, a, page), EINVAL, "a part");
	refused(map(on.server, a, 8 * page), EINVAL, "more");
	refused(map(on.server, a, a.size, PROT_READ, MAP_PRIVATE), EINVAL,
		"a copy");
	refused(map(on.server, a, a.size, PROT_READ | PROT_EXEC), EPERM,
		"code");
	refused(map(other, a, a.size), EINVAL, "of another context");
	check_equal(mprotect(a.begin, a.size, PROT_READ | PROT_EXEC), -1,
		    "mprotect to code");
	check_equal(errno, EACCES, "errno");
	refused(mremap(a.begin, a.size, 2 * a.size, MREMAP_MAYMOVE), EFAULT,
		"a larger mapping");
	/* The second one is of the same pages; a part of it may go. */
	void *again = map(on.server, a, a.size, PROT_READ | PROT_WRITE);
	check(again != MAP_FAILED, "mmap");
	check_equal(munmap(again, page), 0, "munmap of a part");
	set_word(*memory, page, 0x12345678);
	void *room = mmap(nullptr, 3 * page, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(room != MAP_FAILED, "mmap of nothing");
	void *moved = mremap(static_cast<std::byte *>(again) + page, 3 * page,
			     3 * page, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	check(moved != MAP_FAILED, "mremap");
	uint32_t word;
	std::memcpy(&word, moved, sizeof(word));
	check_equal(word, 0x12345678U, "the same memory");
	check_equal(munmap(moved, 3 * page), 0, "munmap");
	memory.reset();
	refused(map(on.server, a, a.size), EINVAL, "what is freed");
}

/* What a program keeps is not given to others, and counts. */
TEST_F(dm, dm_mapping_outlives_it)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	const size_t most = max_dm_size(on.server);
	dm_ptr memory = alloc_dm(on.server, most - page);
	const area a = find_mapping(most - page);
	auto *kept = static_cast<std::byte *>(
		map(on.server, a, a.size, PROT_READ | PROT_WRITE));

	check(kept != MAP_FAILED, "mmap");
	std::memset(kept, 0x55, a.size);
	memory.reset();
	check(kept[a.size - 1] == std::byte{ 0x55 }, "its bytes");
	check(!try_alloc_dm(on.server, 2 * page), "a budget without end");
	check_equal(errno, ENOMEM, "errno");

	dm_ptr next = alloc_dm(on.server, page);
	std::vector<std::byte> bytes(page, std::byte{ 0xff });
	get(*next, 0, bytes);
	check_zero(bytes, "new memory");
	std::memset(kept, 0xaa, a.size);
	check_equal(word_at(*next, 0), 0U, "new memory");
	next.reset();
	check_equal(munmap(kept, a.size), 0, "munmap");
	wait_for_dm(on.server);
}

/* A child keeps what its parent has freed. */
TEST_F(dm, dm_of_a_child)
{
	dm_ptr memory = alloc_dm(on.server, max_dm_size(on.server));
	const area a = find_mapping(max_dm_size(on.server));
	int pipes[2];

	check_equal(pipe(pipes), 0, "pipe");
	const pid_t child = fork();
	check(child >= 0, "fork");
	if (!child) {
		char byte;

		close(pipes[1]);
		a.begin[0] = std::byte{ 0x77 };
		(void)!read(pipes[0], &byte, 1);
		_exit(a.begin[0] == std::byte{ 0x77 } ? 0 : 1);
	}
	close(pipes[0]);
	for (int ms = 0; ms < timeout_ms(); ms++) {
		if (word_at(*memory, 0) == 0x77)
			break;
		usleep(1000);
	}
	check_equal(word_at(*memory, 0), 0x77U, "what the child wrote");
	memory.reset();
	check(!try_alloc_dm(on.server, 4), "the child's memory");
	check_equal(errno, ENOMEM, "errno");
	close(pipes[1]);
	int status;
	check_equal(waitpid(child, &status, 0), child, "waitpid");
	check_equal(status, 0, "the child");
	wait_for_dm(on.server);
}

TEST_F(dm, dm_is_zeroed)
{
	std::vector<std::byte> bytes(max_dm_size(on.server), std::byte{ 0xff });
	dm_ptr memory = alloc_dm(on.server, bytes.size());

	put(*memory, 0, bytes);
	memory.reset();
	wait_for_dm(on.server);
	memory = alloc_dm(on.server, bytes.size());
	get(*memory, 0, bytes);
	check_zero(bytes, "new memory");
}

/* ibv_import_dm(): the same context in another guise. */
TEST_F(dm, dm_import)
{
	dm_ptr memory = alloc_dm(on.server, 4096);
	ibv_context *ctx = ibv_import_device(dup(on.server.context->cmd_fd));

	check(ctx != nullptr, "ibv_import_device");
	context_ptr imported(ctx);
	errno = 0;
	check(!ibv_import_dm(ctx, memory->handle + 1), "no such handle");
	check_equal(errno, ENOENT, "errno");
	ibv_dm *same = ibv_import_dm(ctx, memory->handle);
	check(same != nullptr, "ibv_import_dm");
	set_word(*memory, 8, 99);
	check_equal(word_at(*same, 8), 99U, "the same memory");
	ibv_unimport_dm(same);
	set_word(*memory, 8, 100);
}

} /* namespace */
