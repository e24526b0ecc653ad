// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packing of commands: attributes of a QP, address vectors and access rights to
 * and from their descriptors; the errno of a status. Pure.
 */
#include "ornic_pack.h"

#include <rdma/ib_user_ioctl_verbs.h>

#define PSN_MASK 0xffffffu
#define HIGH_SHIFT 24
#define FIVE_BITS 0x1fu
#define THREE_BITS 0x7u
#define STATE_MASK 0xfu
#define STATE_BITS 4
#define MTU_BITS 3
#define MAX_MTU 5 /* 4096 bytes */

static const int status_errno[] = {
	[ORNIC_OK] = 0,
	[ORNIC_BAD_OPCODE] = -EOPNOTSUPP,
	[ORNIC_BAD_PARAM] = -EINVAL,
	[ORNIC_NO_RESOURCE] = -ENOMEM,
	[ORNIC_LIMIT] = -ENOSPC,
	[ORNIC_BAD_STATE] = -EINVAL,
	[ORNIC_NOT_FOUND] = -ENOENT,
	[ORNIC_BUSY] = -EBUSY,
	[ORNIC_BAD_ADDR] = -EFAULT,
	[ORNIC_FAILED] = -EIO,
	[ORNIC_EXISTS] = -EEXIST,
};

/* As ornic-hw.h defines it; -EIO for an unknown status. */
int ornic_status_to_errno(u8 status)
{
	if (status >= ARRAY_SIZE(status_errno))
		return -EIO;
	return status_errno[status];
}

ORNIC_FOR_KUNIT(ornic_status_to_errno);

void ornic_pack_av(const struct ornic_av_params *path, struct ornic_av *av)
{
	memcpy(av->dgid, path->dgid, sizeof(av->dgid));
	memcpy(av->dmac, path->dmac, sizeof(av->dmac));
	av->udp_sport = cpu_to_le16(path->udp_sport);
	av->flow_label = cpu_to_le32(path->flow_label);
	av->sgid_index = path->sgid_index;
	av->tclass = path->tclass;
	av->hop_limit = path->hop_limit;
	av->sl = path->sl;
}

ORNIC_FOR_KUNIT(ornic_pack_av);

static void unpack_av(const struct ornic_av *av, struct ornic_av_params *path)
{
	memcpy(path->dgid, av->dgid, sizeof(path->dgid));
	memcpy(path->dmac, av->dmac, sizeof(path->dmac));
	path->udp_sport = le16_to_cpu(av->udp_sport);
	path->flow_label = le32_to_cpu(av->flow_label);
	path->sgid_index = av->sgid_index;
	path->tclass = av->tclass;
	path->hop_limit = av->hop_limit;
	path->sl = av->sl;
}

static __le32 pack_word(u32 low24, u32 high)
{
	return cpu_to_le32((low24 & PSN_MASK) | high << HIGH_SHIFT);
}

/*
 * Fields outside of @params->mask are sent as they are; the device ignores
 * them. Opcode and object of @req are left to the caller.
 */
void ornic_pack_modify_qp(const struct ornic_qp_params *params,
			  struct ornic_req_modify_qp *req)
{
	req->hdr.param =
		(params->retry_cnt & THREE_BITS) << ORNIC_MODIFY_RETRY_SHIFT |
		(params->rnr_retry & THREE_BITS) << ORNIC_MODIFY_RNR_SHIFT |
		(params->sqd_notify ? ORNIC_MODIFY_SQD_NOTIFY : 0);
	req->mask = cpu_to_le32(params->mask);
	if (params->mask & ORNIC_QPM_RATE_LIMIT)
		req->rq_psn_rnr = cpu_to_le32(params->max_burst);
	else
		req->rq_psn_rnr = pack_word(params->rq_psn,
					    params->min_rnr_timer & FIVE_BITS);
	req->sq_psn_timeout =
		pack_word(params->sq_psn, params->timeout & FIVE_BITS);
	req->dest_qpn_mtu =
		pack_word(params->dest_qpn,
			  (params->path_mtu & THREE_BITS) |
				  (params->pkey_index & FIVE_BITS) << MTU_BITS);
	req->qkey_ece = cpu_to_le32(params->qkey_ece);
	ornic_pack_av(&params->path, &req->av);
	req->state = (params->state & STATE_MASK) |
		     (params->cur_state & STATE_MASK) << STATE_BITS;
	req->access = params->access;
	req->max_rd_atomic = params->max_rd_atomic;
	req->max_dest_rd_atomic = params->max_dest_rd_atomic;
}

ORNIC_FOR_KUNIT(ornic_pack_modify_qp);

