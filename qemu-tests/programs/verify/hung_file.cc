// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "hung_file.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "report.h"

namespace
{

constexpr uint64_t file_node = 2;
constexpr size_t request_bytes = 64 << 10;

fuse_attr attributes(uint64_t node, size_t size)
{
	fuse_attr attr{};

	attr.ino = node;
	attr.nlink = 1;
	attr.blksize = 4096;
	attr.mode = S_IFDIR | 0755;
	if (node == file_node) {
		attr.mode = S_IFREG | 0600;
		attr.size = size;
		attr.blocks = size / 512;
	}
	return attr;
}

template <typename T> void reply(int device, uint64_t unique, const T &body)
{
	fuse_out_header head{};
	iovec parts[] = { { &head, sizeof(head) },
			  { const_cast<T *>(&body), sizeof(body) } };

	head.unique = unique;
	head.len = sizeof(head) + sizeof(body);
	(void)!writev(device, parts, 2);
}

void refuse(int device, uint64_t unique, int error)
{
	const fuse_out_header head = { sizeof(head), -error, unique };

	(void)!write(device, &head, sizeof(head));
}

int open_device()
{
	const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	check(device >= 0, "open /dev/fuse");
	return device;
}

} /* namespace */

bool hung_file::is_possible()
{
	return !access("/dev/fuse", R_OK | W_OK);
}

hung_file::hung_file(size_t size, reads how)
	: size_(size)
	, how_(how)
	, device_(open_device())
{
	char folder[] = "/tmp/hung-file-XXXXXX";

	check(mkdtemp(folder), "mkdtemp");
	folder_ = folder;
	const std::string what = "fd=" + std::to_string(device_) +
				 ",rootmode=40000,user_id=0,group_id=0";
	if (mount("hung-file", folder, "fuse", MS_NOSUID | MS_NODEV,
		  what.c_str())) {
		rmdir(folder);
		close(device_);
		fail("FUSE cannot be mounted");
	}
	thread_ = std::thread([this] { serve(); });
	map();
}

hung_file::~hung_file()
{
	/* Aborts what waits, and ends serve(). */
	umount2(folder_.c_str(), MNT_FORCE);
	munmap(base_, size_);
	umount2(folder_.c_str(), MNT_DETACH);
	thread_.join();
	close(device_);
	rmdir(folder_.c_str());
}

void hung_file::map()
{
	const int fd = open((folder_ + "/file").c_str(), O_RDWR | O_CLOEXEC);
	void *base =
		mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (base != MAP_FAILED) {
		base_ = static_cast<std::byte *>(base);
		return;
	}
	umount2(folder_.c_str(), MNT_DETACH);
	thread_.join();
	close(device_);
	rmdir(folder_.c_str());
	fail("a file of FUSE cannot be mapped");
}

/* Until the file system is gone. */
void hung_file::serve()
{
	std::vector<std::byte> buffer(request_bytes);
	pollfd wanted = { device_, POLLIN, 0 };

	for (;;) {
		poll(&wanted, 1, -1);
		const ssize_t n = read(device_, buffer.data(), buffer.size());
		if (n > 0)
			answer(std::span(buffer).first(static_cast<size_t>(n)));
		else if (errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return;
	}
}

void hung_file::answer(std::span<const std::byte> request)
{
	fuse_in_header head;

	if (request.size() < sizeof(head))
		return;
	std::memcpy(&head, request.data(), sizeof(head));
	switch (head.opcode) {
	case FUSE_INIT: {
		fuse_init_out out{};

		out.major = FUSE_KERNEL_VERSION;
		out.minor = 31;
		out.max_write = 4096;
		reply(device_, head.unique, out);
		break;
	}
	case FUSE_LOOKUP: {
		fuse_entry_out out{};

		out.nodeid = file_node;
		out.attr_valid = 3600;
		out.entry_valid = 3600;
		out.attr = attributes(file_node, size_);
		reply(device_, head.unique, out);
		break;
	}
	case FUSE_GETATTR: {
		fuse_attr_out out{};

		out.attr_valid = 3600;
		out.attr = attributes(head.nodeid, size_);
		reply(device_, head.unique, out);
		break;
	}
	case FUSE_OPEN:
		reply(device_, head.unique, fuse_open_out{});
		break;
	case FUSE_READ:
		if (how_ == reads::fail)
			refuse(device_, head.unique, EIO);
		else
			waiting_++;
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		refuse(device_, head.unique, ENOSYS);
	}
}
