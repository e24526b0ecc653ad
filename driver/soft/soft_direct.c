// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Soft devices at the two ends of a veth pair, or, with direct_bridge, of two pairs that a
 * bridge joins: messages of RC go from memory to memory, by ornic_engine_ops::direct,
 * while packets would arrive and nobody would look at them.
 *
 * - That they arrive, packets prove. The engine asks for nothing unless one of the same
 *   QP was answered lately. And IP of the other end must have accepted a packet with the
 *   same addresses within VERDICT_TIME, and no route of its namespace has changed since
 *   then, see soft_rx_fast.c. IP has no say in RoCE v1. Beyond a bridge, that packet must
 *   be one of this device; and RoCE v1 goes by packets.
 * - That nobody looks at them is checked anew in each jiffy, at either end: no packet
 *   socket for all protocols, none that takes RoCE v1 from the netdev if the device has it,
 *   no flow rule of a raw packet QP, no qdisc, tc or XDP program, no netfilter hook but
 *   ours, no receive handler, no rules of IP in its namespace, no impairment, the fast
 *   receive path not turned off, and a netdev that is up. Of a bridge and the two ports of
 *   it, nothing like that.
 *
 * Only veth is known to have no other hooks: netkit has programs that nobody else sees.
 */
#include "soft_direct.h"

#include <linux/etherdevice.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

#include "engine/engine.h"
#include "soft.h"
#include "soft_rx_fast.h"
#include "soft_tx.h"

/* IPv6, UDP, BTH, XRCETH, atomic ETH, immediate, pad and ICRC */
#define MAX_HEADERS (40 + 8 + 12 + 4 + 28 + 4 + 3 + 4)

/* ---- The way ------------------------------------------------------------- */

/* Of a veth pair; NULL: it is going. */
static struct net_device *other_end(struct net_device *netdev)
{
	return netdev->netdev_ops->ndo_get_peer_dev(netdev);
}

/* The bridge that @port is one of; @port may be NULL, and the result. */
static struct net_device *bridge_of(struct net_device *port)
{
	if (!port || !netif_is_bridge_port(port))
		return NULL;
	return netdev_master_upper_dev_get_rcu(port);
}

/* The port at which @bridge has seen @mac, or NULL. */
static struct net_device *port_to(const struct net_device *bridge,
				  const u8 *mac)
{
	int (*fill)(struct net_device_path_ctx *, struct net_device_path *) =
		bridge->netdev_ops->ndo_fill_forward_path;
	struct net_device_path_ctx ctx = { .dev = bridge };
	struct net_device_path path;

	memset(&path, 0, sizeof(path));
	ether_addr_copy(ctx.daddr, mac);
	if (!fill || fill(&ctx, &path))
		return NULL;
	return (struct net_device *)ctx.dev;
}

/* ---- Who looks at packets ------------------------------------------------ */

/* The queueing discipline of @txq has one, unlike noqueue. */
static bool has_queue(const struct netdev_queue *txq)
{
	return rcu_dereference(txq->qdisc)->enqueue;
}

/* Nothing queues or classifies what leaves @netdev. */
static bool is_output_plain(struct net_device *netdev)
{
	u32 i;

#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(netdev->nf_hooks_egress))
		return false;
#endif
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(netdev->tcx_egress))
		return false;
#endif
	for (i = 0; i < READ_ONCE(netdev->real_num_tx_queues); i++)
		if (has_queue(netdev_get_tx_queue(netdev, i)))
			return false;
	return true;
}

/* Nothing classifies what comes to @netdev, but @ours hooks of netfilter. */
static bool is_input_plain(struct net_device *netdev, u32 ours)
{
	const struct netdev_queue *ingress = dev_ingress_queue_rcu(netdev);
	const struct nf_hook_entries *hooks;

	/* Of ingress and clsact, which hooks the output as well. */
	if (ingress && rcu_access_pointer(ingress->qdisc) != &noop_qdisc)
		return false;
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(netdev->tcx_ingress))
		return false;
#endif
	hooks = rcu_dereference(netdev->nf_hooks_ingress);
	return (hooks ? hooks->num_hook_entries : 0) == ours &&
	       !dev_xdp_prog_count(netdev);
}

