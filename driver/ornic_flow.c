// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flow rules of raw packet QPs: from verbs to CREATE_FLOW. A rule opens the filter
 * of the netdev for what it is about, as a packet socket does: the address that it
 * names in full, or all multicast, or all.
 *
 * The device ends its rules when the netdev moves to another namespace (ornic_bus::raw),
 * and their filters are closed then. The RTNL keeps the netdev where it is, so right,
 * filter and rule are of one namespace.
 */
#include "ornic_flow.h"

#include <linux/capability.h>
#include <linux/etherdevice.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_flow_spec.h"
#include "ornic_verbs.h"

/* What the netdev is to pass for a rule. */
enum flow_filter {
	FILTER_OWN, /* nothing more */
	FILTER_UNICAST, /* @addr */
	FILTER_GROUP, /* @addr */
	FILTER_GROUPS,
	FILTER_ALL,
};

struct ornic_ib_flow {
	struct ib_flow ibflow;
	struct list_head link; /* in ornic_ib_dev::flows */
	u32 number;
	enum flow_filter filter; /* under the RTNL */
	u8 addr[ETH_ALEN];
};

static struct ornic_ib_flow *to_oflow(struct ib_flow *ibflow)
{
	return container_of(ibflow, struct ornic_ib_flow, ibflow);
}

int ornic_raw_check_locked(const struct ornic_ib_dev *dev)
{
	const struct net *net = dev_net(dev->bus->netdev);

	ASSERT_RTNL();
	return ns_capable(net->user_ns, CAP_NET_RAW) ? 0 : -EPERM;
}

int ornic_raw_check(const struct ornic_ib_dev *dev)
{
	int ret;

	rtnl_lock();
	ret = ornic_raw_check_locked(dev);
	rtnl_unlock();
	return ret;
}

/* ---- The filter of the netdev ---------------------------------------------- */

static enum flow_filter filter_of(const struct ib_flow_attr *attr,
				  const struct ornic_flow_key *mask,
				  const u8 *dmac)
{
	switch (attr->type) {
	case IB_FLOW_ATTR_ALL_DEFAULT:
	case IB_FLOW_ATTR_SNIFFER:
		return FILTER_ALL;
	case IB_FLOW_ATTR_MC_DEFAULT:
		return FILTER_GROUPS;
	default:
		break;
	}
	if (!is_broadcast_ether_addr(mask->dmac) ||
	    is_broadcast_ether_addr(dmac))
		return FILTER_OWN;
	return is_multicast_ether_addr(dmac) ? FILTER_GROUP : FILTER_UNICAST;
}

static int filter_open(struct net_device *netdev,
		       const struct ornic_ib_flow *flow)
{
	ASSERT_RTNL();
	switch (flow->filter) {
	case FILTER_UNICAST:
		return dev_uc_add(netdev, flow->addr);
	case FILTER_GROUP:
		return dev_mc_add(netdev, flow->addr);
	case FILTER_GROUPS:
		return dev_set_allmulti(netdev, 1);
	case FILTER_ALL:
		return dev_set_promiscuity(netdev, 1);
	default:
		return 0;
	}
}

static void filter_close(struct net_device *netdev, struct ornic_ib_flow *flow)
{
	ASSERT_RTNL();
	switch (flow->filter) {
	case FILTER_UNICAST:
		dev_uc_del(netdev, flow->addr);
		break;
	case FILTER_GROUP:
		dev_mc_del(netdev, flow->addr);
		break;
	case FILTER_GROUPS:
		dev_set_allmulti(netdev, -1);
		break;
	case FILTER_ALL:
		dev_set_promiscuity(netdev, -1);
		break;
	default:
		break;
	}
	flow->filter = FILTER_OWN;
}

/*
 * Later there may be the same addresses for somebody else: the netdev counts users,
 * and does not know them.
 */
void ornic_flow_close_filters(struct ornic_ib_dev *dev)
{
	struct ornic_ib_flow *flow;

	ASSERT_RTNL();
	list_for_each_entry(flow, &dev->flows, link)
		filter_close(dev->bus->netdev, flow);
}

/* ---- Rules ------------------------------------------------------------------- */

