// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Netdev notifier: a soft device follows the network namespace, the master and
 * the end of its netdev. The driver handles name, MTU, carrier and addresses.
 *
 * A netdev that moves to another namespace is unregistered from the old one and
 * registered in the new one under the RTNL, but stays NETREG_REGISTERED. The
 * device survives only that.
 */
#include "soft.h"

#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

static void netdev_leaves(struct ornic_soft *soft)
{
	if (soft->netdev->reg_state != NETREG_REGISTERED) {
		ornic_soft_remove_later(soft);
		return;
	}
	ornic_soft_net_leave(soft);
}

static void netdev_arrives(struct ornic_soft *soft)
{
	if (soft->net)
		return;
	if (ornic_soft_net_join(soft, dev_net(soft->netdev))) {
		netdev_err(soft->netdev, "ornic: link removed\n");
		ornic_soft_remove_later(soft);
	}
}

/* As in ornic_soft_create(): a master takes the packets of its netdevs. */
static void netdev_upper_changes(struct ornic_soft *soft)
{
	const struct net_device *master =
		netdev_master_upper_dev_get(soft->netdev);

	if (!master)
		return;
	netdev_err(soft->netdev, "ornic: is a port of %s now, link removed\n",
		   master->name);
	ornic_soft_remove_later(soft);
}

static int soft_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);
	struct ornic_soft *soft = ornic_soft_find(netdev);

	if (!soft)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		netdev_leaves(soft);
		break;
	case NETDEV_REGISTER:
		netdev_arrives(soft);
		break;
	case NETDEV_CHANGEUPPER:
		netdev_upper_changes(soft);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = soft_netdev_event,
};

int ornic_soft_netdev_init(void)
{
	return register_netdevice_notifier(&netdev_nb);
}

void ornic_soft_netdev_exit(void)
{
	unregister_netdevice_notifier(&netdev_nb);
}
