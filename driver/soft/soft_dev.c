// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of a soft device. `rdma link add` creates it; `rdma link delete`, and the
 * end of its netdev or of the module, stop it. The first of these sets
 * ornic_soft::stopped, the others return. The structure is freed with its last
 * reference.
 *
 * The ib_device has a virtual parent, not the parent of the netdev, by whose
 * modalias the provider of that hardware would claim it.
 */
#include "soft.h"

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "engine/engine.h"
#include "soft_busypoll.h"
#include "soft_direct.h"
#include "soft_impair.h"
#include "soft_raw.h"
#include "soft_rx.h"
#include "soft_sched.h"
#include "soft_trace.h"
#include "soft_tx.h"

/* Device memory: of all users of a device, whose cgroups it is charged to. */
#define DM_BYTES (16ull << 20)

/*
 * What a device may take for packets that are out of order: 1/64 of the memory,
 * within these bounds, bytes.
 */
#define SPARE_SHIFT 6
#define MIN_SPARE (4ull << 20)
#define MAX_SPARE (256ull << 20)

/* IPv6, UDP, BTH, RETH, immediate, ICRC around the smallest RoCE MTU. */
#define MIN_NETDEV_MTU (256 + 40 + 8 + 12 + 16 + 4 + 4)

/*
 * Off by default: ib_core puts the GID of RoCE v1 before that of RoCEv2 for each
 * address, so that index 0 would not reach devices of RoCEv2 only; and no rule of IP
 * applies to RoCE v1. `rdma link add` has no options of a driver.
 */
static bool roce_v1;
module_param(roce_v1, bool, 0644);
MODULE_PARM_DESC(
	roce_v1,
	"Links added from now on have RoCE v1 beside RoCEv2 (default: N)");

static LIST_HEAD(devices); /* RTNL */
static atomic_t num_devices = ATOMIC_INIT(0);
static struct workqueue_struct *remove_wq;

static void soft_get(struct ornic_soft *soft)
{
	refcount_inc(&soft->refs);
}

static void soft_put(struct ornic_soft *soft)
{
	if (!refcount_dec_and_test(&soft->refs))
		return;
	kvfree(soft->impair.table);
	kfree(soft);

	/* ornic_soft_dev_exit() waits; see also ornic_soft_sched_exit(). */
	if (atomic_dec_and_test(&num_devices))
		wake_up_var(&num_devices);
}

/* ---- ornic_engine_ops ---------------------------------------------------- */

static bool is_mapped(uintptr_t first, uintptr_t last)
{
	return virt_addr_valid((void *)first) &&
	       (first >> PAGE_SHIFT == last >> PAGE_SHIFT ||
		virt_addr_valid((void *)last));
}

/*
 * With ib_core's virtual DMA a DMA address is a kernel virtual address. It comes
 * from the driver, which has pinned or allocated the memory, or from a peer that has
 * a key of all DMA memory: what passes must be mapped.
 */
static void *engine_dma(void *host, u64 addr, u64 len)
{
	uintptr_t first = addr;

	if (!len || first != addr || first + (len - 1) < first ||
	    !is_mapped(first, first + (len - 1)))
		return NULL;
	return (void *)first;
}

/* Or what the driver has had an exporter map, which it alone knows to be mapped. */
static void *engine_run(void *host, u64 addr, u64 len)
{
	uintptr_t first = addr;

	if (len && first == addr && first + (len - 1) >= first &&
	    is_vmalloc_addr((void *)first) &&
	    is_vmalloc_addr((void *)(first + (len - 1))))
		return (void *)first;
	return engine_dma(host, addr, len);
}

static u64 engine_now(void *host)
{
	return ktime_get_ns();
}

static u32 engine_random(void *host)
{
	return get_random_u32();
}

static void engine_event(void *host, const struct ornic_eqe *eqe)
{
	struct ornic_soft *soft = host;

	ornic_event(&soft->bus, eqe);
}

static void engine_relax(void *host)
{
	cond_resched();
}

static struct ornic_engine_ops engine_ops = {
	.dma = engine_dma,
	.run = engine_run,
	.tx_room = ornic_soft_tx_room,
	.tx_frame = ornic_soft_tx_frame,
	.xmit = ornic_soft_xmit,
#ifdef CONFIG_NETFILTER_INGRESS
	.tx_drop = ornic_soft_tx_drop,
	.is_own = ornic_soft_is_own,
	.raw_wanted = ornic_soft_raw_wanted,
	.direct = ornic_soft_direct,
#endif
	.rx_keep = ornic_soft_rx_keep,
	.rx_free = ornic_soft_rx_free,
	.deadline = ornic_soft_deadline,
	.resched = ornic_soft_resched,
	.event = engine_event,
	.now = engine_now,
	.random = engine_random,
	.qp_init = ornic_soft_qp_init,
	.qp_fini = ornic_soft_qp_fini,
	.cq_init = ornic_soft_cq_init,
	.cq_fini = ornic_soft_cq_fini,
	.cq_deadline = ornic_soft_cq_deadline,
	.relax = engine_relax,
	.paging = IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING),
	.host_cq_size = sizeof(struct ornic_soft_cq),
	.trace = ornic_soft_trace,
	.host_qp_size = sizeof(struct ornic_soft_qp *),
};

