// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups of the netdev: IP joins them, which opens the filter of the
 * netdev for their Ethernet addresses, lets IP deliver their packets to the
 * sockets of the host and reports them by IGMP or MLD. Each group is joined
 * once, however many QPs are attached; IP counts the joins of others.
 *
 * IP drops its groups when the netdev leaves a namespace, and while its MTU is
 * too small for IP. The list here is joined again afterwards.
 *
 * The groups are those of the netdev itself. For packets that come through a
 * VLAN on it, the program that attaches must join there; rdma_cm does.
 */
#include "ornic_netdev_mcast.h"

#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>

/* A group that QPs are attached to. */
struct ornic_netdev_group {
	struct list_head link; /* in ornic_netdev_mcast.list */
	struct in6_addr addr; /* the group: IPv6, or IPv4 mapped */
	u32 users; /* attachments */
	bool joined; /* by IP */
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

/* IP leaves a netdev with a smaller MTU, and drops its groups. */
static bool mtu_fits(const struct ornic_netdev_mcast *mcast,
		     const struct ornic_netdev_group *group)
{
	u32 least = ipv6_addr_v4mapped(&group->addr) ? IPV4_MIN_MTU :
						       IPV6_MIN_MTU;

	return READ_ONCE(mcast->netdev->mtu) >= least;
}

static int group_join(struct ornic_netdev_mcast *mcast,
		      struct ornic_netdev_group *group)
{
	int err;

	ASSERT_RTNL();
	if (ipv6_addr_v4mapped(&group->addr))
		err = join_ipv4(mcast->netdev, group->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		err = ipv6_dev_mc_inc(mcast->netdev, &group->addr);
	else
		err = -EAFNOSUPPORT;
	group->joined = !err;
	return err;
}

static void group_leave(struct ornic_netdev_mcast *mcast,
			struct ornic_netdev_group *group)
{
	ASSERT_RTNL();
	if (!group->joined)
		return;
	group->joined = false;
	if (ipv6_addr_v4mapped(&group->addr))
		leave_ipv4(mcast->netdev, group->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_mc_dec(mcast->netdev, &group->addr);
}

static struct ornic_netdev_group *group_find(struct ornic_netdev_mcast *mcast,
					     const u8 *mgid)
{
	struct ornic_netdev_group *group;

	list_for_each_entry(group, &mcast->list, link)
		if (!memcmp(&group->addr, mgid, sizeof(group->addr)))
			return group;
	return NULL;
}

static int join_first(struct ornic_netdev_mcast *mcast, const u8 *mgid)
{
	struct ornic_netdev_group *group;
	int err;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	memcpy(&group->addr, mgid, sizeof(group->addr));
	group->users = 1;
	err = group_join(mcast, group);
	if (err) {
		kfree(group);
		return err;
	}
	list_add_tail(&group->link, &mcast->list);
	return 0;
}

/* The bus holds @netdev until ornic_netdev_mcast_close(). */
void ornic_netdev_mcast_init(struct ornic_netdev_mcast *mcast,
			     struct net_device *netdev)
{
	mcast->netdev = netdev;
	INIT_LIST_HEAD(&mcast->list);
}

/*
 * Takes the RTNL. @mgid is an IPv6 group, or an IPv4 group mapped. Returns
 * -ENODEV, -EINVAL or -EAFNOSUPPORT if the netdev lacks the protocol.
 */
int ornic_netdev_mcast_join(struct ornic_netdev_mcast *mcast, const u8 *mgid)
{
	struct ornic_netdev_group *group;
	int err = 0;

	rtnl_lock();
	group = group_find(mcast, mgid);
	if (group)
		group->users++;
	else
		err = join_first(mcast, mgid);
	rtnl_unlock();
	return err;
}

/* Takes the RTNL. */
void ornic_netdev_mcast_leave(struct ornic_netdev_mcast *mcast, const u8 *mgid)
{
	struct ornic_netdev_group *group;

	rtnl_lock();
	group = group_find(mcast, mgid);
	if (!WARN_ON_ONCE(!group) && !--group->users) {
		group_leave(mcast, group);
		list_del(&group->link);
		kfree(group);
	}
	rtnl_unlock();
}

/* The netdev leaves its namespace. RTNL held. */
void ornic_netdev_mcast_leave_all(struct ornic_netdev_mcast *mcast)
{
	struct ornic_netdev_group *group;

	list_for_each_entry(group, &mcast->list, link)
		group_leave(mcast, group);
}

/*
 * IP is about to drop its groups because of the new MTU: leave them first. RTNL
 * held.
 */
void ornic_netdev_mcast_fit_mtu(struct ornic_netdev_mcast *mcast)
{
	struct ornic_netdev_group *group;

	list_for_each_entry(group, &mcast->list, link)
		if (!mtu_fits(mcast, group))
			group_leave(mcast, group);
}

/*
 * The netdev has arrived in a namespace, or IP has accepted its MTU again. RTNL
 * held.
 */
void ornic_netdev_mcast_rejoin(struct ornic_netdev_mcast *mcast)
{
	struct ornic_netdev_group *group;

	if (mcast->netdev->reg_state != NETREG_REGISTERED)
		return;
	list_for_each_entry(group, &mcast->list, link) {
		if (!group->joined && mtu_fits(mcast, group) &&
		    group_join(mcast, group))
			netdev_warn(mcast->netdev,
				    "ornic: cannot rejoin %pI6c\n",
				    &group->addr);
	}
}

/* RTNL held; all QPs are gone. */
void ornic_netdev_mcast_close(struct ornic_netdev_mcast *mcast)
{
	struct ornic_netdev_group *group, *next;

	list_for_each_entry_safe(group, next, &mcast->list, link) {
		group_leave(mcast, group);
		list_del(&group->link);
		kfree(group);
	}
}
