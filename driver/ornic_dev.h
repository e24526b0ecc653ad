/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DEV_H
#define ORNIC_DEV_H

#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "ornic_bus.h"
#include "ornic_netdev_mcast.h"
#include "ornic_raw.h"
#include "ornic_sysfs_net.h"

struct ornic_dm_pool;

#define ORNIC_PORT 1
#define ORNIC_MAX_PD 0x100000
#define ORNIC_MAX_XRCD 0x100000

/* What the device can do, from QUERY_DEVICE. */
struct ornic_caps {
	u64 caps; /* enum ornic_device_caps */
	u64 page_sizes; /* bit n: MRs may use pages of 2^n bytes */
	u64 max_mr_size;
	u32 max_qp;
	u32 max_cq;
	u32 max_mr;
	u32 max_ah;
	u32 max_srq; /* SRQs, 0 if it has none */
	u32 max_mcast; /* multicast groups, 0 if it has none */
	u32 max_mcast_qps;
	u32 max_comp_cntr; /* completion counters, 0 if it has none */
	u32 max_tags; /* tagged receives per SRQ, 0 if it matches no tags */
	u8 log_max_wqe; /* log2 of the WQEs per ring, of an SRQ as well */
	u8 log_max_cqe; /* log2 of the CQEs per CQ */
	u8 max_sge;
	u8 max_tag_sge; /* of a tagged receive */
	u8 max_rd_atomic; /* initiator depth per QP */
	u8 max_dest_rd_atomic; /* responder resources per QP */
	u8 num_vectors;
	u16 max_inline; /* inline bytes per send WQE */
	u16 gid_table_len;
	u8 pkey_table_len; /* 1: only the default P_Key */
	u8 hw_version; /* ORNIC_HW_VERSION */
	u32 ece_options; /* that QPs may have, 0: MODIFY_QP takes none */
	u8 mac[ETH_ALEN]; /* of the port */
};

/* The parameters of the last SET_PORT. */
struct ornic_port_state {
	bool known; /* false before the first SET_PORT */
	bool up; /* the netdev is up, has a carrier, and its MTU fits */
	u32 mtu; /* RoCE MTU in bytes */
	u32 netdev_mtu; /* of the netdev */
};

struct ornic_ib_dev {
	struct ib_device ibdev;

	/* Constant after ornic_register() */
	struct ornic_bus *bus;
	struct ornic_caps caps;

	/* struct ornic_event_target by number */
	struct xarray cqs;
	struct xarray qps;
	struct xarray wqs;
	struct xarray srqs;

	struct xarray odps; /* struct ornic_ib_odp by key */
	struct list_head pagers; /* struct ornic_pager; under pagers_lock */
	struct mutex pagers_lock;
	/* For reading: faults use the device, which has not stopped */
	struct rw_semaphore odp_life;
	bool odp_stopped;

	/* Numbers in use */
	struct ida pdns;
	struct ida xrcdns;
	struct ida rwq_tables;
	atomic_t cmd_id; /* of the last command */
	struct ornic_dm_pool *dm_pool; /* NULL: no device memory */

	/*
	 * port_work reports to device and users. netdev_nb queues it, and it
	 * queues itself. ornic_port_start() sends the first SET_PORT before it
	 * registers netdev_nb, so one context at a time writes port.
	 * ornic_port_stop() unregisters netdev_nb before it cancels port_work,
	 * so nothing can queue it afterwards.
	 */
	struct notifier_block netdev_nb;
	struct netdev_net_notifier netdev_nn;
	struct ornic_port_state port; /* written by port_work */
	struct delayed_work port_work;
	struct ornic_netdev_mcast mcast; /* of bus->netdev; RTNL */
	struct list_head flows; /* struct ornic_ib_flow; RTNL */
	struct ornic_raw raw;
	struct ornic_sysfs_net sysfs_net; /* likewise */

	/* Enabled optional counters; under ib_core's lock of the statistics */
	u64 optional;

	struct work_struct flush_work; /* for kernel users after a failure */
	struct delayed_work pkey_work; /* tells ib_core of changes of the table */

	/* ib_core removes its clients, or has removed them */
	bool disabled;

	/* Not `rdma link delete`; under the lifetime lock of ornic_main.c */
	bool bus_unregisters;
};

static inline struct ornic_ib_dev *to_odev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct ornic_ib_dev, ibdev);
}

/*
 * Whether to leak memory that the device may still write to. A device that
 * failed and cannot be stopped may go on writing, and leaking is the lesser
 * evil. @obj, from kmalloc, is leaked then; @bytes are counted. Mappings are
 * not leaked: where undoing them has an effect, it ends the writing.
 */
bool ornic_dma_lives(struct ib_device *ibdev, const void *obj, u64 bytes);

/* Set by ornic_fail(): commands fail, and the device reads no queue. */
static inline bool ornic_is_dead(const struct ornic_ib_dev *dev)
{
	return READ_ONCE(dev->bus->dead);
}

#endif /* ORNIC_DEV_H */