/* ---- ornic_bus_ops ------------------------------------------------------- */

static int bus_cmd(struct ornic_bus *bus, const union ornic_req *req,
		   union ornic_rsp *rsp, bool first)
{
	struct ornic_soft *soft = container_of(bus, struct ornic_soft, bus);

	ornic_engine_cmd(soft->engine, req, rsp);
	return 0;
}

static void soft_stop(struct ornic_soft *soft);

static void bus_removing(struct ornic_bus *bus)
{
	soft_stop(container_of(bus, struct ornic_soft, bus));
}

static const struct ornic_bus_ops bus_ops = {
	.cmd = bus_cmd,
	.kick = ornic_soft_kick,
	.removing = bus_removing,
};

/* ---- All soft devices ---------------------------------------------------- */

struct ornic_soft *ornic_soft_find(const struct net_device *netdev)
{
	struct ornic_soft *soft;

	ASSERT_RTNL();
	list_for_each_entry(soft, &devices, link)
		if (soft->netdev == netdev)
			return soft;
	return NULL;
}

/* ---- Removal ------------------------------------------------------------- */

static void soft_detach(struct ornic_soft *soft)
{
	rtnl_lock();
	list_del_init(&soft->link);
	ornic_soft_direct_part(soft);
	ornic_soft_net_leave(soft);
	rtnl_unlock();
}

/* The ib_device is gone or was never there: no command or kick comes. */
static void soft_stop(struct ornic_soft *soft)
{
	if (test_and_set_bit(0, &soft->stopped))
		return;

	soft_detach(soft);
	ornic_soft_poll_set(soft, false);
	ornic_soft_busypoll_stop(&soft->busypoll);
	ornic_soft_impair_stop(soft);
	ornic_engine_destroy(soft->engine);
	netdev_put(soft->netdev, &soft->netdev_tracker);
	ornic_parent_del(soft->bus.parent);
	soft_put(soft);
}

static void remove_work(struct work_struct *work)
{
	struct ornic_soft *soft =
		container_of(work, struct ornic_soft, remove_work);

	mutex_lock(&soft->lock);
	if (soft->registered) {
		ornic_unregister(&soft->bus);
		soft_stop(soft);
	}
	mutex_unlock(&soft->lock);
	soft_put(soft);
}

void ornic_soft_remove_later(struct ornic_soft *soft)
{
	ASSERT_RTNL();
	soft_get(soft);
	if (!queue_work(remove_wq, &soft->remove_work))
		soft_put(soft);
}

/* ---- Creation ------------------------------------------------------------ */

static int check_netdev(struct net_device *netdev)
{
	const struct net_device *master = netdev_master_upper_dev_get(netdev);

	if (netdev->flags & IFF_LOOPBACK) {
		netdev_err(netdev,
			   "ornic: loopback devices are not supported\n");
		return -EOPNOTSUPP;
	}
	if (netdev->type != ARPHRD_ETHER || netdev->addr_len != ETH_ALEN) {
		netdev_err(netdev, "ornic: not an Ethernet device, type %u\n",
			   netdev->type);
		return -EOPNOTSUPP;
	}
	if (netdev->mtu < MIN_NETDEV_MTU) {
		netdev_err(netdev, "ornic: MTU %u is below %u\n", netdev->mtu,
			   MIN_NETDEV_MTU);
		return -EMSGSIZE;
	}
	/* A bridge, bond, team or VRF. */
	if (master) {
		netdev_err(netdev, "ornic: is a port of %s\n", master->name);
		return -EBUSY;
	}
	return 0;
}

