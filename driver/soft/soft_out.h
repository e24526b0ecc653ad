/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_OUT_H
#define ORNIC_SOFT_OUT_H

#include <linux/types.h>

struct net;
struct sk_buff;

bool ornic_soft_out_is_ruled(const struct net *net, bool ipv6);
int ornic_soft_out(struct sk_buff *skb, bool ipv6);

#endif /* ORNIC_SOFT_OUT_H */