/* Packet sockets of a netdev that are looked at; root of a container may open any number. */
#define MAX_PACKET_SOCKETS 32

/*
 * A packet socket takes RoCE v1 from the netdev, or may be among too many. One that takes it
 * from all netdevs is out of sight, as is one of IP's Ethertype, see soft_rx_fast.c.
 */
static bool is_v1_watched(const struct ornic_soft *soft)
{
	const struct packet_type *type;
	u32 n = 0;

	if (!soft->roce_v1)
		return false;
	list_for_each_entry_rcu(type, &soft->netdev->ptype_specific, list)
		if (type->type == htons(ORNIC_ETH_ROCE_V1) ||
		    ++n > MAX_PACKET_SOCKETS)
			return true;
	return false;
}

/* @netdev is up, and no packet socket takes all frames from it. */
static bool is_open(struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev) &&
	       !dev_nit_active(netdev);
}

/* Nobody looks at frames between the ports of @bridge. */
static bool is_bridge_plain(struct net_device *bridge)
{
#ifdef CONFIG_NETFILTER_FAMILY_BRIDGE
	const struct net *net = dev_net(bridge);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(net->nf.hooks_bridge); i++)
		if (rcu_access_pointer(net->nf.hooks_bridge[i]))
			return false;
#endif
	return is_open(bridge) && !(READ_ONCE(bridge->flags) & IFF_PROMISC);
}

/* True unless @port is one of a bridge where somebody looks at packets. */
static bool is_port_plain(struct net_device *port)
{
	struct net_device *bridge = bridge_of(port);

	return !bridge || (is_open(port) && is_output_plain(port) &&
			   is_input_plain(port, 0) && is_bridge_plain(bridge));
}

/* Its namespace is valid until the end of the RCU section. */
static bool can_receive(const struct ornic_soft *soft)
{
	/* Pairs with ornic_soft_net_join(). */
	return smp_load_acquire(&soft->net);
}

/* Whoever is here has no reason to look at packets of @soft, nor to drop them. */
static bool is_end_plain(const struct ornic_soft *soft)
{
	struct net_device *netdev = soft->netdev;

	return is_open(netdev) && !READ_ONCE(soft->impair.on) &&
	       !READ_ONCE(soft->rx_fast.raw) && READ_ONCE(soft->rx_fast.on) &&
	       !is_v1_watched(soft) && is_output_plain(netdev) &&
	       is_input_plain(netdev, 1) &&
	       !rcu_access_pointer(netdev->rx_handler) &&
	       !ornic_soft_out_is_ruled(soft->rx_fast.net, false) &&
	       !ornic_soft_out_is_ruled(soft->rx_fast.net, true) &&
	       !ornic_soft_rx_fast_is_ruled(soft) &&
	       is_port_plain(other_end(netdev));
}

/* The verdict of this jiffy, which is the same for all QPs. */
static bool is_plain(struct ornic_soft *soft)
{
	unsigned long now = 2 * jiffies, seen = READ_ONCE(soft->direct.seen);
	bool plain;

	if ((seen ^ now) <= 1)
		return seen & 1;
	plain = is_end_plain(soft);
	WRITE_ONCE(soft->direct.seen, now | plain);
	return plain;
}

/*
 * @peer would take packets with the header @ip. Unless @origin is 0, it has taken one of that
 * device: beyond a bridge, whose ports may be isolated, locked or in VLANs, no answer
 * shows that, as the namespace of the sender could make it. That the packet did not come
 * by a router, and that @peer may send to the sender, is not shown: direct_bridge is for
 * bridges that keep nobody apart.
 */
static bool would_accept(const struct ornic_soft *peer, u64 origin,
			 const void *ip, bool ipv6)
{
	if (ornic_ip_is_grh(ip, ipv6))
		return !origin && peer->roce_v1;
	return ornic_soft_rx_fast_knows(peer, origin, ip, ipv6);
}

/*
 * The device of @mac beyond the bridge that the other end of @soft is a port of, or NULL.
 * @room: MTU of the way, without that of the ends.
 */
