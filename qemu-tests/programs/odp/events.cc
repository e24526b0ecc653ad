// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "events.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <shared_mutex>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace
{

constexpr uint64_t pause_us = 1000;

void must(bool ok, const zone &z, const char *what)
{
	check(ok, std::string(what) + " of zone " + z.name() + ": " +
			  std::strerror(errno));
}

void pause_up_to(random_numbers &random, uint64_t us)
{
	usleep(static_cast<useconds_t>(random.below(us)));
}

/* New pages are sometimes huge, if the kernel has huge ones. */
void choose_size(zone &z, random_numbers &random)
{
	(void)madvise(z.home, zone_bytes,
		      random.below(2) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void unmap(zone &z, random_numbers &random)
{
	const std::unique_lock alone(z.still);

	z.begin();
	must(!munmap(z.home, zone_bytes), z, "munmap");
	pause_up_to(random, pause_us);
	must(mmap(z.home, zone_bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		  0) == z.home,
	     z, "mmap");
	z.has_new_pages();
	choose_size(z, random);
	pause_up_to(random, pause_us);
	z.stamp_all();
	z.end(z.home);
}

/* In one step, or with empty memory at the old address for a while. */
void move(zone &z, random_numbers &random)
{
	const std::unique_lock alone(z.still);
	std::byte *from = z.look().base;
	std::byte *to = from == z.home ? z.away : z.home;
	const bool leaves = random.below(2);

	z.begin();
	must(mremap(from, zone_bytes, zone_bytes,
		    MREMAP_MAYMOVE | MREMAP_FIXED |
			    (leaves ? MREMAP_DONTUNMAP : 0),
		    to) == to,
	     z, "mremap");
	pause_up_to(random, pause_us);
	if (leaves)
		must(!munmap(from, zone_bytes), z, "munmap");
	z.end(to);
	z.check_taken({ to, zone_bytes }, 0, z.look(), "mremap");
}

void forget(zone &z, random_numbers &random)
{
	const std::unique_lock alone(z.still);

	choose_size(z, random);
	z.begin();
	must(!madvise(z.home, zone_bytes, MADV_DONTNEED), z, "MADV_DONTNEED");
	z.has_new_pages();
	pause_up_to(random, pause_us);
	z.stamp_all();
	z.end(z.home);
}

/* The child overwrites its copy, the parent writes the same stamps once more. */
void fork_and_write(zone &z, random_numbers &random)
{
	const auto wait = static_cast<useconds_t>(random.below(3 * pause_us));
	const pid_t child = fork();

	must(child >= 0, z, "fork");
	if (!child) {
		std::memset(z.home, 0xdb, zone_bytes);
		usleep(wait);
		_exit(0);
	}
	z.stamp_all();
	int status = -1;
	must(waitpid(child, &status, 0) == child && !status, z, "child");
	z.events++;
}

uint64_t merged_pages()
{
	std::ifstream file("/proc/self/ksm_merging_pages");
	uint64_t pages = 0;

	check(bool(file >> pages), "no /proc/self/ksm_merging_pages");
	return pages;
}

void merge(zone &z, random_numbers &random)
{
	must(!madvise(z.home, zone_bytes, MADV_MERGEABLE), z, "MADV_MERGEABLE");
	for (int i = 0; i < 200 && !merged_pages(); i++)
		usleep(10 * pause_us);
	if (merged_pages())
		z.events++;
	pause_up_to(random, 20 * pause_us);
	if (!random.below(3))
		must(!madvise(z.home, zone_bytes, MADV_UNMERGEABLE), z,
		     "MADV_UNMERGEABLE");
}

/* Advice about a page of a huge page splits it. An event is both. */
void collapse_and_split(zone &z, random_numbers &random)
{
	const auto splits = [] {
		return number_in("/proc/vmstat", "thp_split_page");
	};

	(void)madvise(z.home, zone_bytes, MADV_HUGEPAGE);
	/* Pages that are in use just now cannot be collapsed. */
	if (madvise(z.home, zone_bytes, MADV_COLLAPSE))
		return;
	pause_up_to(random, 5 * pause_us);
	const uint64_t before = splits();
	(void)madvise(z.home + random.below(zone_blocks) * block_bytes,
		      static_cast<size_t>(sysconf(_SC_PAGESIZE)), MADV_PAGEOUT);
	if (splits() > before)
		z.events++;
}

void page_out(zone &z)
{
	must(!madvise(z.home, zone_bytes, MADV_PAGEOUT), z, "MADV_PAGEOUT");
	if (number_in("/proc/self/status", "VmSwap:"))
		z.events++;
}

void protect(zone &z, random_numbers &random)
{
	const std::unique_lock alone(z.still);

	z.begin();
	must(!mprotect(z.home, zone_bytes,
		       random.below(2) ? PROT_READ : PROT_NONE),
	     z, "mprotect");
	pause_up_to(random, 2 * pause_us);
	must(!mprotect(z.home, zone_bytes, PROT_READ | PROT_WRITE), z,
	     "mprotect");
	z.end(z.home);
}

/* Drop all pages, then touch some. */
void come_late(zone &z, late_filler &late, random_numbers &random)
{
	{
		const std::unique_lock alone(z.still);

		z.begin();
		late.forget();
		z.warm = random.below(zone_blocks / zone::warm_blocks) *
			 zone::warm_blocks;
		z.end(z.home);
	}
	for (size_t i = 0; i < zone::warm_blocks; i++)
		(void)*reinterpret_cast<volatile uint64_t *>(
			z.home + (z.warm + i) * block_bytes);
}

} /* namespace */

void happen(zone &z, late_filler &late, random_numbers &random)
{
	switch (z.what) {
	case kind::unmap:
		return unmap(z, random);
	case kind::move:
		return move(z, random);
	case kind::forget:
		return forget(z, random);
	case kind::fork:
		return fork_and_write(z, random);
	case kind::merge:
		return merge(z, random);
	case kind::huge:
		return collapse_and_split(z, random);
	case kind::page_out:
		return page_out(z);
	case kind::protect:
		return protect(z, random);
	case kind::late:
		return come_late(z, late, random);
	}
}

void compact()
{
	std::ofstream file("/proc/sys/vm/compact_memory");

	check(bool(file << "1\n" << std::flush), "compact_memory");
}

late_filler::late_filler(zone &z)
	: zone_(z)
	, page_(static_cast<size_t>(sysconf(_SC_PAGESIZE)))
	, page_bytes_(page_)
	, fd_(static_cast<int>(
		  syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)))
{
	uffdio_api api{ UFFD_API, 0, 0 };
	uffdio_register range{ { address_of({ z.home, zone_bytes }),
				 zone_bytes },
			       UFFDIO_REGISTER_MODE_MISSING,
			       0 };

	must(fd_ >= 0 && !ioctl(fd_, UFFDIO_API, &api) &&
		     !ioctl(fd_, UFFDIO_REGISTER, &range),
	     z, "userfaultfd");
	thread_ = std::thread([this] { serve(); });
}

late_filler::~late_filler()
{
	stop_ = true;
	thread_.join();
	close(fd_);
}

void late_filler::forget()
{
	const std::lock_guard alone(lock_);

	must(!madvise(zone_.home, zone_bytes, MADV_DONTNEED), zone_,
	     "MADV_DONTNEED");
	zone_.has_new_pages();
}

/* Else the page is there by now, or cannot be filled yet: the thread tries again. */
void late_filler::fill(uint64_t address)
{
	const std::lock_guard alone(lock_);
	const uint64_t start = address / page_ * page_;
	const uint64_t home = address_of({ zone_.home, zone_bytes });
	const std::span<std::byte> bytes = page_bytes_.bytes();

	zone_.stamp(bytes.data(), (start - home) / block_bytes,
		    page_ / block_bytes);
	uffdio_copy copy{ start, address_of(bytes), page_, 0, 0 };
	uffdio_range range{ start, page_ };

	if (!ioctl(fd_, UFFDIO_COPY, &copy))
		filled_++;
	else
		(void)ioctl(fd_, UFFDIO_WAKE, &range);
}

void late_filler::serve()
{
	random_numbers random(1);
	uffd_msg message;

	while (!stop_) {
		pollfd ready{ fd_, POLLIN, 0 };

		if (poll(&ready, 1, 20) != 1)
			continue;
		if (read(fd_, &message, sizeof(message)) != sizeof(message) ||
		    message.event != UFFD_EVENT_PAGEFAULT)
			continue;
		if (!random.below(8))
			pause_up_to(random, 5 * pause_us);
		fill(message.arg.pagefault.address);
	}
}

void loops::run(std::function<void()> what)
{
	threads_.emplace_back([this, what = std::move(what)] {
		try {
			while (!stop_)
				what();
		} catch (const failure &why) {
			const std::lock_guard alone(lock_);

			if (why_.empty())
				why_ = why.what();
			stop_ = true;
		}
	});
}

void loops::end()
{
	stop_ = true;
	for (std::thread &thread : threads_)
		thread.join();
	threads_.clear();
	check(why_.empty(), why_);
}

loops::~loops()
{
	stop_ = true;
	for (std::thread &thread : threads_)
		thread.join();
}
