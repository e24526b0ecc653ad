/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_FLOW_H
#define ORNIC_FLOW_H

struct ornic_ib_dev;

/*
 * The netdev leaves its namespace: it passes no more for the flow rules that there
 * are. Under the RTNL.
 */
void ornic_flow_close_filters(struct ornic_ib_dev *dev);

#endif /* ORNIC_FLOW_H */