/*
 * Returns -EIO if state or MTU is out of range, since callers use them as an
 * index.
 */
int ornic_unpack_query_qp(const struct ornic_rsp_query_qp *rsp,
			  struct ornic_qp_params *params)
{
	u32 rq_psn_rnr = le32_to_cpu(rsp->rq_psn_rnr);
	u32 sq_psn_timeout = le32_to_cpu(rsp->sq_psn_timeout);
	u32 dest_qpn_mtu = le32_to_cpu(rsp->dest_qpn_mtu);

	memset(params, 0, sizeof(*params));
	params->state = rsp->state & STATE_MASK;
	params->cur_state = params->state;
	params->access = rsp->access;
	params->path_mtu = dest_qpn_mtu >> HIGH_SHIFT & THREE_BITS;
	params->timeout = sq_psn_timeout >> HIGH_SHIFT & FIVE_BITS;
	params->retry_cnt = rsp->retry_cnt;
	params->rnr_retry = rsp->rnr_retry;
	params->min_rnr_timer = rq_psn_rnr >> HIGH_SHIFT & FIVE_BITS;
	params->max_rd_atomic = rsp->max_rd_atomic;
	params->max_dest_rd_atomic = rsp->max_dest_rd_atomic;
	params->sq_draining = rsp->sq_draining;
	params->rq_psn = rq_psn_rnr & PSN_MASK;
	params->sq_psn = sq_psn_timeout & PSN_MASK;
	params->dest_qpn = dest_qpn_mtu & PSN_MASK;
	params->pkey_index = dest_qpn_mtu >> ORNIC_MODIFY_PKEY_SHIFT;
	params->qkey_ece = le32_to_cpu(rsp->qkey_ece);
	unpack_av(&rsp->av, &params->path);
	if (params->state > ORNIC_QPS_ERR || params->path_mtu > MAX_MTU)
		return -EIO;
	return 0;
}

ORNIC_FOR_KUNIT(ornic_unpack_query_qp);

/*
 * Access flags of verbs -> access rights of the device.
 *
 * The values are the same by the definition of enum ornic_access, save for
 * those that do not fit into its byte, so this only rejects flags that the
 * device does not support. Flags of the optional range (relaxed ordering) may
 * be ignored by definition.
 */

#define SAME_VALUE 0x1fu

/*
 * Flags that only an MR can have. rdma_cm sets persistence for every device
 * with FLUSH, and programs pass the flags of their MR.
 */
#define MR_ONLY                                                            \
	((u32)ORNIC_ACCESS_MW_BIND | (u32)IB_UVERBS_ACCESS_ZERO_BASED |    \
	 (u32)IB_UVERBS_ACCESS_ON_DEMAND | (u32)IB_UVERBS_ACCESS_HUGETLB | \
	 (u32)ORNIC_VERBS_FLUSH_PERSISTENT)

static int access_supported(u32 flags, u32 known, u8 *access)
{
	u32 rights = flags & ~(u32)IB_UVERBS_ACCESS_OPTIONAL_RANGE;
	u32 other = rights & ~SAME_VALUE;

	if (other & ~ORNIC_VERBS_FLUSH_GLOBAL)
		return -EOPNOTSUPP;
	rights &= SAME_VALUE;
	if (other)
		rights |= ORNIC_ACCESS_FLUSH_GLOBAL;
	if (rights & ~known)
		return -EOPNOTSUPP;
	*access = rights;
	return 0;
}

/*
 * Returns -EOPNOTSUPP for a flag that the device does not have; -EINVAL for
 * remote write or atomic without local write (IBTA 10.6.3.1).
 */
int ornic_mr_access(u32 flags, u8 *access)
{
	const u32 remote_change = ORNIC_ACCESS_REMOTE_WRITE |
				  ORNIC_ACCESS_REMOTE_ATOMIC;

	if ((flags & remote_change) && !(flags & ORNIC_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return access_supported(flags, ORNIC_ACCESS_MR_MASK, access);
}

ORNIC_FOR_KUNIT(ornic_mr_access);

/* Flags that only MRs can have are ignored. */
int ornic_qp_access(u32 flags, u8 *access)
{
	return access_supported(flags & ~MR_ONLY, ORNIC_ACCESS_MASK, access);
}

ORNIC_FOR_KUNIT(ornic_qp_access);

u32 ornic_access_flags(u8 access)
{
	u32 flags = access & SAME_VALUE;

	if (access & ORNIC_ACCESS_FLUSH_GLOBAL)
		flags |= ORNIC_VERBS_FLUSH_GLOBAL;
	return flags;
}

ORNIC_FOR_KUNIT(ornic_access_flags);
