// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The invariant CRC of RoCEv2, IBTA A17.3.3: CRC-32 over eight bytes of ones
 * in place of the LRH, then the packet from the IP header to the last pad
 * byte, where all that a router may change counts as ones. RoCE v1 has the GRH
 * in place of IP and UDP, IBTA 7.8.1. Pure.
 */
#include "wire.h"

#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8

/* The register, all ones at first, after the eight bytes 0xff of the LRH. */
#define CRC_AFTER_LRH 0xdebb20e3u

/* TOS, TTL and header checksum change on the way. */
static void mask_ipv4(u8 *ip)
{
	ip[1] = 0xff;
	ip[8] = 0xff;
	ip[10] = 0xff;
	ip[11] = 0xff;
}

/* Traffic class, flow label and hop limit change on the way. */
static void mask_ipv6(u8 *ip)
{
	ip[0] |= 0x0f;
	ip[1] = 0xff;
	ip[2] = 0xff;
	ip[3] = 0xff;
	ip[7] = 0xff;
}

static noinline u32 icrc_start_grh(const void *grh, const void *bth, u32 len)
{
	u8 buf[ORNIC_GRH_LEN + ORNIC_ICRC_HEAD] __uninitialized;

	memcpy(buf, grh, ORNIC_GRH_LEN);
	mask_ipv6(buf);
	memcpy(buf + ORNIC_GRH_LEN, bth, len);
	buf[ORNIC_GRH_LEN + 4] = 0xff; /* FECN, BECN, reserved */
	return ornic_crc32(CRC_AFTER_LRH, buf, ORNIC_GRH_LEN + len);
}

u32 ornic_icrc_start(const void *ip, bool ipv6, const void *bth, u32 len)
{
	u32 l4 = ipv6 ? IPV6_LEN : IPV4_LEN;
	u8 buf[IPV6_LEN + UDP_LEN + ORNIC_ICRC_HEAD] __uninitialized;
	u8 *udp = buf + l4;

	if (unlikely(ornic_ip_is_grh(ip, ipv6)))
		return icrc_start_grh(ip, bth, len);
	memcpy(buf, ip, l4 + UDP_LEN);
	if (ipv6)
		mask_ipv6(buf);
	else
		mask_ipv4(buf);
	udp[6] = 0xff; /* checksum */
	udp[7] = 0xff;
	memcpy(udp + UDP_LEN, bth, len);
	udp[UDP_LEN + 4] = 0xff; /* FECN, BECN, reserved */
	return ornic_crc32(CRC_AFTER_LRH, buf, l4 + UDP_LEN + len);
}

__le32 ornic_icrc_finish(u32 crc)
{
	return cpu_to_le32(~crc);
}

/* build_datapath.c has other sources after this one. */
#undef IPV4_LEN
#undef IPV6_LEN
#undef UDP_LEN
