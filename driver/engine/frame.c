// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ethernet frames, for hosts that have whole ones: which of them are RoCE, and
 * what ornic_engine_rx() takes. Pure. The soft device has skbs, which the
 * kernel's stack has checked.
 */
#include "engine.h"

#define ETH_LEN 14
#define VLAN_LEN 4
#define IPV4_LEN 20
#define IPV6_LEN 40
#define GRH_LEN 40
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

/*
 * The Ethertype, with *@frame and @len made what follows it. 0 if the frame is too
 * short for any packet.
 */
static u32 strip_ethernet(struct ornic_rx *rx, const u8 **frame, u32 *len)
{
	const u8 *p = *frame;
	u32 type;

	if (*len < ETH_LEN + VLAN_LEN)
		return 0;
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
	*frame = p;
	return *len ? type : 0;
}

/* UDP to the port of RoCEv2. Only the first fragment shows a port. */
static bool is_roce_v2(const u8 *ip, u32 len, bool ipv6)
{
	u32 head = ipv6 ? IPV6_LEN : (ip[0] & 15) * 4u;

	if (ip[0] >> 4 != (ipv6 ? 6 : 4) || head < IPV4_LEN ||
	    len < head + UDP_LEN || ip[ipv6 ? 6 : 9] != PROTO_UDP)
		return false;
	if (!ipv6 && be16_at(ip + 6) & FRAGMENT_MASK)
		return false;
	return be16_at(ip + head + 2) == ORNIC_UDP_PORT;
}

/* A GRH before a BTH, IBTA 8.3. */
static bool is_roce_v1(const u8 *grh, u32 len)
{
	return len >= GRH_LEN && grh[0] >> 4 == 6 && grh[6] == ORNIC_NXTHDR_BTH;
}

static bool is_roce(const u8 *l3, u32 len, u32 type)
{
	switch (type) {
	case TYPE_IPV4:
	case TYPE_IPV6:
		return is_roce_v2(l3, len, type == TYPE_IPV6);
	case ORNIC_ETH_ROCE_V1:
		return is_roce_v1(l3, len);
	}
	return false;
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

/* The same after a GRH. */
static u32 v1_payload_len(const u8 *grh, u32 len)
{
	u32 total = be16_at(grh + 4);

	return total <= len - GRH_LEN ? total : 0;
}

enum ornic_frame ornic_rx_from_frame(struct ornic_rx *rx, const void *frame,
				     u32 len)
{
	const u8 *ip = frame;
	u32 type = strip_ethernet(rx, &ip, &len);
	u32 head;

	if (!is_roce(ip, len, type))
		return ORNIC_FRAME_OTHER;
	rx->host_rx = NULL;
	rx->ip = ip;
	rx->ipv6 = type != TYPE_IPV4;
	rx->busy_here = false;
	if (type == ORNIC_ETH_ROCE_V1) {
		head = GRH_LEN;
		rx->len = v1_payload_len(ip, len);
	} else {
		head = (rx->ipv6 ? IPV6_LEN : IPV4_LEN) + UDP_LEN;
		rx->len = payload_len(ip, len, rx->ipv6);
	}
	rx->nsegs = rx->len ? 1 : 0;
	rx->seg[0].ptr = (void *)(ip + head);
	rx->seg[0].len = rx->len;
	return ip[0] == 0x45 && !checksum_ok(ip) ? ORNIC_FRAME_BAD :
						   ORNIC_FRAME_ROCE;
}
