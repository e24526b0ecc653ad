// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging of memory whose pages take long, as user space brings them, or never
 * come: nobody waits but who needs them.
 */

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <span>
#include <vector>

#include "hung_file.h"
#include "odp.h"
#include "other_process.h"

namespace
{

void wait_for_requests(const hung_file &file, uint64_t n)
{
	for (int i = 0; file.waiting() < n && i < timeout_ms(); i++)
		usleep(1000);
	check(file.waiting() >= n, "nobody has asked for a page");
}

/* A process whose pages never come, however many it asks for, stops itself only. */
TEST_F(odp, odp_hung_process)
{
	if (!hung_file::is_possible())
		skip("the kernel has no FUSE");
	pair p(on.client, on.server, opt);
	const hung_file file(1100 * page);
	other_process hung(on.server, [&](port &mine, auto ready) {
		ibv_pd *const pd = mine.pd.get();
		const std::span<std::byte> bytes = file.bytes();
		const mr_ptr mr(
			ibv_reg_mr(pd, bytes.data(), bytes.size(), on_demand));

		check(mr != nullptr, "ibv_reg_mr");
		for (size_t at = 0; at < bytes.size(); at += page) {
			ibv_sge sge{ address_of(bytes) + at, page, mr->lkey };

			check_equal(ibv_advise_mr(pd,
						  IBV_ADVISE_MR_ADVICE_PREFETCH,
						  0, &sge, 1),
				    0, "ibv_advise_mr");
		}
		ready();
		for (;;)
			pause();
	});

	check(hung.is_ready(), "the other process has not asked");
	wait_for_requests(file, 1);
	for (uint32_t round = 0; round < 20; round++) {
		fill(p.client.at(0, page), round);
		forget(p.server, 0, page);
		write_to(p, page, IBV_WC_SUCCESS, "WRITE");
		check_fill(p.server.at(0, page), round, "WRITE");
	}
	check(hung.end(), "the other process does not end");
}

/* Something of this process that others write to. */
template <typename T> class shared {
public:
	shared()
		: base_(static_cast<T *>(
			  mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
	{
		check(base_ != MAP_FAILED, "mmap");
	}

	~shared()
	{
		munmap(base_, sizeof(T));
	}

	shared(const shared &) = delete;
	shared &operator=(const shared &) = delete;

	T &operator*() const
	{
		return *base_;
	}

private:
	T *base_;
};

/* Queues of a process that need pages of a file, and how many requests these become. */
struct hung_queues {
	uint32_t queues;
	size_t stride;
	uint32_t requests;
};

using pairs_of_process = std::vector<std::unique_ptr<pair>>;

/*
 * The queues @pairs need pages that never come. The kernel may hold locks of the memory of
 * the process from then on, so that it can map none: the first round takes what it needs.
 */
void post_hung(const pairs_of_process &pairs, const ibv_mr *mr,
	       const hung_file &file, const hung_queues &row)
{
	for (bool hangs : { false, true })
		for (uint32_t i = 0; i < row.queues; i++) {
			ibv_sge sge = pairs[i]->client.sge(0, 8);

			if (hangs)
				sge = { address_of(file.bytes()) +
						i * row.stride,
					8, mr->lkey };
			pairs[i]->client.post(rdma(IBV_WR_RDMA_WRITE, 1,
						   pairs[i]->server, 0),
					      { sge });
			if (!hangs)
				check_wc(pairs[i]->client.wait_send(),
					 IBV_WC_SUCCESS, "WRITE");
		}
}

/* To pages of a process that it has not had before, and back. */
void write_and_read(endpoint &e, const remote_end &peer)
{
	for (uint32_t round = 0; round < 20; round++) {
		const size_t at = round * page;

		fill(e.at(0, page), round);
		e.post(rdma(IBV_WR_RDMA_WRITE, 1, peer, at),
		       { e.sge(0, page) });
		check_wc(e.wait_send(), IBV_WC_SUCCESS, "WRITE");
		clear(e.at(0, page));
		e.post(rdma(IBV_WR_RDMA_READ, 1, peer, at), { e.sge(0, page) });
		check_wc(e.wait_send(), IBV_WC_SUCCESS, "READ");
		check_fill(e.at(0, page), round, "READ");
	}
}

/*
 * Other memory of the same process, too: what needs pages of one part takes one worker
 * of it, and one of 16 is left in any case.
 */
TEST_F(odp, odp_hung_queues)
{
	const options pinned = { .buffer = page };

	if (!hung_file::is_possible())
		skip("the kernel has no FUSE");
	for (const hung_queues &row :
	     { hung_queues{ 24, page, 1 }, hung_queues{ 15, part, 15 } }) {
		const hung_file file(row.queues * row.stride);
		const shared<remote_end> theirs;
		const uint64_t faults = page_faults(on.server);
		endpoint mine(on.client, opt);
		const remote_end peer = mine;
		other_process hung(on.server, [&](port &there, auto ready) {
			endpoint cold(there, opt);

			cold.to_init();
			cold.to_rtr(peer);
			cold.to_rts();
			*theirs = cold;
			const mr_ptr mr(
				ibv_reg_mr(there.pd.get(), file.bytes().data(),
					   file.bytes().size(), on_demand));
			check(mr != nullptr, "ibv_reg_mr");
			pairs_of_process pairs;
			for (uint32_t i = 0; i < row.queues; i++)
				pairs.push_back(std::make_unique<pair>(
					there, there, pinned));
			post_hung(pairs, mr.get(), file, row);
			ready();
			for (;;)
				pause();
		});

		check(hung.is_ready(), "the other process has not posted");
		mine.to_init();
		mine.to_rtr(*theirs);
		mine.to_rts();
		wait_for_requests(file, row.requests);
		for (int i = 0; page_faults(on.server) < faults + row.queues;
		     i++)
			check(i < timeout_ms() / 20, "not all queues wait");
		write_and_read(mine, *theirs);
		check(hung.end(), "the other process does not end");
	}
}

/* A range of memory whose missing pages this process brings. */
class user_faults {
public:
	explicit user_faults(std::span<std::byte> bytes)
		: bytes_(bytes)
		, fd_(static_cast<int>(
			  syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)))
	{
		uffdio_api api{};
		uffdio_register what{};

		api.api = UFFD_API;
		what.range = { address_of(bytes), bytes.size() };
		what.mode = UFFDIO_REGISTER_MODE_MISSING;
		if (fd_ < 0)
			skip("the kernel has no userfaultfd");
		if (!ioctl(fd_, UFFDIO_API, &api) &&
		    !ioctl(fd_, UFFDIO_REGISTER, &what))
			return;
		close(fd_);
		fail("userfaultfd");
	}

	~user_faults()
	{
		close(fd_);
	}

	user_faults(const user_faults &) = delete;
	user_faults &operator=(const user_faults &) = delete;

	void bring(std::span<const std::byte> from) const
	{
		uffdio_copy copy{};

		copy.dst = address_of(bytes_);
		copy.src = address_of(from);
		copy.len = bytes_.size();
		check(!ioctl(fd_, UFFDIO_COPY, &copy), "UFFDIO_COPY");
	}

private:
	std::span<std::byte> bytes_;
	int fd_;
};

/* Who needs a page that user space brings waits for it, and nobody else. */
TEST_F(odp, odp_user_faults)
{
	const memory bytes(page);
	pair p(on.client, on.server, opt), other(on.client, on.server, opt);
	const mr_ptr mr(ibv_reg_mr(on.client.pd.get(), bytes.bytes().data(),
				   page, on_demand));
	const user_faults faults(bytes.bytes());
	ibv_wc wc{};

	check(mr != nullptr, "ibv_reg_mr");
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0),
		      { { address_of(bytes.bytes()), page, mr->lkey } });
	for (uint32_t round = 0; round < 20; round++) {
		fill(other.client.at(0, page), round);
		forget(other.server, 0, page);
		write_to(other, page, IBV_WC_SUCCESS, "WRITE of another QP");
		check_fill(other.server.at(0, page), round,
			   "WRITE of another QP");
	}
	check(!endpoint::wait_for(p.client.send_cq.get(), 100, wc),
	      "a completion before the page is there");
	fill(p.client.at(0, page), 1);
	faults.bring(p.client.at(0, page));
	check_wc(p.client.wait_send(), IBV_WC_SUCCESS, "WRITE");
	check_fill(p.server.at(0, page), 1, "WRITE");
}

