// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 without tables, for a CPU that may not use its vector unit here or has
 * no instruction for it (those are in crc32_select.c). Pure.
 *
 * This is the Chorba algorithm (Russell, "Chorba: A novel CRC32 implementation",
 * arXiv 2412.16398). A CRC does not change when a multiple of its polynomial is
 * added to the message. One multiple has only five terms:
 *
 *	x^300 + x^155 + x^117 + x^89 + 1
 *
 * Added so that its first term meets a set bit of the message, it clears this
 * bit and flips those 145, 183, 211 and 300 bits later. A few shifts do that
 * for all 64 bits of a word at once, word after word, until only the last bytes
 * are left, with the flips in them. The tables handle these.
 *
 * A table look-up is a load that waits for the one before it. The shifts are
 * independent, and under an emulated MMU they cost a tenth of it.
 */
#include "crc32.h"

#define WORD sizeof(u64)
#define WORDS 5u /* that a word reaches to: 300 bits, rounded up */
#define ROUND (WORDS * WORD) /* a size_t, as lengths are */
/* Less is faster by tables. */
#define MIN_LEN (3 * ROUND)

/* As a call it would cost more than all else that is done to a word. */
static __always_inline u64 load_word(const u8 *p)
{
	__le64 word;

	memcpy(&word, p, sizeof(word));
	return le64_to_cpu(word);
}

/* In line: the assembler jumps over long padding, which objtool takes for lost code. */
static __always_inline void flip_bits(u8 *p, u64 bits)
{
	__le64 word = cpu_to_le64(load_word(p) ^ bits);

	memcpy(p, &word, sizeof(word));
}

/*
 * Clear @word: what it flips in the words 2, 3, 4 and 5 after it. The first bit
 * of the message is the lowest, so further on is to the left.
 */
static __always_inline void clear_word(u64 word, u64 *two, u64 *three,
				       u64 *four, u64 *five)
{
	*two ^= word << (145 - 128) ^ word << (183 - 128);
	*three ^= word >> (192 - 145) ^ word >> (192 - 183) ^
		  word << (211 - 192);
	*four ^= word >> (256 - 211) ^ word << (300 - 256);
	*five = word >> (320 - 300);
}

u32 ornic_crc32_portable(u32 crc, const void *data, size_t len)
{
	/* What is to be flipped in the next words. */
	u64 a = crc, b = 0, c = 0, d = 0, e = 0;
	u8 last[2 * ROUND] __uninitialized;
	const u8 *p = data;

	if (len < MIN_LEN)
		return ornic_crc32_by_table(crc, data, len);
	for (; len >= 2 * ROUND; len -= ROUND, p += ROUND) {
		clear_word(load_word(p) ^ a, &c, &d, &e, &a);
		clear_word(load_word(p + WORD) ^ b, &d, &e, &a, &b);
		clear_word(load_word(p + 2 * WORD) ^ c, &e, &a, &b, &c);
		clear_word(load_word(p + 3 * WORD) ^ d, &a, &b, &c, &d);
		clear_word(load_word(p + 4 * WORD) ^ e, &b, &c, &d, &e);
	}
	memcpy(last, p, len);
	flip_bits(last, a);
	flip_bits(last + WORD, b);
	flip_bits(last + 2 * WORD, c);
	flip_bits(last + 3 * WORD, d);
	flip_bits(last + 4 * WORD, e);
	return ornic_crc32_by_table(0, last, len);
}
