// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fast receive path, from the netdev to the engine. IP and UDP check for each
 * packet that it is for this host, that its source is plausible, and which socket
 * has its port, which is a third of the cost of receiving a small packet. The
 * verdict is the same for all RoCEv2 packets of a sender, so it is cached, as a
 * connected socket caches its route:
 *
 * - A packet that reached the socket is a verdict for its addresses, on this
 *   netdev and CPU. It expires after VERDICT_TIME, and when a route, an address
 *   or a rule of the namespace changes (the generation of cached routes).
 * - While anything may judge each packet by itself (netfilter hooks, IPsec
 *   policies, routing rules, sk_lookup programs), all packets take the slow path.
 *   So do packets that are not plain RoCEv2.
 *
 * The hook is netfilter's ingress hook of the netdev, after all others. Packet
 * sockets for all protocols (ETH_P_ALL, tcpdump), XDP, tc ingress and other
 * netfilter ingress hooks see the packet first. Bridges, packet sockets for one
 * protocol (ETH_P_IP), raw sockets and the counters of IP and UDP do not see it.
 */
#include "soft_rx_fast.h"

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include <net/sock.h>
#include <net/xfrm.h>

#include "compat/compat_net.h"
#include "engine/engine.h"
#include "soft.h"
#include "soft_raw.h"
#include "soft_rx.h"
#include "soft_tx.h"

#define VERDICT_TIME (HZ / 10)
#define VERDICT_BITS 7

/* What the verdict of the stack depends on, while stack_has_rules() is false. */
struct sender {
	struct in6_addr saddr; /* IPv4 addresses are mapped */
	struct in6_addr daddr;
	u64 link; /* ornic_soft_rx_fast::id: netdev and namespace */
	int genid; /* generation of the routes */
	u8 tos; /* or traffic class, without ECN bits */
	bool ipv6;
};

/* A sender whose packets the stack delivers to the socket. */
struct verdict {
	struct sender sender; /* its @link is 0 in an empty slot */
	unsigned long until; /* jiffies; then the stack decides again */
	u64 origin; /* ornic_soft_tx_origin() of the last packet, or 0: unknown */
};

/* One for each CPU. Softirqs need a lock only if they preempt each other. */
struct verdict_table {
	local_lock_t lock; /* PREEMPT_RT: @slot */
	struct verdict slot[1 << VERDICT_BITS];
};

static struct verdict_table __percpu *tables;
static atomic64_t last_id = ATOMIC64_INIT(0);

/* ---- Verdicts ------------------------------------------------------------ */

/*
 * Senders that share a slot evict each other, which only costs time. The two ends
 * of a wire within this host differ by their links.
 */
static struct verdict *verdict_slot(const struct sender *sender)
{
	u32 mixed = (__force u32)sender->saddr.s6_addr32[3] ^
		    (__force u32)sender->daddr.s6_addr32[3] ^ (u32)sender->link;

	return &this_cpu_ptr(tables)->slot[hash_32(mixed, VERDICT_BITS)];
}

static bool verdict_is_for(const struct verdict *verdict,
			   const struct sender *sender)
{
	const struct sender *known = &verdict->sender;

	return ipv6_addr_equal(&known->saddr, &sender->saddr) &&
	       ipv6_addr_equal(&known->daddr, &sender->daddr) &&
	       known->link == sender->link && known->genid == sender->genid &&
	       known->tos == sender->tos && known->ipv6 == sender->ipv6 &&
	       time_before(jiffies, verdict->until);
}

/* A packet from @origin, or from anywhere if that is 0. */
static bool sender_has_passed(const struct sender *sender, u64 origin)
{
	struct verdict *verdict;
	bool passed;

	local_lock_nested_bh(&tables->lock);
	verdict = verdict_slot(sender);
	passed = verdict_is_for(verdict, sender);
	if (passed)
		verdict->origin = origin;
	local_unlock_nested_bh(&tables->lock);
	return passed;
}

