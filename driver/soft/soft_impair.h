/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Impairments of a soft device: rules of engine/impair.h for its packets. */
#ifndef ORNIC_SOFT_IMPAIR_H
#define ORNIC_SOFT_IMPAIR_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct ornic_impair_rule;
struct ornic_soft;
struct ornic_soft_qp;
struct ornic_tx;
struct sk_buff;

/* On while any device has rules: otherwise packets take no branch. */
DECLARE_STATIC_KEY_FALSE(ornic_soft_impair_key);

static inline bool ornic_soft_impair_on(void)
{
	return static_branch_unlikely(&ornic_soft_impair_key);
}

/*
 * ornic_soft_impair_tx() - as ornic_soft_tx_own(), by the rules. @tx: the frame
 * in @skb, which may be changed.
 * ornic_soft_impair_rx() - as ornic_soft_rx_accept(), by the rules; @len bytes
 * from the BTH on.
 */
int ornic_soft_impair_tx(struct ornic_soft_qp *qp, struct sk_buff *skb,
			 const struct ornic_tx *tx);
void ornic_soft_impair_rx(struct ornic_soft *soft, struct sk_buff *skb,
			  u32 len);

/*
 * ornic_soft_impair_show() - print the rules, and the number of packets that
 * are held if there are any, to a page.
 * ornic_soft_impair_add() - add a rule. 0, -ENOSPC or -ENOMEM. Sleeps.
 * ornic_soft_impair_clear() - remove all rules; held packets continue. Sleeps.
 */
ssize_t ornic_soft_impair_show(struct ornic_soft *soft, char *page);
int ornic_soft_impair_add(struct ornic_soft *soft,
			  const struct ornic_impair_rule *rule);
void ornic_soft_impair_clear(struct ornic_soft *soft);

/*
 * ornic_soft_impair_init() - no rules.
 * ornic_soft_impair_purge() - free the packets that are held.
 * ornic_soft_impair_stop() - remove all rules and held packets for good, while
 * the engine still exists; nothing is received any more, and no rule is added.
 * Sleeps.
 */
void ornic_soft_impair_init(struct ornic_soft *soft);
void ornic_soft_impair_purge(struct ornic_soft *soft);
void ornic_soft_impair_stop(struct ornic_soft *soft);

#endif /* ORNIC_SOFT_IMPAIR_H */
