// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From the engine to the netdev, or to IP where there are rules for what leaves
 * (soft_out.c). A frame is memory of its own that the engine
 * fills: no page of an MR goes down there, where it could be read late, or
 * twice, while the program writes to it.
 *
 * Frames in flight per QP are bounded as TCP bounds its own (tcp_small_queue):
 * their destructor makes room. It finds the flow by destructor_arg, which the
 * stack leaves alone when a buffer is not marked as zero copy.
 *
 * CPUs have queues of their own down there, and a frame of one may overtake
 * those of another: to a QP that is a lost packet. So a QP stays on the CPU
 * that sent last, until its frames are gone.
 */
#include "soft_tx.h"

#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "engine/engine.h"
#include "soft.h"
#include "soft_sched.h"

#define TX_LIMIT 64 /* frames in flight per QP */
#define TX_LOW 32 /* a stalled QP goes on here */
#define LINEAR_MAX 512 /* bytes of payload, pad and ICRC beside the headers */

/* ---- Room --------------------------------------------------------------------- */

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
		smp_mb__after_atomic(); /* pairs with the one in frame_freed */
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

/* ---- Frames ---------------------------------------------------------------------- */

/*
 * The headers, and @rest bytes behind them, from this CPU's own stock, where
 * what is received goes back to.
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
 * A long body is a fragment: together with the headers it would need 8 KiB. With
 * pad and ICRC it may be larger than a page, which the CPU's stock of fragments
 * does not serve when it has found no memory but single pages; 8 KiB do then.
 */
static ornic_apart struct sk_buff *alloc_in_two(const struct net_device *netdev,
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
	/* Where fragments are not for this netdev the core would copy again. */
	if (tx->body_len <= LINEAR_MAX || !(netdev->features & NETIF_F_SG))
		skb = alloc_frame(netdev, tx, tx->body_len);
	else
		skb = alloc_in_two(netdev, tx);
	if (!skb)
		return -ENOMEM;
	tx->frame = skb;
	return 0;
}

/* What the stack wants to know of a frame that is complete already. */
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
	__skb_set_sw_hash(skb, hash, true);
}

ornic_flatten int ornic_soft_xmit(void *host, const struct ornic_tx *tx)
{
	struct ornic_soft_qp *qp = ornic_soft_qp_of(tx->host_qp);
	struct ornic_soft *soft = host;
	struct net_device *netdev = soft->netdev;
	struct sk_buff *skb = tx->frame;
	int err;

	frame_fill_in(skb, netdev, tx, qp->hash);
	refcount_inc(&qp->refs);
	atomic_inc(&qp->in_flight);
	skb_shinfo(skb)->destructor_arg = qp;
	skb->destructor = frame_freed;
	if (unlikely(ornic_soft_out_is_ruled(dev_net(netdev), tx->ipv6)))
		err = ornic_soft_out(skb, tx->ipv6);
	else
		err = dev_queue_xmit(skb);
	return err > 0 ? net_xmit_errno(err) : err;
}
