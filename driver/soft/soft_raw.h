/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_RAW_H
#define ORNIC_SOFT_RAW_H

#include <linux/types.h>

struct ornic_soft;
struct sk_buff;

/*
 * Raw packet QPs of a device. They need netfilter's ingress hook.
 *
 * ornic_soft_raw_wanted(), ornic_soft_is_own() - of struct ornic_engine_ops.
 * ornic_soft_raw_rx() - a frame has arrived. @skb starts at the network header, its
 * tag beside it. Returns true if it was taken from the host, and consumed. Softirq,
 * under RCU.
 */
void ornic_soft_raw_wanted(void *host, bool wanted);
bool ornic_soft_is_own(void *host, const u8 *mac);
bool ornic_soft_raw_rx(struct ornic_soft *soft, struct sk_buff *skb);

#endif /* ORNIC_SOFT_RAW_H */
