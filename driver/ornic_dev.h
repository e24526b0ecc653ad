/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_DEV_H
#define ORNIC_DEV_H

#include <linux/idr.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "ornic_bus.h"

#define ORNIC_PORT 1
#define ORNIC_MAX_PD 0x100000
#define ORNIC_MAX_XRCD 0x100000

/**
 * struct ornic_caps - what the device can do, from QUERY_DEVICE
 * @caps: enum ornic_device_caps
 * @page_sizes: bit n: MRs may use pages of 2^n bytes
 * @max_mr_size: bytes
 * @max_qp: QPs
 * @max_cq: CQs
 * @max_mr: MRs
 * @max_ah: address handles
 * @max_srq: SRQs, 0 if it has none
 * @max_mcast: multicast groups, 0 if it has none
 * @max_mcast_qps: QPs per group
 * @log_max_wqe: log2 of the WQEs per ring, of an SRQ as well
 * @log_max_cqe: log2 of the CQEs per CQ
 * @max_sge: SGEs per WQE
 * @max_rd_atomic: initiator depth per QP
 * @max_dest_rd_atomic: responder resources per QP
 * @num_vectors: completion vectors
 * @max_inline: inline bytes per send WQE
 * @gid_table_len: GIDs
 * @hw_version: ORNIC_HW_VERSION
 * @mac: of the port
 */
struct ornic_caps {
	u64 caps;
	u64 page_sizes;
	u64 max_mr_size;
	u32 max_qp;
	u32 max_cq;
	u32 max_mr;
	u32 max_ah;
	u32 max_srq;
	u32 max_mcast;
	u32 max_mcast_qps;
	u8 log_max_wqe;
	u8 log_max_cqe;
	u8 max_sge;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 num_vectors;
	u16 max_inline;
	u16 gid_table_len;
	u8 hw_version;
	u8 mac[ETH_ALEN];
};

/**
 * struct ornic_port_state - what the device was last told by SET_PORT
 * @known: false before the first SET_PORT
 * @up: the netdev is up and has a carrier
 * @mtu: RoCE MTU in bytes
 */
struct ornic_port_state {
	bool known;
	bool up;
	u32 mtu;
};

/**
 * struct ornic_ib_dev - one ornic device
 * @ibdev: the device as ib_core knows it
 * @bus: how commands and kicks get to it
 * @caps: constant after ornic_register
 * @cqs: struct ornic_event_target by CQN, for events
 * @qps: struct ornic_event_target by QPN, for events
 * @srqs: struct ornic_event_target by SRQN, for events
 * @pdns: protection domain numbers in use
 * @xrcdns: XRC domain numbers in use
 * @cmd_id: id of the last command
 * @netdev_nb: follows @bus->netdev
 * @netdev_nn: lets @netdev_nb follow it to other namespaces
 * @port: of @port_work
 * @port_work: tells the device, and users, of changes of the port
 * @optional: bit n: optional counter n of the device counts; written under
 *	ib_core's lock of the port's statistics
 * @flush_work: tells kernel users of a failed device
 * @bus_unregisters: the bus asked for the end, not `rdma link delete`;
 *	protected by the lifetime lock of ornic_main.c
 */
struct ornic_ib_dev {
	struct ib_device ibdev;
	struct ornic_bus *bus;
	struct ornic_caps caps;
	struct xarray cqs;
	struct xarray qps;
	struct xarray srqs;
	struct ida pdns;
	struct ida xrcdns;
	atomic_t cmd_id;
	struct notifier_block netdev_nb;
	struct netdev_net_notifier netdev_nn;
	struct ornic_port_state port;
	struct delayed_work port_work;
	u64 optional;
	struct work_struct flush_work;
	bool bus_unregisters;
};

static inline struct ornic_ib_dev *to_odev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct ornic_ib_dev, ibdev);
}

/**
 * ornic_dma_lives - may memory that the device had not be freed?
 * @ibdev: device
 * @obj: what is leaked then: from kmalloc, or NULL
 * @bytes: that the device may still access
 *
 * A device that failed and cannot be stopped may go on writing. Leaking is the
 * lesser evil. Mappings are not leaked: where undoing them has an effect, it ends
 * the writing.
 *
 * Context: any; an object that a command could not destroy, or had not made.
 * Return: whether to leak it.
 */
bool ornic_dma_lives(struct ib_device *ibdev, const void *obj, u64 bytes);

/* The bus said so: commands fail, and nobody looks at queues. */
static inline bool ornic_is_dead(const struct ornic_ib_dev *dev)
{
	return READ_ONCE(dev->bus->dead);
}

#endif /* ORNIC_DEV_H */
