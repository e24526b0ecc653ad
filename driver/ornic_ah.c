// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles, and the conversion of an rdma_ah_attr (of an AH or of the
 * primary path of a QP) to the parameters of an address vector and back.
 *
 * The kernel creates and destroys AHs in atomic context, where no command can
 * be issued. The device does not know those: each WQE carries the address
 * itself.
 */
#include "ornic_ah.h"

#include <linux/etherdevice.h>
#include <rdma/ornic-abi.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_pd.h"
#include "ornic_udata.h"
#include "ornic_verbs.h"

/* A service level has the bits of the PCP of a VLAN tag. */
#define SL_MASK 0x7

static int check_ah_attr(struct ib_device *ibdev,
			 const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH)) {
		ibdev_dbg(ibdev, "AH: type %d, flags %#x: RoCE needs a GRH\n",
			  attr->type, rdma_ah_get_ah_flags(attr));
		return -EINVAL;
	}
	if (rdma_ah_get_port_num(attr) != ORNIC_PORT) {
		ibdev_dbg(ibdev, "AH: no port %u\n",
			  rdma_ah_get_port_num(attr));
		return -EINVAL;
	}
	if (grh->sgid_index >= to_odev(ibdev)->caps.gid_table_len) {
		ibdev_dbg(ibdev, "AH: GID index %u, limit %u\n",
			  grh->sgid_index, to_odev(ibdev)->caps.gid_table_len);
		return -EINVAL;
	}
	return 0;
}

/* Returns -EINVAL for values out of range. */
int ornic_av_params_from_ah_attr(struct ib_device *ibdev,
				 const struct rdma_ah_attr *attr, u16 udp_sport,
				 struct ornic_av_params *path)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	int ret;

	ret = check_ah_attr(ibdev, attr);
	if (ret)
		return ret;

	memcpy(path->dgid, grh->dgid.raw, sizeof(path->dgid));
	ether_addr_copy(path->dmac, attr->roce.dmac);
	path->udp_sport = udp_sport;
	path->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	path->sgid_index = grh->sgid_index;
	path->tclass = grh->traffic_class;
	path->hop_limit = grh->hop_limit;
	path->sl = rdma_ah_get_sl(attr) & SL_MASK;
	return 0;
}

/* @attr gets no reference to the GID. */
void ornic_av_params_to_ah_attr(struct ib_device *ibdev,
				const struct ornic_av_params *path,
				struct rdma_ah_attr *attr)
{
	union ib_gid dgid;

	memset(attr, 0, sizeof(*attr));
	memcpy(dgid.raw, path->dgid, sizeof(dgid.raw));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, ORNIC_PORT);
	rdma_ah_set_sl(attr, path->sl);
	rdma_ah_set_grh(attr, &dgid, path->flow_label, path->sgid_index,
			path->hop_limit, path->tclass);
	ether_addr_copy(attr->roce.dmac, path->dmac);
}

/* All QPs share the source port of an AH, so only the flow label can set it. */
static u16 ah_sport(const struct rdma_ah_attr *attr)
{
	return rdma_flow_label_to_udp_sport(rdma_ah_read_grh(attr)->flow_label);
}

/* Also create_user_ah. Kernel users call it in any context. */
int ornic_ib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		       struct ib_udata *udata)
{
	struct ornic_ib_dev *dev = to_odev(ibah->device);
	struct ornic_ib_ah *ah = to_oah(ibah);
	struct ornic_create_ah_resp resp = {};
	struct ornic_av_params path;
	int ret;

	ret = ornic_udata_none(udata);
	if (ret)
		return ret;
	ret = ornic_av_params_from_ah_attr(ibah->device, init->ah_attr,
					   ah_sport(init->ah_attr), &path);
	if (ret)
		return ret;

	ornic_av_params_to_ah_attr(ibah->device, &path, &ah->attr);
	if (!udata) {
		ornic_pack_av(&path, &ah->av);
		return 0;
	}
	ret = ornic_cmd_create_ah(dev, &path, to_opd(ibah->pd)->pdn, &ah->ah);
	if (ret)
		return ret;
	resp.ah = ah->ah;
	ret = ornic_udata_put(udata, &resp, sizeof(resp));
	if (ret)
		goto err_destroy_on_device;
	return 0;

err_destroy_on_device:
	ornic_cmd_destroy_ah(dev, ah->ah);
	return ret;
}

int ornic_ib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_oah(ibah)->attr;
	return 0;
}

/*
 * Kernel users call it in any context. If the device refuses, the AH lives on.
 */
int ornic_ib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct ornic_ib_ah *ah = to_oah(ibah);

	if (!ah->ah)
		return 0;
	return ornic_cmd_destroy_ah(to_odev(ibah->device), ah->ah);
}
