// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Ethernet frames: which are RoCEv2, and where the packet in one is. */
#include <kunit/test.h>

#include "harness.h"
#include "data/rxe_packets.h"

#define ETH 14

KUNIT_ARRAY_PARAM_DESC(rxe, rxe_packets, name);

/* The packet of @p is in @frame, whose header has @extra bytes more. */
static void expect_packet(struct kunit *test, const struct ornic_rx *rx,
			  const struct ornic_rxe_packet *p, const u8 *frame,
			  u32 extra)
{
	const u8 *ip = frame + ETH + extra;
	u32 head = (p->ipv6 ? 40 : 20) + 8;

	KUNIT_EXPECT_PTR_EQ(test, (const u8 *)rx->ip, ip);
	KUNIT_EXPECT_EQ(test, rx->ipv6, p->ipv6);
	KUNIT_EXPECT_MEMEQ(test, rx->smac, frame + 6, sizeof(rx->smac));
	KUNIT_EXPECT_EQ(test, rx->nsegs, 1);
	KUNIT_EXPECT_EQ(test, rx->len, p->len - ETH - head);
	KUNIT_EXPECT_EQ(test, rx->seg[0].len, rx->len);
	KUNIT_EXPECT_PTR_EQ(test, (const u8 *)rx->seg[0].ptr, ip + head);
}

static void frame_of_rxe(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	struct ornic_rx rx;

	KUNIT_ASSERT_EQ(test, ornic_rx_from_frame(&rx, p->frame, p->len),
			ORNIC_FRAME_ROCE);
	expect_packet(test, &rx, p, p->frame, 0);
	KUNIT_EXPECT_EQ(test, rx.vlan, ORNIC_VLAN_NONE);
	KUNIT_EXPECT_EQ(test, rx.sl, 0);
}

/* IEEE 802.1Q: VLAN 0 is a priority without a VLAN. */
static void frame_with_a_tag(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u8 *tagged = kunit_kzalloc(test, p->len + 4, GFP_KERNEL);
	struct ornic_rx rx;

	KUNIT_ASSERT_NOT_NULL(test, tagged);
	memcpy(tagged, p->frame, 12);
	tagged[12] = 0x81;
	tagged[14] = 5 << 5 | 1;
	tagged[15] = 2;
	memcpy(tagged + 16, p->frame + 12, p->len - 12);
	KUNIT_ASSERT_EQ(test, ornic_rx_from_frame(&rx, tagged, p->len + 4),
			ORNIC_FRAME_ROCE);
	expect_packet(test, &rx, p, tagged, 4);
	KUNIT_EXPECT_EQ(test, rx.vlan, 0x102);
	KUNIT_EXPECT_EQ(test, rx.sl, 5);
	tagged[14] = 3 << 5;
	tagged[15] = 0;
	KUNIT_ASSERT_EQ(test, ornic_rx_from_frame(&rx, tagged, p->len + 4),
			ORNIC_FRAME_ROCE);
	KUNIT_EXPECT_EQ(test, rx.vlan, ORNIC_VLAN_NONE);
	KUNIT_EXPECT_EQ(test, rx.sl, 3);
	/* That is for the host to set. */
	KUNIT_EXPECT_FALSE(test, rx.busy_here);
}

/* Ethernet pads; what is cut off has no content, or is not recognized. */
static void frame_of_any_length(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u32 ip = p->ipv6 ? 40 : 20, len;
	enum ornic_frame kind;
	struct ornic_rx rx;
	u8 *end, *longer;

	/* ASan sees each read past the end. */
	end = kunit_kzalloc(test, p->len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, end);
	end += p->len;
	for (len = 0; len < p->len; len++) {
		memcpy(end - len, p->frame, len);
		kind = ornic_rx_from_frame(&rx, end - len, len);
		if (len < ETH + ip + 8) {
			KUNIT_EXPECT_EQ(test, kind, ORNIC_FRAME_OTHER);
		} else {
			KUNIT_EXPECT_EQ(test, kind, ORNIC_FRAME_ROCE);
			KUNIT_EXPECT_EQ(test, rx.len, 0);
		}
	}
	longer = kunit_kzalloc(test, p->len + 9, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, longer);
	memcpy(longer, p->frame, p->len);
	KUNIT_EXPECT_EQ(test, ornic_rx_from_frame(&rx, longer, p->len + 9),
			ORNIC_FRAME_ROCE);
	KUNIT_EXPECT_EQ(test, rx.len, p->len - ETH - ip - 8);
}

