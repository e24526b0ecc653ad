// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The port follows carrier and MTU of the netdev, and reports changes to the
 * device with SET_PORT and to users with port events. A work item does that,
 * and retries if the device refuses: netdev notifiers run under the RTNL, and a
 * slow device must not stall the network configuration of the host.
 *
 * Multicast groups and the link in sysfs follow the netdev from one namespace
 * to another, and to its new name; raw packet QPs and flow rules end before it has
 * moved. The bus holds the netdev, and handles its end.
 */
#include "ornic_port.h"

#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/kmemleak.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "compat/compat_rdma.h"
#include "compat/compat_wq.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_dm.h"
#include "ornic_flow.h"
#include "ornic_odp.h"
#include "ornic_raw.h"
#include "ornic_rwq.h"
#include "ornic_stats.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

#define MAX_MSG_BYTES 0x80000000u
#define RETRY_DELAY HZ

/* 0 if not even the smallest RoCE MTU fits. */
static enum ib_mtu active_mtu(const struct net_device *netdev)
{
	return iboe_get_mtu(READ_ONCE(netdev->mtu));
}

static bool is_up(const struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev) &&
	       active_mtu(netdev);
}

static u32 roce_mtu_bytes(const struct net_device *netdev)
{
	return ib_mtu_enum_to_int(active_mtu(netdev) ?: IB_MTU_256);
}

static void port_report(struct ornic_ib_dev *dev, bool up)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = ORNIC_PORT,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	/* Not registered yet, or not any more. */
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

/* Called by the work item, or before it can run. */
static int sync_port(struct ornic_ib_dev *dev)
{
	struct ornic_port_state now = {
		.known = true,
		.up = is_up(dev->bus->netdev),
		.mtu = roce_mtu_bytes(dev->bus->netdev),
		.netdev_mtu = READ_ONCE(dev->bus->netdev->mtu),
	};
	struct ornic_port_state before = dev->port;
	int ret;

	if (before.known && before.up == now.up && before.mtu == now.mtu &&
	    before.netdev_mtu == now.netdev_mtu)
		return 0;
	ret = ornic_cmd_set_port(dev, &now);
	if (ret)
		return ret;

	dev->port = now;
	if (before.known && before.up != now.up)
		port_report(dev, now.up);
	return 0;
}

static void port_work(struct work_struct *work)
{
	struct ornic_ib_dev *dev = container_of(to_delayed_work(work),
						struct ornic_ib_dev, port_work);
	int ret;

	ret = sync_port(dev);
	if (ret && !ornic_is_dead(dev)) {
		ibdev_warn_ratelimited(&dev->ibdev,
				       "cannot set port state, retrying: %d\n",
				       ret);
		queue_delayed_work(system_percpu_wq, &dev->port_work,
				   RETRY_DELAY);
	}
	/* IP accepts netdev and MTU only after our notifier has run. */
	rtnl_lock();
	ornic_netdev_mcast_rejoin(&dev->mcast);
	rtnl_unlock();
}

