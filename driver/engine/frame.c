// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ethernet frames, for hosts that have whole ones: which of them are RoCEv2, and
 * what ornic_engine_rx() takes. Pure. The soft device has skbs, which the
 * kernel's stack has checked.
 */
#include "engine.h"

#define ETH_LEN 14
#define VLAN_LEN 4
#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8
#define TYPE_VLAN 0x8100
#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define PROTO_UDP 17
#define MORE_FRAGMENTS 0x2000
#define FRAGMENT_MASK 0x1fff

static u32 be16_at(const u8 *p)
{
	return (u32)p[0] << 8 | p[1];
}

static bool checksum_ok(const u8 *ip)
{
	u32 sum = 0, i;

	for (i = 0; i < IPV4_LEN; i += 2)
		sum += be16_at(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* The IP header, with @len made what is left; NULL if there is none. */
static const u8 *strip_ethernet(struct ornic_rx *rx, const u8 *p, u32 *len)
{
	u32 type;

	if (*len < ETH_LEN + VLAN_LEN)
		return NULL;
	memcpy(rx->smac, p + 6, sizeof(rx->smac));
	type = be16_at(p + 12);
	p += ETH_LEN;
	*len -= ETH_LEN;
	rx->vlan = ORNIC_VLAN_NONE;
	rx->sl = 0;
	if (type == TYPE_VLAN) {
		rx->vlan = be16_at(p) & 0xfff;
		rx->sl = p[0] >> 5;
		type = be16_at(p + 2);
		p += VLAN_LEN;
		*len -= VLAN_LEN;
		/* A priority and no VLAN, IEEE 802.1Q. */
		if (!rx->vlan)
			rx->vlan = ORNIC_VLAN_NONE;
	}
	rx->ipv6 = type == TYPE_IPV6;
	if ((!rx->ipv6 && type != TYPE_IPV4) || !*len)
		return NULL;
	return p[0] >> 4 == (rx->ipv6 ? 6 : 4) ? p : NULL;
}

/* UDP to the port of RoCEv2. Only the first fragment shows a port. */
static bool is_roce(const u8 *ip, u32 len, bool ipv6)
{
	u32 head = ipv6 ? IPV6_LEN : (ip[0] & 15) * 4u;

	if (head < IPV4_LEN || len < head + UDP_LEN ||
	    ip[ipv6 ? 6 : 9] != PROTO_UDP)
		return false;
	if (!ipv6 && be16_at(ip + 6) & FRAGMENT_MASK)
		return false;
	return be16_at(ip + head + 2) == ORNIC_UDP_PORT;
}

/* Bytes of UDP payload; 0 if the headers are not those of IBTA A17.4. */
static u32 payload_len(const u8 *ip, u32 len, bool ipv6)
{
	u32 head = ipv6 ? IPV6_LEN : IPV4_LEN, total;

	if (ipv6) {
		total = IPV6_LEN + be16_at(ip + 4);
	} else {
		if (ip[0] != 0x45 || be16_at(ip + 6) & MORE_FRAGMENTS)
			return 0;
		total = be16_at(ip + 2);
	}
	/* What follows is padding of Ethernet. */
	if (total > len || total < head + UDP_LEN ||
	    be16_at(ip + head + 4) != total - head)
		return 0;
	return total - head - UDP_LEN;
}

enum ornic_frame ornic_rx_from_frame(struct ornic_rx *rx, const void *frame,
				     u32 len)
{
	const u8 *ip = strip_ethernet(rx, frame, &len);
	u32 head;

	if (!ip || !is_roce(ip, len, rx->ipv6))
		return ORNIC_FRAME_OTHER;
	head = (rx->ipv6 ? IPV6_LEN : IPV4_LEN) + UDP_LEN;
	rx->ip = ip;
	rx->busy_here = false;
	rx->len = payload_len(ip, len, rx->ipv6);
	rx->nsegs = rx->len ? 1 : 0;
	rx->seg[0].ptr = (void *)(ip + head);
	rx->seg[0].len = rx->len;
	return ip[0] == 0x45 && !checksum_ok(ip) ? ORNIC_FRAME_BAD :
						   ORNIC_FRAME_ROCE;
}
