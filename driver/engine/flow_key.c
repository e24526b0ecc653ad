// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What flow rules match of an Ethernet frame. Pure; every byte is untrusted.
 */
#include "flow.h"

#define ETH_LEN 14
#define VLAN_LEN 4
#define IPV4_LEN 20
#define IPV6_LEN 40
#define JUMBO_LEN 8 /* hop-by-hop header with one jumbo payload option */
#define PORTS_LEN 4
#define TYPE_IPV4 0x0800
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8
#define TYPE_IPV6 0x86dd
#define PROTO_HOP 0
#define OPTION_JUMBO 0xc2
#define PROTO_TCP 6
#define PROTO_UDP 17

#define IPV4_DF 0x4000
#define IPV4_MF 0x2000
#define IPV4_OFFSET 0x1fff

static u32 be16_at(const u8 *p)
{
	return (u32)p[0] << 8 | p[1];
}

static void parse_ports(struct ornic_flow_key *key, const u8 *p, u32 len)
{
	if (len < PORTS_LEN)
		return;
	if (key->proto == PROTO_TCP)
		key->layers |= ORNIC_FLOW_TCP;
	else if (key->proto == PROTO_UDP)
		key->layers |= ORNIC_FLOW_UDP;
	else
		return;
	memcpy(&key->src_port, p, sizeof(key->src_port));
	memcpy(&key->dst_port, p + 2, sizeof(key->dst_port));
}

/* Only the first fragment shows ports. */
static void parse_ipv4(struct ornic_flow_key *key, const u8 *p, u32 len)
{
	u32 head, fragment;

	if (len < IPV4_LEN || p[0] >> 4 != 4)
		return;
	head = (p[0] & 15) * 4u;
	if (head < IPV4_LEN)
		return;
	key->layers |= ORNIC_FLOW_IPV4;
	key->tclass = p[1];
	key->ttl = p[8];
	key->proto = p[9];
	memcpy(key->src_ip, p + 12, 4);
	memcpy(key->dst_ip, p + 16, 4);
	fragment = be16_at(p + 6);
	if (fragment & IPV4_DF)
		key->ipv4_flags |= ORNIC_FLOW_DONT_FRAGMENT;
	if (fragment & IPV4_MF)
		key->ipv4_flags |= ORNIC_FLOW_MORE_FRAGMENTS;
	if (!(fragment & IPV4_OFFSET) && len > head)
		parse_ports(key, p + head, len - head);
}

/*
 * A host with BIG TCP puts this before the TCP of packets that it has merged, or not
 * yet segmented, to more than 64 KiB. On the wire it is not there.
 */
static bool is_big_tcp(const u8 *p, u32 len)
{
	const u8 *hop = p + IPV6_LEN;

	return len >= IPV6_LEN + JUMBO_LEN && p[6] == PROTO_HOP &&
	       !be16_at(p + 4) && hop[0] == PROTO_TCP && !hop[1] &&
	       hop[2] == OPTION_JUMBO;
}

/* Behind extension headers nothing is looked for, as the head may end there. */
static void parse_ipv6(struct ornic_flow_key *key, const u8 *p, u32 len)
{
	u32 label, next = IPV6_LEN;

	if (len < IPV6_LEN || p[0] >> 4 != 6)
		return;
	key->layers |= ORNIC_FLOW_IPV6;
	key->tclass = (u8)(p[0] << 4 | p[1] >> 4);
	label = (p[1] & 15u) << 16 | be16_at(p + 2);
	key->flow_label = cpu_to_be32(label);
	key->proto = p[6];
	key->ttl = p[7];
	memcpy(key->src_ip, p + 8, 16);
	memcpy(key->dst_ip, p + 24, 16);
	if (is_big_tcp(p, len)) {
		key->proto = PROTO_TCP;
		next += JUMBO_LEN;
	}
	parse_ports(key, p + next, len - next);
}

void ornic_flow_parse(struct ornic_flow_key *key, const u8 *head, u32 len)
{
	u32 off = ETH_LEN, type;

	memset(key, 0, sizeof(*key));
	if (len < ETH_LEN)
		return;
	memcpy(key->dmac, head, sizeof(key->dmac));
	memcpy(key->smac, head + 6, sizeof(key->smac));
	type = be16_at(head + 12);
	if ((type == TYPE_VLAN || type == TYPE_QINQ) &&
	    len >= ETH_LEN + VLAN_LEN) {
		key->layers |= ORNIC_FLOW_VLAN;
		memcpy(&key->vlan, head + ETH_LEN, sizeof(key->vlan));
		type = be16_at(head + ETH_LEN + 2);
		off += VLAN_LEN;
	}
	key->ether_type = cpu_to_be16(type);
	if (type == TYPE_IPV4)
		parse_ipv4(key, head + off, len - off);
	else if (type == TYPE_IPV6)
		parse_ipv6(key, head + off, len - off);
}
