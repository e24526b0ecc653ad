// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the device is and how much it can do. */
#include "ornic_verbs.h"

#include <linux/kmemleak.h>

#include "ornic_dev.h"
#include "ornic_udata.h"

/* Not registered with the IEEE; the value that says so. */
#define VENDOR_ID 0xffffff
/* 4.096 us * 2^n from a packet to its ACK, a scheduler tick included. */
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
	attr->max_pkeys = 1;
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

/**
 * ornic_ib_query_device - ib_device_ops.query_device
 * @ibdev: device
 * @attr: zeroed; filled in
 * @udata: none
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for bad driver data.
 */
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
	if (dev->bus->allow_user_unreg)
		attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->local_ca_ack_delay = ACK_DELAY;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = NS_CLOCK_KHZ;
	fill_objects(&dev->caps, attr);
	fill_queues(&dev->caps, attr);
	return 0;
}

/**
 * ornic_ib_get_dev_fw_str - ib_device_ops.get_dev_fw_str
 * @ibdev: device
 * @str: IB_FW_VERSION_NAME_MAX bytes; set to the version of its interface
 *
 * Context: any.
 */
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
