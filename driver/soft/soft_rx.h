/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_RX_H
#define ORNIC_SOFT_RX_H

#include <linux/types.h>

struct ornic_soft;
struct sk_buff;
struct sock;

void ornic_soft_rx(struct ornic_soft *soft, struct sock *sk,
		   struct sk_buff *skb, u16 vlan);
void ornic_soft_rx_deliver(struct ornic_soft *soft, struct sk_buff *skb);

#endif /* ORNIC_SOFT_RX_H */
