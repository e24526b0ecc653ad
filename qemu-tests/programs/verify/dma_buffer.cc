// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "dma_buffer.h"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "dmabuf_exporter.h"
#include "drm.h"
#include "report.h"

namespace
{

/* MFD_HUGE_2MB of <linux/memfd.h>, which does not go with <sys/mman.h> */
constexpr unsigned int size_of_2_mib = 21U << 26;

/* Closes itself. */
class device {
public:
	explicit device(const std::string &path)
		: fd_(open(path.c_str(), O_RDWR | O_CLOEXEC))
	{
	}
	explicit device(int fd)
		: fd_(fd)
	{
	}
	~device()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	device(const device &) = delete;
	device &operator=(const device &) = delete;

	explicit operator bool() const
	{
		return fd_ >= 0;
	}
	[[nodiscard]] int fd() const
	{
		return fd_;
	}
	template <typename T> void command(unsigned long number, T &argument)
	{
		const int status = ioctl(fd_, number, &argument);

		check(!status, "ioctl " + std::to_string(number) + ": " +
				       std::strerror(errno));
	}

private:
	int fd_;
};

int from_memfd(int memfd, size_t offset, size_t size)
{
	device udmabuf("/dev/udmabuf");
	udmabuf_create create{};

	if (!udmabuf)
		return -1;
	check(!fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), "F_SEAL_SHRINK");
	create.memfd = static_cast<uint32_t>(memfd);
	create.flags = UDMABUF_FLAGS_CLOEXEC;
	create.offset = offset;
	create.size = size;
	const int fd = ioctl(udmabuf.fd(), UDMABUF_CREATE, &create);
	check(fd >= 0, "UDMABUF_CREATE: " + std::string(std::strerror(errno)));
	return fd;
}

int from_udmabuf(size_t size)
{
	device file(memfd_create("dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	check(!ftruncate(file.fd(), static_cast<off_t>(size)), "ftruncate");
	return from_memfd(file.fd(), 0, size);
}

int from_heap(size_t size)
{
	device heap("/dev/dma_heap/system");
	dma_heap_allocation_data create{};

	if (!heap)
		return -1;
	create.len = size;
	create.fd_flags = O_RDWR | O_CLOEXEC;
	heap.command(DMA_HEAP_IOCTL_ALLOC, create);
	return static_cast<int>(create.fd);
}

int from_vgem(device &drm, size_t size)
{
	drm_mode_create_dumb create = dumb_buffer(size);
	drm_prime_handle prime{};
	drm_gem_close unused{};

	drm.command(drm_ioctl_mode_create_dumb, create);
	prime.handle = unused.handle = create.handle;
	prime.flags = O_RDWR | O_CLOEXEC;
	drm.command(drm_ioctl_prime_handle_to_fd, prime);
	drm.command(drm_ioctl_gem_close, unused);
	return prime.fd;
}

/* Its card, or -1. */
int open_vgem()
{
	for (int i = 0; i < 8; i++) {
		const std::string path = "/dev/dri/card" + std::to_string(i);
		const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
		drm_version version{};
		char name[16] = {};

		version.name = name;
		version.name_len = sizeof(name) - 1;
		if (fd >= 0 && !ioctl(fd, drm_ioctl_version, &version) &&
		    !std::strcmp(name, "vgem"))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

int from_vgem(size_t size)
{
	device drm(open_vgem());

	return drm ? from_vgem(drm, size) : -1;
}

const char *const moving_device = "/dev/ornic_dmabuf_exporter";

int from_moving(size_t size)
{
	device moving(moving_device);
	__u64 bytes = size;

	if (!moving)
		return -1;
	const int fd = ioctl(moving.fd(), ORNIC_EXPORTER_CREATE, &bytes);
	check(fd >= 0, "CREATE: " + std::string(std::strerror(errno)));
	return fd;
}

int export_memory(exporter e, size_t size)
{
	switch (e) {
	case exporter::udmabuf:
		return from_udmabuf(size);
	case exporter::heap:
		return from_heap(size);
	case exporter::moving:
		return from_moving(size);
	default:
		return from_vgem(size);
	}
}

} /* namespace */

std::string to_string(exporter e)
{
	switch (e) {
	case exporter::udmabuf:
		return "udmabuf";
	case exporter::heap:
		return "heap";
	case exporter::moving:
		return "moving";
	default:
		return "vgem";
	}
}

huge_page::huge_page()
	: fd_(memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING |
					   MFD_HUGETLB | size_of_2_mib))
{
	struct stat file {};

	if (fd_ < 0)
		return;
	check(!fstat(fd_, &file), "fstat");
	size_ = static_cast<size_t>(file.st_blksize);
	check(!ftruncate(fd_, file.st_blksize), "ftruncate");
	void *base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd_, 0);
	if (base != MAP_FAILED)
		base_ = static_cast<std::byte *>(base);
}

huge_page::~huge_page()
{
	if (base_)
		munmap(base_, size_);
	if (fd_ >= 0)
		close(fd_);
}

dma_buffer::dma_buffer(exporter e, size_t size)
	: fd_(export_memory(e, size))
	, size_(size)
{
	map();
}

dma_buffer::dma_buffer(const huge_page &memory, size_t offset, size_t size)
	: fd_(from_memfd(memory.fd(), offset, size))
	, size_(size)
{
	map();
}

void dma_buffer::map()
{
	if (fd_ < 0)
		return;
	void *base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd_, 0);
	check(base != MAP_FAILED, "mmap of a dma-buf");
	base_ = static_cast<std::byte *>(base);
}

dma_buffer::~dma_buffer()
{
	unmap();
	close_fd();
}

long dma_buffer::users() const
{
	std::ifstream info("/proc/self/fdinfo/" + std::to_string(fd_));
	std::string word;
	long count;

	while (info >> word)
		if (word == "count:" && info >> count)
			return count;
	throw failure("no count in fdinfo");
}

void dma_buffer::close_fd()
{
	if (fd_ >= 0)
		close(fd_);
	fd_ = -1;
}

void dma_buffer::unmap()
{
	if (base_)
		munmap(base_, size_);
	base_ = nullptr;
}

void dma_buffer::command(unsigned long number)
{
	__s32 fd = fd_;

	device(moving_device).command(number, fd);
}

void dma_buffer::move()
{
	command(ORNIC_EXPORTER_MOVE);
}

void dma_buffer::revoke()
{
	command(ORNIC_EXPORTER_REVOKE);
}

void dma_buffer::be_restless()
{
	command(ORNIC_EXPORTER_RESTLESS);
}

uint64_t dma_buffer::stray() const
{
	ornic_exporter_stray stray{};

	stray.fd = fd_;
	device(moving_device).command(ORNIC_EXPORTER_STRAY, stray);
	return stray.bytes;
}

vgem_fence::vgem_fence(const dma_buffer &buffer)
	: drm_(open_vgem())
{
	drm_prime_handle prime{};
	drm_vgem_fence_attach attach{};

	prime.fd = buffer.fd();
	check(!ioctl(drm_, drm_ioctl_prime_fd_to_handle, &prime),
	      "a dma-buf is not vgem's");
	attach.handle = prime.handle;
	check(!ioctl(drm_, drm_ioctl_vgem_fence_attach, &attach),
	      "a fence is not attached");
}

/* vgem signals the fences of a file that is closed. */
vgem_fence::~vgem_fence()
{
	close(drm_);
}
