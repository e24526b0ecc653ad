// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The right to whole frames.
 *
 * A netdev leaves its namespace under the RTNL, and only after the device has ended what
 * needs the right. Commands that need the right are issued without the RTNL, as a slow device
 * must not stall the network configuration of the host. They and that end wait for each
 * other, but not for commands of other users (@first of ornic_bus_ops.cmd).
 */
#include "ornic_raw.h"

#include <linux/capability.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"

static int check(const struct net *net)
{
	return net && ns_capable(net->user_ns, CAP_NET_RAW) ? 0 : -EPERM;
}

void ornic_raw_init(struct ornic_ib_dev *dev)
{
	mutex_init(&dev->raw.lock);
}

static void hold(struct ornic_ib_dev *dev)
{
	mutex_lock(&dev->raw.lock);
	WRITE_ONCE(dev->raw.holder, current);
}

void ornic_raw_end(struct ornic_ib_dev *dev)
{
	WRITE_ONCE(dev->raw.holder, NULL);
	mutex_unlock(&dev->raw.lock);
}

bool ornic_raw_is_held(const struct ornic_ib_dev *dev)
{
	return READ_ONCE(dev->raw.holder) == current;
}

/* A netdev that is being moved arrives before the RTNL is released. */
static void hold_with_netdev(struct ornic_ib_dev *dev)
{
	hold(dev);
	if (dev->raw.net)
		return;
	ornic_raw_end(dev);
	rtnl_lock();
	rtnl_unlock();
	hold(dev);
}

int ornic_raw_begin(struct ornic_ib_dev *dev, const u32 *moves)
{
	int ret;

	hold_with_netdev(dev);
	if (moves && *moves != dev->raw.moves)
		ret = -EAGAIN;
	else
		ret = check(dev->raw.net);
	if (ret)
		ornic_raw_end(dev);
	return ret;
}

int ornic_raw_check(struct ornic_ib_dev *dev)
{
	int ret;

	ret = ornic_raw_begin(dev, NULL);
	if (!ret)
		ornic_raw_end(dev);
	return ret;
}

int ornic_raw_check_rtnl(const struct ornic_ib_dev *dev)
{
	ASSERT_RTNL();
	return check(dev->raw.net);
}

static void end_on_device(struct ornic_ib_dev *dev)
{
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_END_RAW };
	union ornic_rsp rsp;

	if (dev->caps.caps & ORNIC_CAP_RAW && ornic_cmd_exec(dev, &req, &rsp) &&
	    !ornic_is_dead(dev))
		ornic_cmd_broken(dev, "did not end raw packet QPs");
}

void ornic_raw_netdev_leaves(struct ornic_ib_dev *dev)
{
	ASSERT_RTNL();
	/* The event comes again each second until the netdev is released. */
	if (!dev->raw.net)
		return;
	hold(dev);
	dev->raw.net = NULL;
	dev->raw.moves++;
	end_on_device(dev);
	ornic_raw_end(dev);
}

void ornic_raw_netdev_arrives(struct ornic_ib_dev *dev)
{
	ASSERT_RTNL();
	hold(dev);
	if (!dev->raw.stopped)
		dev->raw.net = dev_net(dev->bus->netdev);
	ornic_raw_end(dev);
}

void ornic_raw_stop(struct ornic_ib_dev *dev)
{
	rtnl_lock();
	hold(dev);
	dev->raw.stopped = true;
	dev->raw.net = NULL;
	ornic_raw_end(dev);
	rtnl_unlock();
}
