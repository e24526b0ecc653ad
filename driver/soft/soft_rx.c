// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reception: from an skb to the engine. The payload is not copied, the engine
 * gets the segments of the skb. Packets are not trusted; the engine relies on the
 * checks that are made here (struct ornic_rx).
 */
#include "soft_rx.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "compat/compat_net.h"
#include "engine/engine.h"
#include "soft.h"
#include "soft_impair.h"
#include "soft_rxq.h"

#define FIRST_SEG 64u /* bytes of the first segment */

/* skb->cb of a checked packet, which may be queued without its netdev. */
struct rx_cb {
	u32 len; /* bytes from the BTH on; 0: no RoCE packet */
	u16 vlan;
	u8 smac[ETH_ALEN];
};

static struct rx_cb *rx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rx_cb) > sizeof(skb->cb));
	return (struct rx_cb *)skb->cb;
}

static void rx_add_seg(struct ornic_rx *rx, void *ptr, u32 len)
{
	if (!len)
		return;
	rx->seg[rx->nsegs].ptr = ptr;
	rx->seg[rx->nsegs].len = len;
	rx->nsegs++;
}

/* The first segment is the linear part after the UDP header or the GRH. */
static bool rx_gather_skb(struct ornic_rx *rx, struct sk_buff *skb)
{
	const u32 head = ORNIC_SOFT_RX_HEAD;
	int i;

	if (skb_has_frag_list(skb) ||
	    skb_shinfo(skb)->nr_frags >= ORNIC_RX_SEGS) {
		if (skb_linearize(skb))
			return false;
	} else if (!pskb_may_pull(skb, head + min(rx->len, FIRST_SEG))) {
		return false;
	}
	rx_add_seg(rx, skb->data + head, skb_headlen(skb) - head);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		rx_add_seg(rx, skb_frag_address(frag), skb_frag_size(frag));
	}
	return true;
}

/*
 * Not pages that are known to be a program's, and not memory of the emergency reserves,
 * which must not wait. What belongs to others goes at once, as the engine may keep the
 * packet for a second and longer, and after the netdev, its namespace or a module has
 * gone. The bytes stay where the engine has found them. Who has sent them may be able to
 * change them, as before the packet came; lengths and headers are the engine's own.
 */
void *ornic_soft_rx_keep(void *host, const struct ornic_rx *rx, u32 *bytes)
{
	struct sk_buff *skb = rx->host_rx;

	if (skb_shared(skb) || skb_zcopy(skb) || skb_has_shared_frag(skb) ||
	    skb_pfmemalloc(skb))
		return NULL;
	skb_orphan(skb);
	ornic_soft_rx_detach(skb);
	*bytes = skb->truesize;
	return skb_get(skb);
}

void ornic_soft_rx_free(void *host, void *kept)
{
	/* With others at a time, where its CPU does so. */
	napi_consume_skb(kept, softirq_count());
}

void ornic_soft_rx_accept(struct ornic_soft *soft, struct sk_buff *skb)
{
	const struct rx_cb *cb = rx_cb(skb);
	struct ornic_rx rx __uninitialized;

	rx.host_rx = skb;
	rx.ipv6 = skb->protocol != htons(ETH_P_IP);
	rx.busy_here = ornic_soft_rxq_is_here();
	rx.nsegs = 0;
	/* The VLAN device has mapped the PCP: ingress-qos-map. */
	rx.sl = cb->vlan == ORNIC_VLAN_NONE ? 0 : skb->priority & 7;
	rx.vlan = cb->vlan;
	rx.len = cb->len;
	if (rx.len && !rx_gather_skb(&rx, skb)) {
		kfree_skb(skb);
		return;
	}
	rx.ip = skb_network_header(skb);
	ether_addr_copy(rx.smac, cb->smac);
	ornic_engine_rx(soft->engine, &rx);
	/* The reference of the caller: the engine may have kept the packet. */
	napi_consume_skb(skb, 1);
}

void ornic_soft_rx_deliver(struct ornic_soft *soft, struct sk_buff *skb)
{
	if (ornic_soft_impair_on())
		ornic_soft_impair_rx(soft, skb, rx_cb(skb)->len);
	else
		ornic_soft_rx_accept(soft, skb);
}

__flatten void ornic_soft_rx_checked(struct ornic_soft *soft, struct sock *sk,
				     struct sk_buff *skb, u32 len, u16 vlan)
{
	struct rx_cb *cb = rx_cb(skb);

	/* Overwrites the cb of IP. */
	cb->len = len;
	cb->vlan = vlan;
	if (skb->dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	    skb_mac_header(skb) + ETH_HLEN <= skb_network_header(skb))
		ether_addr_copy(cb->smac, eth_hdr(skb)->h_source);
	else
		eth_zero_addr(cb->smac);
	if (!len || !ornic_soft_rxq_take(soft, sk, skb))
		ornic_soft_rx_deliver(soft, skb);
}

void ornic_soft_rx(struct ornic_soft *soft, struct sock *sk,
		   struct sk_buff *skb, u16 vlan)
{
	bool ipv6 = skb->protocol == htons(ETH_P_IPV6);
	bool was_fragments;
	u32 len = 0;

	/* IP's loopback of our multicast, which the engine has delivered. */
	if (!pskb_may_pull(skb, sizeof(struct udphdr)) ||
	    !skb_frags_readable(skb) || skb->pkt_type == PACKET_LOOPBACK) {
		kfree_skb(skb);
		return;
	}
	/* With @len 0 the engine counts it as malformed. */
	was_fragments = ipv6 ? IP6CB(skb)->flags & IP6SKB_FRAGMENTED :
			       IPCB(skb)->frag_max_size;
	if (!was_fragments &&
	    ornic_soft_rx_is_roce(skb_network_header(skb), udp_hdr(skb),
				  skb->len, ipv6))
		len = skb->len - sizeof(struct udphdr);
	ornic_soft_rx_checked(soft, sk, skb, len, vlan);
}

/* IP has not seen the packet: whether it is for this host, only its MAC tells. */
void ornic_soft_rx_v1(struct ornic_soft *soft, struct sock *sk,
		      struct sk_buff *skb, u16 vlan)
{
	const u32 grh_len = sizeof(struct ipv6hdr);
	const struct ipv6hdr *grh;
	u32 len;

	BUILD_BUG_ON(sizeof(struct udphdr) != ORNIC_SOFT_RX_HEAD);
	if ((skb->pkt_type != PACKET_HOST &&
	     skb->pkt_type != PACKET_MULTICAST) ||
	    !skb_frags_readable(skb) || !pskb_may_pull(skb, grh_len))
		goto drop;
	grh = (const struct ipv6hdr *)skb->data;
	if (grh->version != 6 || grh->nexthdr != ORNIC_NXTHDR_BTH)
		goto drop;
	len = ntohs(grh->payload_len);
	/* Ethernet pads. With @len 0 the engine counts it as malformed. */
	if (len > skb->len - grh_len)
		len = 0;
	else if (pskb_trim_rcsum(skb, grh_len + len))
		goto drop;
	skb_reset_network_header(skb);
	__skb_pull(skb, grh_len - ORNIC_SOFT_RX_HEAD);
	ornic_soft_rx_checked(soft, sk, skb, len, vlan);
	return;

drop:
	kfree_skb(skb);
}
