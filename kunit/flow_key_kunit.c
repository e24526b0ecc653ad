// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys: what flow rules match of a frame. */
#include <kunit/test.h>

#include "raw_frames.h"
#include "engine/flow.h"

#define LEN 100u

struct key_test {
	u8 frame[LEN];
};

static int flow_key_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct key_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

/*
 * struct key_row - bytes that are changed in a UDP frame, or its length
 * @tag: of this type, in front of the type of the frame
 */
struct key_row {
	const char *name;
	u32 at;
	u8 byte;
	u32 len;
	u16 tag;
	u8 layers;
	u16 dst_port;
};

#define V4 ORNIC_FLOW_IPV4
#define UDP4 (ORNIC_FLOW_IPV4 | ORNIC_FLOW_UDP)

static const struct key_row key_rows[] = {
	{ "UDP", 0, 2, LEN, 0, UDP4, 53 },
	{ "TCP", 23, 6, LEN, 0, V4 | ORNIC_FLOW_TCP, 53 },
	{ "ICMP", 23, 1, LEN, 0, V4, 0 },
	{ "a tag", 0, 2, LEN, 0x8100, UDP4 | ORNIC_FLOW_VLAN, 53 },
	{ "a service tag", 0, 2, LEN, 0x88a8, UDP4 | ORNIC_FLOW_VLAN, 53 },
	{ "another tag", 0, 2, LEN, 0x9100, 0, 0 },
	{ "first fragment", 20, 0x20, LEN, 0, UDP4, 53 },
	{ "later fragment", 21, 1, LEN, 0, V4, 0 },
	{ "last fragment", 20, 0x1f, LEN, 0, V4, 0 },
	{ "short IP header", 14, 0x44, LEN, 0, 0, 0 },
	{ "IPv6 in IPv4's type", 14, 0x65, LEN, 0, 0, 0 },
	{ "options", 14, 0x4f, LEN, 0, UDP4, 0x4950 },
	{ "options that are cut off", 14, 0x4f, 76, 0, V4, 0 },
	{ "ARP", 13, 6, LEN, 0, 0, 0 },
	{ "ports are cut off", 0, 2, 37, 0, V4, 0 },
	{ "just ports", 0, 2, 38, 0, UDP4, 53 },
	{ "IP header is cut off", 0, 2, 33, 0, 0, 0 },
	{ "no more than Ethernet", 0, 2, 14, 0, 0, 0 },
	{ "half a tag", 0, 2, 17, 0x8100, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(key, key_rows, name);

static void put_tag(u8 *frame, u32 len, u16 type)
{
	memmove(frame + 16, frame + 12, len - 16);
	frame[12] = (u8)(type >> 8);
	frame[13] = (u8)type;
	frame[14] = 0x60;
	frame[15] = 0x07;
}

static void key_layers(struct kunit *test)
{
	const struct key_row *row = test->param_value;
	struct key_test *kt = test->priv;
	struct ornic_flow_key key;
	u16 tci = row->layers & ORNIC_FLOW_VLAN ? 0x6007 : 0;

	ornic_rf_udp(kt->frame, 9, 53, LEN);
	kt->frame[row->at] = row->byte;
	if (row->tag)
		put_tag(kt->frame, LEN, row->tag);
	ornic_flow_parse(&key, kt->frame,
			 min_t(u32, row->len, ORNIC_FLOW_HEAD));
	KUNIT_EXPECT_EQ(test, key.layers, row->layers);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(key.dst_port), row->dst_port);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(key.vlan), tci);
	KUNIT_EXPECT_EQ(test, memcmp(key.dmac, kt->frame, 6), 0);
	KUNIT_EXPECT_EQ(test, memcmp(key.smac, kt->frame + 6, 6), 0);
	if (!(row->layers & V4))
		KUNIT_EXPECT_EQ(test, key.proto, 0);
}

/* Each field of a frame of IPv4. */
static void key_ipv4(struct kunit *test)
{
	static const u8 from[16] = { 10, 1, 1, 1 }, to[16] = { 10, 2, 2, 2 };
	struct key_test *kt = test->priv;
	struct ornic_flow_key key;

	ornic_rf_udp(kt->frame, 9, 53, LEN);
	ornic_flow_parse(&key, kt->frame, ORNIC_FLOW_HEAD);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(key.ether_type), 0x0800);
	KUNIT_EXPECT_EQ(test, memcmp(key.src_ip, from, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(key.dst_ip, to, 16), 0);
	KUNIT_EXPECT_EQ(test, key.tclass, 0x28);
	KUNIT_EXPECT_EQ(test, key.ttl, 64);
	KUNIT_EXPECT_EQ(test, key.proto, 17);
	KUNIT_EXPECT_EQ(test, key.ipv4_flags, ORNIC_FLOW_DONT_FRAGMENT);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(key.src_port), 1000);
	kt->frame[20] = 0x20;
	ornic_flow_parse(&key, kt->frame, ORNIC_FLOW_HEAD);
	KUNIT_EXPECT_EQ(test, key.ipv4_flags, ORNIC_FLOW_MORE_FRAGMENTS);
}

