/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_RX_FAST_H
#define ORNIC_SOFT_RX_FAST_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct net;
struct net_device;
struct ornic_soft;
struct sk_buff;
struct sock;

/*
 * ornic_soft_rx_fast_open() - register the hook of @soft's netdev, which is in
 * @net. @sk4 and @sk6 (NULL without IPv6) are the RoCEv2 sockets of @net; they
 * must exist until a grace period after ornic_soft_rx_fast_close(). Under the
 * RTNL.
 * ornic_soft_rx_fast_close() - unregister it; packets may be in it until the
 * next grace period. The netdev is still in its namespace. Under the RTNL.
 * ornic_soft_rx_fast_of() - the device whose hook @netdev has, or NULL; valid in the RCU
 * section.
 * ornic_soft_rx_fast_note() - the stack delivered @skb, untagged, to the socket:
 * the next packets of its sender may take the fast path. Softirq, under RCU.
 * ornic_soft_rx_fast_knows() - has it delivered a packet with the addresses of @ip, on this
 * CPU, not long ago? And, unless @origin is 0, was the last such packet from that device,
 * see ornic_soft_tx_origin()? Softirqs off.
 * ornic_soft_rx_fast_is_ruled() - might it judge two packets of one sender differently?
 * @soft receives packets, under RCU.
 * ornic_soft_rx_fast_init() - allocate memory for all devices.
 * ornic_soft_rx_fast_exit() - free it; no device is left.
 */
#ifdef CONFIG_NETFILTER_INGRESS
int ornic_soft_rx_fast_open(struct ornic_soft *soft, struct net *net,
			    struct sock *sk4, struct sock *sk6);
void ornic_soft_rx_fast_close(struct ornic_soft *soft);
struct ornic_soft *ornic_soft_rx_fast_of(const struct net_device *netdev);
void ornic_soft_rx_fast_note(const struct ornic_soft *soft,
			     const struct sk_buff *skb);
bool ornic_soft_rx_fast_knows(const struct ornic_soft *soft, u64 origin,
			      const void *ip, bool ipv6);
bool ornic_soft_rx_fast_is_ruled(const struct ornic_soft *soft);
int ornic_soft_rx_fast_init(void);
void ornic_soft_rx_fast_exit(void);
#else
/* Such a kernel has no hook there: all packets come through the socket. */
static inline int ornic_soft_rx_fast_open(struct ornic_soft *soft,
					  struct net *net, struct sock *sk4,
					  struct sock *sk6)
{
	return 0;
}

static inline void ornic_soft_rx_fast_close(struct ornic_soft *soft)
{
}

static inline void ornic_soft_rx_fast_note(const struct ornic_soft *soft,
					   const struct sk_buff *skb)
{
}

static inline int ornic_soft_rx_fast_init(void)
{
	return 0;
}

static inline void ornic_soft_rx_fast_exit(void)
{
}
#endif

#endif /* ORNIC_SOFT_RX_FAST_H */
