// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The Ethernet side of a PCI device is the netdev with its MAC address, which
 * belongs to another function and driver and may come and go. The ib_device
 * exists while the netdev does. A new name or address changes nothing: the
 * permanent address counts.
 *
 * Netdevs stacked on that netdev often have the same address, and are not
 * taken. Nor is a netdev that an unprivileged user has created.
 */
#include "pci/pci_netdev.h"

#include <linux/if_arp.h>
#include <linux/if_macvlan.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>

#include "pci/pci_dev.h"
#include "pci/pci_life.h"

static bool is_stacked(struct net_device *netdev)
{
	struct list_head *iter = &netdev->adj_list.lower;

	return is_vlan_dev(netdev) || netif_is_macvlan(netdev) ||
	       netif_is_bridge_master(netdev) || netif_is_lag_master(netdev) ||
	       netdev_lower_get_next(netdev, &iter);
}

/*
 * Any user can create netdevs with any address in a user namespace of his own.
 * One with hardware is not made that way, and is trusted in any namespace;
 * others only in namespaces that the administrator of the host has made.
 */
static bool is_real(const struct net_device *netdev)
{
	return netdev->dev.parent;
}

static bool is_trusted(const struct net_device *netdev)
{
	return is_real(netdev) || dev_net(netdev)->user_ns == &init_user_ns;
}

static bool netdev_fits(const struct ornic_pci *pci, struct net_device *netdev)
{
	const u8 *addr = netdev->perm_addr;

	if (netdev->type != ARPHRD_ETHER || netdev->addr_len != ETH_ALEN ||
	    netdev->reg_state != NETREG_REGISTERED || is_stacked(netdev) ||
	    !is_trusted(netdev))
		return false;
	if (is_zero_ether_addr(addr))
		addr = netdev->dev_addr;
	return ether_addr_equal(addr, pci->info.mac);
}

/* If there are several, prefer one with hardware. */
static struct net_device *netdev_find(const struct ornic_pci *pci)
{
	struct net_device *netdev, *found = NULL;
	struct net *net;

	ASSERT_RTNL();
	down_read(&net_rwsem);
	for_each_net(net) {
		for_each_netdev(net, netdev) {
			if (netdev_fits(pci, netdev) &&
			    (!found || (is_real(netdev) && !is_real(found))))
				found = netdev;
		}
	}
	up_read(&net_rwsem);
	return found;
}

/* ---- Notifier ------------------------------------------------------------ */

static void pci_netdev_leaves(struct ornic_pci *pci, struct net_device *netdev)
{
	/* One that stays registered only moves to another namespace. */
	if (netdev != pci->bus.netdev || netdev->reg_state == NETREG_REGISTERED)
		return;
	set_bit(ORNIC_PCI_NETDEV_GONE, &pci->flags);
	ornic_pci_queue_update(pci);
}

static void pci_netdev_arrives(struct ornic_pci *pci, struct net_device *netdev)
{
	if (!pci->bus.netdev && netdev_fits(pci, netdev))
		ornic_pci_queue_update(pci);
}

static int pci_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *info)
{
	struct ornic_pci *pci = container_of(nb, struct ornic_pci, netdev_nb);
	struct net_device *netdev = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_UNREGISTER:
		pci_netdev_leaves(pci, netdev);
		break;
	case NETDEV_REGISTER:
	case NETDEV_CHANGEADDR:
		pci_netdev_arrives(pci, netdev);
		break;
	}
	return NOTIFY_DONE;
}

/* Takes the RTNL; update is not queued yet. */
int ornic_pci_netdev_init(struct ornic_pci *pci)
{
	pci->netdev_nb.notifier_call = pci_netdev_event;
	return register_netdevice_notifier(&pci->netdev_nb);
}

/* Takes the RTNL; the device has no netdev any more. */
void ornic_pci_netdev_exit(struct ornic_pci *pci)
{
	unregister_netdevice_notifier(&pci->netdev_nb);
}

/* ---- Pairing ------------------------------------------------------------- */

/* Takes the netdev, and its namespace until the ib_device is registered. */
static bool take_netdev(struct ornic_pci *pci)
{
	struct net_device *netdev;

	rtnl_lock();
	netdev = netdev_find(pci);
	if (netdev) {
		netdev_hold(netdev, &pci->netdev_tracker, GFP_KERNEL);
		pci->bus.netdev = netdev;
		pci->bus.net = maybe_get_net(dev_net(netdev));
	}
	rtnl_unlock();
	return netdev;
}

static void drop_netdev(struct ornic_pci *pci)
{
	rtnl_lock();
	netdev_put(pci->bus.netdev, &pci->netdev_tracker);
	pci->bus.netdev = NULL;
	rtnl_unlock();
	clear_bit(ORNIC_PCI_NETDEV_GONE, &pci->flags);
}

/*
 * Register the ib_device if there is a netdev for it and it is not registered
 * yet. From the work item, without the RTNL. Fails the device if it cannot be
 * registered.
 */
int ornic_pci_pair(struct ornic_pci *pci)
{
	int ret;

	if (pci->registered)
		return 0;
	if (!take_netdev(pci)) {
		if (!pci->logged_waiting)
			dev_info(&pci->pdev->dev,
				 "waiting for a netdev with address %pM\n",
				 pci->info.mac);
		pci->logged_waiting = true;
		return 0;
	}
	pci->logged_waiting = false;
	ret = ornic_register(&pci->bus, "ornic%d");
	if (pci->bus.net)
		put_net(pci->bus.net);
	pci->bus.net = NULL;
	if (ret)
		goto err_drop;
	pci->registered = true;
	dev_info(&pci->pdev->dev, "RDMA device on %s, %u vectors\n",
		 pci->bus.netdev->name, pci->bus.num_vectors);
	return 0;

err_drop:
	drop_netdev(pci);
	ornic_pci_fail(pci, "could not be registered");
	return ret;
}

/*
 * Unregister the ib_device, if it is registered. From the work item, without
 * the RTNL.
 */
void ornic_pci_unpair(struct ornic_pci *pci)
{
	s64 kept;

	if (!pci->registered)
		return;
	ornic_unregister(&pci->bus);
	kept = atomic64_xchg(&pci->bus.kept, 0);
	if (kept)
		dev_warn(&pci->pdev->dev,
			 "%lld bytes leaked: the device may write to them\n",
			 kept);
	pci->registered = false;
	drop_netdev(pci);
}
