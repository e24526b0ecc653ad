/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_FLUSH_H
#define ORNIC_FLUSH_H

#include <linux/types.h>

struct ib_cq;
struct ib_wc;
struct ornic_ib_dev;
struct work_struct;

int ornic_flush_cq(struct ornic_ib_dev *dev, const struct ib_cq *ibcq, int room,
		   struct ib_wc *wc);
bool ornic_flush_pending(struct ornic_ib_dev *dev, const struct ib_cq *ibcq);
bool ornic_flush_has_users(struct ornic_ib_dev *dev, const struct ib_cq *ibcq);
void ornic_flush_later(struct ornic_ib_dev *dev);
void ornic_flush_work(struct work_struct *work);

#endif /* ORNIC_FLUSH_H */
