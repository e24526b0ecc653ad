// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* MRs on dma-bufs of several exporters, and what they keep alive. */

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "dmabuf.h"

mr_ptr try_reg(const port &p, int fd, uint64_t offset, size_t size,
	       uint64_t iova, int access)
{
	errno = 0;
	return mr_ptr(
		ibv_reg_dmabuf_mr(p.pd.get(), offset, size, iova, fd, access));
}

bool takes_dmabufs(const port &p)
{
	return try_reg(p, -1) || errno != EOPNOTSUPP;
}

bool copies_by_cpu(const port &p)
{
	std::ifstream file("/sys/class/infiniband/" + p.name +
			   "/device/modalias");
	std::string modalias;

	return file >> modalias && modalias == "ornic:soft";
}

bool takes_moves(const port &p, const dma_buffer &buffer)
{
	return try_reg(p, buffer.fd()) || errno != EOPNOTSUPP;
}

void need_moves(const ports &on, const dma_buffer &buffer)
{
	for (const port *p : { &on.client, &on.server })
		if (!takes_moves(*p, buffer))
			skip(p->name + " takes no dma-bufs that move");
}

void wait_for_users(const dma_buffer &buffer, long count)
{
	for (int ms = 0; ms < timeout_ms() && buffer.users() > count; ms++)
		usleep(1000);
	check_equal(buffer.users(), count, "users");
}

region::region(port &p, exporter e, int access)
	: buffer(e, buffer_size)
	, mr(try_reg(p, buffer.fd(), mr_offset, mr_size, mr_iova, access))
{
	check(mr != nullptr,
	      "ibv_reg_dmabuf_mr: " + std::string(std::strerror(errno)));
	check_equal(mr->length, mr_size, "the length of its MR");
	clear(buffer.bytes());
}

remote_end end_of(const ibv_mr &mr, const endpoint &e)
{
	remote_end there = e;

	there.rkey = mr.rkey;
	there.address = mr_iova;
	return there;
}

remote_end region::end(const endpoint &e) const
{
	return end_of(*mr, e);
}

void region::check_guards() const
{
	check_clear(buffer.bytes().first(mr_offset), "before the MR");
	check_clear(buffer.bytes().subspan(mr_offset + mr_size),
		    "after the MR");
}

constexpr unsigned int writes = 32;

void post_writes(pair &p, const region &to)
{
	const remote_end there = to.end(p.server);

	fill(p.client.at(0, mr_size), 5);
	for (unsigned int i = 0; i < writes; i++)
		p.client.post(rdma(IBV_WR_RDMA_WRITE, i, there, 0),
			      { p.client.sge(0, mr_size) });
}

void check_dereg(pair &p, region &to)
{
	to.mr.reset();
	clear(to.buffer.bytes());
	ibv_wc wc = p.client.wait_send();
	while (wc.status == IBV_WC_SUCCESS && wc.wr_id != writes - 1)
		wc = p.client.wait_send();
	check(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_ACCESS_ERR,
	      ibv_wc_status_str(wc.status));
	check_clear(to.buffer.bytes(), "memory without an MR");
}

int rereg(const port &p, ibv_mr &mr, uint32_t flags, int access,
	  std::span<std::byte> to)
{
	struct {
		ib_uverbs_cmd_hdr hdr;
		ib_uverbs_rereg_mr core;
	} command{};
	ib_uverbs_rereg_mr_resp keys{};

	command.hdr.command = IB_USER_VERBS_CMD_REREG_MR;
	command.hdr.in_words = sizeof(command) / 4;
	command.hdr.out_words = sizeof(keys) / 4;
	command.core.response = reinterpret_cast<uint64_t>(&keys);
	command.core.mr_handle = mr.handle;
	command.core.flags = flags;
	command.core.start = reinterpret_cast<uint64_t>(to.data());
	command.core.length = to.size();
	command.core.hca_va = command.core.start;
	command.core.pd_handle = p.pd->handle;
	command.core.access_flags = static_cast<uint32_t>(access);
	if (write(p.context->cmd_fd, &command, sizeof(command)) < 0)
		return errno;
	check_equal(keys.rkey, mr.rkey, "the new rkey");
	return 0;
}

