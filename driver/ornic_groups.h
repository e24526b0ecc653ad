/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_GROUPS_H
#define ORNIC_GROUPS_H

#include <linux/list.h>
#include <linux/types.h>

struct net_device;

/**
 * struct ornic_groups - multicast groups that a netdev joins for a device
 * @netdev: the netdev
 * @list: struct ornic_group; RTNL
 */
struct ornic_groups {
	struct net_device *netdev;
	struct list_head list;
};

void ornic_groups_init(struct ornic_groups *groups);
void ornic_groups_open(struct ornic_groups *groups, struct net_device *netdev);
void ornic_groups_close(struct ornic_groups *groups);
int ornic_groups_join(struct ornic_groups *groups, const u8 *mgid);
void ornic_groups_leave(struct ornic_groups *groups, const u8 *mgid);
void ornic_groups_gone(struct ornic_groups *groups);
void ornic_groups_fit_mtu(struct ornic_groups *groups);
void ornic_groups_back(struct ornic_groups *groups);

#endif /* ORNIC_GROUPS_H */
