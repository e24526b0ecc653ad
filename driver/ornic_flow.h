/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_FLOW_H
#define ORNIC_FLOW_H

struct ornic_ib_dev;

/*
 * 0 if the caller may send and receive whole frames in the network namespace that
 * the netdev is in now, -EPERM if not. ib_uverbs checks the same for the initial
 * namespace, or that of the ib_device, which the netdev may have left. Takes the
 * RTNL; the netdev may move as soon as it is released.
 */
int ornic_raw_check(const struct ornic_ib_dev *dev);
/* The same under the RTNL, which keeps the netdev where it is. */
int ornic_raw_check_locked(const struct ornic_ib_dev *dev);

/*
 * The netdev leaves its namespace: it passes no more for the flow rules that there
 * are. Under the RTNL.
 */
void ornic_flow_close_filters(struct ornic_ib_dev *dev);

#endif /* ORNIC_FLOW_H */
