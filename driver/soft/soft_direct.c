// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Soft devices at the two ends of a veth pair: messages of RC go from memory to memory,
 * by ornic_engine_ops::direct, while packets would arrive and nobody would look at them.
 *
 * - That they arrive, packets prove. The engine asks for nothing unless one of the same
 *   QP was answered lately. And IP of the other end must have accepted a packet with the
 *   same addresses within VERDICT_TIME, and no route of its namespace has changed since
 *   then, see soft_rx_fast.c. IP has no say in RoCE v1.
 * - That nobody looks at them is checked anew in each jiffy: no packet socket for all
 *   protocols, none that takes RoCE v1 from the netdev, no flow rule of a raw packet QP,
 *   no qdisc, tc or XDP program, no netfilter hook but ours, no receive handler, no rules
 *   of IP in either namespace, no impairment, the fast receive path not turned off, and
 *   netdevs that are up.
 *
 * Only veth is known to have no other hooks: netkit has programs that nobody else sees.
 */
#include "soft_direct.h"

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

/* Nothing classifies or takes what comes to @netdev, but our hook. */
static bool is_input_plain(struct net_device *netdev)
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
	return hooks && hooks->num_hook_entries == 1 &&
	       !rcu_access_pointer(netdev->rx_handler) &&
	       !dev_xdp_prog_count(netdev);
}

/*
 * A packet socket takes RoCE v1 from @netdev. One that takes it from all netdevs is out of
 * sight, as is one of IP's Ethertype, see soft_rx_fast.c.
 */
static bool is_v1_watched(const struct net_device *netdev)
{
	const struct packet_type *type;

	list_for_each_entry_rcu(type, &netdev->ptype_specific, list)
		if (type->type == htons(ORNIC_ETH_ROCE_V1))
			return true;
	return false;
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

	return netif_running(netdev) && netif_carrier_ok(netdev) &&
	       !READ_ONCE(soft->impair.on) && !READ_ONCE(soft->rx_fast.raw) &&
	       READ_ONCE(soft->rx_fast.on) && !dev_nit_active(netdev) &&
	       !is_v1_watched(netdev) && is_output_plain(netdev) &&
	       is_input_plain(netdev) &&
	       !ornic_soft_out_is_ruled(soft->rx_fast.net, false) &&
	       !ornic_soft_out_is_ruled(soft->rx_fast.net, true) &&
	       !ornic_soft_rx_fast_is_ruled(soft);
}

/* The verdict of this jiffy, which is the same for all QPs. */
static bool is_way_plain(struct ornic_soft *soft, const struct ornic_soft *peer)
{
	unsigned long now = 2 * jiffies, seen = READ_ONCE(soft->direct.seen);
	bool plain;

	if ((seen ^ now) <= 1)
		return seen & 1;
	plain = is_end_plain(soft) && is_end_plain(peer);
	WRITE_ONCE(soft->direct.seen, now | plain);
	return plain;
}

/* The other end would take packets with the header @ip. */
static bool would_accept(const struct ornic_soft *peer, const void *ip,
			 bool ipv6)
{
	if (ornic_ip_is_grh(ip, ipv6))
		return peer->roce_v1;
	return ornic_soft_rx_fast_knows(peer, ip, ipv6);
}

struct ornic_engine *ornic_soft_direct(void *host, const void *ip, bool ipv6,
				       u16 vlan, u32 mtu)
{
	struct ornic_soft *soft = host;
	struct ornic_soft *peer = rcu_dereference(soft->direct.peer);

	if (likely(!peer))
		return NULL;
	if (!can_receive(soft) || !can_receive(peer) ||
	    !READ_ONCE(soft->direct.on) || !READ_ONCE(peer->direct.on) ||
	    vlan != ORNIC_VLAN_NONE ||
	    mtu + MAX_HEADERS > min(READ_ONCE(soft->netdev->mtu),
				    READ_ONCE(peer->netdev->mtu)) ||
	    !is_way_plain(soft, peer) || !would_accept(peer, ip, ipv6))
		return NULL;
	return peer->engine;
}

/* ---- Devices ------------------------------------------------------------- */

static bool is_veth(const struct net_device *netdev)
{
	return netdev->rtnl_link_ops &&
	       !strcmp(netdev->rtnl_link_ops->kind, "veth");
}

/* The two ends of a pair stay that until both go. */
void ornic_soft_direct_pair(struct ornic_soft *soft)
{
	struct net_device *netdev = soft->netdev;
	struct ornic_soft *peer;

	ASSERT_RTNL();
	if (!is_veth(netdev) || !netdev->netdev_ops->ndo_get_peer_dev)
		return;
	rcu_read_lock();
	netdev = netdev->netdev_ops->ndo_get_peer_dev(netdev);
	rcu_read_unlock();
	/* It is under the RTNL that it goes. */
	peer = netdev ? ornic_soft_find(netdev) : NULL;
	if (!peer)
		return;
	rcu_assign_pointer(soft->direct.peer, peer);
	rcu_assign_pointer(peer->direct.peer, soft);
	ornic_engine_set_direct(soft->engine, true);
	ornic_engine_set_direct(peer->engine, true);
}

void ornic_soft_direct_part(struct ornic_soft *soft)
{
	struct ornic_soft *peer = rtnl_dereference(soft->direct.peer);

	if (!peer)
		return;
	ornic_engine_set_direct(peer->engine, false);
	RCU_INIT_POINTER(soft->direct.peer, NULL);
	RCU_INIT_POINTER(peer->direct.peer, NULL);
	synchronize_net();
}