uint64_t word_at(std::span<const std::byte> bytes)
{
	uint64_t word;

	std::memcpy(&word, bytes.data(), sizeof(word));
	return word;
}

void set_word(std::span<std::byte> bytes, uint64_t word)
{
	std::memcpy(bytes.data(), &word, sizeof(word));
}

namespace
{

class dmabuf : public verify, public testing::WithParamInterface<exporter> {
protected:
	dmabuf()
	{
		for (const port *p : { &on.client, &on.server })
			if (!takes_dmabufs(*p))
				skip(p->name + " takes no dma-bufs");
		const dma_buffer buffer(GetParam(), buffer_size);
		if (!buffer)
			skip("no " + to_string(GetParam()));
		if (GetParam() == exporter::moving)
			need_moves(on, buffer);
	}
};

INSTANTIATE_TEST_SUITE_P(, dmabuf, testing::ValuesIn(exporters),
			 [](const auto &row) { return to_string(row.param); });

TEST_P(dmabuf, dmabuf_messages)
{
	pair p(on.client, on.server);
	region from(on.client, GetParam()), to(on.server, GetParam());

	fill(from.inside(), 1);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { from.sge(0, 70000), from.sge(70000, mr_size - 70000) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_fill(to.inside(), 1, "what was written");
	to.check_guards();

	/* Between a dma-buf and other memory, in parts. */
	p.client.post(rdma(IBV_WR_RDMA_READ, 2, to.end(p.server), 0),
		      { p.client.sge(0, 33333),
			p.client.sge(33333, mr_size - 33333) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	check_fill(p.client.at(0, mr_size), 1, "what was read");
	clear(from.inside());
	p.client.post(rdma(IBV_WR_RDMA_READ, 3, to.end(p.server), 0),
		      { from.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	check_fill(from.inside(), 1, "what was read into a dma-buf");
	from.check_guards();

	fill(p.client.at(0, mr_size), 2);
	p.server.post_recv(4, { to.sge(0, 30001),
				to.sge(30001, mr_size - 30001) });
	p.client.post(request(IBV_WR_SEND, 4), { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "SEND");
	check_wc(p.server.wait_recv(), IBV_WC_SUCCESS, "receive");
	check_fill(to.inside(), 2, "what was received");
	to.check_guards();
}

TEST_P(dmabuf, dmabuf_atomics)
{
	/* The last word of a page of any size, and the first one of the next. */
	constexpr size_t places[] = { 65536 - mr_offset - 8,
				      65536 - mr_offset };

	if (!has_atomics && copies_by_cpu(on.server)) {
		dma_buffer buffer(GetParam(), buffer_size);

		check(!try_reg(on.server, buffer.fd(), mr_offset, mr_size,
			       mr_iova, all_access),
		      "remote atomics");
		check_equal(errno, EOPNOTSUPP, "remote atomics: errno");
		return;
	}
	pair p(on.client, on.server);
	region to(on.server, GetParam(), all_access),
		results(on.client, GetParam());
	const remote_end there = to.end(p.server);

	for (size_t at : places) {
		const auto word = to.inside().subspan(at, 8);

		set_word(word, 40);
		p.client.post(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, there, at,
				     1ULL << 40 | 2),
			      { results.sge(0, 8) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "fetch and add");
		check_equal(word_at(word), 1ULL << 40 | 42, "sum");
		check_equal(word_at(results.inside()), 40ULL, "what was there");
		p.client.post(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 2, there, at,
				     1ULL << 40 | 42, 7),
			      { results.sge(8, 8) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "swap");
		check_equal(word_at(word), 7ULL, "what was swapped in");
		clear(word);
	}
	check_clear(to.buffer.bytes(), "what is beside the words");
}

TEST_P(dmabuf, dmabuf_bounds)
{
	const struct {
		uint64_t address;
		size_t size;
	} rows[] = { { mr_iova - 1, 1 },
		     { mr_iova - 1, 2 },
		     { mr_iova + mr_size, 1 },
		     { mr_iova + mr_size - 1, 2 },
		     { mr_iova, mr_size + 1 },
		     { mr_offset, 8 },
		     { 0, 1 },
		     { UINT64_MAX - 3, 8 },
		     { UINT64_MAX, 1 } };
	region to(on.server, GetParam());

	for (const auto &row : rows) {
		pair p(on.client, on.server);
		remote_end there = to.end(p.server);

		there.address = 0;
		fill(p.client.at(0, mr_size + 1), 1);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, there, row.address),
			      { p.client.sge(0, row.size) });
		check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR,
			 "WRITE at " + std::to_string(row.address));
		to.check_guards();
	}
}

TEST_P(dmabuf, dmabuf_rights)
{
	region read_only(on.server, GetParam(), IBV_ACCESS_REMOTE_READ);
	pair p(on.client, on.server);

	p.client.post(rdma(IBV_WR_RDMA_READ, 1, read_only.end(p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	fill(p.client.at(0, 64), 1);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 2, read_only.end(p.server), 0),
		      { p.client.sge(0, 64) });
	check_wc(p.client.wait_send(), IBV_WC_REM_ACCESS_ERR, "WRITE");
	check_clear(read_only.buffer.bytes(), "memory");
}

TEST_P(dmabuf, dmabuf_registrations)
{
	constexpr int remote = IBV_ACCESS_REMOTE_WRITE;
	const struct {
		uint64_t offset;
		size_t size;
		uint64_t iova;
		int access, error;
	} rows[] = {
		{ 0, buffer_size, 0, most_access, 0 },
		{ 1, 1, 1, 0, 0 },
		{ buffer_size - 1, 1, 65535, most_access, 0 },
		{ 0, 4096, UINT64_MAX - 131071, most_access, 0 },
		{ 0, 0, 0, most_access, EINVAL },
		{ buffer_size, 0, 0, most_access, EINVAL },
		{ 0, buffer_size + 1, 0, most_access, EINVAL },
		{ 1, buffer_size, 1, most_access, EINVAL },
		{ buffer_size, 1, 0, most_access, EINVAL },
		{ 1ULL << 40, 1, 0, most_access, EINVAL },
		{ UINT64_MAX, 1, 65535, most_access, EINVAL },
		{ UINT64_MAX - 65535, 131072, 0, most_access, EINVAL },
		{ 65536, SIZE_MAX - 65535, 0, most_access, EINVAL },
		{ 0, SIZE_MAX, 0, most_access, EINVAL },
		{ 0, 131072, UINT64_MAX - 65535, most_access, EINVAL },
		{ 8, 8, 16, most_access, EINVAL },
		{ 0, 4096, 0, remote, EINVAL },
		{ 0, 4096, 0, most_access | IBV_ACCESS_MW_BIND, EINVAL },
		{ 0, 4096, 0, most_access | IBV_ACCESS_ON_DEMAND, EINVAL },
		{ 0, 4096, 0, most_access | 1 << 30, EINVAL },
	};
	dma_buffer buffer(GetParam(), buffer_size);
	const long before = buffer.users();

	for (const auto &row : rows) {
		const mr_ptr mr = try_reg(on.server, buffer.fd(), row.offset,
					  row.size, row.iova, row.access);
		const std::string what = std::to_string(row.size) + " at " +
					 std::to_string(row.offset);

		check_equal(mr == nullptr, row.error != 0, what);
		if (!mr)
			check_equal(errno, row.error, what + ": errno");
		check_equal(buffer.users(), before + !!mr, what + ": users");
	}
	check_equal(buffer.users(), before, "users in the end");
}

/* What the file descriptor of an MR's dma-buf stood for stays. */
TEST_P(dmabuf, dmabuf_outlives_its_file)
{
	pair p(on.client, on.server);
	region to(on.server, GetParam());

	to.buffer.close_fd();
	to.buffer.unmap();
	fill(p.client.at(0, mr_size), 3);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	clear(p.client.at(0, mr_size));
	p.client.post(rdma(IBV_WR_RDMA_READ, 2, to.end(p.server), 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
	check_fill(p.client.at(0, mr_size), 3, "what was kept");
}

/* They share the exporter's mapping, in whatever order they end. */
TEST_P(dmabuf, dmabuf_of_several_MRs)
{
	pair p(on.client, on.server);
	region to(on.server, GetParam());
	const long users = to.buffer.users();
	mr_ptr whole = try_reg(on.server, to.buffer.fd(), 0, buffer_size, 0);
	remote_end there = p.server;

	check(whole != nullptr, "second MR");
	check_equal(to.buffer.users(), users + 1, "users");
	to.mr.reset();
	there.rkey = whole->rkey;
	there.address = 0;
	fill(p.client.at(0, buffer_size), 4);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, there, 0),
		      { p.client.sge(0, buffer_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_fill(to.buffer.bytes(), 4, "what was written");
	to.mr = try_reg(on.server, to.buffer.fd());
	whole.reset();
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 2, to.end(p.server), 0),
		      { p.client.sge(1, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE to the first");
}

/* After ibv_dereg_mr() there is no access, whatever is under way. */
TEST_P(dmabuf, dmabuf_dereg_under_traffic)
{
	for (int round = 0; round < 8; round++) {
		pair p(on.client, on.server);
		region to(on.server, GetParam());

		post_writes(p, to);
		if (round & 1)
			check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "first");
		check_dereg(p, to);
	}
}

/* The status of a process that leaves an MR to the kernel. */
int leave_mr(const port &like, int fd)
{
	try {
		port own(like.name, like.gid_index, "ornic");
		mr_ptr mr = try_reg(own, fd);

		_exit(mr ? 0 : 1);
	} catch (const failure &) {
		return 1;
	}
}

TEST_P(dmabuf, dmabuf_ends_with_its_context)
{
	dma_buffer buffer(GetParam(), buffer_size);
	const long before = buffer.users();
	const pid_t child = fork();

	check(child >= 0, "fork");
	if (!child)
		_exit(leave_mr(on.server, buffer.fd()));
	int status;
	check_equal(waitpid(child, &status, 0), child, "waitpid");
	check_equal(status, 0, "the child");
	wait_for_users(buffer, before);
}

constexpr uint32_t trans = IBV_REREG_MR_CHANGE_TRANSLATION;
constexpr uint32_t access = IBV_REREG_MR_CHANGE_ACCESS;

/* As those on demand, an MR on memory that moves does not change, and goes on. */
void check_no_rereg(const ports &on)
{
	pair p(on.client, on.server);
	region to(on.server, exporter::moving);
	const memory plain(8192);
	const long users = to.buffer.users();

	for (uint32_t seed = 1; seed < 4; seed++) {
		check_equal(rereg(on.server, *to.mr, access, 0), EOPNOTSUPP,
			    "rights");
		check_equal(rereg(on.server, *to.mr, trans, 0, plain.bytes()),
			    EOPNOTSUPP, "other memory");
		check_equal(rereg(on.server, *to.mr, trans | access,
				  most_access, plain.bytes()),
			    EOPNOTSUPP, "both");
		fill(p.client.at(0, mr_size), seed);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, seed, to.end(p.server),
				   0),
			      { p.client.sge(0, mr_size) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		check_fill(to.inside(), seed, "what was written");
		to.buffer.move();
	}
	to.check_guards();
	check_equal(to.buffer.users(), users, "users");
	check_equal(to.buffer.stray(), 0U, "stray bytes");
}

TEST_P(dmabuf, dmabuf_rereg)
{
	if (GetParam() == exporter::moving)
		return check_no_rereg(on);
	pair p(on.client, on.server);
	region to(on.server, GetParam(), IBV_ACCESS_REMOTE_READ);
	memory plain(8192);
	const long users = to.buffer.users();

	/* With the rights to write, in the same place. */
	check_equal(rereg(on.server, *to.mr, access, most_access), 0, "rights");
	/* Not with those that it could not be registered with. */
	check_equal(rereg(on.server, *to.mr, access,
			  most_access | IBV_ACCESS_MW_BIND),
		    EINVAL, "windows");
	if (!has_atomics && copies_by_cpu(on.server))
		check_equal(rereg(on.server, *to.mr, access, all_access),
			    EOPNOTSUPP, "remote atomics");
	fill(p.client.at(0, mr_size), 6);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, to.end(p.server), 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_fill(to.inside(), 6, "what was written");
	to.check_guards();
	check_equal(to.buffer.users(), users, "users");

	/* To memory of the process: the dma-buf is given back. */
	check_equal(rereg(on.server, *to.mr, trans, 0, plain.bytes()), 0,
		    "other memory");
	check_equal(to.buffer.users(), users - 1, "users");
	remote_end there = to.end(p.server);
	there.address = reinterpret_cast<uint64_t>(plain.bytes().data());
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 2, there, 0),
		      { p.client.sge(1, 8192) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check(!std::memcmp(plain.bytes().data(), p.client.at(1, 8192).data(),
			   8192),
	      "other memory has other bytes");
	check_fill(to.inside(), 6, "the dma-buf");
	/* What may have windows now; and from write access to none, and back. */
	check_equal(rereg(on.server, *to.mr, access,
			  all_access | IBV_ACCESS_MW_BIND),
		    0, "windows on other memory");
	check_equal(rereg(on.server, *to.mr, access, 0), 0, "no rights");
	check_equal(rereg(on.server, *to.mr, access, all_access), 0, "rights");
}

class dmabuf_files : public verify {
protected:
	dmabuf_files()
	{
		if (!takes_dmabufs(on.server))
			skip(on.server.name + " takes no dma-bufs");
	}
};

TEST_F(dmabuf_files, dmabuf_of_other_files)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int file = memfd_create("file", MFD_CLOEXEC);
	const struct {
		int fd, error;
	} rows[] = { { -1, EBADF },
		     { 1 << 20, EBADF },
		     { INT32_MIN, EBADF },
		     { null, EINVAL },
		     { file, EINVAL },
		     { on.server.context->cmd_fd, EINVAL },
		     { on.server.context->async_fd, EINVAL } };

	check(null >= 0 && file >= 0, "open");
	check_equal(ftruncate(file, buffer_size), 0, "ftruncate");
	for (const auto &row : rows) {
		const std::string what = "fd " + std::to_string(row.fd);

		check(!try_reg(on.server, row.fd), what);
		check_equal(errno, row.error, what + ": errno");
	}
	/* What programs ask to find out whether there are dma-bufs. */
	check(!try_reg(on.server, -1, 0, 0, 0, 0), "nothing of nothing");
	check_equal(errno, EBADF, "errno");
	close(null);
	close(file);
}

/* An MR reaches what the dma-buf has, and no other part of its huge page. */
TEST_F(dmabuf_files, dmabuf_of_huge_pages)
{
	const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	huge_page whole;
	pair p(on.client, on.server);

	if (!whole)
		skip("no huge page");
	const size_t pages = whole.bytes().size() / page;
	const struct {
		size_t first, count;
	} rows[] = { { 0, pages },     { 0, 2 }, { 3, 5 },
		     { pages - 1, 1 }, { 7, 1 }, { 0, 1 } };

	for (const auto &row : rows) {
		const size_t size = std::min(row.count * page,
					     p.client.buffer.bytes().size());
		const std::string what = std::to_string(row.count) +
					 " pages from " +
					 std::to_string(row.first);
		const dma_buffer part(whole, row.first * page, size);
		const auto inside =
			whole.bytes().subspan(row.first * page, size);

		if (!part)
			skip("no udmabuf");
		fill(whole.bytes(), 8);
		const mr_ptr mr = try_reg(on.server, part.fd(), 0, size, 0);
		if (!mr) {
			check_equal(errno, EOPNOTSUPP, what);
			std::printf("# refused: %s\n", what.c_str());
			continue;
		}
		remote_end there = p.server;
		there.rkey = mr->rkey;
		there.address = 0;
		p.client.post(rdma(IBV_WR_RDMA_READ, 1, there, 0),
			      { p.client.sge(0, size) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "READ");
		check(!std::memcmp(p.client.at(0, size).data(), inside.data(),
				   size),
		      what + ": other bytes are read");
		clear(whole.bytes());
		fill(p.client.at(0, size), 9);
		p.client.post(rdma(IBV_WR_RDMA_WRITE, 2, there, 0),
			      { p.client.sge(0, size) });
		check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
		check_fill(inside, 9, what);
		clear(inside);
		check_clear(whole.bytes(), what + ": what is beside");
	}
}

/* Registration does not wait for fences for as long as users like. */
TEST_F(dmabuf_files, dmabuf_with_a_fence)
{
	const dma_buffer buffer(exporter::vgem, buffer_size);

	if (!buffer)
		skip("no vgem");
	if (!copies_by_cpu(on.server))
		skip(on.server.name + " waits for no fences of users");
	const long before = buffer.users();
	{
		const vgem_fence fence(buffer);
		const long with_fence = buffer.users();

		check(!try_reg(on.server, buffer.fd()), "with a fence");
		check_equal(errno, EBUSY, "with a fence: errno");
		check_equal(buffer.users(), with_fence, "users with a fence");
	}
	wait_for_users(buffer, before);
	check(try_reg(on.server, buffer.fd()) != nullptr, "without a fence");
	check_equal(buffer.users(), before, "users");
}

exporter exporter_of_environment()
{
	const char *name = std::getenv("DMABUF_EXPORTER");

	for (exporter e : exporters)
		if (name && to_string(e) == name)
			return e;
	check(!name, "no such exporter");
	return exporter::udmabuf;
}

/*
 * In the environment: DMABUF_HELD, a file that appears once there are an MR and
 * traffic; then the device is removed. DMABUF_EXPORTER names the exporter.
 */
TEST_F(dmabuf_files, dmabuf_outlives_its_device)
{
	const char *held = std::getenv("DMABUF_HELD");
	constexpr uint64_t window = 16;

	if (!held)
		skip("nobody ends the device");
	const exporter by = exporter_of_environment();
	dma_buffer buffer(by, buffer_size);
	check(static_cast<bool>(buffer), "no " + to_string(by));
	if (by == exporter::moving)
		need_moves(on, buffer);
	const long before = buffer.users();
	pair p(on.client, on.server);
	const mr_ptr mr = try_reg(on.server, buffer.fd());
	remote_end there = p.server;

	check(mr != nullptr, "ibv_reg_dmabuf_mr");
	check_equal(buffer.users(), before + 1, "users with an MR");
	there.rkey = mr->rkey;
	there.address = mr_iova;
	fill(p.client.at(0, mr_size), 1);
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 0, there, 0),
		      { p.client.sge(0, mr_size) });
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_fill(buffer.bytes().subspan(mr_offset, mr_size), 1,
		   "what was written");
	const auto end = std::chrono::steady_clock::now() +
			 std::chrono::milliseconds(timeout_ms());
	for (uint64_t id = 0; buffer.users() > before; id++) {
		ibv_wc wc;

		if (id == window)
			std::ofstream{ held };
		if (by == exporter::moving && id % 16 == 0)
			buffer.move();
		/* What there is no room for any more is no matter. */
		(void)p.client.try_post(rdma(IBV_WR_RDMA_WRITE, id, there, 0),
					{ p.client.sge(0, mr_size) });
		while (ibv_poll_cq(p.client.send_cq.get(), 1, &wc) > 0)
			;
		check(std::chrono::steady_clock::now() < end,
		      "the dma-buf is not given back");
	}
	/* Nothing writes to it any more, and it is still there. */
	fill(buffer.bytes(), 2);
	usleep(100000);
	check_fill(buffer.bytes(), 2, "the dma-buf");
	if (by == exporter::moving)
		check_equal(buffer.stray(), 0U, "stray bytes");
}

} /* namespace */
