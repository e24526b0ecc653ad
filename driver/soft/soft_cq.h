/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_CQ_H
#define ORNIC_SOFT_CQ_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct ornic_engine;
struct ornic_soft;

/**
 * struct ornic_soft_cq - what the soft device keeps for a CQ
 * @soft: the device
 * @cqn: CQ number
 * @timer: for an event that waits for more completions
 */
struct ornic_soft_cq {
	struct ornic_soft *soft;
	u32 cqn;
	struct hrtimer timer;
};

void ornic_soft_cq_init(void *host, void *host_cq, u32 cqn);
void ornic_soft_cq_fini(void *host, void *host_cq);
void ornic_soft_cq_deadline(void *host, void *host_cq, u64 when);

#endif /* ORNIC_SOFT_CQ_H */
