// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Each algorithm for CRC-32 against a bit after the other; their selection. */
#include <kunit/test.h>

#include "harness.h"
#include "engine/crc32.h"

#define MAX_LEN 512
#define EACH_LEN 300 /* tried at each alignment */
#define ALIGNMENTS 16
#define PAGE_LEN 4096
#define ENTRY_PADDING 64ul /* that a kernel puts before each function */
#define POLYNOMIAL_REFLECTED 0xedb88320u /* of 0x04c11db7 */

/* Random, and the same in each run; the last bytes leave room for an offset. */
static u8 *random_bytes(struct kunit *test, u32 len)
{
	u8 *data = kunit_kzalloc(test, len, GFP_KERNEL);
	u32 state = 0x2545f491, i;

	KUNIT_ASSERT_NOT_NULL(test, data);
	for (i = 0; i < len; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		data[i] = (u8)state;
	}
	return data;
}

static u32 bitwise(u32 crc, const u8 *data, u32 len)
{
	u32 bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL_REFLECTED : 0);
	}
	return crc;
}

static bool is_usable(const struct ornic_crc32_algo *algo)
{
	return !algo->usable || algo->usable();
}

/* Whether @algo is right for each length, alignment and another seed for each. */
static bool is_right(struct kunit *test, const struct ornic_crc32_algo *algo)
{
	u8 *data = random_bytes(test, EACH_LEN + ALIGNMENTS);
	u32 len, offset, seed;

	for (offset = 0; offset < ALIGNMENTS; offset++) {
		for (len = 0; len <= EACH_LEN; len++) {
			seed = (len + 1) * 0x9e3779b1u + offset;
			if (algo->update(seed, data + offset, len) !=
			    bitwise(seed, data + offset, len))
				return false;
		}
	}
	return true;
}

static void crc32_of_each_algorithm(struct kunit *test)
{
	const struct ornic_crc32_algo *algo;
	u8 *page = random_bytes(test, PAGE_LEN);
	u32 i;

	for (i = 0; i < ornic_crc32_num_algos; i++) {
		algo = &ornic_crc32_algos[i];
		if (!is_usable(algo))
			continue;
		KUNIT_EXPECT_TRUE_MSG(test, is_right(test, algo), "%s",
				      algo->name);
		KUNIT_EXPECT_EQ_MSG(test, algo->update(7, page, PAGE_LEN),
				    bitwise(7, page, PAGE_LEN), "%s",
				    algo->name);
	}
}

/* What time it takes is made up: for @setup and for each byte. */
static u64 made_up_ns;

static u64 made_up_clock(void)
{
	return made_up_ns;
}

static u32 takes(u64 setup, u64 per_16, u32 crc, const void *data, size_t len)
{
	made_up_ns += setup + per_16 * len / 16;
	return bitwise(crc, data, (u32)len);
}

static u32 table(u32 crc, const void *data, size_t len)
{
	return takes(10, 16, crc, data, len);
}

static u32 long_setup(u32 crc, const void *data, size_t len)
{
	return takes(300, 4, crc, data, len);
}

static u32 hardly_faster(u32 crc, const void *data, size_t len)
{
	return takes(10, 15, crc, data, len);
}

static u32 fastest(u32 crc, const void *data, size_t len)
{
	return takes(10, 1, crc, data, len);
}

static u32 wrong_once(u32 crc, const void *data, size_t len)
{
	crc = fastest(crc, data, len);
	return len == 77 ? crc ^ 1 : crc;
}

static u32 wrong_for_a_page(u32 crc, const void *data, size_t len)
{
	crc = fastest(crc, data, len);
	return len == PAGE_LEN ? crc ^ 1 : crc;
}

static bool never(void)
{
	return false;
}

static void measure(const struct ornic_crc32_algo *algos, u32 n,
		    struct ornic_crc32_choice *choice)
{
	ornic_crc32_measure(algos, n, made_up_clock, choice);
}

static void crc32_selects_the_fastest(struct kunit *test)
{
	const struct ornic_crc32_algo algos[] = {
		{ .name = "table", .update = table },
		{ .name = "long setup", .update = long_setup },
		{ .name = "hardly faster", .update = hardly_faster },
	};
	struct ornic_crc32_choice choice;

	measure(algos, ARRAY_SIZE(algos), &choice);
	KUNIT_EXPECT_PTR_EQ(test, choice.algo, &algos[1]);
	/* 300 + 64 ns against 10 + 256; 300 + 128 against 10 + 512 */
	KUNIT_EXPECT_EQ(test, choice.min_len, 512u);
	KUNIT_EXPECT_EQ(test, choice.speed, 4096u * 1000 / (300 + 1024));
	KUNIT_EXPECT_EQ(test, choice.table_speed, 4096u * 1000 / (10 + 4096));
}