/* Has it passed, and the last time from @origin, or from anywhere if that is 0? */
static bool sender_would_pass(const struct sender *sender, u64 origin)
{
	const struct verdict *verdict;
	bool passed;

	local_lock_nested_bh(&tables->lock);
	verdict = verdict_slot(sender);
	passed = verdict_is_for(verdict, sender) &&
		 (!origin || verdict->origin == origin);
	local_unlock_nested_bh(&tables->lock);
	return passed;
}

/* True if the verdict may differ from packet to packet. */
static bool stack_has_rules(const struct net *net, bool ipv6)
{
	struct nf_hook_entries __rcu *const *hooks = net->nf.hooks_ipv4;

	if (ipv6)
		hooks = net->nf.hooks_ipv6;
	if (rcu_access_pointer(hooks[NF_INET_PRE_ROUTING]) ||
	    rcu_access_pointer(hooks[NF_INET_LOCAL_IN]))
		return true;
#ifdef CONFIG_XFRM
	if (READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_IN]))
		return true;
#endif
	/* A program may look at the source port, which is not in the key. */
	if (rcu_access_pointer(net->bpf.run_array[NETNS_BPF_SK_LOOKUP]))
		return true;
	return ipv6 ? fib6_has_custom_rules(net) : fib4_has_custom_rules(net);
}

/* ---- Packets ------------------------------------------------------------- */

static int route_genid(const struct net *net, bool ipv6)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (ipv6)
		return rt_genid_ipv6(net);
#endif
	return rt_genid_ipv4(net);
}

static void get_sender(struct sender *sender, const struct ornic_soft *soft,
		       const void *l3, bool ipv6)
{
	const struct ipv6hdr *ip6 = l3;
	const struct iphdr *ip4 = l3;

	if (ipv6) {
		sender->saddr = ip6->saddr;
		sender->daddr = ip6->daddr;
		sender->tos = ipv6_get_dsfield(ip6);
	} else {
		ipv6_addr_set_v4mapped(ip4->saddr, &sender->saddr);
		ipv6_addr_set_v4mapped(ip4->daddr, &sender->daddr);
		sender->tos = ip4->tos;
	}
	sender->tos &= ~INET_ECN_MASK;
	sender->link = soft->rx_fast.id;
	sender->genid = route_genid(soft->rx_fast.net, ipv6);
	sender->ipv6 = ipv6;
}

/*
 * True for a RoCEv2 packet with an IP header of @l3_len bytes that the stack
 * would not treat specially. Those with a UDP checksum or padding are excluded.
 */
static bool is_plain_roce(struct sk_buff *skb, u32 l3_len, bool ipv6)
{
	const struct udphdr *udp;

	if (skb->pkt_type != PACKET_HOST || skb_vlan_tag_present(skb) ||
	    skb->mark || skb_dst(skb) || skb_is_gso(skb) || skb_shared(skb) ||
	    skb_sk_is_prefetched(skb) || !skb_frags_readable(skb) ||
	    skb_zcopy(skb) || skb_pfmemalloc(skb) || skb_sec_path(skb) ||
	    rcu_access_pointer(skb->dev->rx_handler) ||
	    !pskb_may_pull(skb, l3_len + sizeof(*udp)))
		return false;
	udp = (const struct udphdr *)(skb->data + l3_len);
	return udp->dest == htons(ORNIC_UDP_PORT) && !udp->check &&
	       ornic_soft_rx_is_roce(skb->data, udp, skb->len - l3_len, ipv6) &&
	       (ipv6 || !ip_fast_csum(skb->data, ip_hdr(skb)->ihl));
}

