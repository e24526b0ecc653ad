/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_GID_H
#define ORNIC_GID_H

struct ib_gid_attr;
struct net_device;
struct ornic_ib_dev;

struct net_device *ornic_gid_netdev(const struct ornic_ib_dev *dev);

#endif /* ORNIC_GID_H */
