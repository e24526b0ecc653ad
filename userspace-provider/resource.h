/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Owners of what the process gets from the kernel and from malloc. The
 * provider has no libstdc++ at run time, so objects come from calloc() and not
 * from operator new.
 */
#ifndef ORNIC_RESOURCE_H
#define ORNIC_RESOURCE_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace ornic
{

/** An open file descriptor, or none. */
class file_descriptor {
public:
	file_descriptor() noexcept = default;
	explicit file_descriptor(int fd) noexcept
		: fd_(fd)
	{
	}
	file_descriptor(file_descriptor &&other) noexcept
		: fd_(std::exchange(other.fd_, -1))
	{
	}
	file_descriptor &operator=(file_descriptor &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~file_descriptor()
	{
		if (fd_ >= 0)
			close(fd_);
	}

	[[nodiscard]] int get() const noexcept
	{
		return fd_;
	}

private:
	int fd_ = -1;
};

/** What a mapping of @bytes takes. */
[[nodiscard]] inline std::size_t whole_pages(std::size_t bytes) noexcept
{
	auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

	return (bytes + page - 1) / page * page;
}

/**
 * Memory of the driver, mapped shared. Shared mappings are not copied on
 * write, so a fork() leaves the parent's rings alone.
 */
class mapping {
public:
	mapping() noexcept = default;
	/** On failure the mapping is empty and errno says why. */
	mapping(int fd, std::uint64_t offset, std::size_t size,
		int protection = PROT_READ | PROT_WRITE) noexcept
	{
		void *memory = mmap(nullptr, size, protection, MAP_SHARED, fd,
				    static_cast<off_t>(offset));
		if (memory == MAP_FAILED)
			return;
		data_ = static_cast<std::byte *>(memory);
		size_ = size;
	}
	/** Address space alone, for map_here(); empty on failure. */
	[[nodiscard]] static mapping reserve(std::size_t size) noexcept
	{
		mapping space;
		void *memory = mmap(nullptr, size, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory != MAP_FAILED) {
			space.data_ = static_cast<std::byte *>(memory);
			space.size_ = size;
		}
		return space;
	}
	/**
	 * Put the driver's memory where space was reserved for it. A failure
	 * there is met by a second try anywhere else.
	 */
	[[nodiscard]] bool map_here(int fd, std::uint64_t offset,
				    std::size_t size) noexcept
	{
		if (size != size_)
			return false;
		if (mmap(data_, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd,
			 static_cast<off_t>(offset)) != MAP_FAILED)
			return true;
		// The kernel may have given the space up before it failed, and
		// another thread may have it: it is not ours to unmap.
		data_ = nullptr;
		size_ = 0;
		*this = mapping(fd, offset, size);
		return static_cast<bool>(*this);
	}
	mapping(mapping &&other) noexcept
		: data_(std::exchange(other.data_, nullptr))
		, size_(std::exchange(other.size_, 0))
	{
	}
	mapping &operator=(mapping &&other) noexcept
	{
		std::swap(data_, other.data_);
		std::swap(size_, other.size_);
		return *this;
	}
	~mapping()
	{
		if (data_)
			munmap(data_, size_);
	}

	explicit operator bool() const noexcept
	{
		return data_;
	}
	[[nodiscard]] std::byte *data() const noexcept
	{
		return data_;
	}

private:
	std::byte *data_ = nullptr;
	std::size_t size_ = 0;
};

/** Destroys and frees what make_object() made. */
struct object_deleter {
	template <typename T> void operator()(T *object) const noexcept
	{
		std::destroy_at(object);
		std::free(object);
	}
};

template <typename T> using unique_object = std::unique_ptr<T, object_deleter>;

/** A zeroed, value-initialised T, or null with errno = ENOMEM. */
template <typename T> [[nodiscard]] unique_object<T> make_object() noexcept
{
	void *memory = std::calloc(1, sizeof(T));

	if (!memory)
		return nullptr;
	return unique_object<T>(std::construct_at(static_cast<T *>(memory)));
}

} // namespace ornic

#endif // ORNIC_RESOURCE_H
