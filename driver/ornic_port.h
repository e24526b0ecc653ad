/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PORT_H
#define ORNIC_PORT_H

#include <rdma/ib_verbs.h>

struct ib_gid_attr;
struct net_device;
struct ornic_ib_dev;

int ornic_port_start(struct ornic_ib_dev *dev);
void ornic_port_stop(struct ornic_ib_dev *dev);

struct net_device *ornic_gid_netdev(const struct ornic_ib_dev *dev);

#endif /* ORNIC_PORT_H */
