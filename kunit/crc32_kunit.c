// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CRC-32 without tables, against a bit after the other. */
#include <kunit/test.h>

#include "harness.h"
#include "engine/crc32.h"

#define MAX_LEN 512
#define PAGE_LEN 4096
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

static void crc32_of_each_length(struct kunit *test)
{
	u8 *data = random_bytes(test, MAX_LEN + 8);
	u32 len, offset, crc;

	for (len = 0; len <= MAX_LEN; len++) {
		offset = len % 8;
		crc = ornic_crc32(len * 0x9e3779b1u, data + offset, len);
		KUNIT_EXPECT_EQ_MSG(test, crc,
				    bitwise(len * 0x9e3779b1u, data + offset,
					    len),
				    "%u bytes at %u", len, offset);
	}
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

static struct kunit_case crc32_cases[] = { KUNIT_CASE(crc32_of_each_length),
					   KUNIT_CASE(crc32_in_pieces),
					   KUNIT_CASE(crc32_feels_each_bit),
					   KUNIT_CASE(crc32_of_the_check_value),
					   {} };

static struct kunit_suite crc32_suite = {
	.name = "ornic_crc32",
	.test_cases = crc32_cases,
};

kunit_test_suite(crc32_suite);

MODULE_DESCRIPTION("ornic: CRC-32 suite");
MODULE_LICENSE("Dual BSD/GPL");