/* Pages that cannot be read are not asked for without end: what needs them fails. */
TEST_F(odp, odp_unreadable)
{
	if (!hung_file::is_possible())
		skip("the kernel has no FUSE");
	const hung_file file(2 * page, hung_file::reads::fail);
	ibv_pd *const pd = on.client.pd.get();
	const mr_ptr mr(
		ibv_reg_mr(pd, file.bytes().data(), 2 * page, on_demand));
	pair p(on.client, on.server, opt);
	ibv_sge sge{ address_of(file.bytes()), page, 0 };

	check(mr != nullptr, "ibv_reg_mr");
	sge.lkey = mr->lkey;
	for (ibv_advise_mr_advice advice :
	     { IBV_ADVISE_MR_ADVICE_PREFETCH,
	       IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE })
		check_equal(ibv_advise_mr(pd, advice, IBV_ADVISE_MR_FLAG_FLUSH,
					  &sge, 1),
			    EFAULT, "ibv_advise_mr");
	sge.addr += page;
	p.client.post(rdma(IBV_WR_RDMA_WRITE, 1, p.server, 0), { sge });
	check_wc(p.client.wait_send(), IBV_WC_LOC_PROT_ERR, "WRITE");
}

/* A process that waits for its advice can be killed. */
TEST_F(odp, odp_advice_is_killed)
{
	constexpr uint32_t size = 1 << 30;
	other_process slow(on.server, [&](port &mine, auto ready) {
		ibv_pd *const pd = mine.pd.get();
		const std::span memory = map_small_pages(size);
		const mr_ptr mr(ibv_reg_mr(pd, memory.data(), size, on_demand));

		check(mr != nullptr, "ibv_reg_mr");
		std::vector<ibv_sge> list(1000, { address_of(memory), size,
						  mr->lkey });
		ready();
		(void)ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				    IBV_ADVISE_MR_FLAG_FLUSH, list.data(),
				    static_cast<uint32_t>(list.size()));
		_exit(1);
	});

	check(slow.is_ready(), "the other process has no MR");
	usleep(200000);
	check(slow.end(), "the other process does not end");
}

} /* namespace */
