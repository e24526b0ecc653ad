/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* MRs on dma-bufs: what their tests have in common. */
#pragma once

#include "dma_buffer.h"
#include "tests.h"

constexpr size_t buffer_size = 256 << 10;
constexpr size_t mr_offset = 3 * 4096 + 904;
constexpr size_t mr_size = 200001;
/*
 * Nowhere near the address of anything; only its place in a page is the same, in pages
 * of up to 64 KiB.
 */
constexpr uint64_t mr_iova = 0x123456780000 + mr_offset;

#ifdef __x86_64__
constexpr bool has_atomics = true;
#else
constexpr bool has_atomics = false; /* of a device that copies by the CPU */
#endif
constexpr int most_access =
	has_atomics ? all_access : all_access & ~IBV_ACCESS_REMOTE_ATOMIC;

mr_ptr try_reg(const port &p, int fd, uint64_t offset = mr_offset,
	       size_t size = mr_size, uint64_t iova = mr_iova,
	       int access = most_access);

/* Has it an MR on any dma-buf? */
bool takes_dmabufs(const port &p);

/* And on such, of the moving exporter? */
bool takes_moves(const port &p, const dma_buffer &buffer);
/* Skip the test if one of them has not. */
void need_moves(const ports &on, const dma_buffer &buffer);

/* The soft device: its MRs are mapped for the CPU. */
bool copies_by_cpu(const port &p);

void wait_for_users(const dma_buffer &buffer, long count);

/* As of a buffer of the peer, for an MR at mr_iova. */
remote_end end_of(const ibv_mr &mr, const endpoint &e);

/* Of one side, with an MR on a part of it. */
struct region {
	region(port &p, exporter e, int access = most_access);

	/* As of a buffer of the peer. */
	[[nodiscard]] remote_end end(const endpoint &e) const;
	[[nodiscard]] ibv_sge sge(size_t offset, size_t size) const
	{
		return { mr_iova + offset, static_cast<uint32_t>(size),
			 mr->lkey };
	}
	[[nodiscard]] std::span<std::byte> inside() const
	{
		return buffer.bytes().subspan(mr_offset, mr_size);
	}
	/* Nothing beside the MR was written to. */
	void check_guards() const;

	dma_buffer buffer;
	mr_ptr mr;
};

/* WRITEs of all of the MR, by the client. */
void post_writes(pair &p, const region &to);
/* Then the MR ends, and no byte of them is written after that. */
void check_dereg(pair &p, region &to);

/*
 * Of the kernel, as libibverbs changes plain MRs only. 0, or an errno; @to is the
 * new memory, if @flags has IB_MR_REREG_TRANS.
 */
int rereg(const port &p, ibv_mr &mr, uint32_t flags, int access,
	  std::span<std::byte> to = {});

uint64_t word_at(std::span<const std::byte> bytes);
void set_word(std::span<std::byte> bytes, uint64_t word);
