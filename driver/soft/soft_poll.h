/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_POLL_H
#define ORNIC_SOFT_POLL_H

struct attribute_group;
struct ornic_soft;

extern const struct attribute_group ornic_soft_poll_group;

void ornic_soft_poll_stop(struct ornic_soft *soft);

#endif /* ORNIC_SOFT_POLL_H */
