/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_RX_H
#define ORNIC_SOFT_RX_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>

struct ornic_rx;
struct ornic_soft;
struct sock;

/*
 * True for the headers of a RoCEv2 packet, IBTA A17.4: no options, extension
 * headers or fragments (the ICRC could not be checked), and consistent lengths.
 * @udp_len counts the UDP header and all bytes after it.
 */
static inline bool ornic_soft_rx_is_roce(const void *ip,
					 const struct udphdr *udp, u32 udp_len,
					 bool ipv6)
{
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;

	if (ntohs(udp->len) != udp_len)
		return false;
	if (ipv6)
		return ip6->version == 6 && ip6->nexthdr == IPPROTO_UDP &&
		       ntohs(ip6->payload_len) == udp_len;
	return ip4->version == 4 && ip4->ihl == 5 &&
	       ip4->protocol == IPPROTO_UDP && !ip_is_fragment(ip4) &&
	       ntohs(ip4->tot_len) == sizeof(*ip4) + udp_len;
}

/* Bytes from the start of an skb to the BTH, in the functions below. */
#define ORNIC_SOFT_RX_HEAD 8

/* Drop the references of a packet that are valid only in the softirq. */
static inline void ornic_soft_rx_detach(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb->dev = NULL;
}

/*
 * @skb starts at the UDP header, or at the last 8 bytes of a GRH, and is consumed;
 * @vlan may be ORNIC_VLAN_NONE.
 *
 * ornic_soft_rx() - receive a packet that came to @sk by the netdev of @soft.
 * Softirq, under RCU, for which ornic_soft_net_leave() waits. A worker of the QP
 * may deliver the packet until the QP is destroyed.
 * ornic_soft_rx_v1() - the same for a packet of RoCE v1, which starts at its GRH;
 * @sk counts drops.
 * ornic_soft_rx_checked() - the same for a packet whose headers were checked;
 * @len bytes follow the UDP header or GRH, 0: it is no RoCE packet after all.
 * ornic_soft_rx_deliver() - pass @skb, prepared by these two, to the engine, or
 * impair it by the rules of the device. Softirqs off, under RCU.
 * ornic_soft_rx_accept() - the same after the rules.
 */
void ornic_soft_rx(struct ornic_soft *soft, struct sock *sk,
		   struct sk_buff *skb, u16 vlan);
void ornic_soft_rx_v1(struct ornic_soft *soft, struct sock *sk,
		      struct sk_buff *skb, u16 vlan);
void ornic_soft_rx_checked(struct ornic_soft *soft, struct sock *sk,
			   struct sk_buff *skb, u32 len, u16 vlan);
void ornic_soft_rx_deliver(struct ornic_soft *soft, struct sk_buff *skb);
void ornic_soft_rx_accept(struct ornic_soft *soft, struct sk_buff *skb);

/* Of struct ornic_engine_ops. */
void *ornic_soft_rx_keep(void *host, const struct ornic_rx *rx, u32 *bytes);
void ornic_soft_rx_free(void *host, void *kept);

#endif /* ORNIC_SOFT_RX_H */