static noinline struct ornic_soft *across_bridge(const struct ornic_soft *soft,
						 const u8 *mac, u32 *room)
{
	struct net_device *in = other_end(soft->netdev), *out, *bridge, *end;
	struct ornic_soft *peer;

	bridge = bridge_of(in);
	if (!bridge)
		return NULL;
	out = port_to(bridge, mac);
	/* It is veth as well. */
	if (!out || out->netdev_ops != in->netdev_ops)
		return NULL;
	end = other_end(out);
	peer = end ? ornic_soft_rx_fast_of(end) : NULL;
	if (!peer || peer == soft || !READ_ONCE(peer->direct.bridge) ||
	    !ether_addr_equal(end->dev_addr, mac))
		return NULL;
	*room = min(READ_ONCE(in->mtu), READ_ONCE(out->mtu));
	return peer;
}

struct ornic_engine *ornic_soft_direct(void *host, const u8 *mac,
				       const void *ip, bool ipv6, u16 vlan,
				       u32 mtu)
{
	struct ornic_soft *soft = host;
	struct ornic_soft *peer = rcu_dereference(soft->direct.peer);
	u32 room = U32_MAX;
	u64 origin = 0;

	if ((!peer && !READ_ONCE(soft->direct.bridge)) ||
	    !READ_ONCE(soft->direct.on) || vlan != ORNIC_VLAN_NONE ||
	    !can_receive(soft) || !is_plain(soft))
		return NULL;
	if (!peer) {
		peer = across_bridge(soft, mac, &room);
		origin = soft->serial;
	}
	if (!peer || !READ_ONCE(peer->direct.on) || !can_receive(peer) ||
	    mtu + MAX_HEADERS > min3(READ_ONCE(soft->netdev->mtu),
				     READ_ONCE(peer->netdev->mtu), room) ||
	    !is_plain(peer) || !would_accept(peer, origin, ip, ipv6))
		return NULL;
	return peer->engine;
}

/* ---- Devices ------------------------------------------------------------- */

/* The last of several writers sees what all have written. */
static DEFINE_SPINLOCK(asks_lock);

static bool is_veth(const struct net_device *netdev)
{
	return netdev->rtnl_link_ops &&
	       !strcmp(netdev->rtnl_link_ops->kind, "veth") &&
	       netdev->netdev_ops->ndo_get_peer_dev;
}

/* Under RCU and @asks_lock. */
static void set_whether_to_ask(struct ornic_soft *soft)
{
	struct ornic_soft *peer = rcu_dereference(soft->direct.peer);
	bool on = peer ? READ_ONCE(peer->direct.on) :
			 READ_ONCE(soft->direct.bridge);

	ornic_engine_set_direct(soft->engine,
				on && is_veth(soft->netdev) &&
					READ_ONCE(soft->direct.on));
}

void ornic_soft_direct_changed(struct ornic_soft *soft)
{
	struct ornic_soft *peer;

	rcu_read_lock();
	spin_lock(&asks_lock);
	set_whether_to_ask(soft);
	peer = rcu_dereference(soft->direct.peer);
	if (peer)
		set_whether_to_ask(peer);
	spin_unlock(&asks_lock);
	rcu_read_unlock();
}

/* The two ends of a pair stay that until both go. */
void ornic_soft_direct_pair(struct ornic_soft *soft)
{
	struct net_device *netdev = soft->netdev;
	struct ornic_soft *peer;

	ASSERT_RTNL();
	if (!is_veth(netdev))
		return;
	rcu_read_lock();
	netdev = other_end(netdev);
	rcu_read_unlock();
	/* It is under the RTNL that it goes. */
	peer = netdev ? ornic_soft_find(netdev) : NULL;
	if (!peer)
		return;
	rcu_assign_pointer(soft->direct.peer, peer);
	rcu_assign_pointer(peer->direct.peer, soft);
	ornic_soft_direct_changed(soft);
}

void ornic_soft_direct_part(struct ornic_soft *soft)
{
	struct ornic_soft *peer = rtnl_dereference(soft->direct.peer);

	if (!peer)
		return;
	RCU_INIT_POINTER(soft->direct.peer, NULL);
	RCU_INIT_POINTER(peer->direct.peer, NULL);
	ornic_soft_direct_changed(soft);
	ornic_soft_direct_changed(peer);
	synchronize_net();
}
