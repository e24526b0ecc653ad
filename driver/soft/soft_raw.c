// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Frames for raw packet QPs. Netfilter's ingress hook of the netdev passes them
 * here, after packet sockets, XDP, tc and all other such hooks have seen them, and
 * before VLAN devices and protocols: like a rule of hardware, one of ours may take a
 * frame from the host, which a packet handler could not. An rx_handler could, but a
 * netdev has only one.
 *
 * What the stack has put together or left undone is undone or done first: a QP
 * gets frames as they were on the wire, with their tag and their checksums. The stack
 * does that where frames leave, after checks that are not made of what arrives: a guest
 * or a container may have asked for any checksum and any segments.
 */
#include "soft_raw.h"

#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/math.h>
#include <linux/netdevice.h>
#include <linux/sctp.h>
#include <linux/skbuff.h>
#include <net/gso.h>

#include "compat/compat_net.h"
#include "engine/engine.h"
#include "soft.h"

/* 64 KiB are 1366 with the least MSS of TCP in Linux, 48. */
#define MAX_SEGMENTS 2048

bool ornic_soft_is_own(void *host, const u8 *mac)
{
	const struct ornic_soft *soft = host;

	/* As eth_type_trans() reads it. */
	return ether_addr_equal(mac, soft->netdev->dev_addr);
}

void ornic_soft_raw_wanted(void *host, bool wanted)
{
	struct ornic_soft *soft = host;

	WRITE_ONCE(soft->rx_fast.raw, wanted);
}

/* The Ethernet header, with the tag where it was. Returns its length. */
static u32 put_ethernet(u8 *head, const struct sk_buff *skb)
{
	const u8 *mac = skb_mac_header(skb);
	u32 len = 2 * ETH_ALEN;
	__be16 tag[2];

	memcpy(head, mac, len);
	if (skb_vlan_tag_present(skb)) {
		tag[0] = skb->vlan_proto;
		tag[1] = htons(skb_vlan_tag_get(skb));
		memcpy(head + len, tag, sizeof(tag));
		len += sizeof(tag);
	}
	memcpy(head + len, mac + 2 * ETH_ALEN, sizeof(__be16));
	return len + sizeof(__be16);
}

/* @skb is as on the wire, and of few pieces. */
static void deliver_frame(struct ornic_soft *soft, const struct sk_buff *skb,
			  const struct ornic_flow_hits *hits)
{
	struct ornic_frag seg[ORNIC_RX_SEGS];
	u8 head[ETH_HLEN + VLAN_HLEN];
	u32 n = 0;
	int i;

	seg[n].ptr = head;
	seg[n++].len = put_ethernet(head, skb);
	if (skb_headlen(skb)) {
		seg[n].ptr = skb->data;
		seg[n++].len = skb_headlen(skb);
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		seg[n].ptr = skb_frag_address(frag);
		seg[n++].len = skb_frag_size(frag);
	}
	ornic_engine_rx_frame(soft->engine, hits, seg, n);
}

static bool has_many_pieces(const struct sk_buff *skb)
{
	return skb_has_frag_list(skb) ||
	       skb_shinfo(skb)->nr_frags > ORNIC_RX_SEGS - 2;
}

/*
 * The place of the checksum is the sender's, who may have asked for any. It has to be in
 * the head of @skb, where the stack puts what it accepts.
 */
static bool checksum_fits(struct sk_buff *skb)
{
	int start = skb_checksum_start_offset(skb);
	size_t room = skb->csum_offset + sizeof(__sum16);

	if (skb_csum_is_sctp(skb))
		room = offsetofend(struct sctphdr, checksum);
	return start >= 0 && start + room <= skb_headlen(skb);
}

static bool finish_checksum(struct sk_buff *skb)
{
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       (checksum_fits(skb) && !skb_csum_hwoffload_help(skb, 0));
}

/* @skb is ours alone to change, but for its data. False: it cannot be a frame. */
static bool deliver_changed(struct ornic_soft *soft, struct sk_buff *skb,
			    const struct ornic_flow_hits *hits)
{
	if (skb_is_gso(skb) || !finish_checksum(skb) ||
	    (has_many_pieces(skb) && skb_linearize(skb)))
		return false;
	deliver_frame(soft, skb, hits);
	return true;
}

