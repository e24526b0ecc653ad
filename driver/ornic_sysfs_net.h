/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SYSFS_NET_H
#define ORNIC_SYSFS_NET_H

#include <linux/if.h>

struct device;
struct kobject;
struct net_device;

/* Directory `net` of a device, with a link to its netdev. */
struct ornic_sysfs_net {
	struct kobject *dir; /* NULL while there is none */
	/* Name of the link, empty while there is none */
	char ifname[IFNAMSIZ];
};

int ornic_sysfs_net_open(struct ornic_sysfs_net *net, struct device *parent,
			 struct net_device *netdev);
void ornic_sysfs_net_rename(struct ornic_sysfs_net *net,
			    struct net_device *netdev);
void ornic_sysfs_net_close(struct ornic_sysfs_net *net);

#endif /* ORNIC_SYSFS_NET_H */
