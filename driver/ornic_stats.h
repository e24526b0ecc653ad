/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_STATS_H
#define ORNIC_STATS_H

struct ib_port_attr;
struct ornic_ib_dev;

/*
 * Set the violation counters of @attr. What QPs count in counter sets is not in
 * them. They stay if the device does not respond. May sleep.
 */
void ornic_stats_violations(struct ornic_ib_dev *dev,
			    struct ib_port_attr *attr);

#endif /* ORNIC_STATS_H */
