// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups of the netdev: IP joins them, which opens the filter of the
 * netdev for their Ethernet addresses, lets IP deliver their packets to the
 * sockets of soft_net.c and reports them by IGMP or MLD. Each group is joined
 * once, however many QPs are attached; IP counts the joins of others.
 *
 * IP forgets its groups when the netdev leaves a namespace. The list here tells
 * what to join in the next one.
 *
 * The groups are those of the netdev itself. For packets that come through a
 * VLAN on it, who attaches must join there; rdma_cm does.
 */
#include "soft_mcast.h"

#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "soft_dev.h"

/**
 * struct ornic_soft_group - a group that QPs are attached to
 * @link: in ornic_soft::groups
 * @addr: the group: IPv6, or IPv4 mapped
 * @users: attachments
 * @joined: IP has it
 */
struct ornic_soft_group {
	struct list_head link;
	struct in6_addr addr;
	u32 users;
	bool joined;
};

static int join_ipv4(struct net_device *netdev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(netdev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void leave_ipv4(struct net_device *netdev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(netdev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

static int join(struct ornic_soft *soft, struct ornic_soft_group *group)
{
	int err;

	ASSERT_RTNL();
	if (ipv6_addr_v4mapped(&group->addr))
		err = join_ipv4(soft->netdev, group->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		err = ipv6_dev_mc_inc(soft->netdev, &group->addr);
	else
		err = -EAFNOSUPPORT;
	group->joined = !err;
	return err;
}

static void leave(struct ornic_soft *soft, struct ornic_soft_group *group)
{
	ASSERT_RTNL();
	if (!group->joined)
		return;
	group->joined = false;
	if (ipv6_addr_v4mapped(&group->addr))
		leave_ipv4(soft->netdev, group->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_mc_dec(soft->netdev, &group->addr);
}

static struct ornic_soft_group *find(struct ornic_soft *soft, const u8 *mgid)
{
	struct ornic_soft_group *group;

	list_for_each_entry(group, &soft->groups, link)
		if (!memcmp(&group->addr, mgid, sizeof(group->addr)))
			return group;
	return NULL;
}

static int join_first(struct ornic_soft *soft, const u8 *mgid)
{
	struct ornic_soft_group *group;
	int err;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	memcpy(&group->addr, mgid, sizeof(group->addr));
	group->users = 1;
	err = join(soft, group);
	if (err) {
		kfree(group);
		return err;
	}
	list_add_tail(&group->link, &soft->groups);
	return 0;
}

/**
 * ornic_soft_join - ornic_bus_ops::join
 * @bus: the device
 * @mgid: 16 bytes: an IPv6 group, or an IPv4 group mapped
 *
 * Context: Process context, RTNL not held.
 * Return: 0; -ENODEV, -EINVAL or -EAFNOSUPPORT if the netdev has no such
 * protocol; -ENOMEM.
 */
int ornic_soft_join(struct ornic_bus *bus, const u8 *mgid)
{
	struct ornic_soft *soft = container_of(bus, struct ornic_soft, bus);
	struct ornic_soft_group *group;
	int err = 0;

	rtnl_lock();
	group = find(soft, mgid);
	if (group)
		group->users++;
	else
		err = join_first(soft, mgid);
	rtnl_unlock();
	return err;
}

/**
 * ornic_soft_leave - ornic_bus_ops::leave
 * @bus: the device
 * @mgid: the group of an earlier ornic_soft_join
 *
 * Context: Process context, RTNL not held.
 */
void ornic_soft_leave(struct ornic_bus *bus, const u8 *mgid)
{
	struct ornic_soft *soft = container_of(bus, struct ornic_soft, bus);
	struct ornic_soft_group *group;

	rtnl_lock();
	group = find(soft, mgid);
	if (!WARN_ON_ONCE(!group) && !--group->users) {
		leave(soft, group);
		list_del(&group->link);
		kfree(group);
	}
	rtnl_unlock();
}

/**
 * ornic_soft_groups_gone - the netdev leaves its namespace
 * @soft: the device
 *
 * Context: RTNL held.
 */
void ornic_soft_groups_gone(struct ornic_soft *soft)
{
	struct ornic_soft_group *group;

	list_for_each_entry(group, &soft->groups, link)
		leave(soft, group);
}

/**
 * ornic_soft_groups_back - the netdev has come to a namespace
 * @soft: the device
 *
 * Context: RTNL held.
 */
void ornic_soft_groups_back(struct ornic_soft *soft)
{
	struct ornic_soft_group *group;

	list_for_each_entry(group, &soft->groups, link) {
		if (!group->joined && join(soft, group))
			netdev_warn(soft->netdev,
				    "ornic: cannot join %pI6c again\n",
				    &group->addr);
	}
}

/**
 * ornic_soft_groups_free - the device ends
 * @soft: the device; its QPs are gone, or it never had any
 *
 * Context: RTNL held.
 */
void ornic_soft_groups_free(struct ornic_soft *soft)
{
	struct ornic_soft_group *group, *next;

	list_for_each_entry_safe(group, next, &soft->groups, link) {
		leave(soft, group);
		list_del(&group->link);
		kfree(group);
	}
}
