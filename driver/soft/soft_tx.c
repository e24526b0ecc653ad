// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From the engine to the netdev. Long payload goes out as fragments of the
 * MR's own pages, each with a reference, so that the frame may outlive the
 * MR. What the program writes meanwhile goes on the wire with an ICRC that
 * does not fit, and is sent again; where nobody would send it again the
 * engine asks for a copy (struct ornic_tx).
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
#include "soft_dev.h"
#include "soft_sched.h"

#define TX_LIMIT 64 /* frames in flight per QP */
#define TX_LOW 32 /* a stalled QP goes on here */
#define COPY_MAX 256 /* bytes that cost less than their fragments */

/* ---- Room --------------------------------------------------------------------- */

static int room_here(const struct ornic_soft_flow *flow)
{
	int in_flight = atomic_read(&flow->in_flight);

	if (in_flight && READ_ONCE(flow->cpu) != smp_processor_id())
		return 0;
	return TX_LIMIT - in_flight;
}

/**
 * ornic_soft_tx_room - ornic_engine_ops::tx_room
 * @host: the device
 * @host_qp: the host's area of the QP
 *
 * Context: Softirqs off; engine locks are held.
 * Return: Frames that may be sent now, by this CPU; ORNIC_TX_IDLE if none of the
 * QP is in flight. After 0 the QP is woken, at TX_LOW, on the CPU that may go on.
 */
u32 ornic_soft_tx_room(void *host, void *host_qp)
{
	struct ornic_soft_flow *flow = ornic_soft_flow_of(host_qp);
	int room = room_here(flow);

	if (room <= 0) {
		set_bit(ORNIC_FLOW_STALLED, &flow->state);
		smp_mb__after_atomic(); /* pairs with the one in frame_freed */
		room = room_here(flow);
		if (room <= 0)
			return 0;
	}
	if (READ_ONCE(flow->cpu) != smp_processor_id())
		WRITE_ONCE(flow->cpu, smp_processor_id());
	return room == TX_LIMIT ? ORNIC_TX_IDLE : room;
}

static void frame_freed(struct sk_buff *skb)
{
	struct ornic_soft_flow *flow = skb_shinfo(skb)->destructor_arg;

	if (atomic_dec_return(&flow->in_flight) <= TX_LOW &&
	    test_bit(ORNIC_FLOW_STALLED, &flow->state) &&
	    test_and_clear_bit(ORNIC_FLOW_STALLED, &flow->state))
		ornic_soft_flow_wake(flow);
	ornic_soft_flow_put(flow);
}

static void own_frame(struct sk_buff *skb, struct ornic_soft_flow *flow)
{
	refcount_inc(&flow->refs);
	atomic_inc(&flow->in_flight);
	skb_shinfo(skb)->destructor_arg = flow;
	skb->destructor = frame_freed;
}

/* ---- Payload -------------------------------------------------------------------- */

static void copy_payload(u8 *to, const struct ornic_tx *tx)
{
	int i;

	for (i = 0; i < tx->nfrags; i++) {
		memcpy(to, tx->frag[i].ptr, tx->frag[i].len);
		to += tx->frag[i].len;
	}
}

/* Append @len bytes at @ptr, of a page whose reference the frame takes over. */
static void append(struct sk_buff *skb, const void *ptr, u32 len)
{
	skb_fill_page_desc_noacc(skb, skb_shinfo(skb)->nr_frags,
				 virt_to_page(ptr), offset_in_page(ptr), len);
	skb_len_add(skb, len);
}

/* The largest payload fits a page, so that this does not need more than one. */
static bool append_copy(struct sk_buff *skb, const struct ornic_tx *tx)
{
	void *copy = netdev_alloc_frag(tx->payload_len);

	if (!copy)
		return false;
	copy_payload(copy, tx);
	append(skb, copy, tx->payload_len);
	return true;
}

static bool append_trailer(struct sk_buff *skb, const struct ornic_tx *tx)
{
	void *copy = netdev_alloc_frag(tx->trailer_len);

	if (!copy)
		return false;
	memcpy(copy, tx->trailer, tx->trailer_len);
	append(skb, copy, tx->trailer_len);
	return true;
}

/* How many of @len bytes at @ptr one fragment can hold: up to the folio. */
static u32 piece_len(const void *ptr, u32 len)
{
	struct folio *folio = page_folio(virt_to_page(ptr));

	return min_t(size_t, len,
		     folio_size(folio) - offset_in_folio(folio, ptr));
}

