// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: ipv6_stub */
/* IPv6 may be a module, whose functions are called by way of ipv6_stub */
#include <net/ipv6_stubs.h>

static struct dst_entry *route(struct net *net, struct flowi6 *fl)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl, NULL);
}
