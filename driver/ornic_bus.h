/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The bus layer, between the driver and a device. A bus (the soft device, PCI)
 * carries commands and kicks to its device and passes the device's events up.
 */
#ifndef ORNIC_BUS_H
#define ORNIC_BUS_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <rdma/ornic-abi.h>
#include <rdma/ornic-hw.h>

struct attribute_group;
struct device;
struct net;
struct net_device;
struct ornic_bus;
struct ornic_ib_dev;

/**
 * enum ornic_kick_where - which CPU may execute what a kick announces
 * @ORNIC_KICK_HERE: the caller, with softirqs disabled inside. Process context with
 *	interrupts on.
 * @ORNIC_KICK_LATER: this one, but not the caller
 * @ORNIC_KICK_ELSEWHERE: not the caller, and better another CPU if one is idle
 */
enum ornic_kick_where {
	ORNIC_KICK_HERE,
	ORNIC_KICK_LATER,
	ORNIC_KICK_ELSEWHERE,
};

/**
 * struct ornic_bus_ops - what a bus does for the driver
 * @cmd: execute @req synchronously and fill @rsp. Returns 0 for a response with
 *	whatever status, else -ETIMEDOUT, -EIO, -ENODEV. It returns an error
 *	only when the device has stopped its DMA, or @writes_on of the bus is
 *	set. Of those with @first there is one at a time, which does not wait
 *	for others that wait. Context: process context, may sleep. The RTNL may
 *	be held: what it waits for must not need it.
 * @kick: tell the device that the SQ of @qpn has new WQEs, and where a bus whose
 *	device is part of the kernel may execute them. Any context, but for
 *	ORNIC_KICK_HERE; must not sleep.
 * @broken: the device violated the device interface, so what it does with its
 *	memory is unknown; @why completes "the device ...". The bus fails it. On
 *	return it has stopped its DMA, or @writes_on is set. Context as of @cmd.
 *	NULL: the device is part of the kernel.
 * @removing: the ib_device of @bus is about to go away because of
 *	`rdma link delete`; called before the ib_device is freed, after all of
 *	its objects are destroyed. Process context. Optional.
 */
struct ornic_bus_ops {
	int (*cmd)(struct ornic_bus *bus, const union ornic_req *req,
		   union ornic_rsp *rsp, bool first);
	void (*kick)(struct ornic_bus *bus, u32 qpn,
		     enum ornic_kick_where where);
	void (*broken)(struct ornic_bus *bus, const char *why);
	void (*removing)(struct ornic_bus *bus);
};

/**
 * struct ornic_bus_dm - memory of a device itself (ORNIC_CAP_DM), which the host sees
 * @base: where the driver has it mapped; NULL: there is none
 * @pfn: its first page frame
 * @start: address of @base for keys: where the host has larger pages than the device,
 *	memory before the first whole one is not used
 * @is_cached: processes map it as memory, else write-combined
 */
struct ornic_bus_dm {
	void __iomem *base;
	unsigned long pfn;
	u64 start;
	bool is_cached;
};

/**
 * struct ornic_bus - one device on a bus, embedded in the bus's own structure
 * @ops: above
 * @parent: parent device of the ib_device; the provider matches its modalias
 * @dma_device: device that DMA addresses are made for; NULL = the device works
 *	with kernel virtual addresses (ib_core's virtual DMA)
 * @netdev: the Ethernet side, held by the bus for as long as it is registered
 * @net: namespace that the ib_device is born in where namespaces do not share
 *	their devices (`rdma system set netns exclusive`); NULL = the initial
 *	one. Held by the bus during ornic_register
 * @kick_mode: enum ornic_kick_mode
 * @kick_pfn: ORNIC_KICK_PAGE: page frame of the doorbell page
 * @kick_offset: ORNIC_KICK_PAGE: byte offset of the register in it
 * @kick_value: ORNIC_KICK_PAGE: value to store
 * @max_dm: bytes of device memory, whole pages; 0: none, also if other devices still use
 *	what a former ib_device has exported
 * @dm: where that is; without it the driver takes pages from the kernel, for a device
 *	that is part of it
 * @num_vectors: completion vectors that the bus can deliver; 0 = all that the
 *	device has
 * @dead: set by ornic_fail. Cleared by the bus before it registers again
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
	struct net *net;
	enum ornic_kick_mode kick_mode;
	unsigned long kick_pfn;
	u32 kick_offset;
	u32 kick_value;
	u64 max_dm;
	struct ornic_bus_dm dm;
	u8 num_vectors;
	bool dead;
	bool writes_on;
	atomic64_t kept;
	bool allow_user_unreg;
	const struct attribute_group *attrs;
	struct ornic_ib_dev *dev;
};

/**
 * ornic_register - register an ib_device for a device on a bus
 * @bus: the device, which executes commands already
 * @name: of the ib_device, may hold a %d
 *
 * On success @bus->dev is set and events may come. Users may find the device,
 * and delete it, before this returns.
 *
 * Context: process, without the RTNL; may sleep.
 * Return: 0; -EOPNOTSUPP if the device cannot share memory with processes;
 * -EPROTO if its limits make no sense; -errno of ib_core, such as -EEXIST for a
 * name in use, or of the bus.
 */
int ornic_register(struct ornic_bus *bus, const char *name);

/**
 * ornic_unregister - unregister the ib_device of a bus
 * @bus: the device; `rdma link delete` may have unregistered it already
 *
 * On return there are no users, all device objects are destroyed, and no
 * command, kick or @removing runs or will come.
 *
 * Context: process, without the RTNL and without any lock that @removing or
 * commands take; may sleep.
 */
void ornic_unregister(struct ornic_bus *bus);

/**
 * ornic_event - an event of the device
 * @bus: the device
 * @eqe: the event; unknown types and numbers are ignored
 *
 * Context: any, interrupts included. Calls handlers of users: no lock of the
 * device may be held that @cmd or @kick take.
 */
void ornic_event(struct ornic_bus *bus, const struct ornic_eqe *eqe);

/**
 * ornic_fail - the device has lost all its state
 * @bus: the device, which has stopped its DMA; @cmd returns -EIO from now on
 *
 * Users get IB_EVENT_DEVICE_FATAL; kernel users find their work flushed, or
 * failed if QP 1 was to send it, and free what they gave to the device. The
 * bus calls ornic_unregister() when it can.
 *
 * Context: any; locks as for ornic_event().
 */
void ornic_fail(struct ornic_bus *bus);

/**
 * ornic_parent_add - make a parent for an ib_device without hardware
 *
 * It is on the virtual bus "ornic", with a modalias that the provider knows. DMA for it
 * reaches all addresses, in segments of any length, and is coherent. The driver's data of
 * it (dev_set_drvdata()) are the caller's.
 *
 * Users of an ib_device may have children of the parent, which they keep for longer than
 * the ib_device is registered: the SCSI host of an iSER session exists until the session
 * logs out. Without the parent in sysfs nobody could log out, so the parent outlives its
 * device until it has no children, and its code is in ornic.ko, which stays as long.
 *
 * Context: process, may sleep.
 * Return: the parent, until ornic_parent_del(), or ERR_PTR.
 */
struct device *ornic_parent_add(void);

/**
 * ornic_parent_del - the ib_device is unregistered, or was not registered
 * @dev: the parent, which may be freed at once
 *
 * Context: process, may sleep.
 */
void ornic_parent_del(struct device *dev);

#endif /* ORNIC_BUS_H */
