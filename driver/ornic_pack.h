/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PACK_H
#define ORNIC_PACK_H

#include "ornic_pure.h"

#include <rdma/ornic-hw.h>

/**
 * struct ornic_av_params - where packets go
 * @dgid: destination GID in wire order
 * @dmac: next hop
 * @udp_sport: UDP source port
 * @flow_label: 20 bits
 * @sgid_index: source GID
 * @tclass: traffic class
 * @hop_limit: TTL
 * @sl: service level, 0 to 7
 */
struct ornic_av_params {
	u8 dgid[16];
	u8 dmac[6];
	u16 udp_sport;
	u32 flow_label;
	u8 sgid_index;
	u8 tclass;
	u8 hop_limit;
	u8 sl;
};

/**
 * struct ornic_qp_params - attributes of a QP, for MODIFY_QP and QUERY_QP
 * @mask: MODIFY_QP: enum ornic_qp_mask, the fields that count
 * @state: enum ornic_qp_state
 * @cur_state: MODIFY_QP: the state that the QP is believed to be in
 * @access: enum ornic_access
 * @path_mtu: enum ib_mtu, 1 to 5
 * @timeout: ACK timeout, 4.096 us * 2^n, 0 to 31
 * @retry_cnt: 0 to 7
 * @rnr_retry: 0 to 7
 * @min_rnr_timer: code of the RNR NAK timer table, 0 to 31
 * @max_rd_atomic: as initiator
 * @max_dest_rd_atomic: as responder
 * @sqd_notify: MODIFY_QP: report when the SQ has drained
 * @sq_draining: QUERY_QP: state is SQD and requests are still in flight
 * @rq_psn: 24 bits
 * @sq_psn: 24 bits
 * @dest_qpn: 24 bits
 * @qkey: Q_Key
 * @path: primary path
 */
struct ornic_qp_params {
	u32 mask;
	u8 state;
	u8 cur_state;
	u8 access;
	u8 path_mtu;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	bool sqd_notify;
	bool sq_draining;
	u32 rq_psn;
	u32 sq_psn;
	u32 dest_qpn;
	u32 qkey;
	struct ornic_av_params path;
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
