// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transmission, from the engine to the netdev, or to IP's output (soft_out.c). The
 * engine fills frames of their own memory: pages of an MR are not passed down,
 * where they could be read late or twice while the program writes to them.
 *
 * Frames in flight of a QP are bounded as those of a TCP socket are by TCP small
 * queues; the destructor of a frame makes room. It finds the ornic_soft_qp in
 * destructor_arg, which the stack uses only for zero-copy skbs.
 *
 * Each CPU has its own transmit queue and backlog, so frames of one CPU may
 * overtake those of another, and the QP would see lost packets. Therefore a QP
 * stays on the CPU that sent last while its frames are in flight.
 */
#include "soft_tx.h"

#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>
#include <net/route.h>

#include "engine/engine.h"
#include "soft.h"
#include "soft_impair.h"
#include "soft_sched.h"

#define TX_LIMIT 64 /* frames in flight per QP */
#define TX_LOW 32 /* a stalled QP is woken here */
#define LINEAR_MAX 512 /* payload, pad and ICRC that fit into the linear part */

/* ---- Room ---------------------------------------------------------------- */

static int tx_room_here(const struct ornic_soft_qp *qp)
{
	int in_flight = atomic_read(&qp->in_flight);

	if (in_flight && READ_ONCE(qp->cpu) != smp_processor_id())
		return 0;
	return TX_LIMIT - in_flight;
}

u32 ornic_soft_tx_room(void *host, void *host_qp)
{
	struct ornic_soft_qp *qp = ornic_soft_qp_of(host_qp);
	int room = tx_room_here(qp);

	if (room <= 0) {
		set_bit(ORNIC_SOFT_QP_STALLED, &qp->state);
		smp_mb__after_atomic(); /* pairs with frame_freed() */
		room = tx_room_here(qp);
		if (room <= 0)
			return 0;
	}
	if (READ_ONCE(qp->cpu) != smp_processor_id())
		WRITE_ONCE(qp->cpu, smp_processor_id());
	return room == TX_LIMIT ? ORNIC_TX_IDLE : room;
}

static void frame_freed(struct sk_buff *skb)
{
	struct ornic_soft_qp *qp = skb_shinfo(skb)->destructor_arg;

	if (atomic_dec_return(&qp->in_flight) <= TX_LOW &&
	    test_bit(ORNIC_SOFT_QP_STALLED, &qp->state) &&
	    test_and_clear_bit(ORNIC_SOFT_QP_STALLED, &qp->state))
		ornic_soft_qp_wake(qp);
	ornic_soft_qp_put(qp);
}

/* ---- Frames -------------------------------------------------------------- */

/*
 * Allocate a linear frame with @rest bytes after the headers, from the NAPI cache
 * of this CPU, to which received skbs are returned.
 */
static struct sk_buff *alloc_frame(const struct net_device *netdev,
				   struct ornic_tx *tx, u32 rest)
{
	u32 headroom = LL_RESERVED_SPACE(netdev);
	struct sk_buff *skb;

	skb = __alloc_skb(headroom + tx->hdr_len + rest,
			  GFP_ATOMIC | __GFP_NOWARN, SKB_ALLOC_NAPI,
			  NUMA_NO_NODE);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	tx->hdr = __skb_put(skb, tx->hdr_len + rest);
	tx->body = tx->hdr + tx->hdr_len;
	return skb;
}

/*
 * A long body is a fragment: a linear frame would need 8 KiB. With pad and ICRC it
 * may be larger than a page, which the fragment cache cannot serve when it had to
 * fall back to single pages. Then the frame is linear.
 */
static noinline struct sk_buff *alloc_in_two(const struct net_device *netdev,
					     struct ornic_tx *tx)
{
	struct sk_buff *skb;
	struct page *page;
	u8 *body;

	skb = alloc_frame(netdev, tx, 0);
	if (!skb)
		return NULL;
	body = netdev_alloc_frag(tx->body_len);
	if (unlikely(!body)) {
		kfree_skb(skb);
		return alloc_frame(netdev, tx, tx->body_len);
	}
	page = virt_to_head_page(body);
	skb_add_rx_frag(skb, 0, page, body - (u8 *)page_address(page),
			tx->body_len, SKB_DATA_ALIGN(tx->body_len));
	tx->body = body;
	return skb;
}

int ornic_soft_tx_frame(void *host, struct ornic_tx *tx)
{
	const struct ornic_soft *soft = host;
	const struct net_device *netdev = soft->netdev;
	struct sk_buff *skb;

	if (!netif_running(netdev) || !netif_carrier_ok(netdev))
		return -ENETDOWN;
	/* The MTU may have shrunk since the QP got its path MTU. */
	if (tx->hdr_len - tx->l3_offset + tx->body_len > READ_ONCE(netdev->mtu))
		return -EMSGSIZE;
	/* Without NETIF_F_SG the core would linearize, with a copy. */
	if (tx->body_len <= LINEAR_MAX || !(netdev->features & NETIF_F_SG))
		skb = alloc_frame(netdev, tx, tx->body_len);
	else
		skb = alloc_in_two(netdev, tx);
	if (!skb)
		return -ENOMEM;
	tx->frame = skb;
	return 0;
}

