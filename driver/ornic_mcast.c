// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups. The device knows the members; that the host's network
 * lets the packets through, and tells its routers and switches, is the
 * netdev's.
 * ib_core checks type and address, and detaches what a process leaves behind.
 */
#include "ornic_verbs.h"

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_qp.h"
#include "ornic_ucontext.h"

/*
 * Each may be a group that the netdev joins, without the limits that sockets
 * have: igmp_max_memberships and optmem_max.
 */
#define MAX_MEMBERSHIPS 128

static bool get_membership(struct ornic_ib_qp *qp)
{
	return !qp->context ||
	       atomic_add_unless(&qp->context->memberships, 1, MAX_MEMBERSHIPS);
}

static void put_membership(struct ornic_ib_qp *qp)
{
	if (qp->context)
		atomic_dec(&qp->context->memberships);
}

/**
 * ornic_ib_attach_mcast - ib_device_ops.attach_mcast
 * @ibqp: UD QP
 * @gid: the group: IPv6, or IPv4 mapped
 * @lid: means nothing on Ethernet
 *
 * Context: process, without the RTNL; may sleep.
 * Return: 0; -EOPNOTSUPP for a device without groups; -EBUSY for a member;
 * -ENOSPC if the group is full or there are too many, of the device or of the
 * process; -ENOMEM; as ornic_netdev_mcast_join() if the netdev cannot join.
 */
int ornic_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	struct ornic_ib_qp *qp = to_oqp(ibqp);
	int ret;

	if (!(dev->caps.caps & ORNIC_CAP_MCAST))
		return -EOPNOTSUPP;
	if (!get_membership(qp)) {
		ibdev_dbg(ibqp->device, "QP %#x: over %u memberships\n",
			  ibqp->qp_num, MAX_MEMBERSHIPS);
		return -ENOSPC;
	}
	ret = ornic_netdev_mcast_join(&dev->bus->mcast, gid->raw);
	if (ret) {
		ibdev_dbg(ibqp->device, "QP %#x: no group %pI6c: %d\n",
			  ibqp->qp_num, gid->raw, ret);
		goto err_put_membership;
	}
	ret = ornic_cmd_attach_mcast(dev, ibqp->qp_num, gid->raw);
	if (ret)
		goto err_leave;
	return 0;

err_leave:
	ornic_netdev_mcast_leave(&dev->bus->mcast, gid->raw);
err_put_membership:
	put_membership(qp);
	return ret;
}

/**
 * ornic_ib_detach_mcast - ib_device_ops.detach_mcast
 * @ibqp: UD QP
 * @gid: the group
 * @lid: means nothing on Ethernet
 *
 * Context: process, without the RTNL; may sleep.
 * Return: 0 (also if the device is gone); -ENOENT if the QP is no member.
 */
int ornic_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	int ret;

	ret = ornic_cmd_detach_mcast(dev, ibqp->qp_num, gid->raw);
	if (ret)
		return ret;
	ornic_netdev_mcast_leave(&dev->bus->mcast, gid->raw);
	put_membership(to_oqp(ibqp));
	return 0;
}
