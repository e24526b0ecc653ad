// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration and removal of devices.
 *
 * A device is removed in one of two ways, which may race:
 *  - the bus calls ornic_unregister(), because its netdev, its PCI function or
 *    its module goes away;
 *  - `rdma link delete`: ib_core unregisters it. ib_core lets one of them
 *    through and makes the other wait. Both end in dealloc_driver(). If the bus
 *    has not called ornic_unregister() by then, it is notified by @removing,
 *    under the lifetime lock. So ornic_unregister() does the work, or waits for
 *    the other way to finish it, or finds bus->dev NULL; in each case no
 *    @removing of this bus runs when it returns.
 *
 * Lock order: unregistration lock of ib_core, lifetime lock, locks of the bus.
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <net/addrconf.h>
#include <rdma/ib_verbs.h>
#include <rdma/ornic-layout.h>

#include "compat/compat_ops.h"
#include "ornic_ah.h"
#include "ornic_bus.h"
#include "ornic_clock.h"
#include "ornic_cmd.h"
#include "ornic_cq.h"
#include "ornic_dev.h"
#include "ornic_dm.h"
#include "ornic_event.h"
#include "ornic_odp.h"
#include "ornic_parent.h"
#include "ornic_pd.h"
#include "ornic_poll.h"
#include "ornic_port.h"
#include "ornic_qp.h"
#include "ornic_srq.h"
#include "ornic_ucontext.h"
#include "ornic_verbs.h"
#include "pci/pci_main.h"

/* Protects bus->dev and ornic_ib_dev.bus_unregisters of all devices. */
static DEFINE_MUTEX(lifetime_lock);

static void dealloc_driver(struct ib_device *ibdev)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);
	struct ornic_bus *bus = dev->bus;

	ornic_port_stop(dev);
	ornic_odp_stop(dev);
	ornic_dm_pool_close(dev);

	mutex_lock(&lifetime_lock);
	WRITE_ONCE(bus->dev, NULL);
	/* Writes to doorbell files and events that began before. */
	synchronize_rcu();
	cancel_work_sync(&dev->flush_work);
	cancel_delayed_work_sync(&dev->pkey_work);
	WARN_ON_ONCE(!xa_empty(&dev->cqs) || !xa_empty(&dev->qps) ||
		     !xa_empty(&dev->wqs) || !xa_empty(&dev->srqs));
	WARN_ON_ONCE(!ida_is_empty(&dev->pdns) || !ida_is_empty(&dev->xrcdns) ||
		     !ida_is_empty(&dev->rwq_tables));
	if (!dev->bus_unregisters && bus->ops->removing)
		bus->ops->removing(bus);
	mutex_unlock(&lifetime_lock);
}

/* Called before clients are added, also to a device that has changed its net. */
static int enable_driver(struct ib_device *ibdev)
{
	WRITE_ONCE(to_odev(ibdev)->disabled, false);
	return 0;
}

/* clang-format off */

