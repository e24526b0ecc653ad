// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From a socket buffer to the engine: the payload stays where it is, the
 * engine gets the pieces. Nothing in the packet is trusted, and the engine
 * may rely on what is checked here (struct ornic_rx).
 */
#include "soft_rx.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "engine/engine.h"
#include "soft_dev.h"

#define FIRST_SEG 64u /* bytes that the first piece holds */

/*
 * Headers that a RoCEv2 packet has, IBTA A17.4: no options, no extension
 * headers, no fragments (the ICRC could not be checked), and lengths that
 * agree. @skb starts at the UDP header.
 */
static bool ipv4_ok(struct sk_buff *skb, u32 udp_len)
{
	const struct iphdr *ip = ip_hdr(skb);

	return ip->version == 4 && ip->ihl == 5 &&
	       !(IPCB(skb)->flags & IPSKB_FRAG_COMPLETE) &&
	       !ip_is_fragment(ip) &&
	       ntohs(ip->tot_len) == sizeof(*ip) + udp_len;
}

static bool ipv6_ok(struct sk_buff *skb, u32 udp_len)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);

	return ip->version == 6 && ip->nexthdr == IPPROTO_UDP &&
	       !(IP6CB(skb)->flags & IP6SKB_FRAGMENTED) &&
	       ntohs(ip->payload_len) == udp_len;
}

static bool headers_ok(struct sk_buff *skb, bool ipv6)
{
	u32 udp_len = skb->len;

	if (ntohs(udp_hdr(skb)->len) != udp_len)
		return false;
	return ipv6 ? ipv6_ok(skb, udp_len) : ipv4_ok(skb, udp_len);
}

static void add_seg(struct ornic_rx *rx, void *ptr, u32 len)
{
	if (!len)
		return;
	rx->seg[rx->nsegs].ptr = ptr;
	rx->seg[rx->nsegs].len = len;
	rx->nsegs++;
}

/* The first piece: the linear part behind the UDP header. */
static bool gather(struct ornic_rx *rx, struct sk_buff *skb)
{
	const u32 udp = sizeof(struct udphdr);
	int i;

	if (skb_has_frag_list(skb) ||
	    skb_shinfo(skb)->nr_frags >= ORNIC_RX_SEGS) {
		if (skb_linearize(skb))
			return false;
	} else if (!pskb_may_pull(skb, udp + min(rx->len, FIRST_SEG))) {
		return false;
	}
	add_seg(rx, skb->data + udp, skb_headlen(skb) - udp);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		add_seg(rx, skb_frag_address(frag), skb_frag_size(frag));
	}
	return true;
}

static void get_smac(struct ornic_rx *rx, const struct sk_buff *skb)
{
	if (skb->dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	    skb_mac_header(skb) + ETH_HLEN <= skb_network_header(skb))
		ether_addr_copy(rx->smac, eth_hdr(skb)->h_source);
	else
		eth_zero_addr(rx->smac);
}

/**
 * ornic_soft_rx - a packet for the RoCEv2 port
 * @soft: whose netdev it came through
 * @skb: starts at the UDP header; consumed
 * @vlan: VLAN id or ORNIC_VLAN_NONE
 *
 * A packet that the stack let pass but that is no RoCEv2 packet is handed on
 * as one without content: the engine counts it with its malformed ones.
 *
 * Context: Softirq, under RCU: ornic_soft_net_leave waits for it.
 */
void ornic_soft_rx(struct ornic_soft *soft, struct sk_buff *skb, u16 vlan)
{
	struct ornic_rx rx;

	if (!pskb_may_pull(skb, sizeof(struct udphdr)) ||
	    !skb_frags_readable(skb))
		goto drop;

	rx.ipv6 = skb->protocol == htons(ETH_P_IPV6);
	rx.nsegs = 0;
	rx.sl = 0;
	rx.vlan = vlan;
	rx.len = 0;
	if (headers_ok(skb, rx.ipv6)) {
		rx.len = skb->len - sizeof(struct udphdr);
		if (!gather(&rx, skb))
			goto drop;
	}
	rx.ip = skb_network_header(skb);
	get_smac(&rx, skb);
	ornic_engine_rx(soft->engine, &rx);
	consume_skb(skb);
	return;

drop:
	kfree_skb(skb);
}
