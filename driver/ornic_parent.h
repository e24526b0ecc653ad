/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PARENT_H
#define ORNIC_PARENT_H

/* See ornic_parent_add(); there are no parents before and afterwards. */
int ornic_parent_init(void);
void ornic_parent_exit(void);

#endif /* ORNIC_PARENT_H */