/* Senders choose the length of segments. Only this kernel makes lists of them. */
static bool segments_fit(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (shinfo->gso_type & SKB_GSO_FRAGLIST ||
	    shinfo->gso_size == GSO_BY_FRAGS)
		return skb_has_frag_list(skb) &&
		       !(shinfo->gso_type & SKB_GSO_DODGY);
	return DIV_ROUND_UP(skb->len, shinfo->gso_size) <= MAX_SEGMENTS;
}

/*
 * Prepare @skb, a clone, for segmentation, which writes to headers, takes them as
 * linear, and asserts that each piece of a list is as long as a segment.
 */
static bool prepare_segments(struct sk_buff *skb)
{
	if (!segments_fit(skb) || skb_cow_head(skb, 0))
		return false;
	if (skb_has_frag_list(skb) &&
	    !(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST) &&
	    skb_shinfo(skb)->gso_size != GSO_BY_FRAGS && skb_linearize(skb))
		return false;
	if (!pskb_may_pull(skb, min_t(u32, skb_pagelen(skb), ORNIC_FLOW_HEAD)))
		return false;
	skb_reset_network_header(skb);
	/* Means that headers have to be made writable, and would be warned of. */
	if (skb->ip_summed == CHECKSUM_NONE)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	return true;
}

/* Frames that the stack of the sender or of this host has left, or made, as one. */
static bool deliver_segments(struct ornic_soft *soft, struct sk_buff *skb,
			     const struct ornic_flow_hits *hits)
{
	struct sk_buff *segs, *next;
	bool all = true;

	if (!prepare_segments(skb))
		return false;
	__skb_push(skb, ETH_HLEN);
	segs = __skb_gso_segment(skb, 0, false);
	if (IS_ERR_OR_NULL(segs))
		return false;
	skb_list_walk_safe(segs, segs, next)
	{
		skb_mark_not_on_list(segs);
		skb_reset_mac_header(segs);
		__skb_pull(segs, ETH_HLEN);
		all &= deliver_changed(soft, segs, hits);
		consume_skb(segs);
	}
	return all;
}

/* The host gets @skb as it is, so what has to change does so in a clone. */
static noinline void deliver_unusual(struct ornic_soft *soft,
				     const struct sk_buff *skb,
				     const struct ornic_flow_hits *hits)
{
	struct sk_buff *clone = skb_clone((struct sk_buff *)skb, GFP_ATOMIC);
	bool done;

	if (!clone)
		done = false;
	else if (skb_is_gso(clone))
		done = deliver_segments(soft, clone, hits);
	else
		done = deliver_changed(soft, clone, hits);
	if (!done)
		ornic_engine_count_malformed(soft->engine);
	consume_skb(clone);
}

static bool is_usual(const struct sk_buff *skb)
{
	return !skb_is_gso(skb) && skb->ip_summed != CHECKSUM_PARTIAL &&
	       !has_many_pieces(skb);
}

bool ornic_soft_raw_rx(struct ornic_soft *soft, struct sk_buff *skb)
{
	struct ornic_flow_hits hits __uninitialized;
	u8 head[ORNIC_FLOW_HEAD];
	u32 len, n;

	if (!skb_mac_header_was_set(skb) || !skb_frags_readable(skb) ||
	    skb_mac_header(skb) + ETH_HLEN != skb->data)
		return false;
	len = put_ethernet(head, skb);
	n = min_t(u32, skb->len, sizeof(head) - len);
	if (skb_copy_bits(skb, 0, head + len, n))
		return false;
	ornic_engine_find_frame(soft->engine, head, len + n,
				skb->pkt_type != PACKET_OTHERHOST, &hits);
	if (hits.n) {
		if (likely(is_usual(skb)))
			deliver_frame(soft, skb, &hits);
		else
			deliver_unusual(soft, skb, &hits);
	}
	if (!hits.taken)
		return false;
	consume_skb(skb);
	return true;
}
