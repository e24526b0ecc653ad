// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets of requester and responder to the port: the host makes a frame, the
 * engine writes all of it, the host sends it. The payload is copied for first
 * sends and resends alike, so nothing of a frame refers to the program's memory
 * and the ICRC fits whatever the program writes there meanwhile.
 */
#include "proto.h"

static int send_frame(struct ornic_qp *qp, const struct ornic_path *path,
		      const struct ornic_txinfo *info,
		      const struct ornic_iov *payload)
{
	struct ornic_dev *dev = qp->dev;
	struct ornic_tx tx ornic_unzeroed;
	int err;

	tx.host_qp = qp->host_qp;
	ornic_tx_plan(&tx, path, info->opcode, (u32)payload->bytes);
	err = dev->ops->tx_frame(dev->host, &tx);
	if (err)
		return err;
	ornic_tx_fill(&tx, path, info, payload->frag, payload->n);
	return dev->ops->xmit(dev->host, &tx);
}

/**
 * ornic_tx_send - send a packet
 * @qp: QP
 * @path: template of its headers
 * @info: what its RoCE headers say
 * @payload: its payload
 *
 * Context: sq.lock or rq.lock held, inside an RCU section.
 * Return: 0 or -errno of ornic_engine_ops::tx_frame or xmit.
 */
int ornic_tx_send(struct ornic_qp *qp, const struct ornic_path *path,
		  const struct ornic_txinfo *info,
		  const struct ornic_iov *payload)
{
	u32 len = (u32)payload->bytes;
	int err;

	ornic_trace(qp, ORNIC_TRACE_TX, info->opcode, info->psn, len);
	err = send_frame(qp, path, info, payload);
	if (unlikely(err)) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_TX_ERRORS);
		return err;
	}
	ornic_qp_stat_inc(qp, ORNIC_STAT_TX_PACKETS);
	ornic_qp_stat_add(qp, ORNIC_STAT_TX_BYTES, len);
	return 0;
}
