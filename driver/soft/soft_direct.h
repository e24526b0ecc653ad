/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_DIRECT_H
#define ORNIC_SOFT_DIRECT_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct ornic_engine;
struct ornic_soft;

/*
 * ornic_soft_direct_pair() - @soft is on its netdev, and has been added to those that
 * ornic_soft_find() finds: the device at the other end of its veth pair, if any, is its peer.
 * Under the RTNL.
 * ornic_soft_direct_part() - it is about to go: on return the other end of its pair does
 * not work for it; those beyond a bridge find it until ornic_soft_net_leave(). Under the
 * RTNL.
 * ornic_soft_direct_changed() - direct or direct_bridge has another value, or the peer: the
 * engine asks ornic_soft_direct() only where these allow it. Process context.
 * ornic_soft_direct() - ornic_engine_ops::direct.
 */
#ifdef CONFIG_NETFILTER_INGRESS
void ornic_soft_direct_pair(struct ornic_soft *soft);
void ornic_soft_direct_part(struct ornic_soft *soft);
void ornic_soft_direct_changed(struct ornic_soft *soft);
struct ornic_engine *ornic_soft_direct(void *host, const u8 *mac,
				       const void *ip, bool ipv6, u16 vlan,
				       u32 mtu);
#else
/* Nothing is known of packets that have arrived. */
static inline void ornic_soft_direct_pair(struct ornic_soft *soft)
{
}

static inline void ornic_soft_direct_part(struct ornic_soft *soft)
{
}

static inline void ornic_soft_direct_changed(struct ornic_soft *soft)
{
}
#endif

#endif /* ORNIC_SOFT_DIRECT_H */