/* Called by netfilter in softirq context, under RCU. */
static __flatten unsigned int rx_fast_hook(void *priv, struct sk_buff *skb,
					   const struct nf_hook_state *state)
{
	bool ipv6 = skb->protocol == htons(ETH_P_IPV6);
	u32 l3_len = ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	struct ornic_soft *soft = priv;
	struct sender sender;
	struct sock *sk;
	u64 origin;

	if (unlikely(READ_ONCE(soft->rx_fast.raw)) &&
	    ornic_soft_raw_rx(soft, skb))
		return NF_STOLEN;
	if (!READ_ONCE(soft->rx_fast.on) ||
	    (!ipv6 && skb->protocol != htons(ETH_P_IP)) ||
	    !is_plain_roce(skb, l3_len, ipv6) ||
	    stack_has_rules(state->net, ipv6))
		return NF_ACCEPT;
	get_sender(&sender, soft, skb->data, ipv6);
	origin = READ_ONCE(soft->direct.bridge) ? ornic_soft_tx_origin(skb) : 0;
	if (!sender_has_passed(&sender, origin))
		return NF_ACCEPT;

	sk = ipv6 ? soft->rx_fast.sk6 : soft->rx_fast.sk4;
	skb_orphan(skb);
	skb_set_transport_header(skb, l3_len);
	__skb_pull(skb, l3_len);
	ornic_soft_rx_checked(soft, sk, skb, skb->len - sizeof(struct udphdr),
			      ORNIC_VLAN_NONE);
	return NF_STOLEN;
}

void ornic_soft_rx_fast_note(const struct ornic_soft *soft,
			     const struct sk_buff *skb)
{
	bool ipv6 = skb->protocol == htons(ETH_P_IPV6);
	struct sender sender;
	struct verdict *verdict;

	if (skb->pkt_type != PACKET_HOST || skb->mark ||
	    stack_has_rules(soft->rx_fast.net, ipv6))
		return;
	get_sender(&sender, soft, skb_network_header(skb), ipv6);
	local_lock_nested_bh(&tables->lock);
	verdict = verdict_slot(&sender);
	verdict->sender = sender;
	verdict->until = jiffies + VERDICT_TIME;
	verdict->origin = 0;
	local_unlock_nested_bh(&tables->lock);
}

/* ---- Without packets ----------------------------------------------------- */

bool ornic_soft_rx_fast_knows(const struct ornic_soft *soft, u64 origin,
			      const void *ip, bool ipv6)
{
	struct ipv6hdr aligned; /* the larger one */
	struct sender sender;

	memcpy(&aligned, ip, ipv6 ? sizeof(aligned) : sizeof(struct iphdr));
	get_sender(&sender, soft, &aligned, ipv6);
	return sender_would_pass(&sender, origin);
}

bool ornic_soft_rx_fast_is_ruled(const struct ornic_soft *soft)
{
	return stack_has_rules(soft->rx_fast.net, false) ||
	       stack_has_rules(soft->rx_fast.net, true);
}

/* ---- Devices ------------------------------------------------------------- */

int ornic_soft_rx_fast_open(struct ornic_soft *soft, struct net *net,
			    struct sock *sk4, struct sock *sk6)
{
	struct ornic_soft_rx_fast *rx_fast = &soft->rx_fast;

	rx_fast->hook = (struct nf_hook_ops){
		.hook = rx_fast_hook,
		.dev = soft->netdev,
		.priv = soft,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX, /* after all filters */
	};
	rx_fast->net = net;
	rx_fast->id = atomic64_inc_return(&last_id);
	rx_fast->sk4 = sk4;
	rx_fast->sk6 = sk6;
	return nf_register_net_hook(net, &rx_fast->hook);
}

void ornic_soft_rx_fast_close(struct ornic_soft *soft)
{
	nf_unregister_net_hook(soft->rx_fast.net, &soft->rx_fast.hook);
}

struct ornic_soft *ornic_soft_rx_fast_of(const struct net_device *netdev)
{
	const struct nf_hook_entries *hooks =
		rcu_dereference(netdev->nf_hooks_ingress);
	u32 i;

	for (i = 0; hooks && i < hooks->num_hook_entries; i++)
		if (READ_ONCE(hooks->hooks[i].hook) == rx_fast_hook)
			return hooks->hooks[i].priv;
	return NULL;
}

int ornic_soft_rx_fast_init(void)
{
	int cpu;

	tables = alloc_percpu(struct verdict_table);
	if (!tables)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		local_lock_init(&per_cpu_ptr(tables, cpu)->lock);
	return 0;
}

void ornic_soft_rx_fast_exit(void)
{
	free_percpu(tables);
}
