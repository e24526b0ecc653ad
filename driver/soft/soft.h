/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_H
#define ORNIC_SOFT_H

#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "ornic_bus.h"
#include "soft_rx_fast.h"
#include "soft_busypoll.h"

struct ornic_engine;
struct ornic_soft_net;
struct task_struct;

/**
 * struct ornic_soft - one soft device, from `rdma link add` to the end
 * @bus: what ornic.ko knows of it
 * @engine: the device itself
 * @netdev: its Ethernet side, held with @netdev_tracker
 * @netdev_tracker: see @netdev
 * @dev: virtual parent of the ib_device; its references keep this structure
 * @id: number in the name of @dev
 * @link: in the list of all soft devices; RTNL
 * @net: network namespace that packets are taken from, NULL while there is
 *	none; written under the RTNL
 * @net_link: in @net's list, read under RCU
 * @rx_fast: the fast receive path, see soft_rx_fast.c
 * @qps: struct ornic_soft_qp by QPN
 * @rx_active: @qps whose packets are queued, see soft_rxq.c
 * @rx_queues: attribute: long messages go through the queues of @qps
 * @busypoll: looks at the SQs that are posted to, see soft_busypoll.c
 * @lock: ornic_register and ornic_unregister; taken outside the RTNL
 * @registered: ornic_register succeeded; protected by @lock
 * @stopped: bit 0: somebody stops or has stopped the device
 * @remove_work: removes it, for contexts that hold the RTNL
 * @poll_lock: protects @poll_thread
 * @poll_thread: NULL while it is off
 */
struct ornic_soft {
	struct ornic_bus bus;
	struct ornic_engine *engine;
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	struct device dev;
	int id;
	struct list_head link;
	struct ornic_soft_net *net;
	struct list_head net_link;
	struct ornic_soft_rx_fast rx_fast;
	struct xarray qps;
	atomic_t rx_active;
	bool rx_queues;
	struct ornic_soft_busypoll busypoll;
	struct mutex lock; /* registration */
	bool registered;
	unsigned long stopped;
	struct work_struct remove_work;
	struct mutex poll_lock; /* poll_thread */
	struct task_struct *poll_thread;
};

int ornic_soft_create(const char *name, struct net_device *netdev);
void ornic_soft_remove_later(struct ornic_soft *soft);
struct ornic_soft *ornic_soft_find(const struct net_device *netdev);
int ornic_soft_dev_init(void);
void ornic_soft_dev_exit(void);

#endif /* ORNIC_SOFT_H */
