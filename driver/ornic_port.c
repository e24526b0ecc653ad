// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The port: follows carrier and MTU of the netdev, tells the device with
 * SET_PORT and users with port events. A work item does that, and again if the
 * device refuses: netdev notifiers run under the RTNL, and a device that takes
 * its time must not stop the network configuration of the host.
 *
 * What ends the netdev or moves it to another namespace concerns the bus,
 * which holds it.
 */
#include "ornic_port.h"

#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_verbs.h"

#define MAX_MSG_BYTES 0x80000000u
#define DEFAULT_PKEY 0xffff
#define RETRY_DELAY HZ

/* 0 if not even the smallest RoCE MTU fits. */
static enum ib_mtu active_mtu(const struct net_device *netdev)
{
	return iboe_get_mtu(READ_ONCE(netdev->mtu));
}

static bool is_up(const struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev) &&
	       active_mtu(netdev);
}

static u32 mtu_bytes(const struct net_device *netdev)
{
	return ib_mtu_enum_to_int(active_mtu(netdev) ?: IB_MTU_256);
}

static void report(struct ornic_ib_dev *dev, bool up)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = ORNIC_PORT,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	/* Not registered yet or not any more: nobody to tell. */
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

/* By the work item, or before it can run. */
static int sync_port(struct ornic_ib_dev *dev)
{
	struct ornic_port_state now = {
		.known = true,
		.up = is_up(dev->bus->netdev),
		.mtu = mtu_bytes(dev->bus->netdev),
	};
	struct ornic_port_state before = dev->port;
	int ret;

	if (before.known && before.up == now.up && before.mtu == now.mtu)
		return 0;
	ret = ornic_cmd_set_port(dev, now.mtu, now.up);
	if (ret)
		return ret;

	dev->port = now;
	if (before.known && before.up != now.up)
		report(dev, now.up);
	return 0;
}

static void port_work(struct work_struct *work)
{
	struct ornic_ib_dev *dev = container_of(to_delayed_work(work),
						struct ornic_ib_dev, port_work);
	int ret;

	ret = sync_port(dev);
	if (ret && !ornic_is_dead(dev)) {
		ibdev_warn_ratelimited(&dev->ibdev,
				       "port state not set, trying again: %d\n",
				       ret);
		queue_delayed_work(system_wq, &dev->port_work, RETRY_DELAY);
	}
	/* IP comes back after our notifier has run. */
	rtnl_lock();
	ornic_netdev_mcast_rejoin(&dev->bus->mcast);
	rtnl_unlock();
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct ornic_ib_dev *dev =
		container_of(nb, struct ornic_ib_dev, netdev_nb);

	if (netdev_notifier_info_to_dev(info) != dev->bus->netdev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		ornic_netdev_mcast_fit_mtu(&dev->bus->mcast);
		mod_delayed_work(system_wq, &dev->port_work, 0);
		break;
	}
	return NOTIFY_DONE;
}

/**
 * ornic_port_start - begin to follow the netdev
 * @dev: device, not yet registered
 *
 * Context: process, without the RTNL; may sleep.
 * Return: 0 or -errno.
 */
int ornic_port_start(struct ornic_ib_dev *dev)
{
	struct net_device *netdev = dev->bus->netdev;
	int ret;

	dev->netdev_nb.notifier_call = netdev_event;
	INIT_DELAYED_WORK(&dev->port_work, port_work);
	disable_delayed_work(&dev->port_work);
	/*
	 * One of the namespace, which follows the netdev to others: ending a
	 * global one waits for the cleanup of namespaces, which waits for
	 * their netdevs, which wait for us.
	 */
	ret = register_netdevice_notifier_dev_net(netdev, &dev->netdev_nb,
						  &dev->netdev_nn);
	if (ret)
		return ret;
	ret = sync_port(dev);
	if (ret)
		goto err_stop;
	enable_delayed_work(&dev->port_work);
	/* In case it changed meanwhile. */
	queue_delayed_work(system_wq, &dev->port_work, 0);
	return 0;

err_stop:
	ornic_port_stop(dev);
	return ret;
}

/**
 * ornic_port_stop - stop following the netdev
 * @dev: device
 *
 * Context: process, without the RTNL; may sleep. No SET_PORT comes afterwards.
 */
void ornic_port_stop(struct ornic_ib_dev *dev)
{
	unregister_netdevice_notifier_dev_net(dev->bus->netdev, &dev->netdev_nb,
					      &dev->netdev_nn);
	disable_delayed_work_sync(&dev->port_work);
}

/**
 * ornic_ib_query_port - ib_device_ops.query_port
 * @ibdev: device
 * @port: ORNIC_PORT
 * @attr: zeroed; filled in
 *
 * Context: process, without the RTNL; may sleep.
 * Return: 0.
 */
