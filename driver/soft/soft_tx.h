/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_TX_H
#define ORNIC_SOFT_TX_H

#include <linux/types.h>

struct net;
struct net_device;
struct ornic_soft_qp;
struct ornic_tx;
struct sk_buff;

/*
 * Of struct ornic_engine_ops.
 *
 * ornic_soft_tx_room() - frames that this CPU may send now for a QP. After 0
 * the QP is woken on the CPU that may send.
 * ornic_soft_tx_frame() - allocate a frame.
 * ornic_soft_tx_drop() - free it.
 * ornic_soft_xmit() - send it. The netdev may take its own locks, and may free
 * the frame at once. Returns -EPERM if a rule or a route of the namespace
 * forbids it.
 */
u32 ornic_soft_tx_room(void *host, void *host_qp);
int ornic_soft_tx_frame(void *host, struct ornic_tx *tx);
int ornic_soft_xmit(void *host, const struct ornic_tx *tx);
void ornic_soft_tx_drop(void *host, const struct ornic_tx *tx);

/*
 * Softirqs off, under RCU; engine locks may be held. @skb is complete, with its
 * header offsets, and is consumed.
 *
 * ornic_soft_tx_own() - send a frame, which counts as in flight for @qp. 0 or an
 * error, as ornic_soft_xmit().
 * ornic_soft_tx_any() - send a frame that belongs to no QP.
 */
int ornic_soft_tx_own(struct ornic_soft_qp *qp, struct sk_buff *skb, bool ipv6);
void ornic_soft_tx_any(struct net_device *netdev, struct sk_buff *skb);

/* ornic_soft::serial of the device of this kernel that sent @skb, if it is known, else 0. */
u64 ornic_soft_tx_origin(const struct sk_buff *skb);

/*
 * Softirqs off, under RCU; engine locks are held.
 *
 * ornic_soft_out_is_ruled() - true if @net has rules for what leaves it, so that
 * frames have to be sent by ornic_soft_out().
 * ornic_soft_out() - send a frame, whose header offsets are set, by IP's output;
 * consumes @skb. Returns 0 also if it is sent later; -EPERM if a rule drops it
 * or there is no route; -ENOBUFS, or a code of the qdisc.
 */
bool ornic_soft_out_is_ruled(const struct net *net, bool ipv6);
int ornic_soft_out(struct sk_buff *skb, bool ipv6);

#endif /* ORNIC_SOFT_TX_H */
