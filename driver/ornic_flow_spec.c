// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Specifications of flow rules, as verbs have them -> struct ornic_flow_match. Pure. */
#include "ornic_flow_spec.h"

#include <rdma/ib_user_verbs.h>

/* A rule with a tag in its mask is for frames that have one, as with mlx5. */
static void put_eth(struct ornic_flow_key *key,
		    const struct ib_uverbs_flow_eth_filter *from, bool tagged)
{
	memcpy(key->dmac, from->dst_mac, sizeof(key->dmac));
	memcpy(key->smac, from->src_mac, sizeof(key->smac));
	key->ether_type = from->ether_type;
	key->vlan = from->vlan_tag;
	if (tagged)
		key->layers |= ORNIC_FLOW_VLAN;
}

static void put_ipv4(struct ornic_flow_key *key,
		     const struct ib_uverbs_flow_ipv4_filter *from)
{
	memcpy(key->src_ip, &from->src_ip, sizeof(from->src_ip));
	memcpy(key->dst_ip, &from->dst_ip, sizeof(from->dst_ip));
	key->proto = from->proto;
	key->tclass = from->tos;
	key->ttl = from->ttl;
	key->ipv4_flags = from->flags;
	key->layers |= ORNIC_FLOW_IPV4;
}

static void put_ipv6(struct ornic_flow_key *key,
		     const struct ib_uverbs_flow_ipv6_filter *from)
{
	memcpy(key->src_ip, from->src_ip, sizeof(key->src_ip));
	memcpy(key->dst_ip, from->dst_ip, sizeof(key->dst_ip));
	key->flow_label = from->flow_label;
	key->proto = from->next_hdr;
	key->tclass = from->traffic_class;
	key->ttl = from->hop_limit;
	key->layers |= ORNIC_FLOW_IPV6;
}

static void put_ports(struct ornic_flow_key *key,
		      const struct ib_uverbs_flow_tcp_udp_filter *from,
		      u8 layer)
{
	key->src_port = from->src_port;
	key->dst_port = from->dst_port;
	key->layers |= layer;
}

static bool has_layer(const struct ornic_flow_match *match, u8 layers)
{
	return match->mask.layers & layers;
}

static bool has_eth(const struct ornic_flow_key *mask)
{
	static const u8 none[offsetof(struct ornic_flow_key, src_ip)];

	return memcmp(mask, none, sizeof(none)) != 0;
}

static int add_eth(struct ornic_flow_match *match,
		   const struct ib_uverbs_flow_eth_filter *value,
		   const struct ib_uverbs_flow_eth_filter *mask)
{
	bool tagged = mask->vlan_tag;

	if (has_eth(&match->mask))
		return -EINVAL;
	put_eth(&match->value, value, tagged);
	put_eth(&match->mask, mask, tagged);
	return 0;
}

static int add_ports(struct ornic_flow_match *match, const void *value,
		     const void *mask, u8 layer)
{
	if (has_layer(match, ORNIC_FLOW_TCP | ORNIC_FLOW_UDP))
		return -EINVAL;
	put_ports(&match->value, value, layer);
	put_ports(&match->mask, mask, layer);
	return 0;
}

int ornic_flow_spec_add(struct ornic_flow_match *match, u32 type,
			const void *value, const void *mask)
{
	switch (type) {
	case ORNIC_SPEC_ETH:
		return add_eth(match, value, mask);
	case ORNIC_SPEC_IPV4:
		if (has_layer(match, ORNIC_FLOW_IPV4 | ORNIC_FLOW_IPV6))
			return -EINVAL;
		put_ipv4(&match->value, value);
		put_ipv4(&match->mask, mask);
		return 0;
	case ORNIC_SPEC_IPV6:
		if (has_layer(match, ORNIC_FLOW_IPV4 | ORNIC_FLOW_IPV6))
			return -EINVAL;
		put_ipv6(&match->value, value);
		put_ipv6(&match->mask, mask);
		return 0;
	case ORNIC_SPEC_TCP:
		return add_ports(match, value, mask, ORNIC_FLOW_TCP);
	case ORNIC_SPEC_UDP:
		return add_ports(match, value, mask, ORNIC_FLOW_UDP);
	default:
		return -EOPNOTSUPP;
	}
}

ORNIC_FOR_KUNIT(ornic_flow_spec_add);
