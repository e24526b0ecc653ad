// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The invariant CRC, IBTA A17.3.3, against packets of a foreign encoder. */
#include <kunit/test.h>

#include "harness.h"
#include "data/rxe_packets.h"

#define UDP_LEN 8

KUNIT_ARRAY_PARAM_DESC(rxe, rxe_packets, name);

/* The ICRC of all of @frame but its last four bytes. */
static __le32 icrc_of(const u8 *frame, u32 len, bool ipv6)
{
	const u8 *ip = frame + 14;
	u32 bth = 14 + (ipv6 ? 40 : 20) + UDP_LEN;
	u32 crc = ornic_icrc_start(ip, ipv6, frame + bth, ORNIC_BTH_LEN);

	bth += ORNIC_BTH_LEN;
	crc = ornic_crc32(crc, frame + bth, len - bth - ORNIC_ICRC_LEN);
	return ornic_icrc_finish(crc);
}

static void icrc_is_that_of_rxe(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	__le32 icrc = icrc_of(p->frame, p->len, p->ipv6);

	KUNIT_EXPECT_MEMEQ(test, &icrc, p->frame + p->len - ORNIC_ICRC_LEN,
			   sizeof(icrc));
}

/* Where a router may write: one mask for each byte of IP, UDP and BTH. */
struct icrc_mask {
	u8 at;
	u8 mask;
};

static const struct icrc_mask ipv4_masks[] = {
	{ 1, 0xff }, /* TOS */
	{ 8, 0xff }, /* TTL */
	{ 10, 0xff }, { 11, 0xff }, /* header checksum */
	{ 26, 0xff }, { 27, 0xff }, /* UDP checksum */
	{ 32, 0xff }, /* FECN, BECN, reserved */
};

static const struct icrc_mask ipv6_masks[] = {
	{ 0, 0x0f },  { 1, 0xff }, /* traffic class, flow label */
	{ 2, 0xff },  { 3, 0xff },  { 7, 0xff }, /* hop limit */
	{ 46, 0xff }, { 47, 0xff }, /* UDP checksum */
	{ 52, 0xff }, /* FECN, BECN, reserved */
};

static u8 mask_at(bool ipv6, u32 at)
{
	const struct icrc_mask *m = ipv6 ? ipv6_masks : ipv4_masks;
	u32 n = ipv6 ? ARRAY_SIZE(ipv6_masks) : ARRAY_SIZE(ipv4_masks);
	u32 i;

	for (i = 0; i < n; i++) {
		if (m[i].at == at)
			return m[i].mask;
	}
	return 0;
}

/* Each bit either changes the ICRC or is one that a router may change. */
static void icrc_covers_all_but_variant_bits(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	__le32 icrc = icrc_of(p->frame, p->len, p->ipv6);
	u8 *copy = kunit_kzalloc(test, p->len, GFP_KERNEL);
	u32 at, bit;
	bool same;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, p->frame, p->len);
	for (at = 14; at < p->len - ORNIC_ICRC_LEN; at++) {
		for (bit = 0; bit < 8; bit++) {
			copy[at] ^= 1 << bit;
			same = icrc_of(copy, p->len, p->ipv6) == icrc;
			KUNIT_EXPECT_EQ_MSG(test, same,
					    mask_at(p->ipv6, at - 14) >> bit &
						    1,
					    "byte %u of the IP packet, bit %u",
					    at - 14, bit);
			copy[at] ^= 1 << bit;
		}
	}
}

/* The register that the engine starts from: eight bytes of ones, IBTA A17.3.3 */
static void icrc_starts_after_the_lrh(struct kunit *test)
{
	const struct ornic_rxe_packet *p = &rxe_packets[0];
	u8 buf[8 + 20 + UDP_LEN + ORNIC_BTH_LEN];
	u32 crc, at;

	memset(buf, 0xff, 8);
	memcpy(buf + 8, p->frame + 14, sizeof(buf) - 8);
	for (at = 8; at < sizeof(buf); at++)
		buf[at] |= mask_at(false, at - 8);
	crc = ornic_crc32(U32_MAX, buf, sizeof(buf));
	KUNIT_ASSERT_FALSE(test, p->ipv6);
	KUNIT_EXPECT_EQ(test, crc,
			ornic_icrc_start(p->frame + 14, false,
					 p->frame + 14 + 20 + UDP_LEN,
					 ORNIC_BTH_LEN));
}

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE_PARAM(icrc_is_that_of_rxe, rxe_gen_params),
	KUNIT_CASE_PARAM(icrc_covers_all_but_variant_bits, rxe_gen_params),
	KUNIT_CASE(icrc_starts_after_the_lrh),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "ornic_icrc",
	.test_cases = icrc_cases,
};

kunit_test_suite(icrc_suite);

MODULE_DESCRIPTION("ornic: ICRC suite");
MODULE_LICENSE("Dual BSD/GPL");
