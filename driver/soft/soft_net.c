// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets: one UDP socket on the RoCEv2 port for each network namespace and
 * family, opened for the first soft device whose netdev is in the namespace and
 * released with the last. The encap_rcv of the sockets takes all packets and
 * looks up the soft device in the namespace's list, which is short. Most packets
 * take the fast path in soft_rx_fast.c instead.
 *
 * RoCE v1 has no IP: a packet type for its Ethertype takes its packets, beside the packet
 * sockets of others, and looks up the soft device in the same way.
 */
#include "compat/compat_net.h"
#include "soft.h"

#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "engine/engine.h"
#include "soft_impair.h"
#include "soft_rx.h"
#include "soft_rx_fast.h"

/* A network namespace. */
struct ornic_soft_net {
	struct mutex lock; /* all that follows */
	u32 users; /* soft devices in @links */
	struct socket *sock4; /* open while there are users */
	struct socket *sock6; /* NULL without IPv6 */
	struct list_head links; /* ornic_soft::net_link, read under RCU */
};

static unsigned int soft_net_id;

/* ---- Packets ------------------------------------------------------------- */

static struct ornic_soft *find_link(const struct ornic_soft_net *sn,
				    const struct net_device *netdev)
{
	struct ornic_soft *soft;

	list_for_each_entry_rcu(soft, &sn->links, net_link)
		if (soft->netdev == netdev)
			return soft;
	return NULL;
}

/* What a packet that arrived at @netdev is for, or NULL. @vlan: out: its VLAN. */
static struct ornic_soft *find_receiver(const struct ornic_soft_net *sn,
					struct net_device *netdev, u16 *vlan)
{
	struct ornic_soft *soft = find_link(sn, netdev);
	const struct net_device *port;

	*vlan = ORNIC_VLAN_NONE;
	if (soft || !is_vlan_dev(netdev))
		return soft;
	/*
	 * Tagged: the VLAN belongs to the port that it came from. Of a VLAN in a
	 * VLAN, the real device is below both tags.
	 */
	port = vlan_dev_real_dev(netdev);
	*vlan = vlan_dev_vlan_id(netdev);
	return dev_get_iflink(netdev) == port->ifindex ? find_link(sn, port) :
							 NULL;
}

/* Called by UDP in softirq context, under RCU; consumes @skb. */
static int encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	const struct ornic_soft_net *sn = rcu_dereference_sk_user_data(sk);
	struct ornic_soft *soft;
	u16 vlan;

	if (!sn)
		goto drop;
	soft = find_receiver(sn, skb->dev, &vlan);
	if (!soft)
		goto drop;

	if (vlan == ORNIC_VLAN_NONE)
		ornic_soft_rx_fast_note(soft, skb);
	ornic_soft_rx(soft, sk, skb, vlan);
	return 0;

drop:
	kfree_skb(skb);
	return 0;
}

/*
 * Called in softirq context, under RCU; consumes @skb. As with UDP, the last netdev that
 * the packet came to decides, a VLAN device or a bond, and its namespace.
 */
static int ethertype_rcv(struct sk_buff *skb, struct net_device *netdev,
			 struct packet_type *type, struct net_device *orig)
{
	const struct ornic_soft_net *sn =
		net_generic(dev_net(netdev), soft_net_id);
	struct ornic_soft *soft;
	u16 vlan;

	soft = find_receiver(sn, netdev, &vlan);
	if (!soft || !soft->roce_v1) {
		consume_skb(skb);
		return NET_RX_SUCCESS;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	ornic_soft_rx_v1(soft, sn->sock4->sk, skb, vlan);
	return NET_RX_SUCCESS;
}

/*
 * Of all netdevs: of a tagged packet that came by a bond, the types of its port and of the
 * VLAN device are asked, but not those of the bond.
 */
static struct packet_type roce_v1_type = {
	.type = htons(ORNIC_ETH_ROCE_V1),
	.func = ethertype_rcv,
};

/* ---- Sockets ------------------------------------------------------------- */

static int open_socket(struct net *net, struct ornic_soft_net *sn, u8 family,
		       struct socket **sock)
{
	/* RoCEv2 leaves the UDP checksum zero, IBTA A17.4.3. */
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(ORNIC_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = sn,
		.encap_type = 1,
		.encap_rcv = encap_rcv,
	};
	int err;

