// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The GID table of the device follows the one that ib_core keeps from the
 * addresses of the netdev and of what is stacked on it. An entry also says
 * how frames with this source look: source MAC and VLAN.
 */
#include "ornic_gid.h"

#include <linux/if_vlan.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_verbs.h"

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
