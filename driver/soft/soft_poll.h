/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_POLL_H
#define ORNIC_SOFT_POLL_H

#include <linux/types.h>

struct ornic_soft;

int ornic_soft_poll_set(struct ornic_soft *soft, bool on);

#endif /* ORNIC_SOFT_POLL_H */
