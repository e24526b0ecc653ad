/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_NETDIR_H
#define ORNIC_NETDIR_H

#include <linux/if.h>

struct device;
struct kobject;
struct net_device;

/**
 * struct ornic_netdir - folder `net` of a device, with a link to its netdev
 * @dir: the folder, NULL while there is none
 * @ifname: name of the link in it, empty while there is none
 */
struct ornic_netdir {
	struct kobject *dir;
	char ifname[IFNAMSIZ];
};

int ornic_netdir_open(struct ornic_netdir *net, struct device *parent,
		      struct net_device *netdev);
void ornic_netdir_rename(struct ornic_netdir *net, struct net_device *netdev);
void ornic_netdir_close(struct ornic_netdir *net);

#endif /* ORNIC_NETDIR_H */