static int port_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *info)
{
	struct ornic_ib_dev *dev =
		container_of(nb, struct ornic_ib_dev, netdev_nb);
	struct net_device *netdev = netdev_notifier_info_to_dev(info);

	if (netdev != dev->bus->netdev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		ornic_raw_netdev_leaves(dev);
		ornic_flow_close_filters(dev);
		/* One that stays registered moves to another namespace. */
		if (netdev->reg_state == NETREG_REGISTERED)
			ornic_netdev_mcast_leave_all(&dev->mcast);
		break;
	case NETDEV_REGISTER:
		ornic_raw_netdev_arrives(dev);
		ornic_sysfs_net_rename(&dev->sysfs_net, netdev);
		mod_delayed_work(system_percpu_wq, &dev->port_work, 0);
		break;
	case NETDEV_CHANGENAME:
		ornic_sysfs_net_rename(&dev->sysfs_net, netdev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		ornic_netdev_mcast_fit_mtu(&dev->mcast);
		mod_delayed_work(system_percpu_wq, &dev->port_work, 0);
		break;
	}
	return NOTIFY_DONE;
}

static void show_netdev(struct ornic_ib_dev *dev)
{
	struct net_device *netdev = dev->bus->netdev;

	rtnl_lock();
	if (ornic_sysfs_net_open(&dev->sysfs_net, dev->bus->parent, netdev))
		netdev_warn(netdev, "ornic: cannot create net/%s in sysfs\n",
			    netdev->name);
	rtnl_unlock();
}

/* Takes the RTNL. */
int ornic_port_start(struct ornic_ib_dev *dev)
{
	struct net_device *netdev = dev->bus->netdev;
	int ret;

	ornic_netdev_mcast_init(&dev->mcast, netdev);
	dev->netdev_nb.notifier_call = port_netdev_event;
	INIT_DELAYED_WORK(&dev->port_work, port_work);
	ret = sync_port(dev);
	if (ret)
		return ret;
	/*
	 * A notifier of the namespace, which follows the netdev to others:
	 * unregistering a global one waits for the cleanup of namespaces, which
	 * waits for their netdevs, which wait for us.
	 */
	ret = register_netdevice_notifier_dev_net(netdev, &dev->netdev_nb,
						  &dev->netdev_nn);
	if (ret)
		return ret;
	show_netdev(dev);
	/* In case it changed before the notifier was registered. */
	queue_delayed_work(system_percpu_wq, &dev->port_work, 0);
	return 0;
}

/* Takes the RTNL. All QPs are gone, and no SET_PORT is sent afterwards. */
void ornic_port_stop(struct ornic_ib_dev *dev)
{
	/* For the notifier its end is as if the netdev were unregistered. */
	ornic_raw_stop(dev);
	unregister_netdevice_notifier_dev_net(dev->bus->netdev, &dev->netdev_nb,
					      &dev->netdev_nn);
	cancel_delayed_work_sync(&dev->port_work);
	rtnl_lock();
	ornic_sysfs_net_close(&dev->sysfs_net);
	ornic_netdev_mcast_close(&dev->mcast);
	rtnl_unlock();
}

/* Without the RTNL: the work item takes it. */
int ornic_ib_query_port(struct ib_device *ibdev, u32 port,
			struct ib_port_attr *attr)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);
	const struct net_device *netdev = dev->bus->netdev;
	bool up = is_up(netdev);

	/* The device knows what programs see; a retry may still be pending. */
	flush_work(&dev->port_work.work);
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = active_mtu(netdev) ?: IB_MTU_256;
	attr->phys_mtu = ib_mtu_enum_to_int(attr->active_mtu);
	attr->gid_tbl_len = dev->caps.gid_table_len;
	attr->pkey_tbl_len = dev->caps.pkey_table_len;
	ornic_stats_violations(dev, attr);
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = MAX_MSG_BYTES;
	attr->max_vl_num = 1;
	if (ib_get_eth_speed(ibdev, port, &attr->active_speed,
			     &attr->active_width)) {
		/* The netdev is going away, but a port must have some speed. */
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	return 0;
}

/*
 * In units of 100 Mbit/s. Speeds that ib_get_eth_speed() has to round to those
 * of InfiniBand are exact here; one that is not known is 1 Gbit/s in both.
 */
int ornic_ib_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed)
{
	struct net_device *netdev = to_odev(ibdev)->bus->netdev;
	struct ethtool_link_ksettings settings = {};
	u32 mbps = SPEED_1000;
	bool known = false;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED)
		known = !__ethtool_get_link_ksettings(netdev, &settings);
	rtnl_unlock();
	if (known && settings.base.speed != (u32)SPEED_UNKNOWN)
		mbps = settings.base.speed;
	*speed = DIV_ROUND_UP(mbps, 100);
	return 0;
}

int ornic_ib_get_port_immutable(struct ib_device *ibdev, u32 port,
				struct ib_port_immutable *immutable)
{
	const struct ornic_caps *caps = &to_odev(ibdev)->caps;

	immutable->pkey_tbl_len = caps->pkey_table_len;
	immutable->gid_tbl_len = caps->gid_table_len;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	if (caps->caps & ORNIC_CAP_ROCE_V1)
		immutable->core_cap_flags |= RDMA_CORE_PORT_IBA_ROCE;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

enum rdma_link_layer ornic_ib_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

int ornic_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	struct ornic_ib_dev *dev = to_odev(ibdev);

	if (index >= dev->caps.pkey_table_len)
		return -EINVAL;
	if (dev->caps.caps & ORNIC_CAP_PKEY)
		return ornic_cmd_query_pkey(dev, index, pkey);
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/* ---- GIDs ---------------------------------------------------------------- */

/*
 * The GID table of the device follows ib_core's, which is made from the
 * addresses of the netdev and of the netdevs stacked on it: for each one of RoCE v1,
 * if the device has that, and one of v2. An entry also holds source MAC and VLAN of
 * frames from this GID.
 */

/*
 * Frames are sent through the netdev of the bus. A VLAN device adds its tag
 * itself.
 */
static int read_l2(const struct ornic_ib_dev *dev,
		   const struct ib_gid_attr *attr,
		   struct ornic_set_gid_params *params)
{
	int ret;

