/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_NET_H
#define ORNIC_SOFT_NET_H

struct net;
struct ornic_soft;

int ornic_soft_net_join(struct ornic_soft *soft, struct net *net);
void ornic_soft_net_leave(struct ornic_soft *soft);
int ornic_soft_net_init(void);
void ornic_soft_net_exit(void);

#endif /* ORNIC_SOFT_NET_H */
