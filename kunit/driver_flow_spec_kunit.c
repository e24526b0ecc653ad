// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Specifications of flow rules as verbs have them, and what rules match then. */
#include <kunit/test.h>
#include <rdma/ib_user_verbs.h>

#include "ornic_flow_spec.h"

/* Each field goes where a frame has it, of the value and of the mask. */
static void flow_spec_eth(struct kunit *test)
{
	const struct ib_uverbs_flow_eth_filter value = {
		.dst_mac = { 1, 2, 3, 4, 5, 6 },
		.src_mac = { 7, 8, 9, 10, 11, 12 },
		.ether_type = cpu_to_be16(0x1234),
		.vlan_tag = cpu_to_be16(0x5678),
	};
	struct ib_uverbs_flow_eth_filter mask = value;
	struct ornic_flow_match match = {};

	mask.vlan_tag = 0;
	KUNIT_EXPECT_EQ(
		test,
		ornic_flow_spec_add(&match, ORNIC_SPEC_ETH, &value, &mask), 0);
	KUNIT_EXPECT_EQ(test, memcmp(match.value.dmac, value.dst_mac, 6), 0);
	KUNIT_EXPECT_EQ(test, memcmp(match.value.smac, value.src_mac, 6), 0);
	KUNIT_EXPECT_EQ(test, memcmp(match.mask.dmac, value.dst_mac, 6), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(match.value.ether_type), 0x1234);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(match.mask.ether_type), 0x1234);
	KUNIT_EXPECT_EQ(test, match.mask.layers, 0);
	KUNIT_EXPECT_EQ(test,
			ornic_flow_spec_add(&match, ORNIC_SPEC_ETH, &value,
					    &mask),
			-EINVAL);
}

/* A tag in the mask: only frames that have one. */
static void flow_spec_vlan(struct kunit *test)
{
	const struct ib_uverbs_flow_eth_filter value = {};
	const struct ib_uverbs_flow_eth_filter mask = {
		.vlan_tag = cpu_to_be16(0xff0f),
	};
	struct ornic_flow_match match = {};

	KUNIT_EXPECT_EQ(
		test,
		ornic_flow_spec_add(&match, ORNIC_SPEC_ETH, &value, &mask), 0);
	KUNIT_EXPECT_EQ(test, match.value.layers, ORNIC_FLOW_VLAN);
	KUNIT_EXPECT_EQ(test, match.mask.layers, ORNIC_FLOW_VLAN);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(match.mask.vlan), 0xff0f);
}

static void flow_spec_ipv4(struct kunit *test)
{
	const struct ib_uverbs_flow_ipv4_filter value = {
		.src_ip = cpu_to_be32(0x01020304),
		.dst_ip = cpu_to_be32(0x05060708),
		.proto = 9,
		.tos = 10,
		.ttl = 11,
		.flags = 4,
	};
	const struct ib_uverbs_flow_ipv4_filter mask = { .ttl = 0xff };
	struct ornic_flow_match match = {};

	KUNIT_EXPECT_EQ(
		test,
		ornic_flow_spec_add(&match, ORNIC_SPEC_IPV4, &value, &mask), 0);
	KUNIT_EXPECT_EQ(test, memcmp(match.value.src_ip, &value.src_ip, 4), 0);
	KUNIT_EXPECT_EQ(test, memcmp(match.value.dst_ip, &value.dst_ip, 4), 0);
	KUNIT_EXPECT_EQ(test, match.value.proto, 9);
	KUNIT_EXPECT_EQ(test, match.value.tclass, 10);
	KUNIT_EXPECT_EQ(test, match.value.ttl, 11);
	KUNIT_EXPECT_EQ(test, match.value.ipv4_flags,
			ORNIC_FLOW_MORE_FRAGMENTS);
	KUNIT_EXPECT_EQ(test, match.mask.ttl, 0xff);
	KUNIT_EXPECT_EQ(test, match.mask.proto, 0);
	KUNIT_EXPECT_EQ(test, match.value.layers, ORNIC_FLOW_IPV4);
	KUNIT_EXPECT_EQ(test, match.mask.layers, ORNIC_FLOW_IPV4);
}

static void flow_spec_ipv6(struct kunit *test)
{
	const struct ib_uverbs_flow_ipv6_filter value = {
		.src_ip = { 1, [15] = 2 },
		.dst_ip = { 3, [15] = 4 },
		.flow_label = cpu_to_be32(0x11223344),
		.next_hdr = 5,
		.traffic_class = 6,
		.hop_limit = 7,
	};
	struct ornic_flow_match match = {};

	KUNIT_EXPECT_EQ(test,
			ornic_flow_spec_add(&match, ORNIC_SPEC_IPV6, &value,
					    &value),
			0);
	KUNIT_EXPECT_EQ(test, memcmp(match.value.src_ip, value.src_ip, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(match.mask.dst_ip, value.dst_ip, 16), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(match.value.flow_label), 0x11223344);
	KUNIT_EXPECT_EQ(test, match.value.proto, 5);
	KUNIT_EXPECT_EQ(test, match.value.tclass, 6);
	KUNIT_EXPECT_EQ(test, match.value.ttl, 7);
	KUNIT_EXPECT_EQ(test, match.mask.layers, ORNIC_FLOW_IPV6);
}

/* Layers add up, each once; what else verbs have is not supported. */
static void flow_spec_layers(struct kunit *test)
{
	const struct ib_uverbs_flow_tcp_udp_filter ports = {
		.dst_port = cpu_to_be16(0x1122),
		.src_port = cpu_to_be16(0x3344),
	};
	const struct ib_uverbs_flow_ipv6_filter none = {};
	static const u32 others[] = { 0x22, 0x34,  0x50,   0x51,
				      0x60, 0x120, 0x1000, 0 };
	struct ornic_flow_match match = {}, before;
	u32 i;

	KUNIT_EXPECT_EQ(
		test,
		ornic_flow_spec_add(&match, ORNIC_SPEC_UDP, &ports, &ports), 0);
	KUNIT_EXPECT_EQ(
		test,
		ornic_flow_spec_add(&match, ORNIC_SPEC_IPV4, &none, &none), 0);
	KUNIT_EXPECT_EQ(test, match.value.layers,
			ORNIC_FLOW_UDP | ORNIC_FLOW_IPV4);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(match.value.dst_port), 0x1122);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(match.mask.src_port), 0x3344);
	before = match;
	KUNIT_EXPECT_EQ(test,
			ornic_flow_spec_add(&match, ORNIC_SPEC_TCP, &ports,
					    &ports),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			ornic_flow_spec_add(&match, ORNIC_SPEC_IPV6, &none,
					    &none),
			-EINVAL);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_EQ(test,
				ornic_flow_spec_add(&match, others[i], &none,
						    &none),
				-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, memcmp(&match, &before, sizeof(match)), 0);
}

static struct kunit_case flow_spec_cases[] = {
	KUNIT_CASE(flow_spec_eth),    KUNIT_CASE(flow_spec_vlan),
	KUNIT_CASE(flow_spec_ipv4),   KUNIT_CASE(flow_spec_ipv6),
	KUNIT_CASE(flow_spec_layers), {}
};

static struct kunit_suite flow_spec_suite = {
	.name = "ornic_driver_flow_spec",
	.test_cases = flow_spec_cases,
};

kunit_test_suite(flow_spec_suite);