	ret = rdma_read_gid_l2_fields(attr, &params->vlan, params->smac);
	if (ret)
		return ret;
	if (rcu_access_pointer(attr->ndev) == dev->bus->netdev)
		params->vlan = ORNIC_VLAN_NONE;
	return 0;
}

/* For a VLAN device ib_core adds addresses of its siblings and parent. */
static bool is_ours(const struct ornic_ib_dev *dev,
		    const struct ib_gid_attr *attr)
{
	struct net_device *netdev = dev->bus->netdev;
	struct net_device *ndev;
	bool ours;

	if (!is_vlan_dev(netdev))
		return true;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	ours = ndev == netdev ||
	       (ndev && netdev_has_upper_dev_all_rcu(netdev, ndev));
	rcu_read_unlock();
	return ours;
}

/*
 * The netdev that ib_core takes GIDs from. It never gives the addresses of a
 * VLAN device to a port on that device, only to one on the device below it.
 */
struct net_device *ornic_gid_netdev(const struct ornic_ib_dev *dev)
{
	struct net_device *netdev = dev->bus->netdev;

	return is_vlan_dev(netdev) ? vlan_dev_real_dev(netdev) : netdev;
}

int ornic_ib_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ornic_ib_dev *dev = to_odev(attr->device);
	struct ornic_set_gid_params params = {
		.index = attr->index,
		.valid = true,
	};
	int ret;

	switch (attr->gid_type) {
	case IB_GID_TYPE_ROCE:
		params.type = ORNIC_GID_ROCE_V1;
		break;
	case IB_GID_TYPE_ROCE_UDP_ENCAP:
		params.type = ORNIC_GID_ROCE_V2;
		break;
	default:
		ibdev_dbg(attr->device, "GID %u: unsupported type %d\n",
			  attr->index, attr->gid_type);
		return -EINVAL;
	}
	if (!is_ours(dev, attr))
		return -EADDRNOTAVAIL;
	ret = read_l2(dev, attr, &params);
	if (ret)
		return ret;
	memcpy(params.gid, attr->gid.raw, sizeof(params.gid));
	return ornic_cmd_set_gid(dev, &params);
}

int ornic_ib_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ornic_set_gid_params params = {
		.index = attr->index,
		.vlan = ORNIC_VLAN_NONE,
	};

	return ornic_cmd_set_gid(to_odev(attr->device), &params);
}

/* ---- Limits -------------------------------------------------------------- */
/* No OUI is registered with the IEEE. */
#define VENDOR_ID 0xffffff
/* 4.096 us * 2^n from a packet to its ACK, including a scheduler tick. */
#define ACK_DELAY 15
#define NS_CLOCK_KHZ 1000000

static void fill_objects(const struct ornic_caps *caps,
			 struct ib_device_attr *attr)
{
	attr->max_qp = caps->max_qp;
	attr->max_cq = caps->max_cq;
	attr->max_mr = caps->max_mr;
	if (caps->caps & ORNIC_CAP_MW)
		attr->max_mw = caps->max_mr;
	if (caps->caps & ORNIC_CAP_FAST_REG)
		attr->max_fast_reg_page_list_len = ORNIC_LIST_ENTRIES;
	attr->max_ah = caps->max_ah;
	attr->max_srq = caps->max_srq;
	attr->max_mcast_grp = caps->max_mcast;
	attr->max_mcast_qp_attach = caps->max_mcast_qps;
	attr->max_total_mcast_qp_attach =
		min_t(u64, (u64)caps->max_mcast * caps->max_mcast_qps, INT_MAX);
	attr->max_pd = ORNIC_MAX_PD;
	attr->max_mr_size = caps->max_mr_size;
	attr->page_size_cap = caps->page_sizes;
	attr->max_pkeys = caps->pkey_table_len;
}