/*
 * Append pages of the MR. Stops where a page cannot be referred to (memory of
 * the slab or of vmalloc, for kernel users) or the fragments run out; the last
 * one is for the trailer.
 */
static bool append_pages(struct sk_buff *skb, const struct ornic_frag *frag)
{
	const u8 *ptr = frag->ptr;
	u32 left = frag->len;
	u32 piece;

	while (left) {
		if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS - 1 ||
		    !virt_addr_valid(ptr) || !sendpage_ok(virt_to_page(ptr)))
			return false;
		piece = piece_len(ptr, left);
		get_page(virt_to_page(ptr));
		append(skb, ptr, piece);
		ptr += piece;
		left -= piece;
	}
	return true;
}

static bool append_all_pages(struct sk_buff *skb, const struct ornic_tx *tx)
{
	int i;

	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	for (i = 0; i < tx->nfrags; i++)
		if (!append_pages(skb, &tx->frag[i]))
			return false;
	return true;
}

/* ---- Frames ---------------------------------------------------------------------- */

/* The headers, and room for @tail bytes behind them. */
static struct sk_buff *alloc_frame(const struct net_device *netdev,
				   const struct ornic_tx *tx, u32 tail)
{
	u32 headroom = LL_RESERVED_SPACE(netdev);
	struct sk_buff *skb;

	/* From this CPU's own stock, where what is received goes back to. */
	skb = __alloc_skb(headroom + tx->hdr_len + tail,
			  GFP_ATOMIC | __GFP_NOWARN, SKB_ALLOC_NAPI,
			  NUMA_NO_NODE);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	memcpy(__skb_put(skb, tx->hdr_len + tail), tx->hdr, tx->hdr_len);
	return skb;
}

static struct sk_buff *linear_frame(const struct net_device *netdev,
				    const struct ornic_tx *tx)
{
	struct sk_buff *skb;
	u8 *payload;

	skb = alloc_frame(netdev, tx, tx->payload_len + tx->trailer_len);
	if (!skb)
		return NULL;
	payload = skb->data + tx->hdr_len;
	copy_payload(payload, tx);
	memcpy(payload + tx->payload_len, tx->trailer, tx->trailer_len);
	return skb;
}

static ornic_apart struct sk_buff *copy_frame(const struct net_device *netdev,
					      const struct ornic_tx *tx)
{
	struct sk_buff *skb;

	skb = alloc_frame(netdev, tx, 0);
	if (!skb)
		return NULL;
	if (append_copy(skb, tx) && append_trailer(skb, tx))
		return skb;
	kfree_skb(skb);
	return NULL;
}

static ornic_apart struct sk_buff *page_frame(const struct net_device *netdev,
					      const struct ornic_tx *tx)
{
	struct sk_buff *skb;

	skb = alloc_frame(netdev, tx, 0);
	if (!skb)
		return NULL;
	if (append_all_pages(skb, tx) && append_trailer(skb, tx))
		return skb;
	kfree_skb(skb);
	return copy_frame(netdev, tx);
}

static struct sk_buff *make_frame(const struct net_device *netdev,
				  const struct ornic_tx *tx)
{
	/* Where fragments are not for this netdev the core would copy twice. */
	if (tx->payload_len <= COPY_MAX || !(netdev->features & NETIF_F_SG))
		return linear_frame(netdev, tx);
	if (tx->copy)
		return copy_frame(netdev, tx);
	return page_frame(netdev, tx);
}

/* What the stack wants to know of a frame that is complete already. */
static void fill_in(struct sk_buff *skb, struct net_device *netdev,
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

/**
 * ornic_soft_xmit - ornic_engine_ops::xmit
 * @host: the device
 * @tx: the frame
 *
 * Context: Softirqs off; engine locks are held. The netdev may take its own
 * locks, and may free the frame at once.
 * Return: 0, -ENETDOWN, -ENOMEM, -ENOBUFS if the netdev has no room, or
 * another error of it.
 */
ornic_flatten int ornic_soft_xmit(void *host, const struct ornic_tx *tx)
{
	struct ornic_soft_flow *flow = ornic_soft_flow_of(tx->host_qp);
	struct ornic_soft *soft = host;
	struct net_device *netdev = soft->netdev;
	struct sk_buff *skb;
	int err;

	if (!netif_running(netdev) || !netif_carrier_ok(netdev))
		return -ENETDOWN;
	skb = make_frame(netdev, tx);
	if (!skb)
		return -ENOMEM;
	fill_in(skb, netdev, tx, flow->hash);
	own_frame(skb, flow);
	err = dev_queue_xmit(skb);
	return err > 0 ? net_xmit_errno(err) : err;
}
