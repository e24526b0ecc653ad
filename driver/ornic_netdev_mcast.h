/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_NETDEV_MCAST_H
#define ORNIC_NETDEV_MCAST_H

#include <linux/list.h>
#include <linux/types.h>

struct net_device;

/* Multicast groups that a netdev joins for a device. */
struct ornic_netdev_mcast {
	struct net_device *netdev;
	struct list_head list; /* struct ornic_netdev_group; RTNL */
};

void ornic_netdev_mcast_init(struct ornic_netdev_mcast *mcast,
			     struct net_device *netdev);
void ornic_netdev_mcast_close(struct ornic_netdev_mcast *mcast);
int ornic_netdev_mcast_join(struct ornic_netdev_mcast *mcast, const u8 *mgid);
void ornic_netdev_mcast_leave(struct ornic_netdev_mcast *mcast, const u8 *mgid);
void ornic_netdev_mcast_leave_all(struct ornic_netdev_mcast *mcast);
void ornic_netdev_mcast_fit_mtu(struct ornic_netdev_mcast *mcast);
void ornic_netdev_mcast_rejoin(struct ornic_netdev_mcast *mcast);

#endif /* ORNIC_NETDEV_MCAST_H */
