// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "zone.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "ends.h"

namespace
{

/* Far below where the kernel places mappings, far above programs. */
constexpr uint64_t first_address = uint64_t{ 1 } << 44;
constexpr uint64_t distance = 64 << 20;

constexpr uint64_t stamp_mark = 0xa7, field_mark = 0x5c;
constexpr uint64_t event_mask = 0xffffffff, number_mask = 0x3fffffff;

std::byte *address(size_t number, uint64_t offset)
{
	return reinterpret_cast<std::byte *>(first_address + number * distance +
					     offset);
}

bool is_in_field(size_t word)
{
	return word / line_words / 16 == 1;
}

std::string hex(uint64_t value)
{
	char text[20];

	std::snprintf(text, sizeof(text), "%#jx", uintmax_t(value));
	return text;
}

} /* namespace */

zone::zone(kind k, size_t number)
	: what(k)
	, home(address(number, 0))
	, away(address(number, distance / 2))
	, number_(number)
	, base_(home)
{
	check(mmap(home, zone_bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		   0) == home,
	      "mmap of zone " + name());
	stamp_all();
}

zone::~zone()
{
	munmap(base_, zone_bytes);
}

view zone::look() const
{
	view v{};

	/* The end of an event is seen with all that it did. */
	v.ended = ended_;
	v.oldest = oldest_;
	v.base = base_;
	return v;
}

bool zone::may_refuse(const view &before) const
{
	switch (what) {
	case kind::unmap:
	case kind::move:
	case kind::protect:
		return !is_undisturbed(before);
	default:
		return false;
	}
}

void zone::begin()
{
	begun_++;
}

void zone::has_new_pages()
{
	oldest_ = begun_.load();
}

void zone::end(std::byte *base)
{
	base_ = base;
	events++;
	ended_ = begun_.load();
}

/* Pages that shall be merged are all the same. */
uint64_t zone::stamp_of(size_t block, size_t line, uint64_t event) const
{
	if (what == kind::merge)
		block = 0;
	return stamp_mark << 56 | number_ << 50 | uint64_t{ line } << 44 |
	       uint64_t{ block } << 32 | (event & event_mask);
}

uint64_t zone::field_word(size_t block, size_t word, uint64_t number) const
{
	return field_mark << 56 | number_ << 50 | uint64_t{ block } << 38 |
	       uint64_t{ word } << 30 | (number & number_mask);
}

void zone::stamp(std::byte *to, size_t first, size_t blocks) const
{
	const uint64_t event = oldest_;

	for (size_t i = 0; i < blocks; i++) {
		auto *block = reinterpret_cast<volatile uint64_t *>(
			to + i * block_bytes);

		for (size_t word = 0; word < block_words; word += line_words)
			if (!is_in_field(word))
				block[word] = stamp_of(
					first + i, word / line_words, event);
	}
}

bool zone::is_stamp(uint64_t value, size_t block, size_t line,
		    const view &range) const
{
	const uint64_t event = value & event_mask;

	return value == stamp_of(block, line, event) && event >= range.oldest &&
	       event <= range.ended;
}

bool zone::is_field(uint64_t value, size_t block, size_t word) const
{
	return value == field_word(block, word, value);
}

/* Also 0, and bytes of several of these. */
bool zone::is_torn_field(uint64_t value, size_t block, size_t word) const
{
	return !(value & ~number_mask & ~field_word(block, word, 0));
}

/* @range is from the oldest stamp to the last one. */
bool zone::is_right(uint64_t value, size_t block, size_t word,
		    const view &range) const
{
	if (is_in_field(word)) {
		const size_t place = word - field_offset / 8;

		/* Atomics and other requests may be under way. */
		return !place || is_torn_field(value, block, place);
	}
	if (word % line_words)
		return !value;
	return is_stamp(value, block, word / line_words, range);
}

void zone::check_taken(std::span<const std::byte> bytes, size_t first,
		       const view &before, const char *how) const
{
	const bool undisturbed = is_undisturbed(before);
	/* userfaultfd gives no page that is not filled. */
	const bool may_be_new = !undisturbed && what != kind::late;
	const view range{ begun_, before.oldest, nullptr };

	for (size_t i = 0; i < bytes.size() / 8; i++) {
		const size_t block = first + i / block_words;
		const size_t word = i % block_words;
		uint64_t value;

		std::memcpy(&value, bytes.data() + i * 8, 8);
		if (is_right(value, block, word, range) ||
		    (may_be_new && !value))
			continue;
		fail(std::string(how) + " of zone " + name() + ", block " +
		     std::to_string(block) + ", word " + std::to_string(word) +
		     ": " + hex(value) + ", events " +
		     std::to_string(range.oldest) + " to " +
		     std::to_string(range.ended) +
		     (undisturbed ? ", undisturbed" : ""));
	}
}

void zone::fill_field(std::span<std::byte> to, size_t block,
		      uint64_t number) const
{
	for (size_t word = 1; word < field_words; word++) {
		const uint64_t value = field_word(block, word, number);

		std::memcpy(to.data() + (word - 1) * 8, &value, 8);
	}
}

volatile uint64_t *zone::field(size_t block) const
{
	return reinterpret_cast<volatile uint64_t *>(
		base_ + block * block_bytes + field_offset);
}

void zone::check_put(size_t block, uint64_t number, const view &before,
		     const char *how) const
{
	const bool undisturbed = is_undisturbed(before);

	for (size_t word = 1; word < field_words; word++) {
		const uint64_t value = field(block)[word];
		const bool is_mine = is_field(value, block, word) &&
				     (value & number_mask) <= number;

		if (undisturbed ? value == field_word(block, word, number) :
				  !value || is_mine)
			continue;
		fail(std::string(how) + " to zone " + name() + ", block " +
		     std::to_string(block) + ", word " + std::to_string(word) +
		     ": " + hex(value) + ", request " + std::to_string(number) +
		     (undisturbed ? ", undisturbed" : ""));
	}
}

uint64_t zone::counter(size_t block) const
{
	return *field(block);
}

void zone::clear_field(size_t block) const
{
	for (size_t word = 0; word < field_words; word++)
		field(block)[word] = 0;
}
