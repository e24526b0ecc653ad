/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The objects of the soft device: a struct ornic_soft for each `rdma link add`,
 * a struct ornic_soft_qp for each QP of it; and the entry points of
 * files that need no header of their own.
 */
#ifndef ORNIC_SOFT_H
#define ORNIC_SOFT_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "ornic_bus.h"

struct attribute_group;
struct net;
struct ornic_engine;
struct ornic_impair;
struct ornic_soft_net;
struct sock;
struct task_struct;

/* Fast receive path of a device, soft_rx_fast.c. */
struct ornic_soft_rx_fast {
	struct nf_hook_ops hook; /* of the netdev */
	bool on; /* attribute: packets may take this path */
	bool raw; /* there are flow rules: soft_raw.c sees frames first */

	/* Written while @hook is not registered. */
	struct net *net; /* in which @hook is registered */
	u64 id; /* of this registration, unique among all devices */
	struct sock *sk4; /* RoCEv2 sockets of @net */
	struct sock *sk6; /* NULL without IPv6 */
};

/* Adaptive busy poll of a device's SQs, soft_busypoll.c. */
struct ornic_soft_busypoll {
	struct work_struct work; /* polls the SQs */
	unsigned int max_idle_us; /* attribute: ends after it; 0: off */

	spinlock_t lock; /* all that follows; softirqs off */
	struct list_head fresh; /* struct ornic_soft_qp, new for @work */
	bool running; /* @work is queued or runs */
	bool stopped; /* the device is being destroyed */
	int cpu; /* candidate for @work, -1: none yet */
	u64 asked_us; /* when the idle time of @cpu was last read */
	u64 idle_us; /* idle time of @cpu at @asked_us */
};

/* Impairments of a device's packets, soft_impair.c. */
struct ornic_soft_impair {
	struct mutex rules_lock; /* changes of rules, and the static key */
	spinlock_t lock; /* the rest; softirqs off; leaf, inside sq or rq */
	struct ornic_impair *table; /* NULL: there was no rule yet */
	bool on; /* @table has rules; also read without @lock */
	struct hrtimer timer; /* of packets that are held */
	bool stopped; /* the device is being destroyed */
};

/* The way from memory to memory of another device, soft_direct.c. */
struct ornic_soft_direct {
	bool on; /* attribute: messages may take it */
	bool bridge; /* attribute: also across a bridge */
	struct ornic_soft __rcu *peer; /* at the other end of the pair, or NULL */
	unsigned long seen; /* jiffies << 1, | 1: nobody looks at packets here */
};

/* A soft device, from `rdma link add` to the end. */
struct ornic_soft {
	/* Constant once the device is registered. */
	struct ornic_bus bus; /* what ornic.ko knows of it */
	struct ornic_engine *engine;
	struct net_device *netdev; /* held with @netdev_tracker */
	netdevice_tracker netdev_tracker;
	refcount_t refs;
	u64 serial; /* never 0, nor that of another device, also of one that has gone */
	bool roce_v1; /* it has RoCE v1 */

	/* Written under the RTNL. */
	struct list_head link; /* in the list of all soft devices */
	struct ornic_soft_net *net; /* NULL: receives no packets */
	struct list_head net_link; /* in the list of @net, read under RCU */
	struct ornic_soft_rx_fast rx_fast;
	struct ornic_soft_direct direct;

	atomic_t rx_active; /* number of QPs whose rxq is not empty */
	bool rx_queues; /* attribute: long messages use the rxq of their QP */
	struct ornic_soft_busypoll busypoll;
	struct ornic_soft_impair impair;

	struct mutex lock; /* registration; outside the RTNL */
	bool registered; /* ornic_register() succeeded; @lock */
	unsigned long stopped; /* bit 0: the device is or was stopped */
	struct work_struct remove_work; /* for callers that hold the RTNL */

	struct mutex poll_lock; /* poll_thread */
	struct task_struct *poll_thread; /* NULL while it is off */
};

enum ornic_soft_qp_state {
	ORNIC_SOFT_QP_STALLED, /* waits for room in the netdev */
	ORNIC_SOFT_QP_ACTIVE, /* is being run */
	ORNIC_SOFT_QP_AGAIN, /* has to be run once more after that */
	ORNIC_SOFT_QP_KICKED, /* a kick was left to the worker */
	ORNIC_SOFT_QP_POLLED, /* is on a list of the busy poll */
};

/* Packets of long messages that a QP has yet to receive, soft_rxq.c. */
struct ornic_soft_rxq {
	struct sk_buff_head packets; /* its lock protects @cpu to @dead */
	struct work_struct work; /* receives them */
	atomic_t bytes; /* truesize of what is queued or being delivered */
	u32 seen; /* bytes of the message, at most those that make it long; a hint */
	u32 sent; /* what ornic_engine_sent() was when it began; likewise */
	bool early; /* @work receives all of the message; likewise */
	int cpu; /* where @work runs or ran last, -1: none yet */
	bool busy; /* @work runs or will: later packets must queue */
	bool expired; /* @work calls ornic_engine_expire() when it has */
	bool dead; /* the QP is being destroyed, nothing is queued */
};

