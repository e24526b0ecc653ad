/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who may send and receive whole frames: the right is CAP_NET_RAW in the network
 * namespace that the netdev is in, and ends when the netdev leaves it.
 */
#ifndef ORNIC_RAW_H
#define ORNIC_RAW_H

#include <linux/mutex.h>
#include <linux/types.h>

struct net;
struct ornic_ib_dev;
struct task_struct;

/**
 * struct ornic_raw - the namespace of the netdev
 * @lock: held over what needs the right, commands among it. Inside the RTNL, and locks of
 *	QPs and WQs
 * @holder: who has it, for whom commands do not wait behind those of others
 * @net: NULL while the netdev is in none. Written under the lock and the RTNL, read
 *	under either
 * @moves: how often the netdev has left a namespace; likewise
 * @stopped: nothing has the right any more; likewise
 */
struct ornic_raw {
	struct mutex lock; /* see above */
	const struct task_struct *holder;
	struct net *net;
	u32 moves;
	bool stopped;
};

void ornic_raw_init(struct ornic_ib_dev *dev);

/**
 * ornic_raw_begin - begin what needs the right
 * @dev: the device, whose netdev stays where it is until ornic_raw_end()
 * @moves: of struct ornic_raw, when it was read under the RTNL; or NULL
 *
 * ib_uverbs checks the same for the initial namespace, or that of the ib_device,
 * which the netdev may have left. Waits for a netdev that is being moved.
 *
 * Context: process, without the RTNL; may sleep. Until ornic_raw_end() the caller neither
 * takes the RTNL nor begins again.
 * Return: 0; else nothing was begun: -EPERM if the caller does not have the right;
 * -EAGAIN if the netdev has moved since @moves.
 */
int ornic_raw_begin(struct ornic_ib_dev *dev, const u32 *moves);
void ornic_raw_end(struct ornic_ib_dev *dev);

/* The caller is between these two, or moves the netdev. */
bool ornic_raw_is_held(const struct ornic_ib_dev *dev);

/* The same check, of this moment. */
int ornic_raw_check(struct ornic_ib_dev *dev);
/* The same under the RTNL, which keeps the netdev where it is. */
int ornic_raw_check_rtnl(const struct ornic_ib_dev *dev);

/*
 * The netdev leaves its namespace, or is in one. When it has left, raw packet QPs are in
 * ERR, and flow rules take nothing. A device that does not obey has failed. Under the
 * RTNL.
 */
void ornic_raw_netdev_leaves(struct ornic_ib_dev *dev);
void ornic_raw_netdev_arrives(struct ornic_ib_dev *dev);

/* There are no QPs and rules any more, and the device is not to be told. Takes the RTNL. */
void ornic_raw_stop(struct ornic_ib_dev *dev);

#endif /* ORNIC_RAW_H */