static const struct ib_device_ops ornic_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = ORNIC_ABI_VERSION,

	.add_gid = ornic_ib_add_gid,
	.alloc_dm = ornic_ib_alloc_dm,
	.alloc_hw_port_stats = ornic_ib_alloc_hw_port_stats,
	.alloc_mr = ornic_ib_alloc_mr,
	.alloc_mw = ornic_ib_alloc_mw,
	.alloc_pd = ornic_ib_alloc_pd,
	.alloc_ucontext = ornic_ib_alloc_ucontext,
	.alloc_xrcd = ornic_ib_alloc_xrcd,
	.attach_mcast = ornic_ib_attach_mcast,
	.counter_alloc_stats = ornic_ib_counter_alloc_stats,
	.counter_dealloc = ornic_ib_counter_dealloc,
	.counter_update_stats = ornic_ib_counter_update_stats,
	.create_ah = ornic_ib_create_ah,
	.create_flow = ornic_ib_create_flow,
	.create_qp = ornic_ib_create_qp,
	.create_rwq_ind_table = ornic_ib_create_rwq_ind_table,
	.create_srq = ornic_ib_create_srq,
	.create_user_ah = ornic_ib_create_ah,
	.create_wq = ornic_ib_create_wq,
	.dealloc_dm = ornic_ib_dealloc_dm,
	.dealloc_driver = dealloc_driver,
	.dealloc_mw = ornic_ib_dealloc_mw,
	.dealloc_pd = ornic_ib_dealloc_pd,
	.dealloc_ucontext = ornic_ib_dealloc_ucontext,
	.dealloc_xrcd = ornic_ib_dealloc_xrcd,
	.del_gid = ornic_ib_del_gid,
	.dereg_mr = ornic_ib_dereg_mr,
	.destroy_ah = ornic_ib_destroy_ah,
	.destroy_cq = ornic_ib_destroy_cq,
	.destroy_flow = ornic_ib_destroy_flow,
	.destroy_qp = ornic_ib_destroy_qp,
	.destroy_rwq_ind_table = ornic_ib_destroy_rwq_ind_table,
	.destroy_srq = ornic_ib_destroy_srq,
	.destroy_wq = ornic_ib_destroy_wq,
	.detach_mcast = ornic_ib_detach_mcast,
	.disassociate_ucontext = ornic_ib_disassociate_ucontext,
	.enable_driver = enable_driver,
	.fill_res_cq_entry = ornic_ib_fill_res_cq_entry,
	.fill_res_mr_entry = ornic_ib_fill_res_mr_entry,
	.fill_res_qp_entry = ornic_ib_fill_res_qp_entry,
	.get_dev_fw_str = ornic_ib_get_dev_fw_str,
	.get_dma_mr = ornic_ib_get_dma_mr,
	.get_hw_stats = ornic_ib_get_hw_stats,
	.get_link_layer = ornic_ib_get_link_layer,
	.get_port_immutable = ornic_ib_get_port_immutable,
	.map_mr_sg = ornic_ib_map_mr_sg,
	.mmap = ornic_ib_mmap,
	.mmap_free = ornic_ib_mmap_free,
	.modify_cq = ornic_ib_modify_cq,
	.modify_hw_stat = ornic_ib_modify_hw_stat,
	.modify_qp = ornic_ib_modify_qp,
	.modify_srq = ornic_ib_modify_srq,
	.modify_wq = ornic_ib_modify_wq,
	.poll_cq = ornic_ib_poll_cq,
	.post_recv = ornic_ib_post_recv,
	.post_send = ornic_ib_post_send,
	.post_srq_recv = ornic_ib_post_srq_recv,
	.query_ah = ornic_ib_query_ah,
	.query_device = ornic_ib_query_device,
	.query_pkey = ornic_ib_query_pkey,
	.query_port = ornic_ib_query_port,
	.query_qp = ornic_ib_query_qp,
	.query_srq = ornic_ib_query_srq,
	.query_ucontext = ornic_ib_query_ucontext,
	.reg_dm_mr = ornic_ib_reg_dm_mr,
	.rereg_user_mr = ornic_ib_rereg_user_mr,
	.req_notify_cq = ornic_ib_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, ornic_ib_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, ornic_ib_cq, ibcq),
	.size_ib_mw = sizeof(struct ib_mw),
	INIT_RDMA_OBJ_SIZE(ib_pd, ornic_ib_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, ornic_ib_qp, ibqp),
	.size_ib_rwq_ind_table = sizeof(struct ib_rwq_ind_table),
	INIT_RDMA_OBJ_SIZE(ib_srq, ornic_ib_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ornic_ib_ucontext, ibctx),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, ornic_ib_xrcd, ibxrcd),
};

/* clang-format on */

static void init_dev(struct ornic_ib_dev *dev, struct ornic_bus *bus)
{
	dev->bus = bus;
	xa_init(&dev->cqs);
	xa_init(&dev->qps);
	xa_init(&dev->wqs);
	xa_init(&dev->srqs);
	xa_init(&dev->odps);
	ida_init(&dev->pdns);
	ida_init(&dev->xrcdns);
	ida_init(&dev->rwq_tables);
	INIT_LIST_HEAD(&dev->flows);
	ornic_raw_init(dev);
	atomic_set(&dev->cmd_id, 0);
	INIT_WORK(&dev->flush_work, ornic_flush_work);
	INIT_DELAYED_WORK(&dev->pkey_work, ornic_event_pkey_work);
}

/*
 * ib_core starts in the initial namespace, which is right where namespaces
 * share devices. Where they do not, a link that is added in a container belongs
 * to that container.
 */
static void init_net_ns(struct ornic_ib_dev *dev)
{
	struct net *net = dev->bus->net;

	if (net && !rdma_dev_access_netns(&dev->ibdev, net))
		write_pnet(&dev->ibdev.coredev.rdma_net, net);
}

static int init_ibdev(struct ornic_ib_dev *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = dev->caps.num_vectors;
	ibdev->dev.parent = dev->bus->parent;
	init_net_ns(dev);
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->caps.mac);
	strscpy(ibdev->node_desc, "ornic", sizeof(ibdev->node_desc));
	if (IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS))
		ibdev->driver_def = ornic_uapi_defs;
	ib_set_device_ops(ibdev, &ornic_ops);
	ib_set_device_ops(ibdev, &ornic_compat_ops);
	ib_set_device_ops(ibdev, &ornic_comp_cntr_ops);
	if (ornic_odp_supported(dev))
		ib_set_device_ops(ibdev, &ornic_odp_ops);
	/* Differs by bus, so it cannot be in the constant table. */
	ibdev->ops.device_group = dev->bus->attrs;
	return ib_device_set_netdev(ibdev, ornic_gid_netdev(dev), ORNIC_PORT);
}

static void set_bus_dev(struct ornic_bus *bus, struct ornic_ib_dev *dev)
{
	mutex_lock(&lifetime_lock);
	WRITE_ONCE(bus->dev, dev);
	mutex_unlock(&lifetime_lock);
}

/* The caller handles the failure from here on: no @removing. */
static void claim_end(struct ornic_ib_dev *dev)
{
	mutex_lock(&lifetime_lock);
	dev->bus_unregisters = true;
	mutex_unlock(&lifetime_lock);
}

