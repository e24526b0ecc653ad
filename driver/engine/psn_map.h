/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bitmaps by PSN: bit n of word m is that of each PSN p with p modulo the size of the
 * map = 64 m + n. A size is a power of two, of 64 at least, so that PSNs wrap with it.
 */
#ifndef ORNIC_ENGINE_PSN_MAP_H
#define ORNIC_ENGINE_PSN_MAP_H

#include "psn.h"

/* The lowest bit of @word that is set, which is not 0. */
static inline u32 ornic_low_bit(u64 word)
{
	return (u32)__builtin_ctzll(word);
}

/* The highest one. */
static inline u32 ornic_high_bit(u64 word)
{
	return 63 - (u32)__builtin_clzll(word);
}

static inline u32 ornic_count_bits(u64 word)
{
	u32 n;

	for (n = 0; word; n++)
		word &= word - 1;
	return n;
}

/* @n bits from the lowest on, 64 at most. */
static inline u64 ornic_low_bits(u32 n)
{
	return n < 64 ? BIT_ULL(n) - 1 : U64_MAX;
}

/* The number of the word of @psn; compilers do not know that @size needs no division. */
static inline u32 ornic_map_index(u32 size, u32 psn)
{
	return (psn & (size - 1)) / 64;
}

static inline u64 *ornic_map_word(u64 *map, u32 size, u32 psn)
{
	return &map[ornic_map_index(size, psn)];
}

static inline bool ornic_map_has(const u64 *map, u32 size, u32 psn)
{
	return map[ornic_map_index(size, psn)] & BIT_ULL(psn % 64);
}

static inline void ornic_map_set(u64 *map, u32 size, u32 psn)
{
	*ornic_map_word(map, size, psn) |= BIT_ULL(psn % 64);
}

/* The bits of the 64 PSNs from @psn on. */
static inline u64 ornic_map_bits(const u64 *map, u32 size, u32 psn)
{
	u64 low = map[ornic_map_index(size, psn)] >> psn % 64;

	if (psn % 64 == 0)
		return low;
	return low | map[ornic_map_index(size, psn + 64)] << (64 - psn % 64);
}

/* Clear the bits of @n PSNs from @psn on, at most @size. Returns how many were set. */
static inline u32 ornic_map_clear(u64 *map, u32 size, u32 psn, u32 n)
{
	u32 cleared = 0, part;
	u64 *word, bits;

	for (; n; n -= part) {
		part = min_t(u32, n, 64 - psn % 64);
		word = ornic_map_word(map, size, psn);
		bits = ornic_low_bits(part) << psn % 64;
		if (*word & bits) {
			cleared += ornic_count_bits(*word & bits);
			*word &= ~bits;
		}
		psn += part;
	}
	return cleared;
}

/* Set them. Returns how many were not. */
static inline u32 ornic_map_fill(u64 *map, u32 size, u32 psn, u32 n)
{
	u32 filled = 0, part;
	u64 *word, bits;

	for (; n; n -= part) {
		part = min_t(u32, n, 64 - psn % 64);
		word = ornic_map_word(map, size, psn);
		bits = ornic_low_bits(part) << psn % 64;
		filled += ornic_count_bits(bits & ~*word);
		*word |= bits;
		psn += part;
	}
	return filled;
}

/* Set those of the 64 PSNs from @psn on that @bits has. */
static inline void ornic_map_set_bits(u64 *map, u32 size, u32 psn, u64 bits)
{
	*ornic_map_word(map, size, psn) |= bits << psn % 64;
	if (psn % 64)
		*ornic_map_word(map, size, psn + 64) |= bits >> (64 - psn % 64);
}

/* Copy the bits of the @n PSNs from @psn on, @size at most, to a larger map of zeros. */
static inline void ornic_map_copy(u64 *to, u32 to_size, const u64 *from,
				  u32 size, u32 psn, u32 n)
{
	u32 part;

	for (; n; n -= part) {
		part = min_t(u32, n, 64 - psn % 64);
		*ornic_map_word(to, to_size, psn) |=
			from[ornic_map_index(size, psn)] & ornic_low_bits(part)
								   << psn % 64;
		psn += part;
	}
}

#endif /* ORNIC_ENGINE_PSN_MAP_H */
