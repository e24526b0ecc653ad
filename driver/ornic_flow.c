// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flow rules of raw packet QPs: from verbs to CREATE_FLOW. A rule opens the filter
 * of the netdev for what it is about, as a packet socket does: the address that it
 * names in full, or all multicast, or all.
 *
 * The device ends its rules when the netdev moves to another namespace (ornic_raw.h),
 * and their filters are closed then. The filter is opened first, under the RTNL, and the
 * rule is made only if the netdev has not moved since.
 */
#include "ornic_flow.h"

#include <linux/etherdevice.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "ornic_bus.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_flow_spec.h"
#include "ornic_raw.h"
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

/* Takes the RTNL. @moves: of struct ornic_raw, at that time. */
static int flow_open(struct ornic_ib_dev *dev, struct ornic_ib_flow *flow,
		     u32 *moves)
{
	int ret;

	rtnl_lock();
	*moves = dev->raw.moves;
	ret = ornic_raw_check_rtnl(dev);
	if (!ret)
		ret = filter_open(dev->bus->netdev, flow);
	if (!ret)
		list_add(&flow->link, &dev->flows);
	rtnl_unlock();
	return ret;
}

/* Takes the RTNL. */
static void flow_close(struct ornic_ib_dev *dev, struct ornic_ib_flow *flow)
{
	rtnl_lock();
	filter_close(dev->bus->netdev, flow);
	list_del(&flow->link);
	rtnl_unlock();
}

/* With the filter open. @moved: the netdev has moved since, and nothing was done. */
static int create_here(struct ornic_ib_dev *dev, struct ornic_ib_flow *flow,
		       struct ornic_create_flow_params *params,
		       struct ornic_flow_match **match, u32 moves, bool *moved)
{
	int ret;

	ret = ornic_raw_begin(dev, &moves);
	*moved = ret == -EAGAIN;
	if (ret)
		return ret;
	ret = create_on_device(dev, params, match, &flow->number);
	ornic_raw_end(dev);
	return ret;
}

/* Filter and rule, in the namespace where the netdev is. */
static int flow_create(struct ornic_ib_dev *dev, struct ornic_ib_flow *flow,
		       enum flow_filter filter,
		       struct ornic_create_flow_params *params,
		       struct ornic_flow_match **match)
{
	bool moved;
	u32 moves;
	int ret;

	do {
		flow->filter = filter;
		ret = flow_open(dev, flow, &moves);
		if (ret)
			return ret;
		ret = create_here(dev, flow, params, match, moves, &moved);
		if (ret)
			flow_close(dev, flow);
	} while (moved);
	return ret;
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
	ret = flow_create(dev, flow, filter_of(attr, &match->mask, flow->addr),
			  &params, &match);
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
	flow_close(dev, flow);
	kfree(flow);
	return 0;
}