/* Each field of a frame of IPv6, with a tag in front of it. */
static void key_ipv6(struct kunit *test)
{
	struct key_test *kt = test->priv;
	struct ornic_flow_key key;
	u8 *ip = kt->frame + 18;
	u32 i;

	ornic_rf_udp(kt->frame, 9, 53, LEN);
	put_tag(kt->frame, LEN, 0x8100);
	kt->frame[16] = 0x86;
	kt->frame[17] = 0xdd;
	for (i = 0; i < 40; i++)
		ip[i] = (u8)(i + 0x60);
	ip[6] = 6;
	ip[40] = 0x12;
	ip[41] = 0x34;
	ornic_flow_parse(&key, kt->frame, ORNIC_FLOW_HEAD);
	KUNIT_EXPECT_EQ(test, key.layers,
			ORNIC_FLOW_IPV6 | ORNIC_FLOW_TCP | ORNIC_FLOW_VLAN);
	KUNIT_EXPECT_EQ(test, key.tclass, 0x06);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(key.flow_label), 0x16263);
	KUNIT_EXPECT_EQ(test, key.ttl, 0x67);
	KUNIT_EXPECT_EQ(test, key.proto, 6);
	KUNIT_EXPECT_EQ(test, key.ipv4_flags, 0);
	KUNIT_EXPECT_EQ(test, memcmp(key.src_ip, ip + 8, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(key.dst_ip, ip + 24, 16), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(key.src_port), 0x1234);
	/* Ports, and then the header, are cut off. */
	ornic_flow_parse(&key, kt->frame, 18 + 43);
	KUNIT_EXPECT_EQ(test, key.layers, ORNIC_FLOW_IPV6 | ORNIC_FLOW_VLAN);
	ornic_flow_parse(&key, kt->frame, 18 + 39);
	KUNIT_EXPECT_EQ(test, key.layers, ORNIC_FLOW_VLAN);
	/* An extension header: no ports. */
	ip[6] = 0;
	ornic_flow_parse(&key, kt->frame, ORNIC_FLOW_HEAD);
	KUNIT_EXPECT_EQ(test, key.layers, ORNIC_FLOW_IPV6 | ORNIC_FLOW_VLAN);
}

/*
 * struct big_row - a byte that is changed in a merged packet of BIG TCP, or its length
 */
static const struct big_row {
	const char *name;
	u32 at;
	u8 byte;
	u32 len;
	bool found;
} big_rows[] = {
	{ "as it is", 6, 0, LEN, true },
	{ "a length", 5, 1, LEN, false },
	{ "another header", 6, 43, LEN, false },
	{ "before UDP", 40, 17, LEN, false },
	{ "a longer header", 41, 1, LEN, false },
	{ "another option", 42, 5, LEN, false },
	{ "ports are cut off", 6, 0, 14 + 51, false },
	{ "header is cut off", 6, 0, 14 + 47, false },
};

KUNIT_ARRAY_PARAM_DESC(big, big_rows, name);

/* The header of a host's own in front of TCP hides no ports. */
static void key_big_tcp(struct kunit *test)
{
	static const u8 head[] = { 6, 0, 0xc2, 4, 0, 1, 0x11, 0x70, 3, 0xe8 };
	const struct big_row *row = test->param_value;
	struct key_test *kt = test->priv;
	struct ornic_flow_key key;
	u8 *ip = kt->frame + 14;

	ornic_rf_udp(kt->frame, 9, 53, LEN);
	kt->frame[12] = 0x86;
	kt->frame[13] = 0xdd;
	memset(ip, 0, LEN - 14);
	ip[0] = 0x60;
	memcpy(ip + 40, head, sizeof(head));
	ip[row->at] = row->byte;
	ornic_flow_parse(&key, kt->frame,
			 min_t(u32, row->len, ORNIC_FLOW_HEAD));
	KUNIT_EXPECT_EQ(test, key.layers,
			ORNIC_FLOW_IPV6 | (row->found ? ORNIC_FLOW_TCP : 0));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(key.src_port), row->found ? 1000 : 0);
}

static struct kunit_case key_cases[] = {
	KUNIT_CASE_PARAM(key_layers, key_gen_params),
	KUNIT_CASE(key_ipv4),
	KUNIT_CASE(key_ipv6),
	KUNIT_CASE_PARAM(key_big_tcp, big_gen_params),
	{}
};

static struct kunit_suite key_suite = {
	.name = "ornic_flow_key",
	.init = flow_key_init,
	.test_cases = key_cases,
};

kunit_test_suite(key_suite);

MODULE_DESCRIPTION("ornic: flow key suite");
MODULE_LICENSE("Dual BSD/GPL");
