// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Programs find the netdev of an RDMA device in the directory device/net, which
 * the kernel creates if the netdev is a child of the same device. Here it is
 * not: it exists before the soft device, and beside the PCI function.
 */
#include "ornic_sysfs_net.h"

#include <linux/device.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static int link_add(struct ornic_sysfs_net *net, struct net_device *netdev)
{
	int err = sysfs_create_link(net->dir, &netdev->dev.kobj, netdev->name);

	if (!err)
		strscpy(net->ifname, netdev->name, sizeof(net->ifname));
	return err;
}

static void link_remove(struct ornic_sysfs_net *net)
{
	if (net->ifname[0])
		sysfs_remove_link(net->dir, net->ifname);
	net->ifname[0] = '\0';
}

/* RTNL held. Returns -EEXIST if @parent has a directory "net" already. */
int ornic_sysfs_net_open(struct ornic_sysfs_net *net, struct device *parent,
			 struct net_device *netdev)
{
	int err;

	ASSERT_RTNL();
	net->dir = kobject_create_and_add("net", &parent->kobj);
	if (!net->dir)
		return -ENOMEM;
	err = link_add(net, netdev);
	if (err)
		ornic_sysfs_net_close(net);
	return err;
}

/* The netdev may have a new name. RTNL held; @net may not be open. */
void ornic_sysfs_net_rename(struct ornic_sysfs_net *net,
			    struct net_device *netdev)
{
	ASSERT_RTNL();
	/* Without a directory the link would be made in the root of sysfs. */
	if (!net->dir || !strcmp(net->ifname, netdev->name))
		return;
	link_remove(net);
	if (link_add(net, netdev))
		netdev_warn(netdev, "ornic: cannot create net/%s in sysfs\n",
			    netdev->name);
}

/* RTNL held; @net may not be open. */
void ornic_sysfs_net_close(struct ornic_sysfs_net *net)
{
	ASSERT_RTNL();
	if (!net->dir)
		return;
	link_remove(net);
	kobject_put(net->dir);
	net->dir = NULL;
}
