/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The bus layer: the one place where the driver meets a device. A bus (the
 * soft device, PCI) carries commands and kicks to its device and hands the
 * device's events up. The driver knows nothing else about it.
 */
#ifndef ORNIC_BUS_H
#define ORNIC_BUS_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

#include "ornic_netdev_mcast.h"
#include "ornic_sysfs_net.h"

struct attribute_group;
struct device;
struct net;
struct net_device;
struct ornic_bus;
struct ornic_ib_dev;

/**
 * struct ornic_bus_ops - what a bus does for the driver
 * @cmd: execute @req synchronously and fill @rsp. Returns 0 when the device
 *	answered (whatever rsp->hdr.status says), else -ETIMEDOUT, -EIO,
 *	-ENODEV. It returns an error only when the device has stopped its DMA,
 *	or @writes_on of the bus is set. Context: process context, may sleep.
 * @kick: tell the device that the SQ of @qpn has new WQEs. Context: process
 *	context with interrupts on, or any context when @inline_ok is false;
 *	must not sleep. With @inline_ok the bus may execute work in the caller,
 *	with softirqs disabled inside.
 * @broken: the device broke the device interface, as @why says (the end of
 *	"the device ..."), so nobody knows what it does with the memory that it
 *	was given. The bus fails it. On return it has stopped its DMA, or
 *	@writes_on is set. Process context, may sleep. None: the device is part
 *	of the kernel.
 * @removing: the ib_device of @bus is about to go away because of
 *	`rdma link delete`; called before the ib_device is freed, after all of
 *	its objects are destroyed. Process context. Optional.
 */
struct ornic_bus_ops {
	int (*cmd)(struct ornic_bus *bus, const union ornic_req *req,
		   union ornic_rsp *rsp);
	void (*kick)(struct ornic_bus *bus, u32 qpn, bool inline_ok);
	void (*broken)(struct ornic_bus *bus, const char *why);
	void (*removing)(struct ornic_bus *bus);
};

/**
 * struct ornic_bus - one device on a bus, embedded in the bus's own structure
 * @ops: above
 * @parent: parent device of the ib_device; the provider matches its modalias
 * @dma_device: device that DMA addresses are made for; NULL = the device works
 *	with kernel virtual addresses (ib_core's virtual DMA)
 * @netdev: the Ethernet side, held by the bus for as long as it is registered
 * @mcast: multicast groups of @netdev, which the bus opens and closes, and
 *	which follow @netdev from one namespace to another; RTNL
 * @sysfs_net: where @parent shows @netdev; as @mcast
 * @net: namespace that the ib_device is born in where namespaces do not share
 *	their devices (`rdma system set netns exclusive`); NULL = the initial
 *	one. Held by the bus during ornic_register
 * @kick_mode: enum ornic_kick_mode
 * @kick_pfn: ORNIC_KICK_PAGE: page frame of the doorbell page
 * @kick_offset: ORNIC_KICK_PAGE: byte offset of the register in it
 * @kick_value: ORNIC_KICK_PAGE: value to store
 * @num_vectors: completion vectors that the bus can deliver; 0 = all that the
 *	device has
 * @dead: set by ornic_fail. Cleared by the bus before it registers anew
 * @writes_on: the device has failed and may go on writing to memory that it was
 *	given, so what it had is not freed. Set by the bus before ornic_fail,
 *	cleared once the device is known to have stopped
 * @kept: bytes that were not freed for that reason
 * @allow_user_unreg: `rdma link delete` may remove it
 * @attrs: additional sysfs attribute group of the ib_device, or NULL
 * @dev: the driver's device, set by ornic_register
 */
struct ornic_bus {
	const struct ornic_bus_ops *ops;
	struct device *parent;
	struct device *dma_device;
	struct net_device *netdev;
	struct ornic_netdev_mcast mcast;
	struct ornic_sysfs_net sysfs_net;
	struct net *net;
	enum ornic_kick_mode kick_mode;
	unsigned long kick_pfn;
	u32 kick_offset;
	u32 kick_value;
	u8 num_vectors;
	bool dead;
	bool writes_on;
	atomic64_t kept;
	bool allow_user_unreg;
	const struct attribute_group *attrs;
	struct ornic_ib_dev *dev;
};

/*
 * Exported by ornic.ko:
 *
 * ornic_register - register an ib_device called @name (may hold a %d) for
 * @bus. The device must answer commands already. On success bus->dev is set
 * and events may come. Process context. 0 or -errno.
 *
 * ornic_unregister - unregister it; on return no user is left, all device
 * objects are destroyed and no further command or kick will come. Returns at
 * once if it was already unregistered by `rdma link delete`. Process context.
 *
 * ornic_event - an event of the device. Any context, interrupts included;
 * no lock of the device may be held that @cmd or @kick take.
 *
 * ornic_fail - the device has lost all its state and has stopped its DMA; @cmd
 * returns -EIO from now on. Users hear of it, and those of the kernel find their
 * work flushed, and free what they gave to the device. Any context, locks as
 * above. The bus calls ornic_unregister when it can.
 */
int ornic_register(struct ornic_bus *bus, const char *name);
void ornic_unregister(struct ornic_bus *bus);
void ornic_event(struct ornic_bus *bus, const struct ornic_eqe *eqe);
void ornic_fail(struct ornic_bus *bus);

#endif /* ORNIC_BUS_H */
