// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "ops.h"

const std::vector<operation> &operations()
{
	static const std::vector<operation> all = {
		{ "open", op_open, 2 },
		{ "close", op_close, 1 },
		{ "alloc_pd", op_alloc_pd, 3 },
		{ "reg_mr", op_reg_mr, 6 },
		{ "rereg_mr", op_rereg_mr, 4 },
		{ "alloc_mw", op_alloc_mw, 3 },
		{ "create_ah", op_create_ah, 3 },
		{ "channel", op_channel, 1 },
		{ "create_cq", op_create_cq, 5 },
		{ "resize_cq", op_resize_cq, 4 },
		{ "open_xrcd", op_open_xrcd, 2 },
		{ "create_srq", op_create_srq, 4 },
		{ "modify_srq", op_modify_srq, 3 },
		{ "create_qp", op_create_qp, 10 },
		{ "open_qp", op_open_qp, 2 },
		{ "modify_qp", op_modify_qp, 14 },
		{ "query_qp", op_query_qp, 2 },
		{ "mcast", op_mcast, 3 },
		{ "destroy", op_destroy, 8 },
		{ "command", op_command, 6 },
		{ "create_flow", op_create_flow, 4 },
		{ "destroy_flow", op_destroy_flow, 2 },
		{ "create_wq", op_create_wq, 4 },
		{ "modify_wq", op_modify_wq, 4 },
		{ "create_table", op_create_table, 3 },
		{ "create_rss", op_create_rss, 4 },
		{ "destroy_rwq", op_destroy_rwq, 3 },
		{ "method", op_method, 12 },
		{ "map", op_map, 6 },
		{ "unmap", op_unmap, 1 },
		{ "scribble", op_scribble, 8 },
		{ "post_send", op_post_send, 14 },
		{ "post_recv", op_post_recv, 5 },
		{ "post_bind", op_post_bind, 5 },
		{ "consume", op_consume, 4 },
		{ "kick", op_kick, 8 },
		{ "events", op_events, 2 },
		{ "memory", op_memory, 2 },
		{ "cm", op_cm, 8 },
		{ "netlink", op_netlink, 6 },
		{ "sysfs", op_sysfs, 3 },
		{ "inject", op_inject, 8 },
		/* These take long. */
		{ "netdev", op_netdev, 1 },
		{ "link", op_link, 1 },
	};

	return all;
}