static void fill_queues(const struct ornic_caps *caps,
			struct ib_device_attr *attr)
{
	attr->max_qp_wr = 1 << caps->log_max_wqe;
	attr->max_cqe = 1 << caps->log_max_cqe;
	if (caps->caps & ORNIC_CAP_MODERATION) {
		attr->cq_caps.max_cq_moderation_count = U16_MAX;
		attr->cq_caps.max_cq_moderation_period = U16_MAX;
	}
	attr->max_send_sge = caps->max_sge;
	attr->max_recv_sge = caps->max_sge;
	attr->max_sge_rd = caps->max_sge;
	if (caps->max_srq) {
		attr->max_srq_wr = 1 << caps->log_max_wqe;
		attr->max_srq_sge = caps->max_sge;
	}
	attr->max_qp_rd_atom = caps->max_dest_rd_atomic;
	attr->max_qp_init_rd_atom = caps->max_rd_atomic;
	attr->max_res_rd_atom = caps->max_qp * caps->max_dest_rd_atomic;
	attr->atomic_cap = caps->caps & ORNIC_CAP_ATOMICS ? IB_ATOMIC_HCA :
							    IB_ATOMIC_NONE;
}

static void fill_tags(const struct ornic_caps *caps,
		      struct ib_device_attr *attr)
{
	if (!caps->max_tags)
		return;
	attr->tm_caps.max_rndv_hdr_size = ORNIC_MAX_RNDV_HDR;
	attr->tm_caps.max_num_tags = caps->max_tags;
	attr->tm_caps.flags = IB_TM_CAP_RNDV_RC;
	attr->tm_caps.max_ops = 1 << caps->log_max_wqe;
	attr->tm_caps.max_sge = caps->max_tag_sge;
}

/* No offloads: raw_packet_caps is 0. */
static void fill_rss(const struct ornic_caps *caps, struct ib_device_attr *attr)
{
	attr->rss_caps.supported_qpts = BIT(IB_QPT_RAW_PACKET);
	attr->rss_caps.max_rwq_indirection_tables = ORNIC_MAX_RWQ_TABLES;
	attr->rss_caps.max_rwq_indirection_table_size =
		1 << ORNIC_RSS_MAX_LOG_SIZE;
	attr->max_wq_type_rq = caps->max_qp;
}

int ornic_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			  struct ib_udata *udata)
{
	const struct ornic_ib_dev *dev = to_odev(ibdev);
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;

	attr->fw_ver = dev->caps.hw_version;
	attr->hw_ver = dev->caps.hw_version;
	attr->vendor_id = VENDOR_ID;
	attr->sys_image_guid = ibdev->node_guid;
	attr->device_cap_flags =
		IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT |
		IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN;
	if (dev->caps.caps & ORNIC_CAP_MW)
		attr->device_cap_flags |= IB_DEVICE_MEM_WINDOW |
					  IB_DEVICE_MEM_WINDOW_TYPE_2B;
	if (dev->caps.caps & ORNIC_CAP_XRC)
		attr->device_cap_flags |= IB_DEVICE_XRC;
	if (dev->caps.caps & ORNIC_CAP_RESIZE_SRQ)
		attr->device_cap_flags |= IB_DEVICE_SRQ_RESIZE;
	if (dev->caps.caps & ORNIC_CAP_FAST_REG)
		attr->device_cap_flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (dev->caps.caps & ORNIC_CAP_ATOMIC_WRITE)
		attr->device_cap_flags |= IB_DEVICE_ATOMIC_WRITE;
	if (dev->caps.caps & ORNIC_CAP_FLUSH)
		attr->device_cap_flags |= IB_DEVICE_FLUSH_GLOBAL;
	if (dev->caps.caps & ORNIC_CAP_RAW)
		attr->device_cap_flags |= IB_DEVICE_MANAGED_FLOW_STEERING;
	if (dev->bus->allow_user_unreg)
		attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	if (dev->caps.caps & ORNIC_CAP_SG_GAPS)
		attr->kernel_cap_flags |= IBK_SG_GAPS_REG;
	if (ornic_odp_supported(dev))
		attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	ornic_odp_caps(dev, &attr->odp_caps);
	attr->local_ca_ack_delay = ACK_DELAY;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = NS_CLOCK_KHZ;
	attr->max_dm_size = ornic_dm_size(dev);
	fill_objects(&dev->caps, attr);
	fill_queues(&dev->caps, attr);
	fill_tags(&dev->caps, attr);
	if (dev->caps.caps & ORNIC_CAP_RSS)
		fill_rss(&dev->caps, attr);
	return 0;
}

void ornic_ib_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u",
		 to_odev(ibdev)->caps.hw_version);
}

bool ornic_dma_lives(struct ib_device *ibdev, const void *obj, u64 bytes)
{
	struct ornic_bus *bus = to_odev(ibdev)->bus;

	if (likely(!READ_ONCE(bus->writes_on)))
		return false;
	kmemleak_not_leak(obj);
	atomic64_add(bytes, &bus->kept);
	return true;
}
