/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory of a dma-buf, by those exporters that a machine without a GPU may have. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/*
 * udmabuf: pages of a memfd; heap: the system heap; vgem: a DRM driver's; moving: the
 * tests' own, whose memory moves and is revoked when a test asks for it.
 */
enum class exporter { udmabuf, heap, vgem, moving };

constexpr exporter exporters[] = { exporter::udmabuf, exporter::heap,
				   exporter::vgem, exporter::moving };

std::string to_string(exporter e);

/* A memfd of one page of 2 MiB, or nothing if the kernel has none to give. */
class huge_page {
public:
	huge_page();
	~huge_page();
	huge_page(const huge_page &) = delete;
	huge_page &operator=(const huge_page &) = delete;

	explicit operator bool() const
	{
		return base_ != nullptr;
	}
	[[nodiscard]] int fd() const
	{
		return fd_;
	}
	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return { base_, size_ };
	}

private:
	int fd_;
	std::byte *base_ = nullptr;
	size_t size_ = 0;
};

class dma_buffer {
public:
	/* @size: whole pages. Has no descriptor if the exporter is not there. */
	dma_buffer(exporter e, size_t size);
	/* A udmabuf of pages of @memory, from @offset. */
	dma_buffer(const huge_page &memory, size_t offset, size_t size);
	~dma_buffer();
	dma_buffer(const dma_buffer &) = delete;
	dma_buffer &operator=(const dma_buffer &) = delete;

	explicit operator bool() const
	{
		return fd_ >= 0;
	}
	[[nodiscard]] int fd() const
	{
		return fd_;
	}
	/* Zeroes at first. */
	[[nodiscard]] std::span<std::byte> bytes() const
	{
		return { base_, size_ };
	}
	/* How many others have it: MRs, and mappings. */
	[[nodiscard]] long users() const;
	void close_fd();
	void unmap();

	/*
	 * Of the moving exporter. After revocation access to bytes() raises SIGBUS;
	 * stray() is how many bytes were written to memory that was not the buffer's
	 * any more.
	 */
	void move();
	void revoke();
	/* From now on who maps it is told of a move in the middle of that. */
	void be_restless();
	[[nodiscard]] uint64_t stray() const;

private:
	void map();
	void command(unsigned long number);

	int fd_ = -1;
	std::byte *base_ = nullptr;
	size_t size_;
};

/*
 * A fence on a dma-buf of vgem, for at most 10 s. Meanwhile vgem has the dma-buf as
 * well.
 */
class vgem_fence {
public:
	explicit vgem_fence(const dma_buffer &buffer);
	~vgem_fence();
	vgem_fence(const vgem_fence &) = delete;
	vgem_fence &operator=(const vgem_fence &) = delete;

private:
	int drm_;
};
