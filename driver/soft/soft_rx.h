/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_RX_H
#define ORNIC_SOFT_RX_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <net/ip.h>

struct ornic_soft;
struct sk_buff;
struct sock;

/*
 * Headers that a RoCEv2 packet has, IBTA A17.4: no options, no extension
 * headers, no fragments (the ICRC could not be checked), and lengths that
 * agree; @udp_len is that of the UDP header with what follows it.
 */
static inline bool ornic_soft_rx_is_ipv4(const struct iphdr *ip, u32 udp_len)
{
	return ip->version == 4 && ip->ihl == 5 &&
	       ip->protocol == IPPROTO_UDP && !ip_is_fragment(ip) &&
	       ntohs(ip->tot_len) == sizeof(*ip) + udp_len;
}

static inline bool ornic_soft_rx_is_ipv6(const struct ipv6hdr *ip, u32 udp_len)
{
	return ip->version == 6 && ip->nexthdr == IPPROTO_UDP &&
	       ntohs(ip->payload_len) == udp_len;
}

void ornic_soft_rx(struct ornic_soft *soft, struct sock *sk,
		   struct sk_buff *skb, u16 vlan);
void ornic_soft_rx_checked(struct ornic_soft *soft, struct sock *sk,
			   struct sk_buff *skb, u32 len, u16 vlan);
void ornic_soft_rx_deliver(struct ornic_soft *soft, struct sk_buff *skb);

#endif /* ORNIC_SOFT_RX_H */