static const struct frame_row {
	const char *desc;
	bool ipv6;
	u8 at; /* offset in the IP packet */
	u8 value;
	bool sum; /* the checksum is made right again */
	enum ornic_frame kind;
} frame_rows[] = {
	{ "IPv4, a wrong checksum", false, 8, 0, false, ORNIC_FRAME_BAD },
	{ "IPv4, another TTL", false, 8, 1, true, ORNIC_FRAME_ROCE },
	{ "IPv4, TCP", false, 9, 6, true, ORNIC_FRAME_OTHER },
	{ "IPv4, another version", false, 0, 0x55, false, ORNIC_FRAME_OTHER },
	{ "IPv4, shorter than its header", false, 0, 0x44, false,
	  ORNIC_FRAME_OTHER },
	{ "IPv4, another port", false, 23, 0, false, ORNIC_FRAME_OTHER },
	{ "IPv4, a late fragment", false, 7, 1, true, ORNIC_FRAME_OTHER },
	{ "IPv6, TCP", true, 6, 6, false, ORNIC_FRAME_OTHER },
	{ "IPv6, another version", true, 0, 0x40, false, ORNIC_FRAME_OTHER },
	{ "IPv6, another port", true, 43, 0, false, ORNIC_FRAME_OTHER },
};

KUNIT_ARRAY_PARAM_DESC(frame, frame_rows, desc);

static const struct ornic_rxe_packet *first_of(bool ipv6)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rxe_packets); i++) {
		if (rxe_packets[i].ipv6 == ipv6)
			return &rxe_packets[i];
	}
	return NULL;
}

static void frame_of_another_kind(struct kunit *test)
{
	const struct frame_row *row = test->param_value;
	const struct ornic_rxe_packet *p = first_of(row->ipv6);
	struct ornic_rx rx;
	u32 sum;
	u8 *f;

	KUNIT_ASSERT_NOT_NULL(test, p);
	f = kunit_kzalloc(test, p->len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f);
	memcpy(f, p->frame, p->len);
	KUNIT_ASSERT_NE(test, f[ETH + row->at], row->value);
	f[ETH + row->at] = row->value;
	if (row->sum) {
		f[ETH + 10] = 0;
		f[ETH + 11] = 0;
		sum = ornic_ipv4_checksum(f + ETH);
		f[ETH + 10] = sum >> 8;
		f[ETH + 11] = sum;
	}
	KUNIT_EXPECT_EQ(test, ornic_rx_from_frame(&rx, f, p->len), row->kind);
}

/* IBTA A17.4.5: RoCEv2 in IPv4 has no options and is not fragmented. */
static void frame_without_content(struct kunit *test)
{
	const struct ornic_rxe_packet *p = first_of(false);
	u8 *f = kunit_kzalloc(test, p->len + 4, GFP_KERNEL);
	struct ornic_rx rx;

	KUNIT_ASSERT_NOT_NULL(test, f);
	memcpy(f, p->frame, p->len);
	f[ETH + 6] |= 0x20;
	KUNIT_EXPECT_EQ(test, ornic_rx_from_frame(&rx, f, p->len),
			ORNIC_FRAME_BAD);
	KUNIT_EXPECT_EQ(test, rx.len, 0);
	KUNIT_EXPECT_EQ(test, rx.nsegs, 0);
	/* Four bytes of options, and lengths that are right. */
	memcpy(f, p->frame, ETH + 20);
	memcpy(f + ETH + 24, p->frame + ETH + 20, p->len - ETH - 20);
	f[ETH] = 0x46;
	f[ETH + 3] += 4;
	KUNIT_EXPECT_EQ(test, ornic_rx_from_frame(&rx, f, p->len + 4),
			ORNIC_FRAME_ROCE);
	KUNIT_EXPECT_EQ(test, rx.len, 0);
	KUNIT_EXPECT_EQ(test, rx.nsegs, 0);
}

/* Lengths that agree with each other, and end within the headers. */
static void frame_ends_in_its_headers(struct kunit *test)
{
	const struct ornic_rxe_packet *p = first_of(false);
	u8 *f = kunit_kzalloc(test, p->len, GFP_KERNEL);
	struct ornic_rx rx;
	u32 total;

	KUNIT_ASSERT_NOT_NULL(test, f);
	memcpy(f, p->frame, p->len);
	for (total = 0; total <= 20 + 8; total++) {
		f[ETH + 2] = 0;
		f[ETH + 3] = total;
		f[ETH + 20 + 4] = (total - 20) >> 8;
		f[ETH + 20 + 5] = total - 20;
		ornic_rx_from_frame(&rx, f, p->len);
		KUNIT_EXPECT_EQ(test, rx.len, 0);
		KUNIT_EXPECT_EQ(test, rx.nsegs, 0);
	}
}

static struct kunit_case frame_cases[] = {
	KUNIT_CASE_PARAM(frame_of_rxe, rxe_gen_params),
	KUNIT_CASE_PARAM(frame_with_a_tag, rxe_gen_params),
	KUNIT_CASE_PARAM(frame_of_any_length, rxe_gen_params),
	KUNIT_CASE_PARAM(frame_of_another_kind, frame_gen_params),
	KUNIT_CASE(frame_without_content),
	KUNIT_CASE(frame_ends_in_its_headers),
	{}
};

static struct kunit_suite frame_suite = {
	.name = "ornic_frame",
	.test_cases = frame_cases,
};

kunit_test_suite(frame_suite);

MODULE_DESCRIPTION("ornic: suite of Ethernet frames");
MODULE_LICENSE("Dual BSD/GPL");
