/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_TX_H
#define ORNIC_SOFT_TX_H

#include <linux/types.h>

struct net;
struct ornic_tx;
struct sk_buff;

u32 ornic_soft_tx_room(void *host, void *host_qp);
int ornic_soft_tx_frame(void *host, struct ornic_tx *tx);
int ornic_soft_xmit(void *host, const struct ornic_tx *tx);

bool ornic_soft_out_is_ruled(const struct net *net, bool ipv6);
int ornic_soft_out(struct sk_buff *skb, bool ipv6);

#endif /* ORNIC_SOFT_TX_H */