	err = udp_sock_create(net, &cfg, sock);
	if (err) {
		*sock = NULL;
		return err;
	}
	setup_udp_tunnel_sock(net, (*sock)->sk, &tunnel);
	return 0;
}

static void close_sockets(struct ornic_soft_net *sn)
{
	if (sn->sock6)
		udp_tunnel_sock_release(sn->sock6->sk);
	if (sn->sock4)
		udp_tunnel_sock_release(sn->sock4->sk);
	sn->sock4 = NULL;
	sn->sock6 = NULL;
}

static int open_sockets(struct net *net, struct ornic_soft_net *sn)
{
	int err;

	err = open_socket(net, sn, AF_INET, &sn->sock4);
	if (err)
		return err;
	/* Without IPv6, creating a socket would load its module. */
	if (!ipv6_mod_enabled())
		return 0;
	err = open_socket(net, sn, AF_INET6, &sn->sock6);
	if (err)
		close_sockets(sn);
	return err;
}

/* ---- Devices ------------------------------------------------------------- */

static int get_sockets(struct net *net, struct ornic_soft_net *sn)
{
	int err;

	if (!sn->users) {
		err = open_sockets(net, sn);
		if (err)
			return err;
	}
	sn->users++;
	return 0;
}

static void put_sockets(struct ornic_soft_net *sn)
{
	if (!--sn->users)
		close_sockets(sn);
}

static int add_link(struct ornic_soft_net *sn, struct ornic_soft *soft,
		    struct net *net)
{
	int err;

	err = get_sockets(net, sn);
	if (err)
		return err;
	err = ornic_soft_rx_fast_open(soft, net, sn->sock4->sk,
				      sn->sock6 ? sn->sock6->sk : NULL);
	if (err) {
		put_sockets(sn);
		return err;
	}
	/* Pairs with soft_direct.c, which reads rx_fast. */
	smp_store_release(&soft->net, sn);
	list_add_tail_rcu(&soft->net_link, &sn->links);
	return 0;
}

int ornic_soft_net_join(struct ornic_soft *soft, struct net *net)
{
	struct ornic_soft_net *sn = net_generic(net, soft_net_id);
	int err;

	mutex_lock(&sn->lock);
	err = add_link(sn, soft, net);
	mutex_unlock(&sn->lock);

	if (err == -EADDRINUSE)
		netdev_err(soft->netdev,
			   "ornic: UDP port %u is in use (by rxe?)\n",
			   ORNIC_UDP_PORT);
	else if (err)
		netdev_err(soft->netdev, "ornic: cannot open UDP port %u: %d\n",
			   ORNIC_UDP_PORT, err);
	return err;
}

void ornic_soft_net_leave(struct ornic_soft *soft)
{
	struct ornic_soft_net *sn = soft->net;

	ASSERT_RTNL();
	if (!sn)
		return;
	mutex_lock(&sn->lock);
	ornic_soft_rx_fast_close(soft);
	list_del_rcu(&soft->net_link);
	WRITE_ONCE(soft->net, NULL);
	/* Packets in flight use the sockets. */
	synchronize_net();
	ornic_soft_impair_purge(soft);
	put_sockets(sn);
	mutex_unlock(&sn->lock);
}

/* ---- Namespaces ---------------------------------------------------------- */

static int __net_init netns_init(struct net *net)
{
	struct ornic_soft_net *sn = net_generic(net, soft_net_id);

	mutex_init(&sn->lock);
	INIT_LIST_HEAD(&sn->links);
	return 0;
}

/* Called after all netdevs have left the namespace: no device uses the sockets. */
static void __net_exit netns_exit(struct net *net)
{
	struct ornic_soft_net *sn = net_generic(net, soft_net_id);

	WARN_ON_ONCE(sn->users);
	mutex_destroy(&sn->lock);
}

static struct pernet_operations net_ops = {
	.init = netns_init,
	.exit = netns_exit,
	.id = &soft_net_id,
	.size = sizeof(struct ornic_soft_net),
};

int ornic_soft_net_init(void)
{
	int err;

	err = register_pernet_subsys(&net_ops);
	if (!err)
		dev_add_pack(&roce_v1_type);
	return err;
}

void ornic_soft_net_exit(void)
{
	dev_remove_pack(&roce_v1_type);
	unregister_pernet_subsys(&net_ops);
}
