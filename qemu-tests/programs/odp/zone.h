/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A zone is 2 MiB of memory to which one kind of event happens, and the oracle for the bytes
 * that a request may have met there.
 *
 * It is made of blocks of 4 KiB in 64 lines. Lines 16 to 31 are the field, which requests
 * write to: word 0 is for atomics, the others have the number of the request. Each other line
 * begins with a stamp, of its place and of the event that made the page, and is 0 otherwise.
 * So a page of before an event has stamps that are too old.
 *
 * Events have numbers. An event may replace the pages (@oldest is then its own stamp), or
 * leave the zone for a while in a state in which requests are refused. Events that only copy
 * or move pages must not be visible, and have no number. A request that no numbered event
 * overlaps is undisturbed: it meets exactly one state. For others, stamps are valid from
 * @oldest at its begin to the last event that has begun by its end, and so is 0, of a new page
 * that has not been filled yet.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>

constexpr size_t zone_bytes = 2 << 20, block_bytes = 4096, line_bytes = 64;
constexpr size_t zone_blocks = zone_bytes / block_bytes;
constexpr size_t block_words = block_bytes / 8, line_words = line_bytes / 8;
constexpr size_t field_offset = 16 * line_bytes, field_bytes = 16 * line_bytes;
constexpr size_t field_words = field_bytes / 8;

enum class kind : uint8_t {
	unmap, /* munmap, then mmap at the same address */
	move, /* mremap to another address, and back */
	forget, /* MADV_DONTNEED */
	fork, /* parent and child write to their copies */
	merge, /* KSM, and undone */
	huge, /* MADV_COLLAPSE, and split again */
	page_out, /* MADV_PAGEOUT */
	protect, /* mprotect: only readable, or not at all */
	late, /* userfaultfd: pages come late, after MADV_DONTNEED */
};

constexpr const char *kind_names[] = { "unmap",	   "move",    "forget",
				       "fork",	   "merge",   "huge",
				       "page-out", "protect", "late" };

/* Of a zone, before a request begins. */
struct view {
	uint64_t ended, oldest;
	std::byte *base;
};

struct tally {
	std::atomic<uint64_t> all = 0, undisturbed = 0;
};

class zone {
public:
	/* Maps it, at an address where the kernel places nothing else. */
	zone(kind what, size_t number);
	~zone();
	zone(const zone &) = delete;
	zone &operator=(const zone &) = delete;

	const kind what;
	std::byte *const home;
	std::byte *const away; /* where it moves to */

	/* Held for writing during a numbered event, for reading while CPUs read the zone. */
	std::shared_mutex still;
	/* Blocks from here, so many, have pages: of a zone whose pages come late. */
	std::atomic<size_t> warm = 0;
	static constexpr size_t warm_blocks = 64;

	tally takes, puts, atomics;
	std::atomic<uint64_t> events = 0, refused = 0;

	[[nodiscard]] std::string name() const
	{
		return kind_names[static_cast<size_t>(what)];
	}
	[[nodiscard]] view look() const;
	[[nodiscard]] bool is_undisturbed(const view &before) const
	{
		return begun_ == before.ended;
	}
	/* Whether a request of that time may have found a page that is not there. */
	[[nodiscard]] bool may_refuse(const view &before) const;

	/* An event: it begins; pages are new from now on; it ends, at that address. */
	void begin();
	void has_new_pages();
	void end(std::byte *base);

	/* Write all stamps of a range of blocks at @to, of what is there now. */
	void stamp(std::byte *to, size_t first, size_t blocks) const;
	void stamp_all() const
	{
		stamp(base_, 0, zone_blocks);
	}

	/* Blocks from @first have been read: they are from this zone, of that time. */
	void check_taken(std::span<const std::byte> bytes, size_t first,
			 const view &before, const char *how) const;
	/* The bytes of a field for request @number, without its word for atomics. */
	void fill_field(std::span<std::byte> to, size_t block,
			uint64_t number) const;
	/* It has been written, and no older number is there; @still is held. */
	void check_put(size_t block, uint64_t number, const view &before,
		       const char *how) const;
	/* The word for atomics, @still is held. */
	[[nodiscard]] uint64_t counter(size_t block) const;
	void clear_field(size_t block) const;

private:
	[[nodiscard]] uint64_t stamp_of(size_t block, size_t line,
					uint64_t event) const;
	[[nodiscard]] uint64_t field_word(size_t block, size_t word,
					  uint64_t number) const;
	[[nodiscard]] bool is_stamp(uint64_t value, size_t block, size_t line,
				    const view &range) const;
	[[nodiscard]] bool is_field(uint64_t value, size_t block,
				    size_t word) const;
	[[nodiscard]] bool is_torn_field(uint64_t value, size_t block,
					 size_t word) const;
	[[nodiscard]] bool is_right(uint64_t value, size_t block, size_t word,
				    const view &range) const;
	[[nodiscard]] volatile uint64_t *field(size_t block) const;

	uint64_t number_;
	std::atomic<std::byte *> base_;
	std::atomic<uint64_t> begun_ = 1, ended_ = 1, oldest_ = 1;
};