/* A QP on the list of the busy poll; written by its worker. */
struct ornic_soft_polled {
	struct list_head link; /* under the lock until the worker has it */
	u32 seen; /* SQ producer, see ornic_engine_has_work() */
	unsigned long last_work; /* when there was work last, jiffies */
	bool more; /* work is left of what was seen */
};

/* What the soft device keeps for a QP. Frames in flight may outlive the QP. */
struct ornic_soft_qp {
	refcount_t refs; /* the QP, each frame in flight, the busy poll */
	atomic_t in_flight; /* frames that the netdev has not freed */
	unsigned long state; /* bits, enum ornic_soft_qp_state */

	/* Constant. */
	struct ornic_soft *soft; /* valid only while the QP exists */
	u64 serial; /* of @soft */
	u32 qpn;

	int cpu; /* that sent last, -1: none yet */
	u32 hash; /* constant: skb->hash of all frames */

	struct ornic_soft_rxq rxq;
	struct ornic_soft_polled poll;

	/*
	 * Frames in flight wake a QP that is being destroyed. @timer is started
	 * and @work queued only under @lock and while @dead is clear: what was
	 * started before @dead was set, hrtimer_cancel() and cancel_work_sync()
	 * find afterwards, and nothing is started after them.
	 */
	struct hrtimer timer; /* for all deadlines of the QP, soft_sched.c */
	struct work_struct work; /* runs the QP */
	raw_spinlock_t lock; /* the fields below; interrupts off: posts take it */
	u64 deadline; /* when to call ornic_engine_expire(), ns; 0: never */
	u64 armed; /* when @timer fires, ns; 0: it does not */
	bool dead; /* the QP is being destroyed */
};

/* What the soft device keeps for a CQ. */
struct ornic_soft_cq {
	struct ornic_soft *soft;
	u32 cqn;
	struct hrtimer timer; /* of an event that waits for completions */
};

/*
 * soft_dev.c. The caller of all but ornic_soft_create() and of the module's
 * init and exit holds the RTNL.
 *
 * ornic_soft_create() - make a soft device on @netdev, which the caller holds.
 * Returns -EEXIST if @netdev has a link, -EADDRINUSE if something else has the
 * RoCEv2 port in its network namespace, -EOPNOTSUPP, -EMSGSIZE or -EBUSY if it
 * is unusable, -ENODEV if it is being unregistered.
 * ornic_soft_remove_later() - remove a device in a worker, as ornic_unregister()
 * waits for things that need the RTNL. May be called again before that.
 * ornic_soft_find() - the soft device on @netdev or NULL; valid under the RTNL.
 * ornic_soft_dev_init() - prepare for devices.
 * ornic_soft_dev_exit() - remove all devices and wait until they are freed,
 * including those that are being removed already.
 */
int ornic_soft_create(const char *name, struct net_device *netdev);
void ornic_soft_remove_later(struct ornic_soft *soft);
struct ornic_soft *ornic_soft_find(const struct net_device *netdev);
int ornic_soft_dev_init(void);
void ornic_soft_dev_exit(void);

extern const struct attribute_group ornic_soft_attr_group;

/*
 * soft_net.c
 *
 * ornic_soft_net_join() - receive the packets of @soft's netdev, whose namespace
 * is @net: of RoCEv2 by UDP, of RoCE v1 by their Ethertype. Under the RTNL. Returns
 * -EADDRINUSE if something else has the RoCEv2 port in @net, or another error of the
 * sockets.
 * ornic_soft_net_leave() - receive no more; nothing happens if it does not. On
 * return no packet is being received, except those that QPs have queued. Under
 * the RTNL, since a netdev that changes its namespace takes its hooks along.
 * ornic_soft_net_init() - follow network namespaces.
 * ornic_soft_net_exit() - stop following them; no device is left.
 */
int ornic_soft_net_join(struct ornic_soft *soft, struct net *net);
void ornic_soft_net_leave(struct ornic_soft *soft);
int ornic_soft_net_init(void);
void ornic_soft_net_exit(void);

/*
 * soft_netdev.c
 *
 * ornic_soft_netdev_init() - follow netdevs.
 * ornic_soft_netdev_exit() - stop following them.
 */
int ornic_soft_netdev_init(void);
void ornic_soft_netdev_exit(void);

/*
 * soft_poll.c
 *
 * ornic_soft_poll_set() - start or stop the poll thread. Sleeps.
 */
int ornic_soft_poll_set(struct ornic_soft *soft, bool on);

#endif /* ORNIC_SOFT_H */