/*
 * For qdiscs and VLAN devices: what a socket with this type of service has, as rdma_cm
 * assumes when it chooses the service level; without one the level itself.
 */
static u32 frame_priority(const struct sk_buff *skb, const struct ornic_tx *tx)
{
	u8 tos = tx->ipv6 ? ipv6_get_dsfield(ipv6_hdr(skb)) : ip_hdr(skb)->tos;

	return rt_tos2priority(tos) ?: tx->sl;
}

/* As of a packet socket: what the program wrote is not looked at any further. */
static void raw_fill_in(struct sk_buff *skb, struct net_device *netdev,
			const struct ornic_tx *tx, u32 hash)
{
	__be16 type = ((const struct ethhdr *)tx->hdr)->h_proto;

	skb->dev = netdev;
	skb->protocol = eth_proto_is_802_3(type) ? type : htons(ETH_P_802_2);
	skb->ip_summed = CHECKSUM_NONE;
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, tx->l3_offset);
	skb_set_transport_header(skb, tx->l3_offset);
	skb_reset_mac_len(skb);
	__skb_set_sw_hash(skb, hash, false);
}

/* Metadata for the stack; the frame itself is complete. */
static void frame_fill_in(struct sk_buff *skb, struct net_device *netdev,
			  const struct ornic_tx *tx, u32 hash)
{
	skb->dev = netdev;
	skb->protocol = ((const struct ethhdr *)tx->hdr)->h_proto;
	skb->ip_summed = CHECKSUM_NONE;
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, tx->l3_offset);
	skb_set_transport_header(skb, tx->l4_offset);
	skb_reset_mac_len(skb);
	skb->priority = frame_priority(skb, tx);
	__skb_set_sw_hash(skb, hash, true);
}

/* RoCE v1 is not for IP's rules. */
static int frame_send(struct net_device *netdev, struct sk_buff *skb, bool ipv6)
{
	if (unlikely(ornic_soft_out_is_ruled(dev_net(netdev), ipv6)) &&
	    !ornic_ip_is_grh(skb_network_header(skb), ipv6))
		return ornic_soft_out(skb, ipv6);
	return dev_queue_xmit(skb);
}

/* It counts as in flight for @qp. */
static void frame_own(struct ornic_soft_qp *qp, struct sk_buff *skb)
{
	refcount_inc(&qp->refs);
	atomic_inc(&qp->in_flight);
	skb_shinfo(skb)->destructor_arg = qp;
	skb->destructor = frame_freed;
}

u64 ornic_soft_tx_origin(const struct sk_buff *skb)
{
	const struct ornic_soft_qp *qp;

	if (skb->destructor != frame_freed)
		return 0;
	qp = skb_shinfo(skb)->destructor_arg;
	return qp->serial;
}

int ornic_soft_tx_own(struct ornic_soft_qp *qp, struct sk_buff *skb, bool ipv6)
{
	int err;

	frame_own(qp, skb);
	err = frame_send(qp->soft->netdev, skb, ipv6);
	return err > 0 ? net_xmit_errno(err) : err;
}

void ornic_soft_tx_any(struct net_device *netdev, struct sk_buff *skb)
{
	frame_send(netdev, skb, ip_hdr(skb)->version == 6);
}

void ornic_soft_tx_drop(void *host, const struct ornic_tx *tx)
{
	consume_skb(tx->frame);
}

/* Impairments and IP's output are for packets. */
static noinline int raw_xmit(struct ornic_soft_qp *qp, struct sk_buff *skb,
			     const struct ornic_tx *tx)
{
	int err;

	raw_fill_in(skb, qp->soft->netdev, tx, qp->hash);
	frame_own(qp, skb);
	err = dev_queue_xmit(skb);
	return err > 0 ? net_xmit_errno(err) : err;
}

__flatten int ornic_soft_xmit(void *host, const struct ornic_tx *tx)
{
	struct ornic_soft_qp *qp = ornic_soft_qp_of(tx->host_qp);
	struct ornic_soft *soft = host;
	struct sk_buff *skb = tx->frame;

	if (unlikely(tx->raw))
		return raw_xmit(qp, skb, tx);
	frame_fill_in(skb, soft->netdev, tx, qp->hash);
	if (ornic_soft_impair_on())
		return ornic_soft_impair_tx(qp, skb, tx);
	return ornic_soft_tx_own(qp, skb, tx->ipv6);
}
