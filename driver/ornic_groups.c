// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups of the netdev: IP joins them, which opens the filter of the
 * netdev for their Ethernet addresses, lets IP deliver their packets to the
 * sockets of the host and reports them by IGMP or MLD. Each group is joined
 * once, however many QPs are attached; IP counts the joins of others.
 *
 * IP forgets its groups when the netdev leaves a namespace, and while its MTU is
 * too small for IP. The list here tells what to join then.
 *
 * The groups are those of the netdev itself. For packets that come through a
 * VLAN on it, who attaches must join there; rdma_cm does.
 */
#include "ornic_groups.h"

#include <linux/export.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>

/**
 * struct ornic_group - a group that QPs are attached to
 * @link: in ornic_groups.list
 * @addr: the group: IPv6, or IPv4 mapped
 * @users: attachments
 * @joined: IP has it
 */
struct ornic_group {
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

/* IP takes itself, and its groups, from a netdev with a smaller MTU. */
static bool mtu_fits(const struct ornic_groups *groups,
		     const struct ornic_group *group)
{
	u32 least = ipv6_addr_v4mapped(&group->addr) ? IPV4_MIN_MTU :
						       IPV6_MIN_MTU;

	return READ_ONCE(groups->netdev->mtu) >= least;
}

static int join(struct ornic_groups *groups, struct ornic_group *group)
{
	int err;

	ASSERT_RTNL();
	if (ipv6_addr_v4mapped(&group->addr))
		err = join_ipv4(groups->netdev, group->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		err = ipv6_dev_mc_inc(groups->netdev, &group->addr);
	else
		err = -EAFNOSUPPORT;
	group->joined = !err;
	return err;
}

static void leave(struct ornic_groups *groups, struct ornic_group *group)
{
	ASSERT_RTNL();
	if (!group->joined)
		return;
	group->joined = false;
	if (ipv6_addr_v4mapped(&group->addr))
		leave_ipv4(groups->netdev, group->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_mc_dec(groups->netdev, &group->addr);
}

static struct ornic_group *find(struct ornic_groups *groups, const u8 *mgid)
{
	struct ornic_group *group;

	list_for_each_entry(group, &groups->list, link)
		if (!memcmp(&group->addr, mgid, sizeof(group->addr)))
			return group;
	return NULL;
}

static int join_first(struct ornic_groups *groups, const u8 *mgid)
{
	struct ornic_group *group;
	int err;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	memcpy(&group->addr, mgid, sizeof(group->addr));
	group->users = 1;
	err = join(groups, group);
	if (err) {
		kfree(group);
		return err;
	}
	list_add_tail(&group->link, &groups->list);
	return 0;
}

/**
 * ornic_groups_init - begin without groups
 * @groups: filled in
 *
 * Context: any.
 */
void ornic_groups_init(struct ornic_groups *groups)
{
	groups->netdev = NULL;
	INIT_LIST_HEAD(&groups->list);
}
EXPORT_SYMBOL_GPL(ornic_groups_init);

/**
 * ornic_groups_open - say which netdev is to join
 * @groups: without groups
 * @netdev: held by the caller until ornic_groups_close()
 *
 * Context: any, before the first join.
 */
void ornic_groups_open(struct ornic_groups *groups, struct net_device *netdev)
{
	groups->netdev = netdev;
}
EXPORT_SYMBOL_GPL(ornic_groups_open);

/**
 * ornic_groups_join - join a group once more
 * @groups: of the device
 * @mgid: 16 bytes: an IPv6 group, or an IPv4 group mapped
 *
 * Context: Process context, RTNL not held.
 * Return: 0; -ENODEV, -EINVAL or -EAFNOSUPPORT if the netdev has no such
 * protocol; -ENOMEM.
 */
int ornic_groups_join(struct ornic_groups *groups, const u8 *mgid)
{
	struct ornic_group *group;
	int err = 0;

	rtnl_lock();
	group = find(groups, mgid);
	if (group)
		group->users++;
	else
		err = join_first(groups, mgid);
	rtnl_unlock();
	return err;
}

/**
 * ornic_groups_leave - undo a join
 * @groups: of the device
 * @mgid: the group of an earlier ornic_groups_join
 *
 * Context: Process context, RTNL not held.
 */
void ornic_groups_leave(struct ornic_groups *groups, const u8 *mgid)
{
	struct ornic_group *group;

	rtnl_lock();
	group = find(groups, mgid);
	if (!WARN_ON_ONCE(!group) && !--group->users) {
		leave(groups, group);
		list_del(&group->link);
		kfree(group);
	}
	rtnl_unlock();
}

/**
 * ornic_groups_gone - the netdev leaves its namespace
 * @groups: of the device
 *
 * Context: RTNL held.
 */
void ornic_groups_gone(struct ornic_groups *groups)
{
	struct ornic_group *group;

	list_for_each_entry(group, &groups->list, link)
		leave(groups, group);
}
EXPORT_SYMBOL_GPL(ornic_groups_gone);

/**
 * ornic_groups_fit_mtu - leave what IP is about to forget
 * @groups: of the device, whose netdev has got another MTU
 *
 * Context: RTNL held, before IP sees the MTU. ornic_groups_back() after that.
 */
void ornic_groups_fit_mtu(struct ornic_groups *groups)
{
	struct ornic_group *group;

	list_for_each_entry(group, &groups->list, link)
		if (!mtu_fits(groups, group))
			leave(groups, group);
}

/**
 * ornic_groups_back - the netdev has come to a namespace, or IP to the netdev
 * @groups: of the device
 *
 * Context: RTNL held.
 */
void ornic_groups_back(struct ornic_groups *groups)
{
	struct ornic_group *group;

	list_for_each_entry(group, &groups->list, link) {
		if (!group->joined && mtu_fits(groups, group) &&
		    join(groups, group))
			netdev_warn(groups->netdev,
				    "ornic: cannot join %pI6c again\n",
				    &group->addr);
	}
}
EXPORT_SYMBOL_GPL(ornic_groups_back);

/**
 * ornic_groups_close - the device lets go of its netdev
 * @groups: of a device whose QPs are gone, or which never had any
 *
 * Context: RTNL held.
 */
void ornic_groups_close(struct ornic_groups *groups)
{
	struct ornic_group *group, *next;

	list_for_each_entry_safe(group, next, &groups->list, link) {
		leave(groups, group);
		list_del(&group->link);
		kfree(group);
	}
}
EXPORT_SYMBOL_GPL(ornic_groups_close);
