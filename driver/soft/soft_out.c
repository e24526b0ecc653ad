// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transmission by IP's output, in namespaces that have rules for what leaves
 * them: netfilter hooks at LOCAL_OUT or POST_ROUTING, or IPsec policies. A frame
 * gets a route and may be transformed, redirected, delayed or dropped like the
 * packets of any program. Without such rules IP's output would not change
 * anything, and frames go to the netdev directly.
 *
 * Engine locks are held. IP's output does not call the engine: packets to this
 * host go through the backlog of a CPU.
 */
#include "soft_tx.h"

#include <linux/err.h>
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/route.h>

#include "compat/compat_net.h"

#ifdef CONFIG_NETFILTER
/*
 * AppArmor has a POST_ROUTING hook in every namespace, with this priority. It
 * only checks packets with a security mark, which frames do not have.
 */
static bool has_rules(struct nf_hook_entries __rcu *const *hooks,
		      unsigned int hook)
{
	const struct nf_hook_entries *entries = rcu_dereference(hooks[hook]);
	struct nf_hook_ops **ops;
	int i;

	if (!entries)
		return false;
	ops = nf_hook_entries_get_hook_ops(entries);
	for (i = 0; i < entries->num_hook_entries; i++) {
		if (hook != NF_INET_POST_ROUTING ||
		    READ_ONCE(ops[i])->priority != NF_IP_PRI_SELINUX_FIRST)
			return true;
	}
	return false;
}
#endif

bool ornic_soft_out_is_ruled(const struct net *net, bool ipv6)
{
#ifdef CONFIG_NETFILTER
	struct nf_hook_entries __rcu *const *hooks = net->nf.hooks_ipv4;

	if (ipv6)
		hooks = net->nf.hooks_ipv6;
	if (has_rules(hooks, NF_INET_LOCAL_OUT) ||
	    has_rules(hooks, NF_INET_POST_ROUTING))
		return true;
#endif
#ifdef CONFIG_XFRM
	if (READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	    READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) ==
		    XFRM_USERPOLICY_BLOCK)
		return true;
#endif
	return false;
}

static struct dst_entry *frame_route_ipv4(struct net *net,
					  const struct sk_buff *skb)
{
	const struct udphdr *udp = udp_hdr(skb);
	const struct iphdr *ip = ip_hdr(skb);
	struct flowi4 fl = {
		.flowi4_oif = skb->dev->ifindex,
		ORNIC_FLOWI4_DSCP(ip->tos),
		.flowi4_proto = IPPROTO_UDP,
		.daddr = ip->daddr,
		.saddr = ip->saddr,
		.fl4_sport = udp->source,
		.fl4_dport = udp->dest,
	};
	struct rtable *rt = ip_route_output_flow(net, &fl, NULL);

	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *frame_route_ipv6(struct net *net,
					  const struct sk_buff *skb)
{
	const struct udphdr *udp = udp_hdr(skb);
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct flowi6 fl = {
		.flowi6_oif = skb->dev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_flowinfo(ip),
		.daddr = ip->daddr,
		.saddr = ip->saddr,
		.fl6_sport = udp->source,
		.fl6_dport = udp->dest,
	};

	return ip6_dst_lookup_flow(net, NULL, &fl, NULL);
}

static int frame_send_ipv6(struct net *net, struct sk_buff *skb)
{
	return ip6_local_out(net, NULL, skb);
}
#else
static struct dst_entry *frame_route_ipv6(struct net *net,
					  const struct sk_buff *skb)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

static int frame_send_ipv6(struct net *net, struct sk_buff *skb)
{
	return -EAFNOSUPPORT;
}
#endif

/* A tagged frame is sent by the VLAN device, which adds the tag. */
static struct net_device *frame_netdev(const struct sk_buff *skb)
{
	const struct vlan_ethhdr *eth = vlan_eth_hdr(skb);

	if (eth->h_vlan_proto != htons(ETH_P_8021Q))
		return skb->dev;
	return __vlan_find_dev_deep_rcu(skb->dev, eth->h_vlan_proto,
					ntohs(eth->h_vlan_TCI) & VLAN_VID_MASK);
}

/* A route to this host would not use the netdev of the QP. */
static struct dst_entry *frame_route(struct net *net, const struct sk_buff *skb,
				     bool ipv6)
{
	struct dst_entry *dst = ipv6 ? frame_route_ipv6(net, skb) :
				       frame_route_ipv4(net, skb);

	if (!IS_ERR(dst) && dst->dev->flags & IFF_LOOPBACK) {
		dst_release(dst);
		return ERR_PTR(-ENETUNREACH);
	}
	return dst;
}

int ornic_soft_out(struct sk_buff *skb, bool ipv6)
{
	struct net *net = dev_net(skb->dev);
	struct dst_entry *dst;
	int err;

	skb->dev = frame_netdev(skb);
	if (!skb->dev) {
		kfree_skb(skb);
		return -EPERM;
	}
	dst = frame_route(net, skb, ipv6);
	if (IS_ERR(dst)) {
		kfree_skb(skb);
		return -EPERM;
	}
	skb_dst_set(skb, dst);
	__skb_pull(skb, skb_network_offset(skb));
	err = ipv6 ? frame_send_ipv6(net, skb) : ip_local_out(net, NULL, skb);
	return err < 0 && err != -ENOBUFS ? -EPERM : err;
}