static int add_spec(struct ornic_flow_match *match,
		    const union ib_flow_spec *spec, u8 *flags)
{
	static_assert(ORNIC_SPEC_ETH == (int)IB_FLOW_SPEC_ETH &&
		      ORNIC_SPEC_IPV4 == (int)IB_FLOW_SPEC_IPV4 &&
		      ORNIC_SPEC_IPV6 == (int)IB_FLOW_SPEC_IPV6 &&
		      ORNIC_SPEC_TCP == (int)IB_FLOW_SPEC_TCP &&
		      ORNIC_SPEC_UDP == (int)IB_FLOW_SPEC_UDP);
	const void *value, *mask;

	switch (spec->type) {
	case IB_FLOW_SPEC_ETH:
		value = &spec->eth.val;
		mask = &spec->eth.mask;
		break;
	case IB_FLOW_SPEC_IPV4:
		value = &spec->ipv4.val;
		mask = &spec->ipv4.mask;
		break;
	case IB_FLOW_SPEC_IPV6:
		value = &spec->ipv6.val;
		mask = &spec->ipv6.mask;
		break;
	case IB_FLOW_SPEC_TCP:
	case IB_FLOW_SPEC_UDP:
		value = &spec->tcp_udp.val;
		mask = &spec->tcp_udp.mask;
		break;
	case IB_FLOW_SPEC_ACTION_DROP:
		*flags |= ORNIC_FLOW_DROP;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
	return ornic_flow_spec_add(match, spec->type, value, mask);
}

static int add_specs(const struct ib_flow_attr *attr,
		     struct ornic_flow_match *match, u8 *flags)
{
	const union ib_flow_spec *spec = attr->flows;
	int i, ret;

	for (i = 0; i < attr->num_of_specs; i++) {
		ret = add_spec(match, spec, flags);
		if (ret)
			return ret;
		/* Each has the size of its type. */
		spec = (const void *)spec + spec->size;
	}
	return 0;
}

static int flow_check(struct ib_qp *ibqp, const struct ib_flow_attr *attr,
		      struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);

	if (!(dev->caps.caps & ORNIC_CAP_RAW) ||
	    ibqp->qp_type != IB_QPT_RAW_PACKET ||
	    attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP) {
		ibdev_dbg(ibqp->device,
			  "flow: QP type %d, flags %#x not supported\n",
			  ibqp->qp_type, attr->flags);
		return -EOPNOTSUPP;
	}
	if (udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	if (attr->type != IB_FLOW_ATTR_NORMAL && attr->num_of_specs) {
		ibdev_dbg(ibqp->device, "flow: type %d has %u specs\n",
			  attr->type, attr->num_of_specs);
		return -EINVAL;
	}
	return 0;
}

/* The device reads @match, from kmalloc, during the command. */
static int create_on_device(struct ornic_ib_dev *dev,
			    struct ornic_create_flow_params *params,
			    struct ornic_flow_match **match, u32 *number)
{
	int ret;

	if (params->type != ORNIC_FLOW_NORMAL)
		return ornic_cmd_create_flow(dev, params, number);
	params->match = ib_dma_map_single(&dev->ibdev, *match, sizeof(**match),
					  DMA_TO_DEVICE);
	if (ib_dma_mapping_error(&dev->ibdev, params->match))
		return -ENOMEM;
	ret = ornic_cmd_create_flow(dev, params, number);
	ib_dma_unmap_single(&dev->ibdev, params->match, sizeof(**match),
			    DMA_TO_DEVICE);
	if (ret && ornic_dma_lives(&dev->ibdev, *match, sizeof(**match)))
		*match = NULL;
	return ret;
}

static int create_locked(struct ornic_ib_dev *dev, struct ornic_ib_flow *flow,
			 struct ornic_create_flow_params *params,
			 struct ornic_flow_match **match)
{
	struct net_device *netdev = dev->bus->netdev;
	int ret;

	ret = ornic_raw_check_locked(dev);
	if (ret)
		return ret;
	ret = filter_open(netdev, flow);
	if (ret)
		return ret;
	ret = create_on_device(dev, params, match, &flow->number);
	if (ret) {
		filter_close(netdev, flow);
		return ret;
	}
	list_add(&flow->link, &dev->flows);
	return 0;
}

static int flow_bring_up(struct ornic_ib_flow *flow, struct ib_qp *ibqp,
			 const struct ib_flow_attr *attr)
{
	struct ornic_ib_dev *dev = to_odev(ibqp->device);
	struct ornic_create_flow_params params = {
		.qpn = ibqp->qp_num,
		.priority = attr->priority,
		.type = attr->type,
		.flags = attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP ?
				 ORNIC_FLOW_COPY :
				 0,
	};
	struct ornic_flow_match *match;
	int ret;

	match = kzalloc(sizeof(*match), GFP_KERNEL);
	if (!match)
		return -ENOMEM;
	ret = add_specs(attr, match, &params.flags);
	if (ret)
		goto out_free_match;
	ether_addr_copy(flow->addr, match->value.dmac);
	flow->filter = filter_of(attr, &match->mask, flow->addr);
	rtnl_lock();
	ret = create_locked(dev, flow, &params, &match);
	rtnl_unlock();
out_free_match:
	kfree(match);
	return ret;
}

/*
 * Takes the RTNL. Returns -EEXIST if the QP has this rule; -ENOSPC for a limit of
 * the device.
 */
struct ib_flow *ornic_ib_create_flow(struct ib_qp *ibqp,
				     struct ib_flow_attr *attr,
				     struct ib_udata *udata)
{
	struct ornic_ib_flow *flow;
	int ret;

	ret = flow_check(ibqp, attr, udata);
	if (ret)
		return ERR_PTR(ret);
	flow = kzalloc(sizeof(*flow), GFP_KERNEL_ACCOUNT);
	if (!flow)
		return ERR_PTR(-ENOMEM);
	ret = flow_bring_up(flow, ibqp, attr);
	if (ret) {
		ibdev_dbg(ibqp->device, "QP %#x: flow of %u specs: %d\n",
			  ibqp->qp_num, attr->num_of_specs, ret);
		kfree(flow);
		return ERR_PTR(ret);
	}
	return &flow->ibflow;
}

/* Takes the RTNL. Returns 0 if the device is gone. */
int ornic_ib_destroy_flow(struct ib_flow *ibflow)
{
	struct ornic_ib_dev *dev = to_odev(ibflow->device);
	struct ornic_ib_flow *flow = to_oflow(ibflow);
	int ret;

	ret = ornic_cmd_destroy_flow(dev, flow->number);
	if (ret)
		return ret;
	rtnl_lock();
	filter_close(dev->bus->netdev, flow);
	list_del(&flow->link);
	rtnl_unlock();
	kfree(flow);
	return 0;
}
