/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_COMPAT_NET_H
#define ORNIC_COMPAT_NET_H

#include <linux/spinlock.h> /* for local_lock.h */
#include <linux/local_lock.h>
#include <linux/skbuff.h>
#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>

#include "compat_features.h"

/* Initializes what a flowi4 has of the DSCP of @tos. */
#if ORNIC_HAVE_FLOWI4_DSCP
#define ORNIC_FLOWI4_DSCP(tos) .flowi4_dscp = inet_dsfield_to_dscp(tos)
#else
#define ORNIC_FLOWI4_DSCP(tos) .flowi4_tos = INET_DSCP_MASK & (tos)
#endif

#if ORNIC_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>

#define ip6_dst_lookup_flow(net, sk, fl, dst) \
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl, dst)
#endif

/* Before it, softirqs of a CPU excluded each other with PREEMPT_RT, too. */
#if !ORNIC_HAVE_NESTED_BH
#define local_lock_nested_bh(lock) ((void)(lock))
#define local_unlock_nested_bh(lock) ((void)(lock))
#endif

#if !ORNIC_HAVE_SKB_FRAGS_READABLE
static inline bool skb_frags_readable(const struct sk_buff *skb)
{
	return true;
}
#endif

#if !ORNIC_HAVE_UDP_TUNNEL_SK
#define setup_udp_tunnel_sock(net, sk, config) \
	setup_udp_tunnel_sock(net, (sk)->sk_socket, config)
#define udp_tunnel_sock_release(sk) udp_tunnel_sock_release((sk)->sk_socket)
#endif

#endif /* ORNIC_COMPAT_NET_H */