/* Fails if the netdev is being unregistered. */
static int soft_attach(struct ornic_soft *soft)
{
	struct net_device *netdev = soft->netdev;
	int err;

	ASSERT_RTNL();
	if (netdev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (ornic_soft_find(netdev)) {
		netdev_err(netdev, "ornic: already has a link\n");
		return -EEXIST;
	}
	err = check_netdev(netdev);
	if (err)
		return err;
	err = ornic_soft_net_join(soft, dev_net(netdev));
	if (err)
		return err;
	list_add_tail(&soft->link, &devices);
	ornic_soft_direct_pair(soft);
	return 0;
}

static void soft_init(struct ornic_soft *soft, struct net_device *netdev)
{
	static atomic64_t last_serial = ATOMIC64_INIT(0);

	refcount_set(&soft->refs, 1);
	soft->serial = atomic64_inc_return(&last_serial);
	INIT_LIST_HEAD(&soft->link);
	INIT_LIST_HEAD(&soft->net_link);
	mutex_init(&soft->lock);
	mutex_init(&soft->poll_lock);
	ornic_soft_busypoll_init(&soft->busypoll);
	ornic_soft_impair_init(soft);
	soft->rx_fast.on = true;
	soft->direct.on = true;
	soft->rx_queues = true;
	INIT_WORK(&soft->remove_work, remove_work);

	soft->netdev = netdev;
	soft->bus.ops = &bus_ops;
	soft->bus.netdev = netdev;
	soft->bus.kick_mode = ORNIC_KICK_FD;
	soft->bus.allow_user_unreg = true;
	soft->bus.max_dm = DM_BYTES;
	soft->bus.attrs = &ornic_soft_attr_group;
}

static struct ornic_soft *soft_alloc(struct net_device *netdev)
{
	struct ornic_soft *soft;

	soft = kzalloc(sizeof(*soft), GFP_KERNEL);
	if (!soft)
		return NULL;
	atomic_inc(&num_devices);
	soft_init(soft, netdev);
	return soft;
}

/*
 * Register @soft as @name; on failure the caller still owns everything. The
 * netdev may change its namespace meanwhile, so the namespace is held: it must
 * exist until ib_core knows the device and moves it out.
 */
static int soft_register(struct ornic_soft *soft, const char *name)
{
	struct net *net = NULL;
	int err;

	rtnl_lock();
	err = soft_attach(soft);
	if (!err)
		net = maybe_get_net(dev_net(soft->netdev));
	rtnl_unlock();
	if (err)
		return err;
	soft->bus.net = net;
	err = ornic_register(&soft->bus, name);
	if (err)
		soft_detach(soft);
	if (net)
		put_net(net);
	return err;
}

/* A link that an event of @netdev removes is in the way until it is gone. */
static void wait_for_removal(const struct net_device *netdev)
{
	struct ornic_soft *soft;

	rtnl_lock();
	soft = ornic_soft_find(netdev);
	if (soft)
		soft_get(soft);
	rtnl_unlock();
	if (!soft)
		return;
	flush_work(&soft->remove_work);
	soft_put(soft);
}

/*
 * What the GUID is made of. A netdev without ARP may have no address, as those of netkit in
 * its default mode; ipvlans, and some ports, have that of another and differ in dev_id.
 */
static void name_device(const struct net_device *netdev, u8 *mac)
{
	ether_addr_copy(mac, netdev->dev_addr);
	if (!is_valid_ether_addr(mac)) {
		eth_random_addr(mac);
	} else if (netdev->dev_id) {
		mac[0] ^= 2;
		mac[3] ^= netdev->dev_id >> 8;
		mac[4] ^= netdev->dev_id & 0xff;
	}
}

static int create_engine(struct ornic_soft *soft)
{
	u8 mac[ETH_ALEN];

	name_device(soft->netdev, mac);
	soft->engine = ornic_engine_create(&engine_ops, soft, mac);
	if (!soft->engine)
		return -ENOMEM;
	soft->roce_v1 = READ_ONCE(roce_v1);
	ornic_engine_set_roce_v1(soft->engine, soft->roce_v1);
	return 0;
}

int ornic_soft_create(const char *name, struct net_device *netdev)
{
	struct ornic_soft *soft;
	struct device *parent;
	int err;

	wait_for_removal(netdev);
	soft = soft_alloc(netdev);
	if (!soft)
		return -ENOMEM;
	err = create_engine(soft);
	if (err)
		goto err_put;
	parent = ornic_parent_add();
	if (IS_ERR(parent)) {
		err = PTR_ERR(parent);
		goto err_engine;
	}
	dev_set_drvdata(parent, soft);
	soft->bus.parent = parent;

	/* Once it is registered, it may be removed at any time. */
	soft_get(soft);
	netdev_hold(netdev, &soft->netdev_tracker, GFP_KERNEL);
	mutex_lock(&soft->lock);
	err = soft_register(soft, name);
	soft->registered = !err;
	mutex_unlock(&soft->lock);
	if (err)
		goto err_netdev;
	soft_put(soft);
	return 0;

err_netdev:
	/* Its attributes existed for a moment. */
	ornic_soft_poll_set(soft, false);
	ornic_soft_busypoll_stop(&soft->busypoll);
	ornic_soft_impair_stop(soft);
	netdev_put(netdev, &soft->netdev_tracker);
	soft_put(soft);
	ornic_parent_del(parent);
err_engine:
	ornic_engine_destroy(soft->engine);
err_put:
	soft_put(soft);
	return err;
}

/* ---- The module ---------------------------------------------------------- */

int ornic_soft_dev_init(void)
{
	engine_ops.num_vectors = min(num_possible_cpus(), U8_MAX);
	engine_ops.max_spare =
		clamp_t(u64, (u64)totalram_pages() << PAGE_SHIFT >> SPARE_SHIFT,
			MIN_SPARE, MAX_SPARE);
	remove_wq = alloc_workqueue("ornic_remove", WQ_UNBOUND, 0);
	return remove_wq ? 0 : -ENOMEM;
}

void ornic_soft_dev_exit(void)
{
	struct ornic_soft *soft;

	rtnl_lock();
	list_for_each_entry(soft, &devices, link)
		ornic_soft_remove_later(soft);
	rtnl_unlock();
	wait_var_event(&num_devices, !atomic_read(&num_devices));
	destroy_workqueue(remove_wq);
}