/*
 * Rings and records are shared with the device, and with processes, for as long
 * as they exist: there is no point at which to copy them, or to flush caches.
 */
static bool shares_memory(struct device *dma_device)
{
	struct page *page;
	dma_addr_t dma;
	bool shares;

	if (!dma_device)
		return true;
	page = alloc_page(GFP_KERNEL);
	if (!page)
		return false;
	dma = dma_map_page(dma_device, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	shares = !dma_mapping_error(dma_device, dma);
	if (shares) {
		shares = !dma_need_sync(dma_device, dma);
		dma_unmap_page(dma_device, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	}
	__free_page(page);
	return shares;
}

int ornic_register(struct ornic_bus *bus, const char *name)
{
	struct ornic_ib_dev *dev;
	int ret;

	if (!shares_memory(bus->dma_device)) {
		dev_err(bus->parent,
			"DMA is not coherent or needs bounce buffers\n");
		return -EOPNOTSUPP;
	}
	dev = ib_alloc_device(ornic_ib_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	init_dev(dev, bus);
	ret = ornic_cmd_query_device(dev, &dev->caps);
	if (ret) {
		dev_err(bus->parent,
			"device does not implement interface version %u: %d\n",
			ORNIC_HW_VERSION, ret);
		goto err_dealloc_unused;
	}
	if (bus->num_vectors)
		dev->caps.num_vectors =
			min(dev->caps.num_vectors, bus->num_vectors);
	ret = ornic_dm_pool_init(dev);
	if (ret)
		goto err_dealloc_unused;
	ornic_odp_start(dev);
	ret = init_ibdev(dev);
	if (ret)
		goto err_put_pool;
	ret = ornic_port_start(dev);
	if (ret)
		goto err_put_pool;

	set_bus_dev(bus, dev);
	ret = ib_register_device(&dev->ibdev, name, bus->dma_device);
	if (ret)
		goto err_dealloc;
	return 0;

err_put_pool:
	ornic_dm_pool_close(dev);
err_dealloc_unused:
	dev->ibdev.ops.dealloc_driver = NULL;
	ib_dealloc_device(&dev->ibdev);
	return ret;

err_dealloc:
	claim_end(dev);
	ib_dealloc_device(&dev->ibdev);
	return ret;
}
EXPORT_SYMBOL_GPL(ornic_register);

void ornic_unregister(struct ornic_bus *bus)
{
	struct ornic_ib_dev *dev;

	mutex_lock(&lifetime_lock);
	dev = bus->dev;
	if (dev) {
		dev->bus_unregisters = true;
		get_device(&dev->ibdev.dev);
	}
	mutex_unlock(&lifetime_lock);
	if (!dev)
		return;

	ib_unregister_device(&dev->ibdev);
	put_device(&dev->ibdev.dev);
}
EXPORT_SYMBOL_GPL(ornic_unregister);

/*
 * The driver as a client of its own devices. ib_core removes clients in the
 * reverse order of their registration. ib_uverbs is registered earlier, so
 * programs still have their QPs in client_remove().
 */

static struct ib_client client;

static int client_add(struct ib_device *ibdev)
{
	if (ibdev->ops.alloc_ucontext != ornic_ib_alloc_ucontext)
		return -EOPNOTSUPP;
	ib_set_client_data(ibdev, &client, ornic_phc_add(to_odev(ibdev)));
	return 0;
}

static void client_remove(struct ib_device *ibdev, void *data)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);

	WRITE_ONCE(dev->disabled, true);
	ornic_ib_flush_users(dev);
	ornic_phc_remove(data);
}

static struct ib_client client = {
	.name = "ornic",
	.add = client_add,
	.remove = client_remove,
	/* Also without kernel users. */
	.no_kverbs_req = true,
};

static int __init ornic_init(void)
{
	int ret;

	/* See above; kernels that have ib_uverbs_support load ib_uverbs on demand. */
	request_module("ib_uverbs");
	ret = ornic_flush_init();
	if (ret)
		return ret;
	ret = ornic_pagers_init();
	if (ret)
		goto err_flush;
	ret = ornic_parent_init();
	if (ret)
		goto err_odp;
	ret = ib_register_client(&client);
	if (ret)
		goto err_parent;
	if (IS_ENABLED(CONFIG_PCI))
		ret = ornic_pci_register();
	if (ret)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&client);
err_parent:
	ornic_parent_exit();
err_odp:
	ornic_pagers_exit();
err_flush:
	ornic_flush_exit();
	return ret;
}

/* After its devices: other modules that have some depend on this one. */
static void __exit ornic_exit(void)
{
	if (IS_ENABLED(CONFIG_PCI))
		ornic_pci_unregister();
	ib_unregister_client(&client);
	ornic_parent_exit();
	ornic_pagers_exit();
	ornic_flush_exit();
}

module_init(ornic_init);
module_exit(ornic_exit);

MODULE_AUTHOR("The ornic developers");
MODULE_DESCRIPTION("Driver of the open RDMA NIC ornic");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(ORNIC_VERSION);
