/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_NETDEV_H
#define ORNIC_SOFT_NETDEV_H

int ornic_soft_netdev_init(void);
void ornic_soft_netdev_exit(void);

#endif /* ORNIC_SOFT_NETDEV_H */
