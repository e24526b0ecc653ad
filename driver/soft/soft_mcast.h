/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_SOFT_MCAST_H
#define ORNIC_SOFT_MCAST_H

#include <linux/types.h>

struct ornic_bus;
struct ornic_soft;

int ornic_soft_join(struct ornic_bus *bus, const u8 *mgid);
void ornic_soft_leave(struct ornic_bus *bus, const u8 *mgid);
void ornic_soft_groups_gone(struct ornic_soft *soft);
void ornic_soft_groups_back(struct ornic_soft *soft);
void ornic_soft_groups_free(struct ornic_soft *soft);

#endif /* ORNIC_SOFT_MCAST_H */
