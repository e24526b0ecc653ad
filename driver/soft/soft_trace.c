// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tracepoints: ornic_engine_ops::trace calls them. */
#include "engine/engine.h"
#include "soft.h"

#define CREATE_TRACE_POINTS
#include "soft_trace.h"

int ornic_soft_trace_reg(void)
{
	static_branch_inc(&ornic_trace_key);
	return 0;
}

void ornic_soft_trace_unreg(void)
{
	static_branch_dec(&ornic_trace_key);
}

void ornic_soft_trace(void *host, enum ornic_trace what, u32 qpn, u32 code,
		      u32 a, u32 b)
{
	const char *netdev = ((struct ornic_soft *)host)->netdev->name;

	switch (what) {
	case ORNIC_TRACE_KICK:
		trace_ornic_kick(netdev, qpn, code, a, b);
		break;
	case ORNIC_TRACE_TX:
		trace_ornic_tx(netdev, qpn, code, a, b);
		break;
	case ORNIC_TRACE_RX:
		trace_ornic_rx(netdev, qpn, code, a, b);
		break;
	case ORNIC_TRACE_ACK:
		trace_ornic_ack(netdev, qpn, code, a, b);
		break;
	case ORNIC_TRACE_COMPLETION:
		trace_ornic_completion(netdev, qpn, code, a, b);
		break;
	case ORNIC_TRACE_RETRY:
		trace_ornic_retry(netdev, qpn, code, a, b);
		break;
	}
}
