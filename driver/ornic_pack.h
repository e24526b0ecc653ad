/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PACK_H
#define ORNIC_PACK_H

#include "ornic_pure.h"

#include <rdma/ornic-hw.h>

/* What an address vector is packed from. */
struct ornic_av_params {
	u8 dgid[16]; /* destination GID in wire order */
	u8 dmac[6]; /* next hop */
	u16 udp_sport;
	u32 flow_label; /* 20 bits */
	u8 sgid_index; /* source GID */
	u8 tclass;
	u8 hop_limit; /* TTL */
	u8 sl; /* service level, 0 to 7 */
};

/* Attributes of a QP, for MODIFY_QP and QUERY_QP. */
struct ornic_qp_params {
	u32 mask; /* MODIFY_QP: enum ornic_qp_mask, the fields that count */
	u8 state; /* enum ornic_qp_state */
	/* MODIFY_QP: the state that the driver expects the QP in */
	u8 cur_state;
	u8 access; /* enum ornic_access */
	u8 path_mtu; /* enum ib_mtu, 1 to 5 */
	u8 timeout; /* ACK timeout, 4.096 us * 2^n, 0 to 31 */
	u8 retry_cnt; /* 0 to 7 */
	u8 rnr_retry; /* 0 to 7 */
	u8 min_rnr_timer; /* code of the RNR NAK timer table, 0 to 31 */
	u8 max_rd_atomic; /* as initiator */
	u8 max_dest_rd_atomic; /* as responder */
	bool sqd_notify; /* MODIFY_QP: report when the SQ has drained */
	/* QUERY_QP: state is SQD and requests are still in flight */
	bool sq_draining;
	u32 rq_psn; /* 24 bits */
	u32 sq_psn; /* 24 bits */
	u32 dest_qpn; /* 24 bits */
	/* Datagrams: Q_Key; raw packet: rate limit, kbit/s; else ECE options */
	u32 qkey_ece;
	u32 max_burst; /* MODIFY_QP, raw packet: bytes; 0: the default */
	u8 pkey_index; /* below ORNIC_MAX_PKEYS */
	struct ornic_av_params path; /* primary path */
};

int ornic_status_to_errno(u8 status);
void ornic_pack_av(const struct ornic_av_params *path, struct ornic_av *av);
void ornic_pack_modify_qp(const struct ornic_qp_params *params,
			  struct ornic_req_modify_qp *req);
int ornic_unpack_query_qp(const struct ornic_rsp_query_qp *rsp,
			  struct ornic_qp_params *params);

int ornic_mr_access(u32 flags, u8 *access);
int ornic_qp_access(u32 flags, u8 *access);
u32 ornic_access_flags(u8 access);

#endif /* ORNIC_PACK_H */
