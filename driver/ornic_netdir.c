// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Programs find the netdev of an RDMA device in the folder device/net, which
 * the kernel makes where the netdev is a child of the same device. Here it is
 * not: it is there before the soft device, and beside the PCI function.
 */
#include "ornic_netdir.h"

#include <linux/device.h>
#include <linux/export.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static int show(struct ornic_netdir *net, struct net_device *netdev)
{
	int err = sysfs_create_link(net->dir, &netdev->dev.kobj, netdev->name);

	if (!err)
		strscpy(net->ifname, netdev->name);
	return err;
}

static void hide(struct ornic_netdir *net)
{
	if (net->ifname[0])
		sysfs_remove_link(net->dir, net->ifname);
	net->ifname[0] = '\0';
}

/**
 * ornic_netdir_open - make net/IFNAME
 * @net: zeroed, or closed
 * @parent: of the ib_device, in sysfs
 * @netdev: its netdev
 *
 * Context: process, RTNL held; may sleep.
 * Return: 0; -ENOMEM; -EEXIST if @parent has a folder of that name.
 */
int ornic_netdir_open(struct ornic_netdir *net, struct device *parent,
		      struct net_device *netdev)
{
	int err;

	ASSERT_RTNL();
	net->dir = kobject_create_and_add("net", &parent->kobj);
	if (!net->dir)
		return -ENOMEM;
	err = show(net, netdev);
	if (err)
		ornic_netdir_close(net);
	return err;
}
EXPORT_SYMBOL_GPL(ornic_netdir_open);

/**
 * ornic_netdir_rename - let net/IFNAME follow the name of the netdev
 * @net: open, or not
 * @netdev: the netdev that it is for
 *
 * Context: process, RTNL held; may sleep.
 */
void ornic_netdir_rename(struct ornic_netdir *net, struct net_device *netdev)
{
	ASSERT_RTNL();
	/* Without a folder the link would be made in the root of sysfs. */
	if (!net->dir || !strcmp(net->ifname, netdev->name))
		return;
	hide(net);
	if (show(net, netdev))
		netdev_warn(netdev, "ornic: no net/%s in sysfs\n",
			    netdev->name);
}
EXPORT_SYMBOL_GPL(ornic_netdir_rename);

/**
 * ornic_netdir_close - take the folder away
 * @net: open, or not
 *
 * Context: process, RTNL held; may sleep.
 */
void ornic_netdir_close(struct ornic_netdir *net)
{
	ASSERT_RTNL();
	if (!net->dir)
		return;
	hide(net);
	kobject_put(net->dir);
	net->dir = NULL;
}
EXPORT_SYMBOL_GPL(ornic_netdir_close);
