// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic_soft.ko: the engine on a netdev.
 *
 *	rdma link add ornic0 type ornic netdev eth0
 *	rdma link delete ornic0
 */
#include <linux/kconfig.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "engine/engine.h"
#include "soft.h"
#include "soft_rx_fast.h"
#include "soft_sched.h"

/* An external module has no Kconfig file with "depends on". */
#if !IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA)
#error "ornic_soft needs CONFIG_INFINIBAND_VIRT_DMA, which is off with HIGHMEM"
#endif
#if !IS_ENABLED(CONFIG_NET_UDP_TUNNEL)
#error "ornic_soft needs CONFIG_NET_UDP_TUNNEL"
#endif

static struct rdma_link_ops link_ops = {
	.type = "ornic",
	.newlink = ornic_soft_create,
};

static u64 clock_ns(void)
{
	return ktime_get_ns();
}

static void select_crc32(void)
{
	const struct ornic_crc32_choice *choice = ornic_crc32_select(clock_ns);

	pr_info("ornic: CRC-32 of %zu bytes and more by %s, %u MB/s (%s %u MB/s)\n",
		choice->min_len, choice->algo->name, choice->speed,
		ornic_crc32_algos[0].name, choice->table_speed);
	if (choice->wrong)
		pr_warn("ornic: CRC-32 by %s is wrong on this CPU and not used\n",
			choice->wrong->name);
}

static int __init soft_init(void)
{
	int err;

	select_crc32();
	err = ornic_soft_sched_init();
	if (err)
		return err;
	err = ornic_soft_dev_init();
	if (err)
		goto err_sched;
	err = ornic_soft_rx_fast_init();
	if (err)
		goto err_dev;
	err = ornic_soft_net_init();
	if (err)
		goto err_rx_fast;
	err = ornic_soft_netdev_init();
	if (err)
		goto err_net;
	rdma_link_register(&link_ops);
	return 0;

err_net:
	ornic_soft_net_exit();
err_rx_fast:
	ornic_soft_rx_fast_exit();
err_dev:
	ornic_soft_dev_exit();
err_sched:
	ornic_soft_sched_exit();
	return err;
}

/*
 * Unregistering the notifier replays NETDEV_UNREGISTER, as if all netdevs moved
 * to another namespace. From then on a netdev that is unregistered waits for
 * ornic_soft_dev_exit().
 */
static void __exit soft_exit(void)
{
	rdma_link_unregister(&link_ops);
	ornic_soft_netdev_exit();
	ornic_soft_dev_exit();
	ornic_soft_net_exit();
	ornic_soft_rx_fast_exit();
	ornic_soft_sched_exit();
}

module_init(soft_init);
module_exit(soft_exit);

MODULE_DESCRIPTION("ornic soft device: RoCEv2 on any Ethernet netdev");
MODULE_AUTHOR("The ornic developers");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(ORNIC_VERSION);
MODULE_ALIAS_RDMA_LINK("ornic");