static void crc32_keeps_the_table(struct kunit *test)
{
	const struct ornic_crc32_algo algos[] = {
		{ .name = "table", .update = table },
		{ .name = "hardly faster", .update = hardly_faster },
	};
	struct ornic_crc32_choice choice;

	measure(algos, ARRAY_SIZE(algos), &choice);
	KUNIT_EXPECT_PTR_EQ(test, choice.algo, &algos[0]);
	KUNIT_EXPECT_NULL(test, choice.wrong);
}

static void crc32_refuses_what_is_wrong(struct kunit *test)
{
	const struct ornic_crc32_algo algos[] = {
		{ .name = "table", .update = table },
		{ .name = "unusable", .usable = never, .update = fastest },
		{ .name = "wrong once", .update = wrong_once },
		{ .name = "wrong for a page", .update = wrong_for_a_page },
	};
	struct ornic_crc32_choice choice;

	measure(algos, ARRAY_SIZE(algos), &choice);
	KUNIT_EXPECT_PTR_EQ(test, choice.algo, &algos[0]);
	KUNIT_EXPECT_PTR_EQ(test, choice.wrong, &algos[3]);
	measure(algos, 2, &choice);
	KUNIT_EXPECT_NULL(test, choice.wrong);
}

static void crc32_of_each_length(struct kunit *test)
{
	u8 *data = random_bytes(test, MAX_LEN);
	u32 len;

	for (len = 0; len <= MAX_LEN; len++)
		KUNIT_EXPECT_EQ_MSG(test, ornic_crc32(len, data, len),
				    bitwise(len, data, len), "%u bytes", len);
}

/* Wherever it is cut. */
static void crc32_in_pieces(struct kunit *test)
{
	u8 *data = random_bytes(test, PAGE_LEN);
	u32 whole = bitwise(U32_MAX, data, PAGE_LEN), at, crc;

	for (at = 0; at <= PAGE_LEN; at += 61) {
		crc = ornic_crc32(U32_MAX, data, at);
		crc = ornic_crc32(crc, data + at, PAGE_LEN - at);
		KUNIT_EXPECT_EQ_MSG(test, crc, whole, "cut at %u", at);
	}
}

/* No bit of a message goes without an effect. */
static void crc32_feels_each_bit(struct kunit *test)
{
	u8 *data = random_bytes(test, MAX_LEN);
	u32 good = ornic_crc32(0, data, MAX_LEN), bit, crc;

	for (bit = 0; bit < MAX_LEN * 8; bit++) {
		data[bit / 8] ^= 1 << bit % 8;
		crc = ornic_crc32(0, data, MAX_LEN);
		KUNIT_EXPECT_NE_MSG(test, crc, good, "bit %u", bit);
		KUNIT_EXPECT_EQ(test, crc, bitwise(0, data, MAX_LEN));
		data[bit / 8] ^= 1 << bit % 8;
	}
}

/* IEEE 802.3: nine digits, inverted before and after */
static void crc32_of_the_check_value(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ~ornic_crc32(U32_MAX, "123456789", 9),
			0xcbf43926u);
}

/* Its loop would lie in two pages otherwise, for some lengths of the code before it. */
static void crc32_is_aligned(struct kunit *test)
{
	unsigned long at = (unsigned long)ornic_crc32_portable;

	KUNIT_EXPECT_LE(test, at % ORNIC_CRC32_ALIGN, ENTRY_PADDING);
}

static struct kunit_case crc32_cases[] = {
	KUNIT_CASE(crc32_of_each_algorithm),
	KUNIT_CASE(crc32_of_each_length),
	KUNIT_CASE(crc32_selects_the_fastest),
	KUNIT_CASE(crc32_keeps_the_table),
	KUNIT_CASE(crc32_refuses_what_is_wrong),
	KUNIT_CASE(crc32_in_pieces),
	KUNIT_CASE(crc32_feels_each_bit),
	KUNIT_CASE(crc32_of_the_check_value),
	KUNIT_CASE(crc32_is_aligned),
	{}
};

static struct kunit_suite crc32_suite = {
	.name = "ornic_crc32",
	.test_cases = crc32_cases,
};

kunit_test_suite(crc32_suite);

MODULE_DESCRIPTION("ornic: CRC-32 suite");
MODULE_LICENSE("Dual BSD/GPL");
