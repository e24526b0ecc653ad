// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The GID table of the device follows the one that ib_core keeps from the
 * addresses of the netdev and of what is stacked on it. An entry also says
 * how frames with this source look: source MAC and VLAN.
 */
#include "ornic_gid.h"

#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"

/*
 * Frames leave through the netdev of the bus. If that is a VLAN device it
 * does its tagging itself.
 */
static int read_l2(const struct ornic_dev *dev, const struct ib_gid_attr *attr,
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

/**
 * ornic_add_gid - ib_device_ops.add_gid
 * @attr: the entry
 * @context: unused
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for another type than RoCEv2; -ENODEV if its netdev went
 * away; -errno of the device.
 */
int ornic_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ornic_dev *dev = to_ornic_dev(attr->device);
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
	ret = read_l2(dev, attr, &params);
	if (ret)
		return ret;
	memcpy(params.gid, attr->gid.raw, sizeof(params.gid));
	return ornic_cmd_set_gid(dev, &params);
}

/**
 * ornic_del_gid - ib_device_ops.del_gid
 * @attr: the entry
 * @context: unused
 *
 * Context: process, may sleep.
 * Return: 0 or -errno of the device.
 */
int ornic_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ornic_set_gid_params params = {
		.index = attr->index,
		.vlan = ORNIC_VLAN_NONE,
	};

	return ornic_cmd_set_gid(to_ornic_dev(attr->device), &params);
}