int ornic_ib_query_port(struct ib_device *ibdev, u32 port,
			struct ib_port_attr *attr)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);
	const struct net_device *netdev = dev->bus->netdev;
	bool up = is_up(netdev);

	/* The device is to know what programs are told; a retry has its time. */
	flush_work(&dev->port_work.work);
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = active_mtu(netdev) ?: IB_MTU_256;
	attr->phys_mtu = ib_mtu_enum_to_int(attr->active_mtu);
	attr->gid_tbl_len = dev->caps.gid_table_len;
	attr->pkey_tbl_len = 1;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = MAX_MSG_BYTES;
	attr->max_vl_num = 1;
	if (ib_get_eth_speed(ibdev, port, &attr->active_speed,
			     &attr->active_width)) {
		/* The netdev is about to go, but a port has some speed. */
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	return 0;
}

/**
 * ornic_ib_get_port_immutable - ib_device_ops.get_port_immutable
 * @ibdev: device
 * @port: ORNIC_PORT
 * @immutable: filled in
 *
 * Context: process.
 * Return: 0.
 */
int ornic_ib_get_port_immutable(struct ib_device *ibdev, u32 port,
				struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = to_odev(ibdev)->caps.gid_table_len;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

/**
 * ornic_ib_get_link_layer - ib_device_ops.get_link_layer
 * @ibdev: device
 * @port: ORNIC_PORT
 *
 * Context: any.
 * Return: Ethernet.
 */
enum rdma_link_layer ornic_ib_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/**
 * ornic_ib_query_pkey - ib_device_ops.query_pkey
 * @ibdev: device
 * @port: ORNIC_PORT
 * @index: in the partition table; RoCE has only the default partition
 * @pkey: set to its key
 *
 * Context: any.
 * Return: 0; -EINVAL for another index than 0.
 */
int ornic_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = DEFAULT_PKEY;
	return 0;
}

/* ---- GIDs -------------------------------------------------------------------- */

/*
 * The GID table of the device follows the one that ib_core keeps from the
 * addresses of the netdev and of what is stacked on it. An entry also says
 * how frames with this source look: source MAC and VLAN.
 */

/*
 * Frames leave through the netdev of the bus. If that is a VLAN device it
 * does its tagging itself.
 */
static int read_l2(const struct ornic_ib_dev *dev,
		   const struct ib_gid_attr *attr,
		   struct ornic_set_gid_params *params)
{
	int ret;

	ret = rdma_read_gid_l2_fields(attr, &params->vlan, params->smac);
	if (ret)
		return ret;
	if (rcu_access_pointer(attr->ndev) == dev->bus->netdev)
		params->vlan = ORNIC_VLAN_NONE;
	return 0;
}

/* On a VLAN device ib_core offers also what its siblings and parent have. */
static bool is_ours(const struct ornic_ib_dev *dev,
		    const struct ib_gid_attr *attr)
{
	struct net_device *netdev = dev->bus->netdev;
	struct net_device *ndev;
	bool ours;

	if (!is_vlan_dev(netdev))
		return true;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	ours = ndev == netdev ||
	       (ndev && netdev_has_upper_dev_all_rcu(netdev, ndev));
	rcu_read_unlock();
	return ours;
}

/**
 * ornic_gid_netdev - the netdev that ib_core shall take GIDs from
 * @dev: device
 *
 * ib_core never gives the addresses of a VLAN device to a port on that device,
 * only to one on the device below it.
 *
 * Context: any.
 * Return: the bus's netdev, or what a VLAN device is on.
 */
struct net_device *ornic_gid_netdev(const struct ornic_ib_dev *dev)
{
	struct net_device *netdev = dev->bus->netdev;

	return is_vlan_dev(netdev) ? vlan_dev_real_dev(netdev) : netdev;
}

/**
 * ornic_ib_add_gid - ib_device_ops.add_gid
 * @attr: the entry
 * @context: unused
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for another type than RoCEv2; -EADDRNOTAVAIL for an
 * address of another netdev; -ENODEV if its netdev went away; -errno of the
 * device.
 */
int ornic_ib_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ornic_ib_dev *dev = to_odev(attr->device);
	struct ornic_set_gid_params params = {
		.index = attr->index,
		.valid = true,
	};
	int ret;

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
		ibdev_dbg(attr->device, "GID %u: type %d\n", attr->index,
			  attr->gid_type);
		return -EINVAL;
	}
	if (!is_ours(dev, attr))
		return -EADDRNOTAVAIL;
	ret = read_l2(dev, attr, &params);
	if (ret)
		return ret;
	memcpy(params.gid, attr->gid.raw, sizeof(params.gid));
	return ornic_cmd_set_gid(dev, &params);
}

/**
 * ornic_ib_del_gid - ib_device_ops.del_gid
 * @attr: the entry
 * @context: unused
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device.
 */
int ornic_ib_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ornic_set_gid_params params = {
		.index = attr->index,
		.vlan = ORNIC_VLAN_NONE,
	};

	return ornic_cmd_set_gid(to_odev(attr->device), &params);
}
